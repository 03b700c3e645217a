// Snappy, in its block format: the length of the text as a varint, then literals and copies of what
// came before. The low bits of a tag say which:
//
//   00  a literal of tag >> 2, plus 1, bytes; 60 to 63: that number is in the next 1 to 4 bytes
//   01  a copy of 4 to 11 bytes; 11 bits of offset, three in the tag and eight behind it
//   10  a copy of up to 64 bytes, the offset in two bytes
//   11  the same, the offset in four bytes

/** What cannot have come from a compressor. */
export class BadSnappy extends Error {}

const LITERAL_MAX = 60;
const COPY_MAX = 64;
const MATCH_MIN = 4;
/** Within a block all offsets have two bytes. */
const BLOCK_BYTES = 65_536;
const TABLE_BITS = 14;

/** `size` is what the text must have, and the most that is kept for it. */
export function snappyOpen(packed: Buffer, size: number): Buffer {
  const [length, start] = readLength(packed);
  if (length !== size) throw new BadSnappy(`a text of ${length} bytes, said to have ${size}`);
  const text = Buffer.allocUnsafe(size);
  let written = 0;
  for (let at = start; at < packed.length; ) {
    const tag = packed[at] as number;
    at += 1;
    if ((tag & 3) === 0) {
      const extra = Math.max(0, (tag >> 2) - LITERAL_MAX + 1);
      const count = (extra === 0 ? tag >> 2 : numberAt(packed, at, extra)) + 1;
      at += extra;
      if (at + count > packed.length || written + count > size) throw new BadSnappy('a literal');
      packed.copy(text, written, at, at + count);
      at += count;
      written += count;
      continue;
    }
    const isShort = (tag & 3) === 1;
    const bytes = isShort ? 1 : (tag & 3) === 2 ? 2 : 4;
    const offset = numberAt(packed, at, bytes) + (isShort ? (tag >> 5) << 8 : 0);
    const count = isShort ? ((tag >> 2) & 7) + MATCH_MIN : (tag >> 2) + 1;
    at += bytes;
    if (offset === 0 || offset > written || written + count > size) throw new BadSnappy('a copy');
    copyBack(text, written, offset, count);
    written += count;
  }
  if (written !== size) throw new BadSnappy('a text that is cut short');
  return text;
}

export function snappyPack(text: Buffer): Buffer {
  // At the worst, every 60 bytes are a literal with a tag, and there are the lengths.
  const packed = Buffer.allocUnsafe(32 + text.length + Math.floor(text.length / 6));
  let at = writeLength(packed, text.length);
  const table = new Int32Array(1 << TABLE_BITS);
  for (let begin = 0; begin < text.length; begin += BLOCK_BYTES) {
    at = packBlock(text, begin, Math.min(text.length, begin + BLOCK_BYTES), packed, at, table);
  }
  return packed.subarray(0, at);
}

function packBlock(
  text: Buffer,
  begin: number,
  end: number,
  packed: Buffer,
  start: number,
  table: Int32Array,
): number {
  table.fill(-1);
  let at = start;
  let from = begin;
  let place = begin;
  while (place + MATCH_MIN <= end) {
    const word = text.readInt32LE(place);
    const slot = Math.imul(word, 0x1e35a7bd) >>> (32 - TABLE_BITS);
    const before = table[slot] as number;
    table[slot] = place;
    if (before < begin || text.readInt32LE(before) !== word) {
      // The longer nothing is found, the larger the steps.
      place += 1 + ((place - from) >> 5);
      continue;
    }
    let count = MATCH_MIN;
    while (place + count < end && text[before + count] === text[place + count]) count += 1;
    at = writeLiteral(text, from, place, packed, at);
    at = writeCopies(packed, at, place - before, count);
    place += count;
    from = place;
  }
  return writeLiteral(text, from, end, packed, at);
}

function writeLiteral(
  text: Buffer,
  from: number,
  to: number,
  packed: Buffer,
  start: number,
): number {
  if (from >= to) return start;
  let at = start;
  const less = to - from - 1;
  if (less < LITERAL_MAX) packed[at++] = less << 2;
  else if (less < 256) {
    packed[at++] = LITERAL_MAX << 2;
    packed[at++] = less;
  } else {
    packed[at++] = (LITERAL_MAX + 1) << 2;
    at = packed.writeUInt16LE(less, at);
  }
  text.copy(packed, at, from, to);
  return at + to - from;
}

function writeCopies(packed: Buffer, start: number, offset: number, length: number): number {
  let at = start;
  for (let left = length; left > 0; ) {
    const count = Math.min(left, COPY_MAX);
    packed[at++] = ((count - 1) << 2) | 2;
    at = packed.writeUInt16LE(offset, at);
    left -= count;
  }
  return at;
}

/** What is copied may reach into what is being written: then it repeats. */
function copyBack(text: Buffer, to: number, offset: number, count: number): void {
  if (offset >= count) text.copyWithin(to, to - offset, to - offset + count);
  else for (let i = 0; i < count; i++) text[to + i] = text[to + i - offset] as number;
}

function numberAt(packed: Buffer, at: number, bytes: number): number {
  if (at + bytes > packed.length) throw new BadSnappy('a number that is cut short');
  return packed.readUIntLE(at, bytes);
}

function readLength(packed: Buffer): readonly [length: number, next: number] {
  let length = 0;
  for (let at = 0; at < 5 && at < packed.length; at++) {
    const byte = packed[at] as number;
    length += (byte & 127) * 2 ** (7 * at);
    if (byte < 128) return [length, at + 1];
  }
  throw new BadSnappy('a length');
}

function writeLength(packed: Buffer, length: number): number {
  let at = 0;
  for (let left = length; ; left = Math.floor(left / 128)) {
    if (left < 128) {
      packed[at++] = left;
      return at;
    }
    packed[at++] = (left % 128) | 128;
  }
}
