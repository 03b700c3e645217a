// The SDK running queries by their plans: over one range and over three, at once and page by page,
// with the same results as the server gives without a plan.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Container, FeedOptions, SqlParameter } from '@azure/cosmos';
import { ok, serve } from './support.suite.js';

const server = await serve();
const client = server.client();
const COUNT = 60;
const PARAMETERS: SqlParameter[] = [
  { name: '@n', value: 5 },
  { name: '@group', value: 'g1' },
  { name: '@near', value: [1, 0] },
];

/** Ties, missing properties and values of different partitions that are equal. */
const items = Array.from({ length: COUNT }, (_, index) => ({
  id: `i${String(index).padStart(2, '0')}`,
  pk: `key ${index % 20}`,
  number: (index * 37) % 101,
  group: `g${index % 4}`,
  text: `t${(index * 7) % 13}`,
  vector: [Math.cos(index), Math.sin(index)],
  tags: [`a${index % 3}`, `b${index % 2}`],
  ...(index % 5 === 0 ? {} : { sometimes: index % 7 }),
  ...(index % 2 === 0 ? { mixed: `m${index}` } : { mixed: index }),
}));

/** ORDER BY several properties needs an index of just these. */
const COMPOSITES = [
  ['number', 'id'],
  ['number DESC', 'id'],
  ['group', 'text DESC', 'id'],
  ['text', 'group DESC'],
].map((names) =>
  names.map((text) => {
    const [name, direction] = text.split(' ');
    return { path: `/${name}`, order: direction === 'DESC' ? 'descending' : 'ascending' };
  }),
);

interface Case {
  readonly ranges: number;
  readonly container: Container;
}
const cases: Case[] = [];

before(async () => {
  for (const [ranges, throughput] of [
    [1, '1000'],
    [3, '30000'],
  ] as const) {
    const headers = { 'x-ms-offer-throughput': throughput };
    const box = await server.box({ indexingPolicy: { compositeIndexes: COMPOSITES } }, headers);
    for (const item of items) ok(await box.create(item), 201);
    const container = client.database(box.database).container('c');
    const { resources } = await container.readPartitionKeyRanges().fetchAll();
    assert.equal(resources.length, ranges);
    cases.push({ ranges, container });
  }
});

/** These have one right order. */
const ORDERED = [
  'SELECT * FROM c ORDER BY c.number, c.id',
  'SELECT * FROM c ORDER BY c.id',
  'SELECT * FROM c ORDER BY c.id DESC',
  'SELECT c.id, c.number AS n FROM c WHERE c.group = @group ORDER BY c.number DESC, c.id ASC',
  'SELECT c.group, c.text, c.id FROM c ORDER BY c.group, c.text DESC, c.id',
  'SELECT VALUE c.id FROM c WHERE c.number > 50 AND c.number < 90 ORDER BY c.id',
  'SELECT VALUE c.sometimes FROM c WHERE IS_DEFINED(c.sometimes) ORDER BY c.id',
  'SELECT VALUE c.sometimes FROM c ORDER BY c.id',
  'SELECT VALUE [c.sometimes, c.number] FROM c ORDER BY c.id DESC',
  'SELECT TOP 7 c.id FROM c ORDER BY c.id',
  'SELECT TOP @n c.id, c.text FROM c ORDER BY c.id DESC',
  'SELECT TOP 0 * FROM c ORDER BY c.id',
  'SELECT c.id FROM c ORDER BY c.id OFFSET 5 LIMIT 12',
  'SELECT c.id FROM c ORDER BY c.id DESC OFFSET @n LIMIT @n',
  'SELECT c.id FROM c ORDER BY c.id OFFSET 55 LIMIT 20',
  'SELECT c.id FROM c ORDER BY c.id OFFSET 100 LIMIT 20',
  'SELECT c.id FROM c ORDER BY c.id OFFSET 0 LIMIT 0',
  'SELECT DISTINCT VALUE c.group FROM c ORDER BY c.group',
  'SELECT DISTINCT c.group FROM c ORDER BY c.group DESC',
  'SELECT DISTINCT c.group, c.text FROM c ORDER BY c.text, c.group DESC',
  'SELECT DISTINCT TOP 5 VALUE c.text FROM c ORDER BY c.text',
  'SELECT DISTINCT VALUE c.text FROM c ORDER BY c.text OFFSET 2 LIMIT 4',
  'SELECT c.id, t AS tag FROM c JOIN t IN c.tags ORDER BY c.id',
  "SELECT c.id FROM c WHERE c.pk = 'key 3' ORDER BY c.number",
  "SELECT c.id FROM c WHERE c.pk IN ('key 3', 'key 4', 'key 17') ORDER BY c.id",
  'SELECT TOP 5 c.id FROM c ORDER BY VectorDistance(c.vector, @near)',
  'SELECT VALUE COUNT(1) FROM c',
  'SELECT VALUE COUNT(c.sometimes) FROM c',
  'SELECT VALUE COUNTIF(c.number > 50) FROM c',
  'SELECT VALUE SUM(c.number) FROM c',
  'SELECT VALUE AVG(c.number) FROM c',
  'SELECT VALUE AVG(c.sometimes) FROM c',
  'SELECT VALUE MIN(c.number) FROM c',
  'SELECT VALUE MAX(c.number) FROM c',
  'SELECT VALUE MIN(c.mixed) FROM c',
  'SELECT VALUE MAX(c.mixed) FROM c',
  'SELECT VALUE MIN(c.tags) FROM c',
  'SELECT VALUE SUM(c.mixed) FROM c',
  "SELECT VALUE SUM(c.number) FROM c WHERE c.pk = 'key 3'",
  "SELECT VALUE MIN(c.number) FROM c WHERE c.pk = 'key 3'",
  "SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'nowhere'",
  "SELECT VALUE SUM(c.number) FROM c WHERE c.pk = 'nowhere'",
  "SELECT VALUE AVG(c.number) FROM c WHERE c.group = 'nowhere'",
  "SELECT VALUE MAX(c.number) FROM c WHERE c.group = 'nowhere'",
  "SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'key 3' AND c.pk = 'key 4'",
  'SELECT COUNT(1) AS n, SUM(c.number) AS total, AVG(c.number) FROM c',
  'SELECT MIN(c.id) AS first, MAX(c.id) AS last FROM c',
  "SELECT COUNT(1) AS n, 'all' AS what FROM c",
  'SELECT 1 AS one',
  'SELECT VALUE 1 + @n',
];

