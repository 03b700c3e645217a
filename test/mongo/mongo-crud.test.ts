// Documents with the real driver: inserts, finds, updates, deletes, counts, cursors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal128, Double, Int32, Long, MongoBulkWriteError, ObjectId, Timestamp } from 'mongodb';
import { type Any, codeOf, failureOf, ids, NOON, serveMongo } from './support.suite.js';

const server = await serveMongo();

test('_id: made where it is missing, first in the document, one for all types of numbers', async () => {
  const collection = server.collection();
  const database = server.client.db(collection.dbName);
  await database.command({ insert: 'c', documents: [{ a: 1 }, { b: 2, _id: 'x' }] });
  const [made, moved] = await collection.find().toArray();
  assert.ok(made._id instanceof ObjectId);
  assert.deepEqual(Object.keys(moved), ['_id', 'b']);
  await collection.insertOne({ _id: new Int32(1) });
  for (const _id of [new Double(1), Long.fromNumber(1), Decimal128.fromString('1.00')]) {
    assert.equal(await codeOf(collection.insertOne({ _id })), 11000);
    assert.deepEqual(await ids(collection, { _id }), [1]);
  }
  const big = Long.fromString('9007199254740993');
  await collection.insertMany([
    { _id: big },
    { _id: 9007199254740992 },
    { _id: '1' },
    { _id: true },
  ]);
  assert.equal((await ids(collection, { _id: big })).length, 1);
  for (const _id of [[1], /x/]) {
    assert.equal(await codeOf(collection.insertOne({ _id })), 53);
  }
  await collection.insertOne({ _id: { a: 1, b: 2 } });
  assert.equal(await codeOf(collection.insertOne({ _id: { a: 1, b: 2 } })), 11000);
  await collection.insertOne({ _id: { b: 2, a: 1 } });
  assert.deepEqual(await collection.findOne({ _id: { b: 2, a: 1 } }), { _id: { b: 2, a: 1 } });
});

test('types are stored and answered as they came', async () => {
  const collection = server.collection();
  const given = {
    _id: 1,
    int: new Int32(1),
    long: Long.fromString('9007199254740993'),
    double: new Double(2),
    decimal: Decimal128.fromString('1.10'),
    10: 'ten',
    9: 'nine',
  };
  await collection.insertOne(given);
  const [found] = await collection.find({}, { promoteValues: false }).toArray();
  assert.equal(found.int._bsontype, 'Int32');
  assert.equal(found.double._bsontype, 'Double');
  assert.equal(found.long.toString(), '9007199254740993');
  assert.equal(found.decimal.toString(), '1.10');
});

test('insertMany: in order until the first failure, or all that can be', async () => {
  const collection = server.collection();
  await collection.insertOne({ _id: 2 });
  const documents = [{ _id: 1 }, { _id: 2 }, { _id: 3 }];
  const ordered = await failureOf(collection.insertMany(documents));
  assert.ok(ordered instanceof MongoBulkWriteError);
  assert.equal(ordered.insertedCount, 1);
  assert.deepEqual((await ids(collection)).sort(), [1, 2]);
  const rest = await failureOf(collection.insertMany(documents, { ordered: false }));
  assert.deepEqual(
    rest.writeErrors.map((each: Any) => each.index),
    [0, 1],
  );
  assert.deepEqual((await ids(collection)).sort(), [1, 2, 3]);
  await collection.insertMany(Array.from({ length: 500 }, (_, index) => ({ _id: index + 10 })));
  assert.equal((await ids(collection)).length, 503);
  assert.equal(await collection.estimatedDocumentCount(), 503);
});

test('find: filter, sort, skip, limit, projection, batches', async () => {
  const collection = server.collection();
  await collection.insertMany(
    Array.from({ length: 300 }, (_, index) => ({
      _id: index,
      n: index % 7,
      even: index % 2 === 0,
    })),
  );
  const found = await collection
    .find({ n: { $gte: 3 }, even: true })
    .sort({ n: -1, _id: 1 })
    .skip(2)
    .limit(5)
    .project({ n: 1 })
    .toArray();
  const wanted = Array.from({ length: 300 }, (_, index) => ({ _id: index, n: index % 7 }))
    .filter(({ _id, n }) => n >= 3 && _id % 2 === 0)
    .sort((a, b) => b.n - a.n || a._id - b._id)
    .slice(2, 7);
  assert.deepEqual(found, wanted);
  const all = await collection.find().batchSize(7).toArray();
  assert.deepEqual(
    all.map(({ _id }) => _id),
    Array.from({ length: 300 }, (_, index) => index),
  );
  const down = await collection.find().sort({ _id: -1 }).limit(3).toArray();
  assert.deepEqual(
    down.map(({ _id }) => _id),
    [299, 298, 297],
  );
  const backwards = await collection.find().sort({ $natural: -1 }).limit(1).toArray();
  assert.equal(backwards[0]._id, 299);
  assert.deepEqual(await collection.findOne({ _id: 5 }, { projection: { _id: 0, n: 1 } }), {
    n: 5,
  });
  assert.deepEqual(await server.collection().find({ a: 1 }).toArray(), []);
});

