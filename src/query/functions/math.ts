// Functions of numbers. A result that is not finite is undefined: it could not be written as JSON.
import { type FunctionTable, fn } from '../function.js';

export const mathFunctions: FunctionTable = {
  ABS: unary(Math.abs),
  ACOS: unary(Math.acos),
  ASIN: unary(Math.asin),
  ATAN: unary(Math.atan),
  ATN2: binary(Math.atan2),
  CEILING: unary(Math.ceil),
  COS: unary(Math.cos),
  COT: unary((x) => 1 / Math.tan(x)),
  DEGREES: unary((x) => (x * 180) / Math.PI),
  EXP: unary(Math.exp),
  FLOOR: unary(Math.floor),
  LOG: binary(logarithm, Math.E),
  LOG10: unary(Math.log10),
  NUMBERBIN: binary((x, size) => Math.floor(x / size) * size, 1),
  PI: fn([], () => Math.PI),
  POWER: binary((x, y) => x ** y),
  RADIANS: unary((x) => (x * Math.PI) / 180),
  RAND: fn([], (_, context) => context.random()),
  ROUND: binary(round, 0),
  SIGN: unary(Math.sign),
  SIN: unary(Math.sin),
  SQRT: unary(Math.sqrt),
  SQUARE: unary((x) => x * x),
  TAN: unary(Math.tan),
  TRUNC: unary(Math.trunc),
};

function unary(compute: (x: number) => number) {
  return fn<readonly [number]>(['number'], ([x]) => finite(compute(x)));
}

/** The second argument may be left out if it has a default. */
function binary(compute: (x: number, y: number) => number, byDefault?: number) {
  return fn<readonly [number, number?]>(
    ['number', 'number'],
    ([x, y]) => finite(compute(x, y ?? byDefault ?? Number.NaN)),
    [byDefault === undefined ? 2 : 1, 2],
  );
}

/** Adding zero turns -0 into 0. */
function finite(result: number): number | undefined {
  return Number.isFinite(result) ? result + 0 : undefined;
}

/** Bases with a function of their own, as the quotient of LOG(1000, 10) falls short of 3. */
function logarithm(x: number, base: number): number {
  switch (base) {
    case Math.E:
      return Math.log(x);
    case 10:
      return Math.log10(x);
    case 2:
      return Math.log2(x);
    default:
      return Math.log(x) / Math.log(base);
  }
}

/**
 * Half away from zero. The decimal point is moved in the number's text, because 1.005 * 100 is less
 * than 100.5; negative digits are places before the point.
 */
function round(x: number, digits: number): number {
  if (!Number.isInteger(digits)) return Number.NaN;
  const shifted = moved(Math.abs(x), digits);
  // There is nothing to round where the whole part already takes up all bits.
  if (shifted >= 2 ** 52) return x;
  return Math.sign(x) * moved(Math.round(shifted), -digits);
}

/** The number times ten to the power of `places`, to the nearest double. */
function moved(x: number, places: number): number {
  const [mantissa, exponent = '0'] = String(x).split('e');
  return Number(`${mantissa}e${Number(exponent) + places}`);
}
