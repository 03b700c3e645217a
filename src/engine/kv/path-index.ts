// The index over paths: one entry for every indexed value of a document, so that equality, ranges,
// prefixes, presence and order are ranges of keys.
//
//   'I'   version 2, path 8, value, serial
//
//   path: the first bytes of a hash of the path: names of any length and number cost nothing.
//   value: encoded, bounded. Arrays and objects have an entry with their type alone, and their
//   contents have entries of their own; elements of arrays share the path of "any element".
import { valueAt } from '../../value/path.js';
import type { SearchFilter, Serial } from '../engine.js';
import {
  bytesMaxOf,
  type CompositeIndex,
  firstAscending,
  type Indexing,
  type IndexPath,
  namedPaths,
  type RuleNode,
  ruleTree,
  sortableBytes,
} from '../indexing.js';
import { PATH_BYTES, PREFIX_BYTES, prefix, SERIAL_BYTES, type Slot, writeSerial } from './keys.js';
import { nodeAt, PathNode, rootPath } from './path-tree.js';
import { pointEntries, wordEntries } from './search-index.js';
import type { Key } from './store.js';

const VERSION_BYTES = 2;
const HASH_BYTES = PATH_BYTES - VERSION_BYTES;

/** The keys of all entries of a document, each of them once. */
export function pathEntries(
  slot: Slot,
  indexing: Indexing,
  document: unknown,
  serial: Serial,
): readonly Key[] {
  if (indexing.rules.length === 0) return [];
  const found = new Found(slot, indexing, serial);
  const { tree, named, composites, searches } = planOf(indexing);
  walk(document, rootPath(), tree, tree.below ?? false, found);
  for (const { path, node } of named) {
    if (valueAt(document, path as readonly string[]) === undefined) found.add(node, undefined);
  }
  for (const { composite, node } of composites) {
    found.addBytes(node, compositeValues(composite, document));
  }
  for (const search of searches) search.add(document, found);
  return found.keys();
}

export interface ChangedEntries {
  readonly gone: readonly Key[];
  readonly come: readonly Key[];
}

/**
 * The entries in which two versions of a document differ. Most values stay as they are when an item
 * is replaced; for those no key is made at all. A key may be gone and come at once, when long
 * values differ behind what keys hold of them: then it is there.
 */
export function changedEntries(
  slot: Slot,
  indexing: Indexing,
  before: unknown,
  after: unknown,
  serial: Serial,
): ChangedEntries {
  if (indexing.rules.length === 0) return { gone: [], come: [] };
  const gone = new Found(slot, indexing, serial);
  const come = new Found(slot, indexing, serial);
  const { tree, named, composites, searches } = planOf(indexing);
  walkBoth([before, after], rootPath(), tree, tree.below ?? false, [gone, come]);
  for (const { path, node } of named) {
    const lacked = valueAt(before, path as readonly string[]) === undefined;
    const lacks = valueAt(after, path as readonly string[]) === undefined;
    if (lacked && !lacks) gone.add(node, undefined);
    if (lacks && !lacked) come.add(node, undefined);
  }
  for (const { composite, node } of composites) {
    const [old, next] = [compositeValues(composite, before), compositeValues(composite, after)];
    if (Buffer.compare(old, next) === 0) continue;
    gone.addBytes(node, old);
    come.addBytes(node, next);
  }
  for (const search of searches) {
    search.add(before, gone);
    search.add(after, come);
  }
  gone.cancelElements(come);
  return { gone: gone.keys(), come: come.keys() };
}

/** Gathers the keys of one document. */
class Found {
  readonly #slot: Slot;
  readonly #version: number;
  readonly #serial: Serial;
  readonly #keys: Key[] = [];
  /** Equal elements of an array have all of their key in common. */
  #ofElements: Map<string, Key> | undefined;

  constructor(slot: Slot, indexing: Indexing, serial: Serial) {
    this.#slot = slot;
    this.#version = indexing.version;
    this.#serial = serial;
  }

  add(node: PathNode, value: unknown): void {
    this.addBytes(node, sortableBytes(value));
  }

