// The port of the document engine to an ordered key-value store. Keys are bytes and sort as
// unsigned bytes.

import { breathe } from '../../time/clock.js';

export type Key = Buffer;
export type Entry = readonly [key: Key, value: Uint8Array];
/** `undefined` removes the key. */
export type Write = readonly [key: Key, value: Uint8Array | undefined];

/**
 * LMDB's default page holds keys up to this size; longer ones are bounded by `boundKey` before they
 * get here.
 */
export const KEY_BYTES_MAX = 1978;

const COUNTED_PER_TURN = 2000;

/** Counts the keys of a range, letting others go first every now and then. */
export async function countKeys(store: Store, from: Key, to: Key): Promise<number> {
  let count = 0;
  let start = from;
  while (Buffer.compare(start, to) < 0) {
    const keys = store.keys(start, to, COUNTED_PER_TURN);
    count += keys.length;
    const last = keys.at(-1);
    if (last === undefined || keys.length < COUNTED_PER_TURN) break;
    start = Buffer.concat([last, Buffer.of(0)]);
    await breathe();
  }
  return count;
}

export interface Store {
  /** The value as of the last commit. Calls within one turn of the event loop see one moment. */
  get(key: Key): Uint8Array | undefined;
  /** Entries with `from <= key < to` in key order, at most `limit`. */
  range(from: Key, to: Key, limit: number): readonly Entry[];
  /** The keys of the same range, without copying their values. */
  keys(from: Key, to: Key, limit: number): readonly Key[];
  /** The same keys from the last to the first, at most `limit` of them. */
  keysDown(from: Key, to: Key, limit: number): readonly Key[];
  /** All or nothing. Resolves when the writes would survive a power cut, and not before. */
  write(writes: Iterable<Write>): Promise<void>;
  size(): number;
  close(): Promise<void>;
}