test('cursors: exact ends, batch size 0, killing, foreign namespaces', async () => {
  const collection = server.collection();
  const database = server.client.db(collection.dbName);
  await collection.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }, { _id: 4 }]);
  const first = await database.command({ find: 'c', batchSize: 4 });
  assert.equal(Number(first.cursor.id), 0);
  const empty = await database.command({ find: 'c', batchSize: 0 });
  assert.deepEqual(empty.cursor.firstBatch, []);
  const { id } = empty.cursor;
  assert.notEqual(Number(id), 0);
  assert.equal(await codeOf(database.command({ getMore: id, collection: 'd' })), 13);
  const more = await database.command({ getMore: id, collection: 'c', batchSize: 3 });
  assert.deepEqual(more.cursor.nextBatch, [{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
  const killed = await database.command({ killCursors: 'c', cursors: [id] });
  assert.equal(killed.cursorsKilled.length, 1);
  assert.equal(await codeOf(database.command({ getMore: id, collection: 'c' })), 43);
});

test('updates: one, many, operators, replacement, positions, upserts', async () => {
  const collection = server.collection();
  await collection.insertMany([
    { _id: 1, n: 1, list: [1, 2, 3] },
    { _id: 2, n: 2, list: [3, 4] },
  ]);
  const one = await collection.updateOne({ _id: 1 }, { $inc: { n: 5 }, $push: { list: 4 } } as Any);
  assert.deepEqual([one.matchedCount, one.modifiedCount], [1, 1]);
  assert.deepEqual(await collection.findOne({ _id: 1 }), { _id: 1, n: 6, list: [1, 2, 3, 4] });
  const same = await collection.updateOne({ _id: 1 }, { $set: { n: 6 } });
  assert.deepEqual([same.matchedCount, same.modifiedCount], [1, 0]);
  const many = await collection.updateMany(
    {},
    { $set: { 'list.$[big]': 0 } },
    {
      arrayFilters: [{ big: { $gt: 2 } }],
    },
  );
  assert.equal(many.modifiedCount, 2);
  await collection.updateOne({ list: 2 }, { $set: { 'list.$': 'two' } });
  assert.deepEqual((await collection.findOne({ _id: 1 })).list, [1, 'two', 0, 0]);
  await collection.replaceOne({ _id: 2 }, { only: true });
  assert.deepEqual(await collection.findOne({ _id: 2 }), { _id: 2, only: true });
  const upserted = await collection.updateOne(
    { k: 'x', n: { $gt: 1 } },
    { $set: { v: 1 } },
    { upsert: true },
  );
  assert.equal(upserted.upsertedCount, 1);
  assert.deepEqual(await collection.findOne({ k: 'x' }, { projection: { _id: 0 } }), {
    k: 'x',
    v: 1,
  });
  const missing = await collection.updateOne({ _id: 99 }, { $set: { a: 1 } });
  assert.equal(missing.matchedCount, 0);
  for (const [update, code] of [
    [{ $set: { _id: 9 } }, 66],
    [{ $inc: { only: 1 } }, 14],
    [{ $set: { a: 1, 'a.b': 2 } }, 40],
    [{ $set: { _ts: 1 } }, 2],
  ] as const) {
    assert.equal(
      await codeOf(collection.updateOne({ _id: 2 }, update)),
      code,
      JSON.stringify(update),
    );
  }
});

test('an update by a pipeline, and one of many beside an index that moves', async () => {
  const collection = server.collection();
  await collection.createIndex({ n: 1 });
  await collection.insertMany(
    Array.from({ length: 200 }, (_, index) => ({ _id: index, n: index })),
  );
  const moved = await collection.updateMany({ n: { $gte: 0 } }, { $inc: { n: 1000 } });
  assert.equal(moved.modifiedCount, 200);
  assert.equal((await ids(collection, { n: { $gte: 1000, $lt: 1200 } })).length, 200);
});

test('deletes', async () => {
  const collection = server.collection();
  await collection.insertMany([1, 2, 3, 4, 5].map((_id) => ({ _id, odd: _id % 2 === 1 })));
  assert.equal((await collection.deleteOne({ odd: true })).deletedCount, 1);
  assert.deepEqual(await ids(collection), [2, 3, 4, 5]);
  assert.equal((await collection.deleteMany({ odd: true })).deletedCount, 2);
  assert.equal((await collection.deleteMany({ _id: 77 })).deletedCount, 0);
  assert.deepEqual(await ids(collection), [2, 4]);
  assert.equal((await server.collection().deleteMany({})).deletedCount, 0);
});

test('findOneAndUpdate, findOneAndReplace, findOneAndDelete', async () => {
  const collection = server.collection();
  await collection.insertMany([3, 1, 2].map((_id) => ({ _id, n: _id })));
  const before = await collection.findOneAndUpdate({}, { $set: { x: 1 } }, { sort: { n: -1 } });
  assert.deepEqual(before, { _id: 3, n: 3 });
  const after = await collection.findOneAndUpdate(
    { _id: 1 },
    { $inc: { n: 1 } },
    {
      returnDocument: 'after',
      projection: { _id: 0, n: 1 },
    },
  );
  assert.deepEqual(after, { n: 2 });
  const inserted = await collection.findOneAndReplace(
    { _id: 9 },
    { new: true },
    {
      upsert: true,
      returnDocument: 'after',
      includeResultMetadata: true,
    },
  );
  assert.deepEqual(inserted.value, { _id: 9, new: true });
  assert.equal(inserted.lastErrorObject?.upserted, 9);
  assert.deepEqual(await collection.findOneAndDelete({}, { sort: { _id: 1 } }), { _id: 1, n: 2 });
  assert.equal(await collection.findOneAndDelete({ _id: 1 }), null);
});

test('distinct and count', async () => {
  const collection = server.collection();
  await collection.insertMany([
    { a: 1 },
    { a: [1, 2] },
    { a: Long.fromNumber(2) },
    { b: 1 },
    { a: 'x' },
  ]);
  assert.deepEqual(await collection.distinct('a'), [1, 2, 'x']);
  assert.deepEqual(await collection.distinct('a', { a: { $type: 'string' } }), ['x']);
  const database = server.client.db(collection.dbName);
  assert.equal((await database.command({ count: 'c', query: { a: 2 } })).n, 2);
  assert.equal((await database.command({ count: 'c', skip: 1, limit: 2 })).n, 2);
});

test('bulkWrite of the driver, with w: 0 beside it', async () => {
  const collection = server.collection();
  const result = await collection.bulkWrite([
    { insertOne: { document: { _id: 1, n: 1 } } },
    { updateOne: { filter: { _id: 1 }, update: { $inc: { n: 1 } } } },
    { replaceOne: { filter: { _id: 2 }, replacement: { n: 5 }, upsert: true } },
    { deleteOne: { filter: { _id: 1 } } },
  ]);
  assert.deepEqual(
    [result.insertedCount, result.modifiedCount, result.upsertedCount, result.deletedCount],
    [1, 1, 1, 1],
  );
  await collection.insertOne({ _id: 'w0' }, { writeConcern: { w: 0 } });
  await collection.insertOne({ _id: 'w1' });
  assert.deepEqual(await ids(collection), [2, 'w0', 'w1']);
});

test('empty and too large writes', async () => {
  const collection = server.collection();
  const database = server.client.db(collection.dbName);
  assert.equal(await codeOf(database.command({ insert: 'c', documents: [] })), 16);
  assert.equal(await codeOf(database.command({ insert: 'c' })), 40414);
  const most = 'x'.repeat(16 * 1024 * 1024 - 100);
  await collection.insertOne({ _id: 1, most });
  assert.equal((await collection.findOne({ _id: 1 })).most.length, most.length);
  assert.equal(
    await codeOf(collection.updateOne({ _id: 1 }, { $set: { more: 'x'.repeat(200) } })),
    17419,
  );
});

test('a command that takes longer than its client wants is code 50', async () => {
  const collection = server.collection();
  await collection.insertMany(Array.from({ length: 3000 }, (_, _id) => ({ _id, n: _id % 7 })));
  const slow = {
    $expr: {
      $eq: [
        {
          $reduce: {
            input: { $range: [0, 300] },
            initialValue: 0,
            in: { $add: ['$$value', '$n'] },
          },
        },
        1,
      ],
    },
  };
  assert.equal(await codeOf(collection.find(slow).maxTimeMS(1).toArray()), 50);
  assert.equal((await collection.find({ _id: 5 }).maxTimeMS(10_000).toArray()).length, 1);
});

test('an empty timestamp at the top of a new document is the time of the write', async () => {
  server.at(0);
  const collection = server.collection();
  const empty = new Timestamp({ t: 0, i: 0 });
  await collection.insertOne({ _id: empty, one: empty, two: empty, inner: { empty } });
  const { _id, one, two, inner } = await collection.findOne({});
  assert.equal(one.t, NOON / 1000);
  assert.ok(one.lessThan(two), 'they count up');
  assert.ok(_id.isZero() && inner.empty.isZero());
  await collection.replaceOne({ _id: empty }, { again: empty });
  await collection.updateOne({ _id: empty }, { $set: { set: empty } });
  const { again, set } = await collection.findOne({});
  assert.equal(again.t, NOON / 1000);
  assert.ok(set.isZero());
});
