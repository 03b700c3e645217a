// Faults on demand with the real driver: what it retries by itself is done once, by the fail point
// of MongoDB and by rules of the control API.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandStartedEvent } from 'mongodb';
import { MongoClient as MongoClient6 } from 'mongodb6';
import { type Any, codeOf, failureOf, serveMongo } from './support.suite.js';

const server = await serveMongo({ mongoTestCommands: true });
const admin = server.client.db('admin');

const fail = (mode: Any, data: Any) =>
  admin.command({ configureFailPoint: 'failCommand', mode, data });
const off = () => admin.command({ configureFailPoint: 'failCommand', mode: 'off' });

/** How often a client sends a command while something is done. */
async function sent(client: Any, name: string, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const note = ({ commandName }: CommandStartedEvent) => {
    if (commandName === name) count += 1;
  };
  client.on('commandStarted', note);
  await work();
  client.off('commandStarted', note);
  return count;
}

const OPTIONS = {
  monitorCommands: true,
  serverSelectionTimeoutMS: 3000,
};
const drivers = {
  'driver 7': () => server.connect(OPTIONS) as Any,
  'driver 6': () => new MongoClient6(server.url, OPTIONS) as Any,
};
for (const [name, connect] of Object.entries(drivers)) {
  test(`${name}: writes, reads, commits and streams are tried again, and writes done once`, async () => {
    const client = connect();
    const collection = client.db(server.database().databaseName).collection('c');
    const stream = collection.watch([], { maxAwaitTimeMS: 100 });
    assert.equal(await stream.tryNext(), null);
    for (const [_id, data] of [
      { errorCode: 10107 },
      { closeConnection: true },
      { writeConcernError: { code: 91, errmsg: 'bye', errorLabels: ['RetryableWriteError'] } },
    ].entries()) {
      await fail({ times: 1 }, { failCommands: ['insert'], ...data });
      const tries = await sent(client, 'insert', () => collection.insertOne({ _id }));
      assert.equal(tries, 2, JSON.stringify(data));
    }
    assert.equal(await collection.countDocuments(), 3);
    await fail({ times: 1 }, { failCommands: ['find'], errorCode: 91 });
    const tries = await sent(client, 'find', () => collection.findOne({ _id: 1 }));
    assert.equal(tries, 2);
    const session = client.startSession();
    await fail({ times: 1 }, { failCommands: ['commitTransaction'], errorCode: 10107 });
    const commits = await sent(client, 'commitTransaction', () =>
      session.withTransaction(() => collection.insertOne({ _id: 3 }, { session })),
    );
    assert.equal(commits, 2);
    await fail(
      { times: 1 },
      { failCommands: ['insert'], errorCode: 112, errorLabels: ['TransientTransactionError'] },
    );
    let runs = 0;
    await session.withTransaction(() => {
      runs += 1;
      return collection.insertOne({ _id: 4 }, { session });
    });
    assert.equal(runs, 2);
    await session.endSession();
    await fail({ times: 1 }, { failCommands: ['getMore'], errorCode: 189 });
    const seen: unknown[] = [];
    const opened = await sent(client, 'aggregate', async () => {
      while (seen.length < 5) {
        const event = await stream.tryNext();
        if (event) seen.push(event.documentKey._id);
      }
    });
    assert.deepEqual([opened, seen], [1, [0, 1, 2, 3, 4]]);
    await stream.close();
    await client.close();
  });
}

test('modes, labels, delays and whom it is for', async () => {
  const client = server.connect({ retryWrites: false, retryReads: false, appName: 'mine' });
  const collection = client.db(server.database().databaseName).collection<Any>('c');
  await fail('alwaysOn', { failCommands: ['insert'], errorCode: 100, appName: 'mine' });
  assert.equal(await codeOf(collection.insertOne({})), 100);
  assert.equal(await codeOf(collection.insertOne({})), 100);
  await server.client.db(collection.dbName).collection('c').insertOne({});
  const { count } = await off();
  await collection.insertOne({});
  await fail({ skip: 1 }, { failCommands: ['insert'], errorCode: 8, errorLabels: ['Mine'] });
  await collection.insertOne({});
  const error = await failureOf(collection.insertOne({}));
  assert.deepEqual([error.code, error.errorLabels], [8, ['Mine']]);
  assert.equal((await off()).count, count + 1);
  await fail({ times: 1 }, { failCommands: ['ping'], blockConnection: true, blockTimeMS: 200 });
  const began = performance.now();
  await client.db('admin').command({ ping: 1 });
  assert.ok(performance.now() - began > 190);
  const configure = (command: Any) => codeOf(admin.command(command));
  assert.equal(await configure({ configureFailPoint: 'other', mode: 'off' }), 213);
  assert.equal(await configure({ configureFailPoint: 'failCommand', mode: 'sometimes' }), 2);
  assert.equal(
    await configure({ configureFailPoint: 'failCommand', mode: 'alwaysOn', data: { x: 1 } }),
    40415,
  );
});

test('rules of the control API strike commands that they name, before or after', async () => {
  const { cosmos, mongo } = server.mayfly;
  const key = decodeURIComponent(new URL(mongo ?? '').password);
  const faults = async (method: string, rule?: Any) => {
    const headers = { authorization: `Bearer ${key}` };
    const body = rule && JSON.stringify(rule);
    const response = await fetch(`${cosmos}_mayfly/faults`, { method, headers, body });
    return { status: response.status, json: (await response.json()) as Any };
  };
  const client = server.connect({ monitorCommands: true });
  const collection = client.db(server.database().databaseName).collection<Any>('c');
  // The write is carried out, its answer is lost, and the same write is sent again.
  await faults('POST', { operation: 'insert', drop: true, when: 'after', count: 1 });
  const tries = await sent(client, 'insert', () => collection.insertOne({ _id: 1 }));
  assert.equal(tries, 2);
  await faults('POST', { operation: 'update', code: 16500, retryAfterMs: 34, count: 1 });
  const throttled = await failureOf(collection.updateOne({ _id: 1 }, { $inc: { n: 1 } }));
  assert.deepEqual([throttled.code, /RetryAfterMs=34,/.test(throttled.message)], [16500, true]);
  const rule = { resource: 'mongo', container: 'c', code: 112, errorLabels: ['X'] };
  const { json } = await faults('POST', rule);
  assert.deepEqual([json.code, json.errorLabels, json.container], [112, ['X'], 'c']);
  assert.equal(await codeOf(collection.findOne({})), 112);
  await client.db(collection.dbName).collection('other').findOne({});
  await faults('DELETE');
  // Statuses and rules that name no command are for the REST API.
  assert.equal((await faults('POST', { operation: 'find', status: 503 })).status, 400);
  assert.equal((await faults('POST', { operation: 'ReadItem', code: 1 })).status, 400);
  assert.equal(
    (await faults('POST', { database: 'x', delay: '1ms', errorLabels: [] })).status,
    400,
  );
  await faults('POST', { database: collection.dbName, drop: true });
  assert.deepEqual(await collection.findOne({}), { _id: 1 });
  await faults('DELETE');
});

test('a server that was not started for tests has no such command', async () => {
  const plain = await serveMongo();
  const command = { configureFailPoint: 'failCommand', mode: 'off' };
  const error = await failureOf(plain.client.db('admin').command(command));
  assert.deepEqual([error.code, error.message], [59, "no such command: 'configureFailPoint'"]);
});
