// Aggregates: rows of the values folded and what comes out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AggregateName, aggregates, COLLECTED_VALUES_MAX } from './aggregates.js';

type Row = readonly [name: AggregateName, values: readonly unknown[], expected: unknown];

const rows: readonly Row[] = [
  ['COUNT', [], 0],
  ['COUNT', [undefined], 0],
  ['COUNT', [1, null, false, 'a', [], {}, undefined], 6],
  ['COUNTIF', [], 0],
  ['COUNTIF', [true, false, 1, 'true', undefined, true], 2],
  ['SUM', [], 0],
  ['SUM', [undefined], 0],
  ['SUM', [1, undefined, 2.5], 3.5],
  ['SUM', [1, '2'], undefined],
  ['SUM', [1, null], undefined],
  ['SUM', [true, 1], undefined],
  ['SUM', [[1]], undefined],
  ['SUM', [{}, 1], undefined],
  ['SUM', [Number.MAX_VALUE, Number.MAX_VALUE], undefined],
  ['AVG', [], undefined],
  ['AVG', [undefined], undefined],
  ['AVG', [1, undefined, 2], 1.5],
  ['AVG', [1, 'a'], undefined],
  ['MIN', [], undefined],
  ['MIN', [undefined], undefined],
  ['MIN', ['a', 1, true, false, null, undefined], null],
  ['MIN', ['a', 1, true, false], false],
  ['MIN', ['a', 1, true], true],
  ['MIN', ['b', 2, 1], 1],
  ['MIN', ['b', 'a'], 'a'],
  ['MIN', [1, []], undefined],
  ['MIN', [{}, 1], undefined],
  ['MAX', [], undefined],
  ['MAX', [null, false, true, 1, 'a', 'B'], 'a'],
  ['MAX', [null, false, true, 2, 10], 10],
  ['MAX', [null, false, true], true],
  ['MAX', [null, undefined], null],
  ['MAX', [[], 'a'], undefined],
  ['MAKELIST', [], []],
  ['MAKELIST', [1, undefined, 1, null], [1, 1, null]],
  ['MAKESET', [], []],
  ['MAKESET', [1, { a: 1, b: 2 }, 1, undefined, { b: 2, a: 1 }, '1'], [1, { a: 1, b: 2 }, '1']],
];

for (const name of Object.keys(aggregates) as readonly AggregateName[]) {
  const own = rows.filter((row) => row[0] === name);
  test(name, () => {
    assert.ok(own.length > 0, 'there is a row');
    for (const [, values, expected] of own) {
      const aggregate = aggregates[name]();
      for (const value of values) aggregate.add(value);
      assert.deepEqual(aggregate.result(), expected, `${name} of ${JSON.stringify(values)}`);
    }
  });
}

test('collections are bounded', () => {
  for (const name of ['MAKELIST', 'MAKESET'] as const) {
    const aggregate = aggregates[name]();
    for (let count = 0; count < COLLECTED_VALUES_MAX; count++) aggregate.add(count);
    assert.throws(() => aggregate.add(-1), { code: 'invalidInput', message: new RegExp(name) });
  }
});
