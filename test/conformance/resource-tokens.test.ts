// Resource tokens: the SDK with tokens and with permission feeds, what each scope and mode opens
// and keeps closed, and how long a token is good.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { describe, test } from 'node:test';
import { type Container, type PermissionDefinition, PermissionMode } from '@azure/cosmos';
import { start } from '../../src/main.js';
import {
  type Headers,
  type Json,
  keyHeader,
  lastingStore,
  ok,
  type Reply,
  refused,
  type SendOptions,
  serve,
} from './support.suite.js';

const server = await serve();
const box = await server.box();
const other = await server.box();
const database = server.client().database(box.database);
const resource = box.path.slice(1);
for (const pk of ['p', 'q']) {
  for (const id of ['1', '2']) ok(await box.create({ id, pk }), 201);
}
ok(await other.create({ id: '1', pk: 'p' }), 201);
let users = 0;

/** A permission of a user of its own. */
async function permit(permissionMode: string, parts: Json = {}, headers: Headers = {}) {
  users += 1;
  const feed = `/dbs/${box.database}/users`;
  const user = `${feed}/u${users}`;
  ok(await server.send('POST', feed, { body: { id: `u${users}` } }), 201);
  const body = { id: 'p', permissionMode, resource, ...parts };
  const path = `${user}/permissions`;
  const made = ok(await server.send('POST', path, { body, headers }), 201);
  return { token: String(made.json._token), user, path: `${path}/p`, body };
}

/** A request with a token instead of a signature. */
function show(token: string, method: string, path: string, options: SendOptions = {}) {
  const headers = { authorization: encodeURIComponent(token), ...options.headers };
  return server.raw(method, path, { ...options, headers });
}

const OUTSIDE = 'Insufficient permissions provided in the authorization header';
const MODE = "The permission mode provided in the authorization token doesn't provide";
const QUERY = { 'x-ms-documentdb-isquery': 'true' };
const UPSERT = { 'x-ms-documentdb-is-upsert': 'true' };
const ALL = { query: 'SELECT * FROM c' };

function containerOf(options: object): Container {
  const client = server.client({ key: undefined as unknown as string, ...options });
  return client.database(box.database).container('c');
}

describe('the SDK', () => {
  test('reads and queries with a token for a container', async () => {
    const { token } = await permit('Read');
    const container = containerOf({ resourceTokens: { [resource]: token } });
    assert.equal((await container.item('1', 'p').read()).resource.pk, 'p');
    assert.equal((await container.items.query('SELECT * FROM c').fetchAll()).resources.length, 4);
    assert.equal((await container.read()).resource?.id, 'c');
    await assert.rejects(() => container.items.create({ id: '9', pk: 'p' }), { code: 403 });
    await assert.rejects(() => container.delete(), { code: 403 });
  });

  test('writes with a token that allows all, and bulk and batches', async () => {
    const { token } = await permit('All');
    const container = containerOf({ resourceTokens: { [resource]: token } });
    const { statusCode } = await container.items.create({ id: 'w', pk: 'w' });
    assert.equal(statusCode, 201);
    const operation = { operationType: 'Upsert', resourceBody: { id: 'v', pk: 'w' } } as const;
    assert.equal((await container.items.batch([operation], 'w')).code, 200);
    const [done] = await container.items.executeBulkOperations([
      { ...operation, partitionKey: 'w' },
    ]);
    assert.equal(done?.response?.statusCode, 200);
    for (const id of ['v', 'w']) await container.item(id, 'w').delete();
  });

  test('works with a feed of permissions', async () => {
    const user = database.user('feeder');
    await database.users.create({ id: 'feeder' });
    const definition: PermissionDefinition = {
      id: 'p',
      permissionMode: PermissionMode.Read,
      resource,
    };
    await user.permissions.create(definition);
    const { resources: permissionFeed } = await user.permissions.readAll().fetchAll();
    const container = containerOf({ permissionFeed });
    assert.equal((await container.item('2', 'q').read()).statusCode, 200);
    assert.equal((await container.items.readAll().fetchAll()).resources.length, 4);
  });

  test('keeps to one logical partition', async () => {
    const { token } = await permit('All', { resourcePartitionKey: ['p'] });
    const container = containerOf({ resourceTokens: { [resource]: token } });
    assert.equal((await container.item('1', 'p').read()).statusCode, 200);
    await assert.rejects(() => container.item('1', 'q').read(), { code: 403 });
    const { items } = container;
    const inside = await items.query('SELECT * FROM c', { partitionKey: 'p' }).fetchAll();
    assert.equal(inside.resources.length, 2);
    await assert.rejects(() => items.query('SELECT * FROM c').fetchAll(), { code: 403 });
    await assert.rejects(() => items.create({ id: '9', pk: 'q' }), { code: 403 });
    assert.equal((await items.upsert({ id: '1', pk: 'p' })).statusCode, 200);
  });

  test('reads one item with a token for it', async () => {
    const link = `${resource}/docs/1`;
    const { token } = await permit('Read', { resource: link, resourcePartitionKey: ['p'] });
    const container = containerOf({ resourceTokens: { [link]: token } });
    assert.equal((await container.item('1', 'p').read()).statusCode, 200);
    await assert.rejects(() => container.item('1', 'p').delete(), { code: 403 });
  });
});

