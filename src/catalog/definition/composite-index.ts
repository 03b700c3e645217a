// Composite indexes: several properties indexed together, each in its own order, for ORDER BY.
import {
  asArray,
  asChoice,
  asList,
  asObject,
  clip,
  field,
  firstRepeated,
  refuse,
  refuseUnknown,
} from './fields.js';
import { asPropertyPath, propertyPathKey } from './property-path.js';

export interface CompositePath {
  readonly path: string;
  readonly order: 'ascending' | 'descending';
}
export type CompositeIndex = readonly CompositePath[];

const INDEXES_MAX = 100;
const PATHS_MIN = 2;
const PATHS_MAX = 8;
const ORDERS = ['ascending', 'descending'] as const;

export function readCompositeIndexes(value: unknown): readonly CompositeIndex[] {
  const where = 'indexingPolicy.compositeIndexes';
  const entries = asList(value, where, INDEXES_MAX);
  const indexes = entries.map((entry, index) => readIndex(entry, `${where}[${index}]`));
  const repeated = firstRepeated(indexes, indexKey);
  if (repeated === undefined) return indexes;
  const paths = repeated.map(({ path, order }) => `${path} ${order}`).join(', ');
  throw refuse(`The composite index of ${clip(paths)} appears twice in '${where}'.`);
}

function readIndex(value: unknown, where: string): CompositeIndex {
  const entries = asArray(value, where, PATHS_MAX);
  if (entries.length < PATHS_MIN) {
    throw refuse(`'${where}' has ${entries.length} paths; a composite index has at least 2.`);
  }
  const index = entries.map((entry, at) => readPath(entry, `${where}[${at}]`));
  const repeated = firstRepeated(index, ({ path }) => pathKey(path));
  if (repeated === undefined) return index;
  throw refuse(`The path '${clip(repeated.path)}' appears twice in '${where}'.`);
}

function readPath(value: unknown, where: string): CompositePath {
  const fields = asObject(value, where);
  const path = field(fields, 'path');
  asPropertyPath(path, `${where}.path`);
  const order = field(fields, 'order') ?? 'ascending';
  refuseUnknown(fields, where, ['path', 'order']);
  return { path: path as string, order: asChoice(order, `${where}.order`, ORDERS) };
}

function indexKey(index: CompositeIndex): string {
  return index.map(({ path, order }) => `${pathKey(path)} ${order}`).join();
}

function pathKey(path: string): string {
  return propertyPathKey(asPropertyPath(path, 'path'));
}
