// Transactions with the real driver: all or nothing, seen from inside alone, one winner.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MongoClient } from 'mongodb';
import { newSession, sendAs } from './retried.suite.js';
import { type Any, codeOf, failureOf, ids, serveMongo } from './support.suite.js';

const server = await serveMongo();

test('what a transaction writes is seen inside, and outside when it is committed', async () => {
  const collection = server.collection();
  await collection.insertMany([
    { _id: 1, n: 1 },
    { _id: 2, n: 2 },
  ]);
  const session = server.client.startSession();
  session.startTransaction();
  await collection.insertOne({ _id: 3, n: 3 }, { session });
  await collection.updateOne({ _id: 1 }, { $inc: { n: 10 } }, { session });
  await collection.deleteOne({ _id: 2 }, { session });
  const inside = await collection.find({}, { session }).sort({ _id: 1 }).toArray();
  assert.deepEqual(inside, [
    { _id: 1, n: 11 },
    { _id: 3, n: 3 },
  ]);
  assert.equal(await collection.countDocuments({ n: { $gt: 2 } }, { session }), 2);
  assert.deepEqual(await ids(collection), [1, 2]);
  await session.commitTransaction();
  await session.commitTransaction();
  assert.deepEqual(await collection.find().toArray(), [
    { _id: 1, n: 11 },
    { _id: 3, n: 3 },
  ]);
  await session.endSession();
});

test('one that is committed takes no more statements, and is not aborted', async () => {
  const { dbName } = server.collection();
  const session = newSession();
  const part = { autocommit: false };
  const insert = { insert: 'c', documents: [{ a: 1 }], ...part };
  const steps: readonly (readonly [Any, object])[] = [
    [{ ...insert, startTransaction: true }, { n: 1 }],
    [{ commitTransaction: 1, ...part }, {}],
    [insert, { code: 256, errorLabels: [] }],
    [
      { abortTransaction: 1, ...part },
      { code: 256, errorLabels: [] },
    ],
    [{ commitTransaction: 1, ...part }, {}],
  ];
  for (const [command, answer] of steps) {
    const database = 'insert' in command ? dbName : 'admin';
    assert.deepEqual(await sendAs(server.client, session, 1, command, database), answer);
  }
});

test('an aborted one leaves nothing, nor does one whose session ends', async () => {
  const collection = server.collection();
  await collection.insertOne({ _id: 1 });
  const session = server.client.startSession();
  session.startTransaction();
  await collection.insertOne({ _id: 2 }, { session });
  await session.abortTransaction();
  assert.deepEqual(await ids(collection), [1]);
  session.startTransaction();
  await collection.deleteMany({}, { session });
  await session.endSession();
  assert.deepEqual(await ids(collection), [1]);
});

test('of two that write one document the first wins, and the other may begin anew', async () => {
  const collection = server.collection();
  await collection.insertOne({ _id: 1, n: 0 });
  const [one, two] = [server.client.startSession(), server.client.startSession()];
  one.startTransaction();
  two.startTransaction();
  await collection.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: one });
  const lost = await failureOf(
    collection.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: two }),
  );
  assert.equal(lost.code, 112);
  assert.ok(lost.hasErrorLabel('TransientTransactionError'));
  await one.commitTransaction();
  await two.abortTransaction();
  assert.equal((await collection.findOne({ _id: 1 })).n, 1);
  await Promise.all([one.endSession(), two.endSession()]);
});

test('a write from outside between is a conflict at the commit', async () => {
  const collection = server.collection();
  await collection.insertOne({ _id: 1, n: 0 });
  const session = server.client.startSession();
  session.startTransaction();
  await collection.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session });
  await collection.updateOne({ _id: 1 }, { $inc: { n: 100 } });
  assert.equal(await codeOf(session.commitTransaction()), 112);
  assert.equal((await collection.findOne({ _id: 1 })).n, 100);
  await session.endSession();
});

test('withTransaction: transfers of many at once keep the sum', async () => {
  const collection = server.collection();
  await collection.insertMany([1, 2, 3].map((_id) => ({ _id, money: 100 })));
  const transfer = async (from: number, to: number) => {
    const session = server.client.startSession();
    await session.withTransaction(async () => {
      await collection.updateOne({ _id: from }, { $inc: { money: -1 } }, { session });
      await collection.updateOne({ _id: to }, { $inc: { money: 1 } }, { session });
    });
    await session.endSession();
  };
  await Promise.all(
    Array.from({ length: 12 }, (_, index) => transfer((index % 3) + 1, ((index + 1) % 3) + 1)),
  );
  const all = await collection.find().toArray();
  assert.equal(
    all.reduce((sum, { money }) => sum + money, 0),
    300,
  );
});

