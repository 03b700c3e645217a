// What tools ask, users, definitions of collections, and the command bulkWrite.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient } from 'mongodb';
import { type Any, codeOf, failureOf, ids, serveMongo } from './support.suite.js';

const server = await serveMongo();
const admin = server.client.db('admin');

test('start-up questions of mongosh and Compass have answers', async () => {
  assert.match((await admin.command({ buildInfo: 1 })).version, /^7\.0\./);
  assert.deepEqual((await admin.command({ getLog: 'startupWarnings' })).log, []);
  const version = await admin.command({ getParameter: 1, featureCompatibilityVersion: 1 });
  assert.equal(version.featureCompatibilityVersion.version, '7.0');
  assert.equal(await codeOf(admin.command({ getParameter: 'foo' })), 72);
  assert.equal(await codeOf(admin.command({ atlasVersion: 1 })), 59);
  assert.ok((await admin.command({ hostInfo: 1 })).system.numCores > 0);
  const status = await admin.command({ serverStatus: 1 });
  assert.equal(status.metrics.ttl.passes, 0);
  assert.ok(status.connections.current > 0);
  for (const command of [
    'getCmdLineOpts',
    'top',
    'currentOp',
    'getDefaultRWConcern',
    'whatsmyuri',
  ]) {
    assert.equal((await admin.command({ [command]: 1 })).ok, 1, command);
  }
  assert.equal(await codeOf(admin.command({ replSetGetStatus: 1 })), 76);
});

test('statistics count what is alive', async () => {
  const collection = server.collection();
  await collection.insertMany([{ _id: 1 }, { _id: 2, ttl: 1 }]);
  await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: -1 });
  const database = server.client.db(collection.dbName);
  assert.equal((await database.command({ collStats: 'c' })).count, 2);
  server.at(1000);
  assert.equal((await database.command({ collStats: 'c' })).count, 1);
  assert.equal(Number((await database.stats()).objects), 1);
  assert.equal((await database.command({ validate: 'c' })).nrecords, 1);
  assert.equal(await collection.estimatedDocumentCount(), 1);
  server.at(0);
});

test('collections: create, options, rename, drop, lists', async () => {
  const database = server.database();
  await database.createCollection('a', { validator: { n: { $gt: 0 } } });
  await database.createCollection('a', { validator: { n: { $gt: 0 } } });
  assert.equal(await codeOf(database.createCollection('a')), 48);
  for (const [options, name] of [
    [{ capped: true, size: 100 }, 'capped'],
    [{ timeseries: { timeField: 't' } }, 'timeseries'],
  ] as const) {
    const refused = await failureOf(database.createCollection('b', options as object));
    assert.equal(refused.code, 115);
    assert.ok(refused.message.includes(name), refused.message);
  }
  const collection = database.collection<{ _id: number; n: number }>('a');
  await collection.insertOne({ _id: 1, n: 1 });
  assert.equal(await codeOf(collection.insertOne({ _id: 2, n: 0 })), 121);
  assert.equal(await codeOf(collection.updateOne({ _id: 1 }, { $set: { n: -1 } })), 121);
  await collection.insertOne({ _id: 3, n: -3 }, { bypassDocumentValidation: true });
  await database.command({ collMod: 'a', validationLevel: 'off' });
  await collection.insertOne({ _id: 2, n: 0 });
  await collection.rename('z');
  assert.deepEqual(
    (await database.listCollections().toArray()).map(({ name }) => name),
    ['z'],
  );
  assert.deepEqual(await ids(database.collection('z')), [1, 3, 2]);
  assert.equal(await database.collection('z').drop(), true);
  assert.equal((await database.command({ drop: 'nothing' })).ok, 1);
  for (const name of ['', 'a$b', '.a', 'system.x', 'x'.repeat(300)]) {
    const failed = database.command({ insert: name, documents: [{ a: 1 }] });
    assert.equal(await codeOf(failed), 73, name);
  }
  await database.dropDatabase();
  const left = await admin.command({ listDatabases: 1, nameOnly: true });
  assert.ok(!left.databases.some(({ name }: { name: string }) => name === database.databaseName));
});

