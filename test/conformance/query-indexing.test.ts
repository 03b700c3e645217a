// What an indexing policy does to queries: results are the same whatever is indexed, ORDER BY takes
// items without the property as the policy says, and a change of it is told while it goes on.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Box,
  documents,
  headerOf,
  type Json,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
const ETAG = { path: '/"_etag"/?' };
const PROGRESS = 'x-ms-documentdb-collection-index-transformation-progress';

const items: readonly Json[] = [
  { id: '1', a: 3, b: { c: 'x', d: 1 }, tags: ['red', 'blue'], 'odd-name': 1 },
  { id: '2', a: 1, b: { c: 'y', d: 2 }, tags: ['red'], 'odd-name': 2 },
  { id: '3', a: 2, b: { c: 'x' }, tags: [], 'odd-name': 2 },
  { id: '4', b: { d: 2 } },
  { id: '5', a: null },
  { id: '6', a: 'text', b: 'no object' },
];

const paths = (included: readonly string[], excluded: readonly string[]) => ({
  indexingMode: 'consistent',
  automatic: true,
  includedPaths: included.map((path) => ({ path })),
  excludedPaths: [...excluded.map((path) => ({ path })), ETAG],
});

const policies: Readonly<Record<string, Json>> = {
  everything: paths(['/*'], []),
  'nothing but id and _ts': paths([], ['/*']),
  'all but one property': paths(['/*'], ['/a/?']),
  'all but a branch': paths(['/*'], ['/b/*']),
  'a branch but one leaf of it': paths(['/*', '/b/d/?'], ['/b/*']),
  'one property': paths(['/a/?'], ['/*']),
  'elements of an array': paths(['/tags/[]/?'], ['/*']),
  'a quoted name': paths(['/"odd-name"/?'], ['/*']),
  lazy: { ...paths(['/*'], ['/b/c/?']), indexingMode: 'lazy' },
  'no index': { indexingMode: 'none', automatic: false, includedPaths: [], excludedPaths: [] },
};

/** None of these depends on the policy. */
// biome-ignore format: a table is read in columns
const QUERIES: readonly (readonly [query: string, expected: readonly unknown[]])[] = [
  ['SELECT VALUE c.id FROM c WHERE c.a = 1', ['2']],
  ['SELECT VALUE c.id FROM c WHERE c.a >= 2', ['1', '3']],
  ['SELECT VALUE c.id FROM c WHERE c.a != 2', ['1', '2']],
  ['SELECT VALUE c.id FROM c WHERE c.a = null', ['5']],
  ['SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.a)', ['1', '2', '3', '5', '6']],
  ['SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.a)', ['4']],
  ['SELECT VALUE c.id FROM c WHERE c.a IN (1, 2, \'text\')', ['2', '3', '6']],
  ["SELECT VALUE c.id FROM c WHERE STARTSWITH(c.a, 'te')", ['6']],
  ["SELECT VALUE c.id FROM c WHERE c.b.c = 'x'", ['1', '3']],
  ["SELECT VALUE c.id FROM c WHERE c.b.c = 'x' AND c.b.d = 1", ['1']],
  ["SELECT VALUE c.id FROM c WHERE c.b.c = 'y' OR c.b.d = 2", ['2', '4']],
  ["SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 'red')", ['1', '2']],
  ["SELECT VALUE c.id FROM c JOIN t IN c.tags WHERE t = 'blue'", ['1']],
  ["SELECT VALUE c.id FROM c WHERE c.tags[1] = 'blue'", ['1']],
  ['SELECT VALUE c.id FROM c WHERE c["odd-name"] = 2', ['2', '3']],
  ["SELECT VALUE c.id FROM c WHERE c.id > '4'", ['5', '6']],
  ['SELECT VALUE COUNT(1) FROM c WHERE c.a > 0', [3]],
];

for (const [name, indexingPolicy] of Object.entries(policies)) {
  test(`${name}: the policy is served back and queries find the same`, async () => {
    const box = await filled({ indexingPolicy });
    const { json } = ok(await server.send('GET', box.path), 200);
    assert.deepEqual(json.indexingPolicy, indexingPolicy);
    await checkQueries(box, name);
  });
}

