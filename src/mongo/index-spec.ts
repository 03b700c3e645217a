// Specifications of indexes, checked in full before any is built.
import {
  type CollectionIndex,
  ID_INDEX,
  type IndexKey,
  isWildcard,
  WRITTEN_FIELD,
} from '../catalog/collection-definition.js';
import { compileFilter } from '../mql/filter/filter.js';
import type { Node } from '../mql/filter/tree.js';
import { TTL_MAX_SECONDS, TTL_NEVER } from '../time/expiry.js';
import { toDouble } from '../value/bson/numbers.js';
import { decodeDocument } from '../value/bson/read.js';
import { showValue } from '../value/bson/show.js';
import { typeName } from '../value/bson/types.js';
import {
  type Document,
  documentOf,
  int32,
  isDocument,
  isNumber,
  typeOf,
  type Value,
} from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';
import { type MongoError, mongoFailure } from '../value/mongo-errors.js';
import { asDocument, asTruth } from './fields.js';
import { PLAIN_LANGUAGE } from './shape.js';

export type IndexSpec = Omit<CollectionIndex, 'number'>;

const FIELDS_MAX = 32;
const KINDS: readonly string[] = ['hashed', 'text', '2dsphere', '2d'];
/** Kept and listed; of these some mean nothing here, as they mean nothing to a current server. */
const LISTED: readonly string[] = [
  ...['hidden', 'collation', 'weights', 'default_language', 'language_override', 'bits', 'min'],
  ...['max', 'textIndexVersion', '2dsphereIndexVersion', 'wildcardProjection', 'storageEngine'],
];
const SILENT: readonly string[] = ['v', 'ns', 'background', 'key', 'name'];
const READ: readonly string[] = [
  ...['unique', 'sparse', 'expireAfterSeconds', 'partialFilterExpression'],
];

export function readIndex(given: Document): IndexSpec {
  const key = asDocument(given.get('key'), 'createIndexes.indexes.key');
  if (!key) throw lacking('key', given);
  const keys = readKeys(key);
  const name = readName(given);
  for (const option of given.keys()) {
    if ([...LISTED, ...SILENT, ...READ].includes(option)) continue;
    throw mongoFailure(
      'InvalidIndexSpecificationOption',
      `Error in specification ${showValue(given)} :: caused by :: The field '${option}' is not valid for an index specification. Specification: ${showValue(given)}`,
    );
  }
  if (keys.length === 1 && keys[0]?.path === '_id' && keys[0].kind === 1) return idIndex(given);
  const unique = asTruth(given.get('unique'), 'createIndexes.indexes.unique') ?? false;
  const sparse = asTruth(given.get('sparse'), 'createIndexes.indexes.sparse') ?? false;
  const partial = readPartial(given, sparse);
  const expireAfterSeconds = readSeconds(given, keys);
  checkKinds(given, keys, unique);
  const spec: Document = documentOf({ v: int32(2), key: listedKey(keys, key), name });
  if (unique) spec.set('unique', true);
  if (sparse) spec.set('sparse', true);
  if (partial) spec.set('partialFilterExpression', partial);
  if (expireAfterSeconds !== undefined) spec.set('expireAfterSeconds', int32(expireAfterSeconds));
  for (const option of LISTED) {
    const value = given.get(option);
    if (value !== undefined) spec.set(option, value);
  }
  describeSearch(spec, keys);
  return {
    name,
    spec: base64(spec),
    keys,
    unique,
    sparse,
    ...(spec.get('hidden') === true ? { hidden: true } : {}),
    ...(partial ? { partial: base64(partial) } : {}),
    ...(expireAfterSeconds === undefined ? {} : { expireAfterSeconds }),
  };
}

/** A text index is listed under names of its own; its fields are those of its weights. */
function listedKey(keys: readonly IndexKey[], key: Document): Document {
  if (!keys.some(({ kind }) => kind === 'text')) return key;
  const listed: Document = new Map();
  for (const [path, kind] of key) {
    if (kind !== 'text') listed.set(path, kind);
    else if (!listed.has('_fts')) listed.set('_fts', kind).set('_ftsx', int32(1));
  }
  return listed;
}

