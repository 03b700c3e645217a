// Exact arithmetic with Decimal128: results are those of unlimited digits, rounded once to 34, to
// the even one in the middle.
import {
  DECIMAL_NAN,
  Decimal128,
  DIGITS_MAX,
  decimalInfinity,
  decimalOf,
  digitCount,
  EXPONENT_MAX,
  EXPONENT_MIN,
  parseDecimal,
  shiftRight,
} from './decimal.js';

export function decimalToNumber(value: Decimal128): number {
  return Number(value.toString());
}

/** As the server converts doubles: to 15 digits, all of which are kept. */
export function decimalOfDouble(value: number): Decimal128 {
  if (Number.isNaN(value)) return DECIMAL_NAN;
  if (!Number.isFinite(value)) return decimalInfinity(value < 0);
  if (value === 0) return new Decimal128('finite', Object.is(value, -0), 0n, 0);
  return parseDecimal(value.toExponential(14)) ?? DECIMAL_NAN;
}

/** Every finite double is a decimal of finitely many digits: exactly that one, however long. */
export function exactDecimalParts(value: number): readonly [signed: bigint, exponent: number] {
  let mantissa = Math.abs(value);
  let power = 0;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    power--;
  }
  const digits = BigInt(mantissa) * 5n ** BigInt(-power);
  return [value < 0 ? -digits : digits, power];
}

export function signedCoefficient({ negative, coefficient }: Decimal128): bigint {
  return negative ? -coefficient : coefficient;
}

