// The one order of values as texts that compare by bytes. The database makes them from the `x`
// column, in ORDER BY and in the indexes over paths, and this file from values that are compared
// with those: both must say the same.
//
//   0 absent   1 null   2 false   3 true   4… number   5… text   6 array   7 object
//
// Of a number follows its double in hex, which grows with it; of a negative one with all digits
// turned round. The letter before it tells −∞, negative, positive and ∞ apart.
import { valueAt } from '../../value/path.js';
import type { Item, OrderBy } from '../engine.js';
import { bytesMaxOf, type IndexPath } from '../indexing.js';
import { raw, type Sql, sql } from './sql.js';
import { originalValue, storableText } from './text.js';
import { textSql, valueSql } from './value-sql.js';

/** Where numbers begin, and where texts do. */
export const NUMBERS = '4';
export const TEXTS = '5';
export const BEHIND_TEXTS = '6';
export const FALSE = '2';
export const DEFINED = '1';
/** Sorts behind everything that can follow a beginning: what is stored has no such character. */
export const LAST = '\u{10ffff}';

/**
 * So many characters of a text are sorted by, where so many paths are sorted by together. Each
 * takes up to three bytes, and an entry of an index has room for 2700.
 */
export function lengthMaxOf(paths: number): number {
  return Math.floor(bytesMaxOf(paths) / 2);
}

export function sortTextSql(path: IndexPath, lengthMax: number, from: Sql = raw('d.x')): Sql {
  const [value, text] = [valueSql(path, from), textSql(path, from)];
  const digits = sql`encode(float8send((${value})::float8), 'hex')`;
  return sql`(case jsonb_typeof(${value})
    when 'string' then '5' || left(${text}, ${raw(String(lengthMax))})
    when 'number' then case
      when ${value} < '-1e309'::jsonb then '4a'
      when ${value} < '0'::jsonb then '4b' || translate(${digits}, ${raw(DIGITS)}, ${raw(TURNED)})
      when ${value} < '1e309'::jsonb then '4c' || ${digits} else '4d' end
    when 'boolean' then case ${text} when 'true' then '3' else '2' end
    when 'null' then '1' when 'array' then '6' when 'object' then '7' else '0' end collate "C")`;
}

const DIGITS = "'0123456789abcdef'";
const TURNED = "'fedcba9876543210'";

export function sortTextOf(value: unknown, lengthMax: number): string {
  switch (typeof value) {
    case 'undefined':
      return '0';
    case 'boolean':
      return value ? '3' : '2';
    case 'number':
      return `4${sortNumberOf(value)}`;
    case 'string':
      return `5${storableText(value).slice(0, lengthMax)}`;
    default:
      return value === null ? '1' : Array.isArray(value) ? '6' : '7';
  }
}

/** The value again; of what is cut, and of arrays and objects, there is none. */
export function valueOfSortText(text: string, lengthMax: number): { value: unknown } | undefined {
  switch (text[0]) {
    case '1':
      return { value: null };
    case '2':
    case '3':
      return { value: text === '3' };
    case '4':
      return { value: numberOf(text[1] ?? '', text.slice(2)) };
    case '5':
      return text.length > lengthMax ? undefined : { value: originalValue(text.slice(1)) };
    default:
      return undefined;
  }
}

/** Whether no two texts that differ from each other are this one where they are sorted by. */
export function isWhole(value: unknown, lengthMax: number): boolean {
  return typeof value !== 'string' || storableText(value).length < lengthMax;
}

export function sortTextsOf(
  item: Item,
  order: readonly OrderBy[],
  lengthMax: number,
): readonly string[] {
  return order.map(({ path }) =>
    sortTextOf(valueAt(item.doc.value, path as readonly string[]), lengthMax),
  );
}

/** What comes back from a client and was never made here sorts somewhere; it must be a text. */
export function isSortText(value: unknown): value is string {
  return typeof value === 'string' && /^[0-7][^\0]*$/su.test(value);
}

function numberOf(kind: string, digits: string): number {
  if (kind === 'a') return -Infinity;
  if (kind === 'd') return Infinity;
  const bytes = Buffer.from(digits, 'hex');
  return (kind === 'b' ? turned(bytes) : bytes).readDoubleBE();
}

function turned(bytes: Buffer): Buffer {
  return bytes.map((byte) => 255 - byte) as Buffer;
}

function sortNumberOf(value: number): string {
  if (!Number.isFinite(value)) return value < 0 ? 'a' : 'd';
  const bytes = Buffer.alloc(8);
  // There is no negative zero in JSON.
  bytes.writeDoubleBE(value === 0 ? 0 : value);
  return value >= 0 ? `c${bytes.toString('hex')}` : `b${turned(bytes).toString('hex')}`;
}
