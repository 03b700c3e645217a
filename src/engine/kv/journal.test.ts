// What is read back from a journal after a crash, and what is refused.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { JOURNAL_FILES } from './journal.js';
import { BLOCK_BYTES } from './journal-record.js';
import { formatKey } from './keys.js';
import { openKvEngine } from './kv-engine.js';
import { openLmdb } from './lmdb.js';
import type { Store } from './store.js';

const GROUPS = 4;
/** Two blocks each. */
const VALUE = Buffer.alloc(BLOCK_BYTES + 100, 7);
const RECORD_BYTES = 2 * BLOCK_BYTES;
const root = mkdtempSync(join(tmpdir(), 'mayfly-journal-'));
after(() => rmSync(root, { recursive: true }));

let folders = 0;
const newFolder = () => join(root, String(folders++));
const key = (number: number) => Buffer.from(`k${number}`);

/** A folder as a crash leaves it: groups in the journal that the store does not hold. */
async function crashed(): Promise<string> {
  const [folder, left] = [newFolder(), newFolder()];
  const store = openLmdb(folder);
  await store.write([[key(99), VALUE]]);
  await store.settle();
  for (let number = 0; number < GROUPS; number++) await store.write(groupOf(number));
  cpSync(folder, left, { recursive: true });
  await store.close();
  return left;
}

const groupOf = (number: number) =>
  [
    [key(number), VALUE],
    [Buffer.from('last'), Buffer.from(String(number))],
    [key(99), number === 1 ? undefined : Buffer.of(1)],
  ] as const;

async function groupsIn(store: Store): Promise<number> {
  const found = store.keys(Buffer.from('k0'), Buffer.from('k9'), 10).length;
  const last = store.get(Buffer.from('last'));
  assert.equal(last && Number(Buffer.from(last).toString()), found === 0 ? undefined : found - 1);
  await store.close();
  return found;
}

function change(folder: string, name: string, edit: (file: Buffer) => Buffer): void {
  const path = join(folder, name);
  writeFileSync(path, edit(readFileSync(path)));
}
/** The groups went to the second file; the first record had the first to itself. */
const [FIRST, SECOND] = JOURNAL_FILES;

const flip = (at: number) => (file: Buffer) => {
  file[at] = (file[at] ?? 0) ^ 1;
  return file;
};
const at = (record: number, offset: number) => record * RECORD_BYTES + offset;
const IN_PADDING = BLOCK_BYTES + 300;

const kept: readonly (readonly [string, number, (file: Buffer) => Buffer])[] = [
  ['nothing is damaged', 4, (file) => file],
  ['the last record is torn in its writes', 3, flip(at(3, 4000))],
  ['the last record is torn in its head', 3, flip(at(3, 30))],
  [
    'the last record lacks its second block',
    3,
    (file) => file.fill(0, at(3, BLOCK_BYTES), at(4, 0)),
  ],
  ['the file ends within the last record', 3, (file) => file.subarray(0, at(3, BLOCK_BYTES))],
  ['the file ends behind the last record', 4, (file) => file.subarray(0, at(4, 0))],
  ['the padding of a record is overwritten', 4, flip(at(1, IN_PADDING))],
];
for (const [name, groups, edit] of kept) {
  test(`read back when ${name}`, async () => {
    const folder = await crashed();
    change(folder, SECOND, edit);
    assert.equal(await groupsIn(openLmdb(folder)), groups);
    // What was read back is in the store now, and the journal begins anew.
    const again = openLmdb(folder);
    await again.write(groupOf(groups));
    assert.equal(await groupsIn(again), groups + 1);
  });
}