test('unique indexes hold at the statement; other commands are refused by name', async () => {
  const database = server.database();
  const a = database.collection<Any>('a');
  await a.createIndex({ u: 1 }, { unique: true });
  await a.insertOne({ _id: 1, u: 1 });
  const session = server.client.startSession();
  const rows: readonly (readonly [string, () => Promise<unknown>, number])[] = [
    ['_id', () => a.insertOne({ _id: 1 }, { session }), 11000],
    ['stored', () => a.insertOne({ _id: 5, u: 1 }, { session }), 11000],
    [
      'of many',
      () =>
        a.insertMany(
          [
            { _id: 5, u: 5 },
            { _id: 6, u: 1 },
          ],
          { session },
        ),
      11000,
    ],
    [
      'own',
      () =>
        a.insertMany(
          [
            { _id: 5, u: 5 },
            { _id: 6, u: 5 },
          ],
          { session },
        ),
      11000,
    ],
    ['update', () => a.updateOne({ _id: 9 }, { $set: { u: 1 } }, { session, upsert: true }), 11000],
    ['$merge', () => a.aggregate([{ $merge: 'z' }], { session }).toArray(), 263],
    ['$out', () => a.aggregate([{ $out: 'z' }], { session }).toArray(), 263],
    ['index', () => a.createIndex({ late: 1 }, { session }), 263],
    ['command', () => database.command({ listCollections: 1 }, { session }), 263],
  ];
  for (const [what, work, code] of rows) {
    session.startTransaction();
    await a.insertOne({ _id: 2, u: 2 }, { session });
    const failed = await failureOf(work());
    assert.equal(failed.code, code, what);
    assert.ok(!failed.hasErrorLabel('TransientTransactionError'), what);
    await session.abortTransaction();
  }
  // What the transaction itself has freed may be taken.
  await session.withTransaction(async () => {
    await a.deleteOne({ _id: 1 }, { session });
    await a.insertOne({ _id: 3, u: 1 }, { session });
  });
  assert.deepEqual(await ids(a), [3]);
  // Taken by somebody else before the commit: to begin anew tells.
  session.startTransaction();
  await a.insertOne({ _id: 4, u: 4 }, { session });
  await a.insertOne({ _id: 40, u: 4 });
  const late = await failureOf(session.commitTransaction());
  assert.equal(late.code, 112);
  assert.ok(late.hasErrorLabel('TransientTransactionError'));
  await session.endSession();
});

test('a unique index that was too much to ask with every statement is asked at the commit', async () => {
  const collection = server.collection();
  await collection.createIndex({ u: 1 }, { unique: true });
  await collection.insertOne({ _id: 'there', u: 0 });
  const session = server.client.startSession();
  session.startTransaction();
  const many = Array.from({ length: 1001 }, (_, n) => ({ _id: n, u: n }));
  await collection.insertMany(many, { session });
  const late = await failureOf(session.commitTransaction());
  assert.equal(late.code, 11000);
  assert.ok(!late.hasErrorLabel('TransientTransactionError'));
  assert.equal(await collection.countDocuments(), 1);
  await session.endSession();
});

test('several collections and databases: all or nothing, and own writes are seen', async () => {
  const database = server.database();
  const [orders, stock] = ['orders', 'stock'].map((name) => database.collection<Any>(name));
  const far = server.database().collection<Any>('log');
  assert(orders && stock);
  await stock.insertMany([1, 2].map((_id) => ({ _id, left: 2 })));
  const session = server.client.startSession();
  const order =
    (item: number, more: Any = {}) =>
    async () => {
      await orders.insertOne({ item, ...more }, { session });
      const { matchedCount } = await stock.updateOne(
        { _id: item, left: { $gt: 0 } },
        { $inc: { left: -1 } },
        { session },
      );
      await far.insertOne({ item }, { session });
      if (matchedCount === 0) throw new Error('sold out');
      const joined = await orders
        .aggregate(
          [
            { $match: { item } },
            { $lookup: { from: 'stock', localField: 'item', foreignField: '_id', as: 'of' } },
          ],
          { session },
        )
        .toArray();
      return joined.map(({ of }) => of[0].left);
    };
  assert.deepEqual(await session.withTransaction(order(1)), [1]);
  assert.deepEqual(await session.withTransaction(order(1)), [0, 0]);
  await assert.rejects(session.withTransaction(order(1)), /sold out/);
  const counts = () => Promise.all([orders, far].map((each) => each.countDocuments()));
  assert.deepEqual(await counts(), [2, 2]);
  // A write to one of them from outside ends all of it.
  session.startTransaction();
  await orders.insertOne({ item: 2 }, { session });
  await stock.updateOne({ _id: 2 }, { $inc: { left: -1 } }, { session });
  await stock.updateOne({ _id: 2 }, { $inc: { left: 5 } });
  const lost = await failureOf(session.commitTransaction());
  assert.equal(lost.code, 112);
  assert.ok(lost.hasErrorLabel('TransientTransactionError'));
  assert.deepEqual(await counts(), [2, 2]);
  assert.equal((await stock.findOne({ _id: 2 })).left, 7);
  await session.endSession();
});

