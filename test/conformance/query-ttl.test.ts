// Time to live in queries: an expired item is in no result of any kind from its instant on, whether
// it is purged or not (T10, T12); a page is of one time (T13); `ttl` and `_ts` are asked for like
// other properties (T5).
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Container, FeedOptions } from '@azure/cosmos';
import { type Box, type Json, NOON, NOON_SECONDS, ok, serve } from './support.suite.js';

const server = await serve();
const client = server.client();
/** How long the short-lived items live from noon on: `_ts` is the full second before. */
const LIFE_MS = 9750;

beforeEach(() => server.clock.set(NOON));

const items: readonly Json[] = [
  { id: 'dies1', kind: 'x', n: 1, tags: ['red', 'blue'], ttl: 10 },
  { id: 'dies2', kind: 'y', n: 9, tags: ['green'], ttl: 10 },
  { id: 'lives1', kind: 'x', n: 5, tags: ['blue'] },
  { id: 'lives2', kind: 'z', n: 3, tags: [], ttl: -1 },
];

type Row = readonly [query: string, young: readonly unknown[], old: readonly unknown[]];

// biome-ignore format: a table is read in columns
const rows: readonly Row[] = [
  ['SELECT VALUE c.id FROM c', ['dies1', 'dies2', 'lives1', 'lives2'], ['lives1', 'lives2']],
  ["SELECT VALUE c.id FROM c WHERE c.id = 'dies1'", ['dies1'], []],
  ['SELECT VALUE c.id FROM c WHERE c.n >= 5', ['dies2', 'lives1'], ['lives1']],
  ['SELECT VALUE c.id FROM c WHERE c.n + 0 >= 5', ['dies2', 'lives1'], ['lives1']],
  ['SELECT VALUE c.id FROM c WHERE NOT (c.n = 5)', ['dies1', 'dies2', 'lives2'], ['lives2']],
  ['SELECT VALUE COUNT(1) FROM c', [4], [2]],
  ["SELECT VALUE COUNT(1) FROM c WHERE c.kind = 'x'", [2], [1]],
  ["SELECT VALUE COUNT(1) FROM c WHERE c.kind = 'y'", [1], [0]],
  ['SELECT VALUE COUNTIF(c.n > 4) FROM c', [2], [1]],
  ['SELECT VALUE SUM(c.n) FROM c', [18], [8]],
  ['SELECT VALUE AVG(c.n) FROM c', [4.5], [4]],
  ['SELECT VALUE MIN(c.n) FROM c', [1], [3]],
  ['SELECT VALUE MAX(c.n) FROM c', [9], [5]],
  ["SELECT VALUE MAX(c.n) FROM c WHERE c.kind = 'y'", [9], []],
  ['SELECT VALUE MAKELIST(c.n) FROM c WHERE c.n > 5', [[9]], [[]]],
  ["SELECT VALUE MAKESET(c.kind) FROM c WHERE c.kind = 'y'", [['y']], [[]]],
  ['SELECT DISTINCT VALUE c.kind FROM c', ['x', 'y', 'z'], ['x', 'z']],
  ['SELECT VALUE t FROM c JOIN t IN c.tags', ['blue', 'blue', 'green', 'red'], ['blue']],
  ['SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags', [4], [1]],
  ["SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'blue')",
    ['dies1', 'lives1'], ['lives1']],
  ['SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind',
    [{ kind: 'x', n: 2 }, { kind: 'y', n: 1 }, { kind: 'z', n: 1 }],
    [{ kind: 'x', n: 1 }, { kind: 'z', n: 1 }]],
  ['SELECT VALUE c.id FROM c ORDER BY c.n', ['dies1', 'lives2', 'lives1', 'dies2'],
    ['lives2', 'lives1']],
  ['SELECT VALUE c.id FROM c ORDER BY c.n DESC', ['dies2', 'lives1', 'lives2', 'dies1'],
    ['lives1', 'lives2']],
  ['SELECT TOP 1 VALUE c.id FROM c ORDER BY c.n DESC', ['dies2'], ['lives1']],
  ['SELECT VALUE c.id FROM c ORDER BY c.n OFFSET 1 LIMIT 1', ['lives2'], ['lives1']],
  ['SELECT VALUE c.n FROM c WHERE c.ttl = 10', [1, 9], []],
];

