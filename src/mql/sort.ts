// Sorting documents by paths. Of an array the smallest element counts on the way up and the largest
// on the way down; what is missing counts as null, an empty array comes before it.
import { type CompareText, compareBson } from '../value/bson/compare.js';
import { toDouble } from '../value/bson/numbers.js';
import { decodeDocument, decodeValue, findField, typeBefore } from '../value/bson/read.js';
import { showField } from '../value/bson/show.js';
import { BsonType } from '../value/bson/types.js';
import {
  type Bytes,
  type Document,
  isDocument,
  isNumber,
  UNDEFINED,
  type Value,
} from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';
import { mongoFailure, mongoLocation } from '../value/mongo-errors.js';
import { type FieldPath, fieldPath, someOfArray } from './filter/path.js';
import type { Language } from './language.js';
import { tuplesOf } from './sort-tuples.js';

export const SORT_KEYS_MAX = 32;

export type SortKeys = readonly Value[];

export interface Sort {
  readonly parts: readonly SortPart[];
  /** `{ $natural: 1 }` or -1: the order of the store, or that backwards. */
  readonly natural: 1 | -1 | undefined;
  /** What a document is sorted by, read once. */
  readonly keys: (document: Bytes, textScore?: number) => SortKeys;
  readonly compare: (a: SortKeys, b: SortKeys) => number;
}
export interface SortPart {
  /** Undefined for the score of a text search. */
  readonly path: string | undefined;
  readonly descending: boolean;
}

/** `textScore` is that of the filter, where rows do not bring their score along. */
export function compileSort(spec: Document, language: Language, textScore?: Measure): Sort {
  if (spec.size > SORT_KEYS_MAX) {
    throw mongoFailure(
      'BadValue',
      `sort key ordering must not have more than ${SORT_KEYS_MAX} keys`,
    );
  }
  const natural = spec.get('$natural');
  if (natural !== undefined) {
    const sign = isNumber(natural) ? Math.sign(toDouble(natural)) : 0;
    if (spec.size > 1 || sign === 0) {
      throw mongoFailure('BadValue', '$natural sort cannot be set to a value other than -1 or 1.');
    }
    return { parts: [], natural: sign as 1 | -1, keys: () => [], compare: () => 0 };
  }
  const parts = [...spec].map(([path, order]) => sortPart(path, order));
  const isByScore = parts.some(({ path }) => path === undefined);
  const compareText = language.collation?.compare;
  const readers = parts.map(({ path, descending }) => keyReader(path, descending, compareText));
  const compare = (a: SortKeys, b: SortKeys) => compareKeys(parts, a, b, compareText);
  const paths = parts.map(({ path }) => path?.split('.'));
  const together = (document: Bytes, keys: SortKeys): SortKeys =>
    tuplesOf(decodeDocument(document), paths)
      .map((tuple) => tuple.map((value, at) => (paths[at] ? value : (keys[at] as Value))))
      .reduce((best, tuple) => (compare(tuple, best) < 0 ? tuple : best));
  return {
    parts,
    natural: undefined,
    keys: (document, score) => {
      const known = score ?? (isByScore ? textScore?.(document) : undefined) ?? 0;
      arraysMet = 0;
      const keys = readers.map((read) => read(document, known));
      return arraysMet > 1 ? together(document, keys) : keys;
    },
    compare,
  };
}

/** How many paths of the document just read lead through arrays; reading is synchronous. */
let arraysMet = 0;

type Measure = (document: Bytes) => number | undefined;

/** The order that `$near` asks for: the nearest first. */
export function nearestFirst(distance: Measure): Sort {
  const parts = [{ path: undefined, descending: false }];
  return {
    parts,
    natural: undefined,
    keys: (document) => [distance(document) ?? null],
    compare: (a, b) => compareKeys(parts, a, b, undefined),
  };
}

