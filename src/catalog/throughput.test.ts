// Provisioned throughput: the amounts that may be asked for, and the ranges they take.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, MayflyError } from '../value/errors.js';
import {
  autoscale,
  ceilingOf,
  DEFAULT_THROUGHPUT,
  manual,
  minimumOf,
  rangesFor,
} from './throughput.js';

const HOSTILE: readonly unknown[] = [
  undefined,
  null,
  '',
  '400',
  '4000',
  true,
  {},
  [],
  [400],
  { toString: 1 },
];
const NOT_FINITE = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

test('throughput sinks to a hundredth of the highest ever, and 1 for each GB; ten times as autoscale', () => {
  const GB = 1024 ** 3;
  const rows = [
    ['manual', 400, 0, 400],
    ['manual', 100_000, 0, 1000],
    ['manual', 40_100, 0, 500],
    ['manual', 400, 401 * GB, 500],
    ['manual', 400, 400 * GB, 400],
    ['autoscale', 1000, 0, 1000],
    ['autoscale', 50_000, 0, 5000],
    ['autoscale', 1000, 250 * GB, 3000],
  ] as const;
  for (const [kind, highest, bytes, least] of rows) {
    assert.equal(minimumOf(kind, highest, bytes), least, `${kind} ${highest} ${bytes}`);
  }
});

test('manual: 400 to a million, in hundreds', () => {
  for (const amount of [400, 500, 10_000, 999_900, 1_000_000]) {
    assert.deepEqual(manual(amount), { kind: 'manual', perSecond: amount });
  }
  const wrong = [0, -400, 300, 399, 401, 450, 400.5, 1_000_100, 2 ** 53];
  for (const amount of [...wrong, ...NOT_FINITE, ...HOSTILE]) {
    const shown = JSON.stringify(amount) ?? '';
    refuses(() => manual(amount), 'offerInvalid', [`'${shown}'`, '400 and 1000000', 'of 100.']);
  }
});

test('autoscale: 1000 to a million, in thousands', () => {
  for (const amount of [1000, 4000, 11_000, 1_000_000]) {
    assert.deepEqual(autoscale(amount), { kind: 'autoscale', maxPerSecond: amount });
  }
  const wrong = [0, -1000, 400, 999, 1001, 1500, 1_001_000, 1000.5];
  for (const amount of [...wrong, ...NOT_FINITE, ...HOSTILE]) {
    const shown = JSON.stringify(amount) ?? '';
    refuses(() => autoscale(amount), 'offerInvalid', [`'${shown}'`, '1000 and', 'of 1000.']);
  }
});

test('autoscale: the increment is a whole number of percent', () => {
  for (const incrementPercent of [0, 10, 100]) {
    assert.deepEqual(autoscale(4000, incrementPercent), {
      kind: 'autoscale',
      maxPerSecond: 4000,
      incrementPercent,
    });
  }
  assert.equal('incrementPercent' in autoscale(4000, undefined), false);
  const wrong: readonly unknown[] = [
    -1,
    101,
    0.5,
    null,
    '10',
    '',
    true,
    {},
    [],
    [10],
    { toString: 1 },
    { valueOf: 2 },
  ];
  for (const percent of wrong) {
    const words = ['incrementPercent', '0 to 100', JSON.stringify(percent)];
    refuses(() => autoscale(4000, percent), 'invalidInput', words);
  }
});

test('a range serves ten thousand a second, and autoscale counts with its ceiling', () => {
  assert.deepEqual(DEFAULT_THROUGHPUT, manual(400));
  for (const [amount, ranges] of [
    [400, 1],
    [9900, 1],
    [10_000, 1],
    [10_100, 2],
    [20_000, 2],
    [25_100, 3],
    [1_000_000, 100],
  ] as const) {
    assert.equal(rangesFor(manual(amount)), ranges, String(amount));
    assert.equal(ceilingOf(manual(amount)), amount);
  }
  assert.equal(rangesFor(autoscale(10_000)), 1);
  assert.equal(rangesFor(autoscale(11_000)), 2);
  assert.equal(ceilingOf(autoscale(11_000, 10)), 11_000);
});

function refuses(run: () => unknown, code: ErrorCode, words: readonly string[]): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof MayflyError, `not an expected failure: ${String(error)}`);
    assert.equal(error.code, code);
    assert.equal(error.kind.status, 400);
    for (const word of words) assert.ok(error.message.includes(word), error.message);
    return true;
  });
}
