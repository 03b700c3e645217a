// Queries over several partitions: what the client is told, what the partitions are asked, and that
// every rewritten query is one of our language.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Distribution, distribute } from './distribute.js';
import { lowerSql } from './lower.js';
import { parseSql } from './parser.js';
import { printSql } from './print.js';

const FILTER = '{documentdb-formattableorderbyquery-filter}';
const PARAMETERS = new Map<string, unknown>([
  ['@n', 7],
  ['@m', 3],
  ['@p', 'x'],
  ['@v', [1, 2]],
  ['@euclidean', { distanceFunction: 'Euclidean' }],
]);

type Told = Partial<Omit<Distribution, 'rewritten'>>;
const NOTHING: Omit<Distribution, 'rewritten'> = {
  distinct: 'none',
  top: undefined,
  offset: undefined,
  limit: undefined,
  orderBy: [],
  groupBy: [],
  aggregate: undefined,
  properties: [],
  hasSelectValue: false,
  isNonStreaming: false,
  distinctCount: undefined,
};
const up = (expression: string) => ({ expression, descending: false });
const down = (expression: string) => ({ expression, descending: true });

/** Each row: the query, what the client is told, and what a partition is asked if not the same. */
const ROWS: readonly (readonly [string, Told, string])[] = [
  ['SELECT * FROM c', {}, ''],
  ['SELECT c.a FROM c WHERE c.b = @p', {}, ''],
  ['SELECT VALUE c.a FROM c', { hasSelectValue: true }, ''],
  ['SELECT 1', {}, ''],
  ['SELECT (SELECT VALUE COUNT(1) FROM x IN c.list) AS n FROM c', {}, ''],

  ['SELECT TOP 0 * FROM c ORDER BY c.a', {}, ''],
  ['SELECT VALUE c.a FROM c OFFSET 3 LIMIT 0', { hasSelectValue: true }, ''],
  [
    'SELECT * FROM c ORDER BY c.a',
    { orderBy: [up('c.a')] },
    `SELECT c._rid, [{"item": c.a}] AS orderByItems, c AS payload FROM c WHERE (${FILTER}) ORDER BY c.a`,
  ],
  [
    "SELECT c.x, c.y FROM c WHERE c.k='v' ORDER BY c.a DESC, c.b",
    { orderBy: [down('c.a'), up('c.b')] },
    `SELECT c._rid, [{"item": c.a}, {"item": c.b}] AS orderByItems, {"x": c.x, "y": c.y} AS payload FROM c WHERE ((c.k = "v") AND (${FILTER})) ORDER BY c.a DESC, c.b`,
  ],
  [
    'SELECT TOP 10 c.x FROM c ORDER BY c.a',
    { orderBy: [up('c.a')], top: 10 },
    `SELECT TOP 10 c._rid, [{"item": c.a}] AS orderByItems, {"x": c.x} AS payload FROM c WHERE (${FILTER}) ORDER BY c.a`,
  ],
  [
    'SELECT TOP @n * FROM root r ORDER BY r["a b"]',
    { orderBy: [up('r["a b"]')], top: 7 },
    `SELECT TOP 7 r._rid, [{"item": r["a b"]}] AS orderByItems, r AS payload FROM root AS r WHERE (${FILTER}) ORDER BY r["a b"]`,
  ],
  [
    'SELECT c.a + 1, c.b AS z, 2 FROM c ORDER BY c.a',
    { orderBy: [up('c.a')] },
    `SELECT c._rid, [{"item": c.a}] AS orderByItems, {"$1": (c.a + 1), "z": c.b, "$2": 2} AS payload FROM c WHERE (${FILTER}) ORDER BY c.a`,
  ],
  [
    'SELECT VALUE c.x FROM c WHERE c.y > 1 ORDER BY c.a',
    { orderBy: [up('c.a')], hasSelectValue: true },
    `SELECT c._rid, [{"item": c.a}] AS orderByItems, c.x AS payload FROM c WHERE (((c.y > 1) AND (${FILTER})) AND IS_DEFINED(c.x)) ORDER BY c.a`,
  ],
  [
    'SELECT VALUE {"x": c.x} FROM c ORDER BY c.a',
    { orderBy: [up('c.a')], hasSelectValue: true },
    `SELECT c._rid, [{"item": c.a}] AS orderByItems, {"x": c.x} AS payload FROM c WHERE (${FILTER}) ORDER BY c.a`,
  ],
  [
    'SELECT c.id, x FROM c JOIN x IN c.list ORDER BY c.a',
    { orderBy: [up('c.a')] },
    `SELECT c._rid, [{"item": c.a}] AS orderByItems, {"id": c.id, "x": x} AS payload FROM c JOIN x IN c.list WHERE (${FILTER}) ORDER BY c.a`,
  ],
  [
    'SELECT * FROM x IN c.list ORDER BY x.a',
    { orderBy: [up('x.a')] },
    `SELECT x._rid, [{"item": x.a}] AS orderByItems, x AS payload FROM x IN c.list WHERE (${FILTER}) ORDER BY x.a`,
  ],
  [
    'SELECT * FROM c.list ORDER BY list.a',
    { orderBy: [up('list.a')] },
    `SELECT list._rid, [{"item": list.a}] AS orderByItems, list AS payload FROM c.list WHERE (${FILTER}) ORDER BY list.a`,
  ],

  ['SELECT TOP 5 * FROM c', { top: 5 }, ''],
  ['SELECT TOP @n * FROM c', { top: 7 }, ''],
  ['SELECT * FROM c OFFSET 1 LIMIT 2', { offset: 1, limit: 2 }, 'SELECT * FROM c OFFSET 0 LIMIT 3'],
  [
    'SELECT c.a FROM c WHERE c.b > @p OFFSET @n LIMIT @m',
    { offset: 7, limit: 3 },
    'SELECT c.a FROM c WHERE (c.b > @p) OFFSET 0 LIMIT 10',
  ],
  ['SELECT * FROM c ORDER BY c.a OFFSET 4 LIMIT 0', {}, ''],
  [
    'SELECT * FROM c OFFSET 2147483647 LIMIT 2147483647',
    { offset: 2147483647, limit: 2147483647 },
    'SELECT * FROM c OFFSET 0 LIMIT 2147483647',
  ],

  ['SELECT DISTINCT c.x FROM c', { distinct: 'unordered' }, ''],
  [
    'SELECT DISTINCT TOP 3 c.x FROM c',
    { distinct: 'unordered', top: 3 },
    'SELECT DISTINCT c.x FROM c',
  ],
  [
    'SELECT DISTINCT c.x FROM c OFFSET 1 LIMIT 1',
    { distinct: 'unordered', offset: 1, limit: 1 },
    'SELECT DISTINCT c.x FROM c',
  ],
  [
    'SELECT DISTINCT VALUE c.x FROM c ORDER BY c.x',
    { distinct: 'ordered', orderBy: [up('c.x')], hasSelectValue: true },
    `SELECT c._rid, [{"item": c.x}] AS orderByItems, c.x AS payload FROM c WHERE ((${FILTER}) AND IS_DEFINED(c.x)) ORDER BY c.x`,
  ],
  [
    'SELECT DISTINCT TOP 2 c.x FROM c ORDER BY c.x, c.y',
    { distinct: 'ordered', orderBy: [up('c.x'), up('c.y')], top: 2 },
    `SELECT c._rid, [{"item": c.x}, {"item": c.y}] AS orderByItems, {"x": c.x} AS payload FROM c WHERE (${FILTER}) ORDER BY c.x, c.y`,
  ],
  [
    'SELECT DISTINCT c.x, c.y FROM c ORDER BY c.y, c.x',
    { distinct: 'ordered', orderBy: [up('c.y'), up('c.x')] },
    `SELECT c._rid, [{"item": c.y}, {"item": c.x}] AS orderByItems, {"x": c.x, "y": c.y} AS payload FROM c WHERE (${FILTER}) ORDER BY c.y, c.x`,
  ],
  [
    'SELECT DISTINCT c.x FROM c ORDER BY c.y, c.x OFFSET 1 LIMIT 1',
    { distinct: 'unordered', orderBy: [up('c.y'), up('c.x')], offset: 1, limit: 1 },
    `SELECT c._rid, [{"item": c.y}, {"item": c.x}] AS orderByItems, {"x": c.x} AS payload FROM c WHERE (${FILTER}) ORDER BY c.y, c.x`,
  ],
  [
    'SELECT DISTINCT * FROM c ORDER BY c.x',
    { distinct: 'unordered', orderBy: [up('c.x')] },
    `SELECT c._rid, [{"item": c.x}] AS orderByItems, c AS payload FROM c WHERE (${FILTER}) ORDER BY c.x`,
  ],

  [
    'SELECT VALUE COUNT(1) FROM c',
    { aggregate: 'COUNT', hasSelectValue: true },
    'SELECT VALUE [{"item": COUNT(1)}] FROM c',
  ],
  [
    'SELECT VALUE sum(c.x) FROM c WHERE c.y',
    { aggregate: 'SUM', hasSelectValue: true },
    'SELECT VALUE [{"item": SUM(c.x)}] FROM c WHERE c.y',
  ],
  [
    'SELECT VALUE MIN(c.x) FROM c',
    { aggregate: 'MIN', hasSelectValue: true },
    'SELECT VALUE [{"item": MIN(c.x), "item2": {"min": MIN(c.x), "count": COUNT(c.x)}}] FROM c',
  ],
  [
    'SELECT VALUE MAX(c.x) FROM c',
    { aggregate: 'MAX', hasSelectValue: true },
    'SELECT VALUE [{"item": MAX(c.x), "item2": {"max": MAX(c.x), "count": COUNT(c.x)}}] FROM c',
  ],
  [
    'SELECT VALUE AVG(c.x) FROM c',
    { aggregate: 'AVG', hasSelectValue: true },
    'SELECT VALUE [{"item": {"sum": SUM(c.x), "count": COUNT(c.x)}}] FROM c',
  ],
  [
    'SELECT VALUE COUNTIF(c.x > 1) FROM c',
    { aggregate: 'COUNTIF', hasSelectValue: true },
    'SELECT VALUE [{"item": COUNTIF((c.x > 1))}] FROM c',
  ],
  [
    'SELECT VALUE MAKESET(c.x) FROM c',
    { aggregate: 'MAKESET', hasSelectValue: true },
    'SELECT VALUE [{"item": MAKESET(c.x)}] FROM c',
  ],
  [
    'SELECT DISTINCT TOP 1 VALUE COUNT(1) FROM c',
    { aggregate: 'COUNT', hasSelectValue: true, distinct: 'unordered', top: 1 },
    'SELECT VALUE [{"item": COUNT(1)}] FROM c',
  ],
  [
    'SELECT SUM(c.x) AS s, AVG(c.y) FROM c',
    {
      properties: [
        { name: 's', aggregate: 'SUM' },
        { name: '$1', aggregate: 'AVG' },
      ],
    },
    'SELECT {"s": {"item": SUM(c.x)}, "$1": {"item": {"sum": SUM(c.y), "count": COUNT(c.y)}}} AS payload FROM c',
  ],
  [
    "SELECT MIN(c.x) AS m, 'all' AS what FROM c",
    {
      properties: [
        { name: 'm', aggregate: 'MIN' },
        { name: 'what', aggregate: undefined },
      ],
    },
    'SELECT {"m": {"item": MIN(c.x), "item2": {"min": MIN(c.x), "count": COUNT(c.x)}}, "what": "all"} AS payload FROM c',
  ],

  [
    'SELECT c.team, COUNT(1) AS n FROM c GROUP BY c.team',
    {
      groupBy: ['c.team'],
      properties: [
        { name: 'team', aggregate: undefined },
        { name: 'n', aggregate: 'COUNT' },
      ],
    },
    'SELECT [{"item": c.team}] AS groupByItems, {"team": c.team, "n": {"item": COUNT(1)}} AS payload FROM c GROUP BY c.team',
  ],
  [
    'SELECT c.a, c.b FROM c GROUP BY c.a, c.b OFFSET 1 LIMIT 2',
    {
      groupBy: ['c.a', 'c.b'],
      properties: [
        { name: 'a', aggregate: undefined },
        { name: 'b', aggregate: undefined },
      ],
      offset: 1,
      limit: 2,
    },
    'SELECT [{"item": c.a}, {"item": c.b}] AS groupByItems, {"a": c.a, "b": c.b} AS payload FROM c GROUP BY c.a, c.b',
  ],
  [
    'SELECT VALUE c.team FROM c GROUP BY c.team',
    { groupBy: ['c.team'], hasSelectValue: true },
    'SELECT [{"item": c.team}] AS groupByItems, c.team AS payload FROM c GROUP BY c.team',
  ],
  [
    'SELECT VALUE AVG(c.x) FROM c GROUP BY c.t',
    { groupBy: ['c.t'], aggregate: 'AVG', hasSelectValue: true },
    'SELECT [{"item": c.t}] AS groupByItems, [{"item": {"sum": SUM(c.x), "count": COUNT(c.x)}}] AS payload FROM c GROUP BY c.t',
  ],
  [
    'SELECT TOP 3 UPPER(c.t) AS t FROM c GROUP BY UPPER(c.t)',
    { groupBy: ['UPPER(c.t)'], properties: [{ name: 't', aggregate: undefined }], top: 3 },
    'SELECT [{"item": UPPER(c.t)}] AS groupByItems, {"t": UPPER(c.t)} AS payload FROM c GROUP BY UPPER(c.t)',
  ],

  [
    'SELECT TOP 10 c.id FROM c ORDER BY VectorDistance(c.v, @v)',
    { orderBy: [down('VectorDistance(c.v, @v)')], top: 10, isNonStreaming: true },
    `SELECT TOP 10 c._rid, [{"item": VectorDistance(c.v, @v)}] AS orderByItems, {"id": c.id} AS payload FROM c WHERE (${FILTER}) ORDER BY VectorDistance(c.v, @v)`,
  ],
  ...["{'distanceFunction': 'euclidean'}", '@euclidean'].map((options) => {
    const written = options.replaceAll("'", '"');
    const distance = `VECTORDISTANCE(c.v, @v, false, ${written})`;
    return [
      `SELECT TOP 10 c.id FROM c ORDER BY VECTORDISTANCE(c.v, @v, false, ${options})`,
      { orderBy: [up(distance)], top: 10, isNonStreaming: true },
      `SELECT TOP 10 c._rid, [{"item": ${distance}}] AS orderByItems, {"id": c.id} AS payload FROM c WHERE (${FILTER}) ORDER BY ${distance}`,
    ] as const;
  }),
];

