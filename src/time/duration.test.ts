// Durations as people write them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDurationMs } from './duration.js';

test('numbers are seconds, and texts have a unit', () => {
  const rows: readonly (readonly [unknown, number])[] = [
    [0, 0],
    [1, 1000],
    [0.25, 250],
    [1e-7, 0],
    [-2, -2000],
    [2_147_483_648, 2_147_483_648_000],
    ['0', 0],
    ['45', 45_000],
    ['500ms', 500],
    ['45s', 45_000],
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['90d', 7_776_000_000],
    ['2w', 1_209_600_000],
    ['1.5h', 5_400_000],
    ['0.5ms', 1],
    [' 1d ', 86_400_000],
  ];
  for (const [value, ms] of rows) assert.equal(parseDurationMs(value), ms, String(value));
});

test('everything else is no duration', () => {
  const wrong = [
    '',
    ' ',
    's',
    '1 s',
    '1S',
    '1y',
    '1d12h',
    '-1s',
    '+1s',
    '1e3',
    '.5s',
    '1.s',
    '0x10',
    '1,5s',
    '٣s',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    undefined,
    true,
    [],
    ['1s'],
    {},
    { toString: () => '1s' },
  ];
  for (const value of wrong) assert.equal(parseDurationMs(value), undefined, String(value));
});

test('a number without end stays one, so that limits catch it', () => {
  assert.equal(parseDurationMs(1e308), Number.POSITIVE_INFINITY);
  assert.equal(parseDurationMs(`${'9'.repeat(400)}d`), Number.POSITIVE_INFINITY);
});
