// What a query tells of itself when asked: the time and the documents it took, the indexes it used
// and those it would have used.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Container, QueryMetrics } from '@azure/cosmos';
import { type Box, headerOf, type Json, ok, type Reply, serve } from './support.suite.js';

const server = await serve();
const client = server.client();
const COUNT = 40;
const QUERY_METRICS = 'x-ms-documentdb-query-metrics';
const INDEX_METRICS = 'x-ms-cosmos-index-utilization';

const indexingPolicy = {
  includedPaths: [{ path: '/*' }],
  excludedPaths: [{ path: '/free/*' }, { path: '/also/?' }],
  compositeIndexes: [
    [
      { path: '/group', order: 'ascending' },
      { path: '/n', order: 'descending' },
    ],
  ],
};
const items = Array.from({ length: COUNT }, (_, n) => ({
  id: `i${n}`,
  pk: `k${n % 7}`,
  n,
  group: `g${n % 4}`,
  'odd-name': n,
  tags: [`t${n % 3}`],
  free: { text: `f${n}` },
  also: n,
}));

let box: Box;
let container: Container;
let spread: Container;

before(async () => {
  box = await server.box({ indexingPolicy });
  const wide = await server.box({ indexingPolicy }, { 'x-ms-offer-throughput': '30000' });
  for (const item of items) {
    ok(await box.create(item), 201);
    ok(await wide.create(item), 201);
  }
  container = client.database(box.database).container('c');
  spread = client.database(wide.database).container('c');
});

describe('query metrics', () => {
  test('are there when asked for, with every key', async () => {
    const query = 'SELECT * FROM c';
    assert.equal(headerOf(ok(await raw(query), 200), QUERY_METRICS), undefined);
    const text = headerOf(await raw(query, ASK_QUERY), QUERY_METRICS) ?? '';
    const keys = text.split(';').map((pair) => pair.split('=')[0]);
    assert.deepEqual(keys, [
      'totalExecutionTimeInMs',
      'queryCompileTimeInMs',
      'queryLogicalPlanBuildTimeInMs',
      'queryPhysicalPlanBuildTimeInMs',
      'queryOptimizationTimeInMs',
      'VMExecutionTimeInMs',
      'indexLookupTimeInMs',
      'instructionCount',
      'documentLoadTimeInMs',
      'systemFunctionExecuteTimeInMs',
      'userFunctionExecuteTimeInMs',
      'retrievedDocumentCount',
      'retrievedDocumentSize',
      'outputDocumentCount',
      'outputDocumentSize',
      'writeOutputTimeInMs',
      'indexUtilizationRatio',
    ]);
    assert.match(text, /^(\w+=\d+(\.\d+)?)(;\w+=\d+(\.\d+)?)*$/);
  });

  test('of another value than true or false are refused', async () => {
    for (const name of [...Object.keys(ASK_QUERY), ...Object.keys(ASK_NEWER)]) {
      assert.equal((await raw('SELECT * FROM c', { [name]: 'perhaps' })).status, 400);
    }
  });

  const size = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).join('').length;
  for (const [query, retrieved, hits, rows] of [
    ['SELECT VALUE c.id FROM c WHERE c.n * 2 >= 8', COUNT, COUNT - 4, COUNT - 4],
    ['SELECT VALUE c.n FROM c WHERE c.n >= 30', 10, 10, 10],
    ["SELECT VALUE c.id FROM c WHERE c.group = 'g1' AND CONTAINS(c.id, '1')", 10, 4, 4],
    ['SELECT VALUE c.id FROM c WHERE c.also = 3', COUNT, 1, 1],
    ['SELECT VALUE c.id FROM c WHERE c.n < 0', 0, 0, 0],
    ['SELECT VALUE COUNT(1) FROM c', 0, 0, 1],
    ['SELECT VALUE t FROM c JOIN t IN c.tags WHERE c.n < 6 ORDER BY c.n DESC', 6, 6, 6],
  ] as const) {
    test(`count and measure: ${query}`, async () => {
      const asked = container.items.query(query, { populateQueryMetrics: true, maxItemCount: 100 });
      const { resources, queryMetrics } = await asked.fetchAll();
      const metrics = onlyOne(queryMetrics);
      assert.equal(resources.length, rows);
      assert.equal(metrics.retrievedDocumentCount, retrieved);
      assert.equal(metrics.outputDocumentCount, rows);
      assert.equal(metrics.outputDocumentSize, size(resources));
      if (retrieved > 0) assert.equal(metrics.indexHitDocumentCount, hits);
      assert.equal(metrics.retrievedDocumentSize > 0, retrieved > 0);
      checkTimes(metrics);
    });
  }

  test('tell the time of functions', async () => {
    const text = 'x'.repeat(200_000);
    const own = await server.box();
    ok(await own.create({ id: '1', pk: 'p', text }), 201);
    const query = "SELECT VALUE LENGTH(REPLACE(REVERSE(c.text), 'x', 'yy')) FROM c";
    const asked = client
      .database(own.database)
      .container('c')
      .items.query(query, { populateQueryMetrics: true });
    const metrics = onlyOne((await asked.fetchAll()).queryMetrics);
    const { systemFunctionExecutionTime, userDefinedFunctionExecutionTime } =
      metrics.runtimeExecutionTimes;
    assert.ok(systemFunctionExecutionTime.totalMilliseconds() > 0);
    assert.equal(userDefinedFunctionExecutionTime.totalMilliseconds(), 0);
  });

  test('are those of each range where the client runs the plan', async () => {
    const asked = spread.items.query('SELECT * FROM c ORDER BY c.n', {
      populateQueryMetrics: true,
      forceQueryPlan: true,
      maxItemCount: 100,
    });
    const { queryMetrics, resources } = await asked.fetchAll();
    assert.equal(resources.length, COUNT);
    const ranges = Object.values(queryMetrics as unknown as Record<string, QueryMetrics>);
    const sum = ranges.reduce((all, each) => all + each.outputDocumentCount, 0);
    assert.equal(sum, COUNT);
  });

  test('are told of resources as well', async () => {
    const reply = await server.send('POST', '/dbs', {
      body: { query: 'SELECT * FROM d' },
      headers: { ...IS_QUERY, ...ASK_QUERY, ...ASK_NEWER },
    });
    assert.match(headerOf(ok(reply, 200), QUERY_METRICS) ?? '', /retrievedDocumentCount=\d/);
    assert.deepEqual(newer(reply), { used: [], missed: [] });
  });
});

