// ORDER BY RANK through the SDK: the server ranks by itself, or the client does by the plan, over
// one range and over three; both find the same rows in the same order.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Container, FeedOptions, SqlParameter } from '@azure/cosmos';
import { type Box, type Json, ok, refused, serve } from './support.suite.js';

const server = await serve();
const client = server.client();
const COUNT = 40;

const DEFINITION = {
  fullTextPolicy: {
    defaultLanguage: 'en-US',
    fullTextPaths: [{ path: '/text', language: 'en-US' }],
  },
  vectorEmbeddingPolicy: {
    vectorEmbeddings: [
      { path: '/near', dataType: 'float32', distanceFunction: 'cosine', dimensions: 2 },
      { path: '/far', dataType: 'float32', distanceFunction: 'euclidean', dimensions: 2 },
    ],
  },
};

/** No two are alike: texts differ in length and words, vectors in direction and length. */
const items = Array.from({ length: COUNT }, (_, n) => ({
  id: `i${String(n).padStart(2, '0')}`,
  pk: `k${n % 11}`,
  kind: n % 2 === 0 ? 'even' : 'odd',
  text: [
    ...Array(1 + ((n * 7) % 5)).fill('swimming'),
    ...Array(n % 3).fill('pool'),
    ...Array(2 + n).fill('water'),
  ].join(' '),
  near: [Math.cos((n * 1.7123) % 3), Math.sin((n * 1.7123) % 3)],
  far: [n * 1.5, (n * 13) % 40],
}));
/** Without text and vectors: worse than all others. */
const poor = [
  { id: 'poor1', pk: 'k1', kind: 'poor' },
  { id: 'poor2', pk: 'k2', kind: 'poor', text: 5 },
];

let one: Box;
let three: Box;
before(async () => {
  one = await server.box(DEFINITION);
  three = await server.box(DEFINITION, { 'x-ms-offer-throughput': '30000' });
  for (const box of [one, three]) {
    for (const item of [...items, ...poor]) ok(await box.create(item), 201);
  }
});

const PARAMETERS: SqlParameter[] = [
  { name: '@near', value: [1, 0] },
  { name: '@far', value: [3, 4] },
  { name: '@terms', value: ['swim', 'pools'] },
  { name: '@kind', value: 'odd' },
  { name: '@n', value: 4 },
];

/** Weights that keep sums of ranks from being equal. */
const QUERIES = [
  "SELECT TOP 10 c.id FROM c ORDER BY RANK FullTextScore(c.text, 'swim')",
  "SELECT TOP 10 * FROM c ORDER BY RANK FullTextScore(c.text, 'swim', 'pool')",
  'SELECT TOP 10 c.id FROM c ORDER BY RANK FullTextScore(c.text, @terms)',
  "SELECT c.id, c.kind FROM c WHERE c.kind = @kind ORDER BY RANK FullTextScore(c.text, 'pool') OFFSET 2 LIMIT 5",
  'SELECT TOP 7 c.id FROM c ORDER BY RANK VectorDistance(c.near, @near)',
  'SELECT TOP 7 c.id FROM c ORDER BY RANK VectorDistance(c.far, @far)',
  "SELECT TOP 12 c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'swim'), VectorDistance(c.near, @near), [3, 1.01])",
  "SELECT TOP 12 c.id FROM c ORDER BY RANK RRF(VectorDistance(c.far, @far), FullTextScore(c.text, 'pool'), [1, 2.03])",
  "SELECT c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'swim'), FullTextScore(c.text, 'pool'), VectorDistance(c.far, @far), [1, 2.1, 4.3]) OFFSET @n LIMIT @n",
  "SELECT TOP 9 c.id FROM c WHERE c.kind = 'even' ORDER BY RANK RRF(VectorDistance(c.far, @far), VectorDistance(c.near, @near), [5, 1.013])",
  'SELECT TOP 6 c.id, UPPER(c.kind) AS kind FROM c AS c ORDER BY RANK RRF(FullTextScore(c.text, @terms), VectorDistance(c.near, @near), [1.7, 1])',
];

describe('the client ranks as the server does', () => {
  for (const query of QUERIES) {
    test(query, async () => {
      const [alone, ...others] = await Promise.all([
        ask(one, query),
        ask(three, query),
        ask(one, query, { forceQueryPlan: true }),
        ask(three, query, { forceQueryPlan: true }),
        ask(three, query, { forceQueryPlan: true, maxItemCount: 3 }),
      ]);
      assert.ok(alone.length > 0);
      const without = (rows: readonly Json[]) => rows.map(({ id, kind }) => [id, kind]);
      for (const other of others) assert.deepEqual(without(other), without(alone));
    });
  }

  test('rows that cannot be scored come last', async () => {
    const query = `SELECT TOP ${COUNT + 5} c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'swim'), VectorDistance(c.far, @far), [1, 2.03])`;
    for (const options of [{}, { forceQueryPlan: true }]) {
      const ids = (await ask(three, query, options)).map(({ id }) => id);
      assert.equal(ids.length, COUNT + poor.length);
      assert.deepEqual(ids.slice(COUNT).sort(), ['poor1', 'poor2']);
    }
  });
});

