// The key space, drawn once. Everything the engine stores is an entry of one of these tables.
//
//   container   table  rest                    value
//   ----------  -----  ----------------------  ------------------------------------------------
//   0           'F'                            format: "mayfly" and the version of this page
//   0           'C'    container               definition of an engine container, JSON
//   0           'J'                            how much of the journal is in the store (journal.ts)
//   container   'H'                            head: next serial, lsn, items, bytes
//   container   'D'    serial                  record: the item itself (record.ts)
//   container   'P'    pk, id                  serial   find an item by its key
//   container   'O'    epk, serial             -        items of a partition, oldest first
//   container   'L'    lsn, serial             -        change order, latest version only
//   container   'X'    rule, instant, serial   bytes    expiry order: fuses by rule
//   container   'U'    index, pk, values       serial   unique keys
//   container   'I'    version, path, value, serial   -  index over paths (path-index.ts)
//   container   'V'    lsn, number             all versions, where they are kept (versions.ts)
//   container   'V'                            from which lsn on they are complete
//   container   'W'    serial                  in a lazy container: waits for the index over paths,
//                                              with the document it still goes by, if any
//
//   container: 4 bytes. serial, lsn, instant: 6 bytes. rule, index: 1 byte. All big-endian.
//   pk: encoded partition key, bounded. epk: effective partition key in bytes. id: text bytes.
//   values: encoded values, bounded.
//
// Every entry but the primary one ends in, or holds, the serial: index writes stay local and
// entries small.
import { boundKey, encodeText, encodeValues } from '../../value/key.js';
import type { PartitionKey } from '../../value/partition-key.js';
import type { Lsn, Serial } from '../engine.js';
import type { Key } from './store.js';

export const SERIAL_BYTES = 6;
export const PREFIX_BYTES = 5;
/** A version of the rules and the hash of a path. */
export const PATH_BYTES = 10;
const PARTITION_BYTES_MAX = 256;
const VALUES_BYTES_MAX = 512;

const table = {
  format: 0x46,
  container: 0x43,
  journal: 0x4a,
  head: 0x48,
  document: 0x44,
  primary: 0x50,
  partition: 0x4f,
  change: 0x4c,
  expiry: 0x58,
  unique: 0x55,
  path: 0x49,
  version: 0x56,
  waiting: 0x57,
} as const;
export type Table = keyof typeof table;

/** Which container of the store: engine container ids are text, keys hold this number instead. */
export type Slot = number;

export const formatKey = (): Key => prefix(0, 'format', 0);

export const journalKey = (): Key => prefix(0, 'journal', 0);

export function containerKey(slot: Slot): Key {
  const key = prefix(0, 'container', 4);
  key.writeUInt32BE(slot, PREFIX_BYTES);
  return key;
}

export const headKey = (slot: Slot): Key => prefix(slot, 'head', 0);

export function documentKey(slot: Slot, serial: Serial): Key {
  const key = prefix(slot, 'document', SERIAL_BYTES);
  writeSerial(key, serial, PREFIX_BYTES);
  return key;
}

/** The partition part of primary and unique keys; callers encode it once per batch. */
export function encodePartition(partition: PartitionKey): Uint8Array {
  return boundKey(encodeValues(partition), PARTITION_BYTES_MAX);
}

export function primaryKey(slot: Slot, partition: Uint8Array, id: string): Key {
  const text = encodeText(id);
  const key = prefix(slot, 'primary', partition.length + text.length);
  key.set(partition, PREFIX_BYTES);
  key.set(text, PREFIX_BYTES + partition.length);
  return key;
}

export function partitionKey(slot: Slot, epk: string, serial: Serial): Key {
  const epkBytes = epk.length >> 1;
  const key = prefix(slot, 'partition', epkBytes + SERIAL_BYTES);
  key.write(epk, PREFIX_BYTES, 'hex');
  writeSerial(key, serial, PREFIX_BYTES + epkBytes);
  return key;
}

/** A bound in the partition table; "FF" sorts behind every effective partition key. */
export function partitionBound(slot: Slot, epk: string): Key {
  const key = prefix(slot, 'partition', epk.length >> 1);
  key.write(epk, PREFIX_BYTES, 'hex');
  return key;
}

export function changeKey(slot: Slot, lsn: Lsn, serial: Serial): Key {
  const key = prefix(slot, 'change', 2 * SERIAL_BYTES);
  writeSerial(key, lsn, PREFIX_BYTES);
  writeSerial(key, serial, PREFIX_BYTES + SERIAL_BYTES);
  return key;
}

/** `number` tells versions of one commit apart, in their order. */
export function versionKey(slot: Slot, lsn: Lsn, number: number): Key {
  const key = prefix(slot, 'version', 2 * SERIAL_BYTES);
  writeSerial(key, lsn, PREFIX_BYTES);
  writeSerial(key, number, PREFIX_BYTES + SERIAL_BYTES);
  return key;
}
export const versionsFromKey = (slot: Slot): Key => prefix(slot, 'version', 0);

