// `mayfly migrate` from a folder to PostgreSQL and back: everything is as it was.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openCluster } from '../../src/engine/postgres/cluster.suite.js';
import { start } from '../../src/main.js';
import { migrate, type Progress } from '../../src/migrate.js';
import { VirtualClock } from '../../src/time/clock.js';
import { instant } from '../../src/time/instant.js';
import { NOON, ok, Server } from '../conformance/support.suite.js';

const cluster = await openCluster();
const folder = mkdtempSync(join(tmpdir(), 'mayfly-migrate-'));
after(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

const key = (value: string) => ({ 'x-ms-documentdb-partitionkey': JSON.stringify([value]) });
const PATH = '/dbs/d/colls/c';
/** When some are dead, and none is purged. */
const LATER = instant(NOON + 60_000);

async function serving<T>(
  place: { readonly data?: string; readonly store?: string },
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const clock = new VirtualClock();
  clock.freeze();
  clock.set(NOON);
  const server = new Server(await start({ clock, ...place }), clock);
  try {
    await server.control('POST', 'purge/pause');
    return await use(server);
  } finally {
    await server.close();
  }
}

async function fill(server: Server): Promise<void> {
  ok(await server.send('POST', '/dbs', { body: { id: 'd' } }), 201);
  const body = {
    ...{ id: 'c', partitionKey: { paths: ['/pk'], kind: 'Hash' }, defaultTtl: 1000 },
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/mail'] }] },
  };
  ok(await server.send('POST', '/dbs/d/colls', { body }), 201);
  for (let n = 0; n < 120; n++) {
    const item = {
      id: `${n}`,
      pk: `p${n % 7}`,
      mail: `${n}`,
      text: 'é\u0000😀'.repeat(n),
      ttl: n % 3 ? 50 + n : -1,
    };
    ok(await server.send('POST', `${PATH}/docs`, { body: item, headers: key(item.pk) }), 201);
  }
  ok(await server.send('DELETE', `${PATH}/docs/119`, { headers: key('p0') }), 204);
  ok(await server.send('DELETE', `${PATH}/docs/3`, { headers: key('p3') }), 204);
}

/** All that clients can see of it: documents as they are sent, the feed, definitions. */
async function seen(server: Server): Promise<unknown> {
  server.clock.set(LATER);
  const container = await server.send('GET', PATH);
  const items = await server.send('GET', `${PATH}/docs`, {
    headers: { 'x-ms-max-item-count': '-1' },
  });
  const headers = { 'a-im': 'Incremental feed', 'x-ms-max-item-count': '-1' };
  const feed = await server.send('GET', `${PATH}/docs`, { headers });
  return { container: container.json, items: items.json, feed: feed.text, etag: feed.headers.etag };
}

test('there and back again, and on from where it stopped', async () => {
  const data = join(folder, 'one');
  const store = cluster.newStore();
  const before = await serving({ data }, async (server) => {
    await fill(server);
    return seen(server);
  });
  const steps: Progress[] = [];
  const broken = migrate({
    from: data,
    to: store,
    progress: (step) => {
      steps.push(step);
      if (step.index === 1 && step.items > 0) throw new Error('broken off');
    },
  });
  await assert.rejects(broken, /broken off/);
  const copied = await migrate({ from: data, to: store, progress: (step) => steps.push(step) });
  assert.equal(copied.containers, 2);
  assert(copied.items > 100);
  assert(steps.some(({ phase }) => phase === 'verifying'));
  assert.deepEqual(await serving({ store }, seen), before);
  const back = join(folder, 'two');
  const returned = await migrate({ from: store, to: back, progress: () => undefined });
  assert.deepEqual(returned, copied);
  await serving({ data: back }, async (server) => {
    assert.deepEqual(await seen(server), before);
    // Serials of deleted items are not given again, and unique keys hold.
    const body = { id: 'new', pk: 'p6', mail: '6' };
    assert.equal(
      (await server.send('POST', `${PATH}/docs`, { body, headers: key('p6') })).status,
      409,
    );
    const made = await server.send('POST', `${PATH}/docs`, {
      body: { ...body, mail: 'x' },
      headers: key('p6'),
    });
    ok(made, 201);
    const rids = JSON.stringify(before);
    assert(!rids.includes(String(made.json._rid)));
  });
});

test('T9: what was dead and not purged is dead over there, and alive under other rules', async () => {
  const data = join(folder, 'three');
  const store = cluster.newStore();
  await serving({ data }, fill);
  await migrate({ from: data, to: store, progress: () => undefined });
  await serving({ store }, async (server) => {
    server.clock.set(LATER);
    const read = () => server.send('GET', `${PATH}/docs/1`, { headers: key('p1') });
    assert.equal((await read()).status, 404);
    const body = {
      id: 'c',
      partitionKey: { paths: ['/pk'], kind: 'Hash' },
      uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/mail'] }] },
    };
    ok(await server.send('PUT', PATH, { body }), 200);
    ok(await read(), 200);
  });
});

test('a target that holds something else is refused', async () => {
  const [one, two] = [join(folder, 'four'), join(folder, 'five')];
  await serving({ data: one }, fill);
  await serving({ data: two }, fill);
  await assert.rejects(
    migrate({ from: one, to: two, progress: () => undefined }),
    /something else/,
  );
});
