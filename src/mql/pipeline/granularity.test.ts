// The boundaries of buckets by series of preferred numbers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoError } from '../../value/mongo-errors.js';
import { granularityOf, granularNumber } from './granularity.js';

const CASES: readonly (readonly [string, number, number, number])[] = [
  // Each with a value, the next smaller and the next greater number of the series.
  ['R5', 10, 6.3, 16],
  ['R5', 11, 10, 16],
  ['R5', 63, 40, 100],
  ['R5', 70, 63, 100],
  ['R10', 1, 0.8, 1.25],
  ['R20', 0.2, 0.18, 0.224],
  ['R80', 99, 97.5, 100],
  ['1-2-5', 500, 200, 1000],
  ['1-2-5', 3, 2, 5],
  ['E6', 0.05, 0.047, 0.068],
  ['E24', 91, 82, 100],
  ['E192', 9.19, 9.09, 9.2],
  ['E192', 920, 909, 931],
  ['POWERSOF2', 8, 4, 16],
  ['POWERSOF2', 0.3, 0.25, 0.5],
  ['POWERSOF2', 0, 0, 0],
  ['R40', 0, 0, 0],
];

for (const [name, value, below, above] of CASES) {
  test(`${name} around ${value}`, () => {
    const { roundDown, roundUp } = granularityOf(name);
    assert.equal(Number(roundDown(value).toPrecision(12)), below);
    assert.equal(Number(roundUp(value).toPrecision(12)), above);
  });
}

test('what is no granularity, and what has none, is refused', () => {
  const codeOf = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      if (error instanceof MongoError) return error.code;
    }
    return undefined;
  };
  assert.equal(
    codeOf(() => granularityOf('R7')),
    40257,
  );
  assert.equal(
    codeOf(() => granularityOf(5)),
    40261,
  );
  assert.equal(
    codeOf(() => granularNumber('x')),
    40258,
  );
  assert.equal(
    codeOf(() => granularNumber(Number.NaN)),
    40259,
  );
  assert.equal(
    codeOf(() => granularNumber(-1)),
    40260,
  );
});
