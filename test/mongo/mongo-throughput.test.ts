// Request units of MongoDB commands: what they cost, and the budget they are taken from.
import assert from 'node:assert/strict';
import { test } from 'node:test';
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
