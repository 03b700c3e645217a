// Databases: created, read, listed page by page and deleted, over the wire and with the SDK.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Headers,
  headerOf,
  listOf,
  NOON_SECONDS,
  ok,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();

test('a new database has all system properties, and its etag is a header', async () => {
  const created = ok(await server.send('POST', '/dbs', { body: { id: 'new' } }), 201);
  const { _rid: rid, _etag: etag, ...rest } = created.json;
  assert.deepEqual(rest, {
    id: 'new',
    _self: `dbs/${String(rid)}/`,
    _colls: 'colls/',
    _users: 'users/',
    _ts: NOON_SECONDS,
  });
  assert.equal(Buffer.from(String(rid), 'base64').length, 4);
  assert.match(String(etag), /^".+"$/);
  assert.equal(created.headers.etag, etag);
  const read = ok(await server.send('GET', '/dbs/new'), 200);
  assert.deepEqual(read.json, created.json);
  assert.equal(read.headers.etag, etag);
});

test('a database is there once: the second create is a conflict', async () => {
  await create('twice');
  const again = await server.send('POST', '/dbs', { body: { id: 'twice' } });
  refused(again, 409, 0, 'already exists');
});

test('names are case-sensitive', async () => {
  await create('Case');
  await create('case');
  assert.equal(ok(await server.send('GET', '/dbs/Case'), 200).json.id, 'Case');
  refused(await server.send('GET', '/dbs/CASE'), 404, 0);
});

test('a missing database is 404 to read and to delete, and 1003 to work in', async () => {
  refused(await server.send('GET', '/dbs/missing'), 404, 0);
  refused(await server.send('DELETE', '/dbs/missing'), 404, 0);
  refused(await server.send('GET', '/dbs/missing/colls'), 404, 1003);
  const body = { id: 'c', partitionKey: { paths: ['/pk'] } };
  refused(await server.send('POST', '/dbs/missing/colls', { body }), 404, 1003);
});

test('deleting answers 204 without a body and takes everything inside along', async () => {
  const box = await server.box();
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  const self = String(ok(await server.send('GET', `/dbs/${box.database}`), 200).json._self);
  assert.ok((await offerOwners()).some((owner) => owner.startsWith(self)));
  const gone = ok(await server.send('DELETE', `/dbs/${box.database}`), 204);
  assert.equal(gone.text, '');
  refused(await server.send('GET', `/dbs/${box.database}`), 404, 0);
  refused(await box.read('1'), 404, 1003);
  await create(box.database);
  refused(await server.send('GET', box.path), 404, 0);
  assert.ok(!(await offerOwners()).some((owner) => owner.startsWith(self)));
});

test('a database created again is another one', async () => {
  const first = await create('again');
  ok(await server.send('DELETE', '/dbs/again'), 204);
  const second = await create('again');
  assert.notEqual(second._rid, first._rid);
  assert.notEqual(second._etag, first._etag);
});

test('If-None-Match with the etag answers 304 without a body, with another one 200', async () => {
  const { _etag: etag } = await create('cached');
  const read = (value: string) =>
    server.send('GET', '/dbs/cached', { headers: { 'if-none-match': value } });
  const current = ok(await read(String(etag)), 304);
  assert.equal(current.text, '');
  assert.equal(current.headers.etag, etag);
  ok(await read('"00000000-0000-0000-0000-000000000000"'), 200);
});

test('If-Match guards a delete', async () => {
  const { _etag: etag } = await create('guarded');
  const remove = (value: string) =>
    server.send('DELETE', '/dbs/guarded', { headers: { 'if-match': value } });
  refused(await remove('"other"'), 412, 0, 'precondition');
  ok(await server.send('GET', '/dbs/guarded'), 200);
  ok(await remove(String(etag)), 204);
});

test('databases cannot be replaced', async () => {
  await create('fixed');
  refused(await server.send('PUT', '/dbs/fixed', { body: { id: 'fixed' } }), 405, 0);
});

const NAMES_TAKEN = [
  'with blank inside',
  'Ünïcödé 日本 🦋',
  '%20',
  'a+b',
  "it's",
  '.',
  'n'.repeat(255),
];

for (const id of NAMES_TAKEN) {
  test(`the name '${id.slice(0, 20)}' of ${id.length} characters is taken`, async () => {
    assert.equal((await create(id)).id, id);
    const path = `/dbs/${encodeURIComponent(id)}`;
    assert.equal(ok(await server.send('GET', path), 200).json.id, id);
    const body = { id: 'c', partitionKey: { paths: ['/pk'] } };
    ok(await server.send('POST', `${path}/colls`, { body }), 201);
    const item = {
      body: { id: '1', pk: 'p' },
      headers: { 'x-ms-documentdb-partitionkey': '["p"]' },
    };
    ok(await server.send('POST', `${path}/colls/c/docs`, item), 201);
    ok(await server.send('DELETE', path), 204);
  });
}

