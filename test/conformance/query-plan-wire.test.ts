// Query plans as they go over the wire, and the answers of a partition to rewritten queries.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Box,
  type Headers,
  headerOf,
  type Json,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const FEATURES =
  'NonValueAggregate, Aggregate, Distinct, MultipleOrderBy, OffsetAndLimit, OrderBy, Top, ' +
  'CompositeAggregate, GroupBy, MultipleAggregates, NonStreamingOrderBy, ListAndSetAggregate, CountIf';
const PARAMETERS = [
  { name: '@n', value: 5 },
  { name: '@near', value: [1, 0] },
];
/** ORDER BY several properties needs an index of just these. */
const COMPOSITE = [
  { path: '/b', order: 'descending' },
  { path: '/id', order: 'ascending' },
];

test('a query that needs nothing has a plan that says so', async () => {
  const box = await server.box();
  const reply = ok(await plan(box, 'SELECT * FROM c'), 200);
  assert.deepEqual(reply.json, {
    partitionedQueryExecutionInfoVersion: 2,
    queryInfo: {
      distinctType: 'None',
      top: null,
      offset: null,
      limit: null,
      orderBy: [],
      orderByExpressions: [],
      groupByExpressions: [],
      groupByAliases: [],
      aggregates: [],
      groupByAliasToAggregateType: {},
      rewrittenQuery: '',
      hasSelectValue: false,
      dCountInfo: null,
      hasNonStreamingOrderBy: false,
    },
    queryRanges: [{ min: '', max: 'FF', isMinInclusive: true, isMaxInclusive: false }],
  });
  assert.ok(Number(headerOf(reply, 'x-ms-request-charge')) > 0);
});

test('a plan names order, groups and aggregates as clients do', async () => {
  const box = await server.box();
  const info = async (query: string) => {
    const { json } = ok(await plan(box, query), 200);
    return json.queryInfo as Json;
  };
  const ordered = await info('SELECT DISTINCT TOP @n VALUE c.a FROM c ORDER BY c.a DESC');
  assert.equal(ordered.distinctType, 'Ordered');
  assert.equal(ordered.top, 5);
  assert.equal(ordered.hasSelectValue, true);
  assert.deepEqual(ordered.orderBy, ['Descending']);
  assert.deepEqual(ordered.orderByExpressions, ['c.a']);
  const grouped = await info('SELECT c.a, AVG(c.b), MAKESET(c.b) AS s FROM c GROUP BY c.a');
  assert.deepEqual(grouped.groupByExpressions, ['c.a']);
  assert.deepEqual(grouped.groupByAliases, ['a', '$1', 's']);
  assert.deepEqual(grouped.aggregates, []);
  const types = { a: null, $1: 'Average', s: 'MakeSet' };
  assert.deepEqual(grouped.groupByAliasToAggregateType, types);
  assert.deepEqual((await info('SELECT VALUE COUNTIF(c.a) FROM c')).aggregates, ['CountIf']);
  const near = await info('SELECT TOP 3 * FROM c ORDER BY VectorDistance(c.v, @near)');
  assert.equal(near.hasNonStreamingOrderBy, true);
});

test('a plan tells where the partition keys of the filter lie', async () => {
  const ranges = async (box: Box, where: string) => {
    const { json } = ok(await plan(box, `SELECT * FROM c WHERE ${where}`), 200);
    const list = json.queryRanges as readonly Json[];
    return list.map(({ min, max, isMaxInclusive }) => [min, max, isMaxInclusive]);
  };
  const a = '3A5381E1114EB8D3FCC90795045B49B7';
  const one = '20CD98B339BA78A5D0CF6953B87070B0';
  const single = await server.box();
  assert.deepEqual(await ranges(single, "c.pk = 'a' AND c.x > 1"), [[a, a, true]]);
  assert.deepEqual(await ranges(single, "c.pk IN ('a', 1)"), [
    [one, one, true],
    [a, a, true],
  ]);
  assert.deepEqual(await ranges(single, 'c.pk = 1 AND c.pk = 2'), [['', '', true]]);
  assert.deepEqual(await ranges(single, 'c.pk > 1'), [['', 'FF', false]]);
  const partitionKey = { paths: ['/pk', '/user'], kind: 'MultiHash', version: 2 };
  const double = await server.box({ partitionKey });
  assert.deepEqual(await ranges(double, "c.pk = 'a'"), [[a, `${a}FF`, false]]);
  const whole = `${a}${one}`;
  assert.deepEqual(await ranges(double, "c.pk = 'a' AND c.user = 1"), [[whole, whole, true]]);
  assert.deepEqual(await ranges(double, 'c.user = 1'), [['', 'FF', false]]);
});

