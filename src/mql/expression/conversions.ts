// `$convert` and its short forms, `$type`, `$isNumber`.
import { Decimal128, parseDecimal } from '../../value/bson/decimal.js';
import { decimalToInteger } from '../../value/bson/decimal-math.js';
import {
  INT32_MAX,
  INT32_MIN,
  INT64_MAX,
  INT64_MIN,
  isNan,
  toDecimal,
  toDouble,
  toInteger,
} from '../../value/bson/numbers.js';
import { showValue } from '../../value/bson/show.js';
import { BsonType, typeName } from '../../value/bson/types.js';
import {
  DateTime,
  int32,
  isNullish,
  isNumber,
  type NumberValue,
  ObjectId,
  Timestamp,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { MongoError, mongoFailure } from '../../value/mongo-errors.js';
import { isTruthy, typesNamed } from '../filter/elements.js';
import { type Argument, namedOperands, unary } from './arguments.js';
import { parseDate } from './date-format.js';
import { hashedKey } from './hashed-key.js';
import { constant, type Operator, type Operators } from './scope.js';
import { isoOf, printedDouble } from './strings.js';

export const conversionOperators: Operators = {
  $type: unary((value) => typeName(typeOf(value))),
  $isNumber: unary((value) => isNumber(value)),
  $toHashedIndexKey: unary((value) => hashedKey(value)),
  $toBool: to(BsonType.bool),
  $toInt: to(BsonType.int),
  $toLong: to(BsonType.long),
  $toDouble: to(BsonType.double),
  $toDecimal: to(BsonType.decimal),
  $toString: to(BsonType.string),
  $toDate: to(BsonType.date),
  $toObjectId: to(BsonType.objectId),
  $convert: (operand, compiler, name) => {
    const given = namedOperands(operand, ['input', 'to'], ['onError', 'onNull', 'format'], name);
    const part = (key: string) => {
      const value = given.get(key);
      return value === undefined ? undefined : compiler.compile(value);
    };
    const [input, target] = [part('input'), part('to') ?? constant(null)];
    const [onError, onNull] = [part('onError'), part('onNull')];
    return (scope) => {
      const value = input?.(scope);
      const type = target(scope);
      if (isNullish(type)) return null;
      if (isNullish(value)) return onNull ? onNull(scope) : null;
      const [wanted = 0] = typesNamed(type);
      try {
        return convert(value, wanted);
      } catch (error) {
        if (onError && error instanceof MongoError) return onError(scope);
        throw error;
      }
    };
  },
};

function to(type: number): Operator {
  return unary((value) => (isNullish(value) ? null : convert(value, type)));
}

type Convert = (value: Value) => Value;

const TARGETS: ReadonlyMap<number, Convert> = new Map<number, Convert>([
  [BsonType.bool, isTruthy],
  [BsonType.int, (value) => int32(Number(wholeNumber(value, BsonType.int)))],
  [BsonType.long, (value) => wholeNumber(value, BsonType.long)],
  [BsonType.double, toDoubleValue],
  [BsonType.decimal, toDecimalValue],
  [BsonType.string, toStringValue],
  [BsonType.date, toDateValue],
  [BsonType.objectId, toObjectIdValue],
]);

function convert(value: Value, type: number): Argument {
  const target = TARGETS.get(type);
  if (target) return typeOf(value) === type ? value : target(value);
  throw unsupported(value, type);
}

function unsupported(value: Value, type: number): MongoError {
  return mongoFailure(
    'ConversionFailure',
    `Unsupported conversion from ${typeName(typeOf(value))} to ${typeName(type)} in $convert with no onError value`,
  );
}

function failed(text: string): MongoError {
  return mongoFailure('ConversionFailure', `${text} in $convert with no onError value`);
}

function wholeNumber(value: Value, type: number): bigint {
  const [min, max] =
    type === BsonType.int ? [BigInt(INT32_MIN), BigInt(INT32_MAX)] : [INT64_MIN, INT64_MAX];
  const integer = integerOf(value, type);
  if (integer >= min && integer <= max) return integer;
  throw mongoFailure(
    'ConversionFailure',
    `Conversion would overflow target type in $convert with no onError value: ${typeof value === 'number' ? printedDouble(value) : showValue(value)}`,
  );
}

function integerOf(value: Value, type: number): bigint {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (isNumber(value)) return truncated(value);
  if (value instanceof DateTime && type === BsonType.long) return value.exact ?? BigInt(value.ms);
  if (typeof value === 'string') {
    if (/^[+-]?\d+$/.test(value)) return BigInt(value);
    throw failed(`Failed to parse number '${value}'`);
  }
  throw unsupported(value, type);
}

function truncated(value: NumberValue): bigint {
  if (isNan(value)) throw failed('Attempt to convert NaN value to integer type');
  if (!Number.isFinite(toDouble(value)))
    throw failed('Attempt to convert infinity value to integer type');
  if (value instanceof Decimal128) return decimalToInteger(value);
  return typeof value === 'number' ? BigInt(Math.trunc(value)) : (toInteger(value) ?? 0n);
}

function toDoubleValue(value: Value): Value {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (isNumber(value)) return toDouble(value);
  if (value instanceof DateTime) return value.ms;
  if (typeof value === 'string') {
    const decimal = parseDecimal(value);
    if (decimal) return toDouble(decimal);
    throw failed(`Failed to parse number '${value}'`);
  }
  throw unsupported(value, BsonType.double);
}

function toDecimalValue(value: Value): Value {
  if (typeof value === 'boolean') return toDecimal(int32(value ? 1 : 0));
  if (isNumber(value)) return toDecimal(value);
  if (value instanceof DateTime) return toDecimal(value.exact ?? BigInt(value.ms));
  const decimal = typeof value === 'string' ? parseDecimal(value) : undefined;
  if (decimal) return decimal;
  if (typeof value === 'string') throw failed(`Failed to parse number '${value}'`);
  throw unsupported(value, BsonType.decimal);
}

function toStringValue(value: Value): Value {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return printedDouble(value);
  if (isNumber(value)) return showValue(value);
  if (value instanceof ObjectId) return value.toString();
  if (value instanceof DateTime) return isoOf(value);
  throw unsupported(value, BsonType.string);
}

function toDateValue(value: Value): Value {
  if (isNumber(value) && typeOf(value) !== BsonType.int)
    return new DateTime(wholeNumber(value, BsonType.long));
  if (value instanceof Timestamp) return new DateTime(value.seconds * 1000);
  if (value instanceof ObjectId) {
    return new DateTime(Buffer.from(value.bytes).readUInt32BE(0) * 1000);
  }
  if (typeof value === 'string') return new DateTime(parseDate(value, undefined, undefined));
  throw unsupported(value, BsonType.date);
}

function toObjectIdValue(value: Value): Value {
  if (typeof value !== 'string') throw unsupported(value, BsonType.objectId);
  if (/^[0-9a-fA-F]{24}$/.test(value)) return ObjectId.fromHex(value);
  throw failed(`Failed to parse objectId '${value}'`);
}
