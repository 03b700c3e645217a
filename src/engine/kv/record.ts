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
import { docFromBytes } from '../../value/doc.js';
import { decodeValues, encodeValues } from '../../value/key.js';
import type { PartitionKey } from '../../value/partition-key.js';
import type { Draft, Item, ItemKey, Lsn, Serial } from '../engine.js';
import type { Codes } from './codes.js';
import { asBuffer, SERIAL_BYTES } from './keys.js';

const LAYOUT = 1;

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
  const record = asBuffer(value);
  if (record[0] !== LAYOUT) throw new Error(`item ${serial} has the unknown layout ${record[0]}`);
  const lsn = record.readUIntBE(1, SERIAL_BYTES);
  let at = 1 + SERIAL_BYTES;
  const etagEnd = at + 1 + record.readUInt8(at);
  const etag = record.toString('latin1', at + 1, etagEnd);
  const fuses: Fuse[] = [];
  at = etagEnd + 1;
  for (let left = record.readUInt8(etagEnd); left > 0; left--) {
    const rule = rules.nameOf(record.readUInt8(at));
    fuses.push({ rule, at: instant(record.readUIntBE(at + 1, SERIAL_BYTES)) });
    at += 1 + SERIAL_BYTES;
  }
  const keyStart = at + 2;
  const keyEnd = keyStart + record.readUInt16BE(at);
  const key = known ?? decodeKey(record.subarray(keyStart, keyEnd));
  return { key, serial, etag, lsn, fuses, doc: docFromBytes(record.subarray(keyEnd)) };
}

function decodeKey(encoded: Uint8Array): ItemKey {
  const values = decodeValues(encoded);
  return { partition: values.slice(0, -1) as PartitionKey, id: values.at(-1) as string };
}
