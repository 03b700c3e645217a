// Containers without a partition key: made by an old version of the API, used by it without keys,
// and by newer ones, which see a system key, with none, and with keys that items are given later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationInput } from '@azure/cosmos';
import {
  type Box,
  documents,
  type Headers,
  type Json,
  keyHeader,
  listOf,
  ok,
  refused,
  serve,
} from './support.suite.js';

const OLD = { 'x-ms-version': '2018-09-17' };
const SYSTEM_KEY = { paths: ['/_partitionKey'], kind: 'Hash', version: 2, systemKey: true };
const QUERY = { 'x-ms-documentdb-isquery': 'true' };
const NONE = { 'x-ms-documentdb-partitionkey': '[]' };
const server = await serve();

/** A container that was made without a key. */
const keyless = (definition: Json = {}): Promise<Box> =>
  server.box({ partitionKey: undefined, ...definition }, OLD);
const post = (box: Box, body: Json, headers: Headers = {}) =>
  server.send('POST', `${box.path}/docs`, { body, headers });
const ids = (list: readonly Json[]) => list.map(({ id }) => id).sort();

test('an old version makes it, and sees no key; a newer one sees the system key', async () => {
  const box = await keyless();
  const colls = `/dbs/${box.database}/colls`;
  const query = { body: { query: 'SELECT * FROM c' } };
  for (const [version, expected] of [
    [OLD, undefined],
    [{ 'x-ms-version': '2018-06-18' }, undefined],
    [{ 'x-ms-version': '2018-12-31' }, SYSTEM_KEY],
    [{}, SYSTEM_KEY],
  ] as const) {
    const read = ok(await server.send('GET', box.path, { headers: version }), 200);
    assert.deepEqual(read.json.partitionKey, expected);
    const list = ok(await server.send('GET', colls, { headers: version }), 200);
    const headers = { ...QUERY, ...version };
    const found = ok(await server.send('POST', colls, { ...query, headers }), 200);
    for (const reply of [list, found]) {
      assert.deepEqual(listOf(reply, 'DocumentCollections')[0]?.partitionKey, expected);
    }
  }
});

test('a newer version cannot make one, and a key is a key in every version', async () => {
  const { database } = await keyless();
  const colls = `/dbs/${database}/colls`;
  const made = await server.send('POST', colls, { body: { id: 'new' } });
  refused(made, 400, 0, "'partitionKey' is missing");
  const rich = { ...OLD, 'x-ms-offer-throughput': '10100' };
  const body = { id: 'new' };
  refused(await server.send('POST', colls, { body, headers: rich }), 400, 0, 'at most 10000');
  const whole = { id: 'keyed', partitionKey: { paths: ['/pk'] } };
  const none = { id: 'none', partitionKey: null };
  ok(await server.send('POST', colls, { body: none, headers: OLD }), 201);
  const keyed = ok(await server.send('POST', colls, { body: whole, headers: OLD }), 201);
  assert.deepEqual(keyed.json.partitionKey, { paths: ['/pk'], kind: 'Hash', version: 2 });
  const path = `${colls}/keyed/docs/1`;
  refused(await server.send('GET', path, { headers: OLD }), 400, 0, 'must be supplied');
});

test('an old version reads and writes items without keys', async () => {
  const box = await keyless({ defaultTtl: 60 });
  const path = `${box.path}/docs/1`;
  const send = (method: string, options: Json = {}) =>
    server.send(method, path, { ...options, headers: { ...OLD, ...(options.headers as Headers) } });
  ok(await post(box, { id: '1', n: 1 }, OLD), 201);
  refused(await post(box, { id: '1' }, OLD), 409, 0);
  ok(await post(box, { id: '1', n: 2 }, { ...OLD, 'x-ms-documentdb-is-upsert': 'true' }), 200);
  assert.equal(ok(await send('GET'), 200).json.n, 2);
  ok(await send('PUT', { body: { id: '1', n: 3 } }), 200);
  ok(await send('PATCH', { body: [{ op: 'incr', path: '/n', value: 1 }] }), 200);
  const query = { body: { query: 'SELECT * FROM c WHERE c.n = 4' }, headers: { ...QUERY, ...OLD } };
  const found = ok(await server.send('POST', `${box.path}/docs`, query), 200);
  assert.deepEqual(ids(documents(found)), ['1']);
  const operations = [{ operationType: 'Upsert', resourceBody: { id: '2' } }];
  for (const atomic of ['true', 'false']) {
    const batch = { 'x-ms-cosmos-is-batch-request': 'true', 'x-ms-cosmos-batch-atomic': atomic };
    const headers = { ...OLD, ...batch };
    ok(await server.send('POST', `${box.path}/docs`, { body: operations, headers }), 200);
  }
  ok(await send('DELETE'), 204);
  refused(await send('GET'), 404, 0);
  const feed = await box.list({ ...OLD, 'a-im': 'Incremental Feed' });
  assert.deepEqual(ids(documents(ok(feed, 200))), ['2']);
  server.clock.advance(60_000);
  assert.deepEqual(documents(ok(await box.list(OLD), 200)), []);
  server.clock.advance(-60_000);
});

