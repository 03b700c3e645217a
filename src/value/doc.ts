// A document with two faces: its stored bytes and its value; each is made from the other on first
// use. Bytes are JSON, or BSON, of which the value is an image for the index (bson-image.ts).
import { imageOf, isBson } from './bson-image.js';

export interface Doc {
  readonly bytes: Uint8Array;
  readonly value: unknown;
}

/** A document read from a store: the value is parsed only if somebody asks for it. */
export function docFromBytes(bytes: Uint8Array): Doc {
  return new StoredDoc(bytes);
}

/** A document whose value is already at hand, as on a write. */
export function docFromBoth(bytes: Uint8Array, value: unknown): Doc {
  return { bytes, value };
}

/** A document made from a plain value, serialised at once. */
export function docFromValue(value: unknown): Doc {
  return { bytes: Buffer.from(JSON.stringify(value)), value };
}

class StoredDoc implements Doc {
  readonly bytes: Uint8Array;
  #value: unknown;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get value(): unknown {
    this.#value ??= isBson(this.bytes) ? imageOf(this.bytes) : parseJson(this.bytes);
    return this.#value;
  }
}

function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}
