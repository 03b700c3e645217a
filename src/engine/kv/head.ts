// What the engine knows of one container without looking: its numbers and counts. Kept in memory,
// stored with every commit that changes them, so both are always the same moment.
import type { Container, Lsn, Serial } from '../engine.js';
import type { Indexing } from '../indexing.js';
import { Codes } from './codes.js';
import { asBuffer, headKey, SERIAL_BYTES, type Slot } from './keys.js';
import type { Key } from './store.js';

export interface IndexState {
  readonly version: number;
  readonly ready: boolean;
  readonly builtTo: Serial;
  /** Items from this serial on were written under the rules already. */
  readonly goal: Serial;
}

/** What a stored head says, which is as old or new as everything stored with it. */
export function readHead(stored: Uint8Array | undefined): { items: number; lsn: Lsn } {
  if (stored === undefined) return { items: 0, lsn: 0 };
  const value = asBuffer(stored);
  const number = (index: number) => value.readUIntBE(index * SERIAL_BYTES, SERIAL_BYTES);
  return { lsn: number(1), items: number(2) };
}

/**
 * The position that readers see. The one in memory runs ahead of it while a commit is on its way.
 */
export function storedLsn(store: { get(key: Key): Uint8Array | undefined }, slot: Slot): Lsn {
  return readHead(store.get(headKey(slot))).lsn;
}

export class Head {
  readonly slot: Slot;
  readonly rules: Codes;
  readonly indexes: Codes;
  nextSerial: Serial = 1;
  lsn: Lsn = 0;
  items = 0;
  bytes = 0;
  /** The index over paths: of which version, and up to which serial it is built. */
  index: IndexState = { version: 0, ready: true, builtTo: 0, goal: 1 };
  /** Set when a group of writes has changed it; cleared when that group stores it. */
  changed = false;
  /** How long versions are kept, as writes go by at this moment. */
  retentionMs: number | undefined;
  /** Numbers the versions that are logged; they only have to grow within a commit. */
  versions = 0;
  /** False while the last entries of a build are on their way to the store. */
  isIndexStored = true;

  constructor(slot: Slot, rules: readonly string[], indexes: readonly string[]) {
    this.slot = slot;
    this.rules = new Codes(rules);
    this.indexes = new Codes(indexes);
  }

  learn(container: Container): void {
    for (const rule of container.expiry) this.rules.add(rule.name);
    for (const index of container.indexes) this.indexes.add(index.name);
    this.retentionMs = container.retentionMs;
  }

  /** Rules of another version make the index worthless, unless there is nothing to index. */
  follow(indexing: Indexing): void {
    const { version } = indexing;
    if (version === this.index.version) return;
    this.index = { version, ready: this.items === 0, builtTo: 0, goal: this.nextSerial };
  }

  encode(): Buffer {
    const value = Buffer.allocUnsafe(8 * SERIAL_BYTES);
    const { version, ready, builtTo, goal } = this.index;
    const numbers = [
      ...[this.nextSerial, this.lsn, this.items, this.bytes],
      ...[version, ready ? 1 : 0, builtTo, goal],
    ];
    numbers.forEach((number, index) => {
      value.writeUIntBE(number, index * SERIAL_BYTES, SERIAL_BYTES);
    });
    return value;
  }

  load(stored: Uint8Array): void {
    const value = asBuffer(stored);
    const number = (index: number) => value.readUIntBE(index * SERIAL_BYTES, SERIAL_BYTES);
    this.nextSerial = number(0);
    this.lsn = number(1);
    this.items = number(2);
    this.bytes = number(3);
    const [version, ready, builtTo, goal] = [number(4), number(5) === 1, number(6), number(7)];
    this.index = { version, ready, builtTo, goal };
  }
}