test('a client that lacks a feature is told which', async () => {
  const box = await server.box();
  const text =
    'Query contains 1 or more unsupported features. Upgrade your SDK to a version that does ' +
    'support the requested features: ';
  const listing = (features: string) => ({ 'x-ms-cosmos-supported-query-features': features });
  const ordered = 'SELECT TOP 1 * FROM c ORDER BY c.a, c.b';
  refused(await plan(box, ordered, listing('Top')), 400, 0, `${text}OrderBy, MultipleOrderBy.`);
  ok(await plan(box, ordered, listing('Top,OrderBy,MultipleOrderBy')), 200);
  ok(await plan(box, 'SELECT * FROM c', listing('None')), 200);
  for (const [query, feature] of [
    ['SELECT VALUE SUM(c.a) FROM c', 'Aggregate'],
    ['SELECT SUM(c.a) AS s FROM c', 'NonValueAggregate'],
    ['SELECT SUM(c.a) AS s, MAX(c.a) AS m FROM c', 'MultipleAggregates'],
    ['SELECT VALUE COUNTIF(c.a) FROM c', 'CountIf'],
    ['SELECT VALUE MAKELIST(c.a) FROM c', 'ListAndSetAggregate'],
    ['SELECT c.a FROM c GROUP BY c.a', 'GroupBy'],
    ['SELECT DISTINCT c.a FROM c', 'Distinct'],
    ['SELECT * FROM c OFFSET 1 LIMIT 1', 'OffsetAndLimit'],
    ['SELECT TOP 1 * FROM c ORDER BY VectorDistance(c.v, @near)', 'NonStreamingOrderBy'],
  ] as const) {
    const others = FEATURES.split(', ').filter((name) => name !== feature);
    refused(await plan(box, query, listing(others.join())), 400, 0, `${text}${feature}.`);
    ok(await plan(box, query, listing(FEATURES)), 200);
  }
});

test('a plan refuses what the query itself would be refused for, and what cannot be merged', async () => {
  const box = await server.box();
  for (const [query, text] of [
    ['SELECT * FROM', 'SC1001'],
    ['SELECT x.a FROM c', 'SC2001'],
    ['SELECT NOPE(c.a) FROM c', 'SC2005'],
    ['SELECT TOP @missing * FROM c', '@missing'],
    ['SELECT VALUE ABS(AVG(c.a)) FROM c', 'Compositions of aggregates'],
  ] as const) {
    const reply = await plan(box, query);
    assert.equal(reply.status, 400, query);
    assert.ok(reply.text.includes(text), reply.text);
  }
});

