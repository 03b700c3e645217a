// Pattern matching: REGEXMATCH, and the matcher of LIKE. Patterns are compiled once and remembered,
// because a query matches the same pattern against every document.
import { RE2JS, RE2JSException } from 're2js';
import { failure } from '../../value/errors.js';
import { type FunctionTable, fn } from '../function.js';
import { compileLike, type LikeMatcher } from './like.js';

export const regexFunctions: FunctionTable = {
  /** In linear time, as RE2 does it; so there are neither back-references nor look-arounds. */
  REGEXMATCH: fn<readonly [string, string, string?]>(
    ['string', 'string', 'string'],
    ([text, pattern, modifiers = '']) => expressionOf(pattern, modifiers).test(text),
    [2, 3],
  ),
};

/** What `text LIKE pattern [ESCAPE escape]` asks, for a given pattern. */
export function likeMatcher(pattern: string, escapeCharacter: string | undefined): LikeMatcher {
  if (escapeCharacter !== undefined && [...escapeCharacter].length !== 1) {
    throw failure('invalidInput', { why: `ESCAPE takes one character, not '${escapeCharacter}'.` });
  }
  const key = escapeCharacter === undefined ? `-${pattern}` : `+${escapeCharacter}${pattern}`;
  return remembered(likes, COMPILED_LIKES_MAX, key, () => compileLike(pattern, escapeCharacter));
}

/** Fewer, because the automaton of an expression grows up to 8 MiB as it matches. */
export const COMPILED_EXPRESSIONS_MAX = 64;
export const COMPILED_LIKES_MAX = 256;
/** Longer patterns are compiled at every call, so that the memory of the caches is bounded. */
const REMEMBERED_PATTERN_UNITS_MAX = 4096;

const expressions = new Map<string, RE2JS>();
const likes = new Map<string, LikeMatcher>();

function expressionOf(pattern: string, modifiers: string): RE2JS {
  // Before the key is made, as modifiers that are valid hold no slash.
  const flags = flagsOf(modifiers);
  const key = `${modifiers}/${pattern}`;
  return remembered(expressions, COMPILED_EXPRESSIONS_MAX, key, () =>
    compileExpression(pattern, flags, modifiers.includes('x')),
  );
}

/** A Map keeps the order of insertion, so the first key is the oldest. */
export function remembered<T>(
  cache: Map<string, T>,
  entriesMax: number,
  key: string,
  compile: () => T,
): T {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const compiled = compile();
  if (key.length > REMEMBERED_PATTERN_UNITS_MAX) return compiled;
  const oldest = cache.keys().next().value;
  if (cache.size >= entriesMax && oldest !== undefined) cache.delete(oldest);
  cache.set(key, compiled);
  return compiled;
}

function compileExpression(pattern: string, flags: number, extended: boolean): RE2JS {
  const source = extended ? withoutBlanks(pattern) : pattern;
  try {
    return RE2JS.compile(source, flags);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw failure('invalidInput', {
      why: `The regular expression '${pattern}' is invalid: ${error.message}.`,
    });
  }
}

function flagsOf(modifiers: string): number {
  let flags = 0;
  for (const modifier of modifiers) {
    if (modifier === 'i') flags |= RE2JS.CASE_INSENSITIVE;
    else if (modifier === 'm') flags |= RE2JS.MULTILINE;
    else if (modifier === 's') flags |= RE2JS.DOTALL;
    else if (modifier !== 'x') {
      throw failure('invalidInput', {
        why: `REGEXMATCH knows the modifiers m, s, i and x, not '${modifier}'.`,
      });
    }
  }
  return flags;
}

/**
 * What the modifier x means, which RE2 does not know: blanks, and comments from `#` to the end of
 * the line, do not count. Those that are escaped, quoted or in a class do.
 */
export function withoutBlanks(pattern: string): string {
  let kept = '';
  let at = 0;
  while (at < pattern.length) {
    const end = endOfPiece(pattern, at);
    const first = pattern.charAt(at);
    if (first !== '#' && first.trim() !== '') kept += pattern.slice(at, end);
    at = end;
  }
  return kept;
}

function endOfPiece(pattern: string, at: number): number {
  switch (pattern.charAt(at)) {
    case '\\':
      return pattern.charAt(at + 1) === 'Q' ? endAfter(pattern, '\\E', at + 2) : at + 2;
    case '[':
      return endOfClass(pattern, at);
    case '#':
      return endAfter(pattern, '\n', at);
    default:
      return at + 1;
  }
}

function endAfter(pattern: string, mark: string, from: number): number {
  const found = pattern.indexOf(mark, from);
  return found < 0 ? pattern.length : found + mark.length;
}

/** A bracket right at the start of a class, an escaped one and that of `[:name:]` do not end it. */
function endOfClass(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern.charAt(at) === '^') at++;
  if (pattern.charAt(at) === ']') at++;
  while (at < pattern.length && pattern.charAt(at) !== ']') {
    if (pattern.charAt(at) === '\\') at += 2;
    else at += NAMED_CLASS.exec(pattern.slice(at, at + CLASS_NAME_UNITS_MAX))?.[0].length ?? 1;
  }
  return at + 1;
}

const NAMED_CLASS = /^\[:\^?[a-z]+:\]/;
/** Enough for `[:^xdigit:]`, the longest. */
const CLASS_NAME_UNITS_MAX = 16;
