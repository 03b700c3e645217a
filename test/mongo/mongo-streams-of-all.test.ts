// Change streams of a database and of all databases with the real drivers: one order over all
// collections, collections that come and go meanwhile, tokens, images, and their ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient as MongoClient6 } from 'mongodb6';
import { type Any, codeOf, failureOf, serveMongo } from './support.suite.js';

const server = await serveMongo();
const WAIT = { maxAwaitTimeMS: 150 };

/** What has been told by now, as short lines. */
async function told(stream: Any): Promise<Any[]> {
  const events: Any[] = [];
  for (let event = await stream.tryNext(); event; event = await stream.tryNext()) {
    events.push(event);
    if (event.operationType === 'invalidate') break;
  }
  return events;
}

function line({ operationType, ns, documentKey, to }: Any): string {
  const target = to ? ` ${to.coll}` : '';
  const id = documentKey ? ` ${documentKey._id}` : '';
  const place = ns ? ` ${ns.coll ?? ns.db.replace(/\d+/, '')}` : '';
  return `${operationType}${place}${target}${id}`;
}

test('a database: all its collections by their instants, also those that come and go', async () => {
  server.at(0);
  const db = server.database();
  await db.collection<Any>('a').insertOne({ _id: 0 });
  const stream = db.watch([], WAIT);
  assert.equal(await stream.tryNext(), null);
  await db.collection<Any>('a').insertOne({ _id: 1 });
  server.at(2);
  await db.collection<Any>('b').insertOne({ _id: 2 });
  server.at(1);
  await db.collection<Any>('a').updateOne({ _id: 1 }, { $set: { x: 1 } });
  server.at(3);
  await db.collection<Any>('b').deleteOne({ _id: 2 });
  await db.collection('b').drop();
  await db.collection<Any>('b').insertOne({ _id: 3 });
  await db.collection('a').rename('c');
  await db.collection<Any>('c').insertOne({ _id: 4 });
  await server.client.db(`${db.databaseName}x`).collection('a').insertOne({ other: 1 });
  const events = await told(stream);
  assert.deepEqual(events.map(line).sort(), [
    'delete b 2',
    'drop b',
    'insert a 1',
    'insert b 2',
    'insert b 3',
    'insert c 4',
    'rename a c',
    'update a 1',
  ]);
  assert.deepEqual(events.slice(0, 3).map(line), ['insert a 1', 'update a 1', 'insert b 2']);
  const order = events.map(line);
  const isBefore = (first: string, second: string) =>
    assert.ok(order.indexOf(first) < order.indexOf(second), `${order}`);
  isBefore('delete b 2', 'drop b');
  isBefore('drop b', 'insert b 3');
  isBefore('rename a c', 'insert c 4');
  const tokens = events.map(({ _id }) => _id._data);
  assert.deepEqual([...tokens].sort(), tokens);
  for (const [index, { _id }] of events.entries()) {
    const resumed = db.watch([], { ...WAIT, resumeAfter: _id });
    const rest = (await told(resumed)).map(line);
    // What a collection did before it was dropped is known to streams that were open then.
    const expected = order.slice(index + 1).filter((each) => !/ b 2$/.test(each));
    assert.deepEqual(rest.sort(), expected.sort());
    await resumed.close();
  }
  await stream.close();
  server.at(0);
});

test('a dropped database ends the streams of it, and one of all goes on; startAfter begins anew', async () => {
  const db = server.database();
  const all = server.client.watch([{ $match: { 'ns.db': db.databaseName } }], WAIT);
  const stream = db.watch([], WAIT);
  const ofOne = db.collection('a').watch([], WAIT);
  for (const each of [all, stream, ofOne]) assert.equal(await each.tryNext(), null);
  assert.deepEqual(await db.listCollections().toArray(), []);
  await db.collection<Any>('a').insertOne({ _id: 1 });
  await db.collection<Any>('b').insertOne({ _id: 2 });
  await db.dropDatabase();
  const events = await told(stream);
  assert.deepEqual(events.slice(0, 4).map(line).sort(), [
    'drop a',
    'drop b',
    'insert a 1',
    'insert b 2',
  ]);
  assert.deepEqual(events.slice(4).map(line), ['dropDatabase d', 'invalidate']);
  assert.deepEqual((await told(ofOne)).map(line), ['insert a 1', 'drop a', 'invalidate']);
  await db.collection<Any>('a').insertOne({ _id: 3 });
  assert.deepEqual((await told(all)).map(line).slice(-2), ['dropDatabase d', 'insert a 3']);
  const [end, before] = [events.at(-1)._id, events.at(-2)._id];
  assert.equal(await codeOf(db.watch([], { resumeAfter: end }).next()), 260);
  const afterEnd = db.watch([], { ...WAIT, startAfter: end });
  assert.deepEqual((await told(afterEnd)).map(line), ['insert a 3']);
  const beforeEnd = db.watch([], { ...WAIT, resumeAfter: before });
  assert.deepEqual((await told(beforeEnd)).map(line), ['invalidate']);
  for (const each of [all, stream, ofOne, afterEnd, beforeEnd]) await each.close();
});