/** The order of values that are documents or not, as `$push` and `$sortArray` sort elements. */
export function compareBySort(sort: Sort): (a: Value, b: Value) => number {
  const known = new Map<Value, SortKeys>();
  const keysOf = (value: Value): SortKeys => {
    const keys = known.get(value) ?? sort.keys(encodeDocument(isDocument(value) ? value : EMPTY));
    known.set(value, keys);
    return keys;
  };
  return (a, b) => sort.compare(keysOf(a), keysOf(b));
}

const EMPTY: Document = new Map();

function sortPart(path: string, order: Value): SortPart {
  if (isDocument(order)) {
    if (order.get('$meta') === 'textScore') return { path: undefined, descending: true };
    throw mongoLocation(17312, '$meta is the only expression supported by $sort right now');
  }
  if (!isNumber(order)) {
    throw mongoLocation(15974, `Illegal key in $sort specification: ${showField(path, order)}`);
  }
  const sign = toDouble(order);
  if (sign !== 1 && sign !== -1) {
    throw mongoLocation(
      15975,
      '$sort key ordering must be 1 (for ascending) or -1 (for descending)',
    );
  }
  if (path === '' || path.split('.').includes('')) {
    throw mongoLocation(15998, 'FieldPath field names may not be empty strings.');
  }
  if (path.startsWith('$')) {
    throw mongoLocation(
      16410,
      `FieldPath field names may not start with '$'. Consider using $getField or $setField.`,
    );
  }
  return { path, descending: sign === -1 };
}

function compareKeys(
  parts: readonly SortPart[],
  a: SortKeys,
  b: SortKeys,
  compareText: CompareText | undefined,
): number {
  for (let at = 0; at < parts.length; at++) {
    const order = compareBson(a[at], b[at], compareText);
    if (order !== 0) return (parts[at] as SortPart).descending ? -order : order;
  }
  return 0;
}

type KeyReader = (document: Bytes, textScore: number) => Value;

function keyReader(
  path: string | undefined,
  descending: boolean,
  compareText: CompareText | undefined,
): KeyReader {
  if (path === undefined) return (_, textScore) => textScore;
  const steps = fieldPath(path);
  return (document) => {
    let best: Value | undefined;
    let count = 0;
    eachKey(document, 0, steps, 0, (value) => {
      count++;
      if (best === undefined) best = value;
      else if (compareBson(value, best, compareText) > 0 === descending) best = value;
    });
    if (count > 1) arraysMet++;
    return best ?? null;
  };
}

/** The values that an index over the path would hold for the document. */
export function eachKey(
  bytes: Bytes,
  document: number,
  path: FieldPath,
  from: number,
  visit: (value: Value) => void,
): void {
  const name = path.names[from] as Bytes;
  const at = findField(bytes, document, name);
  if (at < 0) visit(null);
  else keysBelow(bytes, typeBefore(bytes, at, name), at, path, from + 1, visit);
}

function keysBelow(
  bytes: Bytes,
  type: number,
  at: number,
  path: FieldPath,
  next: number,
  visit: (value: Value) => void,
): void {
  if (type === BsonType.array) keysOfArray(bytes, at, path, next, visit);
  else if (next === path.names.length) visit(decodeValue(bytes, type, at));
  else if (type === BsonType.object) eachKey(bytes, at, path, next, visit);
  else visit(null);
}

function keysOfArray(
  bytes: Bytes,
  array: number,
  path: FieldPath,
  next: number,
  visit: (value: Value) => void,
): void {
  const isEnd = next === path.names.length;
  const wanted = isEnd ? -1 : (path.indexes[next] as number);
  let index = 0;
  let positional = false;
  if (wanted >= 0) {
    someOfArray(bytes, array, (_, type, at) => {
      if (index++ !== wanted) return false;
      positional = true;
      keysBelow(bytes, type, at, path, next + 1, visit);
      return true;
    });
  }
  if (positional) return;
  let count = 0;
  someOfArray(bytes, array, (_, type, at) => {
    count++;
    if (isEnd) visit(decodeValue(bytes, type, at));
    else if (type === BsonType.object) eachKey(bytes, at, path, next, visit);
    else visit(null);
    return false;
  });
  if (count === 0) visit(isEnd ? UNDEFINED : null);
}
