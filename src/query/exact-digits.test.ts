// The digits of long numbers in rows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowText } from './exact-digits.js';

const rows: readonly (readonly [what: string, stored: string, value: unknown, text: string])[] = [
  [
    'a long identifier',
    '{"v":9007199254740993}',
    { v: 9007199254740992 },
    '{"v":9007199254740993}',
  ],
  ['alone', '{"v":9007199254740993}', 9007199254740992, '9007199254740993'],
  ['below zero', '{"v":-9007199254740993}', [-9007199254740992], '[-9007199254740993]'],
  ['64 bits', '[9223372036854775807]', 2 ** 63, '9223372036854775807'],
  ['a fraction', '[0.12345678901234567890]', 0.12345678901234568, '0.12345678901234567890'],
  ['two of one double', '[9007199254740993,9007199254740992]', 2 ** 53, '9007199254740992'],
  ['twice the same', '[9007199254740993,9007199254740993]', 2 ** 53, '9007199254740993'],
  ['in a text', '["9007199254740993"]', '9007199254740992', '"9007199254740992"'],
  [
    'beside texts',
    '{"a":"\\"9007199254740995","v":9007199254740993}',
    { a: '"9007199254740992', v: 9007199254740992 },
    '{"a":"\\"9007199254740992","v":9007199254740993}',
  ],
  ['computed', '{"v":9007199254740993}', 9007199254740990, '9007199254740990'],
  ['short', '{"v":1.50}', 1.5, '1.5'],
];

for (const [what, stored, value, text] of rows) {
  test(what, () => assert.equal(rowText(value, Buffer.from(stored)), text));
}