type Try = readonly [string, string, SendOptions?];
const IN_P: SendOptions = { headers: keyHeader('p') };
const IN_Q: SendOptions = { headers: keyHeader('q') };
const docs = `${box.path}/docs`;
const bulk = (...keys: string[]): SendOptions => ({
  headers: { 'x-ms-cosmos-is-batch-request': 'true', 'x-ms-documentdb-partitionkeyrangeid': '0' },
  body: keys.map((key) => ({ operationType: 'Read', id: '1', partitionKey: `["${key}"]` })),
});

const SCRIPT = { id: 's', body: 'function () { getContext().getResponse().setBody(1); }' };
ok(await server.send('POST', `${box.path}/sprocs`, { body: SCRIPT }), 201);

const SCOPES: Readonly<
  Record<string, { mode: string; parts: Json; open: readonly Try[]; closed: readonly Try[] }>
> = {
  'a container': {
    mode: 'All',
    parts: {},
    open: [
      ['GET', '/'],
      ['GET', box.path],
      ['GET', `${box.path}/pkranges`],
      ['GET', `${box.path}/conflicts`],
      ['GET', docs],
      ['GET', docs, { headers: { 'a-im': 'Incremental Feed' } }],
      ['GET', `${docs}/1`, IN_Q],
      ['POST', docs, { headers: QUERY, body: ALL }],
      ['PUT', box.path, { body: box.definition }],
    ],
    closed: [
      ['GET', '/dbs'],
      ['GET', `/dbs/${box.database}`],
      ['GET', `/dbs/${box.database}/colls`],
      ['GET', `/dbs/${box.database}/users`],
      ['GET', '/offers'],
      ['POST', '/dbs', { body: { id: 'new' } }],
      ['GET', other.path],
      ['GET', `${other.path}/docs/1`, IN_P],
      ['GET', `${box.path}x`],
      ['DELETE', `/dbs/${box.database}`],
    ],
  },
  'a logical partition': {
    mode: 'All',
    parts: { resourcePartitionKey: ['p'] },
    open: [
      ['GET', '/'],
      ['GET', box.path],
      ['GET', `${box.path}/pkranges`],
      ['GET', docs, IN_P],
      ['GET', docs, { headers: { ...IN_P.headers, 'a-im': 'Incremental Feed' } }],
      ['POST', docs, { headers: { ...QUERY, ...IN_P.headers }, body: ALL }],
      ['POST', docs, { headers: { 'x-ms-cosmos-is-query-plan-request': 'True' }, body: ALL }],
      ['POST', docs, { headers: { ...UPSERT, ...IN_P.headers }, body: { id: '1', pk: 'p' } }],
      ['POST', docs, bulk('p', 'p')],
      ['POST', `${box.path}/sprocs/s`, { ...IN_P, body: [] }],
    ],
    closed: [
      ['PUT', box.path, { body: box.definition }],
      ['DELETE', box.path],
      ['GET', docs],
      ['GET', docs, IN_Q],
      ['GET', docs, { headers: { 'x-ms-documentdb-partitionkeyrangeid': '0' } }],
      ['GET', `${docs}/1`, IN_Q],
      ['GET', `${box.path}/conflicts`],
      ['POST', docs, { headers: QUERY, body: ALL }],
      ['POST', docs, { headers: { ...QUERY, ...IN_Q.headers }, body: ALL }],
      ['POST', docs, bulk('p', 'q')],
      ['POST', `${box.path}/sprocs/s`, { ...IN_Q, body: [] }],
      ['GET', `${box.path}/sprocs/s`],
      ['GET', `${box.path}/udfs`],
      ['POST', `${box.path}/operations/partitionkeydelete`, IN_Q],
    ],
  },
  'an item': {
    mode: 'All',
    parts: { resource: `${resource}/docs/1` },
    open: [
      ['GET', '/'],
      ['GET', box.path],
      ['GET', `${box.path}/pkranges`],
      ['GET', `${docs}/1`, IN_P],
      ['GET', `${docs}/1`, IN_Q],
      ['PUT', `${docs}/1`, { ...IN_P, body: { id: '1', pk: 'p' } }],
    ],
    closed: [
      ['PUT', box.path, { body: box.definition }],
      ['GET', `${docs}/2`, IN_P],
      ['GET', docs],
      ['POST', docs, { headers: QUERY, body: ALL }],
      ['POST', docs, { ...IN_P, body: { id: '1', pk: 'p' } }],
    ],
  },
  'an item in a partition': {
    mode: 'Read',
    parts: { resource: `/${resource}/docs/1/`, resourcePartitionKey: ['p'] },
    open: [['GET', `${docs}/1`, IN_P]],
    closed: [
      ['GET', `${docs}/1`, IN_Q],
      ['GET', `${docs}/2`, IN_P],
    ],
  },
  'a stored procedure in a partition': {
    mode: 'All',
    parts: { resource: `${resource}/sprocs/s`, resourcePartitionKey: ['p'] },
    open: [['POST', `${box.path}/sprocs/s`, { ...IN_P, body: [] }]],
    closed: [['POST', `${box.path}/sprocs/s`, { ...IN_Q, body: [] }]],
  },
  'a stored procedure': {
    mode: 'All',
    parts: { resource: `${resource}/sprocs/s` },
    open: [
      ['GET', '/'],
      ['GET', `${box.path}/sprocs/s`],
      ['PUT', `${box.path}/sprocs/s`, { body: SCRIPT }],
      ['POST', `${box.path}/sprocs/s`, { ...IN_P, body: [] }],
      ['POST', `${box.path}/sprocs/s`, { ...IN_Q, body: [] }],
    ],
    closed: [
      ['GET', `${docs}/1`, IN_P],
      ['GET', `${box.path}/sprocs`],
      ['POST', `${box.path}/sprocs/t`, { ...IN_P, body: [] }],
      ['GET', `${box.path}/sprocs/t`],
      ['GET', `${box.path}/triggers/s`],
    ],
  },
};

