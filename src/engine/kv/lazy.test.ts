// Lazy indexing (T25): a write is answered before its index entries exist, the index catches up in
// the background and after a new start, and scans are right at every moment. And what holds for
// every index that is built behind the scenes: a failure is told and tried again.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { breathe, stopwatch } from '../../time/clock.js';
import {
  containerNamed,
  draftOf,
  insert,
  NOW,
  remove,
  replace,
} from '../contract-fixture.suite.js';
import type { Change, Container, Engine, Plan } from '../engine.js';
import { tableRange } from './keys.js';
import { openKvEngine } from './kv-engine.js';
import { openLmdb } from './lmdb.js';
import { MemoryStore } from './memory.js';
import type { Key } from './store.js';

const folder = mkdtempSync(join(tmpdir(), 'mayfly-lazy-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const WAIT_MS = 10_000;
const eager = containerNamed('c');
const box: Container = { ...eager, indexing: { ...eager.indexing, lazy: true } };
const SLOT = 1;

test('a write is answered before its entries exist, and scans find it all the same', async () => {
  const store = new MemoryStore();
  const engine = await opened(store);
  await write(engine, insert('0', { a: 0 }));
  await write(engine, insert('1', { a: 1 }));
  assert.equal(entriesIn(store), 0);
  assert.deepEqual(await found(engine, 1), ['1']);
  assert.match(planFor(engine, 1).explain, /^all items/);
  await engine.check();
  await caughtUp(engine, store);
  assert.match(planFor(engine, 1).explain, /\/a =/);
  assert.deepEqual(await found(engine, 1), ['1']);
  await engine.close();
});

test('what changes while it waits is found as it is', async () => {
  const store = new MemoryStore();
  const engine = await opened(store);
  for (const id of ['1', '2', '3']) await write(engine, insert(id, { a: 1 }));
  await caughtUp(engine, store);
  await write(engine, replace('1', { a: 2 }));
  await write(engine, replace('1', { a: 3 }));
  await write(engine, remove('2'));
  assert.deepEqual(await found(engine, 1), ['3']);
  assert.deepEqual(await found(engine, 2), []);
  assert.deepEqual(await found(engine, 3), ['1']);
  await engine.check();
  await caughtUp(engine, store);
  assert.deepEqual(await found(engine, 1), ['3']);
  assert.deepEqual(await found(engine, 2), []);
  assert.deepEqual(await found(engine, 3), ['1']);
  await engine.check();
  await engine.close();
});

test('a scan that has begun loses nothing that is written again on the way', async () => {
  const store = new MemoryStore();
  const engine = await opened(store);
  const ids = Array.from({ length: 20 }, (_, n) => `${n + 10}`);
  for (const id of ids) await write(engine, insert(id, { a: 1 }));
  await write(engine, insert('another', { a: 2 }));
  await caughtUp(engine, store);
  const plan = planFor(engine, 1);
  assert.match(plan.explain, /\/a =/);
  const seen: string[] = [];
  for await (const batch of plan.run(NOW, { rowsMax: 1, bytesMax: 1e6 })) {
    seen.push(...batch.items.map(({ key }) => key.id));
    // Each of them matches before and after.
    for (const id of ids) await write(engine, replace(id, { a: 1, again: seen.length }));
  }
  assert.deepEqual(seen, ids);
  await engine.close();
});

test('it catches up after a new start', async () => {
  const first = await opened(openLmdb(folder));
  const many = Array.from({ length: 300 }, (_, n) => ({ id: `${n}`, a: n % 3 }));
  for (const { id, a } of many) {
    const changes = [{ kind: 'insert' as const, item: draftOf(id, { a }, NOW) }];
    void first.commit(box, [{ partition: ['p'], changes }], NOW);
  }
  await first.close();
  const store = openLmdb(folder);
  const again = await openKvEngine(store);
  await again.check();
  assert.equal((await found(again, 1)).length, 100);
  await caughtUp(again, store);
  assert.match(planFor(again, 1).explain, /\/a =/);
  assert.equal((await found(again, 1)).length, 100);
  await again.check();
  await again.close();
});

test('one that becomes eager keeps nothing waiting', async () => {
  const store = new MemoryStore();
  const engine = await opened(store);
  for (let n = 0; n < 100; n++) await write(engine, insert(`${n}`, { a: n % 3 }));
  const next = { ...eager, indexing: { ...eager.indexing, version: 2 } };
  await engine.alterContainer(next);
  await engine.commit(next, [{ partition: ['p'], changes: [replace('1', { a: 5 })] }], NOW);
  await waitFor(() => keysIn(store, 'waiting').length === 0);
  await engine.check();
  await engine.close();
});

test('one that is eager for a while has nothing left from before', async () => {
  const store = new MemoryStore();
  const engine = await opened(store);
  for (let n = 0; n < 100; n++) await write(engine, insert(`${n}`, { a: n % 3 }));
  const altered = async (lazy: boolean, version: number, change: Change) => {
    const next = { ...eager, indexing: { ...eager.indexing, lazy, version } };
    await engine.alterContainer(next);
    await engine.commit(next, [{ partition: ['p'], changes: [change] }], NOW);
  };
  // Items that wait are removed and replaced by an engine that does not look for what waits.
  await altered(false, 2, remove('99'));
  await altered(false, 2, replace('98', { a: 7 }));
  await altered(true, 3, replace('97', { a: 8 }));
  await waitFor(async () => {
    await engine.check();
    const { indexProgress } = await engine.stats(box);
    return indexProgress === 100 && keysIn(store, 'waiting').length === 0;
  });
  await engine.check();
  await engine.close();
});

test('a build that fails is told, and tried again', async () => {
  let failures = 2;
  class Faulty extends MemoryStore {
    override keys(from: Key, to: Key, limit: number) {
      const [start] = tableRange(SLOT, 'document');
      if (limit > 1 && from.subarray(0, start.length).equals(start) && failures > 0) {
        failures -= 1;
        throw new Error('the disk is tired');
      }
      return super.keys(from, to, limit);
    }
  }
  const told: string[] = [];
  const store = new Faulty();
  const engine = await openKvEngine(store, (error, container) =>
    told.push(`${container} ${error}`),
  );
  await engine.createContainer(eager);
  await engine.commit(eager, [{ partition: ['p'], changes: [insert('1', { a: 1 })] }], NOW);
  const next = { ...eager, indexing: { ...eager.indexing, version: 2 } };
  await engine.alterContainer(next);
  await waitFor(async () => (await engine.stats(next)).indexProgress === 100);
  assert.deepEqual(told, Array(2).fill('c Error: the disk is tired'));
  await engine.check();
  await engine.close();
});

async function opened(store: Parameters<typeof openKvEngine>[0]): Promise<Engine> {
  const engine = await openKvEngine(store);
  await engine.createContainer(box);
  return engine;
}

function write(engine: Engine, change: Change) {
  return engine.commit(box, [{ partition: ['p'], changes: [change] }], NOW);
}

function planFor(engine: Engine, a: number): Plan {
  const filter = { op: '=' as const, path: ['a'], value: a };
  const scope = { partition: undefined, span: undefined, order: [], limit: undefined };
  return engine.plan(box, { ...scope, filter, after: undefined });
}

/** As a query would: what the plan does not promise is looked at again. */
async function found(engine: Engine, a: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const batch of planFor(engine, a).run(NOW, { rowsMax: 10, bytesMax: 1e6 })) {
    for (const { key, doc } of batch.items) {
      if ((doc.value as { a: number }).a === a) ids.push(key.id);
    }
  }
  return ids;
}

function keysIn(store: Pick<MemoryStore, 'keys'>, table: 'path' | 'waiting') {
  return store.keys(...tableRange(SLOT, table), 10_000);
}

function entriesIn(store: Pick<MemoryStore, 'keys'>): number {
  return keysIn(store, 'path').length;
}

/** The check is right at every moment of it. */
async function caughtUp(engine: Engine, store: Pick<MemoryStore, 'keys'>): Promise<void> {
  await waitFor(async () => {
    await engine.check();
    return keysIn(store, 'waiting').length === 0;
  });
}

async function waitFor(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const took = stopwatch(); took() < WAIT_MS; ) {
    if (await isSo()) return;
    await breathe();
  }
  assert.fail('it does not come about');
}
