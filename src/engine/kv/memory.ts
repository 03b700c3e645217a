// A store in memory, for tests and `--data :memory:`. Sorted blocks of bounded size: finding a key
// is two binary searches, inserting moves at most one block.
import type { Entry, Key, Slab, Snapshot, Store, Write } from './store.js';

const BLOCK_MAX = 512;
/** A block that a snapshot shares is copied before it is changed. */
type Block = { keys: Key[]; values: Uint8Array[]; shared: boolean };
const emptyBlock = (): Block => ({ keys: [], values: [], shared: false });

export class MemoryStore implements Store {
  #blocks: Block[] = [emptyBlock()];
  #bytes = 0;

  snapshot(): Snapshot {
    const copy = new MemoryStore();
    for (const block of this.#blocks) block.shared = true;
    copy.#blocks = [...this.#blocks];
    const release = () => {
      copy.#blocks = [emptyBlock()];
    };
    return Object.assign(copy, { release });
  }

  get(key: Key): Uint8Array | undefined {
    const block = this.#blockOf(key);
    const at = lowerBound(block.keys, key);
    const found = block.keys[at];
    return found?.equals(key) ? block.values[at] : undefined;
  }

  /** The values here never change, so there is nothing to copy. */
  getInto(_slab: Slab, key: Key): Uint8Array | undefined {
    return this.get(key);
  }

  has(key: Key): boolean {
    return this.get(key) !== undefined;
  }

  range(from: Key, to: Key, limit: number): readonly Entry[] {
    const entries: Entry[] = [];
    this.#walk(from, to, limit, (key, value) => entries.push([key, value]));
    return entries;
  }

  keys(from: Key, to: Key, limit: number): readonly Key[] {
    const keys: Key[] = [];
    this.#walk(from, to, limit, (key) => keys.push(key));
    return keys;
  }

  keysDown(from: Key, to: Key, limit: number): readonly Key[] {
    const keys: Key[] = [];
    for (let index = this.#indexOf(to); index >= 0; index--) {
      const block = this.#blocks[index] as Block;
      for (let at = lowerBound(block.keys, to) - 1; at >= 0; at--) {
        const key = block.keys[at] as Key;
        if (keys.length >= limit || Buffer.compare(key, from) < 0) return keys;
        keys.push(key);
      }
    }
    return keys;
  }

  keyAt(from: Key, to: Key, places: number): Key | undefined {
    let index = this.#indexOf(from);
    let at = lowerBound(this.#blocks[index]?.keys ?? [], from) + places;
    for (let block = this.#blocks[index]; block; block = this.#blocks[++index]) {
      const key = block.keys[at];
      if (key) return Buffer.compare(key, to) < 0 ? key : undefined;
      at -= block.keys.length;
    }
    return undefined;
  }

  count(from: Key, to: Key): number {
    if (Buffer.compare(from, to) >= 0) return 0;
    const [first, last] = [this.#indexOf(from), this.#indexOf(to)];
    let count = lowerBound(this.#blocks[last]?.keys ?? [], to);
    for (let index = first; index < last; index++) count += this.#blocks[index]?.keys.length ?? 0;
    return count - lowerBound(this.#blocks[first]?.keys ?? [], from);
  }

  async write(writes: readonly Write[]): Promise<void> {
    for (const [key, value] of writes) {
      if (value === undefined) this.#remove(key);
      else this.#put(key, value);
    }
  }

  async settle(): Promise<void> {}

  size(): number {
    return this.#bytes;
  }

  async close(): Promise<void> {
    this.#blocks = [emptyBlock()];
  }

  #walk(from: Key, to: Key, limit: number, visit: (key: Key, value: Uint8Array) => void): void {
    let left = limit;
    for (let index = this.#indexOf(from); index < this.#blocks.length; index++) {
      const block = this.#blocks[index] as Block;
      for (let at = lowerBound(block.keys, from); at < block.keys.length; at++) {
        const key = block.keys[at] as Key;
        if (left-- <= 0 || Buffer.compare(key, to) >= 0) return;
        visit(key, block.values[at] as Uint8Array);
      }
    }
  }

  #put(key: Key, value: Uint8Array): void {
    const index = this.#indexOf(key);
    const block = this.#ownBlock(index);
    const at = lowerBound(block.keys, key);
    const found = block.keys[at];
    if (found?.equals(key)) {
      this.#bytes += value.length - (block.values[at]?.length ?? 0);
      block.values[at] = value;
      return;
    }
    block.keys.splice(at, 0, key);
    block.values.splice(at, 0, value);
    this.#bytes += key.length + value.length;
    if (block.keys.length > BLOCK_MAX) this.#split(index, block);
  }

  #remove(key: Key): void {
    const index = this.#indexOf(key);
    const block = this.#ownBlock(index);
    const at = lowerBound(block.keys, key);
    const found = block.keys[at];
    if (!found?.equals(key)) return;
    this.#bytes -= found.length + (block.values[at]?.length ?? 0);
    block.keys.splice(at, 1);
    block.values.splice(at, 1);
    if (block.keys.length === 0 && this.#blocks.length > 1) this.#blocks.splice(index, 1);
  }

  #split(index: number, block: Block): void {
    const half = block.keys.length >> 1;
    const upper = { ...emptyBlock(), keys: block.keys.splice(half) };
    upper.values = block.values.splice(half);
    this.#blocks.splice(index + 1, 0, upper);
  }

  #ownBlock(index: number): Block {
    const block = this.#blocks[index] as Block;
    if (!block.shared) return block;
    const own = { keys: [...block.keys], values: [...block.values], shared: false };
    this.#blocks[index] = own;
    return own;
  }

  #blockOf(key: Key): Block {
    return this.#blocks[this.#indexOf(key)] as Block;
  }

  /** The last block whose first key is not greater: the only one that may hold the key. */
  #indexOf(key: Key): number {
    let low = 1;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const first = this.#blocks[middle]?.keys[0];
      if (first && Buffer.compare(first, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

function lowerBound(keys: readonly Key[], key: Key): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Buffer.compare(keys[middle] as Key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