test('without weights, ranks add up as they are', async () => {
  const text = await ranksBy("FullTextScore(c.text, 'swim')");
  const near = await ranksBy('VectorDistance(c.near, @near)');
  const score = (id: unknown) =>
    1 / (60 + (text.get(String(id)) ?? 0)) + 1 / (60 + (near.get(String(id)) ?? 0));
  const query = `SELECT TOP ${COUNT} c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'swim'), VectorDistance(c.near, @near))`;
  for (const options of [{}, { forceQueryPlan: true }]) {
    const scores = (await ask(three, query, options)).map(({ id }) => score(id));
    assert.equal(scores.length, COUNT);
    scores.forEach((each, at) => {
      assert.ok(at === 0 || each <= (scores[at - 1] ?? 0) + 1e-12, `${each} at ${at}`);
    });
  }
});

describe('the plan', () => {
  test('has the queries that clients fill in and ask', async () => {
    const query =
      "SELECT TOP 10 c.id FROM c WHERE c.n > 1 ORDER BY RANK RRF(FullTextScore(c.text, 'swim', 'a pool'), VectorDistance(c.far, [1, 2]), [1, 2])";
    const { json } = ok(await plan(three, query), 200);
    assert.equal(json.queryInfo, undefined);
    const score =
      '_FullTextScore(c.text, ["swim", "a pool"], {documentdb-formattablehybridsearchquery-totaldocumentcount}, {documentdb-formattablehybridsearchquery-totalwordcount-0}, {documentdb-formattablehybridsearchquery-hitcountsarray-0})';
    const distance = 'VectorDistance(c.far, [1, 2])';
    const both = `{"payload": {"id": c.id}, "componentScores": [(${score} ?? -1), (${distance} ?? 1.7976931348623157e+308)]} AS payload FROM c WHERE ((c.n > 1) AND ({documentdb-formattableorderbyquery-filter}))`;
    const info = json.hybridSearchQueryInfo as Record<string, unknown>;
    const components = info.componentQueryInfos as readonly Json[];
    assert.deepEqual(
      { ...info, componentQueryInfos: components.map(told) },
      {
        globalStatisticsQuery:
          'SELECT COUNT(1) AS documentCount, [{"totalWordCount": SUM(_FullTextWordCount(c.text)), "hitCounts": [COUNTIF(FullTextContains(c.text, "swim")), COUNTIF(FullTextContains(c.text, "a pool"))]}] AS fullTextStatistics FROM c WHERE (c.n > 1)',
        componentQueryInfos: [
          [
            'Descending',
            `SELECT c._rid, [{"item": (${score} ?? -1)}] AS orderByItems, ${both} ORDER BY ${score} DESC OFFSET 0 LIMIT 120`,
          ],
          [
            'Ascending',
            `SELECT c._rid, [{"item": (${distance} ?? 1.7976931348623157e+308)}] AS orderByItems, ${both} ORDER BY ${distance} OFFSET 0 LIMIT 120`,
          ],
        ],
        componentWithoutPayloadQueryInfos: [],
        projectionQueryInfo: null,
        componentWeights: [1, 2],
        skip: 0,
        take: 10,
        requiresGlobalStatistics: true,
      },
    );
    for (const component of components) {
      assert.equal(component.hasNonStreamingOrderBy, true);
      assert.deepEqual([component.offset, component.limit], [0, 120]);
    }
  });

  test('asks for no statistics where no words are searched', async () => {
    const query =
      'SELECT TOP 3 * FROM c ORDER BY RANK RRF(VectorDistance(c.far, [1, 2]), VectorDistance(c.near, [1, 2]))';
    const info = ok(await plan(three, query), 200).json.hybridSearchQueryInfo as Json;
    assert.equal(info.requiresGlobalStatistics, false);
    assert.equal(info.globalStatisticsQuery, '');
    assert.deepEqual(info.componentWeights, []);
  });

  test('is refused without a limit, with a JOIN, and to clients that cannot fuse', async () => {
    const rank = "ORDER BY RANK FullTextScore(c.text, 'swim')";
    refused(await plan(three, `SELECT * FROM c ${rank}`), 400, 0, 'TOP or OFFSET LIMIT');
    refused(await plan(three, `SELECT TOP 3 t FROM c JOIN t IN c.far ${rank}`), 400, 0, 'JOIN');
    const features = { 'x-ms-cosmos-supported-query-features': 'OrderBy, Top' };
    refused(await plan(three, `SELECT TOP 3 * FROM c ${rank}`, features), 400, 0, 'HybridSearch');
  });

  test('leaves all to a single range', async () => {
    const query = "SELECT TOP 3 * FROM c ORDER BY RANK FullTextScore(c.text, 'swim')";
    const { json } = ok(await plan(one, query), 200);
    assert.equal(json.hybridSearchQueryInfo, undefined);
    assert.equal((json.queryInfo as Json).rewrittenQuery, '');
  });
});

function told(component: Json): readonly unknown[] {
  return [(component.orderBy as readonly unknown[])[0], component.rewrittenQuery];
}

function plan(box: Box, query: string, more: Readonly<Record<string, string>> = {}) {
  const headers = {
    'content-type': 'application/query+json',
    'x-ms-cosmos-is-query-plan-request': 'True',
    ...more,
  };
  return server.send('POST', `${box.path}/docs`, { body: { query }, headers });
}

async function ask(box: Box, query: string, options: FeedOptions = {}): Promise<readonly Json[]> {
  const container: Container = client.database(box.database).container('c');
  const spec = { query, parameters: PARAMETERS };
  return (await container.items.query<Json>(spec, options).fetchAll()).resources;
}

/** By the server alone; no two items have the same score. */
async function ranksBy(score: string): Promise<ReadonlyMap<string, number>> {
  const found = await ask(one, `SELECT c.id FROM c ORDER BY RANK ${score}`);
  return new Map(found.map(({ id }, at) => [String(id), at + 1]));
}
