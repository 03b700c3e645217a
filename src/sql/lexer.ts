// Cuts the text of a query into tokens. Comments and blanks go; every token knows its place.
import { TEXT_CHARACTERS_MAX, TOKENS_MAX } from './limits.js';
import { refusal, tokenError } from './sql-error.js';
import { SYMBOLS, type Token, type TokenKind, wordKind } from './tokens.js';

/** The tokens of the text, and after them one of kind `end`. */
export function tokenize(text: string): readonly Token[] {
  if (text.length > TEXT_CHARACTERS_MAX) {
    const span = { start: TEXT_CHARACTERS_MAX, end: text.length };
    throw refusal(`The query is longer than ${TEXT_CHARACTERS_MAX} characters.`, span);
  }
  const tokens: Token[] = [];
  let at = skipBlanks(text, 0);
  while (at < text.length) {
    const token = readToken(text, at);
    if (tokens.length === TOKENS_MAX) {
      throw refusal(`The query has more than ${TOKENS_MAX} tokens.`, token);
    }
    tokens.push(token);
    at = skipBlanks(text, token.end);
  }
  tokens.push({ kind: 'end', text: '', number: 0, start: at, end: at });
  return tokens;
}

/** Whether a name can be written after a dot. */
export function isName(text: string): boolean {
  return text !== '' && startsName(text, 0) && endOfName(text, 0) === text.length;
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const STAR = 0x2a;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;
const AT = 0x40;
const BACKSLASH = 0x5c;
const ASCII_END = 0x80;

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === SPACE || (code <= 0x0d && code >= 0x09)) {
      at++;
    } else if (code === MINUS && text.charCodeAt(at + 1) === MINUS) {
      while (at < text.length && text.charCodeAt(at) !== NEWLINE) at++;
    } else if (code === SLASH && text.charCodeAt(at + 1) === STAR) {
      const close = text.indexOf('*/', at + 2);
      if (close < 0) throw tokenError(text, { start: at, end: text.length }, 'comment');
      at = close + 2;
    } else if (code >= ASCII_END && UNICODE_BLANK.test(text.charAt(at))) {
      at++;
    } else {
      break;
    }
  }
  return at;
}

const UNICODE_BLANK = /\s/;

function readToken(text: string, start: number): Token {
  const code = text.charCodeAt(start);
  if (startsName(text, start)) {
    const end = endOfName(text, start);
    const word = text.slice(start, end);
    return { kind: wordKind(word), text: word, number: 0, start, end };
  }
  if (isDigit(code) || (code === DOT && isDigit(text.charCodeAt(start + 1)))) {
    return readNumber(text, start);
  }
  if (code === SINGLE_QUOTE || code === DOUBLE_QUOTE) return readString(text, start, code);
  if (code === AT) {
    const end = endOfName(text, start + 1);
    if (end === start + 1) throw tokenError(text, { start, end }, '');
    return { kind: 'parameter', text: text.slice(start, end), number: 0, start, end };
  }
  return readSymbol(text, start);
}

/** Letters, digits and the underscore, in ASCII; what else may be in a name, Unicode decides. */
const LETTER = 1;
const DIGIT = 2;
const CLASSES = Uint8Array.from({ length: ASCII_END }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z_]/.test(character)) return LETTER;
  return /[0-9]/.test(character) ? DIGIT : 0;
});
const UNICODE_LETTER = /^[\p{L}\p{Nl}]$/u;
const UNICODE_NAME_PART = /^[\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]$/u;

function startsName(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < ASCII_END) return CLASSES[code] === LETTER;
  return UNICODE_LETTER.test(characterAt(text, at));
}

function endOfName(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code < ASCII_END) {
      if (CLASSES[code] === 0) break;
      at++;
    } else {
      const character = characterAt(text, at);
      if (!UNICODE_NAME_PART.test(character)) break;
      at += character.length;
    }
  }
  return at;
}

/** The whole character, be it one code unit or a pair; empty past the end. */
function characterAt(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? '' : String.fromCodePoint(point);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 *     number = '0' ('x' | 'X') hex {hex}
 *            | (digits ['.' [digits]] | '.' digits) [('e' | 'E') ['+' | '-'] digits]
 *
 * A number runs on as far as letters and digits do, so that `12abc` is one bad token.
 */
function readNumber(text: string, start: number): Token {
  let end = endOfDigits(text, start);
  if (text.charCodeAt(end) === DOT) end = endOfDigits(text, end + 1);
  const letter = text.charAt(end);
  if (letter === 'e' || letter === 'E') {
    const sign = text.charCodeAt(end + 1);
    end = endOfDigits(text, sign === PLUS || sign === MINUS ? end + 2 : end + 1);
  }
  end = endOfName(text, end);
  const written = text.slice(start, end);
  const number = NUMBER.test(written) ? Number(written) : Number.NaN;
  if (!Number.isFinite(number)) throw tokenError(text, { start, end }, 'numeric value');
  return { kind: 'number', text: written, number, start, end };
}

const NUMBER = /^(?:0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)$/;

function endOfDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

function readString(text: string, start: number, quote: number): Token {
  let value = '';
  let copied = start + 1;
  let at = copied;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      value += text.slice(copied, at);
      return { kind: 'string', text: value, number: 0, start, end: at + 1 };
    }
    if (code === BACKSLASH) {
      const length = escapeLength(text, at);
      if (length === 0) break;
      value += text.slice(copied, at) + decodeEscape(text.slice(at + 1, at + length));
      at += length;
      copied = at;
    } else {
      at++;
    }
  }
  const end = at < text.length ? Math.min(at + 2, text.length) : text.length;
  throw tokenError(text, { start, end }, 'string literal');
}

/** Of the escape with its backslash; 0 if there is no such escape. */
function escapeLength(text: string, at: number): number {
  const letter = text.charAt(at + 1);
  if (letter === 'u') return FOUR_HEX_DIGITS.test(text.slice(at + 2, at + 6)) ? 6 : 0;
  return ESCAPES.has(letter) ? 2 : 0;
}

const FOUR_HEX_DIGITS = /^[0-9a-fA-F]{4}$/;

function decodeEscape(letters: string): string {
  return ESCAPES.get(letters) ?? String.fromCharCode(Number.parseInt(letters.slice(1), 16));
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["'", "'"],
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

function readSymbol(text: string, start: number): Token {
  const first = text.charAt(start);
  const longest = LONG_SYMBOL_STARTS.includes(first) ? SYMBOL_CHARACTERS_MAX : 1;
  for (let length = longest; length > 0; length--) {
    const written = text.slice(start, start + length);
    const kind = SYMBOL_KINDS.get(written);
    if (kind !== undefined) {
      return { kind, text: written, number: 0, start, end: start + written.length };
    }
  }
  const end = start + Math.max(1, characterAt(text, start).length);
  throw tokenError(text, { start, end }, '');
}

const SYMBOL_CHARACTERS_MAX = 3;
const LONG_SYMBOL_STARTS = '<>!|?';
/** Both spellings of "not equal" are one token. */
const SYMBOL_KINDS: ReadonlyMap<string, TokenKind> = new Map(
  SYMBOLS.map((symbol) => [symbol, symbol === '<>' ? '!=' : symbol]),
);
