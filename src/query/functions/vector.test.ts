// VECTORDISTANCE by each metric, and what is not a vector.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRows } from './rows.suite.js';
import { metricOf, vectorDistance, vectorFunctions } from './vector.js';

const by = (distanceFunction: unknown) => ({ distanceFunction });

testRows(vectorFunctions, [
  [
    'VECTORDISTANCE',
    [
      [3, 4],
      [4, 3],
    ],
    24 / 25,
  ],
  ['VECTORDISTANCE', [[3, 4], [4, 3], false], 24 / 25],
  ['VECTORDISTANCE', [[3, 4], [4, 3], true, {}], 24 / 25],
  ['VECTORDISTANCE', [[3, 4], [4, 3], true, by('cosine')], 24 / 25],
  ['VECTORDISTANCE', [[3, 4], [4, 3], true, by('DotProduct')], 24],
  ['VECTORDISTANCE', [[3, 4], [0, 0], true, by('euclidean')], 5],
  [
    'VECTORDISTANCE',
    [
      [1, 0],
      [-2, 0],
    ],
    -1,
  ],
  [
    'VECTORDISTANCE',
    [
      [1, 0],
      [0, 5],
    ],
    0,
  ],
  [
    'VECTORDISTANCE',
    [
      [0.1, 0.2, 0.3],
      [0.1, 0.2, 0.3],
    ],
    1,
  ],
  ['VECTORDISTANCE', [[3, 4], [4, 3], true, by('manhattan')], undefined],
  ['VECTORDISTANCE', [[3, 4], [4, 3], true, by(1)], undefined],
  ['VECTORDISTANCE', [[3, 4], [4, 3], 1], undefined],
  ['VECTORDISTANCE', [[3, 4], [4, 3], true, 'cosine'], undefined],
  ['VECTORDISTANCE', [[3, 4], [4]], undefined],
  ['VECTORDISTANCE', [[], []], undefined],
  [
    'VECTORDISTANCE',
    [
      [0, 0],
      [1, 1],
    ],
    undefined,
  ],
  ['VECTORDISTANCE', [[0, 0], [1, 1], true, by('dotproduct')], 0],
  [
    'VECTORDISTANCE',
    [
      [3, '4'],
      [4, 3],
    ],
    undefined,
  ],
  [
    'VECTORDISTANCE',
    [
      [3, null],
      [4, 3],
    ],
    undefined,
  ],
  ['VECTORDISTANCE', [[1e200], [1]], undefined],
  ['VECTORDISTANCE', [[1e200], [1e200], true, by('dotproduct')], undefined],
  ['VECTORDISTANCE', ['3', [4, 3]], undefined],
  ['VECTORDISTANCE', [undefined, [4, 3]], undefined],
]);

test('the planner measures and names metrics the same way', () => {
  assert.equal(vectorDistance([1, 2, 3], [4, 6, 3], 'euclidean'), 5);
  assert.equal(vectorDistance([1], [1, 2], 'euclidean'), undefined);
  assert.equal(metricOf(undefined), 'cosine');
  assert.equal(metricOf('Euclidean'), 'euclidean');
  assert.equal(metricOf('x'), undefined);
});
