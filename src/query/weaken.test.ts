// What engines are told of conditions. A filter is exact only if it says all that the condition
// says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter } from '../engine/engine.js';
import { findFunction } from './functions/all.js';
import { type CompareOperator, type Expression, ROOT } from './logical.js';
import { weaken } from './weaken.js';

const path = (...steps: (string | number)[]): Expression => ({
  kind: 'path',
  slot: ROOT,
  path: steps,
});
const is = (value: unknown): Expression => ({ kind: 'constant', value });
const compare = (left: Expression, operator: CompareOperator, right: Expression): Expression => ({
  kind: 'compare',
  operator,
  left,
  right,
});
const call = (name: string, ...args: Expression[]): Expression => {
  const fn = findFunction(name);
  assert(fn);
  return { kind: 'call', name, fn, args };
};
const equalTo = (value: string | number): Filter => ({ op: '=', path: ['a'], value });
const A = path('a');

const rows: readonly [string, Expression, Filter | undefined, boolean][] = [
  ['equality', compare(A, '=', is(1)), equalTo(1), true],
  ['mirrored', compare(is(1), '<', A), { op: '>', path: ['a'], value: 1 }, true],
  ['inequality', compare(A, '!=', is(1)), undefined, false],
  ['undefined', compare(A, '=', is(undefined)), undefined, false],
  ['an object', compare(A, '=', is({})), undefined, false],
  ['two paths', compare(A, '=', path('b')), undefined, false],
  ['the document', compare(path(), '=', is(1)), undefined, false],
  [
    'an element',
    compare(path('a', 0), '=', is(1)),
    { op: '=', path: ['a', null], value: 1 },
    false,
  ],
  ['another source', compare({ kind: 'path', slot: 1, path: ['a'] }, '=', is(1)), undefined, false],
  ['a bare path', A, { op: '=', path: ['a'], value: true }, true],
  ['true', is(true), undefined, true],
  ['false', is(false), undefined, false],
  ['AND true', { kind: 'and', all: [compare(A, '=', is(1)), is(true)] }, equalTo(1), true],
  ['OR true', { kind: 'or', all: [compare(A, '=', is(1)), is(true)] }, undefined, false],
  ['NOT', { kind: 'not', of: A }, undefined, false],
  [
    'AND with a rest',
    { kind: 'and', all: [compare(A, '=', is(1)), { kind: 'not', of: A }] },
    equalTo(1),
    false,
  ],
  [
    'OR on one path',
    { kind: 'or', all: [compare(A, '=', is(1)), compare(A, '=', is('x'))] },
    { op: 'in', path: ['a'], values: [1, 'x'] },
    true,
  ],
  [
    'OR on two paths',
    { kind: 'or', all: [compare(A, '=', is(1)), compare(path('b'), '=', is(1))] },
    undefined,
    false,
  ],
  [
    'OR with an element',
    { kind: 'or', all: [compare(path('a', 0), '=', is(1)), compare(path('a', 1), '=', is(1))] },
    undefined,
    false,
  ],
  [
    'IN',
    { kind: 'in', value: A, list: [is(1), is(null)] },
    { op: 'in', path: ['a'], values: [1, null] },
    true,
  ],
  ['IN with a path', { kind: 'in', value: A, list: [is(1), path('b')] }, undefined, false],
  ['IS_DEFINED', call('IS_DEFINED', A), { op: 'defined', path: ['a'] }, true],
  ['STARTSWITH', call('STARTSWITH', A, is('x')), { op: 'prefix', path: ['a'], value: 'x' }, true],
  ['STARTSWITH, any case', call('STARTSWITH', A, is('x'), is(true)), undefined, false],
  ['STARTSWITH a number', call('STARTSWITH', A, is(1)), undefined, false],
  [
    'ARRAY_CONTAINS',
    call('ARRAY_CONTAINS', A, is(1)),
    { op: '=', path: ['a', null], value: 1 },
    true,
  ],
  ['ARRAY_CONTAINS an object', call('ARRAY_CONTAINS', A, is({})), undefined, false],
  ['another function', call('CONTAINS', A, is('x')), undefined, false],
];
for (const [name, expression, filter, exact] of rows) {
  test(`weaken: ${name}`, () => assert.deepEqual(weaken(expression), { filter, exact }));
}