test('a name belongs to one API', async () => {
  const database = server.database();
  await database.createCollection('theirs');
  const { CosmosClient } = await import('@azure/cosmos');
  const { cosmos: endpoint, key } = server.mayfly;
  const client = new CosmosClient({ endpoint, key });
  const home = client.database(database.databaseName);
  assert.equal(
    (await failureOf(home.containers.create({ id: 'theirs', partitionKey: '/pk' }))).code,
    409,
  );
  for (const asked of [
    () => home.container('theirs').read(),
    () => home.container('theirs').item('1', 'p').read(),
    () => home.container('theirs').items.create({ id: '1', pk: 'p' }),
  ]) {
    const refused = await failureOf(asked());
    assert.equal(refused.code, 403);
    assert.match(JSON.stringify(refused.body ?? refused.message), /API for MongoDB/);
  }
  await home.containers.create({ id: 'ours', partitionKey: '/pk' });
  for (const command of [{ find: 'ours' }, { insert: 'ours', documents: [{ a: 1 }] }]) {
    const refused = await failureOf(database.command(command));
    assert.equal(refused.code, 115);
    assert.match(refused.message, /API for NoSQL/);
  }
  const { resources } = await home.containers.readAll().fetchAll();
  assert.deepEqual(
    resources.map(({ id }) => id),
    ['ours'],
  );
  client.dispose();
});

test('users: what their roles allow, and no more', async () => {
  const database = server.database();
  const name = database.databaseName;
  await database.command({ createUser: 'reader', pwd: 'päss/word', roles: ['read'] });
  await database.command({
    createUser: 'writer',
    pwd: 'x',
    roles: [{ role: 'readWrite', db: name }],
  });
  assert.equal(
    await codeOf(database.command({ createUser: 'reader', pwd: 'y', roles: [] })),
    51003,
  );
  assert.equal(await codeOf(database.command({ createUser: 'n', pwd: 'y', roles: ['king'] })), 31);
  const as = (user: string, password: string) =>
    new MongoClient(
      `mongodb://${user}:${encodeURIComponent(password)}@127.0.0.1:${server.port}/${name}`,
    );
  const writer = as('writer', 'x');
  await writer.db(name).collection<{ _id: number }>('c').insertOne({ _id: 1 });
  assert.equal(await codeOf(writer.db('other').collection('c').insertOne({ a: 1 })), 13);
  assert.equal(await codeOf(writer.db(name).command({ usersInfo: 1 })), 13);
  const reader = as('reader', 'päss/word');
  assert.deepEqual(await reader.db(name).collection<{ _id: number }>('c').findOne({}), { _id: 1 });
  assert.equal(await codeOf(reader.db(name).collection('c').deleteMany({})), 13);
  const { users } = await database.command({ usersInfo: 1 });
  assert.deepEqual(
    users.map(({ user }: { user: string }) => user),
    ['reader', 'writer'],
  );
  await database.command({ grantRolesToUser: 'reader', roles: ['readWrite'] });
  await database.command({ dropUser: 'writer' });
  assert.equal(await codeOf(database.command({ dropUser: 'writer' })), 11);
  await Promise.all([reader.close(), writer.close()]);
});

test('the command bulkWrite', async () => {
  const [one, two] = [server.database().databaseName, server.database().databaseName];
  const models = [
    { name: 'insertOne', namespace: `${one}.c`, document: { _id: 1 } },
    { name: 'insertOne', namespace: `${two}.c`, document: { _id: 1 } },
    { name: 'insertOne', namespace: `${two}.c`, document: { _id: 1 } },
    {
      name: 'updateOne',
      namespace: `${one}.c`,
      filter: { _id: 2 },
      update: { $set: { a: 1 } },
      upsert: true,
    },
    { name: 'deleteMany', namespace: `${two}.c`, filter: {} },
  ] as const;
  const result = await failureOf(
    server.client.bulkWrite(models as Any, { ordered: false, verboseResults: true }),
  );
  assert.deepEqual([...result.writeErrors.keys()], [2]);
  assert.equal(result.writeErrors.get(2).code, 11000);
  const partial = result.partialResult;
  assert.deepEqual([partial.insertedCount, partial.upsertedCount, partial.deletedCount], [2, 1, 1]);
  assert.deepEqual(await ids(server.client.db(one).collection('c')), [1, 2]);
});
