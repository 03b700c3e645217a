// The strings of binary JSON, by their markers:
//
//   20–3F  one of those everybody knows          40–67  one of a dictionary, which is never sent
//   71–74  base64, as its bytes                  75–77  a GUID: lower case, upper case, in quotes
//   78–7A  four bits a character, by a table     7B–7F  4 to 7 bits a character
//   80–BF  as many bytes as the marker says      C0–C2  with a length of 1, 2 or 4 bytes
//   C3–C6  the one at an offset of 1 to 4 bytes  D3     a GUID as Windows keeps it
//   DD–DF  bytes, which JSON has as base64
import { type Cursor, malformed, type Width } from './cursor.js';

const KNOWN = [
  ...['$s', '$t', '$v', '_attachments', '_etag', '_rid', '_self', '_ts', 'attachments/'],
  ...['coordinates', 'geometry', 'GeometryCollection', 'id', 'url', 'Value', 'label'],
  ...['LineString', 'link', 'MultiLineString', 'MultiPoint', 'MultiPolygon', 'name', 'Name'],
  ...['Type', 'Point', 'Polygon', 'properties', 'type', 'value', 'Feature', 'FeatureCollection'],
  '_id',
];
const LOWER = '0123456789abcdef';
const UPPER = '0123456789ABCDEF';
const DATE_TIME = ' 0123456789:-.TZ';
const GUID_GROUPS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** Undefined where the marker is of no string. */
export function readString(cursor: Cursor, marker: number): string | undefined {
  if (marker >= 0x20 && marker < 0x40) return KNOWN[marker - 0x20];
  if (marker >= 0x80 && marker < 0xc0) return cursor.text(marker - 0x80);
  if (marker >= 0x40 && marker < 0x68) {
    throw malformed(cursor.at - 1, 'a string is of a dictionary that is not there');
  }
  return READERS[marker]?.(cursor);
}

const READERS: Readonly<Record<number, (cursor: Cursor) => string>> = {
  113: (cursor) => base64(cursor, 1, 'base64'),
  114: (cursor) => base64(cursor, 2, 'base64'),
  115: (cursor) => base64(cursor, 1, 'base64url'),
  116: (cursor) => base64(cursor, 2, 'base64url'),
  117: (cursor) => guid(nibbles(cursor.take(16), LOWER)),
  118: (cursor) => guid(nibbles(cursor.take(16), UPPER)),
  119: (cursor) => `"${guid(nibbles(cursor.take(16), LOWER))}"`,
  120: (cursor) => byTable(cursor, LOWER),
  121: (cursor) => byTable(cursor, UPPER),
  122: (cursor) => byTable(cursor, DATE_TIME),
  123: (cursor) => packed(cursor, 4, cursor.byte(), cursor.byte()),
  124: (cursor) => packed(cursor, 5, cursor.byte(), cursor.byte()),
  125: (cursor) => packed(cursor, 6, cursor.byte(), cursor.byte()),
  126: (cursor) => packed(cursor, 7, cursor.byte(), 0),
  127: (cursor) => packed(cursor, 7, cursor.unsigned(2), 0),
  192: (cursor) => cursor.text(cursor.unsigned(1)),
  193: (cursor) => cursor.text(cursor.unsigned(2)),
  194: (cursor) => cursor.text(cursor.unsigned(4)),
  195: (cursor) => referred(cursor, cursor.unsigned(1)),
  196: (cursor) => referred(cursor, cursor.unsigned(2)),
  197: (cursor) => referred(cursor, cursor.unsigned(3)),
  198: (cursor) => referred(cursor, cursor.unsigned(4)),
  211: (cursor) => guid(windowsGuid(cursor.take(16)).toString('hex')),
  221: (cursor) => cursor.take(cursor.unsigned(1)).toString('base64'),
  222: (cursor) => cursor.take(cursor.unsigned(2)).toString('base64'),
  223: (cursor) => cursor.take(cursor.unsigned(4)).toString('base64'),
};

/** Groups of four characters, then how many of them pad; inverted where the padding is left out. */
function base64(cursor: Cursor, width: Width, alphabet: 'base64' | 'base64url'): string {
  const characters = cursor.unsigned(width) * 4;
  const told = cursor.byte();
  const isOmitted = told > 2;
  const padding = isOmitted ? 255 - told : told;
  if (padding > 2 || padding > characters) throw malformed(cursor.at, 'base64 is padded too much');
  const text = cursor.take(Math.floor(((characters - padding) * 3) / 4)).toString(alphabet);
  const bare = text.replaceAll('=', '');
  return isOmitted ? bare : bare.padEnd(characters, '=');
}

/** Two characters a byte, the lower half first. */
function nibbles(bytes: Uint8Array, table: string): string {
  let text = '';
  for (const byte of bytes) text += `${table[byte & 15]}${table[byte >> 4]}`;
  return text;
}

function byTable(cursor: Cursor, table: string): string {
  const length = cursor.byte();
  return nibbles(cursor.take(Math.ceil(length / 2)), table).slice(0, length);
}

/** A stream of bits, the lowest first; `base` is added to each character. */
function packed(cursor: Cursor, bits: number, length: number, base: number): string {
  const bytes = cursor.take(Math.ceil((length * bits) / 8));
  let text = '';
  for (let index = 0; index < length; index++) {
    const at = index * bits;
    const window = (bytes[at >> 3] ?? 0) | ((bytes[(at >> 3) + 1] ?? 0) << 8);
    text += String.fromCharCode((((window >> (at & 7)) & ((1 << bits) - 1)) + base) & 255);
  }
  return text;
}

/** Never to another reference, so that none is followed for ever. */
function referred(cursor: Cursor, at: number): string {
  const there = cursor.elsewhere(at);
  const marker = there.byte();
  const text = marker >= 0xc3 && marker <= 0xc6 ? undefined : readString(there, marker);
  if (text === undefined) throw malformed(cursor.at, 'a string refers to what is none');
  return text;
}

function guid(digits: string): string {
  return digits.replace(GUID_GROUPS, '$1-$2-$3-$4-$5');
}

/** Its first three groups are little-endian. */
function windowsGuid(bytes: Buffer): Buffer {
  const group = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).reverse();
  return Buffer.concat([group(0, 4), group(4, 6), group(6, 8), bytes.subarray(8)]);
}
