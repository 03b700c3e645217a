// Numbers across their four types: one exact order, and arithmetic whose result has the widest type
// of its operands.
import { DECIMAL_NAN, Decimal128, decimalOfInteger } from './decimal.js';
import {
  addDecimals,
  compareScaled,
  decimalOfDouble,
  decimalToNumber,
  exactDecimalParts,
  multiplyDecimals,
  signedCoefficient,
} from './decimal-math.js';
import { Int32, int32, type NumberValue } from './value.js';

export const INT32_MIN = -2_147_483_648;
export const INT32_MAX = 2_147_483_647;
export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

export function isNan(value: NumberValue): boolean {
  if (typeof value === 'number') return Number.isNaN(value);
  return value instanceof Decimal128 && value.kind === 'nan';
}

/** NaN equals itself and comes before all other numbers; zeros are equal. */
export function compareNumbers(a: NumberValue, b: NumberValue): number {
  const left = a instanceof Int32 ? a.value : a;
  const right = b instanceof Int32 ? b.value : b;
  const nans = (isNan(right) ? 1 : 0) - (isNan(left) ? 1 : 0);
  if (nans !== 0) return nans;
  if (isNan(left)) return 0;
  if (typeof left === 'object' || typeof right === 'object') return compareExactly(left, right);
  // JavaScript compares a bigint with a number by what they are worth.
  return left < right ? -1 : left > right ? 1 : 0;
}

type Plain = number | bigint | Decimal128;

function compareExactly(a: Plain, b: Plain): number {
  const infinite = infinitySign(a) - infinitySign(b);
  if (infinite !== 0) return infinite;
  if (infinitySign(a) !== 0) return 0;
  const [left, leftPower] = partsOf(a);
  const [right, rightPower] = partsOf(b);
  return compareScaled(left, leftPower, right, rightPower);
}

function infinitySign(value: Plain): number {
  if (typeof value === 'bigint') return 0;
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : Math.sign(value);
  return value.kind === 'infinity' ? (value.negative ? -1 : 1) : 0;
}

function partsOf(value: Plain): readonly [bigint, number] {
  if (typeof value === 'bigint') return [value, 0];
  if (typeof value === 'number') return exactDecimalParts(value);
  return [signedCoefficient(value), value.exponent];
}

/** The nearest double. */
export function toDouble(value: NumberValue): number {
  if (typeof value === 'number') return value;
  if (value instanceof Int32) return value.value;
  return typeof value === 'bigint' ? Number(value) : decimalToNumber(value);
}

export function toDecimal(value: NumberValue): Decimal128 {
  if (typeof value === 'number') return decimalOfDouble(value);
  if (value instanceof Int32) return decimalOfInteger(BigInt(value.value));
  return typeof value === 'bigint' ? decimalOfInteger(value) : value;
}

/** The number as an integer where it is one, of whatever type. */
export function toInteger(value: NumberValue): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (value instanceof Int32) return BigInt(value.value);
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  if (value.kind !== 'finite') return undefined;
  if (value.exponent >= 0) return signedCoefficient(value) * 10n ** BigInt(value.exponent);
  const divisor = 10n ** BigInt(-value.exponent);
  return value.coefficient % divisor === 0n ? signedCoefficient(value) / divisor : undefined;
}

/** The same as a number, where it is an integer that a double holds exactly. */
export function toSafeInteger(value: NumberValue): number | undefined {
  const integer = value instanceof Int32 ? value.value : Number(toInteger(value) ?? Number.NaN);
  return Number.isSafeInteger(integer) ? integer : undefined;
}

/** Of an integer: an Int32 where it fits, an Int64 where that fits, and neither beyond. */
export function smallestInteger(value: bigint, wide: boolean): Int32 | bigint | undefined {
  if (!wide && value >= INT32_MIN && value <= INT32_MAX) return int32(Number(value));
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}

/** `undefined` where two integers leave the range of Int64; what then is up to the caller. */
export function addNumbers(a: NumberValue, b: NumberValue): NumberValue | undefined {
  if (a instanceof Decimal128 || b instanceof Decimal128) {
    return addDecimals(toDecimal(a), toDecimal(b));
  }
  if (typeof a === 'number' || typeof b === 'number') return toDouble(a) + toDouble(b);
  if (a instanceof Int32 && b instanceof Int32) {
    const sum = a.value + b.value;
    return sum === (sum | 0) ? int32(sum) : BigInt(sum);
  }
  return smallestInteger(toBigInt(a) + toBigInt(b), true);
}

export function multiplyNumbers(a: NumberValue, b: NumberValue): NumberValue | undefined {
  if (a instanceof Decimal128 || b instanceof Decimal128) {
    return multiplyDecimals(toDecimal(a), toDecimal(b));
  }
  if (typeof a === 'number' || typeof b === 'number') return toDouble(a) * toDouble(b);
  const wide = typeof a === 'bigint' || typeof b === 'bigint';
  return smallestInteger(toBigInt(a) * toBigInt(b), wide);
}

export function toBigInt(value: Int32 | bigint): bigint {
  return typeof value === 'bigint' ? value : BigInt(value.value);
}

/**
 * A text that two numbers share exactly when they are equal. Numbers that a double holds have its
 * text; the others have their digits.
 */
export function numberKey(value: NumberValue): string {
  if (isNan(value)) return 'NaN';
  const near = toDouble(value);
  if (compareNumbers(value, near) === 0) return String(near === 0 ? 0 : near);
  if (typeof value === 'bigint') return `${value}e0`;
  let { coefficient, exponent } = value instanceof Decimal128 ? value : DECIMAL_NAN;
  while (coefficient % 10n === 0n) {
    coefficient /= 10n;
    exponent++;
  }
  const negative = value instanceof Decimal128 && value.negative;
  const digits =
    exponent > 0 && exponent < 20 ? coefficient * 10n ** BigInt(exponent) : coefficient;
  return `${negative ? '-' : ''}${digits}e${digits === coefficient ? exponent : 0}`;
}