describe('index metrics', () => {
  /** The query, the indexes it reads, and those it lacks. */
  // biome-ignore format: a table is read in columns
  const rows: readonly (readonly [string, readonly unknown[], readonly unknown[]])[] = [
    ['SELECT * FROM c', [], []],
    ['SELECT * FROM c WHERE c.n = 3', ['/n/?'], []],
    ['SELECT * FROM c WHERE c.n >= 37', ['/n/?'], []],
    ['SELECT * FROM c WHERE c["odd-name"] = 1', ['/"odd-name"/?'], []],
    ["SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, 't1')", ['/tags/[]/?'], []],
    // The plan reads one index, and would read both conditions from a composite one.
    ["SELECT * FROM c WHERE c.n = 3 AND c['odd-name'] = 3", ['/"odd-name"/?'], [['/n ASC', '/"odd-name" ASC']]],
    ['SELECT * FROM c WHERE c.id = \'i3\' AND c.n > 2', ['/id/?'], [['/id ASC', '/n ASC']]],
    ["SELECT * FROM c WHERE c.pk = 'k1' AND c.n > 2 ORDER BY c.group DESC", ['/group/?'], [['/pk ASC', '/group ASC']]],
    ['SELECT * FROM c WHERE c.n > 3 AND c["odd-name"] > 3', ['/"odd-name"/?'], []],
    ["SELECT * FROM c WHERE c.n = 3 AND c.group = 'g3'", [['/group ASC', '/n DESC']], []],
    ['SELECT * FROM c WHERE c.also = 3', [], ['/also/?']],
    ["SELECT * FROM c WHERE c.also = 3 AND c.free.text = 'f3'", [],
      ['/also/?', '/free/text/?', ['/also ASC', '/free/text ASC']]],
    ['SELECT * FROM c WHERE c.n = 3 AND c.also < 9', ['/n/?'], ['/also/?', ['/n ASC', '/also ASC']]],
    ['SELECT * FROM c WHERE c.also > 3 AND c.also < 9', [], ['/also/?']],
    // No index helps with these.
    ['SELECT * FROM c WHERE c.n + 1 = 3', [], []],
    ["SELECT * FROM c WHERE CONTAINS(c.free.text, 'f')", [], []],
    ['SELECT * FROM c ORDER BY c.n', ['/n/?'], []],
    ['SELECT * FROM c ORDER BY c.group, c.n DESC', [['/group ASC', '/n DESC']], []],
    // The same index, read backwards.
    ['SELECT * FROM c ORDER BY c.group DESC, c.n', [['/group ASC', '/n DESC']], []],
    ['SELECT VALUE COUNT(1) FROM c', [], []],
    ['SELECT VALUE COUNT(1) FROM c WHERE c.n > 3', ['/n/?'], []],
  ];
  for (const [query, used, missed] of rows) {
    test(query, async () => {
      const reply = ok(await raw(query, ASK_NEWER), 200);
      assert.deepEqual(newer(reply), { used, missed });
      assert.deepEqual(older(ok(await raw(query, ASK_OLDER), 200)), { used, missed });
    });
  }

  test('a composite index that is missed is read when it is there', async () => {
    for (const query of [
      "SELECT * FROM c WHERE c.pk = 'k1' AND c.n > 2",
      "SELECT * FROM c WHERE c.pk = 'k1' AND c.n = 1 AND c.id = 'i1'",
      "SELECT * FROM c WHERE c.pk = 'k1' ORDER BY c.n",
      "SELECT * FROM c WHERE c.pk = 'k1' AND c.also > 2 ORDER BY c.n DESC",
      "SELECT * FROM c WHERE c.n = 1 AND STARTSWITH(c.pk, 'k')",
    ]) {
      const own = await server.box();
      for (const item of items) ok(await own.create(item), 201);
      const { missed } = newer(ok(await raw(query, ASK_NEWER, own), 200));
      const specs = missed.find(Array.isArray) as readonly string[] | undefined;
      assert.ok(specs, query);
      const composite = specs.map((spec) => {
        const [path, order] = spec.split(' ');
        return { path, order: order === 'DESC' ? 'descending' : 'ascending' };
      });
      const there = await server.box({ indexingPolicy: { compositeIndexes: [composite] } });
      for (const item of items) ok(await there.create(item), 201);
      const after = newer(ok(await raw(query, ASK_NEWER, there), 200));
      assert.deepEqual(after, { used: [specs], missed: [] }, query);
    }
  });

  test('are there only when asked for, and then on every page', async () => {
    const query = 'SELECT * FROM c WHERE c.n >= 0 ORDER BY c.n';
    assert.equal(headerOf(ok(await raw(query), 200), INDEX_METRICS), undefined);
    const iterator = container.items.query(query, { populateIndexMetrics: true, maxItemCount: 15 });
    let pages = 0;
    while (iterator.hasMoreResults() && pages < COUNT) {
      const { indexMetrics } = await iterator.fetchNext();
      assert.deepEqual(JSON.parse(indexMetrics), {
        UtilizedIndexes: { SingleIndexes: [{ IndexSpec: '/n/?' }], CompositeIndexes: [] },
        PotentialIndexes: { SingleIndexes: [], CompositeIndexes: [] },
      });
      pages += 1;
    }
    assert.equal(pages, 3);
  });

  test('come through the plan of the client', async () => {
    const query = 'SELECT * FROM c WHERE c.also < 3 ORDER BY c.n';
    const options = { populateIndexMetrics: true, forceQueryPlan: true };
    const { indexMetrics } = await spread.items.query(query, options).fetchNext();
    const { UtilizedIndexes, PotentialIndexes } = JSON.parse(indexMetrics) as Record<string, Json>;
    assert.deepEqual(UtilizedIndexes?.SingleIndexes, [{ IndexSpec: '/n/?' }]);
    assert.deepEqual(PotentialIndexes?.SingleIndexes, [
      { IndexSpec: '/also/?', IndexImpactScore: 'High' },
    ]);
  });

  test('name no index that was not read, because there is none', async () => {
    const own = await server.box({ indexingPolicy: { indexingMode: 'none', automatic: false } });
    ok(await own.create({ id: '1', pk: 'p', n: 1 }), 201);
    const reply = await raw('SELECT * FROM c WHERE c.n = 1', ASK_NEWER, own);
    assert.deepEqual(newer(ok(reply, 200)), { used: [], missed: ['/n/?'] });
  });
});

