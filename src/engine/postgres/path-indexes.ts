// Indexes over paths, in the one order of values: which of them a container has, and which of them
// a question is put in terms of. Nothing goes wrong where one is missing, it only takes longer.
import { createHash } from 'node:crypto';
import type { Container, OrderBy, ScanRequest, SimpleFilter } from '../engine.js';
import {
  type CompositeIndex,
  firstAscending,
  type Indexing,
  type IndexPath,
  isIndexed,
  namedPaths,
  samePath,
  showPath,
} from '../indexing.js';
import { conjunctsOf } from './filter.js';
import type { Schema } from './schema.js';
import { lengthMaxOf, sortTextSql } from './sort-text.js';
import { join, named, quoted, raw, type Sql, sql } from './sql.js';

/** By path, as `showPath` has it: how many characters of its texts are indexed. */
export type Lengths = ReadonlyMap<string, number>;

/** What a policy asks for beyond these is answered by the index over all values, or by a scan. */
const DECLARED_MAX = 64;

/** Those that the policy names, one by one. */
export function declaredIndexes({ indexing }: Container): readonly CompositeIndex[] {
  const known = declared.get(indexing);
  if (known) return known;
  const singles = namedPaths(indexing).map((path) => [{ path, descending: false }]);
  const wanted = new Map<string, CompositeIndex>();
  for (const index of [...indexing.composites.map(firstAscending), ...singles]) {
    if (index.length > 0 && index.every(({ path }) => isPlain(path)))
      wanted.set(JSON.stringify(index), index);
  }
  const kept = [...wanted.values()].slice(0, DECLARED_MAX);
  declared.set(indexing, kept);
  return kept;
}

const declared = new WeakMap<Indexing, readonly CompositeIndex[]>();

/** Whether the index over all values is of use: where everything below a path is indexed. */
export function needsValues({ indexing }: Container): boolean {
  return indexing.rules.some(
    ({ path, below, include }) =>
      include && (path.includes(null) || (below && !ALWAYS.includes(showPath(path)))),
  );
}

/** Indexed whatever the policy says, and not asked for by their values often. */
const ALWAYS: readonly string[] = ['/id', '/_ts'];

/** No element of an array, of which an item has several. */
export function isPlain(path: IndexPath): boolean {
  return path.length > 0 && !path.includes(null);
}

export function mayBeIndexed({ indexing }: Container, path: IndexPath): boolean {
  return isPlain(path) && isIndexed(indexing, path);
}

export function isStillWanted(container: Container, index: CompositeIndex): boolean {
  const [first, ...more] = index;
  if (first && more.length === 0) return mayBeIndexed(container, first.path);
  return declaredIndexes(container).some((each) => JSON.stringify(each) === JSON.stringify(index));
}

export function indexName(schema: Schema, id: string, index: CompositeIndex): string {
  const hash = createHash('sha256').update(JSON.stringify(index)).digest('hex').slice(0, 12);
  return `${indexPrefix(schema, id)}${hash}`;
}

export function indexPrefix(schema: Schema, id: string): string {
  return `${schema.of(id).names.items}_o`;
}

/** The index, and in its comment what it is over, by which it is found again. */
export function createIndexSql(
  schema: Schema,
  id: string,
  index: CompositeIndex,
  how: 'at once' | 'beside writers',
): readonly Sql[] {
  const name = indexName(schema, id, index);
  const lengthMax = lengthMaxOf(index.length);
  const keys = index.map(
    ({ path, descending }) =>
      sql`(${sortTextSql(path, lengthMax, raw('x'))})${raw(descending ? ' desc' : '')}`,
  );
  const beside = raw(how === 'at once' ? '' : 'concurrently');
  return [
    sql`create index ${beside} if not exists ${raw(named(name))} on ${schema.of(id).items}
      (bucket, ${join(keys, ', ')}, serial)`,
    sql`comment on index ${schema.table(name)} is ${quoted(JSON.stringify(index))}`,
  ];
}

/** What of a request is put in terms of which index: its conditions by path, and its order. */
export function lengthsFor(
  indexes: readonly CompositeIndex[],
  { filter, order }: Pick<ScanRequest, 'filter' | 'order'>,
): { readonly lengths: Lengths; readonly orderLength: number } {
  const lengths = new Map<string, number>();
  for (const index of indexes) {
    const [first, ...more] = index;
    if (first && more.length === 0) lengths.set(showPath(first.path), lengthMaxOf(1));
  }
  const serving = order.length > 1 ? undefined : longestFor(indexes, conjunctsOf(filter), order[0]);
  const orderLength = lengthMaxOf(Math.max(1, serving?.index.length ?? order.length));
  const several = order.length > 1 ? order : (serving?.index.slice(0, serving.used) ?? []);
  for (const { path } of several) lengths.set(showPath(path), orderLength);
  return { lengths, orderLength };
}

/** Of several paths, the first of which must equal something; then the order, or a range. */
function longestFor(
  indexes: readonly CompositeIndex[],
  conjuncts: readonly SimpleFilter[],
  ordered: OrderBy | undefined,
): { readonly index: CompositeIndex; readonly used: number } | undefined {
  let longest: { readonly index: CompositeIndex; readonly used: number } | undefined;
  for (const index of indexes) {
    const has = (path: IndexPath, ops: readonly string[]) =>
      conjuncts.some((each) => ops.includes(each.op) && samePath(each.path, path));
    const other = index.findIndex(({ path }) => !has(path, ['=']));
    const equal = other < 0 ? index.length : other;
    const next = index[equal]?.path;
    const goesOn =
      next !== undefined && (ordered ? samePath(next, ordered.path) : has(next, RANGES));
    const used = equal + (goesOn ? 1 : 0);
    const isOfUse = equal > 0 && used > 1 && (!ordered || goesOn);
    if (isOfUse && used > (longest?.used ?? 0)) longest = { index, used };
  }
  return longest;
}

const RANGES = ['<', '<=', '>', '>=', 'prefix', 'in'];
