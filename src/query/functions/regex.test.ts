// Regular expressions and the patterns of LIKE.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPILED_LIKES_MAX, likeMatcher, regexFunctions } from './regex.js';
import { callByName, testRows } from './rows.suite.js';

testRows(regexFunctions, [
  ['REGEXMATCH', ['abcd', 'bc'], true],
  ['REGEXMATCH', ['abcd', '^bc'], false],
  ['REGEXMATCH', ['abcd', 'ABC'], false],
  ['REGEXMATCH', ['abcd', 'ABC', ''], false],
  ['REGEXMATCH', ['abcd', 'ABC', 'i'], true],
  ['REGEXMATCH', ['a\nb', '^b$'], false],
  ['REGEXMATCH', ['a\nb', '^b$', 'm'], true],
  ['REGEXMATCH', ['a\nb', 'a.b'], false],
  ['REGEXMATCH', ['a\nb', 'a.b', 's'], true],
  ['REGEXMATCH', ['a\nB', 'A.^b', 'ims'], true],
  ['REGEXMATCH', ['abcd', 'ab c # the third letter\n d', 'x'], true],
  ['REGEXMATCH', ['abcd', 'ab c'], false],
  ['REGEXMATCH', ['a b', 'a\\ b', 'x'], true],
  ['REGEXMATCH', ['a b', 'a [ ] b', 'x'], true],
  ['REGEXMATCH', ['a] b', 'a []\\]#] [[:space:] ] b', 'x'], true],
  ['REGEXMATCH', ['a #b', '\\Qa #\\E b', 'x'], true],
  ['REGEXMATCH', ['a#b', 'a \\# b', 'x'], true],
  ['REGEXMATCH', ['salt3824908', 'salt{1}'], true],
  ['REGEXMATCH', ['x😀y', '^x.y$'], true],
  ['REGEXMATCH', ['', ''], true],
]);

const match = (...args: readonly string[]) => callByName(regexFunctions, 'REGEXMATCH', ...args);

test('an invalid pattern or modifier is refused by name', () => {
  const refuses = (args: readonly string[], message: RegExp) =>
    assert.throws(() => match(...args), { code: 'invalidInput', message });
  refuses(['a', '(a'], /'\(a' is invalid/);
  refuses(['a', '(?=a)'], /'\(\?=a\)' is invalid/);
  refuses(['a', '[ a', 'x'], /'\[ a' is invalid/);
  refuses(['a', 'a\\', 'x'], /'a\\' is invalid/);
  refuses(['a', 'a', 'g'], /not 'g'/);
});

test('a pattern that defeats backtracking takes no time', () => {
  assert.equal(match('a'.repeat(20_000), '(a*)*(a|aa)*b$'), false);
});

test('more patterns than are remembered still match', () => {
  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < COMPILED_LIKES_MAX + 10; at++) {
      assert.equal(match(`<${at}>`, `^<${at}>$`), true);
      assert.equal(likeMatcher(`_${at}>`, undefined)(`<${at}>`), true);
    }
  }
});

const likes: readonly (readonly [text: string, pattern: string, expected: boolean])[] = [
  ['', '', true],
  ['a', '', false],
  ['', '%', true],
  ['', '_', false],
  ['abc', 'abc', true],
  ['abc', 'ABC', false],
  ['abc', 'ab', false],
  ['abc', 'ab%', true],
  ['abc', '%bc', true],
  ['abc', '%b%', true],
  ['abc', '%%%', true],
  ['abc', '%x%', false],
  ['abc', 'abc%abc', false],
  ['abab', 'ab%ab', true],
  ['aba', 'ab%ba', false],
  ['a1b2c', 'a%b%c', true],
  ['a1c2b', 'a%b%c', false],
  ['abcabd', '%ab%ab%', true],
  ['abc', 'a_c', true],
  ['ac', 'a_c', false],
  ['abc', '___', true],
  ['abc', '____', false],
  ['abc', '_%_%_%', true],
  ['aab', '%_ab', true],
  ['mississippi', 'm%iss_p%', true],
  ['a😀c', 'a_c', true],
  ['😀', '%__', false],
  ['😀😀', '%_😀', true],
  ['b', '[abc]', true],
  ['d', '[abc]', false],
  ['d', '[a-f]', true],
  ['g', '[a-f]', false],
  ['d', '[^abc]', true],
  ['b', '[^abc]', false],
  ['b', '[^a-c]', false],
  ['-', '[a-]', true],
  ['-', '[-a]', true],
  ['^', '[a^]', true],
  ['b5', '%[0-9]', true],
  ['5%', '5[%]', true],
  ['5x', '5[%]', false],
  ['[', '[', true],
  ['[a', '[a', true],
  ['a', '[]', false],
  ['a', '[^]', true],
  ['a.c', 'a.c', true],
  ['abc', 'a.c', false],
  ['a\nb', 'a%b', true],
];

test('LIKE', () => {
  for (const [text, pattern, expected] of likes) {
    const matches = likeMatcher(pattern, undefined);
    assert.equal(matches(text), expected, `${JSON.stringify(text)} LIKE '${pattern}'`);
  }
});

const escapes: readonly (readonly [text: string, pattern: string, expected: boolean])[] = [
  ['20%', '%20!%', true],
  ['20x', '%20!%', false],
  ['a_c', 'a!_c', true],
  ['abc', 'a!_c', false],
  ['[a]', '![a]', true],
  ['a!', 'a!!', true],
  ['a!', 'a!', true],
  [']', '[!]]', true],
  ['b', '[a!-c]', false],
  ['-', '[a!-c]', true],
];

test('LIKE with ESCAPE', () => {
  for (const [text, pattern, expected] of escapes) {
    const matches = likeMatcher(pattern, '!');
    assert.equal(matches(text), expected, `${JSON.stringify(text)} LIKE '${pattern}' ESCAPE '!'`);
  }
  assert.equal(likeMatcher('a!%', undefined)('a!b'), true);
  for (const wrong of ['', '!!']) {
    assert.throws(() => likeMatcher('a', wrong), { code: 'invalidInput' });
  }
});

test('LIKE takes no exponential time', () => {
  const text = 'a'.repeat(2_000);
  assert.equal(likeMatcher(`${'%a_'.repeat(50)}b`, undefined)(text), false);
});