const BODIES_REFUSED: readonly (readonly [string, unknown, string])[] = [
  ['no id', {}, "required properties - 'id; '"],
  ['an empty id', { id: '' }, "The input name '' is invalid"],
  ['an id that is no string', { id: 7 }, 'id'],
  ['a null id', { id: null }, 'id'],
  ['a slash', { id: 'a/b' }, "invalid character '/'"],
  ['a backslash', { id: 'a\\b' }, "invalid character '\\'"],
  ['a hash', { id: 'a#b' }, "invalid character '#'"],
  ['a question mark', { id: 'a?b' }, "invalid character '?'"],
  ['a blank at the end', { id: 'a ' }, "can't end with space"],
  ['256 characters', { id: 'n'.repeat(256) }, 'is invalid'],
  ['no JSON', '{"id":', 'payload is invalid'],
  ['no object', '["id"]', 'payload is invalid'],
  ['an empty body', '', 'payload is invalid'],
];

for (const [what, body, text] of BODIES_REFUSED) {
  test(`a database with ${what} is refused`, async () => {
    refused(await server.send('POST', '/dbs', { body }), 400, 0, text);
  });
}

test('lists come page by page, and a continuation works for another client', async () => {
  const ids = ['page-a', 'page-b', 'page-c', 'page-d', 'page-e'];
  for (const id of ids) await create(id);
  const seen: string[] = [];
  let headers: Headers = { 'x-ms-max-item-count': '2' };
  for (let pages = 0; pages < 100; pages++) {
    const page = ok(await server.send('GET', '/dbs', { headers }), 200);
    assert.equal(page.json._rid, '');
    const databases = listOf(page, 'Databases');
    assert.equal(page.headers['x-ms-item-count'], String(databases.length));
    seen.push(...databases.map(({ id }) => String(id)));
    const next = headerOf(page, 'x-ms-continuation');
    if (next === undefined) break;
    assert.equal(databases.length, 2);
    headers = { ...headers, 'x-ms-continuation': next };
  }
  assert.equal(new Set(seen).size, seen.length);
  assert.deepEqual(
    seen.filter((id) => id.startsWith('page-')),
    ids,
  );
  const all = listOf(ok(await server.send('GET', '/dbs'), 200), 'Databases');
  assert.deepEqual(
    all.map(({ id }) => id),
    seen,
  );
});

test('page sizes that are none and continuations that are junk are refused', async () => {
  const list = (headers: Headers) => server.send('GET', '/dbs', { headers });
  for (const size of ['0', '-2', '1.5', 'ten', '2147483648']) {
    refused(await list({ 'x-ms-max-item-count': size }), 400, 0, `PageSize ${size} is invalid`);
  }
  ok(await list({ 'x-ms-max-item-count': '-1' }), 200);
  for (const token of ['junk', 'AAAA', '{"token":1}']) {
    refused(await list({ 'x-ms-continuation': token }), 400, 0, 'Invalid Continuation Token');
  }
});

test('SDK: create, createIfNotExists, read, readAll and delete', async () => {
  const created = await client.databases.create({ id: 'sdk' });
  assert.equal(created.statusCode, 201);
  assert.ok(created.requestCharge > 0);
  assert.equal((await client.databases.createIfNotExists({ id: 'sdk' })).statusCode, 200);
  assert.equal((await client.databases.createIfNotExists({ id: 'sdk-2' })).statusCode, 201);
  const read = await client.database('sdk').read();
  assert.equal(read.statusCode, 200);
  assert.deepEqual(read.resource, created.resource);
  assert.equal(read.etag, created.resource?._etag);
  const { resources } = await client.databases.readAll({ maxItemCount: 1 }).fetchAll();
  const ids = resources.map(({ id }) => id);
  assert.ok(ids.includes('sdk') && ids.includes('sdk-2'));
  assert.equal(new Set(ids).size, ids.length);
  assert.equal((await client.database('sdk').delete()).statusCode, 204);
  await assert.rejects(client.database('sdk').read(), { code: 404 });
  await assert.rejects(client.database('sdk').delete(), { code: 404 });
});

test('SDK: a conflict and a failed precondition are errors with their codes', async () => {
  const { resource } = await client.databases.create({ id: 'sdk-guarded' });
  await assert.rejects(client.databases.create({ id: 'sdk-guarded' }), { code: 409 });
  const wrong = { accessCondition: { type: 'IfMatch', condition: '"other"' } } as const;
  await assert.rejects(client.database('sdk-guarded').delete(wrong), { code: 412 });
  const right = { type: 'IfMatch', condition: resource?._etag ?? '' } as const;
  const gone = await client.database('sdk-guarded').delete({ accessCondition: right });
  assert.equal(gone.statusCode, 204);
});

test('SDK: one page at a time with a continuation token', async () => {
  await client.databases.createIfNotExists({ id: 'token-1' });
  await client.databases.createIfNotExists({ id: 'token-2' });
  const first = await client.databases.readAll({ maxItemCount: 1 }).fetchNext();
  assert.equal(first.resources.length, 1);
  assert.ok(first.hasMoreResults);
  const { continuationToken } = first;
  const rest = await server.client().databases.readAll({ continuationToken }).fetchAll();
  const seen = [...first.resources, ...rest.resources].map(({ id }) => id);
  const all = await client.databases.readAll().fetchAll();
  assert.deepEqual(
    seen,
    all.resources.map(({ id }) => id),
  );
});

async function create(id: string) {
  return ok(await server.send('POST', '/dbs', { body: { id } }), 201).json;
}

async function offerOwners(): Promise<readonly string[]> {
  const headers = { 'x-ms-max-item-count': '-1' };
  const offers = listOf(ok(await server.send('GET', '/offers', { headers }), 200), 'Offers');
  return offers.map(({ resource }) => String(resource));
}