for (const [text, told, rewritten] of ROWS) {
  test(text, () => {
    const { rewritten: asked, ...found } = distributed(text);
    assert.deepEqual(found, { ...NOTHING, ...told });
    const printed = asked === undefined ? '' : printSql(asked);
    assert.equal(printed, rewritten);
    for (const filter of ['true', '(c.a > 5) OR (c.a = 5 AND c.b <= "x")']) {
      if (printed !== '' && text.includes(' FROM c ')) reread(printed, filter);
    }
  });
}

test('a pinned partition keeps OFFSET and LIMIT to itself, if nothing else is to be done', () => {
  const pinned = distributed('SELECT * FROM c WHERE c.pk = 1 OFFSET 1 LIMIT 2', true);
  assert.deepEqual(pinned, { ...NOTHING, rewritten: undefined });
  const ordered = distributed('SELECT * FROM c ORDER BY c.a OFFSET 1 LIMIT 2', true);
  assert.equal(ordered.limit, 2);
  assert.equal(ordered.rewritten?.limit?.kind, 'number');
  const distinct = distributed('SELECT DISTINCT c.a FROM c OFFSET 1 LIMIT 2', true);
  assert.equal(distinct.offset, 1);
});

test('ranks are left to a single partition', () => {
  const ranked = "SELECT TOP 3 c.id FROM c ORDER BY RANK FullTextScore(c.text, 'a')";
  assert.deepEqual(distributed(ranked, true), { ...NOTHING, top: 3, rewritten: undefined });
  assert.throws(() => distributed(ranked), /hybrid/);
});

test('what is made of an aggregate cannot be joined', () => {
  for (const value of ['COUNT(1) + 1', 'ABS(AVG(c.x))', '{"n": COUNT(1)}', '[SUM(c.x)][0]']) {
    for (const select of [`VALUE ${value}`, `${value} AS n`]) {
      assert.throws(() => distributed(`SELECT ${select} FROM c`), /Compositions of aggregates/);
    }
  }
});

function distributed(text: string, isPinned = false): Distribution {
  const query = parseSql(text);
  return distribute(query, lowerSql(query, PARAMETERS), isPinned);
}

/** As the partitions read it, after the client has put in its filter. */
function reread(text: string, filter: string): void {
  const complete = text.replace(FILTER, filter);
  lowerSql(parseSql(complete), PARAMETERS);
}
