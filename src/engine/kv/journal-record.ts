// The records of the journal. Each is one group of writes: all of it or nothing.
//
//    0  magic (8)     8  mark of the store (16)     24  number (8)
//   32  bytes of the writes (4)     36  crc32 of everything before it and of the writes (4)
//   40  writes, each: bytes of the key (2), bytes of the value (4), key, value
//       FFFFFFFF bytes of value remove the key
//   zeros up to the next block
//
// All numbers are big-endian. A record begins a block of its own, so that one that is only half
// written never shares a block with one that was acknowledged. The mark is a random secret of the
// store: nobody can write a document that looks like a record.
import { crc32 } from 'node:zlib';
import { breathe } from '../../time/clock.js';
import type { Write } from './store.js';

export const BLOCK_BYTES = 4096;
export const MARK_BYTES = 16;
const MAGIC = Buffer.from('mayflyJ1', 'latin1');
const HEADER_BYTES = 40;
const SUMMED_BYTES = 36;
const REMOVED = 0xffff_ffff;
const WRITE_BYTES = 6;

/** About a millisecond's worth. */
const SUMMED_PER_TURN = 1_048_576;
const BUFFER_BYTES = 262_144;

export interface JournalRecord {
  readonly number: number;
  readonly writes: readonly Write[];
}

/** Makes one record at a time, in memory that it uses again. */
export class RecordMaker {
  readonly #mark: Buffer;
  readonly #memory = Buffer.allocUnsafeSlow(BUFFER_BYTES);

  constructor(mark: Buffer) {
    this.#mark = mark;
  }

  /** What it gives is good until the next call. */
  async make(number: number, writes: readonly Write[]): Promise<Buffer> {
    const bytes = bytesOf(writes);
    const whole = Math.ceil((HEADER_BYTES + bytes) / BLOCK_BYTES) * BLOCK_BYTES;
    const record =
      whole <= BUFFER_BYTES ? this.#memory.subarray(0, whole) : Buffer.allocUnsafeSlow(whole);
    MAGIC.copy(record);
    this.#mark.copy(record, 8);
    record.writeBigUInt64BE(BigInt(number), 24);
    record.writeUInt32BE(bytes, 32);
    let at = HEADER_BYTES;
    for (const [key, value] of writes) {
      record.writeUInt16BE(key.length, at);
      record.writeUInt32BE(value === undefined ? REMOVED : value.length, at + 2);
      record.set(key, at + WRITE_BYTES);
      at += WRITE_BYTES + key.length;
      if (value === undefined || value.length === 0) continue;
      record.set(value, at);
      at += value.length;
    }
    record.fill(0, at);
    let sum = crc32(record.subarray(0, SUMMED_BYTES));
    for (let from = HEADER_BYTES; from < at; from += SUMMED_PER_TURN) {
      if (from > HEADER_BYTES) await breathe();
      sum = crc32(record.subarray(from, Math.min(from + SUMMED_PER_TURN, at)), sum);
    }
    record.writeUInt32BE(sum, SUMMED_BYTES);
    return record;
  }
}

function bytesOf(writes: readonly Write[]): number {
  let bytes = WRITE_BYTES * writes.length;
  for (const [key, value] of writes) bytes += key.length + (value?.length ?? 0);
  return bytes;
}

/**
 * Every whole record behind this number, wherever it lies: a file that is used again has older ones
 * behind the newer, and one that was being written may be torn.
 */
export function recordsIn(file: Buffer, mark: Buffer, behind: number): readonly JournalRecord[] {
  const records: JournalRecord[] = [];
  for (let at = 0; at + HEADER_BYTES <= file.length; ) {
    const bytes = wholeBytes(file, at, mark);
    if (bytes === undefined) {
      at += BLOCK_BYTES;
      continue;
    }
    const number = Number(file.readBigUInt64BE(at + 24));
    const start = at + HEADER_BYTES;
    if (number > behind) {
      records.push({ number, writes: writesIn(file.subarray(start, start + bytes)) });
    }
    at += Math.ceil((HEADER_BYTES + bytes) / BLOCK_BYTES) * BLOCK_BYTES;
  }
  return records;
}

/** Whether the file begins with a record of another store. */
export function isOfAnother(file: Buffer, mark: Buffer): boolean {
  if (file.length < HEADER_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC)) return false;
  return !file.subarray(8, 8 + MARK_BYTES).equals(mark);
}

function wholeBytes(file: Buffer, at: number, mark: Buffer): number | undefined {
  if (file.compare(MAGIC, 0, MAGIC.length, at, at + MAGIC.length) !== 0) return undefined;
  if (file.compare(mark, 0, MARK_BYTES, at + 8, at + 8 + MARK_BYTES) !== 0) return undefined;
  const bytes = file.readUInt32BE(at + 32);
  const start = at + HEADER_BYTES;
  if (start + bytes > file.length) return undefined;
  const header = crc32(file.subarray(at, at + SUMMED_BYTES));
  const sum = crc32(file.subarray(start, start + bytes), header);
  return sum === file.readUInt32BE(at + SUMMED_BYTES) ? bytes : undefined;
}

function writesIn(bytes: Buffer): readonly Write[] {
  const writes: Write[] = [];
  for (let at = 0; at < bytes.length; ) {
    const keyBytes = bytes.readUInt16BE(at);
    const valueBytes = bytes.readUInt32BE(at + 2);
    at += WRITE_BYTES;
    const key = bytes.subarray(at, at + keyBytes);
    at += keyBytes;
    if (valueBytes === REMOVED) {
      writes.push([key, undefined]);
      continue;
    }
    writes.push([key, bytes.subarray(at, at + valueBytes)]);
    at += valueBytes;
  }
  return writes;
}
