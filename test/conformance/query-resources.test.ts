// Queries over databases, containers and offers, in the language of items.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Database } from '@azure/cosmos';
import { type Json, listOf, ok, refused, serve } from './support.suite.js';

const server = await serve();
const client = server.client();
const HEADERS = { 'content-type': 'application/query+json', 'x-ms-documentdb-isquery': 'true' };
const ALL = { query: 'SELECT * FROM c' };
const NAMES = ['apples', 'birds', 'Größe 树'];
let apples: Database;

before(async () => {
  for (const id of NAMES) await client.databases.create({ id });
  apples = client.database('apples');
  const partitionKey = { paths: ['/pk'] };
  await apples.containers.create({ id: 'plain', partitionKey });
  await apples.containers.create({ id: 'brief', partitionKey, defaultTtl: 60 });
  await apples.containers.create({ id: 'busy', partitionKey: { paths: ['/k'] }, throughput: 5000 });
  await client.database('birds').containers.create({ id: 'elsewhere', partitionKey });
});

describe('databases', () => {
  test('all of them, as a read shows them', async () => {
    const { resources } = await client.databases.query('SELECT * FROM root').fetchAll();
    const read = await client.databases.readAll().fetchAll();
    assert.deepEqual(resources, read.resources);
    assert.equal(resources.length, NAMES.length);
  });

  for (const [query, value, expected] of [
    ['SELECT VALUE d.id FROM d WHERE d.id = @x', 'birds', ['birds']],
    ['SELECT VALUE r.id FROM root r WHERE r.id = @x', 'Größe 树', ['Größe 树']],
    ['SELECT VALUE d.id FROM d WHERE d.id = @x', 'none', []],
    ['SELECT VALUE d.id FROM d ORDER BY d.id DESC', '', ['birds', 'apples', 'Größe 树']],
    ['SELECT TOP 1 VALUE d.id FROM d ORDER BY d.id', '', ['Größe 树']],
    ['SELECT VALUE COUNT(1) FROM d', '', [3]],
    ["SELECT VALUE UPPER(d.id) FROM d WHERE STARTSWITH(d.id, 'a')", '', ['APPLES']],
    ['SELECT VALUE d.id FROM d ORDER BY d.id OFFSET 1 LIMIT 1', '', ['apples']],
    ['SELECT d.id FROM d WHERE d.id IN (@x)', 'apples', [{ id: 'apples' }]],
  ] as const) {
    test(query, async () => {
      const spec = { query, parameters: [{ name: '@x', value }] };
      assert.deepEqual((await client.databases.query(spec).fetchAll()).resources, expected);
    });
  }

  test('page by page, also in a fresh client', async () => {
    const query = 'SELECT VALUE d.id FROM d ORDER BY d.id';
    const first = await client.databases.query(query, { maxItemCount: 1 }).fetchNext();
    assert.deepEqual(first.resources, ['Größe 树']);
    const { continuationToken } = first;
    assert.ok(continuationToken);
    const fresh = server.client();
    const rest = await fresh.databases.query(query, { continuationToken }).fetchAll();
    assert.deepEqual(rest.resources, ['apples', 'birds']);
  });

  test('as it goes over the wire', async () => {
    const body = { query: "SELECT * FROM d WHERE d.id = 'birds'" };
    const reply = ok(await server.send('POST', '/dbs', { body, headers: HEADERS }), 200);
    assert.deepEqual(Object.keys(reply.json).sort(), ['Databases', '_count', '_rid']);
    const [birds] = listOf(reply, 'Databases');
    for (const name of ['id', '_rid', '_self', '_etag', '_ts', '_colls', '_users']) {
      assert.ok(name in (birds ?? {}), name);
    }
    assert.equal(reply.headers['x-ms-item-count'], '1');
    assert.ok(Number(reply.headers['x-ms-request-charge']) > 0);
    assert.equal(reply.headers['x-ms-continuation'], undefined);
  });
});