  addBytes(node: PathNode, value: Uint8Array): void {
    const at = PREFIX_BYTES + VERSION_BYTES + HASH_BYTES;
    const key = startOf(this.#slot, this.#version, node, value.length + SERIAL_BYTES);
    key.set(value, at);
    writeSerial(key, this.#serial, at + value.length);
    if (!node.isInArray) {
      this.#keys.push(key);
      return;
    }
    this.#ofElements ??= new Map();
    this.#ofElements.set(key.toString('latin1'), key);
  }

  /** Drops keys of elements that the other has too. */
  cancelElements(other: Found): void {
    for (const name of this.#ofElements?.keys() ?? []) {
      if (!other.#ofElements?.delete(name)) continue;
      this.#ofElements?.delete(name);
    }
  }

  keys(): readonly Key[] {
    return this.#ofElements === undefined
      ? this.#keys
      : [...this.#keys, ...this.#ofElements.values()];
  }
}

interface IndexPlan {
  readonly tree: RuleNode;
  readonly named: readonly { readonly path: IndexPath; readonly node: PathNode }[];
  readonly composites: readonly { readonly composite: CompositeIndex; readonly node: PathNode }[];
  readonly searches: readonly Search[];
}
interface Search {
  add(document: unknown, found: Found): void;
}
const plans = new WeakMap<Indexing, IndexPlan>();

function planOf(indexing: Indexing): IndexPlan {
  const known = plans.get(indexing);
  if (known !== undefined) return known;
  const plan = {
    tree: ruleTree(indexing),
    named: namedPaths(indexing).map((path) => ({ path, node: nodeAt(path) })),
    composites: indexing.composites.map((composite, index) => ({
      composite,
      node: compositeNode(index),
    })),
    searches: [
      ...indexing.words.map((path) => searchOf('word', path, wordEntries)),
      ...indexing.points.map((path) => searchOf('near', path, pointEntries)),
    ],
  };
  plans.set(indexing, plan);
  return plan;
}

function searchOf(
  op: SearchFilter['op'],
  path: IndexPath,
  entriesOf: (value: unknown) => readonly Uint8Array[],
): Search {
  const node = searchNode(op, path);
  return {
    add: (document, found) => {
      for (const bytes of entriesOf(valueAt(document, path as readonly string[]))) {
        found.addBytes(node, bytes);
      }
    },
  };
}

export function searchPrefix(slot: Slot, version: number, op: SearchFilter['op'], path: IndexPath) {
  return startOf(slot, version, searchNode(op, path), 0);
}

/** Like elements of an array: an item may have many, and those that stay are left alone. */
function searchNode(op: SearchFilter['op'], path: IndexPath): PathNode {
  return new PathNode(`${op}${JSON.stringify(path)}`, true);
}

export function compositePrefix(slot: Slot, version: number, index: number): Key {
  return startOf(slot, version, compositeNode(index), 0);
}

/** No path is written like this, so that composites have hashes of their own. */
function compositeNode(index: number): PathNode {
  return new PathNode(`c${index}`, false);
}

/**
 * The values of a composite one after the other; those that descend have all their bits turned,
 * which turns their order. Items that lack a property have an entry too.
 */
function compositeValues(composite: CompositeIndex, document: unknown): Uint8Array {
  const parts = firstAscending(composite).map(({ path, descending }) =>
    compositePart(valueAt(document, path as readonly string[]), descending, composite.length),
  );
  return Buffer.concat(parts);
}

export function compositePart(value: unknown, descending: boolean, count: number): Uint8Array {
  const bytes = sortableBytes(value, bytesMaxOf(count));
  return descending ? turned(bytes) : bytes;
}

export function turned(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => byte ^ 0xff);
}

/** What comes before the values of a path in all its keys. */
export function pathPrefix(slot: Slot, version: number, path: IndexPath): Key {
  return startOf(slot, version, nodeAt(path), 0);
}

function startOf(slot: Slot, version: number, node: PathNode, more: number): Key {
  const key = prefix(slot, 'path', VERSION_BYTES + HASH_BYTES + more);
  key.writeUInt16BE(version % 0x1_0000, PREFIX_BYTES);
  key.writeUInt32BE(node.high, PREFIX_BYTES + VERSION_BYTES);
  key.writeUInt32BE(node.low, PREFIX_BYTES + VERSION_BYTES + 4);
  return key;
}

/** The range of everything an older version of the rules has left behind. */
export function versionPrefix(slot: Slot, version: number): Key {
  const key = prefix(slot, 'path', VERSION_BYTES);
  key.writeUInt16BE(version % 0x1_0000, PREFIX_BYTES);
  return key;
}

function walk(
  value: unknown,
  path: PathNode,
  rule: RuleNode | undefined,
  inherited: boolean,
  found: Found,
): void {
  const below = rule?.below ?? inherited;
  if ((rule?.here ?? below) && !path.isRoot) found.add(path, value);
  if (typeof value !== 'object' || value === null) return;
  // Nothing beneath is indexed: neither by inheritance nor by a rule of its own.
  if (!below && !rule?.children.size) return;
  if (Array.isArray(value)) {
    const child = rule?.children.get(null);
    for (const element of value) walk(element, path.element(), child, below, found);
    return;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(members)) {
    const child = rule?.children.get(name);
    // What no rule is about is not even looked at.
    if (below || child) walk(members[name], path.member(name), child, below, found);
  }
}

/** Walks two versions together, and each alone where they part. */
function walkBoth(
  [before, after]: readonly [unknown, unknown],
  path: PathNode,
  rule: RuleNode | undefined,
  inherited: boolean,
  [gone, come]: readonly [Found, Found],
): void {
  if (before === after) return;
  if (!isObject(before) || !isObject(after)) {
    if (Array.isArray(before) && Array.isArray(after) && isSame(before, after)) return;
    if (before !== undefined) walk(before, path, rule, inherited, gone);
    if (after !== undefined) walk(after, path, rule, inherited, come);
    // Equal elements may stand in other places, so elements are compared by their keys.
    gone.cancelElements(come);
    return;
  }
  const below = rule?.below ?? inherited;
  if (!below && !rule?.children.size) return;
  const walkMember = (name: string) => {
    const child = rule?.children.get(name);
    if (!below && !child) return;
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    const next = Object.hasOwn(after, name) ? after[name] : undefined;
    walkBoth([old, next], path.member(name), child, below, [gone, come]);
  };
  for (const name of Object.keys(after)) walkMember(name);
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(after, name)) walkMember(name);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same JSON; members in another order are taken for a difference, which costs but is right. */
function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && JSON.stringify(one) === JSON.stringify(other);
}