test('every change of the policy keeps queries right, and ends at 100 per cent', async () => {
  const box = await filled({});
  for (const [name, indexingPolicy] of Object.entries(policies)) {
    const reply = ok(await box.redefine({ indexingPolicy }), 200);
    assert.deepEqual(reply.json.indexingPolicy, indexingPolicy);
    await checkQueries(box, `${name}, at once`);
    await settled(box);
    await checkQueries(box, `${name}, when it is done`);
  }
});

test('items written while the index changes are found', async () => {
  const box = await filled({ indexingPolicy: policies['nothing but id and _ts'] });
  const more = Array.from({ length: 50 }, (_, n) => ({ id: `n${n}`, pk: 'q', a: 100 + n }));
  for (const item of more.slice(0, 25)) ok(await box.create(item), 201);
  const [changed] = await Promise.all([
    box.redefine({ indexingPolicy: policies.everything }),
    ...more.slice(25).map((item) => box.create(item)),
  ]);
  ok(changed, 200);
  const query = 'SELECT VALUE c.a FROM c WHERE c.a >= 100 ORDER BY c.a';
  const expected = more.map(({ a }) => a);
  assert.deepEqual(await ask(box, query), expected);
  await settled(box);
  assert.deepEqual(await ask(box, query), expected);
});

test('the progress of a change is told, and grows', async () => {
  const box = await server.box();
  for (let n = 0; n < 400; n += 50) {
    const some = Array.from({ length: 50 }, (_, index) => ({ id: `${n + index}`, pk: 'p', a: n }));
    await Promise.all(some.map((item) => box.create(item)));
  }
  assert.equal(await progressOf(box), 100);
  ok(await box.redefine({ indexingPolicy: policies['one property'] }), 200);
  assert.ok((await progressOf(box)) < 100);
  assert.deepEqual(await ask(box, 'SELECT VALUE COUNT(1) FROM c WHERE c.a >= 350'), [50]);
  await settled(box);
  assert.deepEqual(await ask(box, 'SELECT VALUE COUNT(1) FROM c WHERE c.a >= 350'), [50]);
});

test('the progress is told on every read of a container, also with mode none', async () => {
  for (const indexingPolicy of [policies.everything, policies['no index']]) {
    const box = await server.box({ indexingPolicy });
    for (const headers of [{}, { 'x-ms-documentdb-populatequotainfo': 'true' }] as const) {
      const reply = ok(await server.send('GET', box.path, { headers }), 200);
      assert.equal(headerOf(reply, PROGRESS), '100');
    }
    const container = client.database(box.database).container('c');
    const read = await container.read({ populateQuotaInfo: true });
    assert.equal(read.headers[PROGRESS], '100');
  }
});

describe('ORDER BY and items without the property', () => {
  const ALL = ['4', '5', '2', '3', '1', '6'];

  test('they are left out where the path is not included by name', async () => {
    for (const name of ['everything', 'all but a branch']) {
      const box = await filled({ indexingPolicy: policies[name] });
      const present = ALL.slice(1);
      assert.deepEqual(await ask(box, 'SELECT VALUE c.id FROM c ORDER BY c.a'), present);
      const back = await ask(box, 'SELECT VALUE c.id FROM c ORDER BY c.a DESC');
      assert.deepEqual(back, [...present].reverse());
    }
  });

  test('they come first where it is, and last with DESC', async () => {
    for (const indexingPolicy of [policies['one property'], paths(['/*', '/a/?'], [])]) {
      const box = await filled({ indexingPolicy });
      assert.deepEqual(await ask(box, 'SELECT VALUE c.id FROM c ORDER BY c.a'), ALL);
      const back = await ask(box, 'SELECT VALUE c.id FROM c ORDER BY c.a DESC');
      assert.deepEqual(back, [...ALL].reverse());
      const paged = await pagesOf(box, 'SELECT VALUE c.id FROM c ORDER BY c.a', 1);
      assert.deepEqual(paged, ALL);
    }
  });

  test('a change of the policy changes it', async () => {
    const box = await filled({});
    const query = 'SELECT VALUE c.id FROM c ORDER BY c.a';
    assert.deepEqual(await ask(box, query), ALL.slice(1));
    ok(await box.redefine({ indexingPolicy: policies['one property'] }), 200);
    assert.deepEqual(await ask(box, query), ALL);
    await settled(box);
    assert.deepEqual(await ask(box, query), ALL);
    ok(await box.redefine({ indexingPolicy: policies['all but one property'] }), 200);
    await assert.rejects(ask(box, query), { code: 400 });
    ok(await box.redefine({ indexingPolicy: policies.everything }), 200);
    assert.deepEqual(await ask(box, query), ALL.slice(1));
  });

  test('a composite index keeps them too', async () => {
    const compositeIndexes = [
      [
        { path: '/a', order: 'ascending' },
        { path: '/id', order: 'descending' },
      ],
    ];
    const box = await filled({ indexingPolicy: { ...policies.everything, compositeIndexes } });
    assert.deepEqual(await ask(box, 'SELECT VALUE c.id FROM c ORDER BY c.a, c.id DESC'), ALL);
    const back = await ask(box, 'SELECT VALUE c.id FROM c ORDER BY c.a DESC, c.id');
    assert.deepEqual(back, [...ALL].reverse());
    for (const order of ['c.a, c.id', 'c.id DESC, c.a', 'c.a, c.b']) {
      const query = `SELECT VALUE c.id FROM c ORDER BY ${order}`;
      await assert.rejects(ask(box, query), { code: 400 }, order);
    }
  });
});

