// HMAC-SHA-256 (RFC 2104, FIPS 180-4) of short texts, for the signature that every request carries.
// A call into the system's library costs several times the hash itself, in objects that live for
// one request; this one keeps the key's state and works in place. No step depends on a secret's
// value.

const BLOCK_BYTES = 64;
export const DIGEST_WORDS = 8;

export type Digest = Int32Array;

/** Hashes texts with one key. The digest that is returned is overwritten by the next call. */
export class Hmac {
  readonly #inner: Int32Array;
  readonly #outer: Int32Array;
  readonly #state = new Int32Array(DIGEST_WORDS);
  #text: string | undefined;
  #message = Buffer.alloc(1024);

  constructor(secret: Uint8Array) {
    const key = new Uint8Array(BLOCK_BYTES);
    key.set(secret.length > BLOCK_BYTES ? bytesOf(sha256(secret)) : secret);
    this.#inner = INITIAL.slice();
    this.#outer = INITIAL.slice();
    compress(
      this.#inner,
      key.map((byte) => byte ^ 0x36),
      0,
    );
    compress(
      this.#outer,
      key.map((byte) => byte ^ 0x5c),
      0,
    );
  }

  digest(text: string): Digest {
    // Writes to one container in one second all sign the same text.
    if (text === this.#text) return this.#state;
    this.#text = text;
    const room = text.length * 3 + 2 * BLOCK_BYTES;
    if (room > this.#message.length) this.#message = Buffer.alloc(room);
    const message = this.#message;
    const length = writeText(message, text);
    const state = this.#state;
    state.set(this.#inner);
    finish(state, message, length, length + BLOCK_BYTES);
    for (let at = 0; at < DIGEST_WORDS; at++) message.writeInt32BE(state[at] as number, at * 4);
    state.set(this.#outer);
    finish(state, message, 4 * DIGEST_WORDS, 4 * DIGEST_WORDS + BLOCK_BYTES);
    return state;
  }
}

/** Takes the same time whatever differs. */
export function isSameDigest(one: Digest, other: Digest): boolean {
  let difference = 0;
  for (let at = 0; at < DIGEST_WORDS; at++) {
    difference |= (one[at] as number) ^ (other[at] as number);
  }
  return difference === 0;
}

function sha256(bytes: Uint8Array): Int32Array {
  const padded = Buffer.alloc(bytes.length + 2 * BLOCK_BYTES);
  padded.set(bytes);
  const state = INITIAL.slice();
  finish(state, padded, bytes.length, bytes.length);
  return state;
}

function bytesOf(words: Int32Array): Buffer {
  const bytes = Buffer.alloc(4 * words.length);
  for (const [at, word] of words.entries()) bytes.writeInt32BE(word, 4 * at);
  return bytes;
}

const ASCII_MAX = 0x7f;

/** Most signed texts are plain ASCII, which needs no call into native code. */
function writeText(bytes: Buffer, text: string): number {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > ASCII_MAX) return bytes.write(text, 'utf8');
    bytes[at] = unit;
  }
  return text.length;
}

/** Pads the last bytes of a message of `total` bytes and takes them in; there is room behind. */
function finish(state: Int32Array, bytes: Buffer, length: number, total: number): void {
  let end = length;
  bytes[end++] = 0x80;
  while (end % BLOCK_BYTES !== BLOCK_BYTES - 8) bytes[end++] = 0;
  bytes.writeUInt32BE(Math.floor(total / 0x2000_0000), end);
  bytes.writeUInt32BE((total * 8) >>> 0, end + 4);
  end += 8;
  for (let at = 0; at < end; at += BLOCK_BYTES) compress(state, bytes, at);
}

const ROUNDS = 64;
const INITIAL = Int32Array.from(firstPrimes(DIGEST_WORDS), (prime) => fraction(Math.sqrt(prime)));
const CONSTANTS = Int32Array.from(firstPrimes(ROUNDS), (prime) => fraction(Math.cbrt(prime)));
const schedule = new Int32Array(ROUNDS);

function firstPrimes(count: number): readonly number[] {
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number++) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  }
  return primes;
}

/** The first 32 bits behind the point. */
function fraction(root: number): number {
  return Math.floor((root % 1) * 0x1_0000_0000) | 0;
}

function compress(state: Int32Array, bytes: Uint8Array, start: number): void {
  const w = schedule;
  for (let i = 0; i < 16; i++) {
    const at = start + 4 * i;
    w[i] =
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number);
  }
  for (let i = 16; i < ROUNDS; i++) {
    const x = w[i - 15] as number;
    const y = w[i - 2] as number;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0;
  }
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  let f = state[5] as number;
  let g = state[6] as number;
  let h = state[7] as number;
  for (let i = 0; i < ROUNDS; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const choice = (e & f) ^ (~e & g);
    const one = (h + s1 + choice + (CONSTANTS[i] as number) + (w[i] as number)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + s0 + majority) | 0;
  }
  state[0] = ((state[0] as number) + a) | 0;
  state[1] = ((state[1] as number) + b) | 0;
  state[2] = ((state[2] as number) + c) | 0;
  state[3] = ((state[3] as number) + d) | 0;
  state[4] = ((state[4] as number) + e) | 0;
  state[5] = ((state[5] as number) + f) | 0;
  state[6] = ((state[6] as number) + g) | 0;
  state[7] = ((state[7] as number) + h) | 0;
}
