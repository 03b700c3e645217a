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

/** About a millisecond's worth. */
const COUNTED_PER_TURN = 10_000;
const COUNTED_FIRST = 64;

/** Counts the keys of a range, letting others go first every now and then. */
export async function countKeys(store: Reader, from: Key, to: Key): Promise<number> {
  let count = 0;
  let start = from;
  // Steps beyond the end cost as much as those before it, so they begin small.
  for (let step = COUNTED_FIRST; ; step = Math.min(2 * step, COUNTED_PER_TURN)) {
    const next = store.keyAt(start, to, step);
    if (next === undefined) return count + store.count(start, to);
    count += step;
    start = next;
    if (step === COUNTED_PER_TURN) await breathe();
  }
}

export interface Reader {
  /** The value as of the last commit. Calls within one turn of the event loop see one moment. */
  get(key: Key): Uint8Array | undefined;
  /** The same; the value may be part of a larger piece of memory, which it keeps alive. */
  getInto(slab: Slab, key: Key): Uint8Array | undefined;
  has(key: Key): boolean;
  /** Entries with `from <= key < to` in key order, at most `limit`. */
  range(from: Key, to: Key, limit: number): readonly Entry[];
  /** The keys of the same range, without copying their values. */
  keys(from: Key, to: Key, limit: number): readonly Key[];
  /** The same keys from the last to the first, at most `limit` of them. */
  keysDown(from: Key, to: Key, limit: number): readonly Key[];
  /** The key so many places behind the first of the range; undefined when the range ends before. */
  keyAt(from: Key, to: Key, places: number): Key | undefined;
  /** How many keys a range has. It takes time with their number, and lets nobody go first. */
  count(from: Key, to: Key): number;
}

/** One moment of a store, whatever is written meanwhile. It must be released, and soon. */
export interface Snapshot extends Reader {
  release(): void;
}

export interface Store extends Reader {
  snapshot(): Snapshot;
  /**
   * All or nothing. Resolves when the writes would survive a power cut, and not before. The event
   * loop may be held for a moment where nobody waits for anything else.
   */
  write(writes: readonly Write[], mayHold?: boolean): Promise<void>;
  /** Resolves when everything is in the store's own file, also without its journal. */
  settle(): Promise<void>;
  size(): number;
  close(): Promise<void>;
}

const SLAB_BYTES = 131_072;
/** Larger parts of it have memory of their own. */
const SLAB_SHARE = 8;

/**
 * Memory for values that are read one after the other and soon forgotten: one piece for many costs
 * less than many pieces. Whoever keeps a value for long copies it.
 */
export class Slab {
  #memory = NO_MEMORY;
  #used = 0;

  /** A copy of the first bytes of a value. */
  copy(value: Uint8Array, length: number): Buffer {
    if (length > SLAB_BYTES / SLAB_SHARE) return Buffer.from(value.subarray(0, length));
    if (this.#used + length > this.#memory.length) {
      this.#memory = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += length;
    this.#memory.set(value.subarray(0, length), start);
    return this.#memory.subarray(start, this.#used);
  }
}

const NO_MEMORY = Buffer.alloc(0);
