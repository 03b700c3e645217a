// An item and all its entries: the only file that knows which entries an item has. Writing,
// replacing, removing and checking an item all go through the same list, so that none can forget
// one.
import type { Instant } from '../../time/instant.js';
import { docFromBytes } from '../../value/doc.js';
import { effectivePartitionKey } from '../../value/partition-hash.js';
import { valueAt } from '../../value/path.js';
import type { Container, Draft, IndexDef, Item, ItemKey, Lsn, Serial } from '../engine.js';
import type { Head } from './head.js';
import {
  changeKey,
  documentKey,
  encodePartition,
  expiryKey,
  partitionKey,
  primaryKey,
  readSerial,
  serialValue,
  uniqueKey,
  waitingKey,
} from './keys.js';
import { changedEntries, pathEntries } from './path-index.js';
import { decodeRecord, encodeRecord } from './record.js';
import type { Key } from './store.js';
import { logVersion } from './version-log.js';
import type { WriteSet } from './write-set.js';

export interface Place {
  readonly head: Head;
  readonly container: Container;
}
interface Readable {
  get(key: Key): Uint8Array | undefined;
}

const NOTHING = new Uint8Array(0);

export function findSerial(from: Readable, place: Place, key: ItemKey): Serial | undefined {
  const found = from.get(primaryKey(place.head.slot, encodePartition(key.partition), key.id));
  return found && readSerial(found);
}

export function loadItem(
  from: Readable,
  place: Place,
  serial: Serial,
  known?: ItemKey,
): Item | undefined {
  const record = from.get(documentKey(place.head.slot, serial));
  return record && decodeRecord(record, serial, place.head.rules, known);
}

/** Stores a new item, or the next version of one: then only entries that differ are touched. */
export function storeItem(
  writes: WriteSet,
  place: Place,
  key: ItemKey,
  draft: Draft,
  at: { readonly serial: Serial; readonly lsn: Lsn; readonly at: Instant },
  previous: Item | undefined,
): Item {
  const { head } = place;
  const { etag, fuses, doc } = draft;
  const item: Item = { key, serial: at.serial, lsn: at.lsn, etag, fuses, doc };
  writes.put(
    documentKey(head.slot, at.serial),
    encodeRecord(key.partition, draft, at.lsn, head.rules),
  );
  const diesAnew = !previous || !hasSameDeath(previous, item);
  if (previous) {
    writes.remove(changeKey(head.slot, previous.lsn, previous.serial));
    if (diesAnew) for (const entry of expiryEntries(place, previous)) writes.remove(entry);
    replaceUniqueEntries(writes, place, item, previous);
    if (isLazy(place)) noteWaiting(writes, place, previous);
    else replacePathEntries(writes, place, item, previous);
  } else {
    const serial = serialValue(at.serial);
    writes.put(primaryKey(head.slot, encodePartition(key.partition), key.id), serial);
    writes.put(partitionEntry(place, item), NOTHING);
    for (const entry of uniqueEntries(place, item)) writes.put(entry.key, serial);
    if (isLazy(place)) writes.put(waitingKey(head.slot, at.serial), NOTHING);
    else for (const entry of indexEntries(place, item)) writes.put(entry, NOTHING);
  }
  writes.put(changeKey(head.slot, at.lsn, at.serial), NOTHING);
  const bytes = sizeValue(draft.doc.bytes.length);
  if (diesAnew) for (const entry of expiryEntries(place, item)) writes.put(entry, bytes);
  const kind = previous ? 'replace' : 'create';
  logVersion(writes, head, item, { kind, at: at.at, lsn: at.lsn, previous: previous?.lsn });
  head.items += previous ? 0 : 1;
  head.bytes += draft.doc.bytes.length - (previous?.doc.bytes.length ?? 0);
  return item;
}

export function removeItem(
  writes: WriteSet,
  place: Place,
  item: Item,
  { lsn, at, expired }: { readonly lsn: Lsn; readonly at: Instant; readonly expired: boolean },
): void {
  const kind = expired ? 'expire' : 'delete';
  logVersion(writes, place.head, item, { kind, at, lsn, previous: item.lsn });
  for (const entry of allEntries(writes, place, item)) writes.remove(entry);
  if (isLazy(place)) writes.remove(waitingKey(place.head.slot, item.serial));
  place.head.items -= 1;
  place.head.bytes -= item.doc.bytes.length;
}

/** Every key an item has; what a check expects to find and a removal removes. */
export function allEntries(from: Readable, place: Place, item: Item): readonly Key[] {
  const { slot } = place.head;
  return [
    documentKey(slot, item.serial),
    primaryKey(slot, encodePartition(item.key.partition), item.key.id),
    partitionEntry(place, item),
    changeKey(slot, item.lsn, item.serial),
    ...expiryEntries(place, item),
    ...uniqueEntries(place, item).map((entry) => entry.key),
    ...indexedEntries(from, place, item),
  ];
}

