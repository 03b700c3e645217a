// Which rule decides about a path, which orders a composite index gives, and what is sorted by.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compositeFor,
  type Indexing,
  type IndexPath,
  isIndexed,
  namedPaths,
  sortableBytes,
  VALUE_BYTES_MAX,
} from './indexing.js';

const rule = (path: IndexPath, below: boolean, include: boolean) => ({ path, below, include });
const indexing = (rules: Indexing['rules'], composites: Indexing['composites'] = []): Indexing => ({
  version: 1,
  rules,
  composites,
  words: [],
  points: [],
  lazy: false,
});

test('the most precise rule decides', () => {
  const rules = indexing([
    rule([], true, true),
    rule(['a'], true, false),
    rule(['a', 'b'], false, true),
    rule(['a', 'c'], true, true),
    rule(['d'], false, false),
    rule(['e', null], true, false),
  ]);
  const rows: readonly [IndexPath, boolean][] = [
    [['x'], true],
    [['x', null, 'y'], true],
    [['a'], false],
    [['a', 'x'], false],
    [['a', 'b'], true],
    [['a', 'b', 'x'], false],
    [['a', 'c', 'x', 'y'], true],
    [['d'], false],
    [['d', 'x'], true],
    [['e'], true],
    [['e', null], false],
    [['e', null, 'x'], false],
  ];
  for (const [path, included] of rows) {
    assert.equal(isIndexed(rules, path), included, JSON.stringify(path));
  }
  assert.equal(isIndexed(indexing([]), ['x']), false);
});

test('named are the paths that are included for themselves, without arrays', () => {
  const rules = indexing([
    rule([], true, true),
    rule(['a'], false, true),
    rule(['b'], false, false),
    rule(['c', null], false, true),
  ]);
  assert.deepEqual(namedPaths(rules), [['a']]);
});

test('a composite index gives its order and the opposite, and no other', () => {
  const up = (name: string) => ({ path: [name], descending: false });
  const down = (name: string) => ({ path: [name], descending: true });
  const rules = indexing([], [[down('a'), up('b')]]);
  const rows = [
    [[down('a'), up('b')], { index: 0, descending: true }],
    [[up('a'), down('b')], { index: 0, descending: false }],
    [[up('a'), up('b')], undefined],
    [[down('b'), up('a')], undefined],
    [[down('a')], undefined],
    [[down('a'), up('b'), up('c')], undefined],
  ] as const;
  for (const [order, found] of rows) assert.deepEqual(compositeFor(rules, order), found);
});

test('sortable bytes are in the order of types, and bounded', () => {
  const values = [undefined, null, false, true, -1, 0, 2, '', 'a', 'b', [], {}];
  const bytes = values.map((value) => Buffer.from(sortableBytes(value)));
  assert.deepEqual([...bytes].sort(Buffer.compare), bytes);
  assert.deepEqual(sortableBytes([1]), sortableBytes([2, 3]));
  assert.deepEqual(sortableBytes({ a: 1 }), sortableBytes({}));
  const [one, two] = ['1', '2'].map((end) => sortableBytes('x'.repeat(9999) + end));
  assert.equal(one?.length, VALUE_BYTES_MAX);
  assert.notDeepEqual(one, two);
});