test('expanded events tell of collections and indexes, with their ids', async () => {
  const db = server.database();
  const stream = db.watch([], { ...WAIT, showExpandedEvents: true });
  await stream.tryNext();
  await db.createCollection('a');
  await db.collection<Any>('a').createIndex({ n: 1 });
  await db.collection<Any>('a').insertOne({ _id: 1 });
  await db.command({ collMod: 'a', index: { name: 'n_1', hidden: true } });
  await db.collection('a').dropIndex('n_1');
  const events = await told(stream);
  const kinds = events.map(({ operationType }) => operationType);
  assert.deepEqual(kinds.slice(0, 2), ['create', 'createIndexes']);
  assert.deepEqual([...kinds].sort(), [
    'create',
    'createIndexes',
    'dropIndexes',
    'insert',
    'modify',
  ]);
  assert.equal(events[1].operationDescription.indexes[0].name, 'n_1');
  assert.equal(events[0].operationDescription.idIndex.name, '_id_');
  assert.ok(events.every(({ collectionUUID }) => String(collectionUUID).length === 36));
  await stream.close();
});

test('a rename ends the stream of a collection; it may begin before there is one', async () => {
  const db = server.database();
  const [from, to] = [db.collection('a').watch([], WAIT), db.collection('b').watch([], WAIT)];
  for (const each of [from, to]) assert.equal(await each.tryNext(), null);
  await db.collection<Any>('a').insertOne({ _id: 1 });
  await db.collection('a').rename('b');
  assert.deepEqual((await told(from)).map(line), ['insert a 1', 'rename a b', 'invalidate']);
  assert.deepEqual((await told(to)).map(line), ['rename a b', 'invalidate']);
  for (const each of [from, to]) await each.close();
});

test('images: kept where the option is on, null or an error where they are not', async () => {
  const db = server.database();
  const images = { changeStreamPreAndPostImages: { enabled: true } };
  const kept = await db.createCollection<Any>('kept', images);
  const [{ options }] = (await db.listCollections({ name: 'kept' }).toArray()) as Any[];
  assert.deepEqual(options, images);
  const required = { fullDocument: 'required', fullDocumentBeforeChange: 'required' } as const;
  const available = {
    fullDocument: 'whenAvailable',
    fullDocumentBeforeChange: 'whenAvailable',
  } as const;
  const stream = kept.watch([], { ...WAIT, ...required });
  await stream.tryNext();
  await kept.insertOne({ _id: 1, n: 1 });
  await kept.updateOne({ _id: 1 }, { $inc: { n: 1 } });
  await kept.deleteOne({ _id: 1 });
  const [, update, gone] = await told(stream);
  assert.deepEqual([update.fullDocumentBeforeChange.n, update.fullDocument.n], [1, 2]);
  assert.equal(gone.fullDocumentBeforeChange.n, 2);
  const plain = db.collection<Any>('plain');
  await plain.insertOne({ _id: 1, n: 1 });
  const [strict, mild] = [
    plain.watch([], { ...WAIT, ...required }),
    plain.watch([], { ...WAIT, ...available }),
  ];
  for (const each of [strict, mild]) await each.tryNext();
  await plain.updateOne({ _id: 1 }, { $inc: { n: 1 } });
  const [event] = await told(mild);
  assert.deepEqual([event.fullDocument, event.fullDocumentBeforeChange], [null, null]);
  assert.equal(await codeOf(strict.next()), 47);
  await db.command({ collMod: 'kept', changeStreamPreAndPostImages: { enabled: false } });
  const [later] = (await db.listCollections({ name: 'kept' }).toArray()) as Any[];
  assert.deepEqual(later.options, {});
  assert.equal(
    await codeOf(db.command({ collMod: 'kept', changeStreamPreAndPostImages: {} })),
    40414,
  );
  for (const each of [stream, strict, mild]) await each.close();
});

