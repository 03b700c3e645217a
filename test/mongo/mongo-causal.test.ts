// Times of replies with the real drivers: sessions that are causally consistent, and streams that
// begin at the time of a reply.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Timestamp } from 'mongodb';
import { MongoClient as MongoClient6 } from 'mongodb6';
import { type Any, codeOf, NOON, serveMongo } from './support.suite.js';

const server = await serveMongo();

test('a session knows the time of its last operation and reads after it', async () => {
  const six = new MongoClient6(server.url, { monitorCommands: true });
  const seven = server.connect({ monitorCommands: true });
  for (const client of [seven, six] as Any[]) {
    const collection = client.db(server.database().databaseName).collection('c');
    const session = client.startSession({ causalConsistency: true });
    await collection.insertOne({ _id: 1 }, { session });
    const { operationTime } = session;
    assert.equal(Math.floor(NOON / 1000), operationTime.getHighBits());
    assert.deepEqual(session.clusterTime.clusterTime, operationTime);
    const asked = new Promise<Any>((resolve) => {
      client.once('commandStarted', ({ command }: Any) => resolve(command));
    });
    assert.deepEqual(await collection.findOne({}, { session }), { _id: 1 });
    const { readConcern, $clusterTime } = await asked;
    assert.deepEqual(readConcern.afterClusterTime, operationTime);
    assert.deepEqual($clusterTime.clusterTime, operationTime);
    const stream = collection.watch([], {
      startAtOperationTime: operationTime,
      maxAwaitTimeMS: 100,
    });
    await stream.tryNext();
    await collection.insertOne({ _id: 2 });
    assert.deepEqual((await stream.next()).documentKey, { _id: 2 });
    await stream.close();
    await session.endSession();
  }
  await six.close();
});

test('errors tell the time, too; a server that stands alone tells none', async () => {
  const db = server.database();
  const error = await db.command({ nonsense: 1 }).catch((each) => each);
  assert.ok(error.errorResponse.operationTime instanceof Timestamp);
  const alone = await serveMongo({ mongoTopology: 'standalone' });
  const reply = await alone.client.db('admin').command({ ping: 1 });
  assert.deepEqual(Object.keys(reply), ['ok']);
});

test('a snapshot is read in a transaction only', async () => {
  const collection = server.collection();
  await collection.insertOne({ _id: 1 });
  const session = server.client.startSession({ snapshot: true });
  assert.equal(await codeOf(collection.findOne({}, { session })), 115);
  await session.endSession();
  const other = server.client.startSession();
  const options = { readConcern: { level: 'snapshot' } } as const;
  await other.withTransaction(async () => {
    assert.deepEqual(await collection.findOne({}, { session: other }), { _id: 1 });
  }, options);
  await other.endSession();
});