/** What a partition with these items answers to rewritten queries. */
const SHAPED = [
  { id: '1', pk: 'p', a: 2, b: 'x', list: [1] },
  { id: '2', pk: 'p', a: 4, b: 'y', list: [2] },
  { id: '3', pk: 'p', b: 'x' },
];
const SHAPES: readonly (readonly [string, readonly unknown[]])[] = [
  ['SELECT VALUE [{"item": COUNT(1)}] FROM c', [[{ item: 3 }]]],
  ['SELECT VALUE [{"item": SUM(c.a)}] FROM c', [[{ item: 6 }]]],
  ['SELECT VALUE [{"item": SUM(c.a)}] FROM c WHERE false', [[{ item: 0 }]]],
  ['SELECT VALUE [{"item": SUM(c.b)}] FROM c', [[{}]]],
  [
    'SELECT VALUE [{"item": {"sum": SUM(c.a), "count": COUNT(c.a)}}] FROM c',
    [[{ item: { sum: 6, count: 2 } }]],
  ],
  [
    'SELECT VALUE [{"item": {"sum": SUM(c.a), "count": COUNT(c.a)}}] FROM c WHERE c.a > 9',
    [[{ item: { sum: 0, count: 0 } }]],
  ],
  [
    'SELECT VALUE [{"item": {"sum": SUM(c.b), "count": COUNT(c.b)}}] FROM c',
    [[{ item: { count: 3 } }]],
  ],
  [
    'SELECT VALUE [{"item": MIN(c.a), "item2": {"min": MIN(c.a), "count": COUNT(c.a)}}] FROM c',
    [[{ item: 2, item2: { min: 2, count: 2 } }]],
  ],
  [
    'SELECT VALUE [{"item": MIN(c.z), "item2": {"min": MIN(c.z), "count": COUNT(c.z)}}] FROM c',
    [[{ item2: { count: 0 } }]],
  ],
  [
    'SELECT VALUE [{"item": MAX(c.list), "item2": {"max": MAX(c.list), "count": COUNT(c.list)}}] FROM c',
    [[{ item2: { count: 2 } }]],
  ],
  [
    'SELECT {"s": {"item": SUM(c.b)}, "$1": {"item": {"sum": SUM(c.z), "count": COUNT(c.z)}}} AS payload FROM c',
    [{ payload: { s: {}, $1: { item: { sum: 0, count: 0 } } } }],
  ],
  [
    'SELECT [{"item": c.a}, {"item": c.b}] AS groupByItems, {"b": c.b, "n": {"item": COUNT(1)}} AS payload FROM c WHERE c.b = "x" GROUP BY c.a, c.b',
    [
      { groupByItems: [{}, { item: 'x' }], payload: { b: 'x', n: { item: 1 } } },
      { groupByItems: [{ item: 2 }, { item: 'x' }], payload: { b: 'x', n: { item: 1 } } },
    ],
  ],
  [
    'SELECT [{"item": c.a}] AS groupByItems, c.a AS payload FROM c WHERE c.id = "3" GROUP BY c.a',
    [{ groupByItems: [{}] }],
  ],
  [
    'SELECT [{"item": c.z}, {"item": c.a}] AS orderByItems, c.id AS payload FROM c WHERE (true) ORDER BY c.b DESC, c.id',
    [
      { orderByItems: [{}, { item: 4 }], payload: '2' },
      { orderByItems: [{}, { item: 2 }], payload: '1' },
      { orderByItems: [{}, {}], payload: '3' },
    ],
  ],
  [
    'SELECT [{"item": c.a}] AS orderByItems, c.id AS payload FROM c WHERE ((c.b != "z") AND ((c.a > 2) OR (c.a = 2 AND c.id >= "1"))) ORDER BY c.a DESC',
    [
      { orderByItems: [{ item: 4 }], payload: '2' },
      { orderByItems: [{ item: 2 }], payload: '1' },
    ],
  ],
];

test('partitions answer rewritten queries in the shapes that clients merge', async () => {
  const box = await server.box({ indexingPolicy: { compositeIndexes: [COMPOSITE] } });
  const made = [];
  for (const item of SHAPED) made.push(ok(await box.create(item), 201).json);
  for (const [query, rows] of SHAPES) {
    const reply = ok(await ask(box, query, {}), 200);
    assert.deepEqual(reply.json.Documents, rows, query);
  }
  const whole =
    'SELECT c._rid, [{"item": c.b}] AS orderByItems, c AS payload FROM c WHERE (true) ORDER BY c.b DESC';
  const { json } = ok(await ask(box, whole, {}), 200);
  const [first] = json.Documents as readonly Json[];
  const { _rid } = made[1] as Json;
  assert.deepEqual(first, { _rid, orderByItems: [{ item: 'y' }], payload: made[1] });
});

function plan(box: Box, query: string, headers: Headers = {}): Promise<Reply> {
  return ask(box, query, { 'x-ms-cosmos-is-query-plan-request': 'True', ...headers });
}

function ask(box: Box, query: string, headers: Headers): Promise<Reply> {
  return server.send('POST', `${box.path}/docs`, {
    body: { query, parameters: PARAMETERS },
    headers: {
      'content-type': 'application/query+json',
      'x-ms-documentdb-isquery': 'True',
      'x-ms-documentdb-query-enablecrosspartition': 'true',
      ...headers,
    },
  });
}
