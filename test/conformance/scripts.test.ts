// Stored procedures, triggers and user-defined functions as resources: made, read, listed, queried,
// replaced and deleted, by name and by resource id.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TriggerOperation, TriggerType } from '@azure/cosmos';
import { type Json, listOf, NOON_SECONDS, ok, refused, serve } from './support.suite.js';

const server = await serve();
const QUERY = { 'content-type': 'application/query+json', 'x-ms-documentdb-isquery': 'true' };
const UPSERT = { 'x-ms-documentdb-is-upsert': 'true' };

const KINDS = [
  { feed: 'sprocs', envelope: 'StoredProcedures', nibble: 0x80, limit: 100, more: {} },
  { feed: 'udfs', envelope: 'UserDefinedFunctions', nibble: 0x60, limit: 50, more: {} },
  {
    feed: 'triggers',
    envelope: 'Triggers',
    nibble: 0x70,
    limit: 25,
    more: { triggerType: 'Pre', triggerOperation: 'All' },
  },
] as const;

for (const { feed, envelope, nibble, limit, more } of KINDS) {
  const script = (id: string, body = 'function () { return 1; }'): Json => ({ id, body, ...more });

  describe(feed, () => {
    test('made, read, replaced, deleted', async () => {
      const box = await server.box();
      const path = `${box.path}/${feed}`;
      const made = ok(await server.send('POST', path, { body: script('s') }), 201);
      const rid = String(made.json._rid);
      const container = ok(await server.send('GET', box.path), 200).json;
      assert.deepEqual(made.json, {
        ...script('s'),
        _rid: rid,
        _self: `${String(container._self)}${feed}/${rid}/`,
        _etag: made.headers.etag,
        _ts: NOON_SECONDS,
      });
      const bytes = Buffer.from(rid.replaceAll('-', '/'), 'base64');
      assert.equal(bytes.length, 16);
      assert.equal(bytes[15], nibble);
      assert.deepEqual(ok(await server.send('GET', `${path}/s`), 200).json, made.json);
      const known = { headers: { 'if-none-match': String(made.headers.etag) } };
      ok(await server.send('GET', `${path}/s`, known), 304);
      const body = script('s', 'function (x) { return x; }');
      const stale = { body, headers: { 'if-match': '"other"' } };
      refused(await server.send('PUT', `${path}/s`, stale), 412, 0);
      const current = { body, headers: { 'if-match': String(made.headers.etag) } };
      const replaced = ok(await server.send('PUT', `${path}/s`, current), 200);
      assert.equal(replaced.json.body, body.body);
      assert.equal(replaced.json._rid, rid);
      assert.notEqual(replaced.json._etag, made.json._etag);
      refused(await server.send('PUT', `${path}/s`, { body: script('t') }), 400, 0, "'t'");
      refused(await server.send('POST', path, { body: script('s') }), 409, 0);
      refused(await server.send('DELETE', `${path}/s`, { headers: { 'if-match': '"x"' } }), 412, 0);
      ok(await server.send('DELETE', `${path}/s`), 204);
      refused(await server.send('GET', `${path}/s`), 404, 0);
    });

    test('upserted', async () => {
      const box = await server.box();
      const path = `${box.path}/${feed}`;
      ok(await server.send('POST', path, { body: script('s'), headers: UPSERT }), 201);
      const body = script('s', 'function f() {}');
      const again = ok(await server.send('POST', path, { body, headers: UPSERT }), 200);
      assert.equal(again.json.body, body.body);
    });

    test('by resource ids', async () => {
      const box = await server.box();
      const path = `${box.path}/${feed}`;
      const { json } = ok(await server.send('POST', path, { body: script('s') }), 201);
      const link = String(json._rid).toLowerCase();
      const self = `/${String(json._self)}`.replace(/\/$/, '');
      assert.deepEqual(ok(await server.send('GET', self, { link }), 200).json, json);
      ok(await server.send('DELETE', self, { link }), 204);
      refused(await server.send('GET', self, { link }), 404, 0);
    });

    test('listed page by page and queried', async () => {
      const box = await server.box();
      const path = `${box.path}/${feed}`;
      for (const id of ['a', 'b', 'c']) {
        ok(await server.send('POST', path, { body: script(id) }), 201);
      }
      const first = ok(
        await server.send('GET', path, { headers: { 'x-ms-max-item-count': '2' } }),
        200,
      );
      const token = String(first.headers['x-ms-continuation']);
      const rest = ok(
        await server.send('GET', path, { headers: { 'x-ms-continuation': token } }),
        200,
      );
      const ids = [first, rest].flatMap((reply) => listOf(reply, envelope).map(({ id }) => id));
      assert.deepEqual(ids, ['a', 'b', 'c']);
      const query = "SELECT VALUE s.id FROM s WHERE s.id > 'a' ORDER BY s.id DESC";
      const asked = await server.send('POST', path, { body: { query }, headers: QUERY });
      assert.deepEqual(ok(asked, 200).json[envelope], ['c', 'b']);
    });

    test(`at most ${limit} in a container`, async () => {
      const box = await server.box();
      const path = `${box.path}/${feed}`;
      for (let made = 0; made < limit; made++) {
        ok(await server.send('POST', path, { body: script(`s${made}`) }), 201);
      }
      refused(await server.send('POST', path, { body: script('one more') }), 403, 1005);
      ok(await server.send('POST', path, { body: script('s0'), headers: UPSERT }), 200);
    });
  });
}

