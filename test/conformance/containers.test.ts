// Containers: created, read, replaced, listed and deleted, over the wire and with the SDK. What
// their policies may say is in container-policies.test.ts.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  documents,
  type Headers,
  headerOf,
  type Json,
  listOf,
  NOON_SECONDS,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
const COLLS = '/dbs/d/colls';
const KEY = { paths: ['/pk'], kind: 'Hash', version: 2 };

before(async () => {
  ok(await server.send('POST', '/dbs', { body: { id: 'd' } }), 201);
});

test('a new container has its definition, the defaults and all system properties', async () => {
  const created = ok(await create({ id: 'new', partitionKey: { paths: ['/pk'] } }), 201);
  const { _rid: rid, _etag: etag, _self: self, ...rest } = created.json;
  assert.deepEqual(rest, {
    id: 'new',
    partitionKey: KEY,
    indexingPolicy: {
      indexingMode: 'consistent',
      automatic: true,
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/"_etag"/?' }],
    },
    conflictResolutionPolicy: {
      mode: 'LastWriterWins',
      conflictResolutionPath: '/_ts',
      conflictResolutionProcedure: '',
    },
    geospatialConfig: { type: 'Geography' },
    _ts: NOON_SECONDS,
    _docs: 'docs/',
    _sprocs: 'sprocs/',
    _triggers: 'triggers/',
    _udfs: 'udfs/',
    _conflicts: 'conflicts/',
  });
  assert.equal(created.headers.etag, etag);
  const database = ok(await server.send('GET', '/dbs/d'), 200).json;
  assert.equal(self, `dbs/${String(database._rid)}/colls/${String(rid)}/`);
  assert.equal(created.headers['x-ms-content-path'], database._rid);
  assert.equal(created.headers['x-ms-alt-content-path'], 'dbs/d');
  const bytes = Buffer.from(String(rid), 'base64');
  assert.equal(bytes.length, 8);
  assert.deepEqual(bytes.subarray(0, 4), Buffer.from(String(database._rid), 'base64'));
  assert.equal((bytes[4] ?? 0) & 0x80, 0x80);
  assert.deepEqual(ok(await server.send('GET', `${COLLS}/new`), 200).json, created.json);
});

test('a container is there once: the second create is a conflict', async () => {
  ok(await create({ id: 'twice', partitionKey: KEY }), 201);
  refused(await create({ id: 'twice', partitionKey: KEY }), 409, 0, 'already exists');
});

test('a missing container is 404 to read, replace and delete, and 1003 to work in', async () => {
  refused(await server.send('GET', `${COLLS}/missing`), 404, 0);
  const body = { id: 'missing', partitionKey: KEY };
  refused(await server.send('PUT', `${COLLS}/missing`, { body }), 404, 0);
  refused(await server.send('DELETE', `${COLLS}/missing`), 404, 0);
  for (const feed of ['docs', 'pkranges', 'conflicts']) {
    refused(await server.send('GET', `${COLLS}/missing/${feed}`), 404, 1003);
  }
  refused(await server.send('GET', `${COLLS}/missing/docs/1`), 404, 1003);
});

test('deleting answers 204 without a body; what was in it does not come back', async () => {
  const box = await server.box();
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  const rid = ok(await server.send('GET', box.path), 200).json._rid;
  assert.equal(ok(await server.send('DELETE', box.path), 204).text, '');
  refused(await server.send('GET', box.path), 404, 0);
  refused(await box.read('1'), 404, 1003);
  const again = await server.send('POST', `/dbs/${box.database}/colls`, { body: box.definition });
  assert.notEqual(ok(again, 201).json._rid, rid);
  refused(await box.read('1'), 404, 0);
  assert.deepEqual(documents(await box.list()), []);
});

test('a replaced container keeps its _rid and has a new etag and time', async () => {
  const before = ok(await create({ id: 'replaced', partitionKey: KEY }), 201).json;
  server.clock.advance(5000);
  const after = ok(await replace('replaced', { defaultTtl: 60 }), 200);
  assert.equal(after.json.defaultTtl, 60);
  assert.equal(after.json._rid, before._rid);
  assert.equal(after.json._ts, Number(before._ts) + 5);
  assert.notEqual(after.json._etag, before._etag);
  assert.equal(after.headers.etag, after.json._etag);
  assert.deepEqual(ok(await server.send('GET', `${COLLS}/replaced`), 200).json, after.json);
});

test('a replacement may send back what was read, system properties and all', async () => {
  const before = ok(await create({ id: 'sent-back', partitionKey: KEY, defaultTtl: 9 }), 201).json;
  const { _etag: oldEtag, ...old } = before;
  const { _etag: newEtag, ...fresh } = ok(await replace('sent-back', before), 200).json;
  assert.deepEqual(fresh, old);
  assert.notEqual(newEtag, oldEtag);
});

