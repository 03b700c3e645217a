// What a collection's definition makes of its documents: keys of unique indexes, dates that burn
// down, the place of a document, validation. Compiled once for each definition.
import {
  type CollectionIndex,
  dateRule,
  isTtlOfCollection,
  uniqueName,
} from '../catalog/collection-definition.js';
import type { StoredCollection } from '../catalog/collections.js';
import { type CollectionShape, ONE_PLACE, shardText } from '../documents/collection-write.js';
import { compileFilter } from '../mql/filter/filter.js';
import type { Language, TextIndex } from '../mql/language.js';
import type { Instant } from '../time/instant.js';
import { toDouble } from '../value/bson/numbers.js';
import {
  decodeDocument,
  decodeValue,
  findField,
  readInt64AsNumber,
  skipValue,
  someElement,
  typeBefore,
} from '../value/bson/read.js';
import { BsonType } from '../value/bson/types.js';
import {
  type Bytes,
  type Document,
  isDocument,
  isNumber,
  type Value,
} from '../value/bson/value.js';
import { keyTextOf } from '../value/bson-key.js';
import { mongoFailure } from '../value/mongo-errors.js';
import { indexChecks } from './index-checks.js';
import { type IndexKeys, indexKeys } from './index-keys.js';

export interface Shape extends CollectionShape {
  readonly options: Document;
  readonly text: TextIndex | undefined;
  readonly validation: Validation | undefined;
}
export interface Validation {
  readonly level: 'strict' | 'moderate';
  readonly warnsOnly: boolean;
  readonly validator: Document;
  matches(document: Bytes): boolean;
}

const shapes = new WeakMap<StoredCollection, Shape>();

export function shapeOf(collection: StoredCollection): Shape {
  const known = shapes.get(collection);
  if (known) return known;
  const { indexes, shardKey, options } = collection.definition;
  const opened = readBase64(options);
  const shape: Shape = {
    collection,
    options: opened,
    text: textIndexOf(indexes),
    validation: validationOf(opened),
    unique: indexes
      .filter(({ unique }) => unique)
      .map((index) => ({ name: uniqueName(index.number), keysOf: uniqueKeys(index) })),
    dates: indexes
      .filter((index) => index.expireAfterSeconds !== undefined && !isTtlOfCollection(index))
      .map((index) => ({ rule: dateRule(index.number), earliest: earliestDate(index) })),
    checks: indexes.flatMap(checksOf),
    partitionOf: partitionOf(shardKey),
  };
  shapes.set(collection, shape);
  return shape;
}

export function readBase64(text: string): Document {
  return decodeDocument(Buffer.from(text, 'base64'));
}

/** For conditions of definitions, which know no variables and no time. */
export const PLAIN_LANGUAGE: Language = {
  now: 0 as Instant,
  collation: undefined,
  variables: new Map(),
  random: () => 0,
  text: undefined,
};

/** The filter of a partial index; every document passes where there is none. */
function isIn(index: CollectionIndex): (document: Bytes) => boolean {
  if (index.partial === undefined) return () => true;
  return compileFilter(readBase64(index.partial), PLAIN_LANGUAGE).matches;
}

/** What the index has of a document; nothing where the document is not in it. */
function keysIn(index: CollectionIndex): (document: Bytes) => readonly IndexKeys[] {
  const isIncluded = isIn(index);
  const keysOf = indexKeys(index.keys.map(({ path }) => path));
  return (document) => {
    if (!isIncluded(document)) return [];
    const keys = keysOf(document);
    return index.sparse ? keys.filter(({ isMissing }) => !isMissing) : keys;
  };
}

function uniqueKeys(index: CollectionIndex): (document: Bytes) => readonly string[] {
  const keysOf = keysIn(index);
  return (document) => [...new Set(keysOf(document).map(({ values }) => keyTextOf(values)))];
}

/** Of the documents that are in the index. */
function checksOf(index: CollectionIndex): CollectionShape['checks'] {
  const isIncluded = isIn(index);
  return indexChecks(index).map((check) => (document) => isIncluded(document) && check(document));
}

