// Reads a body in the binary form of JSON from its front to its end; all numbers are little-endian.
import { isUtf8 } from 'node:buffer';
import { failure, type MayflyError } from '../../value/errors.js';

export type Width = 1 | 2 | 3 | 4;

export class Cursor {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw malformed(this.#at, 'it ends too early');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  byte(): number {
    return this.take(1)[0] as number;
  }

  unsigned(width: Width): number {
    return this.take(width).readUIntLE(0, width);
  }

  text(length: number): string {
    const bytes = this.take(length);
    if (!isUtf8(bytes)) throw malformed(this.#at - length, 'a string is no UTF-8');
    return bytes.toString();
  }

  /** Another one over the same bytes. */
  elsewhere(at: number): Cursor {
    return new Cursor(this.#bytes, at);
  }
}

export function malformed(at: number, why: string): MayflyError {
  return failure('invalidJson', { why: `At byte ${at} of the binary JSON ${why}.` });
}