const CHANGES_REFUSED: readonly (readonly [string, Json, string])[] = [
  ['another id', { id: 'other' }, 'id'],
  ['no id', { id: undefined }, 'id'],
  ['no partition key', { partitionKey: undefined }, 'partitionKey'],
  ['another path', { partitionKey: { ...KEY, paths: ['/other'] } }, 'partition key cannot be'],
  ['another version', { partitionKey: { ...KEY, version: 1 } }, 'partition key cannot be'],
  ['a hierarchy', { partitionKey: { ...KEY, kind: 'MultiHash' } }, 'partition key cannot be'],
  ['a unique key', { uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/a'] }] } }, 'unique index cannot'],
  ['another conflict mode', { conflictResolutionPolicy: { mode: 'Custom' } }, 'cannot be changed'],
];

for (const [what, changes, text] of CHANGES_REFUSED) {
  test(`a replacement with ${what} is refused and changes nothing`, async () => {
    const id = `kept ${what}`;
    const path = `${COLLS}/${encodeURIComponent(id)}`;
    const before = ok(await create({ id, partitionKey: KEY }), 201).json;
    const body = { id, partitionKey: KEY, defaultTtl: 5, ...changes };
    refused(await server.send('PUT', path, { body }), 400, 0, text);
    assert.deepEqual(ok(await server.send('GET', path), 200).json, before);
  });
}

test('If-None-Match with the etag answers 304 without a body', async () => {
  const { _etag: etag } = ok(await create({ id: 'cached', partitionKey: KEY }), 201).json;
  const read = (value: string) =>
    server.send('GET', `${COLLS}/cached`, { headers: { 'if-none-match': value } });
  const current = ok(await read(String(etag)), 304);
  assert.equal(current.text, '');
  assert.equal(current.headers.etag, etag);
  ok(await replace('cached', {}), 200);
  ok(await read(String(etag)), 200);
});

test('If-Match guards replace and delete', async () => {
  const { _etag: first } = ok(await create({ id: 'guarded', partitionKey: KEY }), 201).json;
  const ifMatch = (etag: unknown): Headers => ({ 'if-match': String(etag) });
  const second = ok(await replace('guarded', { defaultTtl: 1 }, ifMatch(first)), 200).json._etag;
  refused(await replace('guarded', { defaultTtl: 2 }, ifMatch(first)), 412, 0, 'precondition');
  assert.equal(ok(await server.send('GET', `${COLLS}/guarded`), 200).json.defaultTtl, 1);
  ok(await replace('guarded', { defaultTtl: 3 }, ifMatch('*')), 200);
  const remove = (etag: unknown) =>
    server.send('DELETE', `${COLLS}/guarded`, { headers: ifMatch(etag) });
  refused(await remove(second), 412, 0, 'precondition');
  const { _etag: third } = ok(await server.send('GET', `${COLLS}/guarded`), 200).json;
  ok(await remove(third), 204);
});

test('lists are limited to the database and come page by page', async () => {
  const box = await server.box();
  const colls = `/dbs/${box.database}/colls`;
  for (const id of ['c2', 'c3', 'c4', 'c5']) {
    ok(await server.send('POST', colls, { body: { id, partitionKey: KEY } }), 201);
  }
  const rid = ok(await server.send('GET', `/dbs/${box.database}`), 200).json._rid;
  const list = (headers: Headers) => server.send('GET', colls, { headers });
  const first = ok(await list({ 'x-ms-max-item-count': '3' }), 200);
  assert.equal(first.json._rid, rid);
  assert.equal(first.headers['x-ms-item-count'], '3');
  const token = headerOf(first, 'x-ms-continuation');
  assert.ok(token);
  const second = ok(await list({ 'x-ms-continuation': token }), 200);
  assert.equal(headerOf(second, 'x-ms-continuation'), undefined);
  const ids = [first, second].flatMap((page) => listOf(page, 'DocumentCollections'));
  assert.deepEqual(
    ids.map(({ id }) => id),
    ['c', 'c2', 'c3', 'c4', 'c5'],
  );
  refused(await list({ 'x-ms-continuation': 'junk' }), 400, 0, 'Invalid Continuation Token');
  const foreign = { 'x-ms-continuation': token };
  refused(await server.send('GET', '/dbs', { headers: foreign }), 400, 0, 'Continuation');
});

test('a read tells quota, usage and that no index is being built', async () => {
  const box = await server.box();
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  const plain = ok(await server.send('GET', box.path), 200);
  assert.equal(plain.headers['x-ms-documentdb-collection-index-transformation-progress'], '100');
  assert.equal(plain.headers['x-ms-resource-quota'], undefined);
  const headers = { 'x-ms-documentdb-populatequotainfo': 'True' };
  const full = ok(await server.send('GET', box.path, { headers }), 200);
  assert.match(String(full.headers['x-ms-resource-quota']), /collectionSize=10485760;/);
  assert.match(String(full.headers['x-ms-resource-usage']), /documentsCount=1;/);
  assert.equal(full.headers['x-ms-documentdb-collection-lazy-indexing-progress'], undefined);
});

test('mode none tells the progress of its index too', async () => {
  const box = await server.box({ indexingPolicy: { indexingMode: 'none' } });
  const headers = { 'x-ms-documentdb-populatequotainfo': 'true' };
  const reply = ok(await server.send('GET', box.path, { headers }), 200);
  assert.ok(reply.headers['x-ms-documentdb-collection-index-transformation-progress']);
});

test('a flag that is neither true nor false is refused', async () => {
  const box = await server.box();
  const headers = { 'x-ms-documentdb-populatequotainfo': 'perhaps' };
  const reply = await server.send('GET', box.path, { headers });
  refused(reply, 400, 0, "'perhaps' specified for the header 'x-ms-documentdb-populatequotainfo'");
});

test('there are no conflicts in one region: the feed is empty', async () => {
  const box = await server.box();
  const reply = ok(await server.send('GET', `${box.path}/conflicts`), 200);
  assert.deepEqual(listOf(reply, 'Conflicts'), []);
});

const NAMES_REFUSED: readonly (readonly [string, string])[] = [
  ['', 'is invalid'],
  ['a/b', "invalid character '/'"],
  ['a\\b', "invalid character '\\'"],
  ['a#b', "invalid character '#'"],
  ['a?b', "invalid character '?'"],
  ['a ', "can't end with space"],
  ['n'.repeat(256), 'is invalid'],
];

for (const [id, text] of NAMES_REFUSED) {
  test(`the name '${id.slice(0, 5)}' of ${id.length} characters is refused`, async () => {
    refused(await create({ id, partitionKey: KEY }), 400, 0, text);
  });
}

test('SDK: create, createIfNotExists, read, replace, readAll and delete', async () => {
  const { database } = await client.databases.create({ id: 'sdk' });
  const created = await database.containers.create({
    id: 'c',
    partitionKey: '/pk',
    defaultTtl: -1,
  });
  assert.equal(created.statusCode, 201);
  assert.deepEqual(created.resource?.partitionKey, KEY);
  assert.equal(created.resource?.defaultTtl, -1);
  assert.equal((await database.containers.createIfNotExists({ id: 'c' })).statusCode, 200);
  assert.equal((await database.containers.createIfNotExists({ id: 'c2' })).statusCode, 201);
  const { container } = created;
  const read = await container.read();
  assert.deepEqual(read.resource, created.resource);
  const partitionKey = { paths: ['/pk'] };
  const replaced = await container.replace({ id: 'c', partitionKey, defaultTtl: 7 });
  assert.equal(replaced.statusCode, 200);
  assert.equal(replaced.resource?.defaultTtl, 7);
  const { resources } = await database.containers.readAll({ maxItemCount: 1 }).fetchAll();
  assert.deepEqual(
    resources.map(({ id }) => id),
    ['c', 'c2'],
  );
  await assert.rejects(database.containers.create({ id: 'c' }), { code: 409 });
  const wrong = { accessCondition: { type: 'IfMatch', condition: '"other"' } } as const;
  await assert.rejects(container.delete(wrong), { code: 412 });
  assert.equal((await container.delete()).statusCode, 204);
  await assert.rejects(container.read(), { code: 404 });
  await assert.rejects(container.replace({ id: 'c', partitionKey }), { code: 404 });
});

test('SDK: the partition key definition and the quota headers', async () => {
  const { database } = await client.databases.create({ id: 'sdk-key' });
  const { container } = await database.containers.create({ id: 'c', partitionKey: '/a/b' });
  const { resource } = await container.read();
  assert.deepEqual(resource?.partitionKey, { ...KEY, paths: ['/a/b'] });
  const { headers } = await container.read({ populateQuotaInfo: true });
  assert.match(headers['x-ms-resource-quota'] as string, /collectionSize=10485760/);
});

function create(body: Json): Promise<Reply> {
  return server.send('POST', COLLS, { body });
}

function replace(id: string, changes: Json, headers: Headers = {}): Promise<Reply> {
  const body = { id, partitionKey: KEY, ...changes };
  return server.send('PUT', `${COLLS}/${id}`, { body, headers });
}
