// One server per data folder: a file that names the process which holds the folder. A lock whose
// process is gone is taken over at once, and of several starters that try this only one succeeds.
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeFolder, toldOf } from './folder.js';
import { isRunning, startOf } from './process.js';

export interface FolderLock {
  /** Removes the lock if it is still ours. */
  release(): void;
  /** Tells other hosts that we are alive. Throws when somebody else has the folder now. */
  refresh(): void;
}

export const LOCK_FILE = 'mayfly.lock';
/** A lock of another host, whose processes we cannot see, counts while it is this fresh. */
export const REFRESHED_WITHIN_MS = 30_000;

/** Throws when another server uses the folder. The owner calls refresh every 10 s. */
export function lockFolder(folder: string, owner: { readonly startedAt: string }): FolderLock {
  makeFolder(folder);
  const path = join(fs.realpathSync(folder), LOCK_FILE);
  const pid = process.pid;
  const me: Holder = { pid, host: hostname(), started: startOf(pid) ?? owner.startedAt };
  if (held.has(path)) throw inUse(folder, me);
  const text = JSON.stringify(me);
  toldOf(folder, () => take({ folder, me, text }, path, 0));
  held.add(path);
  let released = false;
  return {
    release() {
      if (released) return;
      released = true;
      held.delete(path);
      if (inspect(path)?.text === text) fs.rmSync(path, { force: true });
    },
    refresh() {
      if (!released) touch(folder, path, text);
    },
  };
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly started: string;
}
interface Attempt {
  readonly folder: string;
  readonly me: Holder;
  readonly text: string;
}
/** A lock file as it was at one moment. */
interface Sight {
  readonly text: string;
  readonly modifiedMs: number;
  readonly inode: number;
}

/** Locks of this process, because its own number in a lock file proves nothing. */
const held = new Set<string>();
const ATTEMPTS_MAX = 100;
const NESTING_MAX = 8;

function take(attempt: Attempt, path: string, nesting: number): void {
  for (let count = 0; count < ATTEMPTS_MAX && nesting < NESTING_MAX; count += 1) {
    if (create(path, attempt.text)) return;
    const sight = inspect(path);
    if (sight === undefined) continue;
    const holder = parse(sight.text);
    if (isHeld(attempt.me, holder, sight, path)) throw inUse(attempt.folder, holder);
    removeStale(attempt, path, sight, nesting);
  }
  const advice = `If no Mayfly uses it, delete the files ${LOCK_FILE}* in it.`;
  throw new Error(`The data folder ${attempt.folder} could not be locked. ${advice}`);
}

/**
 * Between seeing a stale lock and removing it, another starter may have removed it and put its own
 * there. So whoever removes a lock first takes a lock on that, named after what was seen, and then
 * looks again: only the holder of that second lock may remove the first, so it cannot change any
 * more. A starter that dies in here leaves a stale second lock, which is removed the same way.
 */
function removeStale(attempt: Attempt, path: string, sight: Sight, nesting: number): void {
  const digest = createHash('sha256').update(sight.text).digest('hex').slice(0, 16);
  const claim = `${path}.${digest}`;
  take(attempt, claim, nesting + 1);
  const now = inspect(path);
  const isSame = now?.text === sight.text && now.inode === sight.inode;
  if (isSame && now.modifiedMs === sight.modifiedMs) fs.rmSync(path, { force: true });
  fs.rmSync(claim, { force: true });
}

/**
 * The file appears with all of its text or not at all, because its maker may be killed at any
 * moment: it is written aside and then linked to its name, which fails if there is one already.
 */
function create(path: string, text: string): boolean {
  const aside = fs.mkdtempSync(`${path}.new-`);
  try {
    const draft = join(aside, LOCK_FILE);
    fs.writeFileSync(draft, text);
    fs.linkSync(draft, path);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (WITHOUT_LINKS.includes(code)) return createInPlace(path, text);
    throw error;
  } finally {
    fs.rmSync(aside, { recursive: true, force: true });
  }
}

/** What file systems say that have no hard links. */
const WITHOUT_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

function createInPlace(path: string, text: string): boolean {
  try {
    fs.writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function inspect(path: string): Sight | undefined {
  let file: number;
  try {
    file = fs.openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { mtimeMs: modifiedMs, ino: inode } = fs.fstatSync(file);
    return { text: fs.readFileSync(file, 'utf8'), modifiedMs, inode };
  } finally {
    fs.closeSync(file);
  }
}

function parse(text: string): Holder | undefined {
  try {
    const { pid, host, started } = JSON.parse(text);
    const isHolder = Number.isInteger(pid) && pid > 0 && typeof host === 'string';
    return isHolder && typeof started === 'string' ? { pid, host, started } : undefined;
  } catch {
    return undefined;
  }
}

/** A file that names nobody may be one that its maker is just writing, so its age decides too. */
function isHeld(me: Holder, holder: Holder | undefined, sight: Sight, path: string): boolean {
  if (holder?.host === me.host) return isRunning(holder.pid, holder.started);
  return nowBesides(path, me) - sight.modifiedMs < REFRESHED_WITHIN_MS;
}

/** The present by the clock of the file system, which may be that of a third machine. */
function nowBesides(path: string, me: Holder): number {
  const probe = `${path}.probe-${me.host}-${me.pid}`;
  fs.writeFileSync(probe, 'x');
  const { mtimeMs } = fs.statSync(probe);
  fs.rmSync(probe, { force: true });
  return mtimeMs;
}

function inUse(folder: string, holder: Holder | undefined): Error {
  const who = holder === undefined ? 'just starting' : `process ${holder.pid} on ${holder.host}`;
  const advice = 'Stop it first, or choose another folder with --data.';
  return new Error(`The data folder ${folder} is in use by another Mayfly (${who}). ${advice}`);
}

/** Writing the same bytes again moves the file's time by the file system's own clock. */
function touch(folder: string, path: string, text: string): void {
  // A lock that was deleted by hand is put back, unless somebody was quicker.
  if (create(path, text)) return;
  const sight = inspect(path);
  if (sight?.text !== text) throw inUse(folder, parse(sight?.text ?? ''));
  const file = fs.openSync(path, 'r+');
  fs.writeSync(file, text, 0);
  fs.closeSync(file);
}