for (const [what, { mode, parts, open, closed }] of Object.entries(SCOPES)) {
  test(`a token for ${what}`, async () => {
    const { token } = await permit(mode, parts);
    for (const [method, path, options] of open) {
      const reply = await show(token, method, path, options);
      assert.ok(reply.status < 300, `${method} ${path} ${reply.text}`);
    }
    for (const [method, path, options] of closed) {
      const reply = await show(token, method, path, options);
      assert.equal(reply.status, 403, `${method} ${path} ${JSON.stringify(options)} ${reply.text}`);
      refused(reply, 403, 0, OUTSIDE);
    }
  });
}

test('to read is not to write', async () => {
  const { token } = await permit('Read');
  const item = { id: '1', pk: 'p' };
  const tries: readonly Try[] = [
    ['POST', docs, { ...IN_P, body: { id: 'new', pk: 'p' } }],
    ['POST', docs, { headers: { ...UPSERT, ...IN_P.headers }, body: item }],
    ['PUT', `${docs}/1`, { ...IN_P, body: item }],
    ['PATCH', `${docs}/1`, { ...IN_P, body: [{ op: 'set', path: '/a', value: 1 }] }],
    ['DELETE', `${docs}/1`, IN_P],
    ['POST', `${box.path}/sprocs/s`, { ...IN_P, body: [] }],
    ['DELETE', `${box.path}/sprocs/s`],
    ['POST', docs, bulk('p')],
    ['POST', `${box.path}/operations/partitionkeydelete`, IN_P],
    ['PUT', box.path, { body: box.definition }],
    ['DELETE', box.path],
  ];
  for (const [method, path, options] of tries) {
    refused(await show(token, method, path, options), 403, 0, MODE);
  }
});

