// Writes that are in the journal and not in the store below yet, by key and in order. Nothing is
// ever taken out of a layer: it goes as a whole, when the store below has all of it.
import { commonBytes, PREFIX_BYTES } from './keys.js';
import type { Key, Write } from './store.js';

/** A written value, or a removal, and the number of the record that brought it. */
export interface Version {
  readonly key: Key;
  readonly value: Uint8Array | undefined;
  readonly number: number;
  readonly older: Version | undefined;
}

/**
 * Buffers are no map keys; latin-1 gives each byte one character, is the cheapest text for them and
 * sorts as they do.
 */
export const nameOf = (key: Key): string => key.toString('latin1');

export class Layer {
  readonly #versions = new Map<string, Version>();
  readonly #names = new SortedNames();
  /** Not in order yet: they are put there when somebody asks for a range. */
  #unsorted: string[] = [];
  #number = 0;

  get size(): number {
    return this.#versions.size;
  }

  /** The last record that it holds. */
  get number(): number {
    return this.#number;
  }

  /** Older versions are kept only where somebody still reads them. */
  apply(writes: Iterable<Write>, number: number, keepsOlder: boolean): void {
    for (const [key, value] of writes) {
      const name = nameOf(key);
      const previous = this.#versions.get(name);
      if (!previous) this.#unsorted.push(name);
      const older = keepsOlder ? previous : undefined;
      this.#versions.set(name, { key, value, number, older });
    }
    this.#number = number;
  }

  /** The version that was the last one when the record of this number was. */
  find(name: string, number: number): Version | undefined {
    let version = this.#versions.get(name);
    while (version && version.number > number) version = version.older;
    return version;
  }

  /**
   * All of it, in parts of a bounded size. Neighbours come together: a store takes them with far
   * less work than the same keys as they were written. Each part is sorted when it is asked for,
   * so that nobody is held up by the whole.
   */
  *parts(keysMax: number): Generator<Write[]> {
    let part: string[] = [];
    for (const names of this.#groups()) {
      for (let from = 0; from < names.length; from += keysMax) {
        const piece = names.slice(from, from + keysMax).sort();
        if (part.length + piece.length > keysMax) {
          yield this.#writesOf(part);
          part = [];
        }
        part.push(...piece);
      }
    }
    if (part.length > 0) yield this.#writesOf(part);
  }

  /** Names of one table, and in the index over paths those of one path. */
  #groups(): string[][] {
    const groups = new Map<string, string[]>();
    for (const name of this.#versions.keys()) {
      const start = name.slice(0, commonBytes(name.charCodeAt(PREFIX_BYTES - 1)));
      const group = groups.get(start);
      if (group) group.push(name);
      else groups.set(start, [name]);
    }
    return Array.from(groups.keys())
      .sort()
      .map((start) => groups.get(start) as string[]);
  }

  #writesOf(names: readonly string[]): Write[] {
    return names.map((name) => {
      const { key, value } = this.#versions.get(name) as Version;
      return [key, value];
    });
  }

  /** Where the first name lies that is not before this one. */
  seek(name: string): Cursor {
    for (const fresh of this.#unsorted) this.#names.add(fresh);
    this.#unsorted = [];
    return this.#names.seek(name);
  }
}

/** A place between names. It is good until the next write. */
export interface Cursor {
  next(): string | undefined;
  previous(): string | undefined;
}

const BLOCK_MAX = 512;

/** Sorted blocks of bounded size: adding a name moves at most one block. */
class SortedNames {
  readonly #blocks: string[][] = [[]];

  add(name: string): void {
    const index = this.#blockOf(name);
    const block = this.#blocks[index] as string[];
    // Most names come in order.
    if (block.length === 0 || (block.at(-1) as string) < name) block.push(name);
    else block.splice(lowerBound(block, name), 0, name);
    if (block.length > BLOCK_MAX) this.#blocks.splice(index + 1, 0, block.splice(BLOCK_MAX >> 1));
  }

  seek(name: string): Cursor {
    let block = this.#blockOf(name);
    let at = lowerBound(this.#blocks[block] as string[], name);
    return {
      next: () => {
        const names = this.#blocks[block] as string[];
        if (at < names.length) return names[at++];
        const following = this.#blocks[block + 1];
        if (!following) return undefined;
        block += 1;
        at = 1;
        return following[0];
      },
      previous: () => {
        if (at > 0) return this.#blocks[block]?.[--at];
        const before = this.#blocks[block - 1];
        if (!before) return undefined;
        block -= 1;
        at = before.length - 1;
        return before[at];
      },
    };
  }

  /** The last block whose first name is not greater. */
  #blockOf(name: string): number {
    let low = 1;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#blocks[middle]?.[0] as string) <= name) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

function lowerBound(names: readonly string[], name: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((names[middle] as string) < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
