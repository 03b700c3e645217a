// Effective partition keys (EPK): where a partition key lies in the space that partitions divide.
// The clients compute the same text to find the range of a key, so every bit of it is fixed.
//
//   hashed   undefined 00 | null 01 | false 02 | true 03 | number 05 double, little-endian
//            | string 08 UTF-8 end
//   v2       murmur128(hashed components, strings ending in FF), its bytes reversed and its top two
//            bits cleared
//   multi    the v2 hashes of the components one after another, so that a prefix of a key gives a
//            prefix of its EPK
//   v1       ordered(murmur32(hashed components, strings cut to 100 characters and ending in 00)),
//            then per component: 00 | 01 | 02 | 03 | ordered(number)
//            | string 08 { UTF-8 byte plus one } 00, or its first 101 bytes without the 00
//   ordered  05, then the double with its sign bit flipped, or negated if negative: the top byte,
//            then groups of 7 bits, each with a low bit that says whether more follow; no group
//            once the rest is zero
import { murmur32, murmur128 } from './murmur.js';
import type { PartitionHash, PartitionKey, Scalar } from './partition-key.js';

/** Upper-case hex. The empty key, a prefix of every hierarchical one, lies at the beginning. */
export function effectivePartitionKey(key: PartitionKey, hash: PartitionHash): string {
  if (key.length === 0) return SPACE_START;
  switch (hash) {
    case 'v1':
      return hashVersion1(key);
    case 'v2':
      return hashVersion2(key);
    case 'multi': {
      let text = '';
      for (const component of key) text += hashVersion2([component]);
      return text;
    }
    default:
      throw new Error(`unknown hash ${hash satisfies never}`);
  }
}

/**
 * The boundary in the middle between two others. It divides as `evenBoundaries` does: splitting
 * both halves of the space makes its quarters.
 */
export function splitSpan(from: string, to: string, hash: PartitionHash): string {
  const start = positionOf(from, hash);
  const middle = (start + positionOf(to, hash)) / 2n;
  if (middle <= start) throw new RangeError(`the span from '${from}' to '${to}' has no middle`);
  return boundaryAt(middle, hash);
}

export function hasMiddle(from: string, to: string, hash: PartitionHash): boolean {
  return positionOf(to, hash) - positionOf(from, hash) > 1n;
}

/** The boundaries of `count` equal ranges, both ends of the space included. */
export function evenBoundaries(count: number, hash: PartitionHash): readonly string[] {
  const boundaries = [SPACE_START];
  for (let index = 1; index < count; index++) {
    const position = (BigInt(index) * lastPosition(hash)) / BigInt(count);
    boundaries.push(boundaryAt(position, hash));
  }
  boundaries.push(SPACE_END);
  return boundaries;
}

const SPACE_START = '';
const SPACE_END = 'FF';
const STRING_CHARACTERS_MAX_V1 = 100;
const STRING_BYTES_MAX_V1 = 100;
const NUMBER_BYTES = 9;
/** Enough for nearly every key; a longer one makes it grow, up to the limit of keys. */
const SCRATCH_BYTES = 1024;
const ORDERED_NUMBER_BYTES_MAX = 10;
const HASH_CHARACTERS = 32;
const Marker = { undefined: 0, null: 1, false: 2, true: 3, number: 5, string: 8 } as const;

/** Both are written and read within one call: a hash costs less than the memory it would take. */
const digest = Buffer.alloc(HASH_CHARACTERS / 2);
let scratch = Buffer.alloc(SCRATCH_BYTES);

function hashVersion2(key: PartitionKey): string {
  const length = writeHashed(key, 0xff);
  const { first, second } = murmur128(scratch, length);
  // The 16 bytes of a hash are both words little-endian; reversed they are the second one
  // big-endian, then the first.
  digest.writeInt32BE(second.high & 0x3fffffff, 0);
  digest.writeInt32BE(second.low, 4);
  digest.writeInt32BE(first.high, 8);
  digest.writeInt32BE(first.low, 12);
  return hexOf(digest);
}

function hashVersion1(key: PartitionKey): string {
  const cut = key.map((component) =>
    typeof component === 'string' ? component.slice(0, STRING_CHARACTERS_MAX_V1) : component,
  );
  const length = writeHashed(cut, 0x00);
  const hash = orderedBytes(murmur32(scratch, length));
  return hexOf(Buffer.concat([hash, ...cut.map(orderedBytes)]));
}

function hexOf(bytes: Buffer): string {
  return bytes.toString('hex').toUpperCase();
}

