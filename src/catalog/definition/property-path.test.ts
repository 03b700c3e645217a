// Paths to one property: what is accepted, where the rest fails, and agreement with value/path.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePath } from '../../value/path.js';
import { TEXT_CHARACTERS_MAX } from './fields.js';
import { parsePropertyPath, propertyPathKey } from './property-path.js';

const accepted: readonly (readonly [string, readonly string[]])[] = [
  ['/pk', ['pk']],
  ['/_partitionKey', ['_partitionKey']],
  ['/a/b/c', ['a', 'b', 'c']],
  ['/0', ['0']],
  ['/größe/漢字', ['größe', '漢字']],
  ['/"my-prop"/x', ['my-prop', 'x']],
  ['/"a/b"', ['a/b']],
  ['/"say \\"hi\\""', ['say "hi"']],
  ['/"back\\\\slash"', ['back\\slash']],
  ['/"*"', ['*']],
  ['/__proto__/constructor', ['__proto__', 'constructor']],
];

const refused: readonly (readonly [string, number])[] = [
  ['', 0],
  ['id', 0],
  ['/', 1],
  ['//', 1],
  ['/a/', 3],
  ['/a//b', 3],
  ['/a/*', 3],
  ['/a/?', 3],
  ['/a/[]/b', 3],
  ['/my-prop', 3],
  ['/a b', 2],
  ['/$x', 1],
  ["/'x'", 1],
  ['/a"b"', 2],
  ['/"a"b', 4],
  ['/""', 2],
  ['/"open', 6],
  ['/"open\\', 7],
  ['/\ud800', 1],
];

test('accepted paths have their segments, and value/path.ts reads the same', () => {
  for (const [text, segments] of accepted) {
    assert.deepEqual(parsePropertyPath(text), segments, text);
    assert.deepEqual(parsePath(text), segments, text);
  }
});

test('refused paths name the position where they fail', () => {
  for (const [text, failedAt] of refused) {
    assert.deepEqual(parsePropertyPath(text), { failedAt }, text);
  }
});

test('a path has a longest length', () => {
  const longest = `/${'a'.repeat(TEXT_CHARACTERS_MAX - 1)}`;
  assert.equal('failedAt' in parsePropertyPath(longest), false);
  assert.deepEqual(parsePropertyPath(`${longest}a`), { failedAt: TEXT_CHARACTERS_MAX });
});

test('spellings of one path share a key, different paths do not', () => {
  const key = (text: string) => propertyPathKey(parsePropertyPath(text) as readonly string[]);
  assert.equal(key('/a/b'), key('/"a"/"b"'));
  assert.notEqual(key('/a/b'), key('/"a/b"'));
});