test('web pages may read both', async () => {
  const open = await serve({ corsOrigins: ['http://a.test'] });
  const reply = await open.send('POST', '/dbs', {
    body: { query: 'SELECT * FROM d' },
    headers: { ...IS_QUERY, ...ASK_QUERY, ...ASK_NEWER, origin: 'http://a.test' },
  });
  const exposed = headerOf(ok(reply, 200), 'access-control-expose-headers')?.split(', ');
  for (const name of [QUERY_METRICS, INDEX_METRICS]) {
    assert.ok(headerOf(reply, name) && exposed?.includes(name), name);
  }
});

const IS_QUERY = { 'content-type': 'application/query+json' };
const ASK_QUERY = { 'x-ms-documentdb-populatequerymetrics': 'true' };
const ASK_NEWER = { 'x-ms-cosmos-populateindexmetrics-V2': 'true' };
const ASK_OLDER = { 'x-ms-cosmos-populateindexmetrics': 'True' };

function raw(query: string, headers: Readonly<Record<string, string>> = {}, of = box) {
  const all = { ...IS_QUERY, ...headers };
  return server.send('POST', `${of.path}/docs`, { body: { query }, headers: all });
}

interface Entry {
  readonly IndexSpec?: string;
  readonly IndexSpecs?: readonly string[];
}
type Lists = Readonly<Record<string, readonly Entry[]>>;