/** Writes what the hash functions read, the components one after another; returns its length. */
function writeHashed(key: PartitionKey, stringEnd: number): number {
  reserve(key);
  let end = 0;
  for (const component of key) {
    end = scratch.writeUInt8(markerOf(component), end);
    if (typeof component === 'string') {
      end += scratch.write(component, end);
      end = scratch.writeUInt8(stringEnd, end);
    } else if (typeof component === 'number') {
      end = scratch.writeDoubleLE(withoutMinusZero(component), end);
    }
  }
  return end;
}

function reserve(key: PartitionKey): void {
  let bytesMax = 0;
  for (const component of key) {
    bytesMax += NUMBER_BYTES;
    // A UTF-16 code unit takes at most three bytes of UTF-8.
    if (typeof component === 'string') bytesMax += component.length * 3;
  }
  if (bytesMax > scratch.length) scratch = Buffer.alloc(bytesMax);
}

function markerOf(component: Scalar | undefined): number {
  if (component === undefined) return Marker.undefined;
  if (component === null) return Marker.null;
  if (typeof component === 'boolean') return component ? Marker.true : Marker.false;
  return typeof component === 'number' ? Marker.number : Marker.string;
}

/** Zero and minus zero are one partition key, so they must not lie in two places. */
function withoutMinusZero(value: number): number {
  return value === 0 ? 0 : value;
}

/** The hash, and the components as they follow it in version 1. */
function orderedBytes(component: Scalar | undefined): Buffer {
  if (typeof component === 'number') return orderedNumber(component);
  if (typeof component !== 'string') return Buffer.of(markerOf(component));
  // Characters were cut before; what is still too long in bytes shows it by having no end.
  const text = Buffer.from(component);
  const isShort = text.length <= STRING_BYTES_MAX_V1;
  const shown = isShort ? text : text.subarray(0, STRING_BYTES_MAX_V1 + 1);
  const bytes = Buffer.alloc(shown.length + (isShort ? 2 : 1));
  bytes.writeUInt8(Marker.string, 0);
  // UTF-8 has no byte FF that could overflow.
  for (let at = 0; at < shown.length; at++) bytes.writeUInt8(shown.readUInt8(at) + 1, at + 1);
  return bytes;
}

/** A number in bytes whose order is numeric. */
function orderedNumber(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(ORDERED_NUMBER_BYTES_MAX);
  bytes.writeDoubleBE(withoutMinusZero(value), 0);
  let high = bytes.readInt32BE(0);
  let low = bytes.readInt32BE(4);
  if (high >= 0) {
    high ^= 0x80000000;
  } else {
    low = -low | 0;
    high = ~high + (low === 0 ? 1 : 0);
  }
  let end = bytes.writeUInt8(Marker.number, 0);
  end = bytes.writeUInt8(high >>> 24, end);
  high = (high << 8) | (low >>> 24);
  low <<= 8;
  while (high !== 0 || low !== 0) {
    const group = (high >>> 24) & 0xfe;
    high = (high << 7) | (low >>> 25);
    low <<= 7;
    const more = high === 0 && low === 0 ? 0 : 1;
    end = bytes.writeUInt8(group | more, end);
  }
  return bytes.subarray(0, end);
}

/** Positions are hashes as integers. The service divides the last one, not the number after it. */
function lastPosition(hash: PartitionHash): bigint {
  return hash === 'v1' ? 0xffff_ffffn : (1n << 126n) - 1n;
}

function boundaryAt(position: bigint, hash: PartitionHash): string {
  if (hash !== 'v1') return position.toString(16).toUpperCase().padStart(HASH_CHARACTERS, '0');
  return hexOf(orderedNumber(Number(position)));
}

/** Boundaries of hierarchical keys may be longer than one hash; the first level decides. */
function positionOf(boundary: string, hash: PartitionHash): bigint {
  if (boundary === SPACE_START) return 0n;
  if (boundary === SPACE_END) return lastPosition(hash);
  if (hash === 'v1') return firstPositionFrom(boundary);
  return BigInt(`0x${boundary.slice(0, HASH_CHARACTERS).padEnd(HASH_CHARACTERS, '0')}`);
}

/** Version 1 boundaries grow with their positions, so halving finds one without decoding. */
function firstPositionFrom(boundary: string): bigint {
  let low = 0n;
  let high = lastPosition('v1');
  while (low < high) {
    const middle = (low + high) / 2n;
    if (boundaryAt(middle, 'v1') < boundary) low = middle + 1n;
    else high = middle;
  }
  return low;
}
