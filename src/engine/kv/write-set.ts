// Writes that are not stored yet, seen on top of what is. A batch marks where it begins, so that
// rolling back to the mark undoes the batch and nothing else.
import { isReadBack } from './keys.js';
import type { Key, Write } from './store.js';

interface Readable {
  get(key: Key): Uint8Array | undefined;
}
export interface Mark {
  readonly writes: number;
  readonly changes: number;
  readonly bytes: number;
}

export class WriteSet implements Readable {
  readonly #below: Readable;
  /** In the order they were made, which decides between two of one key. */
  readonly #writes: Write[] = [];
  /** The last write of each key that may be read again. */
  readonly #latest = new Map<string, Write>();
  /** What `latest` held before each of its changes. */
  readonly #changes: (readonly [name: string, before: Write | undefined])[] = [];

  #bytes = 0;

  constructor(below: Readable) {
    this.#below = below;
  }

  get size(): number {
    return this.#writes.length;
  }

  /** What the keys and values take. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: Key): Uint8Array | undefined {
    if (!isReadBack(key)) throw new Error('an entry that no write reads again was read');
    const written = this.#latest.get(nameOf(key));
    return written === undefined ? this.#below.get(key) : written[1];
  }

  put(key: Key, value: Uint8Array): void {
    this.#add([key, value]);
  }

  remove(key: Key): void {
    this.#add([key, undefined]);
  }

  mark(): Mark {
    return { writes: this.#writes.length, changes: this.#changes.length, bytes: this.#bytes };
  }

  rollBack(mark: Mark): void {
    this.#writes.length = mark.writes;
    this.#bytes = mark.bytes;
    while (this.#changes.length > mark.changes) {
      const [name, before] = this.#changes.pop() as readonly [string, Write | undefined];
      if (before === undefined) this.#latest.delete(name);
      else this.#latest.set(name, before);
    }
  }

  entries(): readonly Write[] {
    return this.#writes;
  }

  #add(write: Write): void {
    this.#writes.push(write);
    const [key, value] = write;
    this.#bytes += key.length + (value?.length ?? 0);
    if (!isReadBack(key)) return;
    const name = nameOf(key);
    this.#changes.push([name, this.#latest.get(name)]);
    this.#latest.set(name, write);
  }
}

/**
 * Buffers are no map keys; latin-1 gives each byte one character and is the cheapest text for them.
 */
function nameOf(key: Key): string {
  return key.toString('latin1');
}
