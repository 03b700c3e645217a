// Queries over values at hand, in pages: the three ways give all rows once, whatever the page size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breathe } from '../time/clock.js';
import { instant } from '../time/instant.js';
import { type Expression, type Query, ROOT } from './logical.js';
import type { Position } from './page.js';
import { runPage } from './pipeline.js';
import { resumeIn } from './position.js';
import { planOverValues } from './values-plan.js';

const path = (slot: number, ...steps: string[]): Expression => ({
  kind: 'path',
  slot,
  path: steps,
});
const ELEMENT = 1;
const WHOLE: Query = {
  sources: [{ kind: 'document', slot: ROOT }],
  where: undefined,
  groupBy: [],
  aggregates: [],
  grouped: false,
  project: { kind: 'document' },
  distinct: false,
  order: [],
  rank: undefined,
  offset: 0,
  limit: undefined,
  slots: 2,
};
const VALUES = [
  { id: 'a', n: 2, list: [1, 2] },
  { id: 'b', n: 1, list: [] },
  { id: 'c', list: [1, 1, 3] },
  { id: 'd', n: 2 },
];
const projected = (value: Expression): Query['project'] => ({ kind: 'value', value });
const ids = (query: Partial<Query>): Partial<Query> => ({
  project: projected(path(ROOT, 'id')),
  ...query,
});
const by = (name: string, descending: boolean) => [{ value: path(ROOT, name), descending }];
const joined: Partial<Query> = {
  sources: [...WHOLE.sources, { kind: 'elements', slot: ELEMENT, value: path(ROOT, 'list') }],
  project: projected(path(ELEMENT)),
};
const counted: Partial<Query> = {
  aggregates: [{ name: 'COUNT', value: { kind: 'constant', value: 1 } }],
  grouped: true,
  project: projected({ kind: 'aggregate', index: 0 }),
};

async function pagesOf(
  part: Partial<Query>,
  itemsMax: number,
  complete: boolean,
  values: readonly unknown[] = VALUES,
) {
  const query = { ...WHOLE, ...part };
  const rows: unknown[] = [];
  let after: Position | undefined;
  do {
    const plan = { ...planOverValues(values, resumeIn(after)), ordered: query.order.length === 0 };
    const took = { optimizeMs: 0, planMs: 0 };
    const page = await runPage({ query, plan, took, whereDefined: undefined }, after, {
      itemsMax,
      bytesMax: 1e6,
      at: instant(0),
      random: () => 0,
      complete,
      abandoned: () => false,
      isTimed: false,
    });
    assert(page.rows.length <= itemsMax);
    rows.push(...page.rows.map((row) => JSON.parse(Buffer.from(row).toString()) as unknown));
    after = page.next;
  } while (after);
  return rows;
}

const rows: readonly [string, Partial<Query>, readonly unknown[]][] = [
  ['documents as they are', {}, VALUES],
  ['OFFSET and LIMIT', ids({ offset: 1, limit: 2 }), ['b', 'c']],
  ['LIMIT 0', ids({ limit: 0 }), []],
  ['a join', joined, [1, 2, 1, 1, 3]],
  ['undefined rows', { project: projected(path(ROOT, 'n')) }, [2, 1, 2]],
  ['an order', ids({ order: by('n', false) }), ['c', 'b', 'a', 'd']],
  ['an order down', ids({ order: by('n', true) }), ['d', 'a', 'b', 'c']],
  ['an order with a limit', ids({ order: by('n', true), offset: 1, limit: 2 }), ['a', 'b']],
  ['DISTINCT', { ...joined, distinct: true }, [1, 2, 3]],
  ['DISTINCT documents', { distinct: true, order: by('id', true) }, [...VALUES].reverse()],
  [
    'DISTINCT in an order of its own',
    { project: projected(path(ROOT, 'n')), distinct: true, order: by('id', true) },
    [2, 1],
  ],
  ['COUNT', counted, [4]],
  ['COUNT without FROM', { ...counted, sources: [] }, [1]],
  ['GROUP BY', { ...counted, groupBy: [path(ROOT, 'n')] }, [1, 1, 2]],
  ['DISTINCT groups', { ...counted, groupBy: [path(ROOT, 'n')], distinct: true }, [1, 2]],
  ['no FROM', { sources: [], project: projected({ kind: 'constant', value: 1 }) }, [1]],
];
for (const [name, query, wanted] of rows) {
  test(`pipeline: ${name}`, async () => {
    for (const size of [1, 2, 3, 100]) assert.deepEqual(await pagesOf(query, size, true), wanted);
  });
}

test('pipeline: an order may leave out the rows that lack its key', async () => {
  const query = ids({ order: by('n', false) });
  for (const size of [1, 100]) assert.deepEqual(await pagesOf(query, size, false), ['b', 'a', 'd']);
});

/** A document whose arrays, joined with each other, make so many rows that they take turns. */
const SIDE = 250;
const LARGE = { list: Array.from({ length: SIDE }, (_, index) => index) };
const OTHER = 2;
const squared: Partial<Query> = {
  sources: [
    ...WHOLE.sources,
    { kind: 'elements', slot: ELEMENT, value: path(ROOT, 'list') },
    { kind: 'elements', slot: OTHER, value: path(ROOT, 'list') },
  ],
  slots: 3,
  project: projected(path(OTHER)),
};
const sum: Query['aggregates'] = [{ name: 'SUM', value: path(OTHER) }];
const isLast: Expression = {
  kind: 'compare',
  operator: '=',
  left: path(ELEMENT),
  right: { kind: 'constant', value: SIDE - 1 },
};
const total = (SIDE * SIDE * (SIDE - 1)) / 2;
const largeRows: readonly [string, Partial<Query>, readonly unknown[]][] = [
  ['as they come', { ...squared, where: isLast }, LARGE.list],
  [
    'in an order',
    { ...squared, where: isLast, order: [{ value: path(OTHER), descending: true }] },
    [...LARGE.list].reverse(),
  ],
  ['DISTINCT', { ...squared, distinct: true }, LARGE.list],
  ['folded', { ...squared, ...counted }, [SIDE * SIDE]],
  ['summed up', { ...squared, ...counted, aggregates: sum }, [total]],
];
for (const [name, query, wanted] of largeRows) {
  test(`pipeline: the many rows of one document, ${name}, leave turns to others`, async () => {
    let isDone = false;
    let turns = 0;
    const others = (async () => {
      for (; !isDone; turns++) await breathe();
    })();
    const found = await pagesOf(query, 100_000, true, [LARGE]);
    isDone = true;
    await others;
    assert.deepEqual(found, wanted);
    assert.ok(turns >= (SIDE * SIDE) / 5000 - 2, `${turns} turns`);
  });
}

test('pipeline: pages of the many rows of one document go on where they ended', async () => {
  const found = await pagesOf(squared, 7000, true, [LARGE]);
  assert.equal(found.length, SIDE * SIDE);
  assert.deepEqual(found.slice(0, SIDE), LARGE.list);
  assert.deepEqual(found.slice(-SIDE), LARGE.list);
});

test('pipeline: there is an end to the rows of one document', async () => {
  const list = Array.from({ length: 320 }, (_, index) => index);
  await assert.rejects(pagesOf({ ...squared, ...counted }, 10, true, [{ list }]), /too many rows/);
});
