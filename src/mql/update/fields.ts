// Operators on fields: `$set`, `$unset`, `$inc`, `$mul`, `$min`, `$max`, `$currentDate`, `$bit`.
import { secondsOf } from '../../time/instant.js';
import { compareBson } from '../../value/bson/compare.js';
import { DECIMAL_ZERO, Decimal128 } from '../../value/bson/decimal.js';
import { addNumbers, multiplyNumbers, toBigInt } from '../../value/bson/numbers.js';
import { showField, showValue } from '../../value/bson/show.js';
import { typeName } from '../../value/bson/types.js';
import {
  DateTime,
  Int32,
  int32,
  isDocument,
  isNumber,
  type NumberValue,
  Timestamp,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { type AskedUpdate, idOf, type UpdateOperators } from './operator.js';
import { KEEP, type Modifier, type Place, REMOVE } from './walk.js';

export const fieldOperators: UpdateOperators = {
  $set: ({ operand }) => ({ creates: true, apply: () => operand }),
  $setOnInsert: ({ operand }) => ({ creates: true, apply: () => operand }),
  $unset: () => ({ creates: false, apply: () => REMOVE }),
  $inc: (asked) => arithmetic(asked, 'increment', addNumbers, (operand) => operand),
  $mul: (asked) => arithmetic(asked, 'multiply', multiplyNumbers, zeroLike),
  $min: ({ operand, language }) => extreme(operand, language.collation?.compare, -1),
  $max: ({ operand, language }) => extreme(operand, language.collation?.compare, 1),
  $currentDate: currentDate,
  $bit: bit,
};

function arithmetic(
  { operator, path, operand }: AskedUpdate,
  verb: string,
  combine: (a: NumberValue, b: NumberValue) => NumberValue | undefined,
  whenMissing: (operand: NumberValue) => NumberValue,
): Modifier {
  if (!isNumber(operand)) {
    const field = showField(path, operand);
    throw mongoFailure('TypeMismatch', `Cannot ${verb} with non-numeric argument: {${field}}`);
  }
  return {
    creates: true,
    apply: (current, place) => {
      if (current === undefined) return whenMissing(operand);
      if (!isNumber(current)) throw notNumeric(operator, current, place);
      const result = combine(current, operand);
      if (result !== undefined) return result;
      throw mongoFailure(
        'BadValue',
        `Failed to apply ${operator} operations to current value (${withType(current)}) for document {_id: ${showValue(idOf(place.document))}}`,
      );
    },
  };
}

function notNumeric(operator: string, current: Value, { path, document }: Place) {
  const name = path.split('.').at(-1);
  return mongoFailure(
    'TypeMismatch',
    `Cannot apply ${operator} to a value of non-numeric type. {_id: ${showValue(idOf(document))}} has the field '${name}' of non-numeric type ${typeName(typeOf(current))}`,
  );
}

function zeroLike(operand: NumberValue): NumberValue {
  if (operand instanceof Int32) return int32(0);
  if (operand instanceof Decimal128) return DECIMAL_ZERO;
  return typeof operand === 'bigint' ? 0n : 0;
}

function extreme(
  operand: Value,
  compareText: Parameters<typeof compareBson>[2],
  sign: 1 | -1,
): Modifier {
  return {
    creates: true,
    apply: (current) =>
      current === undefined || compareBson(operand, current, compareText) * sign > 0
        ? operand
        : KEEP,
  };
}

/** As the server tells numbers that it could not calculate with. */
function withType(value: NumberValue): string {
  if (typeof value === 'bigint') return `(NumberLong)${value}`;
  return value instanceof Int32 ? `(NumberInt)${value.value}` : showValue(value);
}

function currentDate({ operand, language }: AskedUpdate): Modifier {
  const type = isDocument(operand) ? operand.get('$type') : operand === true ? 'date' : undefined;
  if (operand !== true && operand !== false && !isDocument(operand)) {
    throw mongoFailure(
      'BadValue',
      `${typeName(typeOf(operand))} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'}).`,
    );
  }
  if (isDocument(operand)) {
    const unknown = [...operand.keys()].find((name) => name !== '$type');
    if (unknown !== undefined) {
      throw mongoFailure('BadValue', `Unrecognized $currentDate option: ${unknown}`);
    }
    if (type !== 'date' && type !== 'timestamp') {
      throw mongoFailure(
        'BadValue',
        "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}",
      );
    }
  }
  const value =
    type === 'timestamp' ? new Timestamp(secondsOf(language.now), 1) : new DateTime(language.now);
  return { creates: true, apply: () => value };
}

type BitOperation = (a: bigint, b: bigint) => bigint;
const BIT_OPERATIONS: ReadonlyMap<string, BitOperation> = new Map<string, BitOperation>([
  ['and', (a, b) => a & b],
  ['or', (a, b) => a | b],
  ['xor', (a, b) => a ^ b],
]);

function bit({ path, operand }: AskedUpdate): Modifier {
  if (!isDocument(operand)) {
    throw mongoFailure(
      'BadValue',
      `The $bit modifier is not compatible with a ${typeName(typeOf(operand))}. You must pass in an embedded document: {$bit: {field: {and/or/xor: #}}`,
    );
  }
  const steps = [...operand].map(([name, value]) => {
    const operation = BIT_OPERATIONS.get(name);
    if (!operation) {
      throw mongoFailure(
        'BadValue',
        `The $bit modifier only supports 'and', 'or', and 'xor', not '${name}' which is an unknown operator: {${showField(name, value)}}`,
      );
    }
    if (typeof value !== 'bigint' && !(value instanceof Int32)) {
      throw mongoFailure(
        'BadValue',
        `The $bit modifier field must be an Integer(32/64 bit); a '${typeName(typeOf(value))}' is not supported here: {${showField(path, operand)}}`,
      );
    }
    return { operation, value };
  });
  if (steps.length === 0) {
    throw mongoFailure(
      'BadValue',
      `You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}}`,
    );
  }
  return {
    creates: true,
    apply: (current, place) => {
      if (current !== undefined && typeof current !== 'bigint' && !(current instanceof Int32)) {
        throw mongoFailure(
          'BadValue',
          `Cannot apply $bit to a value of non-integral type._id: ${showValue(idOf(place.document))} has the field ${place.path.split('.').at(-1)} of non-integer type ${typeName(typeOf(current))}`,
        );
      }
      return steps.reduce(
        (value, step) => combineBits(value, step.value, step.operation),
        current ?? int32(0),
      );
    },
  };
}

function combineBits(
  a: Int32 | bigint,
  b: Int32 | bigint,
  operation: BitOperation,
): Int32 | bigint {
  const result = operation(toBigInt(a), toBigInt(b));
  return a instanceof Int32 && b instanceof Int32
    ? int32(Number(BigInt.asIntN(32, result)))
    : BigInt.asIntN(64, result);
}
