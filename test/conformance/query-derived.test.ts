// FROM (SELECT …) over the container where the inner query needs all its rows: DISTINCT, GROUP BY,
// aggregates, ORDER BY, TOP, OFFSET; whole and page by page, planned where one range has it all.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Container, FeedOptions } from '@azure/cosmos';
import { type Box, headerOf, ok, refused, serve } from './support.suite.js';

const server = await serve();
const client = server.client();

/** Numbers 0 to 29 in six keys, groups of different sizes. */
const items = Array.from({ length: 30 }, (_, n) => ({
  id: `i${String(n).padStart(2, '0')}`,
  pk: `k${n % 6}`,
  n,
  group: n < 3 ? 'few' : n < 10 ? 'some' : 'many',
  tags: [`t${n % 2}`, `t${n % 3}`],
}));

let one: Box;
let many: Box;
before(async () => {
  one = await server.box();
  many = await server.box({}, { 'x-ms-offer-throughput': '30000' });
  for (const item of items) {
    ok(await one.create(item), 201);
    ok(await many.create(item), 201);
  }
});

// biome-ignore format: a table is read in columns
const rows: readonly (readonly [query: string, expected: readonly unknown[]])[] = [
  ['SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.group FROM c)', [3]],
  ['SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.group FROM c) AS g', [3]],
  ['SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.group FROM c) AS g', [{ n: 3 }]],
  ["SELECT VALUE g.group FROM (SELECT DISTINCT c.group FROM c) AS g WHERE g.group > 'few'", ['many', 'some']],
  ['SELECT * FROM (SELECT c.group, COUNT(1) AS n FROM c GROUP BY c.group) AS g WHERE g.n > 5',
    [{ group: 'many', n: 20 }, { group: 'some', n: 7 }]],
  ['SELECT VALUE MAX(g.n) FROM (SELECT c.group, COUNT(1) AS n FROM c GROUP BY c.group) AS g', [20]],
  ['SELECT VALUE g.group FROM (SELECT c.group, COUNT(1) AS n FROM c GROUP BY c.group) AS g ORDER BY g.n DESC',
    ['many', 'some', 'few']],
  ['SELECT VALUE s.total + 1 FROM (SELECT SUM(c.n) AS total FROM c) AS s', [436]],
  ['SELECT VALUE SUM(s.n) FROM (SELECT TOP 4 c.n FROM c ORDER BY c.n DESC) AS s', [110]],
  ['SELECT VALUE s.n FROM (SELECT c.n FROM c ORDER BY c.n OFFSET 3 LIMIT 2) AS s', [3, 4]],
  ['SELECT VALUE s.id FROM (SELECT TOP 3 * FROM c ORDER BY c.n) AS s', ['i00', 'i01', 'i02']],
  ['SELECT VALUE t FROM (SELECT TOP 2 * FROM c ORDER BY c.n) AS s JOIN t IN s.tags', ['t0', 't0', 't1', 't1']],
  ['SELECT VALUE s FROM s IN (SELECT VALUE c.tags FROM c ORDER BY c.n OFFSET 3 LIMIT 1)', ['t1', 't0']],
  ['SELECT s.g, COUNT(1) AS n FROM (SELECT DISTINCT c.group AS g, c.pk FROM c) AS s GROUP BY s.g',
    [{ g: 'few', n: 3 }, { g: 'many', n: 6 }, { g: 'some', n: 6 }]],
  ['SELECT DISTINCT VALUE s.x FROM (SELECT TOP 10 c.n % 3 AS x FROM c ORDER BY c.n) AS s', [0, 1, 2]],
  ['SELECT VALUE COUNT(1) FROM (SELECT VALUE x FROM (SELECT DISTINCT VALUE c.pk FROM c) AS x) AS y', [6]],
  ['SELECT VALUE AVG(y.n) FROM (SELECT TOP 2 x.n FROM (SELECT c.group, COUNT(1) AS n FROM c GROUP BY c.group) AS x ORDER BY x.n) AS y', [5]],
  ["SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.group FROM c WHERE c.pk = 'k1') AS g", [3]],
  ['SELECT VALUE s.n FROM (SELECT c.n FROM c WHERE c.n < 0 ORDER BY c.n) AS s', []],
  ['SELECT TOP 1 VALUE s.n FROM (SELECT c.n FROM c ORDER BY c.n) AS s', [0]],
];

