// Vector indexes: each speeds up the search over one property of the vector embedding policy.
import {
  asArray,
  asChoice,
  asList,
  asObject,
  choose,
  clip,
  type Fields,
  field,
  firstRepeated,
  isInteger,
  present,
  refuse,
  refuseUnknown,
  sameForm,
  shown,
} from './fields.js';
import { asPropertyPath } from './property-path.js';
import { findEmbedding, type VectorEmbeddingPolicy, vectorPathKey } from './vector-embedding.js';

export type VectorIndexType = 'flat' | 'quantizedFlat' | 'diskANN';
export interface VectorIndex {
  readonly path: string;
  readonly type: VectorIndexType;
  readonly quantizerType?: 'product' | 'spherical';
  readonly quantizationByteSize?: number;
  readonly indexingSearchListSize?: number;
  readonly vectorIndexShardKey?: readonly string[];
}

const WHERE = 'indexingPolicy.vectorIndexes';
const TYPES = ['flat', 'quantizedFlat', 'diskANN'] as const;
const QUANTIZERS = ['product', 'spherical'] as const;
const FLAT_DIMENSIONS_MAX = 505;
const QUANTIZATION_BYTES_MAX = 512;
const SEARCH_LIST_MIN = 25;
const SEARCH_LIST_MAX = 500;

export function readVectorIndexes(
  value: unknown,
  policy: VectorEmbeddingPolicy | undefined,
): readonly VectorIndex[] {
  const entries = asList(value, WHERE);
  const indexes = entries.map((entry, at) => readIndex(entry, `${WHERE}[${at}]`, policy));
  const repeated = firstRepeated(indexes, ({ path }) => vectorPathKey(path));
  if (repeated === undefined) return indexes;
  throw refuse(`Duplicate Path :${clip(repeated.path)} found in Vector Indexing Policy.`);
}

/** Building another index in place of one is not an edit: it is dropped first and added later. */
export function checkVectorIndexesKept(
  next: readonly VectorIndex[],
  current: readonly VectorIndex[],
): void {
  for (const index of next) {
    const before = current.find(({ path }) => vectorPathKey(path) === vectorPathKey(index.path));
    if (before === undefined || sameForm(before, index)) continue;
    throw refuse(
      'Paths in existing vector indexing policy cannot be modified in Collection Replace. ' +
        `They can only be added or removed. Modified: '${clip(index.path)}'.`,
    );
  }
}

function readIndex(
  value: unknown,
  where: string,
  policy: VectorEmbeddingPolicy | undefined,
): VectorIndex {
  const fields = asObject(value, where);
  const path = field(fields, 'path');
  asPropertyPath(path, `${where}.path`);
  const type = readType(field(fields, 'type'));
  const dimensions = findEmbedding(policy, path as string)?.dimensions;
  if (dimensions === undefined) {
    throw refuse(
      `Vector Indexing Policy's path::${clip(path as string)} not matching in Embedding's path.`,
    );
  }
  if (type === 'flat' && dimensions > FLAT_DIMENSIONS_MAX) {
    throw refuse(
      `The vector index on '${clip(path as string)}' is of type flat, which takes at most ` +
        `${FLAT_DIMENSIONS_MAX} dimensions; its embedding has ${dimensions}.`,
    );
  }
  const tuning = readTuning(fields, where, type, dimensions);
  refuseUnknown(fields, where, ['path', 'type', ...Object.keys(tuning)]);
  return present({ path: path as string, type, ...tuning });
}

function readType(value: unknown): VectorIndexType {
  const type = choose(value, TYPES);
  if (type !== undefined) return type;
  const word = typeof value === 'string' ? clip(value) : shown(value);
  throw refuse(`The Vector Indexing Policy's Index Type::${word} is invalid. Known: ${TYPES}.`);
}

function readTuning(fields: Fields, where: string, type: VectorIndexType, dimensions: number) {
  const bytesMax = Math.min(dimensions, QUANTIZATION_BYTES_MAX);
  const tuning = {
    quantizerType: readQuantizer(field(fields, 'quantizerType'), where),
    quantizationByteSize: readSize(fields, 'quantizationByteSize', 1, bytesMax),
    indexingSearchListSize: readSize(
      fields,
      'indexingSearchListSize',
      SEARCH_LIST_MIN,
      SEARCH_LIST_MAX,
    ),
    vectorIndexShardKey: readShardKey(field(fields, 'vectorIndexShardKey'), where),
  };
  for (const [name, given] of Object.entries(tuning)) {
    const forType = name === 'indexingSearchListSize' ? type === 'diskANN' : type !== 'flat';
    if (given === undefined || forType) continue;
    throw refuse(`'${where}.${name}' has no meaning for a vector index of type ${type}.`);
  }
  return tuning;
}

function readQuantizer(value: unknown, where: string) {
  return value === undefined ? undefined : asChoice(value, `${where}.quantizerType`, QUANTIZERS);
}

function readSize(fields: Fields, name: string, min: number, max: number): number | undefined {
  const value = field(fields, name);
  if (value === undefined || isInteger(value, min, max)) return value;
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  throw refuse(
    `${title} value :: ${shown(value)} is out of range. ` +
      `The allowed range is between ${min} and ${max}.`,
  );
}

function readShardKey(value: unknown, where: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const entries = asArray(value, `${where}.vectorIndexShardKey`);
  entries.forEach((entry, at) => {
    asPropertyPath(entry, `${where}.vectorIndexShardKey[${at}]`);
  });
  return entries.length === 0 ? undefined : (entries as readonly string[]);
}
