// Operators on texts. Lengths and positions are in bytes of UTF-8 or in code points, as the names
// say.

import { Decimal128 } from '../../value/bson/decimal.js';
import { toSafeInteger } from '../../value/bson/numbers.js';
import {
  Code,
  DateTime,
  Int32,
  int32,
  isNullish,
  isNumber,
  SymbolText,
  Timestamp,
  type Value,
} from '../../value/bson/value.js';
import { mongoLocation } from '../../value/mongo-errors.js';
import { type Argument, between, fixed, named, unary, variadic } from './arguments.js';
import { checkLength } from './effort.js';
import { integerArgument, nameOfType } from './numbers.js';
import type { Operators } from './scope.js';

export const stringOperators: Operators = {
  $concat: variadic((values) => {
    let text = '';
    for (const value of values) {
      if (isNullish(value)) return null;
      if (typeof value !== 'string') {
        throw mongoLocation(16702, `$concat only supports strings, not ${nameOfType(value)}`);
      }
      checkLength(text.length + value.length);
      text += value;
    }
    return text;
  }),
  $toLower: unary((value, name) =>
    asText(value, name).replaceAll(/[A-Z]/g, (c) => c.toLowerCase()),
  ),
  $toUpper: unary((value, name) =>
    asText(value, name).replaceAll(/[a-z]/g, (c) => c.toUpperCase()),
  ),
  $strcasecmp: fixed(2, ([a, b], name) => {
    const [left, right] = [asText(a, name).toUpperCase(), asText(b, name).toUpperCase()];
    return int32(left < right ? -1 : left > right ? 1 : 0);
  }),
  $strLenBytes: unary((value) => int32(Buffer.byteLength(needText(value, '$strLenBytes', 34473)))),
  $strLenCP: unary((value) => int32([...needText(value, '$strLenCP', 34471)].length)),
  $substr: fixed(3, substrBytes),
  $substrBytes: fixed(3, substrBytes),
  $substrCP: fixed(3, ([value, from, count], name) => {
    const start = integerArgument(from, 34450, `${name}: starting index must be a numeric type`);
    const length = integerArgument(count, 34452, `${name}: length must be a numeric type`);
    if (start < 0)
      throw mongoLocation(34455, `${name}: the starting index must be nonnegative integer.`);
    if (length < 0) throw mongoLocation(34454, `${name}: length must be a nonnegative integer.`);
    return [...asText(value, name)].slice(start, start + length).join('');
  }),
  $indexOfBytes: between(2, 4, (values, name) => indexOf(values, name, Buffer.byteLength)),
  $indexOfCP: between(2, 4, (values, name) => indexOf(values, name, (text) => [...text].length)),
  $split: fixed(2, ([value, separator]) => {
    if (isNullish(value) || isNullish(separator)) return null;
    const text = needText(value, '$split', 40085);
    const by = needText(separator, '$split', 40086);
    if (by === '') throw mongoLocation(40087, '$split requires a non-empty separator');
    return text.split(by);
  }),
  $trim: trimming(true, true),
  $ltrim: trimming(true, false),
  $rtrim: trimming(false, true),
  $replaceOne: named(['input', 'find', 'replacement'], [], ({ input, find, replacement }, name) =>
    replaced(input, find, replacement, name, (text, from, to) => text.replace(from, () => to)),
  ),
  $replaceAll: named(['input', 'find', 'replacement'], [], ({ input, find, replacement }, name) =>
    replaced(input, find, replacement, name, (text, from, to) => text.replaceAll(from, () => to)),
  ),
};

/** As the server coerces arguments to texts: numbers and dates are printed, null is empty. */
export function asText(value: Argument, name: string): string {
  if (typeof value === 'string') return value;
  if (isNullish(value)) return '';
  const text = printed(value);
  if (text !== undefined) return text;
  throw mongoLocation(
    16007,
    `can't convert from BSON type ${nameOfType(value)} to String (${name})`,
  );
}

