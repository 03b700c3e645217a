// Values as bytes, whose unsigned order is that of `compareValues`: the components of store keys.
//
//   undefined  10
//   null       20
//   false      30
//   true       31
//   number     40  the double, big-endian; sign bit flipped if positive, all bits if negative
//   string     50  text 00
//   array      60  { value } 00
//   object     70  { 50 name 00 value } 00, in the order of the names
//   text       CESU-8, in which the bytes 00 and 01 are written as 01 01 and 01 02
//
// CESU-8 is UTF-8 but for surrogates, each of which is written by itself in three bytes. That makes
// byte order the order of UTF-16 code units, and keeps lone surrogates apart. Text never holds a 00
// and no tag is 00, so 00 ends things and sorts below whatever might go on instead. Hence no
// encoding is a prefix of another one, and concatenations compare component by component. The gaps
// between tags leave room for more types.
import { hash } from 'node:crypto';

export function encodeValue(value: unknown): Uint8Array {
  writer.begin();
  writer.appendValue(value);
  return writer.take();
}

/** The concatenated encodings. They order like the tuples, a shorter one before what it begins. */
export function encodeValues(values: readonly unknown[]): Uint8Array {
  writer.begin();
  for (const value of values) writer.appendValue(value);
  return writer.take();
}

/** The bare text for the very end of a key: without tag and end, so nothing need be escaped. */
export function encodeText(text: string): Uint8Array {
  if (!SURROGATE.test(text)) return Buffer.from(text);
  const bytes = Buffer.allocUnsafe(text.length * UNIT_BYTES_MAX);
  let end = 0;
  for (let at = 0; at < text.length; at++) end = writeUnit(bytes, end, text.charCodeAt(at));
  return bytes.subarray(0, end);
}

/**
 * A key no longer than the store allows. Short keys stay as they are and keep their order; long
 * ones keep only the order of their beginnings, and their hash keeps them distinct.
 */
export function boundKey(encoded: Uint8Array, bytesMax: number): Uint8Array {
  if (encoded.length <= bytesMax) return encoded;
  const kept = bytesMax - HASH_BYTES;
  if (kept < 0) throw new RangeError(`a key of ${bytesMax} bytes has no room for a hash`);
  const digest = hash('sha256', encoded, 'buffer');
  return Buffer.concat([encoded.subarray(0, kept), digest], bytesMax);
}

/** Reads back what `encodeValues` made of scalars. Bare text at the end of a key is not for it. */
export function decodeValues(encoded: Uint8Array): readonly unknown[] {
  const bytes = Buffer.isBuffer(encoded)
    ? encoded
    : Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const values: unknown[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes.readUInt8(at);
    at++;
    if (tag === Tag.number) {
      values.push(readNumber(bytes, at));
      at += NUMBER_BYTES;
    } else if (tag === Tag.string) {
      const end = endOfText(bytes, at);
      values.push(readText(bytes, at, end));
      at = end + 1;
    } else {
      values.push(constantOf(tag));
    }
  }
  return values;
}

type Properties = Readonly<Record<string, unknown>>;

const Tag = {
  undefined: 0x10,
  null: 0x20,
  false: 0x30,
  true: 0x31,
  number: 0x40,
  string: 0x50,
  array: 0x60,
  object: 0x70,
} as const;
const END = 0x00;
/** Written before a 00 or 01 of the text, which follows it plus one. */
const ESCAPE = 0x01;
const ASCII_MAX = 0x7f;
const NUMBER_BYTES = 8;
const UNIT_BYTES_MAX = 3;
const HASH_BYTES = 32;
const SLAB_BYTES = 8192;
/** Up to this length a loop is faster than the call into native code. */
const SHORT_UNITS_MAX = 32;

