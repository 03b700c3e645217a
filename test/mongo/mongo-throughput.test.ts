// Request units of MongoDB commands: what they cost, and the budget they are taken from.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CosmosClient } from '@azure/cosmos';
import type { Collection } from 'mongodb';
import { type Any, failureOf, NOON, serveMongo } from './support.suite.js';

const server = await serveMongo({ throughput: 'enforce' });

async function metric(name: string, { dbName, collectionName }: Collection<Any>): Promise<number> {
  const headers = { authorization: `Bearer ${server.mayfly.key}` };
  const text = await (await fetch(`${server.mayfly.cosmos}_mayfly/metrics`, { headers })).text();
  const start = `${name}{database="${dbName}",container="${collectionName}"} `;
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(start))
      ?.slice(start.length) ?? 0,
  );
}

/** What the work costs. */
async function cost(collection: Collection<Any>, work: () => Promise<unknown>): Promise<number> {
  const before = await metric('mayfly_request_units_total', collection);
  await work();
  const after = await metric('mayfly_request_units_total', collection);
  return Math.round((after - before) * 100) / 100;
}

test('commands cost by what they do', async () => {
  const collection = server.collection();
  const insert = await cost(collection, () => collection.insertOne({ _id: 1, a: 1 }));
  assert.ok(insert >= 5 && insert < 6, String(insert));
  const find = await cost(collection, () => collection.findOne({ _id: 1 }));
  assert.ok(find >= 1 && find < 4, String(find));
  const update = await cost(collection, () => collection.updateOne({ _id: 1 }, { $set: { a: 2 } }));
  assert.ok(update > insert, String(update));
  const remove = await cost(collection, () => collection.deleteOne({ _id: 1 }));
  assert.ok(remove >= 5, String(remove));
  const many = Array.from({ length: 20 }, (_, _id) => ({ _id }));
  const bulk = await cost(collection, () => collection.insertMany(many));
  assert.ok(Math.abs(bulk - 20 * insert) < 5, String(bulk));
  const all = await cost(collection, () => collection.find().toArray());
  assert.ok(all > find && all < bulk, String(all));
});

test('beyond the budget the answer is 16500, with the time to wait, and nothing is done', async () => {
  const collection = server.collection();
  let failure: Any;
  let inserted = 0;
  for (; inserted < 200 && !failure; inserted++) {
    failure = await collection.insertOne({ _id: inserted }).then(
      () => undefined,
      (error: unknown) => error,
    );
  }
  assert.ok(inserted > 60 && inserted < 90, String(inserted));
  assert.equal(failure.code, 16500);
  assert.match(failure.errmsg, /^Error=16500, RetryAfterMs=\d+, Details='/);
  assert.equal((await failureOf(collection.findOne({}))).code, 16500);
  assert.equal((await failureOf(collection.countDocuments())).code, 16500);
  assert.ok((await metric('mayfly_throttled_requests_total', collection)) >= 3);
  server.at(1000);
  assert.equal(await collection.countDocuments(), inserted - 1);
  server.clock.set(NOON);
});

test('each collection has its own budget where its database shares none', async () => {
  const database = server.database();
  await database.collection('a').insertOne({});
  await database.collection('b').insertOne({});
  const big = { pad: 'x'.repeat(2_000_000) };
  await database.collection('a').insertOne(big);
  assert.equal((await failureOf(database.collection('a').findOne({}))).code, 16500);
  assert.ok(await database.collection('b').findOne({}));
});

async function offers(): Promise<Any[]> {
  const { cosmos: endpoint, key } = server.mayfly;
  const client = new CosmosClient({ endpoint, key });
  const { resources } = await client.offers.readAll().fetchAll();
  return resources.map((each) => each.content?.offerThroughput);
}

test('custom actions provision throughput, and change and tell it', async () => {
  const db = server.database();
  const act = (customAction: string, fields: Any = {}) => db.command({ customAction, ...fields });
  const code = async (customAction: string, fields: Any) =>
    (await failureOf(act(customAction, fields))).code;
  const told = async (customAction: string, fields: Any = {}) => {
    const { provisionedThroughput, autoScaleSettings } = await act(customAction, fields);
    return [provisionedThroughput, autoScaleSettings?.maxThroughput];
  };
  const before = (await offers()).length;
  await act('CreateCollection', { collection: 'c', offerThroughput: 1000 });
  assert.deepEqual(await told('GetCollection', { collection: 'c' }), [1000, undefined]);
  assert.deepEqual(await told('GetDatabase'), [undefined, undefined]);
  await act('UpdateCollection', { collection: 'c', offerThroughput: 2000 });
  assert.equal((await offers()).filter((each) => each === 2000).length, 1);
  const scaled = { collection: 's', shardKey: 'k', autoScaleSettings: { maxThroughput: 20_000 } };
  await act('CreateCollection', scaled);
  assert.deepEqual(await told('GetCollection', { collection: 's' }), [2000, 20_000]);
  await act('CreateCollection', { collection: 'd' });
  assert.deepEqual(await told('GetCollection', { collection: 'd' }), [400, undefined]);
  const rows: readonly (readonly [string, Any])[] = [
    ['UpdateCollection', { collection: 's', offerThroughput: 1000 }],
    ['UpdateCollection', { collection: 'c', offerThroughput: 350 }],
    ['UpdateCollection', { collection: 'c', offerThroughput: 20_000 }],
    ['UpdateDatabase', { offerThroughput: 1000 }],
    ['CreateCollection', { collection: 'x', offerThroughput: 1000, autoScaleSettings: {} }],
    ['CreateCollection', { collection: 'x', autoScaleSettings: { maxThroughput: 1 } }],
  ];
  for (const [action, fields] of rows) assert.equal(await code(action, fields), 2, action);
  // It goes with the collection, wherever that goes.
  await db.collection('c').rename('r');
  assert.deepEqual(await told('GetCollection', { collection: 'r' }), [2000, undefined]);
  await act('UpdateCollection', { collection: 'r', offerThroughput: 1500 });
  await db.collection('r').drop();
  await act('CreateCollection', { collection: 'r' });
  assert.deepEqual(await told('GetCollection', { collection: 'r' }), [400, undefined]);
  await db.dropDatabase();
  assert.equal((await offers()).length, before);
});

test('throughput of a database is shared, and what is provisioned acts', async () => {
  const db = server.database();
  const act = (customAction: string, fields: Any = {}) => db.command({ customAction, ...fields });
  await act('CreateDatabase', { autoScaleSettings: { maxThroughput: 4000 } });
  await act('UpdateDatabase', { autoScaleSettings: { maxThroughput: 8000 } });
  const { provisionedThroughput, autoScaleSettings } = await act('GetDatabase');
  assert.deepEqual([provisionedThroughput, autoScaleSettings.maxThroughput], [800, 8000]);
  await act('CreateCollection', { collection: 'shared' });
  const told = await act('GetCollection', { collection: 'shared' });
  assert.equal('provisionedThroughput' in told, false);
  const update = { collection: 'shared', offerThroughput: 1000 };
  assert.equal((await failureOf(act('UpdateCollection', update))).code, 2);
  await act('CreateCollection', { collection: 'own', offerThroughput: 1200 });
  const own = db.collection<Any>('own');
  let inserted = 0;
  const insert = () => own.insertOne({ _id: inserted }).then(() => (inserted += 1));
  await failureOf(
    (async () => {
      while (inserted < 1000) await insert();
    })(),
  );
  assert.ok(inserted > 180 && inserted < 270, String(inserted));
});