test('over all partitions, whole and in pages of any size', async () => {
  for (const box of [one, many]) {
    for (const maxItemCount of [100, 2, 1]) {
      for (const [query, expected] of rows) {
        const found = await ask(containerOf(box), query, { maxItemCount });
        assert.deepEqual(inOrder(query, found), inOrder(query, expected), query);
      }
    }
  }
});

test('in one partition', async () => {
  const query = 'SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.group FROM c WHERE c.n < 9)';
  assert.deepEqual(await ask(containerOf(many), query, { partitionKey: 'k5' }), [1]);
});

test('by the plan, where one range has it all', async () => {
  for (const [query, expected] of rows) {
    const found = await ask(containerOf(one), query, { forceQueryPlan: true });
    assert.deepEqual(inOrder(query, found), inOrder(query, expected), query);
  }
  const pinned =
    "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.group FROM c WHERE c.pk = 'k1') AS g";
  assert.deepEqual(await ask(containerOf(many), pinned, { forceQueryPlan: true }), [3]);
});

const PLAN = {
  'content-type': 'application/query+json',
  'x-ms-cosmos-is-query-plan-request': 'True',
};

test('over several ranges the plan counts distinct rows for clients that can', async () => {
  const path = `${many.path}/docs`;
  const supported = 'Distinct, DCount, Aggregate';
  for (const [query, dCountAlias] of [
    ['SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.group FROM c)', ''],
    ['SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.group FROM c) AS g', 'n'],
    ['SELECT COUNT(1) FROM (SELECT DISTINCT c.group FROM c) AS g', '$1'],
  ] as const) {
    const body = { query };
    const headers = { ...PLAN, 'x-ms-cosmos-supported-query-features': supported };
    const { json } = ok(await server.send('POST', path, { body, headers }), 200);
    const info = json.queryInfo as Record<string, unknown>;
    assert.deepEqual(info.dCountInfo, { dCountAlias });
    assert.equal(info.distinctType, 'Unordered');
    assert.deepEqual(info.aggregates, []);
    assert.equal(info.rewrittenQuery, 'SELECT DISTINCT c.group FROM c');
    const without = { ...PLAN, 'x-ms-cosmos-supported-query-features': 'Distinct' };
    refused(await server.send('POST', path, { body, headers: without }), 400, 0, 'DCount');
  }
  const others = [
    'SELECT VALUE s.n FROM (SELECT TOP 2 c.n FROM c ORDER BY c.n) AS s',
    rows[4]?.[0],
  ];
  for (const query of others) {
    const reply = await server.send('POST', path, { body: { query }, headers: PLAN });
    refused(reply, 400, 0, 'FROM (SELECT …)');
  }
});

test('what it reads is told, and a large one is refused', async () => {
  const headers = {
    'content-type': 'application/query+json',
    'x-ms-documentdb-populatequerymetrics': 'true',
  };
  const query = 'SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.group FROM c)';
  const reply = ok(
    await server.send('POST', `${one.path}/docs`, { body: { query }, headers }),
    200,
  );
  const metrics = headerOf(reply, 'x-ms-documentdb-query-metrics') ?? '';
  assert.match(metrics, /retrievedDocumentCount=30;.*outputDocumentCount=1;/);
  const box = await server.box();
  const text = 'x'.repeat(1_900_000);
  for (let n = 0; n < 20; n++) ok(await box.create({ id: `${n}`, pk: 'p', n, text }), 201);
  const large = 'SELECT VALUE COUNT(1) FROM (SELECT * FROM c ORDER BY c.n) AS x';
  await assert.rejects(ask(containerOf(box), large, {}), {
    code: 400,
    message: /FROM \(SELECT …\)/,
  });
});

function containerOf(box: Box): Container {
  return client.database(box.database).container('c');
}

async function ask(container: Container, query: string, options: FeedOptions) {
  return (await container.items.query<unknown>(query, options).fetchAll()).resources;
}

/** Rows come in the order of the outer query's ORDER BY, or else in that of the inner one. */
function inOrder(query: string, found: readonly unknown[]): readonly unknown[] {
  if (query.includes('ORDER BY') && !query.includes('JOIN')) return found;
  return [...found].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
