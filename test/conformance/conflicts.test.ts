// Conflicts: with one region that takes writes there are none, and asking for them works.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyHeader, listOf, ok, refused, serve } from './support.suite.js';

const server = await serve();
const box = await server.box();
const container = server.client().database(box.database).container('c');
const path = `${box.path}/conflicts`;
const ask = (query: string, headers = {}) =>
  server.send('POST', path, {
    body: { query },
    headers: { 'x-ms-documentdb-isquery': 'true', ...headers },
  });

test('the SDK lists and queries none, and finds none', async () => {
  assert.deepEqual((await container.conflicts.readAll().fetchAll()).resources, []);
  const query = { query: 'SELECT * FROM c WHERE c.resourceType = "document"' };
  assert.deepEqual((await container.conflicts.query(query).fetchAll()).resources, []);
  // Its read of one conflict signs for a user, which no server takes.
  await assert.rejects(() => container.conflict('x', 'p').delete(), { code: 404 });
});

test('the feed has the form of every feed', async () => {
  const { json: definition } = ok(await server.send('GET', box.path), 200);
  const list = ok(await server.send('GET', path, { headers: keyHeader('p') }), 200);
  assert.deepEqual(listOf(list, 'Conflicts'), []);
  assert.equal(list.json._rid, definition._rid);
  assert.equal(list.headers['x-ms-item-count'], '0');
  assert.equal(list.headers['x-ms-continuation'], undefined);
});

test('a query over nothing is a query', async () => {
  assert.deepEqual(ok(await ask('SELECT VALUE COUNT(1) FROM c'), 200).json.Conflicts, [0]);
  refused(await ask('SELECT FROM'), 400, 0);
});

test('what is asked wrongly is refused', async () => {
  refused(await server.send('GET', '/dbs/none/colls/c/conflicts'), 404, 1003);
  refused(await server.send('GET', `${box.path}x/conflicts`), 404, 1003);
  refused(await server.send('GET', `${path}/x`), 404, 0, 'Resource Not Found');
  refused(await server.send('DELETE', `${path}/x`), 404, 0, 'Resource Not Found');
  const bad = { headers: { 'x-ms-documentdb-partitionkey': 'p' } };
  for (const method of ['GET', 'DELETE']) {
    refused(await server.send(method, `${path}/x`, bad), 400, 0, 'Cannot deserialize');
  }
  const page = { headers: { 'x-ms-max-item-count': 'x' } };
  refused(await server.send('GET', path, page), 400, 0, 'PageSize');
  const token = { headers: { 'x-ms-continuation': 'junk' } };
  refused(await server.send('GET', path, token), 400, 0, 'Invalid Continuation Token');
  refused(await server.send('POST', path, { body: { id: 'x' } }), 405, 0);
  refused(await server.send('PUT', `${path}/x`, { body: { id: 'x' } }), 405, 0);
});