describe('ORDER BY on a path that is not indexed is refused', () => {
  for (const [name, refusedPaths, served] of [
    ['all but one property', ['a'], ['b.c', 'id', '_ts']],
    ['all but a branch', ['b.c', 'b.d'], ['a', 'id', '_ts']],
    ['a branch but one leaf of it', ['b.c'], ['b.d', 'a', 'id']],
    ['one property', ['b.c'], ['a', 'id', '_ts']],
    ['no index', ['a', 'id'], []],
  ] as const) {
    test(name, async () => {
      const box = await filled({ indexingPolicy: policies[name] });
      for (const path of refusedPaths) {
        refused(await raw(box, `SELECT * FROM c ORDER BY c.${path}`), 400, 0, 'excluded');
      }
      for (const path of served) ok(await raw(box, `SELECT * FROM c ORDER BY c.${path}`), 200);
    });
  }
});

test('T24: time to live needs an index, and a refusal changes nothing', async () => {
  const box = await filled({ defaultTtl: 100 });
  refused(await box.redefine({ indexingPolicy: policies['no index'] }), 400, 0, 'defaultTtl');
  await checkQueries(box, 'after the refusal');
  const none = await filled({ indexingPolicy: policies['no index'] });
  refused(await none.redefine({ defaultTtl: 100 }), 400, 0, 'defaultTtl');
  await checkQueries(none, 'after the refusal');
});

async function filled(definition: Json): Promise<Box> {
  const box = await server.box(definition);
  for (const item of items) ok(await box.create({ ...item, pk: 'p' }), 201);
  return box;
}

async function checkQueries(box: Box, when: string): Promise<void> {
  const replies = await Promise.all(QUERIES.map(([query]) => raw(box, query)));
  for (const [index, reply] of replies.entries()) {
    const [query, expected] = QUERIES[index] ?? [];
    const found: readonly unknown[] = documents(ok(reply, 200));
    assert.deepEqual([...found].sort(), expected, `${query} with ${when}`);
  }
}

/** Asks until the index is built; every read gives the server time to go on. */
async function settled(box: Box): Promise<void> {
  let last = 0;
  for (let reads = 0; reads < 10_000; reads++) {
    const progress = await progressOf(box);
    assert.ok(progress >= last && progress <= 100, `${progress} after ${last}`);
    if (progress === 100) return;
    last = progress;
  }
  assert.fail(`the index stays at ${last} per cent`);
}

async function progressOf(box: Box): Promise<number> {
  return Number(headerOf(ok(await server.send('GET', box.path), 200), PROGRESS));
}

async function ask(box: Box, query: string): Promise<readonly unknown[]> {
  const { items: own } = client.database(box.database).container('c');
  return (await own.query(query).fetchAll()).resources;
}

async function pagesOf(box: Box, query: string, size: number): Promise<readonly unknown[]> {
  const { items: own } = client.database(box.database).container('c');
  return (await own.query(query, { maxItemCount: size }).fetchAll()).resources;
}

function raw(box: Box, query: string): Promise<Reply> {
  const headers = { 'content-type': 'application/query+json' };
  return server.send('POST', `${box.path}/docs`, { body: { query }, headers });
}
