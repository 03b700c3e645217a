// Locks among real processes: a second one is refused, a dead one's lock is taken over, and of many
// that try the latter at once exactly one succeeds.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { LOCK_FILE, lockFolder, REFRESHED_WITHIN_MS } from './lock.js';
import { startOf } from './process.js';

const root = fs.mkdtempSync(join(tmpdir(), 'mayfly-lock-'));
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
  fs.rmSync(root, { recursive: true });
});

const owner = { startedAt: '2025-06-01T00:00:00.000Z' };
const onLinux = { skip: process.platform !== 'linux' };
const newFolder = (): string => fs.mkdtempSync(join(root, 'data-'));
const lockOf = (folder: string): string => join(folder, LOCK_FILE);

test('the lock names the process, and release removes it', () => {
  const folder = join(newFolder(), 'not', 'yet');
  const lock = lockFolder(folder, owner);
  const started = startOf(process.pid) ?? owner.startedAt;
  const expected = { pid: process.pid, host: hostname(), started };
  assert.deepEqual(JSON.parse(fs.readFileSync(lockOf(folder), 'utf8')), expected);
  lock.release();
  assert.deepEqual(fs.readdirSync(folder), []);
});

test('the same process is refused too, also by another name of the folder', () => {
  const folder = newFolder();
  const lock = lockFolder(folder, owner);
  const link = join(root, 'link');
  fs.symlinkSync(folder, link, 'junction');
  assert.throws(() => lockFolder(folder, owner), /is in use by another Mayfly/);
  assert.throws(() => lockFolder(link, owner), /is in use by another Mayfly/);
  lock.release();
  const second = lockFolder(link, owner);
  // A lock that was released once must not release its successor.
  lock.release();
  assert.throws(() => lockFolder(folder, owner), /is in use/);
  second.release();
});

test('a second process is refused, until the first has released', async () => {
  const folder = newFolder();
  const first = startChild();
  assert.equal(await first.ask(`lock ${folder}`), 'locked');
  const message = [
    `The data folder ${folder} is in use by another Mayfly`,
    `(process ${first.pid} on ${hostname()}).`,
    'Stop it first, or choose another folder with --data.',
  ].join(' ');
  assert.throws(() => lockFolder(folder, owner), { message });
  assert.equal(await first.ask(`release ${folder}`), 'released');
  lockFolder(folder, owner).release();
});

test('the lock of a killed process is taken over at once', async () => {
  const folder = newFolder();
  const first = startChild();
  assert.equal(await first.ask(`lock ${folder}`), 'locked');
  await first.kill();
  const lock = lockFolder(folder, owner);
  assert.deepEqual(fs.readdirSync(folder), [LOCK_FILE]);
  lock.release();
});

