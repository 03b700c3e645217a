// Paths of indexing policies: every form of the grammar, and where other texts fail.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asIndexPath, type IndexPath, indexPathKey, isRoot, parseIndexPath } from './index-path.js';
import { refuses } from './refusal.suite.js';

const p = (property: string) => ({ property });
const elements = { elements: true } as const;

const accepted: readonly (readonly [string, IndexPath])[] = [
  ['/*', { steps: [], end: 'below' }],
  ['/a/?', { steps: [p('a')], end: 'value' }],
  ['/a/*', { steps: [p('a')], end: 'below' }],
  ['/a/b_2/?', { steps: [p('a'), p('b_2')], end: 'value' }],
  ['/"_etag"/?', { steps: [p('_etag')], end: 'value' }],
  ['/"my-prop"/*', { steps: [p('my-prop')], end: 'below' }],
  ['/"a/*"/?', { steps: [p('a/*')], end: 'value' }],
  ['/a/[]/?', { steps: [p('a'), elements], end: 'value' }],
  ['/a/[]/b/*', { steps: [p('a'), elements, p('b')], end: 'below' }],
  ['/a/[]/[]/?', { steps: [p('a'), elements, elements], end: 'value' }],
  ['/a/[]/{b}/?', { steps: [p('a'), elements], end: 'value', tuple: [['b']] }],
  [
    '/x/a/[]/{ b , c/"d e" }/?',
    { steps: [p('x'), p('a'), elements], end: 'value', tuple: [['b'], ['c', 'd e']] },
  ],
];

const refused: readonly (readonly [string, number])[] = [
  ['', 0],
  ['/', 1],
  ['a/?', 0],
  ['/?', 1],
  ['/expiration', 11],
  ['/a/', 3],
  ['/a/?/b', 4],
  ['/a/*/b/?', 4],
  ['/a*/?', 2],
  ['/my-prop/?', 3],
  ['/[]/?', 1],
  ['/a[]/?', 2],
  ['/a/[0]/?', 3],
  ['/a/{b, c}/?', 3],
  ['/a/[]/b/{c}/?', 8],
  ['/a/[]/[]/{c}/?', 9],
  ['/a/[]/{}/?', 7],
  ['/a/[]/{b,}/?', 9],
  ['/a/[]/{b, *}/?', 10],
  ['/a/[]/{b/[]}/?', 9],
  ['/a/[]/{b}/*', 8],
  ['/a/[]/{b}', 8],
  ['/a/[]/{b', 8],
  ['/a/[]/{b}/?x', 11],
];

test('accepted paths', () => {
  for (const [text, path] of accepted) assert.deepEqual(parseIndexPath(text), path, text);
});

test('refused paths name the position where they fail', () => {
  for (const [text, failedAt] of refused) {
    assert.deepEqual(parseIndexPath(text), { failedAt }, text);
  }
});

test('the refusal names the path and the position', () => {
  refuses(
    () => asIndexPath('/expiration', 'w'),
    ["The indexing path '/expiration' could not be accepted, failed near position '11'."],
  );
  refuses(() => asIndexPath(7, 'indexingPolicy.x'), ["7 of 'indexingPolicy.x'", 'a string']);
  refuses(() => asIndexPath(`/${'x'.repeat(5000)}/?`, 'w'), ['5003 characters']);
});

test('spellings of one path share a key; only "/*" is the root', () => {
  const parse = (text: string) => asIndexPath(text, 'path');
  assert.equal(indexPathKey(parse('/_etag/?')), indexPathKey(parse('/"_etag"/?')));
  assert.notEqual(indexPathKey(parse('/a/?')), indexPathKey(parse('/a/*')));
  assert.equal(isRoot(parse('/*')), true);
  assert.equal(isRoot(parse('/a/*')), false);
});
