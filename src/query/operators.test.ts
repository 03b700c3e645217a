// The operators on values of every type: what makes no sense is undefined.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { and, calculate, compare, not, or } from './operators.js';

const T = true;
const F = false;
const U = undefined;

test('three-valued logic: left, right, AND, OR', () => {
  const rows: readonly [unknown, unknown, unknown, unknown][] = [
    [T, T, T, T],
    [T, F, F, T],
    [F, F, F, F],
    [T, U, U, T],
    [F, U, F, U],
    [U, U, U, U],
    [T, 1, U, T],
    [F, 'true', F, U],
    [T, null, U, T],
  ];
  for (const [left, right, both, either] of rows) {
    assert.equal(and(left, right), both, `${left} AND ${right}`);
    assert.equal(and(right, left), both, `${right} AND ${left}`);
    assert.equal(or(left, right), either, `${left} OR ${right}`);
    assert.equal(or(right, left), either, `${right} OR ${left}`);
  }
  assert.deepEqual([T, F, U, 0, ''].map(not), [F, T, U, U, U]);
});

test('comparisons stay within a type', () => {
  const rows: readonly [unknown, Parameters<typeof compare>[0], unknown, unknown][] = [
    [1, '=', 1, T],
    [1, '=', '1', U],
    [1, '!=', '1', U],
    [1, '!=', 2, T],
    [0, '=', -0, T],
    [null, '=', null, T],
    [null, '<=', null, T],
    [null, '<', null, F],
    [U, '=', U, U],
    [F, '<', T, T],
    ['B', '<', 'a', T],
    ['\ue000', '>', '😀', T],
    [[1, { a: 1, b: 2 }], '=', [1, { b: 2, a: 1 }], T],
    [[1], '=', [1, 2], F],
    [[1], '<', [2], U],
    [{}, '>=', {}, U],
    [{}, '=', [], U],
  ];
  for (const [left, operator, right, result] of rows) {
    assert.equal(compare(operator, left, right), result, `${left} ${operator} ${right}`);
  }
});

test('arithmetic on numbers, and nothing that is not finite', () => {
  const rows: readonly [unknown, Parameters<typeof calculate>[0], unknown, unknown][] = [
    [1, '+', 2, 3],
    ['1', '+', '2', U],
    [7, '%', -4, 3],
    [1, '/', 0, U],
    [0, '%', 0, U],
    [1e308, '*', 10, U],
    [5, '&', 3, 1],
    [-1, '>>>', 28, 15],
    [1, '<<', 33, 2],
    [1, '-', null, U],
  ];
  for (const [left, operator, right, result] of rows) {
    assert.equal(calculate(operator, left, right), result, `${left} ${operator} ${right}`);
  }
});
