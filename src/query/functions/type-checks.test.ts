// Type checks: each against one value of every type, and then the borders.
import { type Row, testRows } from './rows.suite.js';
import { typeCheckFunctions } from './type-checks.js';

const VALUES: readonly unknown[] = [undefined, null, true, 1.5, 'a', [], {}];

/** Which of VALUES the check is true for, by position. */
const accepted: readonly (readonly [name: string, truths: string])[] = [
  ['IS_DEFINED', '-nbfsao'],
  ['IS_NULL', '-n-----'],
  ['IS_BOOL', '--b----'],
  ['IS_BOOLEAN', '--b----'],
  ['IS_NUMBER', '---f---'],
  ['IS_FINITE_NUMBER', '---f---'],
  ['IS_INTEGER', '-------'],
  ['IS_STRING', '----s--'],
  ['IS_DATETIME', '-------'],
  ['IS_ARRAY', '-----a-'],
  ['IS_OBJECT', '------o'],
  ['IS_PRIMITIVE', '-nbfs--'],
];

const borders: readonly Row[] = [
  ['IS_BOOL', [false], true],
  ['IS_NUMBER', [Number.NaN], true],
  ['IS_NUMBER', ['1'], false],
  ['IS_FINITE_NUMBER', [Number.NaN], false],
  ['IS_FINITE_NUMBER', [Number.POSITIVE_INFINITY], false],
  ['IS_INTEGER', [0], true],
  ['IS_INTEGER', [-7], true],
  ['IS_INTEGER', [-(2 ** 63)], true],
  ['IS_INTEGER', [-(2 ** 63) - 2048], false],
  ['IS_INTEGER', [2 ** 63 - 1024], true],
  ['IS_INTEGER', [2 ** 63], false],
  ['IS_INTEGER', [Number.POSITIVE_INFINITY], false],
  ['IS_DATETIME', ['2024-02-29'], true],
  ['IS_DATETIME', ['2024-02-29Z'], true],
  ['IS_DATETIME', ['2024-02-29T23:59:59'], true],
  ['IS_DATETIME', ['2024-02-29 23:59:59.1Z'], true],
  ['IS_DATETIME', ['2024-02-29T23:59:59.1234567Z'], true],
  ['IS_DATETIME', ['2024-02-29T23:59:59.12345678Z'], false],
  ['IS_DATETIME', ['2023-02-29'], false],
  ['IS_DATETIME', ['2024-02-29T24:00:00'], false],
  ['IS_DATETIME', ['2024-2-29'], false],
  ['IS_DATETIME', ['2024-02-29T23:59:59+01:00'], false],
];

testRows(typeCheckFunctions, [
  ...accepted.flatMap(([name, truths]) =>
    VALUES.map((value, at): Row => [name, [value], truths.charAt(at) !== '-']),
  ),
  ...borders,
]);
