// Set functions, and the set of values they are made of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { equalValues } from '../../value/compare.js';
import { randomJson, seededRandom, seedFromEnvironment } from '../../value/random.suite.js';
import { testRows } from './rows.suite.js';
import { setFunctions } from './sets.js';
import { ValueSet } from './value-set.js';

const object = { a: 1, b: [{ c: null }] };
const sameObject = { b: [{ c: null }], a: 1 };

testRows(setFunctions, [
  [
    'SETUNION',
    [
      [1, 2, 1],
      [3, 2],
    ],
    [1, 2, 3],
  ],
  [
    'SETUNION',
    [
      [object, '1'],
      [1, sameObject],
    ],
    [object, '1', 1],
  ],
  ['SETUNION', [[], []], []],
  [
    'SETINTERSECT',
    [
      [1, 2, 3, 4],
      [4, 5, 1, 4],
    ],
    [4, 1],
  ],
  [
    'SETINTERSECT',
    [
      [object, null],
      [sameObject, false],
    ],
    [sameObject],
  ],
  ['SETINTERSECT', [[1], []], []],
  ['SETDIFFERENCE', [[1, 2, 1, 3], [3]], [1, 2]],
  ['SETDIFFERENCE', [[object, [1]], [[1]]], [object]],
  ['SETDIFFERENCE', [[], [1]], []],
  [
    'SETEQUAL',
    [
      [1, 2, 2],
      [2, 1],
    ],
    true,
  ],
  [
    'SETEQUAL',
    [
      [1, 2],
      [1, 3],
    ],
    false,
  ],
  ['SETEQUAL', [[1, 2], [1]], false],
  ['SETEQUAL', [[object], [sameObject]], true],
  ['SETEQUAL', [[], []], true],
]);

test('a set holds a value just when it holds an equal one', () => {
  const seed = seedFromEnvironment();
  const random = seededRandom(seed);
  const values = Array.from({ length: 400 }, () => randomJson(random, 2));
  // Texts that look like the keys of other values.
  values.push('1', '"1', '[1]', [1], ['1'], '{}', {}, 'null', null, [null], [undefined], -0, [-0]);
  const set = new ValueSet();
  const distinct: unknown[] = [];
  for (const value of values) {
    const known = distinct.some((other) => equalValues(other, value));
    assert.equal(set.has(value), known, `SEED=${seed} ${JSON.stringify(value)}`);
    assert.equal(set.add(value), !known, `SEED=${seed} ${JSON.stringify(value)}`);
    if (!known) distinct.push(value);
  }
  assert.equal(set.size, distinct.length);
  assert.deepEqual(set.toArray(), distinct);
});
