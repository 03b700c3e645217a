// The indexing policy of a container: which paths are indexed, when, and the special indexes.
import { type CompositeIndex, readCompositeIndexes } from './composite-index.js';
import {
  asBoolean,
  asChoice,
  asList,
  asNumber,
  asObject,
  clip,
  type Fields,
  field,
  firstRepeated,
  LIST_ENTRIES_MAX,
  present,
  refuse,
  refuseUnknown,
} from './fields.js';
import { type FullTextIndex, type FullTextPolicy, readFullTextIndexes } from './full-text.js';
import { asIndexPath, type IndexPath, indexPathKey, isRoot } from './index-path.js';
import { type GeospatialType, readSpatialIndexes, type SpatialIndex } from './spatial-index.js';
import type { VectorEmbeddingPolicy } from './vector-embedding.js';
import { readVectorIndexes, type VectorIndex } from './vector-index.js';

export type IndexingMode = 'consistent' | 'lazy' | 'none';
export interface IndexedPath {
  readonly path: string;
}
export interface IndexingPolicy {
  readonly indexingMode: IndexingMode;
  readonly automatic: boolean;
  readonly includedPaths: readonly IndexedPath[];
  readonly excludedPaths: readonly IndexedPath[];
  readonly compositeIndexes?: readonly CompositeIndex[];
  readonly spatialIndexes?: readonly SpatialIndex[];
  readonly vectorIndexes?: readonly VectorIndex[];
  readonly fullTextIndexes?: readonly FullTextIndex[];
}
/** The other parts of the definition that the special indexes must agree with. */
export interface IndexingContext {
  readonly geospatial: GeospatialType;
  readonly vectors: VectorEmbeddingPolicy | undefined;
  readonly fullText: FullTextPolicy | undefined;
}

const MODES = ['consistent', 'lazy', 'none'] as const;
const INDEX_KINDS = ['Range', 'Hash', 'Spatial'] as const;
const DATA_TYPES = ['Number', 'String', 'Point', 'LineString', 'Polygon', 'MultiPolygon'] as const;
const ROOT: IndexedPath = { path: '/*' };
const ETAG: IndexedPath = { path: '/"_etag"/?' };
const ETAG_KEY = pathKey(ETAG);

export function readIndexingPolicy(value: unknown, context: IndexingContext): IndexingPolicy {
  const fields = asObject(value ?? {}, 'indexingPolicy');
  const mode = field(fields, 'indexingMode') ?? 'consistent';
  const indexingMode = asChoice(mode, 'indexingPolicy.indexingMode', MODES);
  const automatic = readAutomatic(field(fields, 'automatic'), indexingMode);
  const paths = readPathSets(fields);
  const special = readSpecial(fields, context);
  refuseUnknown(fields, 'indexingPolicy', [
    'indexingMode',
    'automatic',
    'includedPaths',
    'excludedPaths',
    ...Object.keys(special),
  ]);
  if (indexingMode !== 'none') {
    return present({ indexingMode, automatic, ...complete(paths), ...special });
  }
  refuseSpecial(special);
  return { indexingMode, automatic, includedPaths: [], excludedPaths: [] };
}

function readAutomatic(value: unknown, mode: IndexingMode): boolean {
  if (value === undefined) return mode !== 'none';
  const automatic = asBoolean(value, 'indexingPolicy.automatic');
  if (automatic === (mode !== 'none')) return automatic;
  throw refuse(
    automatic
      ? "'indexingPolicy.automatic' cannot be true when 'indexingPolicy.indexingMode' is 'none'."
      : "'indexingPolicy.automatic' cannot be false: every item is indexed, so that an index never " +
          "changes what a query finds. For no index the 'indexingPolicy.indexingMode' is 'none'.",
  );
}

interface PathSets {
  readonly includedPaths: readonly IndexedPath[];
  readonly excludedPaths: readonly IndexedPath[];
}

