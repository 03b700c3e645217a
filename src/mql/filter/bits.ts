// `$bitsAllSet`, `$bitsAnySet`, `$bitsAllClear`, `$bitsAnyClear`: on integers and binaries.
import { INT64_MAX, INT64_MIN, toInteger } from '../../value/bson/numbers.js';
import { decodeValue } from '../../value/bson/read.js';
import { BsonType, isNumberType } from '../../value/bson/types.js';
import {
  Binary,
  type Bytes,
  isArray,
  isNumber,
  type NumberValue,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { fieldPath } from './path.js';
import type { Asked, FieldOperators, Node } from './tree.js';

export const bitOperators: FieldOperators = {
  $bitsAllSet: (asked) => bits(asked, (positions, isSet) => positions.every(isSet)),
  $bitsAnySet: (asked) => bits(asked, (positions, isSet) => positions.some(isSet)),
  $bitsAllClear: (asked) => bits(asked, (positions, isSet) => !positions.some(isSet)),
  $bitsAnyClear: (asked) => bits(asked, (positions, isSet) => !positions.every(isSet)),
};

type Judge = (positions: readonly number[], isSet: (position: number) => boolean) => boolean;

function bits({ path, operand, operator }: Asked, judge: Judge): Node {
  const positions = positionsOf(operand, operator);
  return {
    kind: 'field',
    path: fieldPath(path),
    operator,
    operand,
    elements: true,
    test: (bytes, type, at) => {
      const isSet = bitsAt(bytes, type, at);
      return isSet !== undefined && judge(positions, isSet);
    },
  };
}

function positionsOf(operand: Value, operator: string): readonly number[] {
  if (operand instanceof Binary) {
    return allPositions(operand.bytes.length * 8).filter(bitsOfBytes(operand.bytes));
  }
  if (isArray(operand)) {
    return operand.map((element) => {
      const position = isNumber(element) ? Number(toInteger(element) ?? -1) : -1;
      if (position >= 0 && position <= POSITION_MAX) return position;
      throw mongoFailure(
        'BadValue',
        `Failed to parse bit position. Expected a non-negative number in: ${operator}`,
      );
    });
  }
  const mask = isNumber(operand) ? toInteger(operand) : undefined;
  if (mask !== undefined && mask >= 0n && mask <= INT64_MAX) {
    return allPositions(64).filter(bitsOfInteger(mask));
  }
  throw mongoFailure(
    'BadValue',
    `${operator} takes an Array, a number, or a BinData but received: ${String(operand)}`,
  );
}

const POSITION_MAX = 2 ** 31 - 1;

function allPositions(count: number): readonly number[] {
  return Array.from({ length: count }, (_, position) => position);
}

/** `undefined` for values that have no bits: fractions and what does not fit an Int64. */
function bitsAt(bytes: Bytes, type: number, at: number) {
  if (type === BsonType.binData) return bitsOfBytes((decodeValue(bytes, type, at) as Binary).bytes);
  if (!isNumberType(type)) return undefined;
  const integer = toInteger(decodeValue(bytes, type, at) as NumberValue);
  const fits = integer !== undefined && integer >= INT64_MIN && integer <= INT64_MAX;
  return fits ? bitsOfInteger(integer) : undefined;
}

function bitsOfBytes(bytes: Bytes) {
  return (position: number) => (((bytes[position >> 3] ?? 0) >> (position & 7)) & 1) === 1;
}

/** Beyond 64 bits the sign goes on. */
function bitsOfInteger(integer: bigint) {
  return (position: number) => ((integer >> BigInt(Math.min(position, 63))) & 1n) === 1n;
}
