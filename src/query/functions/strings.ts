// Functions of strings. Positions and lengths count UTF-16 code units, as the strings themselves
// do; REVERSE and the trims go by code point, so that they never cut a character in half.
import { type FunctionTable, fn, MANY } from '../function.js';
import { allOf, anyOf } from './logic.js';
import { checkTextSize } from './result-size.js';

export const stringFunctions: FunctionTable = {
  CONCAT: fn<readonly string[]>(['string'], (texts) => join(texts, ''), [2, MANY]),
  CONTAINS: comparing((text, part) => text.includes(part)),
  CONTAINS_ALL_CI: fn<Search>(['string', 'maybe'], (args) => containsAll(fold, args), [2, MANY]),
  CONTAINS_ALL_CS: fn<Search>(['string', 'maybe'], (args) => containsAll(keep, args), [2, MANY]),
  CONTAINS_ANY_CI: fn<Search>(['string', 'maybe'], (args) => containsAny(fold, args), [2, MANY]),
  CONTAINS_ANY_CS: fn<Search>(['string', 'maybe'], (args) => containsAny(keep, args), [2, MANY]),
  ENDSWITH: comparing((text, part) => text.endsWith(part)),
  INDEX_OF: fn<readonly [string, string, number?]>(
    ['string', 'string', 'number'],
    ([text, part, start = 0]) => (start > text.length ? -1 : text.indexOf(part, start)),
    [2, 3],
  ),
  LASTINDEXOF: fn<readonly [string, string, number?]>(
    ['string', 'string', 'number'],
    ([text, part, end = text.length]) => lastIndexOf(text, part, end),
    [2, 3],
  ),
  LEFT: fn<readonly [string, number]>(['string', 'number'], ([text, count]) =>
    text.slice(0, Math.max(0, count)),
  ),
  LENGTH: fn<readonly [string]>(['string'], ([text]) => text.length),
  LOWER: fn<readonly [string]>(['string'], ([text]) => text.toLowerCase()),
  LTRIM: trimming((text) => text.trimStart(), trimStart),
  REPLACE: fn<readonly [string, string, string]>(['string', 'string', 'string'], (args) =>
    replace(...args),
  ),
  REPLICATE: fn<readonly [string, number]>(['string', 'number'], ([text, count]) =>
    count >= 0 && text.length * Math.trunc(count) <= REPLICATED_UNITS_MAX
      ? text.repeat(count)
      : undefined,
  ),
  REVERSE: fn<readonly [string]>(['string'], ([text]) => [...text].reverse().join('')),
  RIGHT: fn<readonly [string, number]>(['string', 'number'], ([text, count]) =>
    text.slice(Math.max(0, text.length - Math.max(0, Math.trunc(count)))),
  ),
  RTRIM: trimming((text) => text.trimEnd(), trimEnd),
  STARTSWITH: comparing((text, part) => text.startsWith(part)),
  STRINGEQUALS: comparing((text, other) => text === other),
  STRINGJOIN: fn<readonly [readonly unknown[], string]>(
    ['array', 'string'],
    ([elements, separator]) => (areStrings(elements) ? join(elements, separator) : undefined),
  ),
  STRINGSPLIT: fn<readonly [string, string]>(['string', 'string'], ([text, separator]) =>
    separator === '' ? [text] : text.split(separator),
  ),
  SUBSTRING: fn<readonly [string, number, number]>(['string', 'number', 'number'], (args) =>
    substring(...args),
  ),
  TRIM: trimming(
    (text) => text.trim(),
    (text, characters) => trimEnd(trimStart(text, characters), characters),
  ),
  UPPER: fn<readonly [string]>(['string'], ([text]) => text.toUpperCase()),
};

type Search = readonly [text: string, ...parts: unknown[]];
type Casing = (text: string) => string;

/** What REPLICATE makes at most; more is undefined, as the service documents it. */
const REPLICATED_UNITS_MAX = 10_000;

function join(texts: readonly string[], separator: string): string {
  let units = separator.length * Math.max(0, texts.length - 1);
  for (const text of texts) units += text.length;
  checkTextSize(units);
  return texts.join(separator);
}

/** Of two strings and, optionally, whether to ignore the case of letters. */
function comparing(compare: (text: string, other: string) => boolean) {
  return fn<readonly [string, string, boolean?]>(
    ['string', 'string', 'boolean'],
    ([text, other, ignoreCase]) =>
      ignoreCase === true ? compare(fold(text), fold(other)) : compare(text, other),
    [2, 3],
  );
}

function fold(text: string): string {
  return text.toLowerCase();
}

function keep(text: string): string {
  return text;
}

function containsAll(casing: Casing, [text, ...parts]: Search): boolean | undefined {
  const cased = casing(text);
  return allOf(parts, (part) =>
    typeof part === 'string' ? cased.includes(casing(part)) : undefined,
  );
}

function containsAny(casing: Casing, [text, ...parts]: Search): boolean | undefined {
  const cased = casing(text);
  return anyOf(parts, (part) =>
    typeof part === 'string' ? cased.includes(casing(part)) : undefined,
  );
}

/** The match may take up the position `end`, but nothing after it. */
function lastIndexOf(text: string, part: string, end: number): number {
  const start = Math.trunc(end) - Math.max(0, part.length - 1);
  return start < 0 ? -1 : text.lastIndexOf(part, start);
}

/** Without characters to trim, blanks are trimmed; the second argument is a set of characters. */
function trimming(
  trimBlanks: (text: string) => string,
  trim: (text: string, characters: ReadonlySet<string>) => string,
) {
  return fn<readonly [string, string?]>(
    ['string', 'string'],
    ([text, characters]) =>
      characters === undefined ? trimBlanks(text) : trim(text, new Set(characters)),
    [1, 2],
  );
}

function trimStart(text: string, characters: ReadonlySet<string>): string {
  let start = 0;
  for (const character of text) {
    if (!characters.has(character)) break;
    start += character.length;
  }
  return text.slice(start);
}

function trimEnd(text: string, characters: ReadonlySet<string>): string {
  let end = text.length;
  while (end > 0) {
    // A character beyond the first plane is the last two units together.
    const pair = text.slice(Math.max(0, end - 2), end);
    const character = (pair.codePointAt(0) ?? 0) > 0xffff ? pair : text.charAt(end - 1);
    if (!characters.has(character)) break;
    end -= character.length;
  }
  return text.slice(0, end);
}

/** Replaces nothing if there is nothing to find. */
function replace(text: string, part: string, replacement: string): string {
  if (part === '') return text;
  const pieces = text.split(part);
  return join(pieces, replacement);
}

function areStrings(elements: readonly unknown[]): elements is readonly string[] {
  return elements.every((element) => typeof element === 'string');
}

/** The part of the string that lies in the window; a window may begin before the string does. */
function substring(text: string, start: number, length: number): string {
  const first = Math.trunc(start);
  return text.slice(Math.max(0, first), Math.max(0, first + Math.max(0, Math.trunc(length))));
}