/** T35: of several dates the earliest; whatever is no date does not count. */
function earliestDate(index: CollectionIndex): (document: Bytes) => number | undefined {
  const isIncluded = isIn(index);
  const names = (index.keys[0]?.path ?? '').split('.').map((name) => Buffer.from(name));
  return (document) => {
    let earliest: number | undefined;
    eachAt(document, 0, names, 0, (bytes, type, at) => {
      if (type !== BsonType.date) return;
      const ms = readInt64AsNumber(bytes, at);
      if (earliest === undefined || ms < earliest) earliest = ms;
    });
    return earliest !== undefined && isIncluded(document) ? earliest : undefined;
  };
}

/** Calls back with each value at a path, arrays taken apart; what is missing is none. */
export function visitValues(path: string) {
  const names = path.split('.').map((name) => Buffer.from(name));
  return (document: Bytes, visit: (value: Value, bytes: number) => void): void => {
    eachAt(document, 0, names, 0, (bytes, type, at) => {
      visit(decodeValue(bytes, type, at), skipValue(bytes, type, at) - at);
    });
  };
}

interface Found {
  readonly values: readonly Value[];
  readonly isMissing: boolean;
  readonly isArray: boolean;
}

function valuesAt(document: Bytes, names: readonly Bytes[]): Found {
  const values: Value[] = [];
  const isArray = eachAt(document, 0, names, 0, (bytes, type, at) => {
    values.push(decodeValue(bytes, type, at));
  });
  const isMissing = values.length === 0 && !isArray;
  return { values: values.length === 0 ? [null] : values, isMissing, isArray };
}

type Visit = (bytes: Bytes, type: number, at: number) => void;

/** Through arrays of documents, and into an array at the end; says whether there was one. */
function eachAt(
  bytes: Bytes,
  document: number,
  names: readonly Bytes[],
  step: number,
  visit: Visit,
): boolean {
  const name = names[step];
  if (!name) return false;
  const at = findField(bytes, document, name);
  if (at < 0) return false;
  const type = typeBefore(bytes, at, name);
  const isLast = step === names.length - 1;
  if (type !== BsonType.array) {
    if (isLast) visit(bytes, type, at);
    else if (type === BsonType.object) return eachAt(bytes, at, names, step + 1, visit);
    return false;
  }
  const next = names[step + 1];
  if (next && isPosition(next)) return eachAt(bytes, at, names, step + 1, visit);
  someElement(bytes, at, (inner, from) => {
    if (isLast) visit(bytes, inner, from);
    else if (inner === BsonType.object) eachAt(bytes, from, names, step + 1, visit);
    return false;
  });
  return true;
}

/** Elements of an array are fields of it, called by their positions. */
function isPosition(name: Bytes): boolean {
  return /^\d+$/.test(Buffer.from(name).toString('latin1'));
}

function partitionOf(shardKey: readonly string[]): CollectionShape['partitionOf'] {
  if (shardKey.length === 0) return () => ONE_PLACE;
  const paths = shardKey.map((path) => path.split('.').map((name) => Buffer.from(name)));
  return (document) => {
    const values = paths.map((names, index) => {
      const { values: found, isMissing, isArray } = valuesAt(document, names);
      if (!isMissing && !isArray) return found[0] as Value;
      throw mongoFailure(
        'ShardKeyNotFound',
        `document does not contain shard key value for '${shardKey[index]}'`,
      );
    });
    return shardText(values);
  };
}

function textIndexOf(indexes: readonly CollectionIndex[]): TextIndex | undefined {
  const index = indexes.find(({ keys }) => keys.some(({ kind }) => kind === 'text'));
  if (!index) return undefined;
  const spec = readBase64(index.spec);
  const given = spec.get('weights');
  const weights = new Map<string, number>();
  for (const { path, kind } of index.keys) {
    if (kind !== 'text') continue;
    const weight = isDocument(given) ? given.get(path) : undefined;
    weights.set(path, isNumber(weight) ? toDouble(weight) : 1);
  }
  const language = spec.get('default_language');
  return { weights, defaultLanguage: typeof language === 'string' ? language : 'english' };
}

function validationOf(options: Document): Validation | undefined {
  const validator = options.get('validator');
  const level = options.get('validationLevel') ?? 'strict';
  if (!isDocument(validator) || validator.size === 0 || level === 'off') return undefined;
  return {
    level: level === 'moderate' ? 'moderate' : 'strict',
    warnsOnly: options.get('validationAction') === 'warn',
    validator,
    matches: compileFilter(validator, PLAIN_LANGUAGE).matches,
  };
}
