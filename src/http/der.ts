// A minimal writer of DER (X.690), the byte format of certificates: each value is a tag, a length
// and its content.

export const sequence = (...parts: readonly Uint8Array[]): Buffer => encode(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => encode(0x31, ...parts);
export const octetString = (content: Uint8Array): Buffer => encode(0x04, content);
export const utf8String = (text: string): Buffer => encode(0x0c, Buffer.from(text, 'utf8'));
export const boolean = (value: boolean): Buffer => encode(0x01, Buffer.of(value ? 0xff : 0x00));

/** A whole number of zero or more, given as big-endian bytes of any length. */
export function integer(magnitude: Uint8Array): Buffer {
  let start = 0;
  while (start < magnitude.length - 1 && magnitude[start] === 0) start += 1;
  const digits = magnitude.subarray(start);
  // The first bit is the sign, so a number whose first bit is set needs a zero byte before it.
  const first = digits[0] ?? 0x80;
  return first >= 0x80 ? encode(0x02, Buffer.of(0), digits) : encode(0x02, digits);
}

/**
 * An object identifier such as '2.5.29.17': the first two numbers share a byte, the rest are base
 * 128.
 */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return encode(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** `unusedBits` counts the bits at the end of the last byte that carry no meaning. */
export function bitString(content: Uint8Array, unusedBits = 0): Buffer {
  return encode(0x03, Buffer.of(unusedBits), content);
}

/** RFC 5280, 4.1.2.5: two-digit years until 2049, four-digit years from 2050 on. */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '');
  return at.getUTCFullYear() >= 2050
    ? encode(0x18, Buffer.from(digits, 'latin1'))
    : encode(0x17, Buffer.from(digits.slice(2), 'latin1'));
}

/** A context tag that wraps whole values (EXPLICIT). */
export function wrapped(number: number, ...parts: readonly Uint8Array[]): Buffer {
  return encode(0xa0 | number, ...parts);
}

/** A context tag that stands in place of a primitive value's own tag (IMPLICIT). */
export function tagged(number: number, content: Uint8Array): Buffer {
  return encode(0x80 | number, content);
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

function encode(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), length(content.length), content]);
}

/**
 * Lengths below 128 are one byte; longer ones are preceded by 0x80 plus the count of their bytes.
 */
function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.of(bytes);
  const digits: number[] = [];
  for (let rest = bytes; rest > 0; rest >>>= 8) digits.unshift(rest & 0xff);
  return Buffer.of(0x80 | digits.length, ...digits);
}
