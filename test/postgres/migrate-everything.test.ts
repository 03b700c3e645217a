// `mayfly migrate` and all that is not items: the log of all versions and streams that go on from
// their tokens, collections with their indexes, users, scripts, permissions and throughput.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { openCluster } from '../../src/engine/postgres/cluster.suite.js';
import { type StartOptions, start } from '../../src/main.js';
import { migrate } from '../../src/migrate.js';
import { VirtualClock } from '../../src/time/clock.js';
import { documents, keyHeader, NOON, ok, Server } from '../conformance/support.suite.js';
import { type Any, codeOf } from '../mongo/support.suite.js';

const cluster = await openCluster();
const folder = mkdtempSync(join(tmpdir(), 'mayfly-migrate-'));
after(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

const clock = new VirtualClock();
clock.freeze();
clock.set(NOON);

const PATH = '/dbs/d/colls/c';
const VERSIONS = {
  'a-im': 'Full-Fidelity Feed',
  'x-ms-cosmos-changefeed-wire-format-version': '2021-09-15',
};
const P = keyHeader('p');

interface Tokens {
  readonly feed: string;
  readonly stream: unknown;
}
interface Both {
  readonly server: Server;
  readonly mongo: MongoClient;
}

async function serving<T>(place: StartOptions, use: (both: Both) => Promise<T>): Promise<T> {
  const server = new Server(await start({ clock, mongoPort: 0, ...place }), clock);
  const mongo = new MongoClient(server.mayfly.mongo ?? '');
  try {
    return await use({ server, mongo });
  } finally {
    await mongo.close();
    await server.close();
  }
}

/** Answers where readers of versions and of a stream stood before most of it happened. */
async function fill({ server, mongo }: Both): Promise<Tokens> {
  ok(await server.send('POST', '/dbs', { body: { id: 'd' } }), 201);
  const body = {
    ...{ id: 'c', partitionKey: { paths: ['/pk'], kind: 'Hash' }, defaultTtl: -1 },
    changeFeedPolicy: { retentionDuration: 60 },
  };
  const headers = { 'x-ms-offer-throughput': '700' };
  ok(await server.send('POST', '/dbs/d/colls', { body, headers }), 201);
  const script = { id: 's', body: 'function () { __.response.setBody(7); }' };
  for (const kind of ['sprocs', 'udfs']) {
    ok(await server.send('POST', `${PATH}/${kind}`, { body: script }), 201);
  }
  ok(await server.send('POST', '/dbs/d/users', { body: { id: 'u' } }), 201);
  const permission = { id: 'p', permissionMode: 'Read', resource: PATH.slice(1) };
  ok(await server.send('POST', '/dbs/d/users/u/permissions', { body: permission }), 201);
  const feed = await write(server);
  const stream = await fillMongo(mongo);
  return { feed, stream };
}

async function write(server: Server): Promise<string> {
  const feed = String((await read(server, '*')).headers.etag);
  const docs = `${PATH}/docs`;
  const items = [
    { id: '1', pk: 'p', n: 1 },
    { id: '2', pk: 'p', ttl: 1 },
    { id: '3', pk: 'p' },
  ];
  for (const body of items) ok(await server.send('POST', docs, { body, headers: P }), 201);
  const body = { id: '1', pk: 'p', n: 2 };
  ok(await server.send('PUT', `${docs}/1`, { body, headers: P }), 200);
  ok(await server.send('DELETE', `${docs}/3`, { headers: P }), 204);
  clock.advance(1000);
  await server.mayfly.purge();
  return feed;
}

async function fillMongo(mongo: MongoClient): Promise<unknown> {
  const collection = mongo.db('app').collection<Any>('things');
  await collection.createIndex({ mail: 1 }, { unique: true });
  await collection.createIndex({ at: 1 }, { expireAfterSeconds: 3600 });
  await collection.createIndex({ n: -1, tags: 1 }, { name: 'many' });
  await mongo.db('app').command({ createUser: 'u', pwd: 'secret', roles: ['read'] });
  const stream = collection.watch([], { maxAwaitTimeMS: 100 });
  await stream.tryNext();
  await collection.insertOne({ _id: 0, mail: 'first' });
  const token = ((await stream.next()) as Any)._id;
  await stream.close();
  await collection.insertMany([1, 2, 3].map((n) => ({ _id: n, mail: `m${n}`, n, tags: ['a', n] })));
  await collection.updateOne({ _id: 1 }, { $set: { n: 9 } });
  await collection.deleteOne({ _id: 2 });
  return token;
}

function read(server: Server, etag: string) {
  return server.send('GET', `${PATH}/docs`, { headers: { ...VERSIONS, 'if-none-match': etag } });
}

async function seen({ server, mongo }: Both, { feed, stream }: Tokens): Promise<Any> {
  const get = async (path: string) => (await server.send('GET', path)).json;
  const offers = ok(await server.send('GET', '/offers'), 200).json;
  const events: Any[] = [];
  const collection = mongo.db('app').collection<Any>('things');
  const watching = collection.watch([], { resumeAfter: stream, maxAwaitTimeMS: 100 });
  for (let event = await watching.tryNext(); event; event = await watching.tryNext()) {
    events.push(event);
  }
  await watching.close();
  const permissions = (await get('/dbs/d/users/u/permissions')).Permissions as Any[];
  return {
    versions: documents(ok(await read(server, feed), 200)),
    sprocs: await get(`${PATH}/sprocs`),
    udfs: await get(`${PATH}/udfs`),
    users: await get('/dbs/d/users'),
    permissions: permissions.map(({ _token, ...permission }) => permission),
    offers,
    events,
    indexes: await collection.indexes(),
    things: await collection.find().toArray(),
    mongoUsers: await mongo.db('app').command({ usersInfo: 1 }),
  };
}

/** It all still acts, and goes on. */
async function use({ server, mongo }: Both, { feed, stream }: Tokens, name: string) {
  const executed = await server.send('POST', `${PATH}/sprocs/s`, { body: [], headers: P });
  assert.equal(ok(executed, 200).text, '7');
  const before = documents(await read(server, feed)).length;
  const body = { id: name, pk: 'p' };
  ok(await server.send('POST', `${PATH}/docs`, { body, headers: P }), 201);
  assert.equal(documents(await read(server, feed)).length, before + 1);
  const things = mongo.db('app').collection<Any>('things');
  assert.equal(await codeOf(things.insertOne({ _id: name, mail: 'm1' })), 11000);
  await things.insertOne({ _id: name, mail: name });
  const user = new MongoClient(server.mayfly.mongo ?? '', {
    auth: { username: 'u', password: 'secret' },
    authSource: 'app',
  });
  const { _id } = (await user.db('app').collection<Any>('things').findOne({ mail: name })) as Any;
  assert.equal(_id, name);
  await user.close();
  const watching = things.watch([{ $match: { 'documentKey._id': name } }], { resumeAfter: stream });
  assert.equal(((await watching.next()) as Any).fullDocument.mail, name);
  await watching.close();
}

test('a folder to PostgreSQL and back: logs, streams, indexes, users, scripts, throughput', async () => {
  const data = join(folder, 'one');
  const store = cluster.newStore();
  const { tokens, before } = await serving({ data }, async (both) => {
    const made = await fill(both);
    return { tokens: made, before: await seen(both, made) };
  });
  assert.deepEqual(
    before.versions.map(({ metadata }: Any) => metadata.operationType),
    ['create', 'create', 'create', 'replace', 'delete', 'delete'],
  );
  assert.deepEqual(
    before.events.map(({ operationType }: Any) => operationType),
    ['insert', 'insert', 'insert', 'update', 'delete'],
  );
  const progress = () => undefined;
  const there = await migrate({ from: data, to: store, progress });
  assert(there.versions >= 6);
  // Once more changes nothing: everything is there already.
  assert.deepEqual(await migrate({ from: data, to: store, progress }), there);
  const later = await serving({ store }, async (both) => {
    assert.deepEqual(await seen(both, tokens), before);
    await use(both, tokens, 'there');
    return seen(both, tokens);
  });
  const back = join(folder, 'two');
  const again = await migrate({ from: store, to: back, progress });
  assert(again.versions > there.versions);
  await serving({ data: back }, async (both) => {
    assert.deepEqual(await seen(both, tokens), later);
    await use(both, tokens, 'back');
    clock.advance(61 * 60_000);
    assert.equal((await read(both.server, tokens.feed)).status, 400, 'too old to be told');
    await both.server.mayfly.purge();
  });
});
