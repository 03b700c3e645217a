// Users and permissions through the SDK and over the wire: create, read, list, query, replace,
// upsert, delete, and all the ways to get a permission wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermissionMode } from '@azure/cosmos';
import { type Json, listOf, NOON_SECONDS, ok, refused, serve } from './support.suite.js';

const server = await serve();
const client = server.client();
const box = await server.box();
const database = client.database(box.database);
const users = `/dbs/${box.database}/users`;
const resource = box.path.slice(1);

test('users come, are renamed with their permissions, and go', async () => {
  const { resource: made, statusCode } = await database.users.create({ id: 'Ann' });
  assert.equal(statusCode, 201);
  assert.deepEqual(Object.keys(made ?? {}).sort(), [
    ...['_etag', '_permissions', '_rid', '_self', '_ts', 'id'],
  ]);
  assert.equal((made as unknown as Json)._ts, NOON_SECONDS);
  const permission = { id: 'p', permissionMode: PermissionMode.Read, resource };
  await database.user('Ann').permissions.create(permission);
  await assert.rejects(() => database.users.create({ id: 'Ann' }), { code: 409 });
  const { resource: renamed } = await database.user('Ann').replace({ id: 'Bea' });
  assert.equal((renamed as unknown as Json)._rid, (made as unknown as Json)._rid);
  await assert.rejects(() => database.user('Ann').read(), { code: 404 });
  const { resource: kept } = await database.user('Bea').permission('p').read();
  assert.equal(kept?.resource, resource);
  const { statusCode: upserted } = await database.users.upsert({ id: 'Bea' });
  assert.equal(upserted, 200);
  const { resources } = await database.users.readAll().fetchAll();
  assert.deepEqual(
    resources.map(({ id }) => id),
    ['Bea'],
  );
  assert.equal((await database.user('Bea').delete()).statusCode, 204);
  await assert.rejects(() => database.user('Bea').permission('p').read(), { code: 404 });
});

test('users and permissions are queried and listed in pages', async () => {
  for (const id of ['q1', 'q2', 'q3']) await database.users.create({ id });
  const query = "SELECT VALUE u.id FROM u WHERE STARTSWITH(u.id, 'q') ORDER BY u.id DESC";
  const { resources } = await database.users.query({ query }).fetchAll();
  assert.deepEqual(resources, ['q3', 'q2', 'q1']);
  const { permissions } = database.user('q1');
  for (const key of ['a', 'b', 'c']) {
    await permissions.create({
      id: key,
      permissionMode: PermissionMode.All,
      resource,
      resourcePartitionKey: [key],
    });
  }
  const bigger = { query: 'SELECT p.id, p._token FROM p WHERE p.id > "a"' };
  const found = await permissions.query(bigger).fetchAll();
  assert.deepEqual(
    found.resources.map(({ id }) => id),
    ['b', 'c'],
  );
  for (const { _token: token } of found.resources) assert.match(token, /^type=resource&ver=1&sig=/);
  const pages: string[][] = [];
  const all = permissions.readAll({ maxItemCount: 2 });
  while (all.hasMoreResults()) {
    const { resources: page } = await all.fetchNext();
    pages.push((page ?? []).map(({ id }) => id));
  }
  assert.deepEqual(pages, [['a', 'b'], ['c']]);
});

test('a permission is shown as it was written, with a token', async () => {
  ok(await server.send('POST', users, { body: { id: 'shown' } }), 201);
  const path = `${users}/shown/permissions`;
  const body = { id: 'p', permissionMode: 'all', resource, resourcePartitionKey: ['x'] };
  const made = ok(await server.send('POST', path, { body }), 201);
  assert.equal(made.json.permissionMode, 'All');
  assert.deepEqual(made.json.resourcePartitionKey, ['x']);
  assert.equal(made.headers.etag, made.json._etag);
  const { json: user } = ok(await server.send('GET', `${users}/shown`), 200);
  assert.match(String(made.json._self), /^dbs\/[^/]+\/users\/[^/]+\/permissions\/[^/]+\/$/);
  assert.ok(String(made.json._self).startsWith(`${user._self}permissions/`));
  const list = ok(await server.send('GET', path), 200);
  assert.equal(list.json._rid, user._rid);
  assert.equal(listOf(list, 'Permissions').length, 1);
  const current = await server.send('GET', `${path}/p`, {
    headers: { 'if-none-match': String(made.json._etag) },
  });
  assert.equal(current.status, 304);
  const stale = { 'if-match': '"else"' };
  refused(await server.send('PUT', `${path}/p`, { body, headers: stale }), 412, 0);
  refused(await server.send('DELETE', `${path}/p`, { headers: stale }), 412, 0);
  const upsert = { 'x-ms-documentdb-is-upsert': 'true' };
  ok(await server.send('POST', path, { body, headers: upsert }), 200);
  ok(await server.send('DELETE', `${path}/p`), 204);
  refused(await server.send('DELETE', `${path}/p`), 404, 0);
});

test('users and permissions are found by resource ids', async () => {
  ok(await server.send('POST', users, { body: { id: 'numbered' } }), 201);
  const body = { id: 'p', permissionMode: 'Read', resource };
  const path = `${users}/numbered/permissions`;
  const { json: permission } = ok(await server.send('POST', path, { body }), 201);
  const self = String(permission._self).replace(/\/$/, '');
  const rid = String(permission._rid).toLowerCase();
  const found = await server.send('GET', `/${self}`, { link: rid });
  assert.equal(ok(found, 200).json.id, 'p');
  const feed = self.slice(0, self.lastIndexOf('/'));
  const userRid = String(feed.split('/')[3]);
  const listed = await server.send('GET', `/${feed}`, { link: userRid.toLowerCase() });
  assert.equal(listOf(ok(listed, 200), 'Permissions').length, 1);
  const wrong = `${feed.split('/').slice(0, 3).join('/')}/!!`;
  refused(await server.send('GET', `/${wrong}`, { link: '!!' }), 400, 0, "value '!!'");
});

