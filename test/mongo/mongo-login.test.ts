// Connecting: mechanisms, TLS, compression, personalities, and what strangers may do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient } from 'mongodb';
import { codeOf, failureOf, serveMongo } from './support.suite.js';

const READ_ONLY = Buffer.alloc(32, 7).toString('base64');
const server = await serveMongo({ readOnlyKey: READ_ONLY });

for (const authMechanism of ['SCRAM-SHA-1', 'SCRAM-SHA-256'] as const) {
  test(`${authMechanism}, plain and by TLS, packed and not`, async () => {
    for (const tls of [false, true]) {
      const client = server.connect({
        authMechanism,
        tls,
        ...(tls ? { tlsAllowInvalidCertificates: true } : {}),
        compressors: tls ? ['zlib'] : ['none'],
      });
      const reply = await client.db('admin').command({ connectionStatus: 1 });
      assert.equal(reply.authInfo.authenticatedUsers[0].user, 'mayfly');
    }
  });
}

test('the connection string of the service', async () => {
  const key = encodeURIComponent(server.mayfly.key);
  const service = `mongodb://localhost:${key}@127.0.0.1:${server.port}/app?ssl=true&replicaSet=globaldb&retrywrites=false&maxIdleTimeMS=120000&appName=@localhost@`;
  const client = new MongoClient(service, {
    tlsAllowInvalidCertificates: true,
    serverSelectionTimeoutMS: 5000,
  });
  await client.db('app').collection('c').insertOne({ a: 1 });
  assert.equal((await client.db('app').admin().command({ hello: 1 })).setName, 'globaldb');
  await client.close();
});

test('a wrong password and an unknown user look the same', async () => {
  for (const [from, to] of [
    ['C2y6', 'D2y6'],
    ['mayfly:', 'somebody:'],
  ] as const) {
    const client = new MongoClient(server.url.replace(from, to), {
      serverSelectionTimeoutMS: 3000,
    });
    const error = await failureOf(client.db('x').command({ ping: 1 }));
    assert.equal(error.code, 18);
    assert.equal(error.message, 'Authentication failed.');
    await client.close();
  }
});

test('a stranger may say hello and ping, and no more', async () => {
  const client = new MongoClient(`mongodb://127.0.0.1:${server.port}/`);
  const admin = client.db('admin');
  assert.equal((await admin.command({ ping: 1 })).ok, 1);
  assert.equal((await admin.command({ buildInfo: 1 })).version.split('.')[0], '7');
  assert.equal(await codeOf(admin.command({ listDatabases: 1 })), 13);
  assert.equal(await codeOf(client.db('x').collection('c').findOne({})), 13);
  assert.equal(await codeOf(admin.command({ nonsense: 1 })), 13);
  await client.close();
});

test('the read-only key reads and does not write', async () => {
  await server.client.db('ro').collection<{ _id: number }>('c').insertOne({ _id: 1 });
  const url = server.url.replace(
    encodeURIComponent(server.mayfly.key),
    encodeURIComponent(READ_ONLY),
  );
  const client = new MongoClient(url);
  const collection = client.db('ro').collection<{ _id: number }>('c');
  assert.deepEqual(await collection.findOne({ _id: 1 }), { _id: 1 });
  assert.equal(await codeOf(collection.insertOne({ _id: 2 })), 13);
  assert.equal(await codeOf(collection.drop()), 13);
  await client.close();
});

test('unknown commands and fields are told by name', async () => {
  const database = server.client.db('x');
  const unknown = await failureOf(database.command({ nonsense: 1 }));
  assert.equal(unknown.code, 59);
  assert.equal(unknown.message, "no such command: 'nonsense'");
  const field = await failureOf(database.command({ find: 'c', nonsense: 1 }));
  assert.equal(field.code, 40415);
});

test('personalities: how a client sees the server', async () => {
  const standalone = await serveMongo({ mongoTopology: 'standalone' });
  const hello = await standalone.client.db('admin').command({ hello: 1 });
  assert.equal(hello.msg, undefined);
  assert.equal(hello.setName, undefined);
  const usual = await server.client.db('admin').command({ hello: 1 });
  assert.equal(usual.msg, 'isdbgrid');
  const set = await serveMongo({ mongoTopology: 'replset' });
  const member = await set.client.db('admin').command({ hello: 1 });
  assert.deepEqual(member.hosts, [`127.0.0.1:${set.port}`]);
});
