// Tokens: their kinds, values and places, and the texts that make none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isName, tokenize } from './lexer.js';
import { TEXT_CHARACTERS_MAX, TOKENS_MAX } from './limits.js';
import { SqlError } from './sql-error.js';

test('numbers', () => {
  const rows: readonly (readonly [string, number])[] = [
    ['0', 0],
    ['1', 1],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['1.', 1],
    ['007', 7],
    ['1e3', 1000],
    ['1E+3', 1000],
    ['25e-1', 2.5],
    ['.5e1', 5],
    ['0x1F', 31],
    ['0XfF', 255],
    ['9007199254740993', 9007199254740992],
    ['1e-400', 0],
  ];
  for (const [text, value] of rows) {
    const [token, end] = tokenize(text);
    assert.equal(token?.kind, 'number', text);
    assert.equal(token.number, value, text);
    assert.equal(end?.kind, 'end', text);
  }
});

test('strings', () => {
  const rows: readonly (readonly [string, string])[] = [
    [`''`, ''],
    [`""`, ''],
    [`'a"b'`, 'a"b'],
    [`"a'b"`, "a'b"],
    [String.raw`'\'\"\\\/\b\f\n\r\t'`, '\'"\\/\b\f\n\r\t'],
    [String.raw`"a\u0041\ud83d\uDE00z"`, 'aA😀z'],
    [String.raw`'\ud800'`, '\ud800'],
    [`'two\nlines'`, 'two\nlines'],
    [`'-- no comment /*'`, '-- no comment /*'],
    [`'漢字'`, '漢字'],
  ];
  for (const [text, value] of rows) {
    const [token, end] = tokenize(text);
    assert.equal(token?.kind, 'string', text);
    assert.equal(token.text, value, text);
    assert.equal(end?.kind, 'end', text);
  }
});

test('words, symbols and their places', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['Select sElEcT', 'SELECT@0-6 SELECT@7-13'],
    ['selected _a9 é漢1 𝒳y', 'identifier@0-8 identifier@9-12 identifier@13-16 identifier@17-20'],
    ['true True TRUE', 'true@0-4 identifier@5-9 identifier@10-14'],
    ['null udf undefined', 'null@0-4 udf@5-8 undefined@9-18'],
    ['@a @_1 @é', 'parameter@0-2 parameter@3-6 parameter@7-9'],
    ['a.b', 'identifier@0-1 .@1-2 identifier@2-3'],
    ['a[.5]', 'identifier@0-1 [@1-2 number@2-4 ]@4-5'],
    ['<> != <= >= < >', '!=@0-2 !=@3-5 <=@6-8 >=@9-11 <@12-13 >@14-15'],
    ['>>>>>', '>>>@0-3 >>@3-5'],
    ['||| ??? <<<', '||@0-2 |@2-3 ??@4-6 ?@6-7 <<@8-10 <@10-11'],
    ['a -- x\n- 1', 'identifier@0-1 -@7-8 number@9-10'],
    ['a/**/ /* * / -- */b', 'identifier@0-1 identifier@18-19'],
    ['\u00a0\ufeff\t\r\n;', ';@5-6'],
    ['-- only a comment', ''],
    ['', ''],
  ];
  for (const [text, expected] of rows) {
    const tokens = tokenize(text).slice(0, -1);
    const shown = tokens.map(({ kind, start, end }) => `${kind}@${start}-${end}`).join(' ');
    assert.equal(shown, expected, text);
  }
});

test('bad tokens', () => {
  const rows: readonly (readonly [string, number, number, string])[] = [
    [`a 'bc`, 2, 5, `Syntax error, invalid string literal token ''bc'.`],
    [`"a'`, 0, 3, `Syntax error, invalid string literal token '"a''.`],
    [`'\\`, 0, 2, `Syntax error, invalid string literal token ''\\'.`],
    [`'a\\x'`, 0, 4, `Syntax error, invalid string literal token ''a\\x'.`],
    [`'\\u12g4'`, 0, 3, `Syntax error, invalid string literal token ''\\u'.`],
    ['1abc', 0, 4, `Syntax error, invalid numeric value token '1abc'.`],
    ['1e', 0, 2, `Syntax error, invalid numeric value token '1e'.`],
    ['1e+', 0, 3, `Syntax error, invalid numeric value token '1e+'.`],
    ['0x', 0, 2, `Syntax error, invalid numeric value token '0x'.`],
    ['1e999', 0, 5, `Syntax error, invalid numeric value token '1e999'.`],
    ['a # b', 2, 3, `Syntax error, invalid token '#'.`],
    ['a!b', 1, 2, `Syntax error, invalid token '!'.`],
    ['@', 0, 1, `Syntax error, invalid token '@'.`],
    ['a😀', 1, 3, `Syntax error, invalid token '😀'.`],
    ['\ud800', 0, 1, `Syntax error, invalid token '\ud800'.`],
    ['a /* b', 2, 6, `Syntax error, invalid comment token '/* b'.`],
  ];
  for (const [text, start, end, message] of rows) {
    assert.throws(() => tokenize(text), { code: 'SC1010', span: { start, end }, message }, text);
  }
});

test('the limits of length and tokens', () => {
  assert.equal(tokenize(' '.repeat(TEXT_CHARACTERS_MAX)).length, 1);
  assert.throws(() => tokenize(' '.repeat(TEXT_CHARACTERS_MAX + 1)), SqlError);
  assert.equal(tokenize('a '.repeat(TOKENS_MAX)).length, TOKENS_MAX + 1);
  const span = { start: 2 * TOKENS_MAX, end: 2 * TOKENS_MAX + 1 };
  assert.throws(() => tokenize('a '.repeat(TOKENS_MAX + 1)), { code: 'SC1001', span });
});

test('a message repeats only the beginning of a long token', () => {
  assert.throws(() => tokenize(`'${'x'.repeat(5000)}`), { message: /^.{0,160}…'\.$/ });
});

test('names that need no quotes', () => {
  for (const name of ['a', '_', 'order', 'é1', '𝒳']) assert.equal(isName(name), true, name);
  for (const name of ['', '1', 'a b', 'a-b', '$1', '😀', 'a\ud800']) {
    assert.equal(isName(name), false, name);
  }
});
