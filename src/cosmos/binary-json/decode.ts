// Bodies in the binary form of JSON, which some SDKs send unless they are told not to: read into
// JSON text, because documents are stored as text. Answers are text, which those SDKs take.
//
//   body   = 80 value
//   00–1F  a number, the marker itself           C7–CC, CD, CE, D7–DC  a number of that type
//   D0 D1 D2  null, false, true                  strings: see strings.ts
//   E0–E7  array: empty, of one, by the length of its bytes, by length and count (1, 2, 4 bytes)
//   E8–EF  object, likewise; each member is a string and a value
//   F0 F1  array of numbers of one type, with their count; F2 F3  array of such arrays
import { failure } from '../../value/errors.js';
import { NESTING_MAX } from '../../value/json.js';
import { BODY_BYTES_MAX } from '../request.js';
import { Cursor, malformed, type Width } from './cursor.js';
import { readString } from './strings.js';

const PREAMBLE = 0x80;
const WORDS: Readonly<Record<number, string>> = { 208: 'null', 209: 'false', 210: 'true' };

/** The text of JSON in either form; no text begins with that byte. */
export function jsonText(bytes: Buffer): Buffer {
  if (bytes[0] !== PREAMBLE) return bytes;
  const cursor = new Cursor(bytes, 1);
  const text = new Reader(cursor).value(0);
  if (!cursor.isAtEnd) throw malformed(cursor.at, 'the value is followed by something');
  return Buffer.from(text);
}

class Reader {
  readonly #cursor: Cursor;
  #length = 0;

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  value(depth: number): string {
    const marker = this.#cursor.byte();
    if (marker >= 0xe0) return this.#container(marker, depth);
    const text = scalar(this.#cursor, marker);
    if (text === undefined) throw unknown(this.#cursor, marker);
    return this.#counted(text);
  }

  /** References, and arrays of empty arrays, may make more of a body than was sent. */
  #counted(text: string): string {
    this.#length += text.length;
    const bytes = this.#length;
    if (bytes > BODY_BYTES_MAX) throw failure('tooLarge', { bytes, limit: BODY_BYTES_MAX });
    return text;
  }

  #container(marker: number, depth: number): string {
    if (depth >= NESTING_MAX) throw failure('nestingTooDeep', { limit: NESTING_MAX });
    if (marker >= 0xf0) return this.#counted(numbers(this.#cursor, marker));
    const isObject = marker >= 0xe8;
    const parts = this.#parts(marker & 7, () =>
      isObject ? this.#member(depth + 1) : this.value(depth + 1),
    );
    return isObject ? `{${parts.join()}}` : `[${parts.join()}]`;
  }

  #parts(form: number, next: () => string): readonly string[] {
    if (form === 0) return [];
    if (form === 1) return [next()];
    const cursor = this.#cursor;
    const width = ([1, 2, 4] as const)[(form - 2) % 3] as Width;
    const length = cursor.unsigned(width);
    const count = form >= 5 ? cursor.unsigned(width) : undefined;
    const end = cursor.at + length;
    const parts: string[] = [];
    while (cursor.at < end) parts.push(next());
    if (cursor.at !== end) throw malformed(end, 'a value is longer than what it is in');
    if (count !== undefined && count !== parts.length) {
      throw malformed(end, `${parts.length} values are counted as ${count}`);
    }
    return parts;
  }

  #member(depth: number): string {
    const name = readString(this.#cursor, this.#cursor.byte());
    if (name === undefined) throw malformed(this.#cursor.at, 'the name of a property is no string');
    return `${this.#counted(JSON.stringify(name))}:${this.value(depth)}`;
  }
}

function scalar(cursor: Cursor, marker: number): string | undefined {
  if (marker < 0x20) return String(marker);
  const string = readString(cursor, marker);
  if (string !== undefined) return JSON.stringify(string);
  return WORDS[marker] ?? NUMBERS[marker]?.(cursor);
}

const NUMBERS: Readonly<Record<number, (cursor: Cursor) => string>> = {
  199: (cursor) => String(cursor.take(8).readBigUInt64LE()),
  200: (cursor) => String(cursor.byte()),
  201: (cursor) => String(cursor.take(2).readInt16LE()),
  202: (cursor) => String(cursor.take(4).readInt32LE()),
  203: (cursor) => String(cursor.take(8).readBigInt64LE()),
  204: (cursor) => double(cursor, cursor.take(8).readDoubleLE()),
  205: (cursor) => double(cursor, cursor.take(4).readFloatLE()),
  206: (cursor) => double(cursor, cursor.take(8).readDoubleLE()),
  215: (cursor) => String(cursor.byte()),
  216: (cursor) => String(cursor.take(1).readInt8()),
  217: (cursor) => String(cursor.take(2).readInt16LE()),
  218: (cursor) => String(cursor.take(4).readInt32LE()),
  219: (cursor) => String(cursor.take(8).readBigInt64LE()),
  220: (cursor) => String(cursor.unsigned(4)),
};

function double(cursor: Cursor, value: number): string {
  if (!Number.isFinite(value)) throw malformed(cursor.at, 'a number is not finite');
  return JSON.stringify(value);
}

/** F0 type count …; F2 F0 type count outerCount …: the numbers follow without markers. */
function numbers(cursor: Cursor, marker: number): string {
  if (marker > 0xf3) throw unknown(cursor, marker);
  const isNested = marker >= 0xf2;
  const width: Width = marker % 2 === 0 ? 1 : 2;
  if (isNested && cursor.byte() !== marker - 2) {
    throw malformed(cursor.at, 'an array is of arrays of another kind');
  }
  const type = cursor.byte();
  const read = type >= 0xcd ? NUMBERS[type] : undefined;
  if (!read) throw unknown(cursor, type);
  const count = cursor.unsigned(width);
  const row = () => `[${Array.from({ length: count }, () => read(cursor)).join()}]`;
  if (!isNested) return row();
  return `[${Array.from({ length: cursor.unsigned(width) }, row).join()}]`;
}

function unknown(cursor: Cursor, marker: number): Error {
  return malformed(cursor.at - 1, `the marker ${marker.toString(16).toUpperCase()} is unknown`);
}
