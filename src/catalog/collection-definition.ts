// The definition of a collection of the API for MongoDB, as the catalog keeps it: BSON parts are
// base64, because the catalog is JSON. And the container that an engine makes of it.
import type { Container, IndexDef } from '../engine/engine.js';
import type { CompositeIndex, IndexPath, IndexRule } from '../engine/indexing.js';
import { type CollectionTtl, collectionRules } from '../time/expiry.js';

/** The index that every collection has. */
export const ID_INDEX = '_id_';

export interface CollectionDefinition {
  readonly id: string;
  readonly uuid: string;
  /** The options of `create`, as BSON. */
  readonly options: string;
  /** Without the one over `_id`, which every collection has. */
  readonly indexes: readonly CollectionIndex[];
  /** Counts the indexes ever made: their numbers are never given twice. */
  readonly indexesMade: number;
  /** The paths of fields that decide where a document is kept; none: all in one place. */
  readonly shardKey: readonly string[];
  /** The name of what a view is of; collections have none. */
  readonly view?: string;
  /** Whether its versions are kept, for change streams. */
  readonly watched?: boolean;
  /** Since when; absent where that was so from the beginning. */
  readonly watchedSince?: number;
}
export interface CollectionIndex {
  readonly number: number;
  readonly name: string;
  /** As it is listed, in BSON. */
  readonly spec: string;
  readonly keys: readonly IndexKey[];
  readonly unique: boolean;
  readonly sparse: boolean;
  /** Kept and not used by queries. */
  readonly hidden?: boolean;
  /** A filter in BSON: documents that do not match it are not in the index. */
  readonly partial?: string;
  readonly expireAfterSeconds?: number;
}
export interface IndexKey {
  /** `a.b`, or `$**`. */
  readonly path: string;
  readonly kind: 1 | -1 | 'hashed' | 'text' | '2dsphere' | '2d';
}

/** T29: over this field an index is no index, but the collection's time to live. */
export const WRITTEN_FIELD = '_ts';

export function isTtlOfCollection(index: CollectionIndex): boolean {
  return index.expireAfterSeconds !== undefined && index.keys[0]?.path === WRITTEN_FIELD;
}

/** What decides when documents die, as rules: see time/expiry.ts. */
export function collectionTtl(
  definition: CollectionDefinition,
  documentTtl: boolean,
): CollectionTtl {
  const ofCollection = definition.indexes.find(isTtlOfCollection);
  const dates = definition.indexes.filter(
    (index) => index.expireAfterSeconds !== undefined && !isTtlOfCollection(index),
  );
  return {
    defaultTtl: ofCollection?.expireAfterSeconds,
    documentTtl,
    dates: dates.map(({ number, expireAfterSeconds = 0 }) => ({
      rule: dateRule(number),
      seconds: expireAfterSeconds,
    })),
  };
}

export const dateRule = (index: number): string => `date-${index}`;
export const uniqueName = (index: number): string => `unique-${index}`;

export function collectionContainer(
  id: string,
  definition: CollectionDefinition,
  indexVersion: number,
  documentTtl: boolean,
): Container {
  return {
    id,
    partitionPaths: [['$shard']],
    partitionHash: 'v2',
    indexes: definition.indexes.filter(({ unique }) => unique).map(uniqueIndex),
    indexing: {
      version: indexVersion,
      rules: [ID_RULE, ...definition.indexes.flatMap(rulesOf)],
      composites: definition.indexes.flatMap(compositeOf),
      words: [],
      points: [],
      lazy: false,
    },
    expiry: collectionRules(collectionTtl(definition, documentTtl)),
    ...(definition.watched ? { retentionMs: VERSIONS_MS } : {}),
  };
}

/** The paths of a field in the image of a document: through no array, then through arrays. */
export function imagePaths(path: string): readonly IndexPath[] {
  const names = path.split('.');
  if (names.length > PATH_NAMES_MAX || names.some(isPosition)) return [];
  let paths: IndexPath[] = [['d']];
  for (const name of names) {
    paths = paths.flatMap((start) => [
      [...start, name],
      [...start, name, null],
    ]);
  }
  return paths;
}

/** Through no array at all. */
export function plainPath(path: string): IndexPath {
  return ['d', ...path.split('.')];
}

/** Where the image says that an array is empty. */
export function emptyPath(path: string): IndexPath {
  return ['e', path];
}

/** How long a change stream may stay away and still go on. */
const VERSIONS_MS = 24 * 3_600_000;
/** Each name may be an array or not, so a path of six names has 64 forms. */
const PATH_NAMES_MAX = 6;
const ID_RULE: IndexRule = { path: ['id'], below: true, include: true };

/** It may be a name or a place in an array, so the index does not know where to look. */
function isPosition(name: string): boolean {
  return /^\d+$/.test(name);
}

function uniqueIndex({ number }: CollectionIndex): IndexDef {
  const name = uniqueName(number);
  return { name, paths: [{ path: ['u', name], descending: false }], unique: true, listed: true };
}

function rulesOf({ keys }: CollectionIndex): readonly IndexRule[] {
  return keys
    .filter(({ path, kind }) => isOrdered(kind) && path !== WRITTEN_FIELD && path !== '_id')
    .flatMap(({ path }) => (isWildcard(path) ? wildcardRules(path) : fieldRules(path)));
}

function fieldRules(path: string): readonly IndexRule[] {
  return [
    ...indexedPaths(path).map((each) => ({ path: each, below: false, include: true })),
    ...(imagePaths(path).length > 0 ? [emptyRule(path)] : []),
  ];
}

export function isWildcard(path: string): boolean {
  return path === '$**' || path.endsWith('.$**');
}

/** What a wildcard stands below; empty for all of the document. */
export function wildcardStart(path: string): string {
  return path.slice(0, -'.$**'.length);
}

/** Everything below a field, and what tells whether there are arrays on the way to it. */
function wildcardRules(path: string): readonly IndexRule[] {
  const start = wildcardStart(path);
  if (start === '') return [{ path: ['d'], below: true, include: true }];
  return indexedPaths(start)
    .filter((each) => each.at(-1) !== null)
    .map((each) => ({
      path: each,
      below: namesOf(each) === namesOf(plainPath(start)),
      include: true,
    }));
}

function namesOf(path: IndexPath): number {
  return path.filter((step) => step !== null).length;
}

/** Which documents have an empty array there; for those that have none nothing is noted. */
function emptyRule(path: string): IndexRule {
  return { path: emptyPath(path), below: true, include: true };
}

/** Those of the field, and those on the way to it, which tell whether there are arrays. */
function indexedPaths(path: string): readonly IndexPath[] {
  const forms = imagePaths(path);
  if (forms.length === 0) return [];
  const names = path.split('.');
  const above = names.slice(0, -1).map((_, at) => plainPath(names.slice(0, at + 1).join('.')));
  return [...above, ...forms];
}

function isOrdered(kind: IndexKey['kind']): boolean {
  return kind === 1 || kind === -1 || kind === 'hashed';
}

const COMPOSITE_PATHS_MAX = 8;

function compositeOf({ keys }: CollectionIndex): readonly CompositeIndex[] {
  if (keys.length < 2 || keys.length > COMPOSITE_PATHS_MAX) return [];
  if (keys.some(({ path }) => isWildcard(path))) return [];
  if (!keys.every(({ path, kind }) => (kind === 1 || kind === -1) && imagePaths(path).length > 0)) {
    return [];
  }
  return [
    keys.map(({ path, kind }) => ({
      path: path === '_id' ? ['id'] : plainPath(path),
      descending: kind === -1,
    })),
  ];
}
