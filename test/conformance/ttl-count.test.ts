// T14: with the switch, COUNT takes in what is expired and not purged yet. Nothing else does, and
// without the switch COUNT does not either.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedOptions } from '@azure/cosmos';
import { type Json, NOON, ok, type Server, serve } from './support.suite.js';

const imitating = await serve({ countIncludesUnpurged: true });
const exact = await serve();
/** How long the short-lived items live from noon on: `_ts` is the full second before. */
const LIFE_MS = 9750;

const items: readonly Json[] = [
  { id: 'dies1', pk: 'p', kind: 'x', n: 1, tags: ['red', 'blue'], ttl: 10 },
  { id: 'dies2', pk: 'q', kind: 'y', n: 9, tags: ['green'], ttl: 10 },
  { id: 'lives1', pk: 'p', kind: 'x', n: 5, tags: ['blue'] },
  { id: 'lives2', pk: 'q', kind: 'z', n: 3, tags: [] },
];

type Row = readonly [query: string, unpurged: readonly unknown[], live: readonly unknown[]];
// biome-ignore format: a table is read in columns
const counts: readonly Row[] = [
  ['SELECT VALUE COUNT(1) FROM c', [4], [2]],
  ['SELECT VALUE COUNT(c.n) FROM c', [4], [2]],
  ['SELECT COUNT(1) AS n, COUNT(c.ttl) AS t FROM c', [{ n: 4, t: 2 }], [{ n: 2, t: 0 }]],
  ["SELECT VALUE COUNT(1) FROM c WHERE c.kind = 'x'", [2], [1]],
  ['SELECT VALUE COUNT(1) FROM c WHERE c.n * 2 > 8', [2], [1]],
  ["SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'q'", [2], [1]],
  ['SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags', [4], [1]],
];
// biome-ignore format: a table is read in columns
const others: readonly (readonly [query: string, live: readonly unknown[]])[] = [
  ['SELECT VALUE c.id FROM c', ['lives1', 'lives2']],
  ['SELECT VALUE COUNTIF(c.n > 4) FROM c', [1]],
  ['SELECT VALUE SUM(c.n) FROM c', [8]],
  ['SELECT VALUE MIN(c.n) FROM c', [3]],
  ['SELECT VALUE AVG(c.n) FROM c', [4]],
  ['SELECT COUNT(1) AS n, MAX(c.n) AS m FROM c', [{ n: 2, m: 5 }]],
  ['SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind', [{ kind: 'x', n: 1 }, { kind: 'z', n: 1 }]],
  ['SELECT DISTINCT VALUE c.kind FROM c', ['x', 'z']],
  ['SELECT VALUE c.id FROM c WHERE c.n > 4', ['lives1']],
  ['SELECT VALUE (SELECT VALUE COUNT(1) FROM t IN c.tags) FROM c', [0, 1]],
];

for (const [throughput, options] of [
  ['400', {}],
  ['30000', {}],
  ['30000', { forceQueryPlan: true }],
] as const) {
  test(`T14 ${throughput} ${JSON.stringify(options)}: COUNT holds on until the purge`, async () => {
    const ask = await prepared(imitating, throughput, options);
    for (const [query, unpurged] of counts) assert.deepEqual(await ask(query), unpurged, query);
    imitating.clock.set(NOON);
    imitating.clock.advance(LIFE_MS - 1);
    for (const [query, unpurged] of counts) assert.deepEqual(await ask(query), unpurged, query);
    imitating.clock.advance(1);
    for (const [query, unpurged] of counts) assert.deepEqual(await ask(query), unpurged, query);
    for (const [query, live] of others) assert.deepEqual(await ask(query), live, query);
    ok(await imitating.control('POST', 'purge'), 200);
    for (const [query, , live] of counts) assert.deepEqual(await ask(query), live, query);
  });
}

test('T10 T14: without the switch no count takes them in', async () => {
  const ask = await prepared(exact, '400', {});
  exact.clock.advance(LIFE_MS);
  for (const [query, , live] of counts) assert.deepEqual(await ask(query), live, query);
  for (const [query, live] of others) assert.deepEqual(await ask(query), live, query);
});

/** Items written at noon, the purge paused. */
async function prepared(server: Server, throughput: string, options: FeedOptions) {
  server.clock.set(NOON);
  const box = await server.box({ defaultTtl: -1 }, { 'x-ms-offer-throughput': throughput });
  for (const item of items) ok(await box.create(item), 201);
  const container = server.client().database(box.database).container('c');
  return async (query: string) => {
    const { resources } = await container.items.query<unknown>(query, options).fetchAll();
    return [...resources].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  };
}
