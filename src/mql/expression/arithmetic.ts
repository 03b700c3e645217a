// Arithmetic: the result has the widest type of its operands; integers that leave Int64 become
// doubles.
import { Decimal128 } from '../../value/bson/decimal.js';
import {
  divideDecimals,
  negateDecimal,
  type Rounding,
  remainderOfDecimals,
  roundDecimal,
} from '../../value/bson/decimal-math.js';
import {
  addNumbers,
  INT64_MIN,
  multiplyNumbers,
  smallestInteger,
  toBigInt,
  toDecimal,
  toDouble,
  toInteger,
} from '../../value/bson/numbers.js';
import {
  DateTime,
  Int32,
  int32,
  isNullish,
  isNumber,
  type NumberValue,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { type Argument, between, fixed, variadic } from './arguments.js';
import { integerArgument, nameOfType, numeric } from './numbers.js';
import type { Operators } from './scope.js';

export const arithmeticOperators: Operators = {
  $add: variadic(add),
  $subtract: fixed(2, ([left, right]) => subtract(left, right)),
  $multiply: variadic((values) => {
    let product: NumberValue = int32(1);
    for (const value of values) {
      if (isNullish(value)) return null;
      if (!isNumber(value)) throw onlyNumbers('$multiply', value);
      product = multiply(product, value);
    }
    return product;
  }),
  $divide: fixed(2, ([left, right]) => divide(left, right)),
  $mod: fixed(2, ([left, right]) => remainder(left, right)),
  $abs: numeric(absolute),
  $ceil: numeric((value) => rounded(value, 0, 'ceil')),
  $floor: numeric((value) => rounded(value, 0, 'floor')),
  $round: between(1, 2, (values, name) => roundedTo(values, name, 'even')),
  $trunc: between(1, 2, (values, name) => roundedTo(values, name, 'truncate')),
  $bitAnd: variadic((values, name) => bits(values, name, -1n, (a, b) => a & b)),
  $bitOr: variadic((values, name) => bits(values, name, 0n, (a, b) => a | b)),
  $bitXor: variadic((values, name) => bits(values, name, 0n, (a, b) => a ^ b)),
  $bitNot: numeric((value, name) => {
    if (value instanceof Int32) return int32(~value.value);
    if (typeof value === 'bigint') return ~value;
    throw mongoFailure(
      'TypeMismatch',
      `${name} only supports int and long, not: ${nameOfType(value)}.`,
    );
  }),
};

/** Sums of accumulators and of `$add` alike: what leaves Int64 goes on as a double. */
export function sumOf(a: NumberValue, b: NumberValue): NumberValue {
  return addNumbers(a, b) ?? toDouble(a) + toDouble(b);
}

function multiply(a: NumberValue, b: NumberValue): NumberValue {
  return multiplyNumbers(a, b) ?? toDouble(a) * toDouble(b);
}

function onlyNumbers(name: string, value: Argument) {
  return mongoFailure(
    'TypeMismatch',
    `${name} only supports numeric types, not ${nameOfType(value)}`,
  );
}

function add(values: readonly Argument[]): Argument {
  let sum: NumberValue = int32(0);
  let date: DateTime | undefined;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (value instanceof DateTime) {
      if (date) throw mongoLocation(16612, 'only one date allowed in an $add expression');
      date = value;
    } else if (isNumber(value)) sum = sumOf(sum, value);
    else {
      throw mongoFailure(
        'TypeMismatch',
        `$add only supports numeric or date types, not ${nameOfType(value)}`,
      );
    }
  }
  return date ? dateAfter(date, sum) : sum;
}

export function dateAfter(date: DateTime, ms: NumberValue): DateTime {
  const whole = toInteger(rounded(ms, 0, 'even'));
  if (whole === undefined) throw mongoFailure('Overflow', 'date overflow');
  return new DateTime((date.exact ?? BigInt(date.ms)) + whole);
}

function subtract(left: Argument, right: Argument): Argument {
  if (isNullish(left) || isNullish(right)) return null;
  if (isNumber(left) && isNumber(right)) return sumOf(left, negated(right));
  if (left instanceof DateTime && right instanceof DateTime) {
    return (left.exact ?? BigInt(left.ms)) - (right.exact ?? BigInt(right.ms));
  }
  if (left instanceof DateTime && isNumber(right)) return dateAfter(left, negated(right));
  throw mongoFailure(
    'TypeMismatch',
    `can't $subtract ${nameOfType(right)} from ${nameOfType(left)}`,
  );
}

