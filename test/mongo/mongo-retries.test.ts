// Retryable writes and unique indexes, under lost connections and concurrent clients: what is sent
// twice is done once, and of many who want the same there is one winner.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Long, MongoClient } from 'mongodb';
import { CutLine } from './proxy.suite.js';
import { newSession, sendAs } from './retried.suite.js';
import { type Any, codeOf, failureOf, ids, serveMongo } from './support.suite.js';

const server = await serveMongo();
const proxy = await CutLine.open(server.port);
const cutting = new MongoClient(server.url.replace(`:${server.port}/`, `:${proxy.port}/`), {
  retryWrites: true,
  maxPoolSize: 4,
});
after(async () => {
  await cutting.close();
  proxy.close();
});

test('writes whose reply is lost are sent again and done once', async () => {
  const plain = server.collection();
  const collection = cutting.db(plain.dbName).collection<Any>('c');
  await collection.insertOne({ _id: 'counter', n: 0 });
  const rounds = 8;
  for (let round = 0; round < rounds; round++) {
    proxy.cutAfter = 'updates';
    await collection.updateOne({ _id: 'counter' }, { $inc: { n: 1 } });
    proxy.cutAfter = 'findAndModify';
    const before = await collection.findOneAndUpdate({ _id: 'counter' }, { $inc: { n: 1 } });
    assert.equal(before.n, round * 3 + 1);
    proxy.cutAfter = 'documents';
    await collection.insertOne({ _id: round });
    proxy.cutAfter = 'deletes';
    assert.equal((await collection.deleteOne({ _id: round })).deletedCount, 1);
    proxy.cutAfter = 'updates';
    const bulk = await collection.bulkWrite([
      { updateOne: { filter: { _id: 'counter' }, update: { $inc: { n: 1 } } } },
      { insertOne: { document: { _id: `b${round}` } } },
    ]);
    assert.deepEqual([bulk.modifiedCount, bulk.insertedCount], [1, 1]);
  }
  assert.equal(proxy.cuts, rounds * 5);
  assert.equal((await plain.findOne({ _id: 'counter' })).n, rounds * 3);
  assert.equal(await plain.countDocuments(), rounds + 1);
});

test('the same number twice at once is one write; a lower number is refused', async () => {
  const collection = server.collection();
  await collection.insertOne({ _id: 1, n: 0 });
  // A client of its own, because its sessions have other numbers than it thinks.
  const client = server.connect({ retryWrites: false });
  const session = client.startSession();
  const write = (number: number) =>
    client.db(collection.dbName).command(
      {
        update: 'c',
        updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }],
        txnNumber: Long.fromNumber(number),
      },
      { session },
    );
  const replies = await Promise.all([write(5), write(5), write(5)]);
  assert.deepEqual(
    replies.map(({ nModified }) => nModified),
    [1, 1, 1],
  );
  assert.equal((await collection.findOne({ _id: 1 })).n, 1);
  assert.equal(await codeOf(write(4)), 225);
  await write(6);
  await session.endSession();
  assert.equal((await collection.findOne({ _id: 1 })).n, 2);
});

test('statements that have ids of their own are told apart by them', async () => {
  const collection = server.collection();
  const session = newSession();
  const insert = (stmtIds: readonly number[]) =>
    sendAs(
      server.client,
      session,
      1,
      { insert: 'c', documents: stmtIds.map((_id) => ({ _id })), stmtIds },
      collection.dbName,
    );
  for (const stmtIds of [
    [1, 2],
    [3, 1],
    [3, 4, 2],
    [1, 2],
  ]) {
    assert.equal((await insert(stmtIds)).n, stmtIds.length);
  }
  assert.deepEqual(await ids(collection), [1, 2, 3, 4]);
});

test('unique indexes and _id beside each other: one winner each', async () => {
  const collection = server.collection();
  await collection.createIndex({ mail: 1 }, { unique: true });
  await collection.createIndex({ tags: 1 }, { unique: true, sparse: true });
  const clients = [server.client, cutting, server.connect()];
  for (let round = 0; round < 5; round++) {
    const tries = Array.from({ length: 30 }, (_, index) => {
      const client = clients[index % clients.length] as MongoClient;
      return client
        .db(collection.dbName)
        .collection<Any>('c')
        .insertOne({ mail: `m${round}`, tags: [`t${round}`, `u${round}-${index}`] })
        .then(
          () => 'won',
          (error: Any) => error.code,
        );
    });
    const outcomes = await Promise.all(tries);
    assert.equal(outcomes.filter((outcome) => outcome === 'won').length, 1);
    assert.equal(outcomes.filter((outcome) => outcome === 11000).length, 29);
  }
  assert.equal(await collection.countDocuments(), 5);
});

test('many upserts of one _id make one document, and every increment counts', async () => {
  const collection = server.collection();
  const tries = Array.from({ length: 40 }, () =>
    collection.updateOne({ _id: 'x' }, { $inc: { n: 1 } }, { upsert: true }),
  );
  const results = await Promise.all(tries);
  assert.equal(results.filter(({ upsertedCount }) => upsertedCount === 1).length, 1);
  assert.deepEqual(await collection.findOne({ _id: 'x' }), { _id: 'x', n: 40 });
});

test('unique over arrays, compound, sparse and partial; one is not built over duplicates', async () => {
  const collection = server.collection();
  await collection.createIndex({ a: 1, b: 1 }, { unique: true });
  await collection.createIndex({ s: 1 }, { unique: true, sparse: true });
  await collection.createIndex({ p: 1 }, { unique: true, partialFilterExpression: { on: true } });
  await collection.insertMany([
    { _id: 1, a: 1, b: [1, 2], p: 1 },
    { _id: 2, a: 2, b: 1, p: 1 },
    { _id: 3, a: 3, p: 1, on: true },
  ]);
  assert.equal(await codeOf(collection.insertOne({ a: 1, b: 2 })), 11000);
  assert.equal(await codeOf(collection.insertOne({ a: 3, b: null })), 11000);
  assert.equal(await codeOf(collection.insertOne({ a: 4, p: 1, on: true })), 11000);
  assert.equal(await codeOf(collection.insertOne({ a: [1], b: [2] })), 171);
  assert.equal(await codeOf(collection.updateOne({ _id: 2 }, { $set: { a: 1 } })), 11000);
  await collection.deleteOne({ _id: 1 });
  await collection.updateOne({ _id: 2 }, { $set: { a: 1 } });
  await collection.insertOne({ _id: 4, a: 5, d: 1 });
  await collection.insertOne({ _id: 5, a: 6, d: 1 });
  assert.equal(await codeOf(collection.createIndex({ d: 1 }, { unique: true })), 11000);
  const lost = await failureOf(collection.findOneAndUpdate({ _id: 4 }, { $set: { a: 1, b: 1 } }));
  assert.deepEqual(
    [lost.code, lost.keyPattern, lost.keyValue],
    [11000, { a: 1, b: 1 }, { a: 1, b: 1 }],
  );
  assert.ok(!(await collection.indexes()).some(({ name }) => name === 'd_1'));
  await collection.dropIndex('a_1_b_1');
  await collection.insertOne({ _id: 6, a: 1, b: 1 });
  assert.equal(await codeOf(collection.createIndex({ a: 1, b: 1 }, { unique: true })), 11000);
});