test('resources and requests are named by resource ids, too', async () => {
  const { json: container } = ok(await server.send('GET', box.path), 200);
  const { json: item } = ok(await box.read('1', 'p'), 200);
  const whole = await permit('Read', { resource: container._self });
  const one = await permit('Read', { resource: item._self });
  const self = `/${String(item._self).replace(/\/$/, '')}`;
  ok(await show(whole.token, 'GET', self, IN_P), 200);
  ok(await show(one.token, 'GET', self, IN_P), 200);
  ok(await show(one.token, 'GET', `${docs}/1`, IN_P), 200);
  const { json: script } = ok(await server.send('GET', `${box.path}/sprocs/s`), 200);
  const run = await permit('All', { resource: script._self });
  const scriptSelf = `/${String(script._self).replace(/\/$/, '')}`;
  ok(await show(run.token, 'POST', scriptSelf, { ...IN_P, body: [] }), 200);
  ok(await show(run.token, 'GET', `${box.path}/sprocs/s`), 200);
  refused(await show(run.token, 'GET', self, IN_P), 403, 0, OUTSIDE);
  const { json: second } = ok(await box.read('2', 'p'), 200);
  const elsewhere = `/${String(second._self).replace(/\/$/, '')}`;
  refused(await show(one.token, 'GET', elsewhere, IN_P), 403, 0, OUTSIDE);
});