test('the lock of a killed process that nobody has buried is taken over', onLinux, async () => {
  const folder = newFolder();
  const first = startChild(['/bin/sh', '-c', 'exec 3<&0; "$@" <&3 & exec sleep 60', 'sh']);
  assert.equal(await first.ask(`lock ${folder}`), 'locked');
  const { pid } = JSON.parse(fs.readFileSync(lockOf(folder), 'utf8'));
  process.kill(pid, 'SIGKILL');
  while (!fs.readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')) await turn();
  lockFolder(folder, owner).release();
});

test('a number that another process has by now does not count', onLinux, () => {
  const folder = newFolder();
  const write = (started: string | undefined): void =>
    fs.writeFileSync(
      lockOf(folder),
      JSON.stringify({ pid: process.ppid, host: hostname(), started }),
    );
  write(startOf(process.ppid));
  assert.throws(() => lockFolder(folder, owner), /is in use/);
  write('another boot/12345');
  lockFolder(folder, owner).release();
});

const strangers: Readonly<Record<string, string>> = {
  'the lock of another host': '{"pid":1,"host":"elsewhere.example","started":"x"}',
  'a file of junk': '{"pid":0,"host":1',
  'an empty file': '',
};
for (const [name, text] of Object.entries(strangers)) {
  test(`${name} counts while it is fresh`, () => {
    const folder = newFolder();
    fs.writeFileSync(lockOf(folder), text);
    assert.throws(() => lockFolder(folder, owner), /is in use by another Mayfly \(/);
    makeOlder(lockOf(folder), REFRESHED_WITHIN_MS - 10_000);
    assert.throws(() => lockFolder(folder, owner), /is in use/);
    makeOlder(lockOf(folder), 10_000);
    const lock = lockFolder(folder, owner);
    assert.deepEqual(fs.readdirSync(folder), [LOCK_FILE]);
    lock.release();
  });
}

test('refresh makes the lock fresh, puts a deleted one back, and notices a loss', () => {
  const folder = newFolder();
  const lock = lockFolder(folder, owner);
  const before = fs.statSync(lockOf(folder)).mtimeMs;
  const text = fs.readFileSync(lockOf(folder), 'utf8');
  makeOlder(lockOf(folder), REFRESHED_WITHIN_MS);
  lock.refresh();
  assert.ok(fs.statSync(lockOf(folder)).mtimeMs >= before);
  fs.rmSync(lockOf(folder));
  lock.refresh();
  assert.equal(fs.readFileSync(lockOf(folder), 'utf8'), text);
  fs.writeFileSync(lockOf(folder), '{"pid":7,"host":"elsewhere.example","started":"x"}');
  assert.throws(() => lock.refresh(), /process 7 on elsewhere\.example/);
  lock.release();
  assert.deepEqual(fs.readdirSync(folder), [LOCK_FILE]);
  lock.refresh();
});

test('of five that race for a stale lock exactly one wins, every time', async () => {
  const racers = Array.from({ length: 5 }, () => startChild());
  const dead = await deadLock();
  for (let round = 0; round < 40; round += 1) {
    const folder = newFolder();
    fs.writeFileSync(lockOf(folder), dead);
    const outcomes = await Promise.all(racers.map((racer) => racer.ask(`lock ${folder}`)));
    assert.equal(outcomes.filter((outcome) => outcome === 'locked').length, 1, `${outcomes}`);
    assert.deepEqual(fs.readdirSync(folder), [LOCK_FILE]);
  }
});

test('starters that died while they took over stop nobody', async () => {
  const folder = newFolder();
  const [first, second, third] = await Promise.all([deadLock(), deadLock(), deadLock()]);
  const claim = `${lockOf(folder)}.${digest(first)}`;
  fs.writeFileSync(lockOf(folder), first);
  fs.writeFileSync(claim, second);
  fs.writeFileSync(`${claim}.${digest(second)}`, third);
  lockFolder(folder, owner).release();
  assert.deepEqual(fs.readdirSync(folder), []);
});

test('a starter that is just taking over is respected', async () => {
  const folder = newFolder();
  const dead = await deadLock();
  fs.writeFileSync(lockOf(folder), dead);
  const live = startChild();
  const elsewhere = newFolder();
  await live.ask(`lock ${elsewhere}`);
  fs.copyFileSync(lockOf(elsewhere), `${lockOf(folder)}.${digest(dead)}`);
  assert.throws(() => lockFolder(folder, owner), new RegExp(`process ${live.pid} on`));
});

/** The text of a lock whose process has ended. */
async function deadLock(): Promise<string> {
  const folder = newFolder();
  const child = startChild();
  await child.ask(`lock ${folder}`);
  await child.kill();
  return fs.readFileSync(lockOf(folder), 'utf8');
}

interface Child {
  readonly pid: number | undefined;
  ask(line: string): Promise<string>;
  kill(): Promise<void>;
}

/** Locks and releases folders as it is told, one line each, and answers each line. */
const program = `
  import { createInterface } from 'node:readline';
  import { lockFolder } from '${new URL('./lock.js', import.meta.url)}';
  const locks = new Map();
  const verbs = {
    lock(folder) {
      locks.set(folder, lockFolder(folder, { startedAt: 'then' }));
      return 'locked';
    },
    release(folder) {
      locks.get(folder).release();
      return 'released';
    },
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, folder] = line.split(' ');
    let answer;
    try {
      answer = verbs[verb](folder);
    } catch (error) {
      answer = error.message;
    }
    process.stdout.write(answer + '\\n');
  }
`;

/** `wrapper` is a command that runs the one given as its arguments. */
function startChild(wrapper: readonly string[] = []): Child {
  const words = [process.execPath, '--input-type=module', '--eval', program];
  const [command = '', ...args] = [...wrapper, ...words];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  return {
    pid: child.pid,
    async ask(line) {
      const answered = once(lines, 'line');
      child.stdin.write(`${line}\n`);
      return String((await answered)[0]);
    },
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Moves the file's time back, relative to what it is. */
function makeOlder(file: string, byMs: number): void {
  const { mtimeMs } = fs.statSync(file);
  const seconds = (mtimeMs - byMs) / 1000;
  fs.utimesSync(file, seconds, seconds);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
