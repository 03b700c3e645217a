// What may go wrong with PostgreSQL while there is other work than single writes: definitions, the
// purge, MongoDB clients, a migration, an index. All of it is done once, or goes on when it is
// asked for again.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { MongoClient } from 'mongodb';
import {
  ALL,
  BUDGET,
  containerNamed,
  insert,
  LATER,
  NOW,
} from '../../src/engine/contract-fixture.suite.js';
import type { Container, Engine, Version } from '../../src/engine/engine.js';
import { openKvEngine } from '../../src/engine/kv/kv-engine.js';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import { openAt, openCluster } from '../../src/engine/postgres/cluster.suite.js';
import { start } from '../../src/main.js';
import { migrate } from '../../src/migrate.js';
import { cosmosRules } from '../../src/time/expiry.js';
import type { Any } from '../mongo/support.suite.js';
import { type Cut, CuttingProxy } from './proxy.suite.js';

const CUTS = ['before the commit', 'behind the commit'] satisfies Cut[];
const cluster = await openCluster();
const folder = mkdtempSync(join(tmpdir(), 'mayfly-faults-'));
const closing: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function proxied(): Promise<{ proxy: CuttingProxy; url: string }> {
  const opened = await CuttingProxy.open(cluster.newStore());
  closing.push(() => opened.proxy.close());
  return opened;
}

async function opened(url: string): Promise<Engine> {
  const engine = await openAt(url);
  closing.push(() => engine.close());
  return engine;
}

const KILLS_MAX = 12;