test('the SDK works with none, and with keys that items are given later', async () => {
  const box = await keyless();
  ok(await post(box, { id: 'old' }, OLD), 201);
  const container = server.client().database(box.database).container('c');
  assert.equal((await container.item('old', undefined).read()).statusCode, 200);
  assert.equal((await container.item('old').read()).statusCode, 200);
  assert.equal((await container.items.create({ id: 'plain' })).statusCode, 201);
  assert.equal((await container.items.upsert({ id: 'plain', n: 1 })).statusCode, 200);
  const replaced = await container.item('plain').replace({ id: 'plain', n: 2 });
  assert.equal(replaced.resource?.n, 2);
  await container.items.create({ id: 'keyed', _partitionKey: 'k' });
  assert.equal((await container.item('keyed', 'k').read()).resource._partitionKey, 'k');
  assert.equal((await container.item('keyed').read()).statusCode, 404);
  const { resources } = await container.items.query('SELECT * FROM c').fetchAll();
  assert.deepEqual(ids(resources), ['keyed', 'old', 'plain']);
  const patched = await container.item('old').patch([{ op: 'set', path: '/n', value: 1 }]);
  assert.equal(patched.resource.n, 1);
  const operation: OperationInput = { operationType: 'Create', resourceBody: { id: 'bulk' } };
  const [done] = await container.items.bulk([operation]);
  assert.equal(done?.statusCode, 201);
  assert.equal((await container.item('bulk').delete()).statusCode, 204);
  const batch = await container.items.batch([{ operationType: 'Read', id: 'old' }], []);
  assert.equal(batch.code, 200, JSON.stringify(batch.result));
});

test('what was given a key is out of sight for old versions', async () => {
  const box = await keyless();
  ok(await post(box, { id: 'plain' }, OLD), 201);
  ok(await post(box, { id: 'keyed', _partitionKey: 'k' }, keyHeader('k')), 201);
  assert.deepEqual(ids(documents(ok(await box.list(OLD), 200))), ['plain']);
  assert.deepEqual(ids(documents(ok(await box.list(), 200))), ['keyed', 'plain']);
  assert.deepEqual(ids(documents(ok(await box.list(NONE), 200))), ['plain']);
  assert.deepEqual(ids(documents(ok(await box.list(keyHeader('k')), 200))), ['keyed']);
  const path = `${box.path}/docs/keyed`;
  refused(await server.send('GET', path, { headers: OLD }), 404, 0);
  const body = { query: 'SELECT VALUE COUNT(1) FROM c' };
  const count = async (headers: Headers) =>
    (await server.send('POST', `${box.path}/docs`, { body, headers: { ...QUERY, ...headers } }))
      .json.Documents;
  assert.deepEqual(await count(OLD), [1]);
  assert.deepEqual(await count({}), [2]);
  assert.deepEqual(await count({ ...NONE, 'x-ms-documentdb-partitionkeyrangeid': '0' }), [1]);
  refused(await post(box, { id: 'x', _partitionKey: 'k' }, OLD), 400, 1001);
  refused(await post(box, { id: 'x' }, keyHeader('k')), 400, 1001);
  refused(await post(box, { id: 'x', _partitionKey: null }, NONE), 400, 1001);
});

test('its definition is replaced by versions that see the key, and by those that do not', async () => {
  const box = await keyless();
  ok(await post(box, { id: '1' }, OLD), 201);
  const replace = (parts: Json, headers: Headers = {}) =>
    server.send('PUT', box.path, { body: { id: 'c', ...parts }, headers });
  assert.equal(ok(await replace({ defaultTtl: 5 }, OLD), 200).json.defaultTtl, 5);
  const seen = ok(await replace({ partitionKey: SYSTEM_KEY, defaultTtl: 6 }), 200);
  assert.deepEqual(seen.json.partitionKey, SYSTEM_KEY);
  const other = { partitionKey: { paths: ['/pk'], systemKey: false } };
  refused(await replace(other), 400, 0, 'cannot be changed');
  ok(await server.send('GET', `${box.path}/docs/1`, { headers: OLD }), 200);
});

test('tokens for it open what has no key, or the key they name', async () => {
  const box = await keyless();
  ok(await post(box, { id: '1' }, OLD), 201);
  const users = `/dbs/${box.database}/users`;
  ok(await server.send('POST', users, { body: { id: 'u' } }), 201);
  const permission = { id: 'p', permissionMode: 'Read', resource: box.path.slice(1) };
  const token = async (body: Json) =>
    encodeURIComponent(
      String(ok(await server.send('POST', `${users}/u/permissions`, { body }), 201).json._token),
    );
  const none = await token({ ...permission, resourcePartitionKey: [] });
  const keyed = await token({ ...permission, id: 'q', resourcePartitionKey: ['k'] });
  const path = `${box.path}/docs/1`;
  const read = (authorization: string, headers: Headers) =>
    server.raw('GET', path, { headers: { authorization, ...headers } });
  ok(await read(none, NONE), 200);
  ok(await read(none, {}), 200);
  ok(await read(none, OLD), 200);
  refused(await read(keyed, OLD), 403, 0);
  refused(await read(keyed, {}), 403, 0);
  refused(await read(none, keyHeader('k')), 403, 0);
});