export function negated(value: NumberValue): NumberValue {
  if (value instanceof Decimal128) return negateDecimal(value);
  if (typeof value === 'number') return -value;
  const integer = -toBigInt(value);
  return smallestInteger(integer, typeof value === 'bigint') ?? Number(integer);
}

function divide(left: Argument, right: Argument): Argument {
  if (isNullish(left) || isNullish(right)) return null;
  if (!isNumber(left) || !isNumber(right)) {
    throw mongoFailure(
      'TypeMismatch',
      `$divide only supports numeric types, not ${nameOfType(left)} and ${nameOfType(right)}`,
    );
  }
  if (toDouble(right) === 0) throw mongoFailure('BadValue', "can't $divide by zero");
  if (left instanceof Decimal128 || right instanceof Decimal128) {
    return divideDecimals(toDecimal(left), toDecimal(right));
  }
  return toDouble(left) / toDouble(right);
}

function remainder(left: Argument, right: Argument): Argument {
  if (isNullish(left) || isNullish(right)) return null;
  if (!isNumber(left) || !isNumber(right)) {
    throw mongoLocation(
      16611,
      `$mod only supports numeric types, not ${nameOfType(left)} and ${nameOfType(right)}`,
    );
  }
  if (toDouble(right) === 0) throw mongoLocation(16610, "can't $mod by zero");
  if (left instanceof Decimal128 || right instanceof Decimal128) {
    return remainderOfDecimals(toDecimal(left), toDecimal(right));
  }
  if (typeof left === 'number' || typeof right === 'number') {
    return toDouble(left) % toDouble(right);
  }
  const wide = typeof left === 'bigint' || typeof right === 'bigint';
  return smallestInteger(toBigInt(left) % toBigInt(right), wide) ?? null;
}

function absolute(value: NumberValue): NumberValue {
  if (value instanceof Decimal128) return value.negative ? negateDecimal(value) : value;
  if (typeof value === 'number') return Math.abs(value);
  if (value === INT64_MIN) throw mongoLocation(28680, "can't take $abs of long long min");
  return toBigInt(value) < 0n ? negated(value) : value;
}

function roundedTo(values: readonly Argument[], name: string, mode: Rounding): Argument {
  const [value, place] = values;
  if (values.length > 1 && isNullish(place)) return null;
  if (isNullish(value)) return null;
  if (!isNumber(value)) {
    throw mongoLocation(51081, `${name} only supports numeric types, not ${nameOfType(value)}`);
  }
  const places =
    place === undefined
      ? 0
      : integerArgument(place, 51082, `precision argument to  ${name} must be a integral value`);
  if (places < -20 || places > 100) {
    throw mongoLocation(
      51083,
      `cannot apply ${name} with precision value ${places} value must be in [-20, 100]`,
    );
  }
  return rounded(value, places, mode);
}

export function rounded(value: NumberValue, places: number, mode: Rounding): NumberValue {
  if (value instanceof Decimal128) return roundDecimal(value, places, mode);
  if (typeof value === 'number') return roundedDouble(value, places, mode);
  if (places >= 0) return value;
  const exact = roundDecimal(toDecimal(value), places, mode);
  const integer = toInteger(exact) ?? 0n;
  return smallestInteger(integer, typeof value === 'bigint') ?? Number(integer);
}

/** In decimal digits as they are printed, so that 1.005 is not 1.00499…. */
function roundedDouble(value: number, places: number, mode: Rounding): number {
  if (!Number.isFinite(value)) return value;
  if (places === 0) {
    if (mode === 'ceil') return Math.ceil(value);
    if (mode === 'floor') return Math.floor(value);
    if (mode === 'truncate') return Math.trunc(value);
    const near = Math.round(value);
    return Math.abs(value % 1) === 0.5 && near % 2 !== 0 ? near - 1 : near;
  }
  return toDouble(roundDecimal(toDecimal(value), places, mode));
}

function bits(
  values: readonly Argument[],
  name: string,
  start: bigint,
  combine: (a: bigint, b: bigint) => bigint,
): Argument {
  let result = start;
  let wide = false;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (typeof value !== 'bigint' && !(value instanceof Int32)) {
      throw mongoFailure(
        'TypeMismatch',
        `${name} only supports int and long operands, not ${nameOfType(value)}.`,
      );
    }
    wide ||= typeof value === 'bigint';
    result = combine(result, toBigInt(value));
  }
  return smallestInteger(result, wide) ?? result;
}
