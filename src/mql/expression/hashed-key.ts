// `$toHashedIndexKey`: what a hashed index of the server has of a value. It is the beginning of an
// MD5 over the types and bytes of the value, numbers as whole ones of 64 bits.
//
//   md5( seed 4 { type 4 [ name 00 ] ( number 8 | bytes | fields … type 0 ) } )
import { createHash, type Hash } from 'node:crypto';
import { isNan, toDouble, toInteger } from '../../value/bson/numbers.js';
import { Bracket, bracketOf, MISSING } from '../../value/bson/types.js';
import {
  CodeWithScope,
  type Document,
  documentOf,
  isArray,
  isDocument,
  isNumber,
  MAX_KEY,
  MIN_KEY,
  type NumberValue,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';

export function hashedKey(value: Value | undefined): bigint {
  const hash = createHash('md5');
  hash.update(int32Bytes(0));
  addValue(hash, value, undefined);
  return hash.digest().readBigInt64LE(0);
}

function addValue(hash: Hash, value: Value | undefined, name: string | undefined): void {
  hash.update(int32Bytes(canonicalType(value)));
  if (name !== undefined) hash.update(`${name}\0`);
  if (value === undefined) return;
  if (isNumber(value)) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(wholeNumber(value));
    hash.update(bytes);
  } else if (isDocument(value)) addFields(hash, value);
  else if (isArray(value)) addFields(hash, new Map(value.map((each, at) => [String(at), each])));
  else if (value instanceof CodeWithScope) addFields(hash, value.scope);
  else hash.update(rawBytes(value));
}

/** The end of a document counts as a field without name and value. */
function addFields(hash: Hash, document: Document): void {
  for (const [name, value] of document) addValue(hash, value, name);
  hash.update(int32Bytes(0));
}

/** The places of types in the order of values, as the server numbers them. */
const TYPES: ReadonlyMap<number, number> = new Map([
  [Bracket.undefined, 0],
  [Bracket.null, 5],
  [Bracket.number, 10],
  [Bracket.string, 15],
  [Bracket.object, 20],
  [Bracket.array, 25],
  [Bracket.binData, 30],
  [Bracket.objectId, 35],
  [Bracket.bool, 40],
  [Bracket.date, 45],
  [Bracket.timestamp, 47],
  [Bracket.regex, 50],
  [Bracket.dbPointer, 55],
  [Bracket.javascript, 60],
  [Bracket.javascriptWithScope, 65],
]);

function canonicalType(value: Value | undefined): number {
  if (value === MIN_KEY) return -1;
  if (value === MAX_KEY) return 127;
  return TYPES.get(bracketOf(value === undefined ? MISSING : typeOf(value))) ?? 0;
}

/** Fractions do not count; what is beyond 64 bits is the nearest that is not. */
function wholeNumber(value: NumberValue): bigint {
  if (isNan(value)) return 0n;
  const double = toDouble(value);
  if (double >= 2 ** 63) return 2n ** 63n - 1n;
  if (double < -(2 ** 63)) return -(2n ** 63n);
  return toInteger(value) ?? BigInt(Math.trunc(double));
}

/** The bytes of the value in a document: behind length, type and an empty name, before the end. */
function rawBytes(value: Value): Uint8Array {
  return encodeDocument(documentOf({ '': value })).subarray(6, -1);
}

function int32Bytes(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(number);
  return bytes;
}