/** The order of a·10^x and b·10^y, without building numbers longer than needed. */
export function compareScaled(a: bigint, x: number, b: bigint, y: number): number {
  if (a === 0n || b === 0n || a < 0n !== b < 0n) return order(a, b);
  const sign = a < 0n ? -1 : 1;
  const lengths = digitCount(a) + x - (digitCount(b) + y);
  if (lengths !== 0) return lengths < 0 ? -sign : sign;
  return x >= y ? order(a * 10n ** BigInt(x - y), b) : order(a, b * 10n ** BigInt(y - x));
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function negateDecimal({ kind, negative, coefficient, exponent }: Decimal128): Decimal128 {
  return new Decimal128(kind, kind !== 'nan' && !negative, coefficient, exponent);
}

export function addDecimals(a: Decimal128, b: Decimal128): Decimal128 {
  if (a.kind === 'nan' || b.kind === 'nan') return DECIMAL_NAN;
  if (a.kind === 'infinity') {
    return b.kind === 'infinity' && a.negative !== b.negative ? DECIMAL_NAN : a;
  }
  if (b.kind === 'infinity') return b;
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = (value: Decimal128) =>
    signedCoefficient(value) * 10n ** BigInt(value.exponent - exponent);
  const sum = scaled(a) + scaled(b);
  if (sum === 0n) return decimalOf(a.negative && b.negative, 0n, exponent);
  return decimalOf(sum < 0n, sum < 0n ? -sum : sum, exponent);
}

export function multiplyDecimals(a: Decimal128, b: Decimal128): Decimal128 {
  if (a.kind === 'nan' || b.kind === 'nan') return DECIMAL_NAN;
  const negative = a.negative !== b.negative;
  if (a.kind === 'infinity' || b.kind === 'infinity') {
    return a.isZero || b.isZero ? DECIMAL_NAN : decimalInfinity(negative);
  }
  return decimalOf(negative, a.coefficient * b.coefficient, a.exponent + b.exponent);
}

export function divideDecimals(a: Decimal128, b: Decimal128): Decimal128 {
  const negative = a.negative !== b.negative;
  if (a.kind === 'nan' || b.kind === 'nan') return DECIMAL_NAN;
  if (a.kind === 'infinity') {
    return b.kind === 'infinity' ? DECIMAL_NAN : decimalInfinity(negative);
  }
  if (b.kind === 'infinity') return decimalOf(negative, 0n, EXPONENT_MIN);
  if (b.isZero) return a.isZero ? DECIMAL_NAN : decimalInfinity(negative);
  const wanted = a.exponent - b.exponent;
  if (a.isZero) return decimalOf(negative, 0n, wanted);
  const shift = Math.max(0, DIGITS_MAX + 2 + digitCount(b.coefficient) - digitCount(a.coefficient));
  const dividend = a.coefficient * 10n ** BigInt(shift);
  const quotient = dividend / b.coefficient;
  const rest = dividend % b.coefficient;
  // One more digit stands for whatever is left, so that rounding sees it.
  const digits = rest === 0n ? quotient : quotient * 10n + 1n;
  const result = decimalOf(negative, digits, wanted - shift - (rest === 0n ? 0 : 1));
  return rest === 0n ? towardsExponent(result, wanted) : result;
}

/** Exact results keep no zeros beyond the exponent they would have by themselves. */
function towardsExponent(value: Decimal128, wanted: number): Decimal128 {
  if (value.kind !== 'finite') return value;
  let { coefficient, exponent } = value;
  while (exponent < wanted && coefficient % 10n === 0n) {
    coefficient /= 10n;
    exponent++;
  }
  return decimalOf(value.negative, coefficient, exponent);
}

/** The remainder with the sign of the dividend, as of `%`. */
export function remainderOfDecimals(a: Decimal128, b: Decimal128): Decimal128 {
  if (a.kind !== 'finite' || b.kind === 'nan' || b.isZero) return DECIMAL_NAN;
  if (b.kind === 'infinity') return a;
  const exponent = Math.min(a.exponent, b.exponent);
  const dividend = a.coefficient * 10n ** BigInt(a.exponent - exponent);
  const divisor = b.coefficient * 10n ** BigInt(b.exponent - exponent);
  return decimalOf(a.negative, dividend % divisor, exponent);
}

export type Rounding = 'even' | 'truncate' | 'floor' | 'ceil';

/** To a number of places behind the point, or before it where that is negative. */
export function roundDecimal(value: Decimal128, places: number, mode: Rounding): Decimal128 {
  if (value.kind !== 'finite') return value;
  const drop = -places - value.exponent;
  if (drop <= 0) {
    const digits = value.coefficient * 10n ** BigInt(Math.min(-drop, DIGITS_MAX + 1));
    return digitCount(digits) > DIGITS_MAX ? value : decimalOf(value.negative, digits, 0 - places);
  }
  const truncated =
    drop > digitCount(value.coefficient) ? 0n : value.coefficient / 10n ** BigInt(drop);
  const exact = truncated * 10n ** BigInt(Math.min(drop, DIGITS_MAX + 1)) === value.coefficient;
  const away = !exact && (mode === 'floor' ? value.negative : mode === 'ceil' && !value.negative);
  const digits = mode === 'even' ? shiftRight(value.coefficient, drop) : truncated;
  const exponent = Math.min(0 - places, EXPONENT_MAX);
  return decimalOf(value.negative, away ? digits + 1n : digits, exponent);
}

/** The integer part. */
export function decimalToInteger(value: Decimal128): bigint {
  const { coefficient, exponent } = roundDecimal(value, 0, 'truncate');
  const integer = coefficient * 10n ** BigInt(Math.max(0, exponent));
  return value.negative ? -integer : integer;
}

export function squareRoot(value: Decimal128): Decimal128 {
  if (value.kind === 'nan' || value.isZero) return value;
  if (value.negative) return DECIMAL_NAN;
  if (value.kind === 'infinity') return value;
  const odd = value.exponent % 2 !== 0;
  const base = odd ? value.coefficient * 10n : value.coefficient;
  const exponent = odd ? value.exponent - 1 : value.exponent;
  const shift = DIGITS_MAX + 2;
  const square = base * 10n ** BigInt(2 * shift);
  const root = integerRoot(square);
  const exact = root * root === square;
  const result = decimalOf(
    false,
    exact ? root : root * 10n + 1n,
    exponent / 2 - shift - (exact ? 0 : 1),
  );
  return exact ? towardsExponent(result, Math.floor(value.exponent / 2)) : result;
}

/** By Newton's method, from above. */
function integerRoot(square: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(square.toString(2).length / 2));
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
