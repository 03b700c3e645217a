// What each built-in role allows, and who sees which databases and collections.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { type Any, codeOf, failureOf, serveMongo } from './support.suite.js';

const server = await serveMongo();
const clients: MongoClient[] = [];
after(() => Promise.all(clients.map((client) => client.close())));

function as(user: string, database: string): MongoClient {
  const client = new MongoClient(`mongodb://${user}:x@127.0.0.1:${server.port}/${database}`);
  clients.push(client);
  return client;
}

// biome-ignore format: a table is read in columns
const COMMANDS: Readonly<Record<string, Any>> = {
  read:   { find: 'c' },
  list:   { listCollections: 1 },
  stats:  { dbStats: 1 },
  write:  { insert: 'c', documents: [{ a: 1 }] },
  index:  { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }] },
  modify: { collMod: 'c' },
  users:  { usersInfo: 1 },
  drop:   { dropDatabase: 1 },
};
const ROLES: Readonly<Record<string, string>> = {
  read: 'read list stats',
  readWrite: 'read list stats write index',
  dbAdmin: 'list stats index modify drop',
  userAdmin: 'users',
  dbOwner: 'read list stats write index modify users drop',
};

test('the roles of a database allow what they allow, there and nowhere else', async () => {
  const other = server.collection();
  await other.insertOne({ a: 1 });
  for (const [role, allowed] of Object.entries(ROLES)) {
    const collection = server.collection();
    const database = server.client.db(collection.dbName);
    await collection.insertOne({ a: 1 });
    await database.command({ createUser: 'u', pwd: 'x', roles: [role] });
    const client = as('u', collection.dbName);
    const may: string[] = [];
    for (const [name, command] of Object.entries(COMMANDS)) {
      try {
        await client.db(collection.dbName).command(command);
        may.push(name);
      } catch (error) {
        assert.equal((error as Any).code, 13, `${role} ${name} ${error}`);
      }
      assert.equal(await codeOf(client.db(other.dbName).command(command)), 13, `${role} ${name}`);
    }
    assert.equal(may.join(' '), allowed, role);
  }
});

test('somebody sees the databases in which there is something to do', async () => {
  const [mine, foreign] = [server.collection(), server.collection()];
  await Promise.all([mine.insertOne({ a: 1 }), foreign.insertOne({ a: 1 })]);
  const database = server.client.db(mine.dbName);
  await database.command({ createUser: 'seer', pwd: 'x', roles: ['read'] });
  const client = as('seer', mine.dbName);
  const { databases } = await client.db('admin').command({ listDatabases: 1, nameOnly: true });
  assert.deepEqual(databases, [{ name: mine.dbName }]);
  const all = { listDatabases: 1, authorizedDatabases: false };
  const refused = await failureOf(client.db('admin').command(all));
  assert.equal(refused.code, 13);
  assert.equal(refused.message, 'not authorized on admin to execute command { listDatabases: 1 }');
  const own = { listCollections: 1, nameOnly: true, authorizedCollections: true };
  const { cursor } = await client.db(foreign.dbName).command(own);
  assert.deepEqual(cursor.firstBatch, []);
});

test('roles count at the next command, also on a connection that is open', async () => {
  const collection = server.collection();
  const database = server.client.db(collection.dbName);
  await database.command({ createUser: 'late', pwd: 'x', roles: ['read'] });
  const late = as('late', collection.dbName).db(collection.dbName).collection<Any>('c');
  assert.equal(await codeOf(late.insertOne({ _id: 1 })), 13);
  await database.command({ grantRolesToUser: 'late', roles: ['readWrite'] });
  await late.insertOne({ _id: 1 });
  await database.command({ dropUser: 'late' });
  assert.equal(await codeOf(late.findOne({})), 13);
});

test('a collection is renamed by who may change both databases', async () => {
  const collection = server.collection();
  await collection.insertOne({ _id: 1 });
  const database = server.client.db(collection.dbName);
  await database.command({ createUser: 'mover', pwd: 'x', roles: ['readWrite'] });
  const admin = as('mover', collection.dbName).db('admin');
  const from = collection.namespace;
  const to = `${collection.dbName}.d`;
  assert.equal(await codeOf(admin.command({ renameCollection: from, to: 'elsewhere.d' })), 13);
  assert.equal((await admin.command({ renameCollection: from, to })).ok, 1);
});

test('roles of the whole server are granted in admin alone', async () => {
  const database = server.database();
  const command = { createUser: 'u', pwd: 'x', roles: ['root'] };
  const refused = await failureOf(database.command(command));
  assert.equal(refused.code, 31);
  assert.equal(refused.message, `Could not find role: root@${database.databaseName}`);
  const { roles } = await database.command({ rolesInfo: 1, showBuiltinRoles: true });
  assert.equal(roles.length, 5);
});

test('a user of one mechanism is led to it, and may look at the own entry', async () => {
  const collection = server.collection();
  await collection.insertOne({});
  const database = server.client.db(collection.dbName);
  for (const mechanism of ['SCRAM-SHA-1', 'SCRAM-SHA-256']) {
    const user = mechanism.slice(-1);
    await database.command({
      createUser: user,
      pwd: 'x',
      roles: ['read'],
      mechanisms: [mechanism],
    });
    const own = as(user, collection.dbName).db(collection.dbName);
    const { users } = await own.command({ usersInfo: user });
    assert.deepEqual(users[0].mechanisms, [mechanism]);
    assert.equal(await codeOf(own.command({ usersInfo: 1 })), 13);
  }
  const nothing = await failureOf(database.command({ updateUser: '1' }));
  assert.equal(nothing.code, 2);
});