export interface UniqueEntry {
  readonly index: string;
  readonly key: Key;
}

/** A missing value counts as null, so at most one item of a partition may lack it. */
export function uniqueEntries(
  place: Place,
  item: { readonly key: ItemKey; readonly doc: { readonly value: unknown } },
): readonly UniqueEntry[] {
  const unique = place.container.indexes.filter((index) => index.unique);
  if (unique.length === 0) return [];
  const partition = encodePartition(item.key.partition);
  return unique.flatMap((index) => {
    const code = place.head.indexes.codeOf(index.name);
    return uniqueValues(index, item.doc.value).map((values) => ({
      index: index.name,
      key: uniqueKey(place.head.slot, code, partition, values),
    }));
  });
}

function uniqueValues(
  { paths, listed }: IndexDef,
  value: unknown,
): readonly (readonly unknown[])[] {
  if (!listed) return [paths.map(({ path }) => valueAt(value, path) ?? null)];
  const list = valueAt(value, paths[0]?.path ?? []);
  return Array.isArray(list) ? list.map((text) => [text]) : [];
}

/**
 * Expiry entries hold the document's size, so that a backlog is measured without reading documents.
 */
export function readSize(value: Uint8Array): number {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).readUInt32BE();
}

function sizeValue(bytes: number): Buffer {
  const value = Buffer.allocUnsafe(4);
  value.writeUInt32BE(bytes);
  return value;
}

/** Entries hold the size, too. */
function hasSameDeath(one: Item, other: Item): boolean {
  if (one.doc.bytes.length !== other.doc.bytes.length) return false;
  return (
    one.fuses.length === other.fuses.length &&
    one.fuses.every(({ rule, at }, index) => {
      const fuse = other.fuses[index];
      return fuse?.rule === rule && fuse.at === at;
    })
  );
}

function expiryEntries(place: Place, item: Item): readonly Key[] {
  const { slot, rules } = place.head;
  return item.fuses.map((fuse) => expiryKey(slot, rules.codeOf(fuse.rule), fuse.at, item.serial));
}

export function partitionEntry(place: Place, item: Item): Key {
  const epk = effectivePartitionKey(item.key.partition, place.container.partitionHash);
  return partitionKey(place.head.slot, epk, item.serial);
}

/**
 * The entries of the index over paths; the builder makes the same for items that were there before.
 */
export function indexEntries(place: Place, item: Item): readonly Key[] {
  return pathEntries(place.head.slot, place.container.indexing, item.doc.value, item.serial);
}

/** The entries that are there: in a lazy container those of an older version, or none yet. */
function indexedEntries(from: Readable, place: Place, item: Item): readonly Key[] {
  const { head, container } = place;
  const waiting = isLazy(place) ? from.get(waitingKey(head.slot, item.serial)) : undefined;
  if (!waiting) return indexEntries(place, item);
  if (waiting.length === 0) return [];
  return pathEntries(head.slot, container.indexing, docFromBytes(waiting).value, item.serial);
}

function isLazy(place: Place): boolean {
  return place.container.indexing.lazy;
}

/** The index still goes by the version it has seen last, which may be older than this one. */
function noteWaiting(writes: WriteSet, place: Place, previous: Item): void {
  const key = waitingKey(place.head.slot, previous.serial);
  if (!writes.get(key)) writes.put(key, Buffer.from(previous.doc.bytes));
}

/** Brings the entries of an item that waits in line with the item as it is now. */
export function indexWaiting(writes: WriteSet, place: Place, serial: Serial): void {
  const item = loadItem(writes, place, serial);
  const key = waitingKey(place.head.slot, serial);
  if (!item) {
    writes.remove(key);
    return;
  }
  const there = new Map(
    indexedEntries(writes, place, item).map((entry) => [entry.toString('latin1'), entry]),
  );
  for (const entry of indexEntries(place, item)) {
    if (!there.delete(entry.toString('latin1'))) writes.put(entry, NOTHING);
  }
  for (const entry of there.values()) writes.remove(entry);
  writes.remove(key);
}

function replacePathEntries(writes: WriteSet, place: Place, item: Item, previous: Item): void {
  const { head, container } = place;
  const versions = [previous.doc.value, item.doc.value] as const;
  const { gone, come } = changedEntries(head.slot, container.indexing, ...versions, item.serial);
  for (const key of gone) writes.remove(key);
  for (const key of come) writes.put(key, NOTHING);
}

function replaceUniqueEntries(writes: WriteSet, place: Place, item: Item, previous: Item): void {
  if (!place.container.indexes.some((index) => index.unique)) return;
  for (const entry of uniqueEntries(place, previous)) writes.remove(entry.key);
  for (const entry of uniqueEntries(place, item)) writes.put(entry.key, serialValue(item.serial));
}
