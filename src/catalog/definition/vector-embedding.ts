// The vector embedding policy: which properties hold vectors, of what shape, measured how.
import {
  asArray,
  asObject,
  choose,
  clip,
  field,
  firstRepeated,
  isInteger,
  refuse,
  refuseUnknown,
  sameForm,
  shown,
} from './fields.js';
import { asPropertyPath, propertyPathKey } from './property-path.js';

export interface VectorEmbedding {
  readonly path: string;
  readonly dataType: 'float32' | 'float16' | 'int8' | 'uint8';
  readonly dimensions: number;
  readonly distanceFunction: 'cosine' | 'dotproduct' | 'euclidean';
}
export interface VectorEmbeddingPolicy {
  readonly vectorEmbeddings: readonly VectorEmbedding[];
}

export const DIMENSIONS_MAX = 4096;
const DATA_TYPES = ['float32', 'float16', 'int8', 'uint8'] as const;
const DISTANCE_FUNCTIONS = ['cosine', 'dotproduct', 'euclidean'] as const;

export function readVectorEmbeddings(value: unknown): VectorEmbeddingPolicy | undefined {
  if (value === undefined) return undefined;
  const fields = asObject(value, 'vectorEmbeddingPolicy');
  const where = 'vectorEmbeddingPolicy.vectorEmbeddings';
  const entries = asArray(field(fields, 'vectorEmbeddings'), where);
  const vectorEmbeddings = entries.map((entry, at) => readEmbedding(entry, `${where}[${at}]`));
  refuseUnknown(fields, 'vectorEmbeddingPolicy', ['vectorEmbeddings']);
  const repeated = firstRepeated(vectorEmbeddings, ({ path }) => vectorPathKey(path));
  if (repeated !== undefined) {
    throw refuse(`Duplicate Path :${clip(repeated.path)} found in Vector Embedding Policy.`);
  }
  return vectorEmbeddings.length === 0 ? undefined : { vectorEmbeddings };
}

/** A replacement may add embeddings. Those that exist stay as they are, said again or not. */
export function keepVectorEmbeddings(
  value: unknown,
  current: VectorEmbeddingPolicy | undefined,
): VectorEmbeddingPolicy | undefined {
  if (value === undefined) return current;
  const given = readVectorEmbeddings(value);
  for (const embedding of current?.vectorEmbeddings ?? []) {
    if (sameForm(findEmbedding(given, embedding.path), embedding)) continue;
    throw refuse(
      'Vector Embedding Policy cannot be changed in Collection Replace. The embedding on ' +
        `'${clip(embedding.path)}' must be repeated unchanged; embeddings can only be added.`,
    );
  }
  return given;
}

export function findEmbedding(
  policy: VectorEmbeddingPolicy | undefined,
  path: string,
): VectorEmbedding | undefined {
  const key = vectorPathKey(path);
  return policy?.vectorEmbeddings.find((embedding) => vectorPathKey(embedding.path) === key);
}

export function vectorPathKey(path: string): string {
  return propertyPathKey(asPropertyPath(path, 'path'));
}

function readEmbedding(value: unknown, where: string): VectorEmbedding {
  const fields = asObject(value, where);
  const path = field(fields, 'path');
  asPropertyPath(path, `${where}.path`);
  const type = field(fields, 'dataType');
  const dataType = choose(type, DATA_TYPES);
  if (dataType === undefined) throw badWord('DataType', type, DATA_TYPES);
  const dimensions = readDimensions(field(fields, 'dimensions'));
  const distance = field(fields, 'distanceFunction');
  const distanceFunction = choose(distance, DISTANCE_FUNCTIONS);
  if (distanceFunction === undefined) {
    throw badWord('DistanceFunction', distance, DISTANCE_FUNCTIONS);
  }
  refuseUnknown(fields, where, ['path', 'dataType', 'dimensions', 'distanceFunction']);
  return { path: path as string, dataType, dimensions, distanceFunction };
}

function readDimensions(value: unknown): number {
  if (isInteger(value, 1, DIMENSIONS_MAX)) return value;
  const start = `The Vector Embedding Policy has Dimensions:${shown(value)} which is`;
  if (typeof value === 'number' && value > DIMENSIONS_MAX) {
    throw refuse(`${start} more than the maximum supported value ${DIMENSIONS_MAX}.`);
  }
  throw refuse(`${start} not a positive integer.`);
}

function badWord(what: string, value: unknown, all: readonly string[]) {
  const word = typeof value === 'string' ? clip(value) : shown(value);
  return refuse(
    `The Vector Embedding Policy has an invalid ${what}:${word}. Known: ${all.join(', ')}.`,
  );
}
