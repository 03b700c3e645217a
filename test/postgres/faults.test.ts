// What may go wrong between a server and its PostgreSQL: no write that was answered is lost, none
// is done twice, and the engine goes on by itself.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import pg from 'pg';
import {
  BUDGET,
  containerNamed,
  draftOf,
  insert,
  NOW,
} from '../../src/engine/contract-fixture.suite.js';
import { type Change, type Container, type Engine, EVERYTHING } from '../../src/engine/engine.js';
import { openCluster } from '../../src/engine/postgres/cluster.suite.js';
import { openPostgres } from '../../src/engine/postgres/postgres-engine.js';
import { systemClock } from '../../src/time/clock.js';
import { systemEntropy } from '../../src/time/entropy.js';
import { MayflyError } from '../../src/value/errors.js';
import { type Cut, CuttingProxy } from './proxy.suite.js';

const cluster = await openCluster();
const { uuid, fraction } = systemEntropy();
const { wall } = systemClock();
const closing: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
  await cluster.stop();
});

async function open(url: string, connectionsMax?: number): Promise<Engine> {
  const more = connectionsMax === undefined ? {} : { connectionsMax };
  const { engine } = await openPostgres({ url, server: uuid(), fraction, wall, ...more });
  closing.push(() => engine.close());
  return engine;
}

let boxes = 0;
async function newBox(engine: Engine): Promise<Container> {
  const box = containerNamed(`box${boxes++}`);
  await engine.createContainer(box);
  return box;
}

/** Adds one to a counter that is read and written in one step, and writes an item of its own. */
function add(n: number): readonly Change[] {
  const bump: Change = {
    kind: 'update',
    id: 'counter',
    decide: (current) => {
      const count = (current?.doc.value as { count: number } | undefined)?.count ?? 0;
      return { put: draftOf('counter', { count: count + 1 }, NOW) };
    },
  };
  return [bump, insert(`item ${n}`)];
}

/** In several boxes together, naming them in changing order. */
async function addTo(engine: Engine, boxes: readonly Container[], n: number): Promise<object> {
  const groups = boxes.map((container) => {
    return { container, batches: [{ partition: ['a'], changes: add(n) }] };
  });
  const [first, second] = groups;
  if (first && !second) {
    const [outcome] = await engine.commit(first.container, first.batches, NOW);
    return outcome ?? {};
  }
  return engine.commitTogether(n % 2 === 0 ? groups : groups.reverse(), NOW);
}

/** Several writers at once; answers which of their writes were acknowledged. */
async function write(engine: Engine, boxes: readonly Container[], count: number, writers = 6) {
  const acknowledged: number[] = [];
  const failed: unknown[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (next < count) {
        const n = next++;
        try {
          const outcome = await addTo(engine, boxes, n);
          if (!('refused' in outcome)) acknowledged.push(n);
          else failed.push(outcome);
        } catch (error) {
          failed.push(error);
        }
      }
    }),
  );
  return { acknowledged, failed };
}

/** Each acknowledged write is there once, and the counter has counted all that are there. */
async function assertWhole(engine: Engine, box: Container, acknowledged: readonly number[]) {
  const there = new Set<string>();
  for await (const { items } of engine.plan(box, EVERYTHING).run(NOW, BUDGET)) {
    for (const { key } of items) there.add(key.id);
  }
  for (const n of acknowledged) assert(there.has(`item ${n}`), `item ${n} was acknowledged`);
  const key = { partition: ['a'], id: 'counter' };
  const counter = (await engine.get(box, [key], NOW)).items[0];
  const value = counter?.doc.value as { count: number } | undefined;
  assert.equal(value?.count, there.size - 1, 'none twice');
  const { items, lsn } = await engine.stats(box);
  assert.equal(items, there.size);
  assert.equal(lsn, there.size - 1, 'one change each');
  await engine.check();
}

