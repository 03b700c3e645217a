// Paths of resource ids instead of names, signed over the last id alone in lower case.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  type Box,
  documents,
  type Json,
  keyHeader,
  listOf,
  ok,
  type Reply,
  refused,
  type SendOptions,
  serve,
} from './support.suite.js';

const server = await serve();
let box: Box;
let database: Json;
let container: Json;
let item: Json;

before(async () => {
  box = await server.box();
  database = ok(await server.send('GET', `/dbs/${box.database}`), 200).json;
  container = ok(await server.send('GET', box.path), 200).json;
  item = ok(await box.create({ id: 'one', pk: 'p', n: 1 }), 201).json;
});

test('a database is read by its rid', async () => {
  assert.deepEqual(ok(await byRid('GET', [database]), 200).json, database);
});

test('a container is read by its rid, and listed below the rid of its database', async () => {
  assert.deepEqual(ok(await byRid('GET', [database, container]), 200).json, container);
  const list = listOf(ok(await byRid('GET', [database], 'colls'), 200), 'DocumentCollections');
  assert.deepEqual(list, [container]);
});

test('_self is such a path', async () => {
  for (const resource of [database, container]) {
    const options = { link: String(resource._rid).toLowerCase() };
    const reply = await server.send('GET', `/${String(resource._self)}`, options);
    assert.deepEqual(ok(reply, 200).json, resource);
  }
  const options = { link: String(item._rid).toLowerCase(), headers: keyHeader('p') };
  const reply = await server.send('GET', `/${String(item._self)}`, options);
  assert.deepEqual(ok(reply, 200).json, item);
});

test('ranges are listed by rid', async () => {
  const byName = ok(await server.send('GET', `${box.path}/pkranges`), 200);
  const reply = ok(await byRid('GET', [database, container], 'pkranges'), 200);
  assert.deepEqual(reply.json, byName.json);
});

test('an offer is read by its rid', async () => {
  const list = listOf(ok(await server.send('GET', '/offers'), 200), 'Offers');
  const offer = list.find(({ resource }) => resource === container._self);
  const id = String(offer?._rid);
  const reply = await server.send('GET', `/offers/${id}`, { link: id.toLowerCase() });
  assert.deepEqual(ok(reply, 200).json, offer);
});

test('an item is read, listed and found unchanged by rid', async () => {
  const key = { headers: keyHeader('p') };
  const read = ok(await byRid('GET', [database, container, item], undefined, key), 200);
  assert.deepEqual(read.json, item);
  assert.equal(read.headers['x-ms-alt-content-path'], `dbs/${box.database}/colls/c`);
  const list = documents(ok(await byRid('GET', [database, container], 'docs'), 200));
  assert.ok(list.some(({ _rid }) => _rid === item._rid));
  const headers = { ...keyHeader('p'), 'if-none-match': String(item._etag) };
  ok(await byRid('GET', [database, container, item], undefined, { headers }), 304);
});

test('items are created, upserted, replaced and deleted by rid', async () => {
  const headers = keyHeader('w');
  const first = { id: 'written', pk: 'w', n: 1 };
  const path = [database, container];
  const created = ok(await byRid('POST', path, 'docs', { body: first, headers }), 201).json;
  refused(await byRid('POST', path, 'docs', { body: first, headers }), 409, 0);
  const upsert = { ...headers, 'x-ms-documentdb-is-upsert': 'true' };
  const second = { ...first, n: 2 };
  ok(await byRid('POST', path, 'docs', { body: second, headers: upsert }), 200);
  const one = [...path, created];
  const third = { ...first, n: 3 };
  const replaced = ok(await byRid('PUT', one, undefined, { body: third, headers }), 200).json;
  assert.equal(replaced._rid, created._rid);
  assert.equal(ok(await box.read('written', 'w'), 200).json.n, 3);
  const other = { ...third, id: 'other' };
  refused(await byRid('PUT', one, undefined, { body: other, headers }), 400, 0);
  ok(await byRid('DELETE', one, undefined, { headers }), 204);
  refused(await byRid('GET', one, undefined, { headers }), 404, 0);
  refused(await byRid('DELETE', one, undefined, { headers }), 404, 0);
  refused(await byRid('PUT', one, undefined, { body: third, headers }), 404, 0);
});

