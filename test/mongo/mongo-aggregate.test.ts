// Pipelines with the real driver: over indexes, into collections, beside the clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, ids, serveMongo } from './support.suite.js';

const server = await serveMongo();

test('match, group, sort, project, unwind, facet; empty results are empty batches', async () => {
  const collection = server.collection();
  await collection.insertMany(
    Array.from({ length: 500 }, (_, index) => ({
      _id: index,
      k: index % 5,
      tags: [index % 2, 'x'],
    })),
  );
  assert.equal(await collection.countDocuments({ k: 3 }), 100);
  assert.equal(await collection.countDocuments({ k: 9 }), 0);
  const grouped = await collection
    .aggregate([
      { $match: { k: { $lt: 3 } } },
      { $group: { _id: '$k', n: { $sum: 1 }, most: { $max: '$_id' } } },
      { $sort: { _id: -1 } },
    ])
    .toArray();
  assert.deepEqual(grouped, [
    { _id: 2, n: 100, most: 497 },
    { _id: 1, n: 100, most: 496 },
    { _id: 0, n: 100, most: 495 },
  ]);
  const [facets] = await collection
    .aggregate([
      {
        $facet: {
          few: [{ $limit: 1 }, { $project: { k: 1 } }],
          tags: [{ $unwind: '$tags' }, { $sortByCount: '$tags' }],
        },
      },
    ])
    .toArray();
  assert.deepEqual(facets?.few, [{ _id: 0, k: 0 }]);
  assert.deepEqual(facets?.tags[0], { _id: 'x', count: 500 });
  const all = await collection.aggregate([{ $match: {} }], { batchSize: 33 }).toArray();
  assert.equal(all.length, 500);
});

test('lookup, graphLookup and unionWith see other collections, and nothing dead', async () => {
  server.at(0);
  const database = server.database();
  const [a, b] = [
    database.collection<{ _id: number }>('a'),
    database.collection<{ _id: number; a: number; ttl?: number }>('b'),
  ];
  await a.insertMany([{ _id: 1 }, { _id: 2 }]);
  await b.createIndex({ _ts: 1 }, { expireAfterSeconds: -1 });
  await b.insertMany([
    { _id: 1, a: 1 },
    { _id: 2, a: 1, ttl: 5 },
    { _id: 3, a: 2 },
  ]);
  const joined = () =>
    a
      .aggregate([
        { $lookup: { from: 'b', localField: '_id', foreignField: 'a', as: 'bs' } },
        { $project: { n: { $size: '$bs' } } },
      ])
      .toArray();
  assert.deepEqual(await joined(), [
    { _id: 1, n: 2 },
    { _id: 2, n: 1 },
  ]);
  server.at(5000);
  assert.deepEqual(await joined(), [
    { _id: 1, n: 1 },
    { _id: 2, n: 1 },
  ]);
  const union = await a.aggregate([{ $unionWith: 'b' }, { $count: 'n' }]).toArray();
  assert.deepEqual(union, [{ n: 4 }]);
  server.at(0);
});

test('out and merge write; the target keeps its indexes', async () => {
  const database = server.database();
  const source = database.collection<{ _id: number; v: number }>('s');
  await source.insertMany([
    { _id: 1, v: 10 },
    { _id: 2, v: 20 },
  ]);
  const target = database.collection<{ _id: number; v: number; old?: boolean }>('t');
  await target.createIndex({ v: 1 }, { unique: true });
  await target.insertOne({ _id: 9, v: 9 });
  assert.deepEqual(await source.aggregate([{ $out: 't' }]).toArray(), []);
  assert.deepEqual(await ids(target), [1, 2]);
  assert.equal(await codeOf(target.insertOne({ _id: 3, v: 20 })), 11000);
  await target.updateOne({ _id: 2 }, { $set: { old: true } });
  await source.insertOne({ _id: 3, v: 30 });
  await source.aggregate([{ $merge: { into: 't', whenMatched: 'merge' } }]).toArray();
  assert.deepEqual(await target.find().sort({ _id: 1 }).toArray(), [
    { _id: 1, v: 10 },
    { _id: 2, v: 20, old: true },
    { _id: 3, v: 30 },
  ]);
  const names = (await database.listCollections().toArray()).map(({ name }) => name).sort();
  assert.deepEqual(names, ['s', 't']);
});

test('statistics, documents, collation, variables, wrong pipelines', async () => {
  const collection = server.collection();
  await collection.insertMany([
    { _id: 1, s: 'a' },
    { _id: 2, s: 'A' },
  ]);
  const [stats] = await collection
    .aggregate([{ $collStats: { storageStats: {}, count: {} } }])
    .toArray();
  assert.equal(stats?.storageStats.count, 2);
  const indexes = await collection.aggregate([{ $indexStats: {} }]).toArray();
  assert.deepEqual(
    indexes.map(({ name }) => name),
    ['_id_'],
  );
  const database = server.client.db(collection.dbName);
  assert.deepEqual(await database.aggregate([{ $documents: [{ a: 1 }] }]).toArray(), [{ a: 1 }]);
  const collation = { locale: 'en', strength: 2 };
  assert.equal((await collection.find({ s: 'A' }, { collation }).toArray()).length, 2);
  const found = await collection
    .aggregate([{ $match: { $expr: { $eq: ['$s', '$$wanted'] } } }], { let: { wanted: 'A' } })
    .toArray();
  assert.deepEqual(found, [{ _id: 2, s: 'A' }]);
  assert.equal(await codeOf(collection.aggregate([{ $nonsense: 1 }]).toArray()), 40324);
  assert.equal(await codeOf(database.command({ aggregate: 'c', pipeline: [] })), 9);
  await collection.updateMany({}, [{ $set: { t: { $concat: ['$s', '!'] } } }]);
  assert.deepEqual((await collection.findOne({ _id: 1 })).t, 'a!');
});

test('a pipeline that streams does not show later what has died meanwhile', async () => {
  server.at(0);
  const collection = server.collection();
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  await collection.insertMany(Array.from({ length: 400 }, (_, _id) => ({ _id })));
  const cursor = collection.aggregate([{ $match: {} }], { batchSize: 5 });
  assert.deepEqual(await cursor.next(), { _id: 0 });
  server.at(10_000);
  const rest = await cursor.toArray();
  // One batch may be on its way; nothing is read behind it.
  assert.ok(rest.length < 140, `${rest.length}`);
  server.at(0);
});