/** What a text index and one over places are listed with, if the client does not say. */
function describeSearch(spec: Document, keys: readonly IndexKey[]): void {
  const words = keys.filter(({ kind }) => kind === 'text').map(({ path }) => path);
  if (words.length > 0) {
    const given = spec.get('weights');
    const weights = isDocument(given) ? given : new Map<string, Value>();
    const all = [...new Set([...words, ...weights.keys()])].sort();
    spec.set('weights', new Map(all.map((path) => [path, weights.get(path) ?? int32(1)])));
    setDefault(spec, 'default_language', 'english');
    setDefault(spec, 'language_override', 'language');
    setDefault(spec, 'textIndexVersion', int32(3));
  }
  if (keys.some(({ kind }) => kind === '2dsphere')) {
    setDefault(spec, '2dsphereIndexVersion', int32(3));
  }
}

function setDefault(spec: Document, option: string, value: Value): void {
  if (!spec.has(option)) spec.set(option, value);
}

/** What makes two indexes the same. */
export const sameIndex = {
  keys: (a: IndexSpec, b: IndexSpec): boolean => JSON.stringify(a.keys) === JSON.stringify(b.keys),
  /** Those that differ in one of these may stand side by side. */
  signature: (a: IndexSpec, b: IndexSpec): boolean =>
    sameIndex.keys(a, b) &&
    a.partial === b.partial &&
    a.unique === b.unique &&
    a.sparse === b.sparse &&
    showValue(readBack(a.spec).get('collation')) === showValue(readBack(b.spec).get('collation')),
  options: (a: IndexSpec, b: IndexSpec): boolean => comparable(a) === comparable(b),
};