interface Way {
  readonly name: string;
  readonly throughput: string;
  readonly options: FeedOptions;
}
const ways: readonly Way[] = [
  { name: 'in one partition', throughput: '400', options: { partitionKey: 'p' } },
  { name: 'over three ranges', throughput: '30000', options: {} },
  { name: 'over three ranges, planned', throughput: '30000', options: { forceQueryPlan: true } },
];

for (const { name, throughput, options } of ways) {
  test(`T10 T12 ${name}: at its instant an item leaves all results`, async () => {
    const [box, container] = await fill(throughput);
    const check = async (when: string, old: boolean) => {
      const found = await Promise.all(
        rows.map(([query]) => container.items.query(query, options).fetchAll()),
      );
      rows.forEach(([query, before, after], index) => {
        const actual = inOrder(query, found[index]?.resources ?? []);
        assert.deepEqual(actual, old ? after : before, `${query} ${when}`);
      });
    };
    server.clock.advance(LIFE_MS - 1);
    await check('one millisecond before', false);
    server.clock.advance(1);
    await check('at the instant', true);
    server.clock.advance(1);
    await check('one millisecond after', true);
    assert.equal(await box.stored(), 4, 'queries do not purge');
    await server.mayfly.purge();
    assert.equal(await box.stored(), 2);
    await check('after the purge', true);
  });
}

for (const query of [
  'SELECT VALUE c.id FROM c',
  'SELECT VALUE c.id FROM c ORDER BY c.id',
  'SELECT VALUE c.id FROM c WHERE c.n + 0 > 0 ORDER BY c.id',
  'SELECT DISTINCT VALUE c.id FROM c ORDER BY c.id',
  'SELECT c.id, COUNT(1) AS n FROM c GROUP BY c.id',
]) {
  for (const purged of [false, true]) {
    const when = purged ? 'with a purge between' : 'without a purge';
    test(`T13 ${when}: every page is of its own time: ${query}`, async () => {
      const box = await server.box({ defaultTtl: -1 });
      for (let n = 1; n <= 9; n++) {
        ok(await box.create({ id: `${n}`, pk: 'p', n, ...(n % 3 === 0 ? {} : { ttl: 10 }) }), 201);
      }
      const { items: own } = client.database(box.database).container('c');
      const iterator = own.query(query, { maxItemCount: 2 });
      server.clock.advance(LIFE_MS - 1);
      const seen: string[] = (await iterator.fetchNext()).resources.map(idOf);
      assert.equal(seen.length, 2);
      server.clock.advance(1);
      if (purged) await server.mayfly.purge();
      while (iterator.hasMoreResults()) {
        seen.push(...((await iterator.fetchNext()).resources ?? []).map(idOf));
      }
      const later = seen.slice(2);
      assert.ok(
        later.every((id) => Number(id) % 3 === 0),
        `${later} are on later pages`,
      );
      assert.deepEqual(
        seen.filter((id) => Number(id) % 3 === 0).sort(),
        ['3', '6', '9'],
        'those that live are seen once each',
      );
    });
  }
}

test('T5: ttl and _ts are asked for like any property, and a default is in no item', async () => {
  const box = await server.box({ defaultTtl: 100 });
  ok(await box.create({ id: 'plain', pk: 'p' }), 201);
  ok(await box.create({ id: 'short', pk: 'p', ttl: 20 }), 201);
  server.clock.advance(5000);
  ok(await box.create({ id: 'endless', pk: 'p', ttl: -1 }), 201);
  const later = NOON_SECONDS + 5;
  const { items: own } = client.database(box.database).container('c');
  // biome-ignore format: a table is read in columns
  for (const [query, expected] of [
    ['SELECT VALUE c.id FROM c WHERE c.ttl > 0', ['short']],
    ['SELECT VALUE c.id FROM c WHERE c.ttl = -1', ['endless']],
    ['SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.ttl)', ['endless', 'short']],
    ['SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.ttl)', ['plain']],
    ['SELECT VALUE c.ttl FROM c', [-1, 20]],
    ['SELECT VALUE c.id FROM c ORDER BY c.ttl DESC', ['short', 'endless']],
    [`SELECT VALUE c.id FROM c WHERE c._ts = ${NOON_SECONDS}`, ['plain', 'short']],
    [`SELECT VALUE c.id FROM c WHERE c._ts > ${NOON_SECONDS}`, ['endless']],
    ['SELECT VALUE c._ts FROM c ORDER BY c._ts', [NOON_SECONDS, NOON_SECONDS, later]],
    ['SELECT TOP 1 VALUE c.id FROM c ORDER BY c._ts DESC', ['endless']],
    ['SELECT VALUE MAX(c._ts) FROM c', [later]],
    ['SELECT VALUE c.id FROM c WHERE c._ts + c.ttl < GETCURRENTTIMESTAMP() / 1000 + 16',
      ['endless', 'short']],
    ['SELECT VALUE COUNT(1) FROM c GROUP BY c._ts', [1, 2]],
  ] as const) {
    const { resources } = await own.query(query).fetchAll();
    assert.deepEqual(inOrder(query, resources), expected, query);
  }
});