test('backends that are killed again and again', async () => {
  const engine = await open(cluster.newStore());
  const box = await newBox(engine);
  let isDone = false;
  const killing = (async () => {
    let killed = 0;
    while (!isDone) {
      const { rowCount } = await cluster.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'mayfly'`,
      );
      killed += rowCount ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    return killed;
  })();
  const { acknowledged, failed } = await write(engine, [box], 150);
  isDone = true;
  assert((await killing) > 0);
  assert.deepEqual(failed, [], 'a lost connection is tried again');
  assert.equal(acknowledged.length, 150);
  await assertWhole(engine, box, acknowledged);
});

describe('connections that are cut while a commit is on its way', () => {
  const rows: readonly (readonly [Cut, number])[] = [
    ['before the commit', 1],
    ['behind the commit', 1],
    ['behind the commit', 2],
  ];
  for (const [cut, count] of rows) {
    test(`${cut}, of ${count} containers`, async () => {
      const { proxy, url } = await CuttingProxy.open(cluster.newStore());
      closing.push(() => proxy.close());
      const engine = await open(url);
      const boxes = [await newBox(engine), await newBox(engine)].slice(0, count);
      await write(engine, boxes, 10);
      const { acknowledged, failed } = await proxy.while(cut, () => write(engine, boxes, 110));
      assert(proxy.cuts > 0, 'some were cut');
      // The first ten are there already, and their inserts are refused.
      assert.equal(failed.filter((each) => each instanceof Error).length, 0);
      assert.equal(acknowledged.length, 100);
      const again = Array.from({ length: 10 }, (_, n) => n);
      for (const box of boxes) await assertWhole(engine, box, [...again, ...acknowledged]);
    });
  }
});

test('a server that crashes and comes back', { skip: !cluster.own }, async () => {
  const engine = await open(cluster.newStore());
  const box = await newBox(engine);
  const writing = write(engine, [box], 120);
  await new Promise((resolve) => setTimeout(resolve, 150));
  await cluster.own?.crash();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await cluster.own?.restart();
  const { acknowledged, failed } = await writing;
  for (const error of failed) assert(error instanceof MayflyError, String(error));
  assert(acknowledged.length + failed.length === 120);
  assert(acknowledged.length > 0);
  await assertWhole(engine, box, acknowledged);
});

test('a pool of two connections for a hundred requests at once', async () => {
  const engine = await open(cluster.newStore(), 2);
  const box = await newBox(engine);
  const scans = Array.from({ length: 60 }, () => engine.plan(box, EVERYTHING).count(NOW));
  const { acknowledged, failed } = await write(engine, [box], 100, 40);
  await Promise.all(scans);
  assert.deepEqual(failed, []);
  await assertWhole(engine, box, acknowledged);
});

test('a database that takes no more connections is waited for, then refused in words', async () => {
  const url = cluster.newStore();
  const engine = await open(url);
  const box = await newBox(engine);
  const { rows } = await cluster.query('show max_connections');
  const hogs: pg.Client[] = [];
  for (let n = 0; n < Number(rows[0]?.max_connections); n++) {
    const hog = new pg.Client({ connectionString: url.split('?')[0] as string });
    try {
      await hog.connect();
      hogs.push(hog);
    } catch {
      await hog.end().catch(() => undefined);
      break;
    }
  }
  assert(hogs.length > 0);
  const writing = write(engine, [box], 30);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await Promise.all(hogs.map((hog) => hog.end()));
  const { acknowledged, failed } = await writing;
  for (const error of failed) assert(error instanceof MayflyError, String(error));
  assert.equal(acknowledged.length + failed.length, 30);
  await assertWhole(engine, box, acknowledged);
});

test('what the database does not take harms no other write of its group', async () => {
  const engine = await open(cluster.newStore());
  const box = await newBox(engine);
  const good = Array.from({ length: 5 }, (_, n) => ({ partition: ['a'], changes: add(n) }));
  // An etag that no text of PostgreSQL can hold.
  const bad = { kind: 'insert', item: { ...draftOf('bad', {}, NOW), etag: 'a\0b' } } as const;
  const results = await Promise.allSettled([
    ...good.map((batch) => engine.commit(box, [batch], NOW)),
    engine.commit(box, [{ partition: ['a'], changes: [bad] }], NOW),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    [...good.map(() => 'fulfilled'), 'rejected'],
  );
  await assertWhole(engine, box, [0, 1, 2, 3, 4]);
});
