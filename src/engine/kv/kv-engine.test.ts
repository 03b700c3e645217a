// The document engine against the contract, on both stores, and what only a store on disk can show.
import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { instantOfSeconds } from '../../time/instant.js';
import { describeEngine } from '../contract.suite.js';
import { containerNamed, draftOf } from '../contract-fixture.suite.js';
import { formatKey } from './keys.js';
import { openKvEngine } from './kv-engine.js';
import { openLmdb } from './lmdb.js';
import { MemoryStore } from './memory.js';

const NOW = instantOfSeconds(1_700_000_000);
const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-engine-'));
  folders.push(folder);
  return folder;
}

describeEngine('kv on memory', () => openKvEngine(new MemoryStore()));
describeEngine('kv on lmdb', () => openKvEngine(openLmdb(newFolder())));

async function filled(folder: string, items: number): Promise<void> {
  const engine = await openKvEngine(openLmdb(folder));
  const box = containerNamed('c');
  await engine.createContainer(box);
  const batches = Array.from({ length: items }, (_, n) => ({
    partition: [n],
    changes: [{ kind: 'insert' as const, item: draftOf(`${n}`, { pad: 'x'.repeat(500) }, NOW) }],
  }));
  await engine.commit(box, batches, NOW);
  await engine.close();
}

test('everything is there after closing and opening again', async () => {
  const folder = newFolder();
  await filled(folder, 500);
  const engine = await openKvEngine(openLmdb(folder));
  const [box] = await engine.containers();
  assert(box);
  assert.deepEqual(box, containerNamed('c'));
  assert.equal((await engine.stats(box)).items, 500);
  await engine.check();
  const [outcome] = await engine.commit(
    box,
    [{ partition: ['new'], changes: [{ kind: 'insert', item: draftOf('new', {}, NOW) }] }],
    NOW,
  );
  assert(outcome && 'items' in outcome);
  assert.equal(outcome.items[0]?.serial, 501);
  await engine.close();
});

test('a dropped container is swept, also when the server stops in between', async () => {
  const folder = newFolder();
  await filled(folder, 2000);
  const engine = await openKvEngine(openLmdb(folder));
  await engine.dropContainer('c');
  await engine.close();
  const again = await openKvEngine(openLmdb(folder));
  assert.deepEqual(await again.containers(), []);
  await again.createContainer(containerNamed('c'));
  await again.check();
  await again.close();
  // Closing waits for the running step only, so the sweep may need another life; it ends with an
  // empty store.
  for (let life = 0; life < 20; life++) await (await openKvEngine(openLmdb(folder))).close();
});

test('a store of another format is refused and left as it is', async () => {
  const folder = newFolder();
  await filled(folder, 1);
  const store = openLmdb(folder);
  await store.write([[formatKey(), Buffer.from('mayfly 99')]]);
  await store.close();
  await assert.rejects(openKvEngine(openLmdb(folder)), /format 99.*reads format 4/);
  await assert.rejects(openKvEngine(openLmdb(folder)), /format 99/);
});

const damages: readonly [what: string, damage: (file: string) => void, message: RegExp][] = [
  ['cut off', (file) => truncateSync(file, readFileSync(file).length - 8192), /cut off at/],
  ['cut to nothing', (file) => truncateSync(file, 0), /it is empty/],
  ['text', (file) => writeFileSync(file, 'hello'), /not an LMDB file/],
  ['zeroes at the start', (file) => overwrite(file, 0, 4096), /not an LMDB file/],
  ['zeroes in the second page', (file) => overwrite(file, 4096, 4096), /second meta page/],
  ['zeroes behind the meta pages', (file) => overwrite(file, 8192, 1e9), /root of its tree/],
];
for (const [what, damage, message] of damages) {
  test(`a damaged store is refused and left as it is: ${what}`, async () => {
    const folder = newFolder();
    await filled(folder, 100);
    const file = join(folder, 'store.mdb');
    damage(file);
    const before = readFileSync(file);
    assert.throws(() => openLmdb(folder), message);
    assert.deepEqual(readFileSync(file), before);
  });
}

test('a folder of something else is refused', () => {
  const folder = newFolder();
  appendFileSync(join(folder, 'thesis.doc'), 'x');
  assert.throws(
    () => openLmdb(folder),
    /not empty and holds no Mayfly store \(found 'thesis.doc'\)/,
  );
  assert.throws(() => openLmdb(join(folder, 'thesis.doc')), /is a file/);
});

test('a store that ends before a page which nothing refers to is whole', async () => {
  const folder = newFolder();
  await filled(folder, 100);
  const file = join(folder, 'store.mdb');
  const content = readFileSync(file);
  // As if the last transaction had taken ten more pages and given them back unwritten.
  for (const meta of [0, 4096]) {
    content.writeBigUInt64LE(content.readBigUInt64LE(meta + 144) + 10n, meta + 144);
  }
  writeFileSync(file, content);
  const engine = await openKvEngine(openLmdb(folder));
  await engine.check();
  await engine.close();
});

function overwrite(file: string, from: number, bytes: number): void {
  const content = readFileSync(file);
  content.fill(0, from, Math.min(content.length, from + bytes));
  writeFileSync(file, content);
}
