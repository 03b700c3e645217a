// `$regex` with `$options`, and `$mod`.

import { Decimal128 } from '../../value/bson/decimal.js';
import { roundDecimal } from '../../value/bson/decimal-math.js';
import { toDouble, toInteger } from '../../value/bson/numbers.js';
import {
  decodeString,
  decodeValue,
  endOfName,
  readInt32,
  readText,
} from '../../value/bson/read.js';
import { BsonType, isNumberType } from '../../value/bson/types.js';
import { isArray, isNumber, type NumberValue, Regex, type Value } from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { textMatcher } from '../regex.js';
import { fieldPath, type Test } from './path.js';
import { type Asked, EVERYTHING, type FieldOperators, type Node } from './tree.js';

export const evaluationOperators: FieldOperators = {
  $regex: regexNode,
  // Read by `$regex`, wherever the two stand.
  $options: ({ siblings }) => {
    if (siblings.has('$regex')) return EVERYTHING;
    throw mongoFailure('BadValue', '$options needs a $regex');
  },
  $mod: ({ path, operand }) => ({
    kind: 'field',
    path: fieldPath(path),
    operator: '$mod',
    operand,
    elements: true,
    test: remainderTest(operand),
  }),
};

function regexNode({ path, operand, siblings }: Asked): Node {
  const options = siblings.get('$options');
  if (options !== undefined && typeof options !== 'string') {
    throw mongoFailure('BadValue', '$options has to be a string');
  }
  if (operand instanceof Regex) {
    if (options && operand.options) {
      throw mongoLocation(51075, 'options set in both $regex and $options');
    }
    return regexField(path, new Regex(operand.pattern, options ?? operand.options));
  }
  if (typeof operand !== 'string') throw mongoFailure('BadValue', '$regex has to be a string');
  return regexField(path, new Regex(operand, options ?? ''));
}

/** What a regular expression in the place of a value asks. */
export function regexField(path: string, regex: Regex): Node {
  const { pattern, options } = regex;
  const test = regexTest(pattern, options);
  return {
    kind: 'field',
    path: fieldPath(path),
    operator: '$regex',
    operand: regex,
    elements: true,
    test,
  };
}

/** Texts that hold a match, and regular expressions that are the same. */
export function regexTest(pattern: string, options: string): Test {
  if (pattern.includes('\u0000')) {
    throw mongoLocation(51091, 'Regular expression cannot contain an embedded null byte');
  }
  const matches = textMatcher(pattern, options);
  return (bytes, type, at) => {
    if (type === BsonType.string || type === BsonType.symbol) {
      return matches(decodeString(bytes, at));
    }
    if (type !== BsonType.regex) return false;
    const end = endOfName(bytes, at);
    return (
      readText(bytes, at, end) === pattern &&
      readText(bytes, end + 1, endOfName(bytes, end + 1)) === options
    );
  };
}

function remainderTest(operand: Value): Test {
  if (!isArray(operand)) throw mongoFailure('BadValue', 'malformed mod, needs to be an array');
  if (operand.length < 2) throw mongoFailure('BadValue', 'malformed mod, not enough elements');
  if (operand.length > 2) throw mongoFailure('BadValue', 'malformed mod, too many elements');
  const [divisorValue, remainderValue] = operand;
  const divisor = operandOf(divisorValue, 'divisor');
  const remainder = operandOf(remainderValue, 'remainder');
  if (divisor === 0n) throw mongoFailure('BadValue', 'divisor cannot be 0');
  const [small, smallRemainder] = [Number(divisor), Number(remainder)];
  const isSmall = Number.isSafeInteger(small) && Number.isSafeInteger(smallRemainder);
  return (bytes, type, at) => {
    if (!isNumberType(type)) return false;
    if (isSmall && type === BsonType.int) {
      return readInt32(bytes, at) % small === smallRemainder;
    }
    const value = truncated(decodeValue(bytes, type, at) as NumberValue);
    return value !== undefined && value % divisor === remainder;
  };
}

function operandOf(value: Value | undefined, name: string): bigint {
  if (!isNumber(value)) throw mongoFailure('BadValue', `malformed mod, ${name} not a number`);
  const integer = truncated(value);
  if (integer === undefined) {
    throw mongoFailure(
      'BadValue',
      `malformed mod, ${name} value is invalid :: caused by :: NaN or infinity`,
    );
  }
  return integer;
}

/** The integer part; `undefined` of what has none. */
function truncated(value: NumberValue): bigint | undefined {
  if (value instanceof Decimal128) return toInteger(roundDecimal(value, 0, 'truncate'));
  return typeof value === 'number' ? toInteger(Math.trunc(toDouble(value))) : toInteger(value);
}
