// Reading BSON where it lies: finding an element by its name, walking the elements, and decoding
// only what is asked for. The bytes have passed validate.ts, so nothing is checked again here.
//
//   document = int32 length, elements, 0x00
//   element  = type byte, name, 0x00, value
import { decimalFromBytes } from './decimal-bits.js';
import { BsonType } from './types.js';
import {
  Binary,
  type Bytes,
  Code,
  CodeWithScope,
  DateTime,
  DbPointer,
  type Document,
  int32,
  MAX_KEY,
  MIN_KEY,
  ObjectId,
  Regex,
  SymbolText,
  Timestamp,
  UNDEFINED,
  type Value,
} from './value.js';

export function readInt32(bytes: Bytes, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

const scratch = new Uint8Array(8);
const scratchDouble = new Float64Array(scratch.buffer);

/** The platform is little-endian as BSON is: Node runs nowhere else that matters here. */
export function readDouble(bytes: Bytes, at: number): number {
  for (let byte = 0; byte < 8; byte++) scratch[byte] = bytes[at + byte] as number;
  return scratchDouble[0] as number;
}

export function readInt64(bytes: Bytes, at: number): bigint {
  const low = readInt32(bytes, at) >>> 0;
  const high = readInt32(bytes, at + 4);
  if (high === 0 || high === -1) return BigInt(high * 2 ** 32 + low);
  return (BigInt(high) << 32n) | BigInt(low);
}

/** An Int64 as a double: exact up to 2^53, the nearest beyond. */
export function readInt64AsNumber(bytes: Bytes, at: number): number {
  return readInt32(bytes, at + 4) * 2 ** 32 + (readInt32(bytes, at) >>> 0);
}

const SHORT_TEXT = 24;

export function readText(bytes: Bytes, from: number, to: number): string {
  if (to - from <= SHORT_TEXT) {
    let text = '';
    let at = from;
    for (; at < to; at++) {
      const code = bytes[at] as number;
      if (code >= 0x80) break;
      text += String.fromCharCode(code);
    }
    if (at === to) return text;
  }
  return Buffer.prototype.utf8Slice.call(bytes, from, to);
}

/** The offset of the value of a field, or -1. Its type is at `typeBefore`. */
export function findField(bytes: Bytes, document: number, name: Bytes): number {
  const end = document + readInt32(bytes, document) - 1;
  const length = name.length;
  let at = document + 4;
  while (at < end) {
    let next = at + 1;
    let same = 0;
    while (same < length && bytes[next] === name[same]) {
      same++;
      next++;
    }
    if (same === length && bytes[next] === 0) return next + 1;
    while (bytes[next] !== 0) next++;
    at = skipValue(bytes, bytes[at] as number, next + 1);
  }
  return -1;
}

/** The type of the value that `findField` has found for a name. */
export function typeBefore(bytes: Bytes, value: number, name: Bytes): number {
  return bytes[value - name.length - 2] as number;
}

export function endOfName(bytes: Bytes, from: number): number {
  let at = from;
  while (bytes[at] !== 0) at++;
  return at;
}

/** Sizes of values that have a fixed one, by type; -1 elsewhere. */
const FIXED_SIZES = new Int8Array(256).fill(-1);
for (const [type, size] of [
  [BsonType.double, 8],
  [BsonType.undefined, 0],
  [BsonType.objectId, 12],
  [BsonType.bool, 1],
  [BsonType.date, 8],
  [BsonType.null, 0],
  [BsonType.int, 4],
  [BsonType.timestamp, 8],
  [BsonType.long, 8],
  [BsonType.decimal, 16],
  [BsonType.minKey, 0],
  [BsonType.maxKey, 0],
] as const) {
  FIXED_SIZES[type] = size;
}

export function fixedSize(type: number): number {
  return FIXED_SIZES[type] as number;
}

/** Where the value of a type that begins here ends. */
export function skipValue(bytes: Bytes, type: number, at: number): number {
  const size = FIXED_SIZES[type] as number;
  if (size >= 0) return at + size;
  switch (type) {
    case BsonType.object:
    case BsonType.array:
    case BsonType.javascriptWithScope:
      return at + readInt32(bytes, at);
    case BsonType.binData:
      return at + 5 + readInt32(bytes, at);
    case BsonType.regex:
      return endOfName(bytes, endOfName(bytes, at) + 1) + 1;
    case BsonType.dbPointer:
      return at + 4 + readInt32(bytes, at) + 12;
    default:
      return at + 4 + readInt32(bytes, at);
  }
}

/** Called for each element until it answers true; that is then the answer. */
export type Visit = (type: number, at: number, index: number) => boolean;

export function someElement(bytes: Bytes, document: number, visit: Visit): boolean {
  const end = document + readInt32(bytes, document) - 1;
  let at = document + 4;
  for (let index = 0; at < end; index++) {
    const type = bytes[at] as number;
    const value = endOfName(bytes, at + 1) + 1;
    if (visit(type, value, index)) return true;
    at = skipValue(bytes, type, value);
  }
  return false;
}

export function countElements(bytes: Bytes, document: number): number {
  let count = 0;
  someElement(bytes, document, () => {
    count++;
    return false;
  });
  return count;
}

/** The same with the names, for those who need them. */
export function eachField(
  bytes: Bytes,
  document: number,
  visit: (name: string, type: number, at: number, elementAt: number) => void,
): void {
  const end = document + readInt32(bytes, document) - 1;
  let at = document + 4;
  while (at < end) {
    const type = bytes[at] as number;
    const nameEnd = endOfName(bytes, at + 1);
    visit(readText(bytes, at + 1, nameEnd), type, nameEnd + 1, at);
    at = skipValue(bytes, type, nameEnd + 1);
  }
}

export function decodeDocument(bytes: Bytes, document = 0): Document {
  const decoded: Document = new Map();
  const end = document + readInt32(bytes, document) - 1;
  let at = document + 4;
  while (at < end) {
    const type = bytes[at] as number;
    const nameEnd = endOfName(bytes, at + 1);
    const name = readText(bytes, at + 1, nameEnd);
    decoded.set(name, decodeValue(bytes, type, nameEnd + 1));
    at = skipValue(bytes, type, nameEnd + 1);
  }
  return decoded;
}

export function decodeArray(bytes: Bytes, array: number): readonly Value[] {
  const decoded: Value[] = [];
  someElement(bytes, array, (type, at) => {
    decoded.push(decodeValue(bytes, type, at));
    return false;
  });
  return decoded;
}

export function decodeValue(bytes: Bytes, type: number, at: number): Value {
  switch (type) {
    case BsonType.double:
      return readDouble(bytes, at);
    case BsonType.string:
      return decodeString(bytes, at);
    case BsonType.object:
      return decodeDocument(bytes, at);
    case BsonType.array:
      return decodeArray(bytes, at);
    case BsonType.bool:
      return bytes[at] !== 0;
    case BsonType.null:
      return null;
    case BsonType.int:
      return int32(readInt32(bytes, at));
    case BsonType.long:
      return readInt64(bytes, at);
    case BsonType.date:
      return decodeDate(bytes, at);
    case BsonType.objectId:
      return new ObjectId(bytes.subarray(at, at + 12));
    default:
      return decodeRare(bytes, type, at);
  }
}

function decodeRare(bytes: Bytes, type: number, at: number): Value {
  switch (type) {
    case BsonType.binData:
      return decodeBinary(bytes, at);
    case BsonType.decimal:
      return decimalFromBytes(bytes, at);
    case BsonType.timestamp:
      return new Timestamp(readInt32(bytes, at + 4) >>> 0, readInt32(bytes, at) >>> 0);
    case BsonType.regex: {
      const patternEnd = endOfName(bytes, at);
      const end = endOfName(bytes, patternEnd + 1);
      return new Regex(readText(bytes, at, patternEnd), readText(bytes, patternEnd + 1, end));
    }
    case BsonType.dbPointer: {
      const id = at + 4 + readInt32(bytes, at);
      return new DbPointer(decodeString(bytes, at), bytes.subarray(id, id + 12));
    }
    case BsonType.javascript:
      return new Code(decodeString(bytes, at));
    case BsonType.symbol:
      return new SymbolText(decodeString(bytes, at));
    case BsonType.javascriptWithScope: {
      const scope = at + 8 + readInt32(bytes, at + 4);
      return new CodeWithScope(decodeString(bytes, at + 4), decodeDocument(bytes, scope));
    }
    case BsonType.undefined:
      return UNDEFINED;
    case BsonType.minKey:
      return MIN_KEY;
    case BsonType.maxKey:
      return MAX_KEY;
    default:
      throw new TypeError(`no BSON type has the number ${type}`);
  }
}

export function decodeString(bytes: Bytes, at: number): string {
  return readText(bytes, at + 4, at + 3 + readInt32(bytes, at));
}

function decodeDate(bytes: Bytes, at: number): DateTime {
  const ms = readInt64AsNumber(bytes, at);
  return new DateTime(Number.isSafeInteger(ms) ? ms : readInt64(bytes, at));
}

/** Subtype 2 has a second length inside, which says the same as the first. */
function decodeBinary(bytes: Bytes, at: number): Binary {
  const subtype = bytes[at + 4] as number;
  const end = at + 5 + readInt32(bytes, at);
  return new Binary(subtype, bytes.subarray(at + (subtype === OLD_BINARY ? 9 : 5), end));
}

export const OLD_BINARY = 2;