/** These are sets of rows. */
const UNORDERED = [
  'SELECT * FROM c',
  'SELECT c.id, c.number FROM c WHERE c.number >= 50',
  'SELECT VALUE c.sometimes FROM c',
  "SELECT * FROM c WHERE c.pk = 'key 3'",
  "SELECT * FROM c WHERE c.pk = 'key 3' OR c.pk = 'key 11'",
  "SELECT * FROM c WHERE c.pk IN ('key 3', 'key 4', 'key 5', 'nowhere')",
  "SELECT * FROM c WHERE c.pk = 'key 3' AND c.pk = 'key 4'",
  "SELECT * FROM c WHERE c.pk > 'key 3'",
  'SELECT c.id, t FROM c JOIN t IN c.tags',
  'SELECT DISTINCT c.group FROM c',
  'SELECT DISTINCT VALUE c.text FROM c',
  'SELECT DISTINCT VALUE {"g": c.group, "s": c.sometimes} FROM c',
  'SELECT DISTINCT VALUE t FROM c JOIN t IN c.tags',
  'SELECT c.group, COUNT(1) AS n FROM c GROUP BY c.group',
  'SELECT c.group, SUM(c.number) AS s, AVG(c.number) AS a, MIN(c.id) AS f, MAX(c.text) AS l FROM c GROUP BY c.group',
  'SELECT c.group, c.text FROM c GROUP BY c.group, c.text',
  'SELECT c.sometimes, COUNT(1) AS n FROM c GROUP BY c.sometimes',
  'SELECT VALUE c.text FROM c GROUP BY c.text',
  'SELECT VALUE COUNT(1) FROM c GROUP BY c.group',
  'SELECT VALUE AVG(c.number) FROM c GROUP BY c.text',
  'SELECT VALUE MAX(c.id) FROM c GROUP BY c.pk',
  "SELECT c.group, COUNT(1) AS n FROM c WHERE c.group = 'nowhere' GROUP BY c.group",
  'SELECT VALUE MAKELIST(c.group) FROM c WHERE c.number < 3',
  'SELECT UPPER(c.group) AS u, COUNTIF(c.number > 50) AS n FROM c GROUP BY UPPER(c.group)',
];

/** Any rows will do, so many of them. */
const COUNTED: readonly (readonly [string, number])[] = [
  ['SELECT TOP 5 * FROM c', 5],
  ['SELECT TOP @n * FROM c', 5],
  ['SELECT TOP 100 c.id FROM c', COUNT],
  ['SELECT * FROM c OFFSET 10 LIMIT 20', 20],
  ['SELECT * FROM c OFFSET 50 LIMIT 20', 10],
  ["SELECT * FROM c WHERE c.pk = 'key 3' OFFSET 1 LIMIT 1", 1],
  ['SELECT DISTINCT TOP 3 c.text FROM c', 3],
  ['SELECT DISTINCT c.text FROM c OFFSET 10 LIMIT 20', 3],
  ['SELECT TOP 2 c.group, COUNT(1) AS n FROM c GROUP BY c.group', 2],
  ['SELECT c.group, COUNT(1) AS n FROM c GROUP BY c.group OFFSET 1 LIMIT 2', 2],
];