describe('a token ends', () => {
  const read = (token: string): Promise<Reply> => show(token, 'GET', `${docs}/1`, IN_P);
  const REVOKED = 'its permission or user was deleted or replaced';

  test('when its permission is replaced, and a read gives another', async () => {
    const { token, path, body } = await permit('All');
    ok(await read(token), 200);
    const changed = { ...body, permissionMode: 'Read' };
    const replaced = ok(await server.send('PUT', path, { body: changed }), 200);
    refused(await read(token), 401, 0, REVOKED);
    ok(await read(String(replaced.json._token)), 200);
    ok(await read(String(ok(await server.send('GET', path), 200).json._token)), 200);
  });

  test('when its permission or its user goes', async () => {
    const { token, path } = await permit('All');
    ok(await server.send('DELETE', path), 204);
    refused(await read(token), 401, 0, REVOKED);
    const next = await permit('All');
    ok(await server.send('PUT', next.user, { body: { id: 'renamed' } }), 200);
    refused(await read(next.token), 401, 0, REVOKED);
    const last = await permit('All');
    ok(await server.send('DELETE', last.user), 204);
    refused(await read(last.token), 401, 0, REVOKED);
  });

  test('with its container, whose name another one may have', async () => {
    const made = await server.box();
    const path = `/dbs/${made.database}/users`;
    ok(await server.send('POST', path, { body: { id: 'u' } }), 201);
    const body = { id: 'p', permissionMode: 'All', resource: made.path.slice(1) };
    const reply = ok(await server.send('POST', `${path}/u/permissions`, { body }), 201);
    const token = String(reply.json._token);
    ok(await show(token, 'DELETE', made.path), 204);
    ok(await server.send('POST', `/dbs/${made.database}/colls`, { body: made.definition }), 201);
    refused(await show(token, 'GET', made.path), 403, 0, OUTSIDE);
  });

  test('with its container, also while the body of a request comes in', async () => {
    const made = await server.box();
    const path = `/dbs/${made.database}/users`;
    ok(await server.send('POST', path, { body: { id: 'u' } }), 201);
    const body = { id: 'p', permissionMode: 'All', resource: made.path.slice(1) };
    const reply = ok(await server.send('POST', `${path}/u/permissions`, { body }), 201);
    const authorization = encodeURIComponent(String(reply.json._token));
    const request = http.request({
      ...{ host: '127.0.0.1', port: server.port, method: 'POST', path: `${made.path}/docs` },
      headers: { authorization, 'transfer-encoding': 'chunked', ...keyHeader('p') },
    });
    request.write('{"id":"1",');
    // An answer to another request shows that this one has been begun.
    ok(await show(String(reply.json._token), 'GET', made.path), 200);
    ok(await server.send('DELETE', made.path), 204);
    ok(await server.send('POST', `/dbs/${made.database}/colls`, { body: made.definition }), 201);
    request.end('"pk":"p"}');
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    assert.equal(response.statusCode, 403);
    assert.deepEqual(await made.ids(), []);
  });

  test('in time: an hour, or what was asked for', async () => {
    const NOT_NOW = 'The authorization token is not valid at the current time';
    for (const [asked, seconds] of [
      [undefined, 3600],
      ['10', 10],
      ['86400', 86_400],
    ] as const) {
      const header = 'x-ms-documentdb-expiry-seconds';
      const { token } = await permit('Read', {}, asked === undefined ? {} : { [header]: asked });
      server.clock.advance((seconds - 1) * 1000);
      ok(await read(token), 200);
      server.clock.advance(1000);
      refused(await read(token), 403, 0, NOT_NOW);
      server.clock.advance(-seconds * 1000 - 1000);
      refused(await read(token), 403, 0, NOT_NOW);
      server.clock.advance(1000);
    }
    for (const bad of ['9', '86401', '-1', '1e3', 'x', '3600.5']) {
      const reply = await server.send('GET', `/dbs/${box.database}/users/u1/permissions/p`, {
        headers: { 'x-ms-documentdb-expiry-seconds': bad },
      });
      refused(reply, 400, 0, `Value '${bad}'`);
    }
  });

  test('when a byte of it is changed', async () => {
    const { token } = await permit('Read');
    const from = 'type=resource&ver=1&sig='.length;
    for (let at = from; at < token.length - 1; at += 7) {
      const letter = token[at] === 'A' ? 'B' : 'A';
      const reply = await read(token.slice(0, at) + letter + token.slice(at + 1));
      assert.equal(reply.status, 401, reply.text);
    }
  });
});

test('tokens are good after a restart, while the key is the same', async () => {
  const place = lastingStore();
  const keyOf = (byte: number) => Buffer.alloc(64, byte).toString('base64');
  const ask = async (port: number, token: string) =>
    (
      await fetch(`http://127.0.0.1:${port}/dbs/d/colls/c`, {
        headers: { authorization: encodeURIComponent(token) },
      })
    ).status;
  const first = await start({ ...place, key: keyOf(1) });
  const { CosmosClient } = await import('@azure/cosmos');
  const client = new CosmosClient({ endpoint: first.cosmos, key: first.key });
  const { database: made } = await client.databases.create({ id: 'd' });
  await made.containers.create({ id: 'c', partitionKey: '/pk' });
  await made.users.create({ id: 'u' });
  const { resource: permission } = await made.user('u').permissions.create({
    id: 'p',
    permissionMode: PermissionMode.Read,
    resource: 'dbs/d/colls/c',
  });
  client.dispose();
  await first.close();
  const token = (permission as unknown as { _token: string })._token;
  for (const [keys, status] of [
    [{ key: keyOf(1) }, 200],
    [{ key: keyOf(2), secondaryKey: keyOf(1) }, 200],
    [{ key: keyOf(2), readOnlyKey: keyOf(1) }, 401],
  ] as const) {
    const again = await start({ ...place, ...keys });
    assert.equal(await ask(again.port, token), status);
    await again.close();
  }
});
