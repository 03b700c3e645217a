// MurmurHash3 with seed 0, in the two shapes that partition keys need: x86_32 and x64_128.
// 64-bit words are pairs of 32-bit integers, because BigInt is many times slower.

/** MurmurHash3_x86_32 of the first `length` bytes, as an unsigned number. */
export function murmur32(bytes: Buffer, length: number): number {
  const tail = length - (length % 4);
  let hash = 0;
  for (let at = 0; at < tail; at += 4) {
    hash ^= scramble32(bytes.readInt32LE(at));
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  hash ^= scramble32(paddedInt32(bytes, tail, length)) ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A 64-bit integer as two signed 32-bit ones. */
export interface Halves {
  readonly high: number;
  readonly low: number;
}

/** MurmurHash3_x64_128 of the first `length` bytes, as its two words. */
export function murmur128(
  bytes: Buffer,
  length: number,
): { readonly first: Halves; readonly second: Halves } {
  const tail = length - (length % 16);
  const first = new Word(0, 0);
  const second = new Word(0, 0);
  for (let at = 0; at < tail; at += 16) {
    const low = new Word(bytes.readInt32LE(at + 4), bytes.readInt32LE(at));
    first.xor(scrambleFirst(low)).rotate(27).add(second).multiply(FIVE).add(FIRST_STEP);
    const high = new Word(bytes.readInt32LE(at + 12), bytes.readInt32LE(at + 8));
    second.xor(scrambleSecond(high)).rotate(31).add(first).multiply(FIVE).add(SECOND_STEP);
  }
  // A rest that is padded with zeros scrambles as the shorter rest does, and an empty one to zero.
  const low = new Word(paddedInt32(bytes, tail + 4, length), paddedInt32(bytes, tail, length));
  const high = new Word(
    paddedInt32(bytes, tail + 12, length),
    paddedInt32(bytes, tail + 8, length),
  );
  first.xor(scrambleFirst(low));
  second.xor(scrambleSecond(high));

  first.low ^= length;
  second.low ^= length;
  first.add(second);
  second.add(first);
  avalanche(first);
  avalanche(second);
  first.add(second);
  second.add(first);
  return { first, second };
}

/** A 64-bit integer that its operations change in place, modulo 2^64. */
class Word implements Halves {
  high: number;
  low: number;

  constructor(high: number, low: number) {
    // As signed integers, which V8 keeps out of the heap.
    this.high = high | 0;
    this.low = low | 0;
  }

  xor(other: Word): this {
    this.high ^= other.high;
    this.low ^= other.low;
    return this;
  }

  add(other: Word): this {
    const low = (this.low >>> 0) + (other.low >>> 0);
    const carry = low > 0xffffffff ? 1 : 0;
    this.high = (this.high + other.high + carry) | 0;
    this.low = low | 0;
    return this;
  }

  multiply(other: Word): this {
    const crossed = Math.imul(this.high, other.low) + Math.imul(this.low, other.high);
    this.high = (multiplyHigh(this.low, other.low) + crossed) | 0;
    this.low = Math.imul(this.low, other.low);
    return this;
  }

  /** To the left, by 1 to 63 bits but 32. */
  rotate(bits: number): this {
    const left = bits & 31;
    const upper = bits < 32 ? this.high : this.low;
    const lower = bits < 32 ? this.low : this.high;
    this.high = (upper << left) | (lower >>> (32 - left));
    this.low = (lower << left) | (upper >>> (32 - left));
    return this;
  }
}

const FIVE = new Word(0, 5);
const FIRST_STEP = new Word(0, 0x52dce729);
const SECOND_STEP = new Word(0, 0x38495ab5);
const FIRST_FACTOR = new Word(0x87c37b91, 0x114253d5);
const SECOND_FACTOR = new Word(0x4cf5ad43, 0x2745937f);
const FIRST_AVALANCHE = new Word(0xff51afd7, 0xed558ccd);
const SECOND_AVALANCHE = new Word(0xc4ceb9fe, 0x1a85ec53);

/** The upper 32 bits of the unsigned product of two 32-bit integers, multiplied by halves. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carried = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + (middle >>> 16) + (carried >>> 16)) | 0;
}

function scramble32(block: number): number {
  const product = Math.imul(block, 0xcc9e2d51);
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593);
}

function scrambleFirst(block: Word): Word {
  return block.multiply(FIRST_FACTOR).rotate(31).multiply(SECOND_FACTOR);
}

function scrambleSecond(block: Word): Word {
  return block.multiply(SECOND_FACTOR).rotate(33).multiply(FIRST_FACTOR);
}

/** Little-endian, with zeros for the bytes after the end. */
function paddedInt32(bytes: Buffer, at: number, length: number): number {
  if (at + 4 <= length) return bytes.readInt32LE(at);
  let value = 0;
  for (let from = at; from < length; from++) {
    value |= bytes.readUInt8(from) << ((from - at) * 8);
  }
  return value;
}

/** Lets every bit of the word change every other; `high >>> 1` is the word shifted right by 33. */
function avalanche(word: Word): void {
  word.low ^= word.high >>> 1;
  word.multiply(FIRST_AVALANCHE);
  word.low ^= word.high >>> 1;
  word.multiply(SECOND_AVALANCHE);
  word.low ^= word.high >>> 1;
}
