// 64-bit integers: where they wrap around, and what is no integer.
import { integerFunctions } from './integers.js';
import { type Row, testRows } from './rows.suite.js';

const LEAST = -(2 ** 63);
/** The greatest 64-bit integer that a number can be. */
const GREATEST = 2 ** 63 - 1024;

/** What no argument of any of the functions may be. */
const refused = [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 63, LEAST - 2048];

const rows: readonly Row[] = [
  ['INTADD', [20, 5], 25],
  ['INTADD', [GREATEST, 1024], LEAST],
  ['INTADD', [LEAST, -1024], GREATEST],
  ['INTSUB', [20, 25], -5],
  ['INTSUB', [LEAST, 1024], GREATEST],
  ['INTMUL', [20, -5], -100],
  ['INTMUL', [2 ** 32, 2 ** 31], LEAST],
  ['INTMUL', [2 ** 32, 2 ** 32], 0],
  ['INTDIV', [7, 2], 3],
  ['INTDIV', [-7, 2], -3],
  ['INTDIV', [7, 0], undefined],
  ['INTDIV', [LEAST, -1], LEAST],
  ['INTMOD', [7, 4], 3],
  ['INTMOD', [-7, 4], -3],
  ['INTMOD', [7, 0], undefined],
  ['INTBITAND', [0b1100, 0b1010], 0b1000],
  ['INTBITAND', [2 ** 40 + 1, 2 ** 40], 2 ** 40],
  ['INTBITOR', [0b1100, 0b1010], 0b1110],
  ['INTBITXOR', [0b1100, 0b1010], 0b0110],
  ['INTBITNOT', [0], -1],
  ['INTBITNOT', [65_535], -65_536],
  ['INTBITLEFTSHIFT', [16, 4], 256],
  ['INTBITLEFTSHIFT', [1, 63], LEAST],
  ['INTBITLEFTSHIFT', [1, 64], 1],
  ['INTBITLEFTSHIFT', [1, -1], LEAST],
  ['INTBITRIGHTSHIFT', [16, 4], 1],
  ['INTBITRIGHTSHIFT', [-16, 2], -4],
  ['INTBITRIGHTSHIFT', [16, 64], 16],
];

const refusals = Object.entries(integerFunctions).flatMap(([name, { arity }]) =>
  refused.flatMap((value): readonly Row[] =>
    arity[0] === 1
      ? [[name, [value], undefined]]
      : [
          [name, [value, 1], undefined],
          [name, [1, value], undefined],
        ],
  ),
);

testRows(integerFunctions, [...rows, ...refusals]);
