// What the engine is asked for, and what stays to be done.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Engine, Plan, ScanRequest } from '../engine/engine.js';
import type { MayflyError } from '../value/errors.js';
import { type Expression, type Order, type Query, ROOT } from './logical.js';
import { dropsUndefined, planQuery } from './planner.js';

const path = (slot: number, ...steps: (string | number)[]): Expression => ({
  kind: 'path',
  slot,
  path: steps,
});
const up = (value: Expression): Order => ({ value, descending: false });
const QUERY: Query = {
  sources: [{ kind: 'document', slot: ROOT }],
  where: path(ROOT, 'flag'),
  groupBy: [],
  aggregates: [],
  grouped: false,
  project: { kind: 'document' },
  distinct: false,
  order: [up(path(ROOT, 'a'))],
  rank: undefined,
  offset: 0,
  limit: undefined,
  slots: 2,
};
const CONTAINER: Container = {
  id: 'c',
  partitionPaths: [['p']],
  partitionHash: 'v2',
  indexes: [],
  indexing: {
    version: 1,
    lazy: false,
    words: [],
    points: [],
    rules: [
      { path: [], below: true, include: true },
      { path: ['named'], below: false, include: true },
      { path: ['not'], below: false, include: false },
    ],
    composites: [
      [
        { path: ['a'], descending: false },
        { path: ['b'], descending: false },
      ],
    ],
  },
  expiry: [],
};
const EVERYTHING = { partition: undefined, span: undefined };

/** An engine that keeps its promises to itself, but for those given. */
function planned(query: Query, promise: Pick<Plan, 'exact' | 'ordered'>, after?: 'sorted') {
  const asked: ScanRequest[] = [];
  const plan = (_: Container, request: ScanRequest) => {
    asked.push(request);
    return { ...promise, limited: false, explain: '', run: () => assert.fail(), count: undefined };
  };
  const position = after && { way: after, keys: [''], identity: '', offset: 0, limit: undefined };
  const engine = { plan } as unknown as Engine;
  const result = planQuery(engine, CONTAINER, EVERYTHING, query, position);
  return { ...result, asked: asked[0] };
}

test('what the plan promises is not done again', () => {
  const both = planned(QUERY, { exact: true, ordered: true });
  assert.deepEqual(both.asked?.filter, { op: '=', path: ['flag'], value: true });
  assert.deepEqual(both.asked?.order, [{ path: ['a'], descending: false }]);
  assert.equal(both.query.where, undefined);
  assert.equal(both.plan.ordered, true);
  const neither = planned(QUERY, { exact: false, ordered: false });
  assert.equal(neither.query.where, QUERY.where);
  assert.equal(neither.plan.ordered, false);
});

test('a page that was sorted by hand goes on so', () => {
  const { asked, plan } = planned(QUERY, { exact: true, ordered: true }, 'sorted');
  assert.deepEqual(asked?.order, []);
  assert.equal(plan.ordered, false);
});

const orders: readonly [string, Partial<Query>, number | string][] = [
  ['one path', {}, 1],
  ['an excluded path', { order: [up(path(ROOT, 'not'))] }, 'orderByExcluded'],
  ['a composite', { order: [up(path(ROOT, 'a')), up(path(ROOT, 'b'))] }, 2],
  ['no composite', { order: [up(path(ROOT, 'b')), up(path(ROOT, 'a'))] }, 'orderByComposite'],
  ['an element', { order: [up(path(ROOT, 'a', 0))] }, 0],
  ['another source', { order: [up(path(1, 'a'))] }, 0],
  [
    'a join',
    { sources: [...QUERY.sources, { kind: 'elements', slot: 1, value: path(ROOT, 'l') }] },
    0,
  ],
];
for (const [name, part, wanted] of orders) {
  test(`the order asked for: ${name}`, () => {
    const plan = () => planned({ ...QUERY, ...part }, { exact: true, ordered: true });
    if (typeof wanted === 'number') assert.equal(plan().asked?.order.length, wanted);
    else assert.throws(plan, (error: MayflyError) => error.code === wanted);
  });
}

test('items that lack the sort key are left out unless its path is included by name', () => {
  const rows: readonly [readonly Order[], boolean][] = [
    [[], false],
    [[up(path(ROOT, 'a'))], true],
    [[up(path(ROOT, 'named'))], false],
    [[up(path(ROOT, 'named', 0))], true],
    [[up(path(1, 'a'))], false],
    [[up(path(ROOT, 'a')), up(path(ROOT, 'b'))], false],
  ];
  for (const [order, drops] of rows) {
    assert.equal(dropsUndefined(CONTAINER, { ...QUERY, order }), drops);
  }
});
