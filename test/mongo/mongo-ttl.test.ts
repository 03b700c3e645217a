// Time to live of MongoDB documents: T29 to T36, with the real driver, at the millisecond.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal128, Double, Int32, Long } from 'mongodb';
import { codeOf, ids, NOON, serveMongo } from './support.suite.js';

const server = await serveMongo();
const TTL_INDEX = { key: { _ts: 1 }, name: '_ts_1' };

test('T29, T31, T32: the examples of the documentation, to the letter', async () => {
  server.at(0);
  const collection = server.collection();
  const reply = await server.client.db(collection.dbName).command({
    createIndexes: 'c',
    indexes: [{ ...TTL_INDEX, expireAfterSeconds: 10 }],
  });
  assert.equal(reply.createdCollectionAutomatically, true);
  assert.equal(reply.numIndexesBefore, 1);
  assert.equal(reply.numIndexesAfter, 2);
  await collection.insertMany([
    { _id: 1, location: 'Paris', ttl: new Double(20.0) },
    { _id: 2, location: 'Paris', ttl: new Int32(20) },
    { _id: 3, location: 'Paris', ttl: Long.fromNumber(20) },
    { _id: 4, location: 'Paris', ttl: new Double(20.5) },
    { _id: 5, location: 'Paris', ttl: Long.fromString('2147483649') },
    { _id: 6, location: 'Paris' },
  ]);
  server.at(9_999);
  assert.deepEqual(await ids(collection), [1, 2, 3, 4, 5, 6]);
  server.at(10_000);
  assert.deepEqual(await ids(collection), [1, 2, 3]);
  server.at(19_999);
  assert.deepEqual(await ids(collection), [1, 2, 3]);
  server.at(20_000);
  assert.deepEqual(await ids(collection), []);
});

// biome-ignore format: a table is read in columns
const MATRIX: readonly (readonly [seconds: number | undefined, ttl: unknown, dies: number])[] = [
  [undefined, undefined, Infinity], [undefined, -1, Infinity], [undefined, 5, Infinity],
  [-1,        undefined, Infinity], [-1,        -1, Infinity], [-1,        5, 5],
  [10,        undefined, 10],       [10,        -1, Infinity], [10,        5, 5],
  [10, 0, 10], [10, -2, 10], [10, '5', 10], [10, null, 10], [10, true, 10], [10, [5], 10],
  [10, Decimal128.fromString('5'), 10], [10, 2_147_483_647, Infinity], [10, {}, 10],
];

test('T31 to T33: the nine cells, and values of ttl that are none', async () => {
  for (const [seconds, ttl, dies] of MATRIX) {
    server.at(0);
    const collection = server.collection();
    await collection.insertOne(ttl === undefined ? { _id: 1 } : { _id: 1, ttl });
    if (seconds !== undefined)
      await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: seconds });
    const cell = `${seconds} ${JSON.stringify(ttl)}`;
    const until = dies === Infinity ? 86_400_000 : dies * 1000;
    server.at(until - 1);
    assert.equal((await ids(collection)).length, 1, `${cell} before`);
    server.at(until);
    assert.equal((await ids(collection)).length, dies === Infinity ? 1 : 0, `${cell} then`);
  }
});

