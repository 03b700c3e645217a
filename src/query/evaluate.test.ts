// Rows of sources, subqueries, groups, and what rows are sorted and told apart by.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '../time/instant.js';
import type { Frame } from './compile.js';
import { compareKeys, compile, compileRows, compileSortKeys, identityOf } from './evaluate.js';
import { type Expression, type Order, type Query, ROOT } from './logical.js';

const X = 1;
const Y = 2;
const path = (slot: number, ...steps: string[]): Expression => ({
  kind: 'path',
  slot,
  path: steps,
});
const is = (value: unknown): Expression => ({ kind: 'constant', value });
const QUERY: Query = {
  sources: [],
  where: undefined,
  groupBy: [],
  aggregates: [],
  grouped: false,
  project: { kind: 'value', value: path(X) },
  distinct: false,
  order: [],
  rank: undefined,
  offset: 0,
  limit: undefined,
  slots: 3,
};
const overList: Query = {
  ...QUERY,
  sources: [{ kind: 'elements', slot: X, value: path(ROOT, 'list') }],
};

function frameOf(document: unknown): Frame {
  const context = { now: instant(0), random: () => 0 };
  return { slots: [document, undefined, undefined], context, serial: 1, rows: 0, aggregates: [] };
}

function subquery(query: Query, mode: 'array' | 'exists' | 'scalar' | 'all' | 'first' | 'last') {
  const value = compile({ kind: 'subquery', mode, query });
  return (list: unknown) => value(frameOf({ list }));
}

test('sources are nested in each other', () => {
  const query: Query = {
    ...QUERY,
    sources: [
      { kind: 'elements', slot: X, value: path(ROOT, 'list') },
      { kind: 'elements', slot: Y, value: path(X, 'in') },
    ],
    where: { kind: 'compare', operator: '>', left: path(Y), right: is(1) },
  };
  const frame = frameOf({ list: [{ in: [1, 2] }, { in: 3 }, 4, { in: [5] }] });
  const seen: unknown[] = [];
  const goOn = compileRows(query)(frame, () => Boolean(seen.push(frame.slots[Y])));
  assert.deepEqual([goOn, seen], [true, [2, 5]]);
  assert.equal(
    compileRows(query)(frame, () => false),
    false,
  );
});

test('subqueries of every mode', () => {
  assert.deepEqual(subquery(overList, 'array')([1, null, 2]), [1, null, 2]);
  assert.deepEqual(subquery(overList, 'array')('none'), []);
  assert.deepEqual(
    ['exists', 'first', 'last', 'scalar'].map((mode) => subquery(overList, mode as 'first')([])),
    [false, undefined, undefined, undefined],
  );
  assert.equal(subquery(overList, 'exists')([null]), true);
  assert.equal(subquery(overList, 'first')([1, 2]), 1);
  assert.equal(subquery(overList, 'last')([1, 2]), 2);
  assert.equal(subquery(overList, 'all')([true, 1]), false);
  assert.equal(subquery(overList, 'scalar')([1]), 1);
  assert.throws(() => subquery(overList, 'scalar')([1, 2]), /more than one row/);
});

test('a subquery sorts, tells apart, groups and cuts its rows', () => {
  const descending = { value: path(X, 'k'), descending: true };
  const sorted = subquery({ ...overList, order: [descending], offset: 1, limit: 1 }, 'array');
  assert.deepEqual(sorted([{ k: 1 }, { k: 3 }, { k: 2 }]), [{ k: 2 }]);
  const distinct = subquery({ ...overList, distinct: true }, 'array');
  assert.deepEqual(distinct([{ a: 1, b: 2 }, { b: 2, a: 1 }, 1, 1]), [{ a: 1, b: 2 }, 1]);
  const count: Query = {
    ...overList,
    aggregates: [{ name: 'COUNT', value: path(X) }],
    grouped: true,
    project: { kind: 'value', value: { kind: 'aggregate', index: 0 } },
  };
  assert.equal(subquery(count, 'scalar')([]), 0);
  assert.deepEqual(subquery({ ...count, groupBy: [path(X)] }, 'array')([1, 2, 1]), [2, 1]);
});

test('rows are sorted by type and value; arrays and objects are alike among themselves', () => {
  const order: readonly Order[] = [{ value: path(ROOT), descending: false }];
  const keysOf = (value: unknown) => compileSortKeys(order)(frameOf(value));
  const values = [undefined, null, false, true, -1, 2, '', 'B', 'a', '😀', '\ue000', [], {}];
  for (const [at, value] of values.entries()) {
    const next = values[at + 1];
    if (at + 1 < values.length) {
      assert(compareKeys(keysOf(value), keysOf(next), order) < 0, `${value} before ${next}`);
      assert(compareKeys(keysOf(next), keysOf(value), order) > 0);
    }
  }
  assert.equal(compareKeys(keysOf([2]), keysOf([1, 1]), order), 0);
  assert.equal(compareKeys(keysOf({ a: 1 }), keysOf({}), order), 0);
});

test('identities are equal for equal values only, and short', () => {
  assert.equal(identityOf({ a: 1, b: [2] }), identityOf({ b: [2], a: 1 }));
  assert.notEqual(identityOf([1, 2]), identityOf([2, 1]));
  const [one, two] = ['a', 'b'].map((end) => identityOf('x'.repeat(9999) + end));
  assert.notEqual(one, two);
  assert((one?.length ?? 0) < 1000);
});
