// Conditions as ranges of keys.
import { encodeValue } from '../../value/key.js';
import type { SearchFilter, SimpleFilter, ValueFilter } from '../engine.js';
import { sortableBytes } from '../indexing.js';
import { after } from './keys.js';
import type { Key } from './store.js';

/** From inclusive, to exclusive. */
export type KeyRange = readonly [from: Key, to: Key];

export interface Ranges {
  /** In ascending order, without overlap. */
  readonly ranges: readonly KeyRange[];
  /** Whether they say all that the condition says. */
  readonly exact: boolean;
}

export function isSearch(filter: SimpleFilter): filter is SearchFilter {
  return filter.op === 'word' || filter.op === 'near';
}

/** At the end of a value too long for a key, where its hash takes the place of the rest. */
export const HASH_BYTES = 32;

/** The keys of the values that a simple filter allows, where values begin at some place of keys. */
export function valueRanges(
  filter: ValueFilter,
  at: (bytes: Uint8Array) => Key,
  end: Key,
  bytesMax: number,
  repeats = false,
): Ranges | undefined {
  const cutBytes = bytesMax - HASH_BYTES;
  // An item has one value at a path, but may have many in an array: then ranges would show it
  // twice.
  if (filter.op !== '=' && !repeats && filter.path.includes(null)) return undefined;
  switch (filter.op) {
    case 'every':
    case 'any':
      return together(
        filter.op,
        filter.of.map((each) => valueRanges(each, at, end, bytesMax, repeats)),
      );
    case '=':
      return { ranges: [pointRange(at(sortableBytes(filter.value, bytesMax)))], exact: true };
    case 'in': {
      const points = filter.values.map((value) => pointRange(at(sortableBytes(value, bytesMax))));
      return { ranges: distinctRanges(points), exact: true };
    }
    case 'missing':
      return { ranges: [pointRange(at(encodeValue(undefined)))], exact: true };
    case 'defined':
      return { ranges: [[after(at(encodeValue(undefined))), end]], exact: true };
    case 'prefix': {
      // A text without its terminator is what all texts that begin with it begin with.
      const encoded = Buffer.from(encodeValue(filter.value)).subarray(0, -1);
      const start = at(encoded.subarray(0, cutBytes));
      return { ranges: [[start, after(start)]], exact: encoded.length <= cutBytes };
    }
    default:
      return comparison(at, filter.op, filter.value, cutBytes);
  }
}

/** Of conditions that must all hold, those that nothing is known of are left out. */
function together(op: 'every' | 'any', parts: readonly (Ranges | undefined)[]): Ranges | undefined {
  const known = parts.filter((part) => part !== undefined);
  const isAll = known.length === parts.length;
  if (known.length === 0 || (op === 'any' && !isAll)) return undefined;
  const lists = known.map(({ ranges }) => ranges);
  const ranges = op === 'any' ? union(lists.flat()) : intersection(lists);
  return ranges && { ranges, exact: isAll && known.every(({ exact }) => exact) };
}

function union(ranges: readonly KeyRange[]): readonly KeyRange[] {
  const joined: KeyRange[] = [];
  for (const range of [...ranges].sort(([a], [b]) => Buffer.compare(a, b))) {
    const last = joined.at(-1);
    if (!last || Buffer.compare(last[1], range[0]) < 0) joined.push(range);
    else if (Buffer.compare(last[1], range[1]) < 0) joined[joined.length - 1] = [last[0], range[1]];
  }
  return joined;
}

function comparison(
  at: (bytes: Uint8Array) => Key,
  op: '<' | '<=' | '>' | '>=',
  value: unknown,
  cutBytes: number,
): Ranges {
  const encoded = Buffer.from(encodeValue(value));
  const [typeStart, typeEnd] = typeRange(value);
  // A value is compared by as much of it as there is of long values, and looked at again on the
  // item.
  const isCut = encoded.length > cutBytes;
  const key = at(encoded.subarray(0, cutBytes));
  const beyond = after(key);
  const range: KeyRange =
    op === '<' || op === '<='
      ? [at(typeStart), op === '<' && !isCut ? key : beyond]
      : [op === '>' && !isCut ? beyond : key, at(typeEnd)];
  return { ranges: [range], exact: !isCut };
}

/** Comparisons stay within a type; false and true are one. */
function typeRange(value: unknown): readonly [Buffer, Buffer] {
  const tag = encodeValue(typeof value === 'boolean' ? false : value)[0] ?? 0;
  const end = (encodeValue(typeof value === 'boolean' ? true : value)[0] ?? 0) + 1;
  return [Buffer.of(tag), Buffer.of(end)];
}

function pointRange(key: Key): KeyRange {
  return [key, after(key)];
}

function distinctRanges(ranges: readonly KeyRange[]): readonly KeyRange[] {
  const sorted = [...ranges].sort(([a], [b]) => Buffer.compare(a, b));
  return sorted.filter(([from], index) => {
    const before = sorted[index - 1];
    return !before || Buffer.compare(before[0], from) !== 0;
  });
}

/** What all the lists of ranges have in common; undefined when there are no lists. */
export function intersection(
  lists: readonly (readonly KeyRange[])[],
): readonly KeyRange[] | undefined {
  const [first, ...more] = lists;
  return (
    first && more.reduce((ranges, other) => ranges.flatMap((range) => cut(range, other)), first)
  );
}

function cut([from, to]: KeyRange, ranges: readonly KeyRange[]): readonly KeyRange[] {
  return ranges.flatMap(([otherFrom, otherTo]): KeyRange[] => {
    const start = Buffer.compare(from, otherFrom) >= 0 ? from : otherFrom;
    const end = Buffer.compare(to, otherTo) <= 0 ? to : otherTo;
    return Buffer.compare(start, end) < 0 ? [[start, end]] : [];
  });
}

export function contains([from, to]: KeyRange, key: Key): boolean {
  return Buffer.compare(from, key) <= 0 && Buffer.compare(key, to) < 0;
}