test('T29, T36: collMod and dropping the index act at once, and bring back what is not purged', async () => {
  server.at(0);
  const paused = await fetch(`${server.mayfly.cosmos}_mayfly/purge/pause`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.mayfly.key}` },
  });
  assert.equal(paused.status, 200);
  const collection = server.collection();
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 100 });
  await collection.insertOne({ _id: 1 });
  server.at(50_000);
  const database = server.client.db(collection.dbName);
  const index = { name: '_ts_1', expireAfterSeconds: 50 };
  const changed = await database.command({ collMod: 'c', index });
  assert.equal(Number(changed.expireAfterSeconds_old), 100);
  assert.equal(Number(changed.expireAfterSeconds_new), 50);
  assert.deepEqual(await ids(collection), []);
  await collection.dropIndex('_ts_1');
  assert.deepEqual(await ids(collection), [1]);
});

test('T11, T36: an expired document blocks neither its _id nor a unique index', async () => {
  server.at(0);
  const collection = server.collection();
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await collection.createIndex({ mail: 1 }, { unique: true });
  await collection.insertOne({ _id: 1, mail: 'a' });
  assert.equal(await codeOf(collection.insertOne({ _id: 2, mail: 'a' })), 11000);
  server.at(10_000);
  await collection.insertOne({ _id: 2, mail: 'a' });
  await collection.insertOne({ _id: 1, mail: 'b' });
  assert.deepEqual((await ids(collection)).sort(), [1, 2]);
});

test('T30: _ts is in no answer and cannot be set', async () => {
  server.at(0);
  const collection = server.collection();
  await collection.insertOne({ _id: 1, a: 1 });
  assert.deepEqual(await collection.findOne({ _id: 1 }), { _id: 1, a: 1 });
  assert.equal(await codeOf(collection.insertOne({ _id: 2, _ts: 1 })), 2);
});

test('T35: TTL indexes over dates; arrays count by the earliest; the earliest expiry wins', async () => {
  server.at(0);
  const collection = server.collection();
  const date = (ms: number) => new Date(NOON + ms);
  await collection.insertMany([
    { _id: 1, at: date(5_000) },
    { _id: 2, at: [date(90_000), 'x', date(3_000)] },
    { _id: 3, at: 'no date' },
    { _id: 4 },
    { _id: 5, at: date(-100_000) },
  ]);
  await collection.createIndex({ at: 1 }, { expireAfterSeconds: 10 });
  assert.deepEqual(await ids(collection), [1, 2, 3, 4]);
  server.at(12_999);
  assert.deepEqual(await ids(collection), [1, 2, 3, 4]);
  server.at(13_000);
  assert.deepEqual(await ids(collection), [1, 3, 4]);
  server.at(15_000);
  assert.deepEqual(await ids(collection), [3, 4]);
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 20 });
  server.at(20_000);
  assert.deepEqual(await ids(collection), []);
});

test('T35: a partial TTL index; wrong specifications with their codes', async () => {
  server.at(0);
  const collection = server.collection();
  await collection.createIndex(
    { at: 1 },
    { expireAfterSeconds: 0, partialFilterExpression: { dies: true } },
  );
  await collection.insertMany([
    { _id: 1, at: new Date(NOON + 1000), dies: true },
    { _id: 2, at: new Date(NOON + 1000), dies: false },
  ]);
  server.at(1000);
  assert.deepEqual(await ids(collection), [2]);
  for (const [key, expireAfterSeconds, code] of [
    [{ a: 1, b: 1 }, 1, 67],
    [{ a: 1 }, -1, 67],
    [{ a: 1 }, 2_147_483_648, 67],
    [{ a: 'hashed' }, 1, 67],
    [{ _ts: 1 }, 0, 67],
    [{ _id: 1 }, 1, 197],
  ] as const) {
    const name = JSON.stringify([key, expireAfterSeconds]);
    const spec = { key, name: 'x', expireAfterSeconds };
    const database = server.client.db(collection.dbName);
    const failed = database.command({ createIndexes: 'c', indexes: [spec] });
    assert.equal(await codeOf(failed), code, name);
  }
});

test('T13: a batch that is fetched later does not show what has died meanwhile', async () => {
  server.at(0);
  const collection = server.collection();
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await collection.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }, { _id: 4, ttl: 20 }]);
  const cursor = collection.find().batchSize(2);
  assert.deepEqual(await cursor.next(), { _id: 1 });
  assert.deepEqual(await cursor.next(), { _id: 2 });
  server.at(10_000);
  assert.deepEqual(await cursor.next(), { _id: 4, ttl: 20 });
  assert.equal(await cursor.next(), null);
});

test('T34: with document TTL off, ttl is ignored everywhere', async () => {
  const off = await serveMongo({ mongoDocumentTtl: false });
  const collection = off.collection();
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await collection.insertMany([{ _id: 1, ttl: 5 }, { _id: 2, ttl: -1 }, { _id: 3 }]);
  off.at(9_999);
  assert.deepEqual(await ids(collection), [1, 2, 3]);
  off.at(10_000);
  assert.deepEqual(await ids(collection), []);
});