test('a permission is for something, and once', async () => {
  ok(await server.send('POST', users, { body: { id: 'once' } }), 201);
  const path = `${users}/once/permissions`;
  const whole = { id: 'p', permissionMode: 'Read', resource };
  ok(await server.send('POST', path, { body: whole }), 201);
  const again = (changes: Json) => server.send('POST', path, { body: { ...whole, ...changes } });
  refused(await again({}), 409, 0);
  refused(await again({ id: 'q', permissionMode: 'All' }), 409, 0);
  ok(await again({ id: 'q', resourcePartitionKey: ['x'] }), 201);
  refused(await again({ id: 'r', resourcePartitionKey: ['x'] }), 409, 0);
  const renamed = { ...whole, id: 'q' };
  refused(await server.send('PUT', `${path}/p`, { body: renamed }), 409, 0);
  ok(await server.send('PUT', `${path}/p`, { body: { ...whole, id: 's' } }), 200);
  refused(await server.send('GET', `${path}/p`), 404, 0);
});

const BAD: readonly (readonly [string, Json, number, string])[] = [
  ['no id', { id: undefined }, 400, "'id; '"],
  ['no mode', { permissionMode: undefined }, 400, "'permissionMode; '"],
  ['a mode of its own', { permissionMode: 'Write' }, 400, 'must be Read or All, not "Write"'],
  ['a number for a mode', { permissionMode: 1 }, 400, 'must be Read or All, not 1'],
  ['no resource', { resource: undefined }, 400, "'resource; '"],
  ['a resource that is no text', { resource: {} }, 400, 'must be dbs/{db}/colls/{coll}'],
  ['a database', { resource: `dbs/${box.database}` }, 400, 'must be dbs/{db}/colls/{coll}'],
  ['a feed', { resource: `${resource}/docs` }, 400, 'must be dbs/{db}/colls/{coll}'],
  ['ranges', { resource: `${resource}/pkranges/0` }, 400, 'must be dbs/{db}/colls/{coll}'],
  ['a missing container', { resource: `${resource}x` }, 404, 'there is no'],
  ['another database', { resource: 'dbs/else/colls/c' }, 404, "there is no 'dbs/else/colls/c'"],
  ['a key of a wrong type', { resourcePartitionKey: 5 }, 400, 'must be an array, not 5'],
  ['a key that is too long', { resourcePartitionKey: ['a', 'b'] }, 400, 'more components'],
  ['a key that is too short', { resourcePartitionKey: [] }, 400, 'fewer components'],
  ['a key of objects', { resourcePartitionKey: [{ a: 1 }] }, 400, 'Unsupported PartitionKey'],
  [
    'a key for a function',
    { resource: `${resource}/udfs/f`, resourcePartitionKey: ['a'] },
    400,
    'has no meaning for udfs',
  ],
  ['what has no effect', { expires: 5 }, 400, "'expires' is not a property of a permission"],
];

for (const [what, changes, status, text] of BAD) {
  test(`a permission is refused for ${what}`, async () => {
    const upsert = { 'x-ms-documentdb-is-upsert': 'true' };
    await server.send('POST', users, { body: { id: 'bad' }, headers: upsert });
    const body = { id: 'p', permissionMode: 'Read', resource, ...changes };
    refused(await server.send('POST', `${users}/bad/permissions`, { body }), status, 0, text);
  });
}

test('names may be written as in URLs, and a name as it is comes first', async () => {
  ok(await server.send('POST', users, { body: { id: 'urls' } }), 201);
  const colls = `/dbs/${box.database}/colls`;
  const partitionKey = { paths: ['/pk'] };
  const rids: unknown[] = [];
  for (const id of ['a b', 'a%20b']) {
    const made = await server.send('POST', colls, { body: { id, partitionKey } });
    rids.push(ok(made, 201).json._rid);
  }
  const opened = async (id: string, resource: string) => {
    const body = { id, permissionMode: 'Read', resource: `${colls}/${resource}` };
    const made = ok(await server.send('POST', `${users}/urls/permissions`, { body }), 201);
    const authorization = encodeURIComponent(String(made.json._token));
    const paths = ['a%20b', 'a%2520b'].map((name) => `${colls}/${name}`);
    const replies = paths.map((path) => server.raw('GET', path, { headers: { authorization } }));
    return (await Promise.all(replies)).map(({ json }) => json._rid);
  };
  assert.deepEqual(await opened('literal', 'a%20b'), [undefined, rids[1]]);
  assert.deepEqual(await opened('plain', 'a b'), [rids[0], undefined]);
  ok(await server.send('DELETE', `${colls}/a%2520b`), 204);
  const again = await server.send('DELETE', `${users}/urls/permissions/plain`);
  ok(again, 204);
  assert.deepEqual(await opened('escaped', 'a%20b'), [rids[0], undefined]);
});

test('what is not there is not found', async () => {
  refused(await server.send('GET', '/dbs/none/users'), 404, 1003);
  refused(await server.send('GET', `${users}/none`), 404, 0);
  refused(await server.send('GET', `${users}/none/permissions`), 404, 1003);
  refused(await server.send('GET', `${users}/none/permissions/p`), 404, 1003);
  refused(await server.send('POST', users, { body: { id: 'a/b' } }), 400, 0, "character '/'");
  refused(await server.send('POST', users, { body: { id: 'a', age: 5 } }), 400, 0, "'age'");
  refused(await server.send('PATCH', `${users}/none`), 405, 0);
});
