// The log of all versions, for containers that keep them: written with the commit it tells of, and
// read by versions.ts. Others pay nothing for it.
//
//   1  kind: 1 create, 2 replace, 3 delete, 4 expire
//   6  instant
//   6  lsn of the version before, 0 where there is none
//   6  serial
//   2  length of the key, then partition key and id as encoded values, never cut short
//   …  the document; of a delete, the one that was deleted
import assert from 'node:assert/strict';
import { type Instant, instant } from '../../time/instant.js';
import { type Doc, docFromBytes } from '../../value/doc.js';
import { decodeValues, encodeValues } from '../../value/key.js';
import type { PartitionKey } from '../../value/partition-key.js';
import type { Item, ItemKey, Lsn, Serial, Version } from '../engine.js';
import type { Head } from './head.js';
import { asBuffer, SERIAL_BYTES, serialValue, versionKey, versionsFromKey } from './keys.js';
import type { WriteSet } from './write-set.js';

const KINDS = ['create', 'replace', 'delete', 'expire'] as const;
export type LoggedKind = (typeof KINDS)[number];

export interface Logged {
  readonly kind: LoggedKind;
  readonly at: Instant;
  readonly previous: Lsn | undefined;
  readonly serial: Serial;
  readonly key: ItemKey;
  readonly doc: Doc;
}

const FIXED_BYTES = 1 + 3 * SERIAL_BYTES + 2;

/** From here on the log is complete. */
export function beginVersions(writes: WriteSet, { slot, lsn }: Head): void {
  writes.put(versionsFromKey(slot), serialValue(lsn));
}

export function logVersion(
  writes: WriteSet,
  head: Head,
  item: Item,
  version: Pick<Logged, 'kind' | 'at' | 'previous'> & { readonly lsn: Lsn },
): void {
  if (head.retentionMs === undefined) return;
  head.versions += 1;
  writes.put(versionKey(head.slot, version.lsn, head.versions), encodeLogged(item, version));
}

/**
 * Versions that another engine has logged: all of each position, so that they are in the place of
 * those that an earlier try may have left. `from` is where its log begins.
 */
export function restoreVersions(
  writes: WriteSet,
  { slot }: Head,
  versions: readonly Version[],
  from: Lsn,
): void {
  writes.put(versionsFromKey(slot), serialValue(from));
  let [position, number] = [0, 0];
  for (const version of versions) {
    const { key, serial, at, lsn, expired, previous } = version;
    number = lsn === position ? number + 1 : 0;
    position = lsn;
    const doc = version.doc ?? previous?.doc;
    assert(doc, 'a version has its document, or the one that is gone');
    const kind: LoggedKind = expired ? 'expire' : version.kind;
    const logged = { kind, at, previous: previous?.lsn };
    writes.put(versionKey(slot, lsn, number), encodeLogged({ key, serial, doc }, logged));
  }
}

function encodeLogged(
  item: Pick<Logged, 'key' | 'serial' | 'doc'>,
  version: Pick<Logged, 'kind' | 'at' | 'previous'>,
): Buffer {
  const key = encodeValues([...item.key.partition, item.key.id]);
  const { bytes } = item.doc;
  const value = Buffer.allocUnsafe(FIXED_BYTES + key.length + bytes.length);
  let at = value.writeUInt8(KINDS.indexOf(version.kind) + 1, 0);
  for (const number of [version.at, version.previous ?? 0, item.serial]) {
    at = value.writeUIntBE(number, at, SERIAL_BYTES);
  }
  at = value.writeUInt16BE(key.length, at);
  value.set(key, at);
  value.set(bytes, at + key.length);
  return value;
}

export function readLogged(stored: Uint8Array): Logged {
  const value = asBuffer(stored);
  const kind = KINDS[(value[0] ?? 0) - 1];
  if (!kind) throw new Error(`a logged version has the unknown kind ${value[0]}`);
  const number = (index: number) => value.readUIntBE(1 + index * SERIAL_BYTES, SERIAL_BYTES);
  const keyEnd = FIXED_BYTES + value.readUInt16BE(FIXED_BYTES - 2);
  const values = decodeValues(value.subarray(FIXED_BYTES, keyEnd));
  return {
    kind,
    at: instant(number(0)),
    previous: number(1) || undefined,
    serial: number(2),
    key: { partition: values.slice(0, -1) as PartitionKey, id: values.at(-1) as string },
    doc: docFromBytes(value.subarray(keyEnd)),
  };
}

/** Only when it was written, for those who look whether it is to be forgotten. */
export function loggedAt(stored: Uint8Array): number {
  return asBuffer(stored).readUIntBE(1, SERIAL_BYTES);
}
