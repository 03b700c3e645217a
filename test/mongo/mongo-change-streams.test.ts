// Change streams with the real driver: events in order, resumed by tokens, looked up, and ended.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Any, codeOf, serveMongo } from './support.suite.js';

const server = await serveMongo();

test('inserts, updates, replacements and deletes come in order, with what changed', async () => {
  const collection = server.collection();
  const stream = collection.watch([], { maxAwaitTimeMS: 200 });
  assert.equal(await stream.tryNext(), null);
  await collection.insertOne({ _id: 1, a: { b: 1, c: 2 }, gone: true });
  await collection.updateOne({ _id: 1 }, { $set: { 'a.b': 5 }, $unset: { gone: 1 } });
  await collection.replaceOne({ _id: 1 }, { z: 1 });
  await collection.updateOne({ _id: 1 }, { $set: { z: 1 } });
  await collection.deleteOne({ _id: 1 });
  await collection.createIndex({ u: 1 }, { unique: true });
  const events: Any[] = [];
  for (let left = 4; left > 0; left--) events.push(await stream.next());
  assert.equal(await stream.tryNext(), null);
  assert.deepEqual(
    events.map(({ operationType, fullDocument }) => [operationType, fullDocument]),
    [
      ['insert', { _id: 1, a: { b: 1, c: 2 }, gone: true }],
      ['update', undefined],
      ['replace', { _id: 1, z: 1 }],
      ['delete', undefined],
    ],
  );
  assert.deepEqual(events[1].updateDescription, {
    updatedFields: { 'a.b': 5 },
    removedFields: ['gone'],
    truncatedArrays: [],
  });
  assert.ok(events.every(({ documentKey }) => documentKey._id === 1));
  assert.deepEqual(events[0].ns, { db: collection.dbName, coll: 'c' });
  const tokens = events.map(({ _id }) => _id._data);
  assert.deepEqual([...tokens].sort(), tokens);
  await stream.close();
});

test('a stream goes on behind a token, also in the middle of what one write did', async () => {
  const collection = server.collection();
  const stream = collection.watch([], { maxAwaitTimeMS: 200 });
  await stream.tryNext();
  await collection.insertMany([1, 2, 3, 4].map((_id) => ({ _id })));
  const second = [await stream.next(), await stream.next()][1] as Any;
  await stream.close();
  const resumed = collection.watch([], { resumeAfter: second._id, maxAwaitTimeMS: 200 });
  assert.deepEqual(((await resumed.next()) as Any).documentKey, { _id: 3 });
  assert.deepEqual(((await resumed.next()) as Any).documentKey, { _id: 4 });
  assert.equal(await resumed.tryNext(), null);
  await resumed.close();
  const wrong = collection.watch([], { resumeAfter: { _data: 'nonsense' } });
  assert.equal(await codeOf(wrong.next()), 260);
});

test('lookups, images before the change, and stages of its pipeline', async () => {
  const collection = server.collection();
  await collection.insertOne({ _id: 1, n: 1 });
  await server.client
    .db(collection.dbName)
    .command({ collMod: 'c', changeStreamPreAndPostImages: { enabled: true } });
  const stream = collection.watch(
    [
      { $match: { operationType: 'update' } },
      { $project: { fullDocument: 1, fullDocumentBeforeChange: 1 } },
    ],
    {
      fullDocument: 'updateLookup',
      fullDocumentBeforeChange: 'whenAvailable',
      maxAwaitTimeMS: 200,
    },
  );
  await stream.tryNext();
  await collection.insertOne({ _id: 2 });
  await collection.updateOne({ _id: 1 }, { $inc: { n: 1 } });
  const event = (await stream.next()) as Any;
  assert.deepEqual(event.fullDocument, { _id: 1, n: 2 });
  // It was written before images were kept.
  assert.equal(event.fullDocumentBeforeChange, null);
  await collection.updateOne({ _id: 1 }, { $inc: { n: 1 } });
  const next = (await stream.next()) as Any;
  assert.deepEqual(next.fullDocumentBeforeChange, { _id: 1, n: 2 });
  await stream.close();
  assert.equal(await codeOf(collection.watch([{ $group: { _id: 1 } }]).next()), 20);
});

test('T36: an expired document is a delete when it is purged; a dropped collection ends the stream', async () => {
  server.at(0);
  const collection = server.collection();
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  const stream = collection.watch([], { maxAwaitTimeMS: 200 });
  await stream.tryNext();
  await collection.insertOne({ _id: 1 });
  assert.equal(((await stream.next()) as Any).operationType, 'insert');
  server.at(10_000);
  await server.mayfly.purge();
  const event = (await stream.next()) as Any;
  assert.deepEqual([event.operationType, event.documentKey], ['delete', { _id: 1 }]);
  await collection.drop();
  assert.equal(((await stream.next()) as Any).operationType, 'drop');
  assert.equal(((await stream.next()) as Any).operationType, 'invalidate');
  await stream.close();
  server.at(0);
});

test('changes of arrays are told by positions, cuts by the new size, and all of it if shorter', async () => {
  const collection = server.collection();
  const stream = collection.watch([], { maxAwaitTimeMS: 200 });
  await stream.tryNext();
  await collection.insertOne({ _id: 1, list: [{ k: 1 }, { k: 2 }, 'three'], other: [1, 2] });
  await stream.next();
  const change = async (update: Any) => {
    await collection.updateOne({ _id: 1 }, update);
    return ((await stream.next()) as Any).updateDescription;
  };
  const told = (updatedFields: Any, truncatedArrays: Any[] = [], removedFields: Any[] = []) => ({
    updatedFields,
    removedFields,
    truncatedArrays,
  });
  assert.deepEqual(await change({ $push: { list: 4 } }), told({ 'list.3': 4 }));
  assert.deepEqual(
    await change({ $set: { 'list.0.k': 5, 'list.1.z': 1 } }),
    told({ 'list.0.k': 5, 'list.1.z': 1 }),
  );
  assert.deepEqual(
    await change([{ $set: { list: { $slice: ['$list', 2] } } }]),
    told({}, [{ field: 'list', newSize: 2 }]),
  );
  assert.deepEqual(await change({ $set: { other: [3, 4] } }), told({ other: [3, 4] }));
  await stream.close();
});
