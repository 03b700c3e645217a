// BSON values as texts whose order is that of the values, and which are equal where values are:
// 1, 1.0, NumberLong(1) and NumberDecimal("1.00") have one text. They are ids of documents, values
// of indexes and keys of unique indexes.
//
//   text    = bracket rest
//   number  2 double [more]   double: 16 hex digits, sign bit flipped, or all bits if negative
//                             more: what is above the double, for numbers that are no double
//   string  3 characters, so moved that UTF-16 order is that of code points
//   object  4 { text name 00 value 00 }       array  5 { value 00 }
//   binary  6 length subtype bytes  ObjectId 7   bool 8   date 9   timestamp a   regex b …
//
// The order is exact but for texts beyond `KEY_UNITS_MAX` and for decimals between two doubles.
import { hash } from 'node:crypto';
import { Decimal128 } from './bson/decimal.js';
import { BsonType } from './bson/types.js';
import {
  Binary,
  Code,
  CodeWithScope,
  DateTime,
  DbPointer,
  type Document,
  Int32,
  isArray,
  isDocument,
  ObjectId,
  Regex,
  SymbolText,
  Timestamp,
  typeOf,
  type Value,
} from './bson/value.js';

/** Where values of a type begin; the next character is where they end. */
export const KeyBracket = {
  minKey: '0',
  null: '1',
  number: '2',
  string: '3',
  object: '4',
  array: '5',
  binData: '6',
  objectId: '7',
  bool: '8',
  date: '9',
  timestamp: 'a',
  regex: 'b',
  dbPointer: 'c',
  javascript: 'd',
  javascriptWithScope: 'e',
  maxKey: 'z',
} as const;

/** Longer ones are cut, and told apart by their hash. */
const KEY_UNITS_MAX = 320;
const KEPT_UNITS = 256;

/** The text of a value that stands by itself. */
export function keyText(value: Value): string {
  const text = textOf(value);
  if (text.length <= KEY_UNITS_MAX) return text;
  return `${text.slice(0, KEPT_UNITS)}\u0000${hash('sha256', text)}`;
}

/** The text of several values together, of which each has its end. */
export function keyTextOf(values: readonly Value[]): string {
  return keyText(values);
}

export function numberText(value: number): string {
  if (Number.isNaN(value)) return KeyBracket.number;
  scratch.writeDoubleBE(value === 0 ? 0 : value, 0);
  const top = scratch.readInt32BE(0);
  if (top >= 0) scratch.writeInt32BE(top ^ SIGN, 0);
  else {
    scratch.writeInt32BE(~top, 0);
    scratch.writeInt32BE(~scratch.readInt32BE(4), 4);
  }
  return KeyBracket.number + scratch.toString('hex', 0, 8);
}

const SIGN = -0x80000000;
const scratch = Buffer.alloc(8);

function textOf(value: Value): string {
  switch (typeof value) {
    case 'string':
      return KeyBracket.string + inCodePointOrder(value);
    case 'number':
      return numberText(value);
    case 'bigint':
      return longText(value);
    case 'boolean':
      return KeyBracket.bool + (value ? '1' : '0');
    default:
      if (value instanceof ObjectId) return KeyBracket.objectId + value.toString();
      if (value instanceof Int32) return numberText(value.value);
      if (value === null) return KeyBracket.null;
      if (value instanceof DateTime) return KeyBracket.date + signedText(dateOf(value));
      if (isDocument(value)) return objectText(value);
      if (isArray(value))
        return KeyBracket.array + value.map((each) => `${textOf(each)}\0`).join('');
      return rareText(value);
  }
}