const SURROGATE = /[\ud800-\udfff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these two are what the encoding escapes.
const NOT_PLAIN = /[\u0000\u0001\ud800-\udfff]/;

/**
 * Cuts keys from a slab, one after another, because their sizes are known only at the end, and to
 * copy a short key costs as much as to encode it. A key keeps its slab alive, as Node's own small
 * buffers do.
 */
class KeyWriter {
  #slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #start = 0;
  #end = 0;

  /** Leaves behind the previous key, and whatever a call that threw has written. */
  begin(): void {
    // A slab that grew for a large key would be a lot of memory for small ones to keep alive.
    if (this.#slab.length > SLAB_BYTES) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#end = 0;
    }
    this.#start = this.#end;
  }

  appendValue(value: unknown): void {
    if (typeof value === 'string') this.#appendString(value);
    else if (typeof value === 'number') this.#appendNumber(value);
    else if (value === undefined) this.#appendByte(Tag.undefined);
    else if (value === null) this.#appendByte(Tag.null);
    else if (typeof value === 'boolean') this.#appendByte(value ? Tag.true : Tag.false);
    else if (Array.isArray(value)) this.#appendArray(value);
    else if (typeof value === 'object') this.#appendObject(value as Properties);
    else throw new TypeError(`a ${typeof value} cannot be part of a key`);
  }

  take(): Uint8Array {
    return this.#slab.subarray(this.#start, this.#end);
  }

  #appendByte(byte: number): void {
    this.#reserve(1);
    this.#slab[this.#end++] = byte;
  }

  #appendNumber(value: number): void {
    this.#reserve(1 + NUMBER_BYTES);
    this.#slab[this.#end] = Tag.number;
    writeNumber(this.#slab, this.#end + 1, value);
    this.#end += 1 + NUMBER_BYTES;
  }

  #appendString(text: string): void {
    this.#appendByte(Tag.string);
    if (text.length > SHORT_UNITS_MAX || !this.#appendedAscii(text)) {
      if (NOT_PLAIN.test(text)) this.#appendEscaped(text);
      else this.#appendPlain(text);
    }
    this.#appendByte(END);
  }

  /** Says false, with nothing appended, when the text is not all plain ASCII. */
  #appendedAscii(text: string): boolean {
    this.#reserve(text.length);
    let end = this.#end;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit <= ESCAPE || unit > ASCII_MAX) return false;
      this.#slab[end++] = unit;
    }
    this.#end = end;
    return true;
  }

  #appendPlain(text: string): void {
    this.#reserve(Buffer.byteLength(text));
    this.#end += this.#slab.write(text, this.#end);
  }

  #appendEscaped(text: string): void {
    this.#reserve(text.length * UNIT_BYTES_MAX);
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit <= ESCAPE) {
        this.#slab[this.#end++] = ESCAPE;
        this.#slab[this.#end++] = unit + 1;
      } else {
        this.#end = writeUnit(this.#slab, this.#end, unit);
      }
    }
  }

  #appendArray(values: readonly unknown[]): void {
    this.#appendByte(Tag.array);
    for (const value of values) this.appendValue(value);
    this.#appendByte(END);
  }

  #appendObject(properties: Properties): void {
    this.#appendByte(Tag.object);
    for (const name of Object.keys(properties).sort()) {
      this.#appendString(name);
      this.appendValue(properties[name]);
    }
    this.#appendByte(END);
  }

  /** Moves the unfinished key to a new slab when this one is full. */
  #reserve(count: number): void {
    if (this.#end + count <= this.#slab.length) return;
    const written = this.#slab.subarray(this.#start, this.#end);
    this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, written.length * 2 + count));
    this.#slab.set(written);
    this.#start = 0;
    this.#end = written.length;
  }
}

/** One for all calls: encoding is synchronous and never calls back, so two keys cannot mix. */
const writer = new KeyWriter();

/** The flipped sign bit lifts positive numbers above negative ones, whose order turns round. */
function writeNumber(bytes: Buffer, at: number, value: number): void {
  // Minus zero equals zero, so both have the encoding of zero.
  bytes.writeDoubleBE(value === 0 ? 0 : value, at);
  const top = bytes.readInt32BE(at);
  if (top >= 0) {
    bytes.writeInt32BE(top ^ SIGN, at);
  } else {
    bytes.writeInt32BE(~top, at);
    bytes.writeInt32BE(~bytes.readInt32BE(at + 4), at + 4);
  }
}

const SIGN = -0x80000000;

function readNumber(bytes: Buffer, at: number): number {
  const top = bytes.readInt32BE(at);
  const rest = bytes.readInt32BE(at + 4);
  const double = Buffer.allocUnsafe(NUMBER_BYTES);
  double.writeInt32BE(top < 0 ? top ^ SIGN : ~top, 0);
  double.writeInt32BE(top < 0 ? rest : ~rest, 4);
  return double.readDoubleBE(0);
}

/** One UTF-16 code unit in one to three bytes. */
function writeUnit(bytes: Buffer, start: number, unit: number): number {
  let end = start;
  if (unit <= ASCII_MAX) {
    bytes[end++] = unit;
  } else if (unit < 0x800) {
    bytes[end++] = 0xc0 | (unit >> 6);
    bytes[end++] = 0x80 | (unit & 0x3f);
  } else {
    bytes[end++] = 0xe0 | (unit >> 12);
    bytes[end++] = 0x80 | ((unit >> 6) & 0x3f);
    bytes[end++] = 0x80 | (unit & 0x3f);
  }
  return end;
}

function endOfText(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    if (bytes[at] === END) return at;
  }
  throw new Error('a string in a key does not end');
}

function readText(bytes: Buffer, start: number, end: number): string {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === ESCAPE || byte === SURROGATE_LEAD) return readUnits(bytes, start, end);
  }
  return bytes.toString('utf8', start, end);
}

/** Every surrogate begins with this byte; text without it and without escapes is plain UTF-8. */
const SURROGATE_LEAD = 0xed;

function readUnits(bytes: Buffer, start: number, end: number): string {
  const units = Buffer.allocUnsafe((end - start) * 2);
  let count = 0;
  let at = start;
  while (at < end) {
    const byte = bytes.readUInt8(at);
    let unit = byte;
    if (byte === ESCAPE) {
      unit = bytes.readUInt8(at + 1) - 1;
      at += 2;
    } else if (byte <= ASCII_MAX) {
      at += 1;
    } else if (byte < 0xe0) {
      unit = ((byte & 0x1f) << 6) | (bytes.readUInt8(at + 1) & 0x3f);
      at += 2;
    } else {
      const middle = (bytes.readUInt8(at + 1) & 0x3f) << 6;
      unit = ((byte & 0x0f) << 12) | middle | (bytes.readUInt8(at + 2) & 0x3f);
      at += 3;
    }
    count = units.writeUInt16LE(unit, count);
  }
  return units.toString('utf16le', 0, count);
}

function constantOf(tag: number): null | boolean | undefined {
  switch (tag) {
    case Tag.undefined:
      return undefined;
    case Tag.null:
      return null;
    case Tag.false:
      return false;
    case Tag.true:
      return true;
    default:
      throw new Error(`byte ${tag} of a key is not the tag of a scalar`);
  }
}
