// The ranges of a query plan: in order, apart from each other, and as long as keys are incomplete.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectivePartitionKey } from '../value/partition-hash.js';
import { isOnePoint, queryRanges } from './query-ranges.js';

const A = '3A5381E1114EB8D3FCC90795045B49B7';
const ONE = '20CD98B339BA78A5D0CF6953B87070B0';
const TRUE = '0E711127C5B5A8E4726AC6DD306A3E59';
const point = (epk: string) => ({
  min: epk,
  max: epk,
  isMinInclusive: true,
  isMaxInclusive: true,
});
const span = (min: string) => ({
  min,
  max: `${min}FF`,
  isMinInclusive: true,
  isMaxInclusive: false,
});

test('whole keys are points in order, each of them once', () => {
  assert.deepEqual(queryRanges([['a'], [1], ['a'], [true]], 1, 'v2'), [
    point(TRUE),
    point(ONE),
    point(A),
  ]);
  const v1 = effectivePartitionKey(['a'], 'v1');
  assert.deepEqual(queryRanges([['a']], 1, 'v1'), [point(v1)]);
});

test('every key is the whole space, whatever else is asked for', () => {
  assert.deepEqual(queryRanges([['a'], []], 1, 'v2'), [span('')]);
});

test('no key is the empty point', () => {
  assert.deepEqual(queryRanges([], 1, 'v2'), [point('')]);
});

test('the beginning of a key covers the keys that go on from it', () => {
  assert.deepEqual(queryRanges([['a', 1], ['a'], [1, true]], 2, 'multi'), [
    point(ONE + TRUE),
    span(A),
  ]);
});

test('one point is a single logical partition', () => {
  assert.equal(isOnePoint(queryRanges([['a']], 1, 'v2')), true);
  assert.equal(isOnePoint(queryRanges([['a'], [1]], 1, 'v2')), false);
  assert.equal(isOnePoint(queryRanges([['a']], 2, 'multi')), false);
  assert.equal(isOnePoint(queryRanges([[]], 1, 'v2')), false);
});