function rareText(value: Exclude<Value, Document | readonly Value[]>): string {
  if (value instanceof Decimal128) return decimalText(value);
  if (value instanceof Binary) {
    const length = value.bytes.length.toString(16).padStart(8, '0');
    const subtype = value.subtype.toString(16).padStart(2, '0');
    return KeyBracket.binData + length + subtype + Buffer.from(value.bytes).toString('hex');
  }
  if (value instanceof Timestamp) {
    const parts = [value.seconds, value.increment];
    return KeyBracket.timestamp + parts.map((part) => part.toString(16).padStart(8, '0')).join('');
  }
  if (value instanceof SymbolText) return KeyBracket.string + inCodePointOrder(value.text);
  if (value instanceof Regex) return `${KeyBracket.regex}${value.pattern}\0${value.options}`;
  if (value instanceof Code) return KeyBracket.javascript + value.code;
  if (value instanceof CodeWithScope) {
    return `${KeyBracket.javascriptWithScope}${value.code}\0${objectText(value.scope)}`;
  }
  if (value instanceof DbPointer) {
    const id = Buffer.from(value.id).toString('hex');
    return `${KeyBracket.dbPointer}${value.namespace}\0${id}`;
  }
  switch (typeOf(value)) {
    case BsonType.minKey:
      return KeyBracket.minKey;
    case BsonType.maxKey:
      return KeyBracket.maxKey;
    default:
      return KeyBracket.null;
  }
}

function objectText(document: Document): string {
  let text: string = KeyBracket.object;
  for (const [name, value] of document) {
    const inner = textOf(value);
    text += `${inner[0] ?? ''}${inCodePointOrder(name)}\0${inner}\0`;
  }
  return text;
}

/** The largest double that is not above it, then how far above that it is. */
function longText(value: bigint): string {
  let double = Number(value);
  if (BigInt(double) === value) return numberText(double);
  if (BigInt(double) > value) double = nextBelow(double);
  return numberText(double) + (value - BigInt(double)).toString(16).padStart(4, '0');
}

const LONG_MAX = 2n ** 63n;

function decimalText({ kind, negative, coefficient, exponent }: Decimal128): string {
  if (kind === 'nan') return numberText(Number.NaN);
  if (kind === 'infinity') return numberText(negative ? -Infinity : Infinity);
  if (coefficient === 0n) return numberText(0);
  let [digits, power] = [coefficient, exponent];
  while (digits % 10n === 0n) [digits, power] = [digits / 10n, power + 1];
  if (negative) digits = -digits;
  if (power >= 0 && power < 20) {
    const whole = digits * 10n ** BigInt(power);
    if (whole < LONG_MAX && whole >= -LONG_MAX) return longText(whole);
  }
  let double = Number(`${digits}e${power}`);
  const sign = compareExactly(double, digits, power);
  if (sign === 0) return numberText(double);
  if (sign > 0) double = nextBelow(double);
  return `${numberText(double)}x${digits}e${power}`;
}

/** The sign of double - digits * 10^power. */
function compareExactly(double: number, digits: bigint, power: number): number {
  if (!Number.isFinite(double)) return double > 0 ? 1 : -1;
  let [mantissa, scale] = [double, 0];
  while (!Number.isInteger(mantissa)) [mantissa, scale] = [mantissa * 2, scale + 1];
  const ten = 10n ** BigInt(Math.abs(power));
  const left = BigInt(mantissa) * (power < 0 ? ten : 1n);
  const right = digits * (power < 0 ? 1n : ten) * 2n ** BigInt(scale);
  return left === right ? 0 : left > right ? 1 : -1;
}

function nextBelow(double: number): number {
  if (double === Infinity) return Number.MAX_VALUE;
  if (double === 0) return -Number.MIN_VALUE;
  if (double === -Infinity) return double;
  scratch.writeDoubleBE(double, 0);
  const bits = scratch.readBigInt64BE(0) + (double > 0 ? -1n : 1n);
  scratch.writeBigInt64BE(bits, 0);
  return scratch.readDoubleBE(0);
}

function dateOf({ ms, exact }: DateTime): bigint {
  return exact ?? BigInt(ms);
}

function signedText(value: bigint): string {
  return BigInt.asUintN(64, value + LONG_MAX)
    .toString(16)
    .padStart(16, '0');
}

const BEYOND_ORDER = /[\ud800-\uffff]/;

/** UTF-16 sorts surrogates below E000 and up; here they change places. */
function inCodePointOrder(text: string): string {
  if (!BEYOND_ORDER.test(text)) return text;
  let moved = '';
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800) moved += text[at];
    else moved += String.fromCharCode(unit < 0xe000 ? unit + 0x2000 : unit - 0x800);
  }
  return moved;
}
