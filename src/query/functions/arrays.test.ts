// Array functions, a few rows each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayFunctions } from './arrays.js';
import { ELEMENTS_MAX } from './result-size.js';
import { callByName, testRows } from './rows.suite.js';

const shirt = { kind: 'shirt', size: { width: 1, height: 2 }, tags: ['a', 'b'] };

testRows(arrayFunctions, [
  ['ARRAY_AVG', [[1, 2, 3, 4]], 2.5],
  ['ARRAY_AVG', [[1, undefined, 2]], 1.5],
  ['ARRAY_AVG', [[]], undefined],
  ['ARRAY_AVG', [[1, null]], undefined],
  ['ARRAY_CONCAT', [[1], [2, [3]]], [1, 2, [3]]],
  ['ARRAY_CONCAT', [[], [], [1], [1]], [1, 1]],
  ['ARRAY_CONTAINS', [[1, '2'], 1], true],
  ['ARRAY_CONTAINS', [[1, '2'], 2], false],
  ['ARRAY_CONTAINS', [[], null], false],
  ['ARRAY_CONTAINS', [[null], null], true],
  ['ARRAY_CONTAINS', [[shirt], { kind: 'shirt' }], false],
  ['ARRAY_CONTAINS', [[shirt], { ...shirt }], true],
  ['ARRAY_CONTAINS', [[shirt], { kind: 'shirt' }, false], false],
  ['ARRAY_CONTAINS', [[1, shirt], { kind: 'shirt' }, true], true],
  ['ARRAY_CONTAINS', [[shirt], { kind: 'shirt', size: { height: 2 } }, true], true],
  ['ARRAY_CONTAINS', [[shirt], { kind: 'shirt', size: { depth: 2 } }, true], false],
  ['ARRAY_CONTAINS', [[shirt], { tags: ['a'] }, true], false],
  ['ARRAY_CONTAINS', [[shirt], { toString: 1 }, true], false],
  ['ARRAY_CONTAINS', [[shirt], {}, true], true],
  ['ARRAY_CONTAINS', [[1], {}, true], false],
  ['ARRAY_CONTAINS', [[1, 2], 2, true], true],
  ['ARRAY_CONTAINS_ALL', [[1, true, '3', [1]], 1], true],
  ['ARRAY_CONTAINS_ALL', [[1, true, '3', [1]], [1], true, '3'], true],
  ['ARRAY_CONTAINS_ALL', [[1, 2], 2, 3], false],
  ['ARRAY_CONTAINS_ALL', [[1, 2], 1, undefined], undefined],
  ['ARRAY_CONTAINS_ALL', [[1, 2], undefined, 3], false],
  ['ARRAY_CONTAINS_ALL', [[], 1], false],
  ['ARRAY_CONTAINS_ANY', [[1, 2], 2], true],
  ['ARRAY_CONTAINS_ANY', [[1, 2], 3, undefined, 2], true],
  ['ARRAY_CONTAINS_ANY', [[1, 2], 3, undefined], undefined],
  ['ARRAY_CONTAINS_ANY', [[1, 2], 3, '1'], false],
  ['ARRAY_LENGTH', [[]], 0],
  ['ARRAY_LENGTH', [[1, [2, 3]]], 2],
  ['ARRAY_MAX', [[1, 'a', true, null]], 'a'],
  ['ARRAY_MAX', [[]], undefined],
  ['ARRAY_MAX', [[1, {}]], undefined],
  ['ARRAY_MEDIAN', [[3, 1, 2]], 2],
  ['ARRAY_MEDIAN', [[10, 1, 9, 2]], 5.5],
  ['ARRAY_MEDIAN', [[1, -2.7, 3, -4, undefined]], (-2.7 + 1) / 2],
  ['ARRAY_MEDIAN', [[Number.MAX_VALUE, Number.MAX_VALUE]], Number.MAX_VALUE],
  ['ARRAY_MEDIAN', [[]], undefined],
  ['ARRAY_MEDIAN', [[1, 'a']], undefined],
  ['ARRAY_MIN', [[1, 'a', true, null]], null],
  ['ARRAY_MIN', [[2, 1, undefined]], 1],
  ['ARRAY_MIN', [[1, [0]]], undefined],
  ['ARRAY_SLICE', [[1, 2, 3], 1], [2, 3]],
  ['ARRAY_SLICE', [[1, 2, 3], 1, 1], [2]],
  ['ARRAY_SLICE', [[1, 2, 3], -2], [2, 3]],
  ['ARRAY_SLICE', [[1, 2, 3], -2, 1], [2]],
  ['ARRAY_SLICE', [[1, 2, 3], -9, 2], [1, 2]],
  ['ARRAY_SLICE', [[1, 2, 3], 3], []],
  ['ARRAY_SLICE', [[1, 2, 3], 0, 0], []],
  ['ARRAY_SLICE', [[1, 2, 3], 0, -1], []],
  ['ARRAY_SLICE', [[1, 2, 3], 1, 1000], [2, 3]],
  ['ARRAY_SUM', [[1, 2, undefined]], 3],
  ['ARRAY_SUM', [[]], 0],
  ['ARRAY_SUM', [[1, '2']], undefined],
  [
    'OBJECTTOARRAY',
    [{ a: 1, b: [2] }],
    [
      { k: 'a', v: 1 },
      { k: 'b', v: [2] },
    ],
  ],
  ['OBJECTTOARRAY', [{}], []],
  ['OBJECTTOARRAY', [{ a: 1 }, 'name'], [{ name: 'a', v: 1 }]],
  ['OBJECTTOARRAY', [{ a: 1 }, 'name', 'value'], [{ name: 'a', value: 1 }]],
]);

test('an array that would be too long is refused before it is made', () => {
  const half = new Array<number>(ELEMENTS_MAX / 2).fill(0);
  const concatenate = () => callByName(arrayFunctions, 'ARRAY_CONCAT', half, half, [0]);
  assert.throws(concatenate, { code: 'invalidInput' });
});
