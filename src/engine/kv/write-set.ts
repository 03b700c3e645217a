// Writes that are not stored yet, seen on top of what is. A batch works on a layer of its own, so
// that dropping the layer undoes the batch; a group of batches shares the layer below.
import type { Key, Write } from './store.js';

interface Readable {
  get(key: Key): Uint8Array | undefined;
}

export class WriteSet implements Readable {
  readonly #below: Readable;
  readonly #writes = new Map<string, Write>();

  constructor(below: Readable) {
    this.#below = below;
  }

  get size(): number {
    return this.#writes.size;
  }

  get(key: Key): Uint8Array | undefined {
    const written = this.#writes.get(nameOf(key));
    return written === undefined ? this.#below.get(key) : written[1];
  }

  put(key: Key, value: Uint8Array): void {
    this.#writes.set(nameOf(key), [key, value]);
  }

  remove(key: Key): void {
    this.#writes.set(nameOf(key), [key, undefined]);
  }

  mergeInto(target: WriteSet): void {
    for (const [name, write] of this.#writes) target.#writes.set(name, write);
  }

  entries(): Iterable<Write> {
    return this.#writes.values();
  }
}

/**
 * Buffers are no map keys; latin-1 gives each byte one character and is the cheapest text for them.
 */
function nameOf(key: Key): string {
  return key.toString('latin1');
}
