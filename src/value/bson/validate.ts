// What comes from outside is looked at once, strictly, so that nobody behind has to: lengths,
// terminators, types, UTF-8, nesting. The names of array elements are not looked at: they count for
// nothing, and every reader goes by position.
import { isUtf8 } from 'node:buffer';
import { mongoFailure } from '../mongo-errors.js';
import { fixedSize, OLD_BINARY, readInt32 } from './read.js';
import { BsonType } from './types.js';
import type { Bytes } from './value.js';

export const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024;
/** As of the server: 180 levels of documents and arrays; what it stores has 100 at the most. */
export const NESTING_MAX = 180;
/** For commands and results of updates around a document of the full size. */
export const ENVELOPE_BYTES = 16 * 1024;

/**
 * The end of the document that begins at `from`; throws InvalidBSON unless all of it is well-formed
 * and lies before `to`.
 */
export function validateDocument(
  bytes: Bytes,
  from = 0,
  to = bytes.length,
  depth = NESTING_MAX,
): number {
  if (to - from < 5) throw invalid('the bytes end within a document');
  const length = readInt32(bytes, from);
  const end = from + length;
  if (length < 5 || end > to) throw invalid(`a document has the length ${length}`);
  if (bytes[end - 1] !== 0) throw invalid('a document does not end with a zero byte');
  if (depth <= 0) throw mongoFailure('Overflow', 'BSON is nested too deeply');
  let at = from + 4;
  while (at < end - 1) {
    const type = bytes[at] as number;
    const nameEnd = checkName(bytes, at + 1, end - 1);
    at = checkValue(bytes, type, nameEnd + 1, end - 1, depth);
  }
  if (at !== end - 1) throw invalid('a value reaches beyond its document');
  return end;
}

function checkValue(bytes: Bytes, type: number, at: number, end: number, depth: number): number {
  const size = fixedSize(type);
  if (size >= 0) {
    if (at + size > end) throw invalid('a value reaches beyond its document');
    if (type === BsonType.bool && (bytes[at] as number) > 1)
      throw invalid('a boolean is not 0 or 1');
    return at + size;
  }
  switch (type) {
    case BsonType.string:
    case BsonType.javascript:
    case BsonType.symbol:
      return checkString(bytes, at, end);
    case BsonType.object:
    case BsonType.array:
      return validateDocument(bytes, at, end, depth - 1);
    case BsonType.binData:
      return checkBinary(bytes, at, end);
    case BsonType.regex:
      return checkName(bytes, checkName(bytes, at, end) + 1, end) + 1;
    case BsonType.dbPointer: {
      const id = checkString(bytes, at, end);
      if (id + 12 > end) throw invalid('a value reaches beyond its document');
      return id + 12;
    }
    case BsonType.javascriptWithScope:
      return checkCodeWithScope(bytes, at, end, depth);
    default:
      throw invalid(`there is no type ${type}`);
  }
}

function checkString(bytes: Bytes, at: number, end: number): number {
  const length = lengthAt(bytes, at, end);
  const stop = at + 4 + length;
  if (length < 1 || stop > end) throw invalid(`a string has the length ${length}`);
  if (bytes[stop - 1] !== 0) throw invalid('a string does not end with a zero byte');
  checkUtf8(bytes, at + 4, stop - 1);
  return stop;
}

function checkBinary(bytes: Bytes, at: number, end: number): number {
  const length = lengthAt(bytes, at, end);
  const stop = at + 5 + length;
  if (length < 0 || stop > end) throw invalid(`a binary has the length ${length}`);
  if (bytes[at + 4] === OLD_BINARY && (length < 4 || readInt32(bytes, at + 5) !== length - 4)) {
    throw invalid('the lengths of a binary of subtype 2 differ');
  }
  return stop;
}

function checkCodeWithScope(bytes: Bytes, at: number, end: number, depth: number): number {
  const length = lengthAt(bytes, at, end);
  const stop = at + length;
  if (length < 14 || stop > end) throw invalid(`a code with scope has the length ${length}`);
  const scope = checkString(bytes, at + 4, stop);
  if (validateDocument(bytes, scope, stop, depth - 1) !== stop) {
    throw invalid('the lengths of a code with scope differ');
  }
  return stop;
}

function lengthAt(bytes: Bytes, at: number, end: number): number {
  if (at + 4 > end) throw invalid('a value reaches beyond its document');
  return readInt32(bytes, at);
}

/** The offset of the zero byte. */
function checkName(bytes: Bytes, from: number, end: number): number {
  let at = from;
  let ascii = true;
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === 0) break;
    if (byte >= 0x80) ascii = false;
  }
  if (at >= end) throw invalid('a name does not end with a zero byte');
  if (!ascii) checkUtf8(bytes, from, at);
  return at;
}

const SHORT_TEXT = 64;

function checkUtf8(bytes: Bytes, from: number, to: number): void {
  if (to - from <= SHORT_TEXT) {
    let at = from;
    while (at < to && (bytes[at] as number) < 0x80) at++;
    if (at === to) return;
  }
  if (!isUtf8(bytes.subarray(from, to))) throw invalid('a text is not valid UTF-8');
}

function invalid(why: string) {
  return mongoFailure('InvalidBSON', `Invalid BSON: ${why}`);
}