export function expiryKey(slot: Slot, rule: number, at: number, serial: Serial): Key {
  const key = prefix(slot, 'expiry', 1 + 2 * SERIAL_BYTES);
  key[PREFIX_BYTES] = rule;
  writeSerial(key, at, PREFIX_BYTES + 1);
  writeSerial(key, serial, PREFIX_BYTES + 1 + SERIAL_BYTES);
  return key;
}

export function uniqueKey(
  slot: Slot,
  index: number,
  partition: Uint8Array,
  values: readonly unknown[],
): Key {
  const encoded = boundKey(encodeValues(values), VALUES_BYTES_MAX);
  const key = prefix(slot, 'unique', 1 + partition.length + encoded.length);
  key[PREFIX_BYTES] = index;
  key.set(partition, PREFIX_BYTES + 1);
  key.set(encoded, PREFIX_BYTES + 1 + partition.length);
  return key;
}

/** Where the keys of one unique index begin. */
export function uniquePrefix(slot: Slot, index: number): Key {
  const key = prefix(slot, 'unique', 1);
  key[PREFIX_BYTES] = index;
  return key;
}
/** Reads the index of a unique key. */
export const uniqueIndexOf = (key: Key): number => key[PREFIX_BYTES] ?? 0;

export function waitingKey(slot: Slot, serial: Serial): Key {
  const key = prefix(slot, 'waiting', SERIAL_BYTES);
  writeSerial(key, serial, PREFIX_BYTES);
  return key;
}

/** First and one-past-last key of a table, or of everything a container has. */
export function tableRange(slot: Slot, name: Table): readonly [from: Key, to: Key] {
  return [prefix(slot, name, 0), after(prefix(slot, name, 0))];
}
export function slotRange(slot: Slot): readonly [from: Key, to: Key] {
  const from = Buffer.alloc(4);
  from.writeUInt32BE(slot);
  return [from, after(from)];
}

/** The smallest key greater than every key that starts with this one. */
export function after(start: Key): Key {
  const next = Buffer.from(start);
  for (let at = next.length - 1; at >= 0; at--) {
    const byte = next[at] ?? 0;
    if (byte < 0xff) {
      next[at] = byte + 1;
      return next.subarray(0, at + 1);
    }
  }
  throw new Error('no key is greater than all bytes FF');
}

/** The smallest key greater than this one. */
export function successor(key: Key): Key {
  return Buffer.concat([key, Buffer.of(0)]);
}

/** What follows container and table in a key: all a resume point needs to hold. */
export const restOf = (key: Key): Buffer => key.subarray(PREFIX_BYTES);
export function withRest(slot: Slot, name: Table, rest: Uint8Array): Key {
  const key = prefix(slot, name, rest.length);
  key.set(rest, PREFIX_BYTES);
  return key;
}

export const tableOf = (key: Key): number => key[PREFIX_BYTES - 1] ?? 0;
/** Deciding a write reads these entries; the others are only ever written in a commit. */
export function isReadBack(key: Key): boolean {
  const code = tableOf(key);
  return (
    code !== table.path &&
    code !== table.change &&
    code !== table.partition &&
    code !== table.expiry
  );
}
/** How much the keys of a table have in common; in the index over paths, those of one path. */
export function commonBytes(code: number): number {
  return code === table.path ? PREFIX_BYTES + PATH_BYTES : PREFIX_BYTES;
}
export const tableCode = (name: Table): number => table[name];
export const serialAtEnd = (key: Key): Serial =>
  key.readUIntBE(key.length - SERIAL_BYTES, SERIAL_BYTES);
/** Reads the instant of an expiry key. */
export const instantOf = (key: Key): number => key.readUIntBE(PREFIX_BYTES + 1, SERIAL_BYTES);

/** Reads the position of a change or version key. */
export const lsnOf = (key: Key): Lsn => key.readUIntBE(PREFIX_BYTES, SERIAL_BYTES);

/** As `writeUIntBE` for six bytes, in a third of its time. */
export function writeSerial(bytes: Buffer, serial: number, at: number): void {
  bytes.writeUInt16BE(Math.floor(serial / 0x1_0000_0000), at);
  bytes.writeUInt32BE(serial % 0x1_0000_0000, at + 2);
}

export function serialValue(serial: Serial): Buffer {
  const value = Buffer.allocUnsafe(SERIAL_BYTES);
  writeSerial(value, serial, 0);
  return value;
}
export function readSerial(value: Uint8Array): Serial {
  return asBuffer(value).readUIntBE(0, SERIAL_BYTES);
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The beginning of a key, with room for more bytes. */
export function prefix(slot: Slot, name: Table, more: number): Key {
  const key = Buffer.allocUnsafe(PREFIX_BYTES + more);
  key.writeUInt32BE(slot, 0);
  key[PREFIX_BYTES - 1] = table[name];
  return key;
}