function newer(reply: Reply): { used: readonly unknown[]; missed: readonly unknown[] } {
  const text = decodeURIComponent(headerOf(reply, INDEX_METRICS) ?? '');
  const { UtilizedIndexes, PotentialIndexes } = JSON.parse(text) as Record<string, Lists>;
  const specs = (lists: Lists | undefined) => [
    ...(lists?.SingleIndexes ?? []).map(({ IndexSpec }) => IndexSpec),
    ...(lists?.CompositeIndexes ?? []).map(({ IndexSpecs }) => IndexSpecs),
  ];
  return { used: specs(UtilizedIndexes), missed: specs(PotentialIndexes) };
}

function older(reply: Reply): object {
  const text = Buffer.from(headerOf(reply, INDEX_METRICS) ?? '', 'base64').toString();
  const lists = JSON.parse(text) as Lists;
  const specs = (kind: string) => [
    ...(lists[`${kind}SingleIndexes`] ?? []).map(({ IndexSpec }) => IndexSpec),
    ...(lists[`${kind}CompositeIndexes`] ?? []).map(({ IndexSpecs }) => IndexSpecs),
  ];
  return { used: specs('Utilized'), missed: specs('Potential') };
}

/** The client keeps them by range. */
function onlyOne(metrics: unknown): QueryMetrics {
  const [first, ...more] = Object.values(metrics as Record<string, QueryMetrics>);
  assert.ok(first && more.length === 0, 'metrics of one range');
  return first;
}

function checkTimes(metrics: QueryMetrics): void {
  const total = metrics.totalQueryExecutionTime.totalMilliseconds();
  const run = metrics.vmExecutionTime.totalMilliseconds();
  const parts = [metrics.indexLookupTime, metrics.documentLoadTime, metrics.documentWriteTime];
  const sum = parts.reduce((all, part) => all + part.totalMilliseconds(), 0);
  // Each is rounded to hundredths.
  assert.ok(total > 0 && run <= total + 0.02, `${run} of ${total}`);
  assert.ok(sum <= run + 0.05, `${sum} of ${run}`);
}
