// Expressions on one row, where operators meet missing things.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '../time/instant.js';
import { compile } from './evaluate.js';
import { findFunction } from './functions/all.js';
import { type Expression, ROOT } from './logical.js';

const DOCUMENT = JSON.parse('{"a": 1, "s": "x", "list": [1, {"k": 2}], "__proto__": 3}') as object;
const is = (value: unknown): Expression => ({ kind: 'constant', value });
const path = (...steps: (string | number)[]): Expression => ({
  kind: 'path',
  slot: ROOT,
  path: steps,
});
const U = is(undefined);

function evaluated(expression: Expression): unknown {
  return compile(expression)({
    slots: [DOCUMENT],
    context: { now: instant(0), random: () => 0 },
    serial: 7,
    rows: 0,
    aggregates: ['folded'],
  });
}

function abs(arg: Expression): Expression {
  const fn = findFunction('ABS');
  assert(fn);
  return { kind: 'call', name: 'ABS', fn, args: [arg] };
}

const conditional = (condition: Expression): Expression => ({
  kind: 'conditional',
  condition,
  // biome-ignore lint/suspicious/noThenProperty: a branch of a conditional, never awaited
  then: is('then'),
  otherwise: is('otherwise'),
});

const rows: readonly [string, Expression, unknown][] = [
  ['a path', path('list', 1, 'k'), 2],
  ['a path beyond', path('list', 2), undefined],
  ['a path into a text', path('s', 'length'), undefined],
  ['an inherited property', path('constructor'), undefined],
  ['a member by a computed name', { kind: 'member', of: path(), key: path('s') }, undefined],
  ['a member by a number', { kind: 'member', of: path('list'), key: is(0) }, 1],
  ['a member by null', { kind: 'member', of: path(), key: is(null) }, undefined],
  ['an array', { kind: 'array', items: [is(1), U, is(null)] }, [1, null]],
  ['a coalesced null', { kind: 'coalesce', left: is(null), right: is(1) }, null],
  ['a coalesced nothing', { kind: 'coalesce', left: U, right: is(1) }, 1],
  ['a concatenation', { kind: 'concatenate', left: is('a'), right: is('b') }, 'ab'],
  ['a mixed one', { kind: 'concatenate', left: is('a'), right: is(1) }, undefined],
  ['a condition that holds', conditional(is(true)), 'then'],
  ['one that does not', conditional(is(false)), 'otherwise'],
  ['no condition', conditional(is(1)), undefined],
  ['a sign on a text', { kind: 'negate', of: is('1') }, undefined],
  ['a complement', { kind: 'complement', of: is(1.7) }, -2],
  ['IN', { kind: 'in', value: is(1), list: [is('1'), is(1)] }, true],
  ['IN of nothing alike', { kind: 'in', value: is(1), list: [is(2), is('1')] }, undefined],
  ['IN of others', { kind: 'in', value: is(1), list: [is(2), is(3)] }, false],
  ['AND decided late', { kind: 'and', all: [U, is(true), is(false)] }, false],
  ['OR undecided', { kind: 'or', all: [U, is(false)] }, undefined],
  ['LIKE', { kind: 'like', value: is('a%'), pattern: is('a!%'), escape: '!' }, true],
  ['LIKE a number', { kind: 'like', value: is(1), pattern: is('1'), escape: undefined }, undefined],
  ['a function', abs(is(-2)), 2],
  ['a function of the wrong kind', abs(is('x')), undefined],
  ['the serial', { kind: 'documentId' }, 7],
  ['an aggregate', { kind: 'aggregate', index: 0 }, 'folded'],
];
for (const [name, expression, value] of rows) {
  test(`compile: ${name}`, () => assert.deepEqual(evaluated(expression), value));
}

test('an object keeps every name as a property of its own', () => {
  const entries = ['__proto__', 'a', 'b'].map((name, at) => ({
    name,
    value: at === 2 ? U : is(at),
  }));
  const made = evaluated({ kind: 'object', entries }) as object;
  assert.equal(JSON.stringify(made), '{"__proto__":0,"a":1}');
  assert.equal(Object.getPrototypeOf(made), Object.prototype);
});