test('collections are created, and several shard key values written, inside', async () => {
  const database = server.database();
  await server.client
    .db('admin')
    .command({ shardCollection: `${database.databaseName}.sharded`, key: { k: 1 } });
  const [sharded, plain] = ['sharded', 'new'].map((name) => database.collection<Any>(name));
  assert(sharded && plain);
  const session = server.client.startSession();
  const write = async () => {
    await sharded.insertMany(
      [1, 2, 3].map((k) => ({ _id: k, k })),
      { session },
    );
    await plain.insertOne({ _id: 1 }, { session });
    assert.deepEqual(await ids(plain), []);
    return sharded.countDocuments({}, { session });
  };
  session.startTransaction();
  assert.equal(await write(), 3);
  await session.abortTransaction();
  assert.deepEqual(await ids(sharded), []);
  assert.equal(await session.withTransaction(write), 3);
  assert.deepEqual([await ids(sharded), await ids(plain)], [[1, 2, 3], [1]]);
  await session.endSession();
});

test('what expires is gone inside as well, own writes included; what is bound to die may be replaced', async () => {
  const database = server.database();
  const [a, b] = ['a', 'b'].map((name) => database.collection<Any>(name));
  assert(a && b);
  await a.createIndex({ _ts: 1 }, { expireAfterSeconds: 100 });
  await a.insertMany([
    { _id: 1, ttl: 10 },
    { _id: 2, ttl: 10 },
  ]);
  const session = server.client.startSession();
  session.startTransaction();
  await a.insertOne({ _id: 3, ttl: 10 }, { session });
  await a.updateOne({ _id: 2 }, { $set: { ttl: 20 } }, { session });
  await b.insertOne({ _id: 1 }, { session });
  server.at(9_999);
  assert.equal(await a.countDocuments({}, { session }), 3);
  server.at(10_000);
  assert.deepEqual(
    (await a.find({}, { session }).toArray()).map(({ _id }) => _id),
    [2],
  );
  assert.equal((await a.updateOne({ _id: 3 }, { $set: { x: 1 } }, { session })).matchedCount, 0);
  await a.insertOne({ _id: 3, again: true }, { session });
  // The document it has renewed died before the commit, so it is another one by now.
  assert.equal(await codeOf(session.commitTransaction()), 112);
  assert.deepEqual([await ids(a), await ids(b)], [[], []]);
  server.at(0);
  await session.endSession();
});

test('transfers between two collections by several clients keep the sum', async () => {
  const database = server.database();
  const names = ['left', 'right'];
  for (const name of names) await database.collection<Any>(name).insertOne({ _id: 1, money: 100 });
  const clients = [server.connect(), server.connect(), server.connect()];
  const transfer = async (client: MongoClient, turn: number) => {
    const [from, to] = turn % 2 === 0 ? names : [...names].reverse();
    const there = client.db(database.databaseName);
    await client.withSession((session) =>
      session.withTransaction(async () => {
        const sum = { _id: 1 };
        await there
          .collection<Any>(from as string)
          .updateOne(sum, { $inc: { money: -1 } }, { session });
        await there
          .collection<Any>(to as string)
          .updateOne(sum, { $inc: { money: 1 } }, { session });
        await there.collection<Any>('log').insertOne({ turn }, { session });
      }),
    );
  };
  await Promise.all(
    clients.flatMap((client, index) => [0, 1, 2].map((turn) => transfer(client, index + turn))),
  );
  const [left, right] = await Promise.all(
    names.map((name) => database.collection<Any>(name).findOne({ _id: 1 })),
  );
  assert.equal(left.money + right.money, 200);
  assert.equal(await database.collection('log').countDocuments(), 9);
});

test('indexes of documents that are there are not made in a transaction', async () => {
  const collection = server.collection();
  await collection.insertOne({ _id: 1 });
  await collection.createIndex({ known: 1 });
  const session = server.client.startSession();
  session.startTransaction();
  await collection.createIndex({ known: 1 }, { session });
  assert.equal(await codeOf(collection.createIndex({ a: 1 }, { session })), 263);
  await session.endSession();
  assert.equal((await collection.indexes()).length, 2);
});
