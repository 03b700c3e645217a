// The driver of the version before: what it sends differs in places, so each family of commands is
// asked for once with it.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb6';
import { type Any, codeOf, serveMongo } from './support.suite.js';

const server = await serveMongo();
const client = new MongoClient(server.url, { serverSelectionTimeoutMS: 5000 });
after(() => client.close());
const database = client.db('six');

test('documents: written, found, changed and deleted', async () => {
  const collection = database.collection<Any>('documents');
  const documents = Array.from({ length: 250 }, (_, n) => ({ _id: n, n, odd: n % 2 === 1 }));
  assert.equal((await collection.insertMany(documents)).insertedCount, 250);
  assert.equal(await codeOf(collection.insertOne({ _id: 7 })), 11000);
  const found = await collection.find({ odd: true }).sort({ n: -1 }).batchSize(50).toArray();
  assert.deepEqual([found.length, found[0].n], [125, 249]);
  const { modifiedCount } = await collection.updateMany({ n: { $lt: 3 } }, { $inc: { n: 1000 } });
  assert.equal(modifiedCount, 3);
  const changed = await collection.findOneAndUpdate(
    { _id: 300 },
    { $set: { n: 300 } },
    { upsert: true, returnDocument: 'after' },
  );
  assert.deepEqual(changed, { _id: 300, n: 300 });
  const result = await collection.bulkWrite([
    { insertOne: { document: { _id: 400 } } },
    { updateOne: { filter: { _id: 400 }, update: { $set: { n: 1 } } } },
    { deleteOne: { filter: { _id: 0 } } },
  ]);
  assert.deepEqual([result.insertedCount, result.modifiedCount, result.deletedCount], [1, 1, 1]);
  assert.equal((await collection.deleteMany({ odd: false })).deletedCount, 124);
  assert.equal(await collection.countDocuments(), 127);
  assert.equal(await collection.estimatedDocumentCount(), 127);
  assert.deepEqual(await collection.distinct('odd'), [true]);
});

test('aggregations, indexes, definitions', async () => {
  const collection = database.collection<Any>('words');
  await collection.insertMany(['a', 'b', 'a'].map((word, _id) => ({ _id, word })));
  const groups = collection.aggregate([
    { $group: { _id: '$word', n: { $sum: 1 } } },
    { $sort: { _id: 1 } },
  ]);
  assert.deepEqual(await groups.toArray(), [
    { _id: 'a', n: 2 },
    { _id: 'b', n: 1 },
  ]);
  assert.equal(await codeOf(collection.createIndex({ word: 1 }, { unique: true })), 11000);
  assert.equal(await collection.createIndex({ word: 1 }), 'word_1');
  assert.deepEqual(Object.keys(await collection.indexInformation()), ['_id_', 'word_1']);
  await collection.dropIndex('word_1');
  await database.createCollection('made');
  const names = (await database.listCollections().toArray()).map(({ name }) => name).sort();
  assert.deepEqual(names, ['documents', 'made', 'words']);
  assert.equal(await codeOf(database.command({ nonsense: 1 })), 59);
});

test('a transaction over two collections, and a change stream', async () => {
  const collection = database.collection<Any>('events');
  await collection.insertOne({ _id: 0 });
  const stream = collection.watch([], { maxAwaitTimeMS: 100 });
  await stream.tryNext();
  const session = client.startSession();
  await session.withTransaction(async () => {
    await collection.insertOne({ _id: 1 }, { session });
    assert.equal(await collection.findOne({ _id: 1 }), null);
    await collection.updateOne({ _id: 0 }, { $set: { seen: true } }, { session });
    await database.collection<Any>('seen').insertOne({ _id: 0 }, { session });
  });
  assert.equal(await database.collection('seen').countDocuments(), 1);
  const failing = session.withTransaction(async () => {
    await database.collection<Any>('seen').insertOne({ _id: 1 }, { session });
    await collection.insertOne({ _id: 1 }, { session });
  });
  assert.equal(await codeOf(failing), 11000);
  assert.equal(await database.collection('seen').countDocuments(), 1);
  await session.endSession();
  const events = [await stream.next(), await stream.next()] as Any[];
  assert.deepEqual(
    events.map(({ operationType, documentKey }) => [operationType, documentKey._id]),
    [
      ['insert', 1],
      ['update', 0],
    ],
  );
  await stream.close();
});

test('T29, T31: a life of its own', async () => {
  const collection = database.collection<Any>('lives');
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await collection.insertMany([{ _id: 'short' }, { _id: 'long', ttl: 20 }]);
  server.clock.advance(10_000);
  assert.deepEqual(await collection.find().toArray(), [{ _id: 'long', ttl: 20 }]);
  server.clock.advance(10_000);
  assert.deepEqual(await collection.find().toArray(), []);
});

test('its monitor is told again and again how things stand, without asking', async () => {
  const monitored = new MongoClient(server.url, {
    heartbeatFrequencyMS: 500,
    serverSelectionTimeoutMS: 5000,
  });
  const failures: unknown[] = [];
  monitored.on('serverHeartbeatFailed', ({ failure }) => failures.push(failure));
  const awaited = new Promise<void>((resolve) => {
    let left = 2;
    monitored.on('serverHeartbeatSucceeded', (event) => {
      if (event.awaited) left -= 1;
      if (left === 0) resolve();
    });
  });
  await monitored.db('six').command({ ping: 1 });
  await awaited;
  assert.deepEqual(failures, []);
  await monitored.close();
});
