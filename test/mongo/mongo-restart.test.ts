// What a restart keeps: documents, indexes, users, tokens of streams; and a store that checks out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient } from 'mongodb';
import { openKvEngine } from '../../src/engine/kv/kv-engine.js';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import { openAt } from '../../src/engine/postgres/cluster.suite.js';
import { start } from '../../src/main.js';
import { lastingStore } from '../conformance/support.suite.js';
import { type Any, codeOf } from './support.suite.js';

const place = lastingStore();

async function withServer<T>(work: (client: MongoClient, url: string) => Promise<T>): Promise<T> {
  const server = await start({ ...place, mongoPort: 0 });
  const client = new MongoClient(server.mongo ?? '');
  try {
    return await work(client, server.mongo ?? '');
  } finally {
    await client.close();
    await server.close();
  }
}

async function checkStore(): Promise<void> {
  const { data = '', store } = place;
  const engine = store ? await openAt(store) : await openKvEngine(openLmdb(data));
  await engine.check();
  await engine.close();
}

test('everything is there again, and every entry has its document', async () => {
  const token = await withServer(async (client) => {
    const collection = client.db('app').collection<Any>('c');
    await collection.createIndex({ mail: 1 }, { unique: true });
    await collection.createIndex({ gone: 1 }, { unique: true, sparse: true });
    await collection.createIndex({ n: 1, tags: 1 });
    await collection.createIndex({ at: 1 }, { expireAfterSeconds: 3600 });
    const stream = collection.watch([], { maxAwaitTimeMS: 100 });
    await stream.tryNext();
    for (let _id = 0; _id < 150; _id++) {
      await collection.insertOne({ _id, mail: `m${_id}`, gone: _id, n: _id % 5, tags: ['a', _id] });
    }
    await collection.updateMany(
      { n: 1 },
      { $set: { at: new Date() }, $push: { tags: 'z' } as Any },
    );
    await collection.deleteMany({ n: 2 });
    await collection.dropIndex('gone_1');
    const event = (await stream.next()) as Any;
    await stream.close();
    await client.db('app').command({ createUser: 'u', pwd: 'p', roles: ['read'] });
    await client.db('other').collection('x').insertOne({ a: 1 });
    await client.db('other').dropDatabase();
    return event._id;
  });
  await checkStore();
  await withServer(async (client, url) => {
    const collection = client.db('app').collection<Any>('c');
    assert.equal(await collection.countDocuments(), 120);
    assert.equal(await codeOf(collection.insertOne({ mail: 'm0' })), 11000);
    await collection.insertOne({ _id: 'new', mail: 'x', gone: 1 });
    assert.equal(await collection.countDocuments({ tags: 'z' }), 30);
    const names = (await collection.indexes()).map(({ name }) => name);
    assert.deepEqual(names, ['_id_', 'mail_1', 'n_1_tags_1', 'at_1']);
    const stream = collection.watch([], { resumeAfter: token });
    assert.deepEqual(((await stream.next()) as Any).documentKey, { _id: 1 });
    await stream.close();
    const { port } = new URL(url);
    const user = new MongoClient(`mongodb://u:p@127.0.0.1:${port}/app`);
    assert.equal(
      await user
        .db('app')
        .collection('c')
        .countDocuments({ _id: 'new' as Any }),
      1,
    );
    await user.close();
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
    assert.deepEqual(
      databases.map(({ name }) => name),
      ['app'],
    );
  });
  await checkStore();
});

test('a stream of a database goes on after a restart, behind a drop and a rename, too', async () => {
  const token = await withServer(async (client) => {
    const db = client.db('streamed');
    const stream = db.watch([], { maxAwaitTimeMS: 100 });
    await stream.tryNext();
    await db.collection<Any>('a').insertOne({ _id: 1 });
    const { _id } = (await stream.next()) as Any;
    await stream.close();
    await db.collection<Any>('b').insertOne({ _id: 2 });
    await db.collection('b').rename('c');
    await db.collection('a').drop();
    return _id;
  });
  await withServer(async (client) => {
    const db = client.db('streamed');
    await db.collection<Any>('d').insertOne({ _id: 3 });
    const stream = db.watch([], { resumeAfter: token, maxAwaitTimeMS: 100 });
    const events: Any[] = [];
    for (let left = 4; left > 0; left--) events.push(await stream.next());
    assert.deepEqual(
      events.map(({ operationType, ns }) => `${operationType} ${ns.coll}`),
      ['insert b', 'rename b', 'drop a', 'insert d'],
    );
    await stream.close();
  });
  await checkStore();
});