/** Ends all connections of servers again and again while the work goes on. */
async function killing(work: () => Promise<void>): Promise<void> {
  let isDone = false;
  const killer = (async () => {
    for (let kills = 0; !isDone && kills < KILLS_MAX; kills++) {
      await cluster.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'mayfly'`,
      );
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  })();
  try {
    await work();
  } finally {
    isDone = true;
    await killer;
  }
}

async function fill(engine: Engine, box: Container, count: number, ttl: number): Promise<void> {
  for (let from = 0; from < count; from += 50) {
    const changes = Array.from({ length: 50 }, (_, n) => {
      const id = `${from + n}`;
      return insert(id, n % 2 ? { ttl } : {});
    });
    await engine.commit(box, [{ partition: ['a'], changes }], NOW);
  }
}

describe('connections that are cut while it is committed', () => {
  for (const cut of CUTS) {
    test(`definitions, ${cut}`, async () => {
      const { proxy, url } = await proxied();
      const engine = await opened(url);
      const boxes = Array.from({ length: 8 }, (_, n) => containerNamed(`box${n}`));
      await proxy.while(cut, async () => {
        for (const box of boxes) {
          await engine.createContainer(box);
          await engine.alterContainer({ ...box, expiry: cosmosRules(5) });
          if (box.id.endsWith('1')) await engine.dropContainer(box.id);
        }
      });
      assert(proxy.cuts > 0);
      const left = (await engine.containers()).map(({ id }) => id).sort();
      assert.deepEqual(
        left,
        boxes
          .map(({ id }) => id)
          .filter((id) => !id.endsWith('1'))
          .sort(),
      );
      await assert.rejects(engine.createContainer(boxes[0] as Container), /already/);
    });

    test(`T18: the purge, ${cut}: every end is told once`, async () => {
      const { proxy, url } = await proxied();
      const engine = await opened(url);
      const box = { ...containerNamed('box'), expiry: cosmosRules(-1), retentionMs: 60_000 };
      await engine.createContainer(box);
      await fill(engine, box, 400, 1);
      const later = LATER(2_000);
      await proxy.while(cut, async () => {
        for (let pass = 0; pass < 40; pass++) await engine.purge(box, later, 5);
      });
      assert(proxy.cuts > 0);
      await engine.purge(box, later, 400);
      assert.equal((await engine.stats(box)).items, 200);
      const told: Version[] = [];
      for (let position = 0; ; ) {
        const scan = { partition: undefined, span: undefined, after: position };
        const page = await engine.versions?.(box, scan, later, BUDGET);
        told.push(...(page?.versions ?? []));
        position = page?.upTo ?? 0;
        if (page?.isEnd !== false) break;
      }
      const ended = told.filter(({ expired }) => expired).map(({ key }) => key.id);
      assert.equal(ended.length, 200);
      assert.equal(new Set(ended).size, 200);
      await engine.check();
    });

    test(`writes of MongoDB clients, ${cut}: each is done once`, async () => {
      const { proxy, url } = await proxied();
      const server = await start({ store: url, mongoPort: 0 });
      const client = new MongoClient(server.mongo ?? '');
      closing.push(async () => {
        await client.close();
        await server.close();
      });
      const things = client.db('app').collection<Any>('things');
      await things.insertOne({ _id: 'counter', n: 0 });
      await proxy.while(cut, async () => {
        const writers = Array.from({ length: 4 }, async (_, writer) => {
          for (let n = 0; n < 12; n++) {
            await things.insertOne({ _id: `${writer} ${n}` });
            await things.updateOne({ _id: 'counter' }, { $inc: { n: 1 } });
            const found = await things.findOneAndDelete({ _id: `${writer} ${n - 1}` });
            assert.equal(found !== null, n > 0);
          }
        });
        await Promise.all(writers);
      });
      assert(proxy.cuts > 0);
      assert.equal((await things.findOne({ _id: 'counter' }))?.n, 48);
      assert.equal(await things.countDocuments({}), 1 + 4);
    });

    test(`a migration, ${cut}`, async () => {
      const { proxy, url } = await proxied();
      const from = join(folder, cut);
      const source = await openKvEngine(openLmdb(from));
      const box = { ...containerNamed('box'), retentionMs: 60_000 };
      await source.createContainer(box);
      await fill(source, box, 1500, 60);
      await source.close();
      await proxy.while(cut, async () => {
        const { items, versions } = await migrate({ from, to: url, progress: () => undefined });
        assert.deepEqual([items, versions], [1500, 1500]);
      });
      const engine = await opened(url);
      assert.equal((await engine.stats(box)).items, 1500);
      await engine.check();
    });
  }
});

test('reads and scans while backends are killed', async () => {
  const engine = await opened(cluster.newStore());
  const box = containerNamed('box');
  await engine.createContainer(box);
  await fill(engine, box, 300, 60);
  await killing(async () => {
    for (let round = 0; round < 12; round++) {
      const key = { partition: ['a'], id: `${round}` };
      assert((await engine.get(box, [key], NOW)).items[0]);
      assert.equal((await engine.plan(box, ALL).count(NOW))?.items, 300);
      const scan = { partition: undefined, span: undefined, after: 0 };
      const { items } = await engine.changes(box, scan, NOW, { ...BUDGET, rowsMax: 1000 });
      assert.equal(items.length, 300);
    }
  });
});

test('an index whose build is killed is whole in the end', async () => {
  const server = await start({ store: cluster.newStore(), mongoPort: 0 });
  const client = new MongoClient(server.mongo ?? '');
  closing.push(async () => {
    await client.close();
    await server.close();
  });
  const things = client.db('app').collection<Any>('things');
  await things.insertMany(Array.from({ length: 500 }, (_, _id) => ({ _id, mail: `m${_id}` })));
  await killing(async () => {
    await things.createIndex({ mail: 1 }, { unique: true });
    await things.dropIndex('mail_1');
    await things.createIndex({ mail: 1 }, { unique: true });
  });
  await assert.rejects(things.insertOne({ _id: 'x', mail: 'm7' }), { code: 11000 });
  assert.equal((await things.find({ mail: 'm7' }).toArray()).length, 1);
  await things.dropIndex('mail_1');
  await things.insertOne({ _id: 'x', mail: 'm7' });
  await assert.rejects(things.createIndex({ mail: 1 }, { unique: true }), { code: 11000 });
});
