// Roots, powers, logarithms and trigonometry. Of decimals, roots are exact to 34 digits; the others
// go by doubles, and have their 15 digits.
import { DECIMAL_NAN, Decimal128 } from '../../value/bson/decimal.js';
import { decimalOfDouble, decimalToNumber, squareRoot } from '../../value/bson/decimal-math.js';
import {
  multiplyNumbers,
  smallestInteger,
  toDecimal,
  toDouble,
  toInteger,
} from '../../value/bson/numbers.js';
import { showValue } from '../../value/bson/show.js';
import { int32, isNullish, isNumber, type NumberValue } from '../../value/bson/value.js';
import { mongoLocation } from '../../value/mongo-errors.js';
import { type Argument, fixed } from './arguments.js';
import { nameOfType, numeric, real } from './numbers.js';
import type { Operator, Operators } from './scope.js';

const DEGREE = Math.PI / 180;

export const functionOperators: Operators = {
  $sqrt: numeric((value) => {
    if (toDouble(value) < 0) {
      throw mongoLocation(28714, "$sqrt's argument must be greater than or equal to 0");
    }
    return value instanceof Decimal128 ? squareRoot(value) : Math.sqrt(toDouble(value));
  }),
  $exp: byDouble(Math.exp),
  $ln: byDouble((value) => Math.log(positive(value, '$ln', 28766))),
  $log10: byDouble((value) => Math.log10(positive(value, '$log10', 28761))),
  $log: fixed(2, ([value, base]) => logarithm(value, base)),
  $pow: fixed(2, ([base, exponent]) => power(base, exponent)),
  $sin: byDouble((value) => Math.sin(finite(value, '$sin'))),
  $cos: byDouble((value) => Math.cos(finite(value, '$cos'))),
  $tan: byDouble((value) => Math.tan(finite(value, '$tan'))),
  $asin: byDouble((value) => Math.asin(within(value, -1, 1, '$asin'))),
  $acos: byDouble((value) => Math.acos(within(value, -1, 1, '$acos'))),
  $atan: byDouble(Math.atan),
  $atan2: fixed(2, ([y, x]) => {
    if (isNullish(y) || isNullish(x)) return null;
    if (!isNumber(y) || !isNumber(x)) {
      const wrong = isNumber(y) ? x : y;
      throw mongoLocation(51044, `$atan2 only supports numeric types, not ${nameOfType(wrong)}`);
    }
    const angle = Math.atan2(toDouble(y), toDouble(x));
    const isDecimal = y instanceof Decimal128 || x instanceof Decimal128;
    return isDecimal ? decimalOfDouble(angle) : angle;
  }),
  $sinh: byDouble(Math.sinh),
  $cosh: byDouble(Math.cosh),
  $tanh: byDouble(Math.tanh),
  $asinh: byDouble(Math.asinh),
  $acosh: byDouble((value) => Math.acosh(within(value, 1, Number.POSITIVE_INFINITY, '$acosh'))),
  $atanh: byDouble((value) => Math.atanh(within(value, -1, 1, '$atanh'))),
  $degreesToRadians: byDouble((value) => value * DEGREE),
  $radiansToDegrees: byDouble((value) => value / DEGREE),
};

function byDouble(evaluate: (value: number) => number): Operator {
  return real(evaluate, (value) =>
    value.kind === 'nan' ? DECIMAL_NAN : decimalOfDouble(evaluate(decimalToNumber(value))),
  );
}

function positive(value: number, name: string, code: number): number {
  if (value > 0 || Number.isNaN(value)) return value;
  throw mongoLocation(code, `${name}'s argument must be a positive number, but is ${value}`);
}

function finite(value: number, name: string): number {
  if (Number.isFinite(value) || Number.isNaN(value)) return value;
  throw mongoLocation(50989, `cannot apply ${name} to ${value}, value must be in (-inf,inf)`);
}

function within(value: number, min: number, max: number, name: string): number {
  if (!(value < min || value > max)) return value;
  throw mongoLocation(50989, `cannot apply ${name} to ${value}, value must be in [${min},${max}]`);
}

function logarithm(value: Argument, base: Argument): Argument {
  if (isNullish(value) || isNullish(base)) return null;
  if (!isNumber(value)) {
    throw mongoLocation(28756, `$log's argument must be numeric, not ${nameOfType(value)}`);
  }
  if (!isNumber(base)) {
    throw mongoLocation(28757, `$log's base must be numeric, not ${nameOfType(base)}`);
  }
  const [number, root] = [toDouble(value), toDouble(base)];
  if (number <= 0) {
    throw mongoLocation(
      28758,
      `$log's argument must be a positive number, but is ${showValue(value)}`,
    );
  }
  if (root <= 0 || root === 1) {
    throw mongoLocation(
      28759,
      `$log's base must be a positive number not equal to 1, but is ${showValue(base)}`,
    );
  }
  const result = root === 2 ? Math.log2(number) : Math.log(number) / Math.log(root);
  const isDecimal = value instanceof Decimal128 || base instanceof Decimal128;
  return isDecimal ? decimalOfDouble(result) : result;
}

const EXACT_EXPONENT_MAX = 1000n;

function power(base: Argument, exponent: Argument): Argument {
  if (isNullish(base) || isNullish(exponent)) return null;
  if (!isNumber(base)) {
    throw mongoLocation(28762, `$pow's base must be numeric, not ${nameOfType(base)}`);
  }
  if (!isNumber(exponent)) {
    throw mongoLocation(28763, `$pow's exponent must be numeric, not ${nameOfType(exponent)}`);
  }
  if (toDouble(base) === 0 && toDouble(exponent) < 0) {
    throw mongoLocation(28764, '$pow cannot take a base of 0 and a negative exponent');
  }
  const integer = toInteger(exponent);
  if (base instanceof Decimal128 || exponent instanceof Decimal128) {
    if (integer !== undefined && integer >= 0n && integer <= EXACT_EXPONENT_MAX) {
      return repeated(toDecimal(base), Number(integer));
    }
    return decimalOfDouble(toDouble(base) ** toDouble(exponent));
  }
  const isDouble = typeof base === 'number' || typeof exponent === 'number';
  if (isDouble || integer === undefined || integer < 0n || integer > EXACT_EXPONENT_MAX) {
    return toDouble(base) ** toDouble(exponent);
  }
  const wide = typeof base === 'bigint' || typeof exponent === 'bigint';
  const exact = (toInteger(base) ?? 0n) ** integer;
  return smallestInteger(exact, wide) ?? Number(exact);
}

function repeated(base: Decimal128, times: number): NumberValue {
  let result: NumberValue = toDecimal(int32(1));
  for (let left = times; left > 0; left--) result = multiplyNumbers(result, base) ?? DECIMAL_NAN;
  return result;
}