test('the rid of a recreated item leads to the new one alone', async () => {
  const headers = keyHeader('r');
  const old = ok(await box.create({ id: 'again', pk: 'r' }), 201).json;
  ok(await box.remove('again', 'r'), 204);
  const fresh = ok(await box.create({ id: 'again', pk: 'r' }), 201).json;
  assert.notEqual(fresh._rid, old._rid);
  refused(await byRid('GET', [database, container, old], undefined, { headers }), 404, 0);
  ok(await byRid('GET', [database, container, fresh], undefined, { headers }), 200);
});

test('T10: an expired item is not found by its rid either', async () => {
  const other = await server.box({ defaultTtl: 10 });
  const dying = ok(await other.create({ id: '1', pk: 'p' }), 201).json;
  const link = String(dying._rid).toLowerCase();
  const options = { link, headers: keyHeader('p') };
  const path = `/${String(dying._self)}`;
  ok(await server.send('GET', path, options), 200);
  server.clock.advance(10_000);
  refused(await server.send('GET', path, options), 404, 0);
  refused(await server.send('DELETE', path, options), 404, 0);
  const body = { id: '1', pk: 'p' };
  refused(await server.send('PUT', path, { ...options, body }), 404, 0);
});

test('a container is replaced by rid, and its items follow the new time to live', async () => {
  const other = await server.box();
  const path = [await self(`/dbs/${other.database}`), await self(other.path)];
  const body = { ...other.definition, defaultTtl: 5 };
  assert.equal(ok(await byRid('PUT', path, undefined, { body }), 200).json.defaultTtl, 5);
  ok(await byRid('DELETE', path), 204);
  refused(await byRid('GET', path), 404, 0);
});

test('an item of another container or another type is not found', async () => {
  const other = await server.box();
  const foreign = ok(await other.create({ id: 'one', pk: 'p' }), 201).json;
  const headers = keyHeader('p');
  refused(await byRid('GET', [database, container, foreign], undefined, { headers }), 404, 0);
  const [range] = listOf(
    ok(await server.send('GET', `${box.path}/pkranges`), 200),
    'PartitionKeyRanges',
  );
  const read = await byRid('GET', [database, container, range ?? {}], undefined, { headers });
  assert.ok(read.status === 404 || read.status === 400, read.text);
});

test('an item is found with the partition key it has, and with no other', async () => {
  const path = [database, container, item];
  const headers = keyHeader('q');
  ok(await box.create({ id: 'one', pk: 'q', other: true }), 201);
  refused(await byRid('GET', path, undefined, { headers }), 404, 0);
  const body = { id: 'one', pk: 'q', stolen: true };
  refused(await byRid('PUT', path, undefined, { body, headers }), 404, 0);
  refused(await byRid('DELETE', path, undefined, { headers }), 404, 0);
  refused(await byRid('GET', path), 400, 0, 'PartitionKey value must be supplied');
  assert.equal(ok(await box.read('one', 'q'), 200).json.other, true);
  ok(await box.remove('one', 'q'), 204);
});

test('a container of another database is not found', async () => {
  const other = await server.box();
  refused(await byRid('GET', [database, await self(other.path)]), 404, 0);
});

test('a rid that is none is refused below a database that was found by its rid', async () => {
  const reply = await byRid('GET', [database, { _rid: 'no-rid' }]);
  refused(reply, 400, 0, "Failed to parse the value 'no-rid' as ResourceId.");
  const headers = keyHeader('p');
  const path = [database, container, { _rid: 'one' }];
  const byName = await byRid('GET', path, undefined, { headers });
  refused(byName, 400, 0, "Failed to parse the value 'one' as ResourceId.");
});

test('a wrong signature over a rid is refused', async () => {
  const key = Buffer.alloc(64, 7).toString('base64');
  refused(await byRid('GET', [database], undefined, { key }), 401, 0);
  const link = String(container._rid).toLowerCase();
  refused(await server.send('GET', `/dbs/${String(database._rid)}`, { link }), 401, 0);
});

/** The path of the rids of these resources, each in the next, and then a feed or nothing. */
function byRid(
  method: string,
  resources: readonly Json[],
  feed?: string,
  options: SendOptions = {},
): Promise<Reply> {
  const kinds = ['dbs', 'colls', 'docs'];
  const segments = resources.map(({ _rid }, index) => `${kinds[index]}/${String(_rid)}`);
  const path = `/${[...segments, ...(feed ? [feed] : [])].join('/')}`;
  const link = String(resources.at(-1)?._rid).toLowerCase();
  return server.send(method, path, { link, ...options });
}

async function self(path: string): Promise<Json> {
  return ok(await server.send('GET', path), 200).json;
}