function comparable({ spec }: IndexSpec): string {
  const options = readBack(spec);
  for (const option of ['name', 'hidden']) options.delete(option);
  return showValue(new Map([...options].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** With another number of seconds, or for the first time with one. */
export function withSeconds(index: CollectionIndex, seconds: number): CollectionIndex {
  const spec = readBack(index.spec);
  spec.set('expireAfterSeconds', int32(seconds));
  return { ...index, spec: base64(spec), expireAfterSeconds: seconds };
}

export function withHidden(index: CollectionIndex, hidden: boolean): CollectionIndex {
  const spec = readBack(index.spec);
  if (hidden) spec.set('hidden', true);
  else spec.delete('hidden');
  return { ...index, hidden, spec: base64(spec) };
}

export function base64(document: Document): string {
  return Buffer.from(encodeDocument(document)).toString('base64');
}

/** T29: over `_ts` -1 is on without a default; over dates 0 is at the date itself. */
export function checkSeconds(value: number, isOfWrites: boolean, given: Document): number {
  const refuse = (what: string) =>
    cannot(`TTL index 'expireAfterSeconds' option ${what}. Index spec: ${showValue(given)}`);
  if (Number.isNaN(value)) throw refuse('must not be NaN');
  const seconds = Math.trunc(value);
  if (isOfWrites && seconds === TTL_NEVER) return seconds;
  if (seconds < 0) throw refuse('cannot be less than 0');
  if (isOfWrites && seconds === 0) throw refuse("over '_ts' must be -1 or at least 1");
  if (seconds > TTL_MAX_SECONDS) {
    throw refuse('must be within an acceptable range, try a lower number');
  }
  return seconds;
}

function readKeys(key: Document): readonly IndexKey[] {
  if (key.size === 0) throw cannot('Index keys cannot be empty.');
  if (key.size > FIELDS_MAX) throw cannot(`Index key contains over ${FIELDS_MAX} fields`);
  return [...key].map(([path, value]) => ({
    path: checkPath(path),
    kind: readKind(value, key),
  }));
}

function checkPath(path: string): string {
  const names = path.split('.');
  const plain = isWildcard(path) ? names.slice(0, -1) : names;
  if (plain.some((name) => name === '' || name.startsWith('$'))) {
    throw cannot(`Index key contains an illegal field name: '${path}'`);
  }
  return path;
}

function readKind(value: Value, key: Document): IndexKey['kind'] {
  if (isNumber(value)) {
    const number = toDouble(value);
    if (number > 0) return 1;
    if (number < 0) return -1;
    throw cannot(`Values in the index key pattern cannot be 0. ${showValue(key)}`);
  }
  if (typeof value === 'string' && KINDS.includes(value)) return value as IndexKey['kind'];
  if (typeof value === 'string') throw cannot(`Unknown index plugin '${value}'`);
  throw cannot(
    `Values in v:2 index key pattern cannot be of type ${typeName(typeOf(value))}. Only numbers > 0, numbers < 0, and strings are allowed.`,
  );
}

function readName(given: Document): string {
  const name = given.get('name');
  if (name === undefined) throw lacking('name', given);
  if (typeof name !== 'string' || name === '') {
    throw cannot('The index name must be a string that is not empty');
  }
  if (name !== '*') return name;
  throw mongoFailure('BadValue', "The index name '*' is not valid.");
}

function lacking(field: string, given: Document): MongoError {
  return mongoFailure(
    'FailedToParse',
    `Error in specification ${showValue(given)} :: caused by :: The '${field}' field is a required property of an index specification`,
  );
}

function idIndex(given: Document): IndexSpec {
  for (const option of ['expireAfterSeconds', 'sparse', 'partialFilterExpression', 'hidden']) {
    if (!given.has(option)) continue;
    throw mongoFailure(
      'InvalidIndexSpecificationOption',
      `The field '${option}' is not valid for an _id index specification. Specification: ${showValue(given)}`,
    );
  }
  return {
    name: ID_INDEX,
    spec: '',
    keys: [{ path: '_id', kind: 1 }],
    unique: false,
    sparse: false,
  };
}

function readSeconds(given: Document, keys: readonly IndexKey[]): number | undefined {
  const value = given.get('expireAfterSeconds');
  if (value === undefined) return undefined;
  const [first] = keys;
  if (keys.length > 1) {
    throw cannot(
      `TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: ${showValue(given)}`,
    );
  }
  if (first && (isWildcard(first.path) || typeof first.kind === 'string')) {
    throw cannot(
      `Index type '${first.kind}' does not support TTL. Index spec: ${showValue(given)}`,
    );
  }
  if (!isNumber(value)) {
    const type = typeName(typeOf(value));
    throw cannot(
      `TTL index 'expireAfterSeconds' option must be numeric, but received a type of '${type}'. Index spec: ${showValue(given)}`,
    );
  }
  return checkSeconds(toDouble(value), first?.path === WRITTEN_FIELD, given);
}

function readPartial(given: Document, sparse: boolean): Document | undefined {
  const partial = asDocument(
    given.get('partialFilterExpression'),
    'createIndexes.indexes.partialFilterExpression',
  );
  if (!partial) return undefined;
  if (sparse) throw cannot('cannot mix "partialFilterExpression" and "sparse" options');
  const { tree } = compileFilter(partial, PLAIN_LANGUAGE);
  if (isAllowedInPartial(tree)) return partial;
  throw cannot(`Expression not supported in partial index: ${showValue(partial)}`);
}

const IN_PARTIAL: readonly string[] = [
  '$eq',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$type',
  '$in',
  '$exists',
];

function isAllowedInPartial(node: Node): boolean {
  if (node.kind === 'and' || node.kind === 'or') return node.of.every(isAllowedInPartial);
  return node.kind === 'field' && IN_PARTIAL.includes(node.operator);
}

/** A setting that would not act is refused. */
function checkKinds(given: Document, keys: readonly IndexKey[], unique: boolean): void {
  const special = keys.find(({ kind, path }) => typeof kind === 'string' || isWildcard(path));
  if (unique && special) {
    throw cannot(`Index type '${special.kind}' does not support the unique option`);
  }
  if (unique && isDocument(given.get('collation'))) {
    throw cannot('A unique index with a collation is not supported by this version of Mayfly');
  }
  if (keys.some(({ path }) => path === WRITTEN_FIELD) && !given.has('expireAfterSeconds')) {
    throw cannot("'_ts' is a system property: an index over it needs 'expireAfterSeconds'");
  }
}

function cannot(text: string): MongoError {
  return mongoFailure('CannotCreateIndex', text);
}

function readBack(spec: string): Document {
  return decodeDocument(Buffer.from(spec, 'base64'));
}
