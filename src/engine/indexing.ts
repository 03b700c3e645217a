// Which paths of a container are indexed: rules over paths, the most precise one decides. And what
// is indexed of a value, which is what ORDER BY goes by, with an index or without.
import { boundKey, encodeValue } from '../value/key.js';

/** Names of properties; null stands for any element of an array. */
export type IndexPath = readonly (string | null)[];

export interface Indexing {
  /** Grows with every change of the rules; entries of an older version are of no use. */
  readonly version: number;
  readonly rules: readonly IndexRule[];
  /** Orders over several paths that are kept ready. */
  readonly composites: readonly CompositeIndex[];
  /** Paths of texts that are searched for words, and of points that are searched for by place. */
  readonly words: readonly IndexPath[];
  readonly points: readonly IndexPath[];
  /** Whether entries are made behind the writes, and not with them. */
  readonly lazy: boolean;
}
/** Its paths and their directions; of a single path it is an index over that path alone. */
export type CompositeIndex = readonly {
  readonly path: IndexPath;
  readonly descending: boolean;
}[];
/** A rule for one path, or with `below` for everything beneath it as well. */
export interface IndexRule {
  readonly path: IndexPath;
  readonly below: boolean;
  readonly include: boolean;
}

export const NOT_INDEXED: Indexing = {
  version: 0,
  rules: [],
  composites: [],
  words: [],
  points: [],
  lazy: false,
};

/** One level of the rules, so that a document is walked along with them. */
export interface RuleNode {
  readonly children: ReadonlyMap<string | null, RuleNode>;
  /** For a value right here. */
  readonly here: boolean | undefined;
  /** For a value here or below, unless a deeper rule says otherwise. */
  readonly below: boolean | undefined;
}

const trees = new WeakMap<Indexing, RuleNode>();

export function ruleTree(indexing: Indexing): RuleNode {
  const known = trees.get(indexing);
  if (known) return known;
  const tree = makeTree(indexing.rules);
  trees.set(indexing, tree);
  return tree;
}

/** Deeper beats shallower; at the same depth the path itself beats everything below it. */
export function isIndexed(indexing: Indexing, path: IndexPath): boolean {
  let node: RuleNode | undefined = ruleTree(indexing);
  let inherited = node.below ?? false;
  for (const step of path) {
    node = node?.children.get(step);
    inherited = node?.below ?? inherited;
  }
  return node?.here ?? inherited;
}

/**
 * Paths that are included by name: for these an index also knows the items that lack the property,
 * so ORDER BY returns them; elsewhere it leaves them out, as the service documents it.
 */
export function namedPaths(indexing: Indexing): readonly IndexPath[] {
  return indexing.rules
    .filter(({ path, below, include }) => include && !below && !path.includes(null))
    .map(({ path }) => path);
}

/**
 * The composite index that gives an order, read upwards or downwards. Whichever way it is defined,
 * it is kept with its first path ascending, so that ties follow the direction of the first sort
 * key.
 */
export function compositeFor(
  indexing: Indexing,
  order: CompositeIndex,
): { readonly index: number; readonly descending: boolean } | undefined {
  const wanted = JSON.stringify(firstAscending(order));
  const index = indexing.composites.findIndex(
    (composite) => JSON.stringify(firstAscending(composite)) === wanted,
  );
  return index < 0 ? undefined : { index, descending: order[0]?.descending === true };
}

export function firstAscending(composite: CompositeIndex): CompositeIndex {
  const turned = composite[0]?.descending === true;
  return composite.map(({ path, descending }) => ({ path, descending: descending !== turned }));
}

export function samePath(a: IndexPath, b: IndexPath): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}

export function showPath(path: IndexPath): string {
  return path.map((step) => (step === null ? '/[]' : `/${step}`)).join('');
}

/** Longer values are cut, and come in the order of their beginnings only. */
export const VALUE_BYTES_MAX = 1500;

/**
 * What an index holds of a value, and so what ORDER BY sorts by: its encoding, which is bounded. Of
 * arrays and objects it is the type alone, so these have no order among themselves.
 */
export function sortableBytes(value: unknown, bytesMax = VALUE_BYTES_MAX): Uint8Array {
  if (Array.isArray(value)) return ARRAY;
  if (typeof value === 'object' && value !== null) return OBJECT;
  return boundKey(encodeValue(value), bytesMax);
}

/** Of several values that are sorted by together each has its share. */
export function bytesMaxOf(count: number): number {
  return Math.floor(VALUE_BYTES_MAX / count);
}

/** The type tags of value/key.ts, alone: the first byte of any array and any object. */
const ARRAY = Buffer.from(encodeValue([])).subarray(0, 1);
const OBJECT = Buffer.from(encodeValue({})).subarray(0, 1);

interface GrowingNode {
  readonly children: Map<string | null, GrowingNode>;
  here: boolean | undefined;
  below: boolean | undefined;
}

function makeTree(rules: readonly IndexRule[]): RuleNode {
  const root = newNode();
  for (const { path, below, include } of rules) {
    let node = root;
    for (const step of path) {
      const child = node.children.get(step) ?? newNode();
      node.children.set(step, child);
      node = child;
    }
    if (below) node.below = include;
    else node.here = include;
  }
  return root;
}

function newNode(): GrowingNode {
  return { children: new Map(), here: undefined, below: undefined };
}
