// What a store says of its journal, and what the journal's files hold that the store does not.
//
// The store's own entry (keys.ts, table 'J'), always written in one piece with what it tells of:
//   0  mark of the store (16)     16  whether records may be about (1)     17  last record held (6)
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemEntropy } from '../../time/entropy.js';
import { isOfAnother, type JournalRecord, MARK_BYTES, recordsIn } from './journal-record.js';
import { asBuffer, SERIAL_BYTES, writeSerial } from './keys.js';

export const JOURNAL_FILES = ['store.journal-1', 'store.journal-2'] as const;
const STATE_BYTES = MARK_BYTES + 1 + SERIAL_BYTES;

export interface JournalState {
  readonly mark: Buffer;
  /** While it is false, there is no record that the store does not hold. */
  readonly isOpen: boolean;
  /** The number of the last record that the store holds. */
  readonly number: number;
}

export function newState(): JournalState {
  return { mark: Buffer.from(systemEntropy().bytes(MARK_BYTES)), isOpen: false, number: 0 };
}

export function encodeState({ mark, isOpen, number }: JournalState): Buffer {
  const value = Buffer.alloc(STATE_BYTES);
  mark.copy(value);
  value[MARK_BYTES] = isOpen ? 1 : 0;
  writeSerial(value, number, MARK_BYTES + 1);
  return value;
}

export function decodeState(stored: Uint8Array): JournalState {
  const value = asBuffer(stored);
  if (value.length !== STATE_BYTES) throw refuse('what the store says of it is damaged');
  return {
    mark: Buffer.from(value.subarray(0, MARK_BYTES)),
    isOpen: value[MARK_BYTES] === 1,
    number: value.readUIntBE(MARK_BYTES + 1, SERIAL_BYTES),
  };
}

/**
 * The records that the store does not hold yet, in their order. The last one may be half written,
 * and then it was not acknowledged; any other that is not whole means damage.
 */
export function pendingRecords(folder: string, state: JournalState): readonly JournalRecord[] {
  const records: JournalRecord[] = [];
  for (const name of JOURNAL_FILES) {
    const path = join(folder, name);
    if (!existsSync(path)) {
      if (state.isOpen) throw refuse(`the file ${path} is missing`);
      continue;
    }
    const file = readFileSync(path);
    if (isOfAnother(file, state.mark)) throw refuse(`the file ${path} belongs to another store`);
    records.push(...recordsIn(file, state.mark, state.number));
  }
  records.sort((a, b) => a.number - b.number);
  if (!state.isOpen && records.length > 0) throw refuse('it is newer than the store beside it');
  for (const [index, { number }] of records.entries()) {
    const expected = state.number + 1 + index;
    if (number !== expected) {
      throw refuse(`record ${expected} is damaged or missing, and record ${number} is there`);
    }
  }
  return records;
}

function refuse(why: string): Error {
  return new Error(
    `The journal of the store cannot be read: ${why}. Everything was left as it is; put the ` +
      'missing files back, restore the whole folder from a backup, or choose another with --data.',
  );
}
