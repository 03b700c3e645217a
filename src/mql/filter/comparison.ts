// Comparisons with a value that is known when the filter is compiled: `$eq`, `$lt` and so on, and
// `$in`. They stay within the bracket of the operand's type, and read raw bytes where that is easy.
import { compareBson, keyOfValue } from '../../value/bson/compare.js';
import { compareNumbers, isNan } from '../../value/bson/numbers.js';
import {
  decodeString,
  decodeValue,
  readDouble,
  readInt32,
  readInt64AsNumber,
} from '../../value/bson/read.js';
import { Bracket, BsonType, bracketOf, MISSING } from '../../value/bson/types.js';
import {
  type Bytes,
  Int32,
  isNumber,
  MAX_KEY,
  MIN_KEY,
  type NumberValue,
  type ObjectId,
  SymbolText,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import type { Collation } from '../language.js';
import type { Test } from './path.js';

export type ComparisonOperator = '$eq' | '$lt' | '$lte' | '$gt' | '$gte';

/** Which of less, equal, greater an operator is content with. */
const CONTENT: Readonly<Record<ComparisonOperator, readonly [boolean, boolean, boolean]>> = {
  $eq: [false, true, false],
  $lt: [true, false, false],
  $lte: [true, true, false],
  $gt: [false, false, true],
  $gte: [false, true, true],
};

export function comparison(
  operator: ComparisonOperator,
  operand: Value,
  collation: Collation | undefined,
): Test {
  const [less, equal, greater] = CONTENT[operator];
  const accepts = (order: number) => (order === 0 ? equal : order < 0 ? less : greater);
  if (isNumber(operand)) return numberTest(operand, accepts, equal);
  const bracket = bracketOf(typeOf(operand));
  if (bracket === Bracket.null) return (_, type) => equal && isNullType(type);
  if (operand === MIN_KEY) return (_, type) => accepts(type === BsonType.minKey ? 0 : 1);
  if (operand === MAX_KEY) return (_, type) => accepts(type === BsonType.maxKey ? 0 : -1);
  if (bracket === Bracket.string && !collation) return textTest(operand, accepts);
  if (bracket === Bracket.bool) {
    const wanted = operand === true ? 1 : 0;
    return (bytes, type, at) => type === BsonType.bool && accepts((bytes[at] as number) - wanted);
  }
  if (bracket === Bracket.objectId) return objectIdTest((operand as ObjectId).bytes, accepts);
  const compareText = collation?.compare;
  return (bytes, type, at) =>
    bracketOf(type) === bracket &&
    type !== MISSING &&
    accepts(compareBson(decodeValue(bytes, type, at), operand, compareText));
}

export function isNullType(type: number): boolean {
  return type === BsonType.null || type === BsonType.undefined || type === MISSING;
}

/** NaN equals NaN, and is neither less nor greater than any number. */
function numberTest(
  operand: NumberValue,
  accepts: (order: number) => boolean,
  equal: boolean,
): Test {
  if (isNan(operand)) {
    return (bytes, type, at) => equal && isNanAt(bytes, type, at);
  }
  const plain = operand instanceof Int32 ? operand.value : Number(operand);
  const isPlain = Number.isSafeInteger(plain) || typeof operand === 'number';
  if (!isPlain || compareNumbers(operand, plain) !== 0) return exactTest(operand, accepts);
  const exactly = exactTest(operand, accepts);
  const longsArePlain = Number.isSafeInteger(plain);
  return (bytes, type, at) => {
    if (type === BsonType.int) return accepts(readInt32(bytes, at) - plain);
    if (type === BsonType.double) {
      const value = readDouble(bytes, at);
      if (value === plain) return equal;
      return !Number.isNaN(value) && accepts(value < plain ? -1 : 1);
    }
    if (type === BsonType.long && longsArePlain) {
      return accepts(readInt64AsNumber(bytes, at) - plain);
    }
    return exactly(bytes, type, at);
  };
}

function exactTest(operand: NumberValue, accepts: (order: number) => boolean): Test {
  return (bytes, type, at) => {
    if (bracketOf(type) !== Bracket.number) return false;
    const value = decodeValue(bytes, type, at) as NumberValue;
    return !isNan(value) && accepts(compareNumbers(value, operand));
  };
}

function isNanAt(bytes: Bytes, type: number, at: number): boolean {
  return bracketOf(type) === Bracket.number && isNan(decodeValue(bytes, type, at) as NumberValue);
}

function textTest(operand: Value, accepts: (order: number) => boolean): Test {
  const text = operand instanceof SymbolText ? operand.text : (operand as string);
  const wanted = Buffer.from(text);
  return (bytes, type, at) => {
    if (type !== BsonType.string && type !== BsonType.symbol) return false;
    return accepts(compareText(bytes, at + 4, readInt32(bytes, at) - 1, wanted));
  };
}

/** The bytes of UTF-8 are in the order of the code points. */
function compareText(bytes: Bytes, from: number, length: number, wanted: Bytes): number {
  const shared = Math.min(length, wanted.length);
  for (let at = 0; at < shared; at++) {
    const difference = (bytes[from + at] as number) - (wanted[at] as number);
    if (difference !== 0) return difference;
  }
  return length - wanted.length;
}

function objectIdTest(wanted: Bytes, accepts: (order: number) => boolean): Test {
  return (bytes, type, at) => {
    if (type !== BsonType.objectId) return false;
    for (let byte = 0; byte < 12; byte++) {
      const difference = (bytes[at + byte] as number) - (wanted[byte] as number);
      if (difference !== 0) return accepts(difference);
    }
    return accepts(0);
  };
}

/** Below this many texts or numbers they are tried one by one. */
const LIST_SHORT = 4;

/** Whether a value equals one of a list. */
export function oneOf(operands: readonly Value[], collation: Collation | undefined): Test {
  if (operands.length <= LIST_SHORT) {
    const tests = operands.map((operand) => comparison('$eq', operand, collation));
    return (bytes, type, at) => tests.some((test) => test(bytes, type, at));
  }
  const fold = collation?.fold;
  const keys = new Set(operands.map((operand) => keyOfValue(operand, fold)));
  const brackets = new Set(operands.map((operand) => bracketOf(typeOf(operand))));
  const withNull = brackets.has(Bracket.null);
  const texts = new Set(operands.filter((operand) => typeof operand === 'string'));
  return (bytes, type, at) => {
    if (isNullType(type)) return withNull;
    if (!brackets.has(bracketOf(type))) return false;
    if (type === BsonType.string && !fold) return texts.has(decodeString(bytes, at)) || symbols();
    return keys.has(keyOfValue(decodeValue(bytes, type, at), fold));

    function symbols(): boolean {
      return texts.size !== operands.length && keys.has(keyOfValue(decodeString(bytes, at)));
    }
  };
}