function readPathSets(fields: Fields): PathSets {
  const includedPaths = readPaths(fields, 'includedPaths');
  const excludedPaths = readPaths(fields, 'excludedPaths');
  const repeated = firstRepeated([...includedPaths, ...excludedPaths], pathKey);
  if (repeated === undefined) return { includedPaths, excludedPaths };
  throw refuse(
    `The indexing path '${clip(repeated.path)}' is given twice; a path is either in ` +
      "'indexingPolicy.includedPaths' or in 'indexingPolicy.excludedPaths', once.",
  );
}

/** The path that we add ourselves does not count against the limit. */
function readPaths(fields: Fields, name: keyof PathSets): readonly IndexedPath[] {
  const where = `indexingPolicy.${name}`;
  const entries = asList(field(fields, name), where, LIST_ENTRIES_MAX + 1);
  const paths = entries.map((entry, at) => readPath(entry, `${where}[${at}]`));
  const counted = paths.filter((path) => pathKey(path) !== ETAG_KEY).length;
  if (counted <= LIST_ENTRIES_MAX) return paths;
  throw refuse(`'${where}' has ${counted} entries; the maximum is ${LIST_ENTRIES_MAX}.`);
}

function readPath(value: unknown, where: string): IndexedPath {
  const fields = asObject(value, where);
  const path = field(fields, 'path');
  asIndexPath(path, `${where}.path`);
  checkLegacyIndexes(field(fields, 'indexes'), `${where}.indexes`);
  refuseUnknown(fields, where, ['path', 'indexes']);
  return { path: path as string };
}

/** Old clients choose kinds and precisions. Every index serves every query now: dropped. */
function checkLegacyIndexes(value: unknown, where: string): void {
  asList(value, where).forEach((entry, at) => {
    const fields = asObject(entry, `${where}[${at}]`);
    asChoice(field(fields, 'kind'), `${where}[${at}].kind`, INDEX_KINDS);
    asChoice(field(fields, 'dataType'), `${where}[${at}].dataType`, DATA_TYPES);
    asNumber(field(fields, 'precision') ?? -1, `${where}[${at}].precision`);
    refuseUnknown(fields, `${where}[${at}]`, ['kind', 'dataType', 'precision']);
  });
}

function complete({ includedPaths, excludedPaths }: PathSets): PathSets {
  if (includedPaths.length === 0 && excludedPaths.length === 0) {
    return { includedPaths: [ROOT], excludedPaths: [ETAG] };
  }
  const all = [...includedPaths, ...excludedPaths];
  if (!all.some((path) => isRoot(parsed(path)))) {
    throw refuse(
      'The special mandatory indexing path "/" is not provided in any of the path type sets. ' +
        'Please provide this path in one of the sets.',
    );
  }
  // The etag changes with every write, so it is indexed only for those who ask for exactly that.
  const settled = all.some((path) => pathKey(path) === ETAG_KEY);
  return { includedPaths, excludedPaths: settled ? excludedPaths : [...excludedPaths, ETAG] };
}

function readSpecial(fields: Fields, context: IndexingContext) {
  const composite = readCompositeIndexes(field(fields, 'compositeIndexes'));
  const spatial = readSpatialIndexes(field(fields, 'spatialIndexes'), context.geospatial);
  const vector = readVectorIndexes(field(fields, 'vectorIndexes'), context.vectors);
  const fullText = readFullTextIndexes(field(fields, 'fullTextIndexes'), context.fullText);
  return {
    compositeIndexes: composite.length > 0 ? composite : undefined,
    spatialIndexes: spatial.length > 0 ? spatial : undefined,
    vectorIndexes: vector.length > 0 ? vector : undefined,
    fullTextIndexes: fullText.length > 0 ? fullText : undefined,
  };
}

/** Mode none empties the path lists, as in the service; an index asked for by name is refused. */
function refuseSpecial(special: object): void {
  const [name] = Object.keys(present(special));
  if (name === undefined) return;
  throw refuse(`'indexingPolicy.${name}' must be empty when the indexing mode is 'none'.`);
}

function pathKey(path: IndexedPath): string {
  return indexPathKey(parsed(path));
}

function parsed({ path }: IndexedPath): IndexPath {
  return asIndexPath(path, 'path');
}
