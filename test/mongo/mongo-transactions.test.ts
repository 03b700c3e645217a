// Transactions with the real driver: all or nothing, seen from inside alone, one winner.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, failureOf, ids, serveMongo } from './support.suite.js';

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

test('unique indexes hold; two collections and other commands are refused by name', async () => {
  const database = server.database();
  const [a, b] = [
    database.collection<{ _id: number; u?: number }>('a'),
    database.collection<{ _id: number }>('b'),
  ];
  await a.createIndex({ u: 1 }, { unique: true });
  await a.insertOne({ _id: 1, u: 1 });
  await b.insertOne({ _id: 1 });
  const session = server.client.startSession();
  session.startTransaction();
  assert.equal(await codeOf(a.insertOne({ _id: 1 }, { session })), 11000);
  await session.abortTransaction();
  session.startTransaction();
  await a.insertOne({ _id: 2, u: 2 }, { session });
  assert.equal(await codeOf(b.insertOne({ _id: 2 }, { session })), 263);
  await session.abortTransaction();
  session.startTransaction();
  await a.insertOne({ _id: 2, u: 2 }, { session });
  assert.equal(await codeOf(database.command({ listCollections: 1 }, { session })), 263);
  await session.abortTransaction();
  session.startTransaction();
  await a.insertOne({ _id: 5, u: 1 }, { session });
  const late = await failureOf(session.commitTransaction());
  assert.equal(late.code, 11000);
  assert.ok(!late.hasErrorLabel('TransientTransactionError'));
  await session.endSession();
});
