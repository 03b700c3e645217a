// What an expired item is: nothing, for anybody (T10), however far the purge is behind (T12); and
// what the purge takes away (T15, T19).
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import {
  type Box,
  documents,
  type Headers,
  type Json,
  keyHeader,
  NOON,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
const ITEM = { id: '1', pk: 'p' };
const COUNT = 10;

beforeEach(() => server.clock.set(NOON));

for (const purged of [false, true]) {
  const when = purged ? 'purged' : 'not purged';

  for (const [what, condition] of [
    ['its own etag', (etag: string) => etag],
    ['another etag', () => '"00000000-0000-0000-0000-000000000000"'],
    ['*', () => '*'],
  ] as const) {
    test(`T10 T12: If-Match with ${what} on an expired item is 404, ${when}`, async () => {
      const { box, etag } = await expired(purged);
      const headers = { 'if-match': condition(etag) };
      refused(await box.replace(ITEM, headers), 404, 0, 'Resource Not Found');
      const patch = [{ op: 'set', path: '/ttl', value: -1 }];
      refused(await box.patch('1', patch, 'p', headers), 404, 0, 'Resource Not Found');
      refused(await box.remove('1', 'p', headers), 404, 0, 'Resource Not Found');
      refused(await box.read('1', 'p', { 'if-none-match': condition(etag) }), 404, 0);
      refused(await box.read('1', 'p', headers), 404, 0);
    });

    test(`T10 T12: an upsert with If-Match and ${what} creates, ${when}`, async () => {
      const { box, etag } = await expired(purged);
      ok(await box.upsert(ITEM, { 'if-match': condition(etag) }), 201);
    });
  }

  for (const [what, write] of [
    ['create', (box: Box) => box.create(ITEM)],
    ['upsert', (box: Box) => box.upsert(ITEM)],
  ] as const) {
    test(`T10 T12: ${what} over an expired item makes a new one, ${when}`, async () => {
      const { box, etag, rid } = await expired(purged);
      const fresh = ok(await write(box), 201);
      assert.notEqual(fresh.json._etag, etag);
      assert.notEqual(fresh.json._rid, rid);
      assert.equal(fresh.json._ts, Math.floor(server.clock.now() / 1000));
      assert.equal(fresh.json.old, undefined);
      assert.deepEqual(ok(await box.read('1'), 200).json, fresh.json);
      assert.deepEqual(documents(await box.list()), [fresh.json]);
      await server.mayfly.purge();
      assert.deepEqual(
        ok(await box.read('1'), 200).json,
        fresh.json,
        'the purge takes the old one',
      );
      assert.equal(await box.stored(), 1);
      server.clock.advance(10_000);
      refused(await box.read('1'), 404, 0);
    });
  }

  test(`T10 T12: no list shows an expired item, ${when}`, async () => {
    const { box } = await expired(purged);
    ok(await box.create({ id: '2', pk: 'p' }), 201);
    const scopes: readonly Headers[] = [
      {},
      keyHeader('p'),
      { 'x-ms-documentdb-partitionkeyrangeid': '0' },
      { 'x-ms-start-epk': '', 'x-ms-end-epk': 'FF' },
      { 'x-ms-max-item-count': '1' },
    ];
    for (const scope of scopes) assert.deepEqual(await box.ids(scope), ['2']);
    const headers = {
      'content-type': 'application/query+json',
      'x-ms-documentdb-isquery': 'true',
    };
    const body = { query: 'SELECT * FROM c' };
    const reply = ok(await server.send('POST', `${box.path}/docs`, { body, headers }), 200);
    assert.deepEqual(
      documents(reply).map(({ id }) => id),
      ['2'],
    );
  });

  test(`T10 T12: a refused write over an expired item leaves it expired, ${when}`, async () => {
    const { box } = await expired(purged);
    refused(await box.create({ ...ITEM, ttl: 0 }), 400, 0);
    refused(await box.upsert(ITEM, keyHeader('q')), 400, 1001);
    refused(await box.read('1'), 404, 0);
    assert.deepEqual(await box.ids(), []);
  });

  test(`T10 T12: to the SDK an expired item does not exist, ${when}`, async () => {
    const { box } = await expired(purged);
    const container = client.database(box.database).container('c');
    const item = container.item('1', 'p');
    const read = await item.read();
    assert.equal(read.statusCode, 404);
    assert.equal(read.resource, undefined);
    await assert.rejects(item.replace(ITEM), { code: 404 });
    await assert.rejects(item.delete(), { code: 404 });
    assert.deepEqual((await container.items.readAll().fetchAll()).resources, []);
    assert.equal((await container.items.create(ITEM)).statusCode, 201);
    server.clock.advance(10_000);
    if (purged) await server.mayfly.purge();
    assert.equal((await container.items.upsert(ITEM)).statusCode, 201);
  });
}

test('T12: at one instant all operations agree, with and without a purge between', async () => {
  const box = await server.box({ defaultTtl: 10 });
  for (let n = 0; n < COUNT; n++) ok(await box.create({ id: `i${n}`, pk: 'p', ttl: n + 1 }), 201);
  for (let seconds = 1; seconds <= COUNT; seconds++) {
    server.clock.set(NOON);
    server.clock.advance(seconds * 1000 - 250);
    const alive = Array.from({ length: COUNT - seconds }, (_, index) => `i${seconds + index}`);
    const before = await look(box);
    assert.deepEqual(before, alive);
    await server.mayfly.purge();
    assert.deepEqual(await look(box), alive);
    assert.equal(await box.stored(), alive.length);
  }
});

test('T13: a page is of one time, and the next page of its own', async () => {
  const box = await server.box({ defaultTtl: 10 });
  for (let n = 0; n < 4; n++) ok(await box.create({ id: `i${n}`, pk: 'p' }), 201);
  const first = ok(await box.list({ 'x-ms-max-item-count': '2' }), 200);
  assert.equal(documents(first).length, 2);
  server.clock.advance(10_000);
  const token = { 'x-ms-continuation': String(first.headers['x-ms-continuation']) };
  const second = ok(await box.list(token), 200);
  assert.deepEqual(documents(second), []);
  assert.equal(second.headers['x-ms-continuation'], undefined);
});

test('T15: space is given back at the purge, not at the expiry', async () => {
  const box = await server.box({ defaultTtl: 10 });
  for (let n = 0; n < 150; n++) ok(await box.create({ id: `i${n}`, pk: `p${n % 7}` }), 201);
  ok(await box.create({ id: 'stays', pk: 'p', ttl: -1 }), 201);
  server.clock.advance(10_000);
  assert.deepEqual(await box.ids(), ['stays']);
  assert.equal(await box.stored(), 151);
  ok(await server.control('POST', 'purge'), 200);
  assert.equal(await box.stored(), 1);
  assert.deepEqual(await box.ids(), ['stays']);
});

test('T15: a purge takes what is due and nothing else', async () => {
  const box = await server.box({ defaultTtl: -1 });
  for (let n = 1; n <= 10; n++) ok(await box.create({ id: `i${n}`, pk: 'p', ttl: n }), 201);
  server.clock.set(NOON);
  server.clock.advance(5000 - 251);
  await server.mayfly.purge();
  assert.equal(await box.stored(), 6, 'one millisecond before the fifth second');
  server.clock.advance(1);
  await server.mayfly.purge();
  assert.equal(await box.stored(), 5);
});

test('T19: a container tells its backlog', async () => {
  const box = await server.box({ defaultTtl: 10 });
  for (let n = 0; n < 3; n++) ok(await box.create({ id: `i${n}`, pk: 'p' }), 201);
  ok(await box.create({ id: 'later', pk: 'p', ttl: 100 }), 201);
  const { expiredBytes: none, ...young } = await box.status();
  assert.deepEqual(young, {
    defaultTtl: 10,
    live: 4,
    expired: 0,
    oldestLagSeconds: 0,
    nextExpiry: '2030-06-01T12:00:10.000Z',
  });
  assert.equal(none, 0);
  server.clock.set(NOON);
  server.clock.advance(15_000 - 250);
  const { expiredBytes: some, ...old } = await box.status();
  assert.deepEqual(old, {
    defaultTtl: 10,
    live: 1,
    expired: 3,
    oldestLagSeconds: 5,
    nextExpiry: '2030-06-01T12:01:40.000Z',
  });
  assert.ok(Number(some) > 0);
  await server.mayfly.purge();
  const { live, expired: left, oldestLagSeconds: lag } = await box.status();
  assert.deepEqual([live, left, lag], [1, 0, 0]);
});

/** An item whose time came a moment ago. */
async function expired(purged: boolean): Promise<{ box: Box; etag: string; rid: string }> {
  const box = await server.box({ defaultTtl: 10 });
  const { _etag: etag, _rid: rid } = ok(await box.create({ ...ITEM, old: true }), 201).json;
  server.clock.advance(10_000);
  if (purged) await server.mayfly.purge();
  assert.equal(await box.stored(), purged ? 0 : 1);
  return { box, etag: String(etag), rid: String(rid) };
}

/** What lists and reads find; they must not differ. */
async function look(box: Box): Promise<readonly string[]> {
  const listed = await box.ids();
  const reads = await Promise.all(
    Array.from({ length: COUNT }, async (_, n): Promise<readonly [string, Reply]> => {
      return [`i${n}`, await box.read(`i${n}`)];
    }),
  );
  const found = reads.filter(([, { status }]) => status === 200).map(([id]) => id);
  assert.deepEqual(found, listed);
  const json: Json = await box.status();
  assert.equal(json.live, listed.length);
  return listed;
}