test('T4: a write between two queries restarts the countdown, a query does not', async () => {
  const box = await server.box({ defaultTtl: 10 });
  ok(await box.create({ id: 'read', pk: 'p' }), 201);
  ok(await box.create({ id: 'written', pk: 'p' }), 201);
  server.clock.advance(5000);
  ok(await box.replace({ id: 'written', pk: 'p' }), 200);
  assert.deepEqual(await ids(box), ['read', 'written']);
  server.clock.advance(LIFE_MS - 5000);
  assert.deepEqual(await ids(box), ['written']);
});

test('T7: what is expired and not purged comes back when TTL is switched off', async () => {
  const box = await server.box({ defaultTtl: 10 });
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  server.clock.advance(LIFE_MS);
  assert.deepEqual(await ids(box), []);
  ok(await box.redefine({ defaultTtl: undefined }), 200);
  assert.deepEqual(await ids(box), ['1']);
  ok(await box.redefine({ defaultTtl: 11 }), 200);
  assert.deepEqual(await ids(box), ['1']);
  ok(await box.redefine({ defaultTtl: 10 }), 200);
  assert.deepEqual(await ids(box), []);
});

test('T11: an item that takes the place of an expired one is found alone', async () => {
  const box = await server.box({ defaultTtl: 10 });
  ok(await box.create({ id: '1', pk: 'p', n: 1 }), 201);
  server.clock.advance(LIFE_MS);
  ok(await box.create({ id: '1', pk: 'p', n: 2 }), 201);
  const { items: own } = client.database(box.database).container('c');
  for (const purged of [false, true]) {
    if (purged) await server.mayfly.purge();
    for (const [query, expected] of [
      ['SELECT VALUE c.n FROM c', [2]],
      ["SELECT VALUE c.n FROM c WHERE c.id = '1'", [2]],
      ['SELECT VALUE c.n FROM c WHERE c.n < 2', []],
      ['SELECT VALUE c.n FROM c ORDER BY c.n', [2]],
      ['SELECT VALUE COUNT(1) FROM c', [1]],
    ] as const) {
      assert.deepEqual((await own.query(query).fetchAll()).resources, expected, query);
    }
  }
});

test('T25: with lazy indexing a change of TTL leaves queries complete', async () => {
  const box = await server.box({ defaultTtl: 10, indexingPolicy: { indexingMode: 'lazy' } });
  for (let n = 0; n < 5; n++) ok(await box.create({ id: `${n}`, pk: 'p' }), 201);
  ok(await box.redefine({ defaultTtl: 20 }), 200);
  server.clock.advance(LIFE_MS);
  assert.deepEqual(await ids(box), ['0', '1', '2', '3', '4']);
  ok(await box.redefine({ defaultTtl: 10 }), 200);
  assert.deepEqual(await ids(box), []);
});

async function fill(throughput: string): Promise<[Box, Container]> {
  const box = await server.box({ defaultTtl: -1 }, { 'x-ms-offer-throughput': throughput });
  for (const item of items) ok(await box.create({ ...item, pk: 'p' }), 201);
  return [box, client.database(box.database).container('c')];
}

async function ids(box: Box): Promise<readonly string[]> {
  const { items: own } = client.database(box.database).container('c');
  return (await own.query('SELECT VALUE c.id FROM c ORDER BY c.id').fetchAll()).resources;
}

function idOf(row: string | { readonly id: string }): string {
  return typeof row === 'string' ? row : row.id;
}

/** Without ORDER BY any order is right. */
function inOrder(query: string, found: readonly unknown[]): readonly unknown[] {
  if (query.includes('ORDER BY')) return found;
  return [...found].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf(value: unknown): string {
  return JSON.stringify(value);
}
