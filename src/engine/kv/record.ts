// The stored form of one item.
//
//   1  layout, always 1
//   6  lsn
//   1  length of the etag, then the etag in latin-1
//   1  count of fuses, then for each: 1 rule, 6 instant
//   2  length of the key, then partition key and id as encoded values, never cut short
//   …  the document
import type { Fuse } from '../../time/expiry.js';
import { instant } from '../../time/instant.js';
import { type Doc, docFromBytes } from '../../value/doc.js';
import { decodeValues, encodeValues } from '../../value/key.js';
import type { PartitionKey } from '../../value/partition-key.js';
import type { Draft, Item, ItemKey, Lsn, Serial } from '../engine.js';
import type { Codes } from './codes.js';
import { asBuffer, SERIAL_BYTES } from './keys.js';

const LAYOUT = 1;
/** Behind layout, lsn and its own length. */
const ETAG_AT = 1 + SERIAL_BYTES + 1;

export function encodeRecord(
  partition: PartitionKey,
  draft: Draft,
  lsn: Lsn,
  rules: Codes,
): Buffer {
  const key = encodeValues([...partition, draft.id]);
  const document = draft.doc.bytes;
  const fixed = 1 + SERIAL_BYTES + 1 + draft.etag.length + 1 + 2;
  const fuses = draft.fuses.length * (1 + SERIAL_BYTES);
  const record = Buffer.allocUnsafe(fixed + fuses + key.length + document.length);
  record[0] = LAYOUT;
  let at = record.writeUIntBE(lsn, 1, SERIAL_BYTES);
  at = record.writeUInt8(draft.etag.length, at);
  at += record.write(draft.etag, at, 'latin1');
  at = record.writeUInt8(draft.fuses.length, at);
  for (const fuse of draft.fuses) {
    at = record.writeUInt8(rules.codeOf(fuse.rule), at);
    at = record.writeUIntBE(fuse.at, at, SERIAL_BYTES);
  }
  at = record.writeUInt16BE(key.length, at);
  record.set(key, at);
  record.set(document, at + key.length);
  return record;
}

/** The partition key is only decoded where the caller does not know it already. */
export function decodeRecord(
  value: Uint8Array,
  serial: Serial,
  rules: Codes,
  known: ItemKey | undefined,
): Item {
  const item = new StoredItem(asBuffer(value), serial, rules);
  const { etag, lsn, fuses, doc } = item;
  return { key: known ?? item.key, serial, etag, lsn, fuses, doc };
}

/** For a reader that may not want all of it: only what decides on life and death is decoded now. */
export function openRecord(value: Uint8Array, serial: Serial, rules: Codes): Item {
  return new StoredItem(asBuffer(value), serial, rules);
}

class StoredItem implements Item {
  readonly serial: Serial;
  readonly fuses: readonly Fuse[];
  readonly doc: Doc;
  readonly #record: Buffer;
  readonly #etagEnd: number;
  readonly #keyStart: number;
  readonly #keyEnd: number;

  constructor(record: Buffer, serial: Serial, rules: Codes) {
    if (record[0] !== LAYOUT) throw new Error(`item ${serial} has the unknown layout ${record[0]}`);
    this.#record = record;
    this.serial = serial;
    this.#etagEnd = ETAG_AT + (record[ETAG_AT - 1] ?? 0);
    const fuses: Fuse[] = [];
    let at = this.#etagEnd + 1;
    for (let left = record[this.#etagEnd] ?? 0; left > 0; left--) {
      const rule = rules.nameOf(record[at] ?? 0);
      fuses.push({ rule, at: instant(record.readUIntBE(at + 1, SERIAL_BYTES)) });
      at += 1 + SERIAL_BYTES;
    }
    this.fuses = fuses;
    this.#keyStart = at + 2;
    this.#keyEnd = this.#keyStart + record.readUInt16BE(at);
    this.doc = docFromBytes(record.subarray(this.#keyEnd));
  }

  get lsn(): Lsn {
    return this.#record.readUIntBE(1, SERIAL_BYTES);
  }

  get etag(): string {
    return this.#record.toString('latin1', ETAG_AT, this.#etagEnd);
  }

  get key(): ItemKey {
    const values = decodeValues(this.#record.subarray(this.#keyStart, this.#keyEnd));
    return { partition: values.slice(0, -1) as PartitionKey, id: values.at(-1) as string };
  }
}