describe('containers', () => {
  test('all of a database and of no other', async () => {
    const { resources } = await apples.containers.query(ALL).fetchAll();
    assert.deepEqual(resources, (await apples.containers.readAll().fetchAll()).resources);
    assert.deepEqual(resources.map(({ id }) => id).sort(), ['brief', 'busy', 'plain']);
  });

  for (const [query, expected] of [
    ["SELECT VALUE c.id FROM c WHERE c.id = 'busy'", ['busy']],
    ['SELECT VALUE c.id FROM c WHERE c.defaultTtl > 0', ['brief']],
    [
      'SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.defaultTtl) ORDER BY c.id',
      ['busy', 'plain'],
    ],
    ["SELECT VALUE c.id FROM c JOIN p IN c.partitionKey.paths WHERE p = '/k'", ['busy']],
    [
      'SELECT VALUE c.indexingPolicy.indexingMode FROM c GROUP BY c.indexingPolicy.indexingMode',
      ['consistent'],
    ],
  ] as const) {
    test(query, async () => {
      assert.deepEqual((await apples.containers.query({ query }).fetchAll()).resources, expected);
    });
  }

  test('of a database that is not there', async () => {
    const query = client.database('none').containers.query(ALL);
    await assert.rejects(query.fetchAll(), { code: 404 });
  });

  test('as it goes over the wire', async () => {
    const body = { query: 'SELECT VALUE 1 FROM c' };
    const path = '/dbs/apples/colls';
    const reply = ok(await server.send('POST', path, { body, headers: HEADERS }), 200);
    assert.deepEqual(listOf(reply, 'DocumentCollections') as readonly unknown[], [1, 1, 1]);
    const { resource } = await apples.read();
    assert.equal(reply.json._rid, resource?._rid);
  });
});

describe('offers', () => {
  test('of a resource, by its link and by its id', async () => {
    const { resource: busy } = await apples.container('busy').read();
    assert.ok(busy);
    const { _rid, _self } = busy as unknown as { readonly _rid: string; readonly _self: string };
    for (const [query, value] of [
      ['SELECT * FROM root WHERE root.resource = @x', _self],
      ['SELECT * FROM o WHERE o.offerResourceId = @x', _rid],
    ] as const) {
      const spec = { query, parameters: [{ name: '@x', value }] };
      const [offer, ...more] = (await client.offers.query(spec).fetchAll()).resources;
      assert.deepEqual(more, []);
      assert.equal(offer?.content?.offerThroughput, 5000);
      assert.equal(offer?.offerResourceId, _rid);
    }
    const { resource: offer } = await apples.container('busy').readOffer();
    assert.equal(offer?.content?.offerThroughput, 5000);
  });

  test('by what they provide', async () => {
    const query =
      'SELECT VALUE o.content.offerThroughput FROM o WHERE o.content.offerThroughput > 400';
    assert.deepEqual((await client.offers.query({ query }).fetchAll()).resources, [5000]);
    const body = { query };
    const reply = ok(await server.send('POST', '/offers', { body, headers: HEADERS }), 200);
    assert.deepEqual(listOf(reply, 'Offers') as readonly unknown[], [5000]);
  });
});

describe('a query that is refused', () => {
  for (const path of ['/dbs', '/dbs/apples/colls', '/offers']) {
    test(path, async () => {
      for (const body of [{ query: 'SELECT' }, { query: 'SELECT VALUE x FROM c' }, {}] as Json[]) {
        refused(await server.send('POST', path, { body, headers: HEADERS }), 400, 0);
      }
      const body = { query: 'SELECT * FROM c' };
      const headers = { ...HEADERS, 'x-ms-continuation': 'junk' };
      const reply = await server.send('POST', path, { body, headers });
      refused(reply, 400, 0, 'Invalid Continuation Token');
    });
  }
});

test('conflicts: there are none', async () => {
  const { conflicts } = apples.container('plain');
  assert.deepEqual((await conflicts.query(ALL).fetchAll()).resources, []);
});
