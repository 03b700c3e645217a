// The port of the document engine to an ordered key-value store. Keys are bytes and sort as
// unsigned bytes.

export type Key = Buffer;
export type Entry = readonly [key: Key, value: Uint8Array];
/** `undefined` removes the key. */
export type Write = readonly [key: Key, value: Uint8Array | undefined];

/**
 * LMDB's default page holds keys up to this size; longer ones are bounded by `boundKey` before they
 * get here.
 */
export const KEY_BYTES_MAX = 1978;

export interface Store {
  /** The value as of the last commit. Calls within one turn of the event loop see one moment. */
  get(key: Key): Uint8Array | undefined;
  /** Entries with `from <= key < to` in key order, at most `limit`. */
  range(from: Key, to: Key, limit: number): readonly Entry[];
  /** The keys of the same range, without copying their values. */
  keys(from: Key, to: Key, limit: number): readonly Key[];
  /** All or nothing. Resolves when the writes would survive a power cut, and not before. */
  write(writes: Iterable<Write>): Promise<void>;
  size(): number;
  close(): Promise<void>;
}