function printed(value: Value): string | undefined {
  if (value instanceof Int32) return String(value.value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return printedDouble(value);
  if (value instanceof Decimal128) return value.toString();
  if (value instanceof DateTime) return isoOf(value);
  if (value instanceof SymbolText) return value.text;
  if (value instanceof Code) return value.code;
  return value instanceof Timestamp ? `Timestamp(${value.seconds}, ${value.increment})` : undefined;
}

/** What is smaller or larger is printed with an exponent, of two digits at least. */
const PLAIN_MIN = 1e-4;
const PLAIN_MAX = 1e16;

export function printedDouble(value: number): string {
  if (Object.is(value, -0)) return '-0';
  if (Number.isFinite(value)) {
    const size = Math.abs(value);
    if (value === 0 || (size >= PLAIN_MIN && size < PLAIN_MAX)) return String(value);
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

const DATE_MS_MAX = 8.64e15;

export function isoOf({ ms }: DateTime): string {
  if (Math.abs(ms) > DATE_MS_MAX) return `${ms}`;
  return new Date(ms).toISOString();
}

function needText(value: Argument, name: string, code: number): string {
  if (typeof value === 'string') return value;
  throw mongoLocation(code, `${name} requires a string argument, found: ${nameOfType(value)}`);
}

/** Cuts bytes, but never inside of a character. */
function substrBytes([value, from, count]: readonly Argument[], name: string): Argument {
  const bytes = Buffer.from(asText(value, name));
  const start = isNumber(from) ? toSafeInteger(from) : undefined;
  const length = isNumber(count) ? toSafeInteger(count) : undefined;
  if (start === undefined)
    throw mongoLocation(
      16034,
      `${name}:  starting index must be a numeric type (is BSON type ${nameOfType(from)})`,
    );
  if (length === undefined)
    throw mongoLocation(
      16035,
      `${name}:  length must be a numeric type (is BSON type ${nameOfType(count)})`,
    );
  if (start < 0)
    throw mongoLocation(50752, `${name}:  starting index must be non-negative (got: ${start})`);
  if (start >= bytes.length) return '';
  const stop = length < 0 ? bytes.length : Math.min(bytes.length, start + length);
  if (isInside(bytes, start))
    throw mongoLocation(
      28656,
      `${name}:  Invalid range, starting index is a UTF-8 continuation byte.`,
    );
  if (isInside(bytes, stop))
    throw mongoLocation(
      28657,
      `${name}:  Invalid range, ending index is in the middle of a UTF-8 character.`,
    );
  return bytes.toString('utf8', start, stop);
}

function isInside(bytes: Buffer, at: number): boolean {
  return at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80;
}

function indexOf(
  values: readonly Argument[],
  name: string,
  lengthOf: (text: string) => number,
): Argument {
  const [value, wanted, start, stop] = values;
  if (isNullish(value)) return null;
  const text = needText(value, name, 40091);
  const token = needText(wanted, name, 40092);
  const bound = (given: Argument, otherwise: number) => {
    if (given === undefined) return otherwise;
    const index = integerArgument(given, 40096, `${name} requires an integral starting index`);
    if (index < 0) throw mongoLocation(40097, `${name} requires a nonnegative starting index`);
    return index;
  };
  const from = bound(start, 0);
  const to = bound(stop, Number.POSITIVE_INFINITY);
  for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + 1)) {
    const place = lengthOf(text.slice(0, at));
    if (place + lengthOf(token) > to && place >= to) break;
    if (place >= from && place + lengthOf(token) <= to) return int32(place);
    if (at === text.length) break;
  }
  return int32(-1);
}

/** What the server takes for blanks. */
const BLANKS = new Set(
  '\0 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a',
);

function trimming(left: boolean, right: boolean) {
  return named(['input'], ['chars'], ({ input, chars }, name) => {
    if (isNullish(input) || chars === null) return null;
    const text = [...needText(input, name, 50699)];
    const gone = chars === undefined ? BLANKS : new Set(needText(chars, name, 50700));
    let from = 0;
    let to = text.length;
    while (left && from < to && gone.has(text[from] as string)) from++;
    while (right && from < to && gone.has(text[to - 1] as string)) to--;
    return text.slice(from, to).join('');
  });
}

function countOf(text: string, part: string): number {
  if (part === '') return text.length + 1;
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

function replaced(
  input: Argument,
  find: Argument,
  replacement: Argument,
  name: string,
  replace: (text: string, from: string, to: string) => string,
): Argument {
  const parts = [input, find, replacement].map((value, at) => {
    if (isNullish(value)) return undefined;
    return needText(value, name, 51746 - at);
  });
  const [text, from, to] = parts;
  if (text === undefined || from === undefined || to === undefined) return null;
  checkLength(text.length + countOf(text, from) * to.length);
  return replace(text, from, to);
}