test('a time to begin at, and what is refused', async () => {
  server.at(0);
  const db = server.database();
  const stream = db.watch([], WAIT);
  await stream.tryNext();
  await db.collection<Any>('a').insertOne({ _id: 1 });
  server.at(5000);
  await db.collection<Any>('b').insertOne({ _id: 2 });
  const [, second] = await told(stream);
  const since = db.watch([], { ...WAIT, startAtOperationTime: second.clusterTime });
  assert.deepEqual((await told(since)).map(line), ['insert b 2']);
  const admin = server.client.db('admin');
  const open = (at: Any, target: Any, stage: Any) =>
    codeOf(at.command({ aggregate: target, pipeline: [{ $changeStream: stage }], cursor: {} }));
  const time = second.clusterTime;
  assert.equal(await open(db, 1, { allChangesForCluster: true }), 72);
  assert.equal(await open(admin, 1, {}), 73);
  assert.equal(await open(db, 1, { resumeAfter: second._id, startAtOperationTime: time }), 72);
  assert.equal(await open(db, 1, { startAtOperationTime: 5 }), 14);
  assert.equal(await open(db, 1, { resumeAfter: { _data: `${second._id._data}0` } }), 260);
  server.at(25 * 3_600_000);
  assert.equal(await open(db, 1, { startAtOperationTime: time }), 286);
  server.at(5000);
  const changed = db.watch([{ $set: { _id: 1 } }], WAIT);
  await changed.tryNext();
  await db.collection<Any>('b').insertOne({ _id: 3 });
  const error = await failureOf(changed.next());
  assert.match(String(error), /_id field|resume token/);
  for (const each of [stream, since, changed]) await each.close();
  server.at(0);
});

test('a user who may read one database watches that one and no other', async () => {
  const db = server.database();
  await db.command({ createUser: 'u', pwd: 'p', roles: ['read'] });
  const auth = { username: 'u', password: 'p' };
  const user = server.connect({ auth, authSource: db.databaseName });
  const stream = user.db(db.databaseName).watch([], WAIT);
  assert.equal(await stream.tryNext(), null);
  await stream.close();
  assert.equal(await codeOf(user.watch().next()), 13);
  assert.equal(await codeOf(user.db('other').watch().next()), 13);
});

test('driver 6 watches a database and all of them', async () => {
  const client = new MongoClient6(server.url);
  const db = client.db(server.database().databaseName);
  const [one, all] = [
    db.watch([], WAIT),
    client.watch([], { ...WAIT, fullDocument: 'updateLookup' }),
  ];
  for (const each of [one, all]) assert.equal(await each.tryNext(), null);
  await db.collection<Any>('a').insertMany([{ _id: 1 }, { _id: 2 }] as Any);
  await db.collection<Any>('a').updateOne({ _id: 1 }, { $set: { n: 1 } });
  assert.deepEqual((await told(one)).map(line), ['insert a 1', 'insert a 2', 'update a 1']);
  const events = await told(all);
  assert.deepEqual(events.at(-1).fullDocument, { _id: 1, n: 1 });
  for (const each of [one, all]) await each.close();
  await client.close();
});

test('the key of a document in a sharded collection has its shard key', async () => {
  const db = server.database();
  await db.command({ customAction: 'CreateCollection', collection: 'c', shardKey: 'at.k' });
  const stream = db.watch([], WAIT);
  await stream.tryNext();
  await db.collection<Any>('c').insertOne({ _id: 1, at: { k: 'x' } });
  await db.collection<Any>('c').deleteOne({ _id: 1, 'at.k': 'x' });
  const keys = (await told(stream)).map(({ documentKey }) => documentKey);
  assert.deepEqual(keys, [
    { 'at.k': 'x', _id: 1 },
    { 'at.k': 'x', _id: 1 },
  ]);
  await stream.close();
});

test('tokens of the service: from now, or from a time', async () => {
  server.at(0);
  const db = server.database();
  const collection = await db.createCollection<Any>('c', {
    changeStreamPreAndPostImages: { enabled: true },
  });
  const tokens = async (fields: Any = {}): Promise<Any> =>
    (await db.command({ customAction: 'GetChangeStreamTokens', collection: 'c', ...fields }))
      .resumeAfterTokens;
  await collection.insertOne({ _id: 1 });
  server.at(1000);
  const { operationTime } = await db.command({ ping: 1 });
  await collection.insertOne({ _id: 2 });
  const [now] = await tokens();
  const [then] = await tokens({ startAtOperationTime: operationTime });
  await collection.insertOne({ _id: 3 });
  for (const [token, expected] of [
    [now, [3]],
    [then, [2, 3]],
  ]) {
    const stream = collection.watch([], { ...WAIT, resumeAfter: token });
    const ids = (await told(stream)).map(({ documentKey }) => documentKey._id);
    assert.deepEqual(ids, expected);
    await stream.close();
  }
  server.at(0);
});