test('they go with their container, and with its database', async () => {
  const box = await server.box();
  const path = `${box.path}/sprocs`;
  const body = { id: 's', body: 'function () {}' };
  ok(await server.send('POST', path, { body }), 201);
  ok(await server.send('DELETE', box.path), 204);
  refused(await server.send('GET', path), 404, 1003);
  ok(await server.send('POST', box.path.replace(/\/c$/, ''), { body: box.definition }), 201);
  assert.deepEqual(listOf(ok(await server.send('GET', path), 200), 'StoredProcedures'), []);
  ok(await server.send('POST', path, { body }), 201);
});

describe('bodies', () => {
  for (const [what, body] of [
    ['an expression', 'function (a) { return a; }'],
    ['a declaration', 'function f(a) { return a; }'],
    ['an arrow', '(a) => a'],
    ['one with a semicolon', 'function f() {};\n'],
    ['one behind comments', '// what it does\n/* and how */ function f() {}'],
    ['one with helpers behind it', 'function f() { return g(); }\nfunction g() { return 1; }'],
    ['an async one', 'async function f() { await 1; }'],
  ] as const) {
    test(`${what} is taken`, async () => {
      const box = await server.box();
      ok(await server.send('POST', `${box.path}/sprocs`, { body: { id: 's', body } }), 201);
    });
  }

  for (const [what, body, where] of [
    ['a missing operand', 'function f() { return 1 +; }', 's.js:1:26'],
    ['an end too soon', 'function f() {\n  return {\n}', 's.js:3'],
    ['no function', '42', 'one function'],
    ['a word that is none', 'function f() {\n  lett x = 1;\n}', 's.js:2'],
    ['a program', 'var a = 1;', 's.js:1:1'],
  ] as const) {
    test(`${what} is refused with its place`, async () => {
      const box = await server.box();
      const reply = await server.send('POST', `${box.path}/sprocs`, { body: { id: 's', body } });
      refused(reply, 400, 65535, where);
    });
  }
});

test('a container says how many it has', async () => {
  const box = await server.box();
  ok(await server.send('POST', `${box.path}/udfs`, { body: { id: 'f', body: '() => 1' } }), 201);
  const headers = { 'x-ms-documentdb-populatequotainfo': 'true' };
  const reply = ok(await server.send('GET', box.path, { headers }), 200);
  assert.match(String(reply.headers['x-ms-resource-usage']), /functions=1;storedProcedures=0;/);
});

test('through the SDK', async () => {
  const client = server.client();
  const box = await server.box();
  const { scripts } = client.database(box.database).container('c');
  const { resource } = await scripts.storedProcedures.create({ id: 's', body: 'function () {}' });
  assert.equal(resource?.id, 's');
  await scripts.triggers.create({
    id: 't',
    body: 'function () {}',
    triggerType: TriggerType.Post,
    triggerOperation: TriggerOperation.All,
  });
  await scripts.userDefinedFunctions.create({ id: 'f', body: 'function (x) { return x; }' });
  const listed = await scripts.storedProcedures.readAll().fetchAll();
  assert.deepEqual(listed.resources, [resource]);
  const { resources } = await scripts.triggers
    .query({ query: 'SELECT VALUE t.id FROM t' })
    .fetchAll();
  assert.deepEqual(resources, ['t']);
  const replaced = await scripts
    .userDefinedFunction('f')
    .replace({ id: 'f', body: 'function (x) { return -x; }' });
  assert.equal(replaced.resource?.body, 'function (x) { return -x; }');
  await scripts.storedProcedure('s').delete();
  await assert.rejects(scripts.storedProcedure('s').read(), { code: 404 });
});