const MODES: readonly FeedOptions[] = [
  { forceQueryPlan: true },
  { forceQueryPlan: true, maxItemCount: 3 },
  { enableQueryControl: true },
  { enableQueryControl: true, maxItemCount: 4 },
];

for (const text of [...ORDERED, ...UNORDERED]) {
  test(`the same by plan: ${text}`, async () => {
    const arrange = ORDERED.includes(text) ? plain : sorted;
    for (const { container, ranges } of cases) {
      const wanted = arrange(await fetchAll(container, text, {}));
      for (const mode of MODES) {
        const found = arrange(await fetchAll(container, text, mode));
        assert.deepEqual(found, wanted, `${ranges} ranges, ${JSON.stringify(mode)}`);
      }
    }
  });
}

for (const [text, count] of COUNTED) {
  test(`as many by plan: ${text}`, async () => {
    for (const { container, ranges } of cases) {
      for (const mode of [{}, ...MODES]) {
        const found = await fetchAll(container, text, mode);
        const what = `${ranges} ranges, ${JSON.stringify(mode)}`;
        assert.equal(found.length, count, what);
        assert.equal(new Set(sorted(found)).size, count, what);
      }
    }
  });
}

/** Pages that a fresh iterator each takes up where the last one stopped. */
const RESUMED = [
  'SELECT * FROM c',
  'SELECT c.id FROM c WHERE c.number > 20',
  'SELECT TOP 25 c.id FROM c',
  'SELECT c.id FROM c OFFSET 2 LIMIT 30',
  "SELECT c.id FROM c WHERE c.pk IN ('key 1', 'key 2', 'key 3')",
  'SELECT * FROM c ORDER BY c.id',
  'SELECT * FROM c ORDER BY c.id DESC',
  'SELECT c.id, c.group FROM c ORDER BY c.group',
  'SELECT c.id, c.group FROM c ORDER BY c.group DESC',
  'SELECT c.id, c.text FROM c WHERE c.number > 20 ORDER BY c.text',
  'SELECT TOP 25 c.id FROM c ORDER BY c.id',
  'SELECT c.id FROM c ORDER BY c.id OFFSET 2 LIMIT 30',
  'SELECT DISTINCT VALUE c.text FROM c ORDER BY c.text',
];

for (const text of RESUMED) {
  test(`resumed by token: ${text}`, async () => {
    for (const { container, ranges } of cases) {
      const all = await fetchAll(container, text, {});
      const wanted = sorted(all);
      for (const maxItemCount of [4, 7]) {
        const found = await fetchResumed(container, text, maxItemCount);
        const what = `${ranges} ranges, pages of ${maxItemCount}`;
        const distinct = [...new Set(sorted(found))];
        const isFree = / TOP | OFFSET /.test(text) && !text.includes('ORDER BY');
        if (isFree) assert.equal(distinct.length, wanted.length, what);
        // The SDK counts rows in its tokens that it has left out, so it repeats some of them.
        else if (text.includes('DISTINCT')) assert.deepEqual(distinct, wanted, what);
        else if (text.includes('ORDER BY c.id')) assert.deepEqual(plain(found), plain(all), what);
        else assert.deepEqual(sorted(found), wanted, what);
      }
    }
  });
}

async function fetchResumed(
  container: Container,
  query: string,
  maxItemCount: number,
): Promise<readonly unknown[]> {
  const rows: unknown[] = [];
  let continuationToken: string | undefined;
  for (let pages = 0; pages < COUNT; pages++) {
    const token = continuationToken === undefined ? {} : { continuationToken };
    const options = { enableQueryControl: true, maxItemCount, ...token };
    const spec = { query, parameters: PARAMETERS };
    const page = await container.items.query(spec, options).fetchNext();
    rows.push(...page.resources);
    continuationToken = page.continuationToken;
    // The SDK makes a token for an ordered query even when it is drained.
    if (!page.hasMoreResults || !continuationToken) return rows;
  }
  assert.fail('the pages do not end');
}

async function fetchAll(
  container: Container,
  query: string,
  options: FeedOptions,
): Promise<readonly unknown[]> {
  const iterator = container.items.query({ query, parameters: PARAMETERS }, { ...options });
  const { resources } = await iterator.fetchAll();
  return resources;
}

function plain(rows: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(rows));
}

function sorted(rows: readonly unknown[]): readonly string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}
