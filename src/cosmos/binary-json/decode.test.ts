// Binary JSON, byte by byte.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MayflyError } from '../../value/errors.js';
import { jsonText } from './decode.js';

const bytesOf = (hex: string) => Buffer.from(`80${hex.replaceAll(' ', '')}`, 'hex');
const ascii = (text: string) => Buffer.from(text).toString('hex');

/** The bytes behind the first one, and the text. */
const rows: readonly (readonly [hex: string, text: string])[] = [
  ['00', '0'],
  ['1F', '31'],
  ['C8 FF', '255'],
  ['C9 FEFF', '-2'],
  ['CA 00000080', '-2147483648'],
  ['CB 0100000000002000', '9007199254740993'],
  ['C7 FFFFFFFFFFFFFFFF', '18446744073709551615'],
  ['CC 000000000000F83F', '1.5'],
  ['CD 0000C03F', '1.5'],
  ['CE 000000000000F83F', '1.5'],
  ['D7 FF', '255'],
  ['D8 FF', '-1'],
  ['D9 FEFF', '-2'],
  ['DA FEFFFFFF', '-2'],
  ['DB FEFFFFFFFFFFFFFF', '-2'],
  ['DC FFFFFFFF', '4294967295'],
  ['D0', 'null'],
  ['D1', 'false'],
  ['D2', 'true'],
  ['80', '""'],
  [`85 ${ascii('hello')}`, '"hello"'],
  [`83 ${ascii('"é')}`, '"\\"é"'],
  ['C0 02 6869', '"hi"'],
  ['C1 0200 6869', '"hi"'],
  ['C2 02000000 6869', '"hi"'],
  ['2C', '"id"'],
  ['3F', '"_id"'],
  ['75 1032547698BADCFE1032547698BADCFE', '"01234567-89ab-cdef-0123-456789abcdef"'],
  ['76 1032547698BADCFE1032547698BADCFE', '"01234567-89AB-CDEF-0123-456789ABCDEF"'],
  ['77 1032547698BADCFE1032547698BADCFE', '"\\"01234567-89ab-cdef-0123-456789abcdef\\""'],
  ['D3 67452301AB89EFCD0123456789ABCDEF', '"01234567-89ab-cdef-0123-456789abcdef"'],
  ['78 03 1002', '"012"'],
  ['79 02 BA', '"AB"'],
  ['7A 11 13531CC2311EB4510F', '"2024-01-02T03:04Z"'],
  ['71 01 00 666F6F', '"Zm9v"'],
  ['71 01 01 6869', '"aGk="'],
  ['71 01 FE 6869', '"aGk"'],
  ['73 01 00 FBFFFE', '"-__-"'],
  ['DD 02 6869', '"aGk="'],
  ['7B 02 61 10', '"ab"'],
  ['7C 03 61 2064', '"abz"'],
  ['7D 03 41 009803', '"Aaz"'],
  ['7E 02 6131', '"ab"'],
  ['7F 0200 6131', '"ab"'],
  ['E0', '[]'],
  ['E8', '{}'],
  ['E1 05', '[5]'],
  ['E2 02 0102', '[1,2]'],
  ['E5 02 02 0102', '[1,2]'],
  ['E6 0200 0200 0102', '[1,2]'],
  ['E7 02000000 02000000 0102', '[1,2]'],
  ['E9 2C 8131', '{"id":"1"}'],
  ['EA 05 2C8131 3B07', '{"id":"1","type":7}'],
  ['ED 05 02 2C8131 3B07', '{"id":"1","type":7}'],
  ['E5 05 02 826869 C304', '["hi","hi"]'],
  ['F0 D8 03 01FF02', '[1,-1,2]'],
  ['F2 F0 D7 02 02 01020304', '[[1,2],[3,4]]'],
];

for (const [hex, text] of rows) {
  test(`${hex} is ${text}`, () => {
    assert.equal(jsonText(bytesOf(hex)).toString(), text);
  });
}

test('text is left as it is', () => {
  const text = Buffer.from('{"id":"1"}');
  assert.equal(jsonText(text), text);
});

const refused: readonly (readonly [what: string, hex: string, status: number])[] = [
  ['nothing', '', 400],
  ['a number that is cut off', 'CB 01', 400],
  ['a string that is cut off', '85 6869', 400],
  ['what is no UTF-8', '81 FF', 400],
  ['a second value', '01 02', 400],
  ['an unknown marker', 'CF 0000', 400],
  ['no number', 'CC 000000000000F87F', 400],
  ['a string of a dictionary', '40', 400],
  ['a name that is a number', 'E9 01 01', 400],
  ['a value that is longer than its array', 'E2 01 C901', 400],
  ['a wrong count', 'E5 02 03 0102', 400],
  ['a reference to nowhere', 'C3 FF', 400],
  ['a reference to a number', 'E5 03 02 05 C304', 400],
  ['a reference to a reference', 'E5 04 02 C304 C304', 400],
  ['numbers of no type', 'F0 CB 01 01', 400],
  ['nesting without end', 'E1'.repeat(1_000_000), 400],
  ['more than was sent', `E7 ${lengthOf(`C1 FFFF ${'61'.repeat(65_535)}`, 'C30A', 100)}`, 413],
];

/** An array of a long string and as many references to it. */
function lengthOf(first: string, reference: string, count: number): string {
  const payload = `${first}${reference.repeat(count)}`.replaceAll(' ', '');
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32LE(payload.length / 2, 0);
  sizes.writeUInt32LE(count + 1, 4);
  return `${sizes.toString('hex')}${payload}`;
}

for (const [what, hex, status] of refused) {
  test(`${what} is refused`, () => {
    assert.throws(
      () => jsonText(bytesOf(hex)),
      (error) => error instanceof MayflyError && error.kind.status === status,
    );
  });
}