const refused: readonly (readonly [string, RegExp, (folder: string) => void])[] = [
  [
    'a record in the middle is damaged',
    /record 3 is damaged or missing, and record 4 is there/,
    (folder) => change(folder, SECOND, flip(at(1, 1000))),
  ],
  [
    'the head of the first record is damaged',
    /record 2 is damaged or missing, and record 3 is there/,
    (folder) => change(folder, SECOND, flip(at(0, 33))),
  ],
  ['a file is missing', /store.journal-2 is missing/, (folder) => rmSync(join(folder, SECOND))],
  ['the other file is missing', /journal-1 is missing/, (folder) => rmSync(join(folder, FIRST))],
  [
    'a file belongs to another store',
    /journal-2 belongs to another store/,
    (folder) => change(folder, SECOND, flip(10)),
  ],
];
for (const [name, message, harm] of refused) {
  test(`refused when ${name}, as often as one tries`, async () => {
    const folder = await crashed();
    harm(folder);
    assert.throws(() => openLmdb(folder), message);
    assert.throws(() => openLmdb(folder), message);
  });
}

test('a journal that is newer than its store is refused', async () => {
  const [folder, kept] = [newFolder(), newFolder()];
  await (await openKvEngine(openLmdb(folder))).close();
  cpSync(folder, kept, { recursive: true });
  const store = openLmdb(folder);
  await store.write(groupOf(0));
  for (const name of JOURNAL_FILES) cpSync(join(folder, name), join(kept, name));
  await store.close();
  assert.throws(() => openLmdb(kept), /newer than the store/);
});

test('a crash while what is left is read back leaves it there', async () => {
  let folder = await crashed();
  for (let life = 0; life < 3; life++) {
    const next = newFolder();
    const store = openLmdb(folder);
    assert.equal(store.count(Buffer.from('k0'), Buffer.from('k9')), GROUPS);
    cpSync(folder, next, { recursive: true });
    await store.close();
    folder = next;
  }
});

test('a journal that is not open yet may be empty or cut', async () => {
  const folder = await crashed();
  await openLmdb(folder).close();
  writeFileSync(join(folder, FIRST), '');
  assert.equal(await groupsIn(openLmdb(folder)), GROUPS);
  writeFileSync(join(folder, FIRST), Buffer.alloc(10));
  truncateSync(join(folder, FIRST), 5);
  assert.equal(await groupsIn(openLmdb(folder)), GROUPS);
});

test('a store without a journal gets the format of one with it; no other format does', async () => {
  const folder = newFolder();
  await (await openKvEngine(openLmdb(folder))).close();
  for (const [mark, refusal] of [
    ['mayfly 3', undefined],
    ['mayfly 2', /format 2.*reads format 4/],
    ['mayfly 5', /format 5.*reads format 4/],
    ['mayfly', /format/],
  ] as const) {
    const store = openLmdb(folder);
    await store.write([[formatKey(), Buffer.from(mark)]]);
    await store.close();
    const opening = openKvEngine(openLmdb(folder));
    if (refusal) {
      await assert.rejects(opening, refusal);
      continue;
    }
    const engine = await opening;
    // In the store's own file, before anything is written.
    const left = newFolder();
    cpSync(folder, left, { recursive: true });
    await engine.close();
    for (const name of JOURNAL_FILES) writeFileSync(join(left, name), '');
    const there = openLmdb(left);
    assert.equal(String(there.get(formatKey())), 'mayfly 4');
    await there.close();
  }
});

test('a key that is too long is refused, and the writes of others are not', async () => {
  const folder = newFolder();
  const store = openLmdb(folder);
  await store.write(groupOf(0));
  await assert.rejects(store.write([[Buffer.alloc(2000), VALUE]]), /a key of 2000 bytes/);
  await store.write(groupOf(1));
  assert.equal(await groupsIn(store), 2);
  await assert.rejects(store.write(groupOf(2)), /closed/);
});

test('after a failed write none follows, and what was acknowledged is there again', async () => {
  const folder = newFolder();
  const store = openLmdb(folder);
  await store.write(groupOf(0));
  // A value that cannot be copied stands for a disk that cannot be written.
  const broken = Object.defineProperty({ length: 10 } as unknown as Buffer, 0, {
    get: () => {
      throw new Error('no space left');
    },
  });
  await assert.rejects(store.write([[key(1), broken]]), /no space left/);
  await assert.rejects(store.write(groupOf(1)), /no space left/);
  await store.close();
  assert.equal(await groupsIn(openLmdb(folder)), 1);
});
