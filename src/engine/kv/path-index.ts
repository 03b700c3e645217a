// The index over paths: one entry for every indexed value of a document, so that equality, ranges,
// prefixes, presence and order are ranges of keys.
//
//   'I'   version 2, path 8, value, serial
//
//   path: the first bytes of a hash of the path: names of any length and number cost nothing.
//   value: encoded, bounded. Arrays and objects have an entry with their type alone, and their
//   contents have entries of their own; elements of arrays share the path of "any element".
import { murmur128 } from '../../value/murmur.js';
import { valueAt } from '../../value/path.js';
import type { Serial } from '../engine.js';
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
import { SERIAL_BYTES, type Slot, withRest } from './keys.js';
import type { Key } from './store.js';

const HASH_BYTES = 8;
const VERSION_BYTES = 2;
const PATHS_CACHED_MAX = 20_000;

/** The keys of all entries of a document, each of them once. */
export function pathEntries(
  slot: Slot,
  indexing: Indexing,
  document: unknown,
  serial: Serial,
): readonly Key[] {
  if (indexing.rules.length === 0) return [];
  const keys: Key[] = [];
  // Elements of an array share a path, and equal ones all of the key.
  const ofElements = new Map<string, Key>();
  const add = (path: string, value: unknown) => {
    const key = entryKey(slot, indexing.version, path, sortableBytes(value), serial);
    if (path.includes(ELEMENT)) ofElements.set(key.toString('latin1'), key);
    else keys.push(key);
  };
  const tree = ruleTree(indexing);
  walk(document, '', tree, tree.below ?? false, add);
  for (const path of namedPaths(indexing)) {
    if (valueAt(document, path as readonly string[]) === undefined) add(pathText(path), undefined);
  }
  for (const [index, composite] of indexing.composites.entries()) {
    const values = compositeValues(composite, document);
    keys.push(entryKey(slot, indexing.version, compositeText(index), values, serial));
  }
  keys.push(...ofElements.values());
  return keys;
}

export function compositePrefix(slot: Slot, version: number, index: number): Key {
  return prefixOf(slot, version, compositeText(index));
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
  return prefixOf(slot, version, pathText(path));
}

function prefixOf(slot: Slot, version: number, text: string): Key {
  const rest = Buffer.allocUnsafe(VERSION_BYTES + HASH_BYTES);
  rest.writeUInt16BE(version % 0x1_0000);
  rest.set(hashOf(text), VERSION_BYTES);
  return withRest(slot, 'path', rest);
}

/** The range of everything an older version of the rules has left behind. */
export function versionPrefix(slot: Slot, version: number): Key {
  const rest = Buffer.allocUnsafe(VERSION_BYTES);
  rest.writeUInt16BE(version % 0x1_0000);
  return withRest(slot, 'path', rest);
}

/** Names may hold any character, so each is written with its length. */
const NAME = 'n';
const ELEMENT = '[]';
const COMPOSITE = 'c';

function walk(
  value: unknown,
  path: string,
  node: RuleNode | undefined,
  inherited: boolean,
  add: (path: string, value: unknown) => void,
): void {
  const below = node?.below ?? inherited;
  if ((node?.here ?? below) && path !== '') add(path, value);
  if (typeof value !== 'object' || value === null) return;
  // Nothing beneath is indexed: neither by inheritance nor by a rule of its own.
  if (!below && !node?.children.size) return;
  if (Array.isArray(value)) {
    const child = node?.children.get(null);
    for (const element of value) walk(element, path + ELEMENT, child, below, add);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    walk(member, path + nameText(name), node?.children.get(name), below, add);
  }
}

const compositeText = (index: number): string => `${COMPOSITE}${index}`;

function pathText(path: IndexPath): string {
  return path.map((step) => (step === null ? ELEMENT : nameText(step))).join('');
}

function nameText(name: string): string {
  return `${NAME}${name.length}:${name}`;
}

const hashes = new Map<string, Buffer>();

function hashOf(text: string): Buffer {
  const known = hashes.get(text);
  if (known) return known;
  // In UTF-8 all lone surrogates would be one character.
  const bytes = Buffer.from(text, 'utf16le');
  const { first } = murmur128(bytes, bytes.length);
  const hash = Buffer.allocUnsafe(HASH_BYTES);
  hash.writeUInt32BE(first.high >>> 0, 0);
  hash.writeUInt32BE(first.low >>> 0, 4);
  if (hashes.size >= PATHS_CACHED_MAX) hashes.clear();
  hashes.set(text, hash);
  return hash;
}

function entryKey(
  slot: Slot,
  version: number,
  path: string,
  value: Uint8Array,
  serial: Serial,
): Key {
  const at = VERSION_BYTES + HASH_BYTES;
  const rest = Buffer.allocUnsafe(at + value.length + SERIAL_BYTES);
  rest.writeUInt16BE(version % 0x1_0000);
  rest.set(hashOf(path), VERSION_BYTES);
  rest.set(value, at);
  rest.writeUIntBE(serial, at + value.length, SERIAL_BYTES);
  return withRest(slot, 'path', rest);
}
