// JSON bodies: strict UTF-8, bounded nesting, and the raw text kept so that documents are stored as
// they were written (property order and digits included) apart from blanks.
import { isUtf8 } from 'node:buffer';
import { failure } from './errors.js';

export const NESTING_MAX = 128;

/** Parses a body; refuses what is no JSON, no UTF-8 or nested too deeply. */
export function parseJson(bytes: Buffer): unknown {
  return parseText(textOf(bytes));
}

export interface ParsedObject {
  readonly value: Record<string, unknown>;
  /** The members as compact text without the braces: `"a":1,"b":2`. */
  readonly members: string;
}

/** Parses an object and takes the named members out of its text; the value keeps them. */
export function parseObject(bytes: Buffer, without: ReadonlySet<string>): ParsedObject {
  const text = textOf(bytes);
  return objectFrom({ value: parseText(text), text }, without);
}

/** A value and the text it was parsed from. */
export interface Parsed {
  readonly value: unknown;
  readonly text: string;
}

/** Parses an array; how deep its elements may be nested is for their readers to check. */
export function parseElements(bytes: Buffer): readonly Parsed[] {
  const text = textOf(bytes);
  const values = parseAnyDepth(text);
  if (!Array.isArray(values)) {
    throw failure('invalidJson', { why: 'The body must be a JSON array.' });
  }
  let at = text.indexOf('[') + 1;
  return values.map((value: unknown) => {
    const start = at;
    const end = endOfValue(text, start);
    at = end + 1;
    return { value, text: text.slice(start, end) };
  });
}

/** The text of a member of an object that was parsed already. */
export function memberText(object: Parsed, name: string): string {
  // Of members with the same name the last one counts, as for JSON.parse.
  let text = '';
  eachMember(object.text, (quoted, start, end) => {
    if (plainName(quoted) === name) text = object.text.slice(start, end);
  });
  if (isTooDeep(text)) throw failure('nestingTooDeep', { limit: NESTING_MAX });
  return text;
}

/** The same as `parseObject`, of a member of an object that was parsed already. */
export function memberObject(
  object: Parsed,
  name: string,
  without: ReadonlySet<string>,
): ParsedObject {
  const text = memberText(object, name);
  return objectFrom({ value: (object.value as Record<string, unknown>)[name], text }, without);
}

/**
 * True for JSON nested beyond the limit. JSON.parse takes it, but JSON.stringify recurses and would
 * exhaust the stack when a message shows the value.
 */
export function isTooDeep(text: string): boolean {
  return nestingOf(text) > NESTING_MAX;
}

/** Valid JSON text without blanks outside strings. */
export function compactJson(text: string): string {
  return compact(text, 0, text.length);
}

function textOf(bytes: Buffer): string {
  if (bytes.length === 0) throw failure('invalidJson', { why: 'The body is empty.' });
  if (!isUtf8(bytes)) throw failure('invalidJson', { why: 'The body is not valid UTF-8.' });
  return bytes.toString('utf8');
}

function parseText(text: string): unknown {
  if (isTooDeep(text)) throw failure('nestingTooDeep', { limit: NESTING_MAX });
  return parseAnyDepth(text);
}

function parseAnyDepth(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw failure('invalidJson', { why: error instanceof Error ? error.message : '' });
  }
}

function objectFrom({ value, text }: Parsed, without: ReadonlySet<string>): ParsedObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw failure('invalidJson', { why: 'The body must be a JSON object.' });
  }
  return { value: value as Record<string, unknown>, members: membersOf(text, without) };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** The deepest nesting of brackets outside strings. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}

/** The position of the closing quote of the string that opens at `start`. */
export function stringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

/** The members of valid JSON object text, without blanks and the unwanted ones. */
function membersOf(text: string, without: ReadonlySet<string>): string {
  const kept: string[] = [];
  eachMember(text, (name, start, end) => {
    if (!without.has(plainName(name))) kept.push(`${name}:${compact(text, start, end)}`);
  });
  return kept.join(',');
}

/** Walks the top level of valid JSON object text: names in quotes, and where their values are. */
function eachMember(
  text: string,
  visit: (name: string, valueStart: number, valueEnd: number) => void,
): void {
  let at = text.indexOf('{') + 1;
  while (true) {
    const nameStart = text.indexOf('"', at);
    if (nameStart < 0) break;
    const nameEnd = stringEnd(text, nameStart);
    const valueStart = text.indexOf(':', nameEnd) + 1;
    const valueEnd = endOfValue(text, valueStart);
    visit(text.slice(nameStart, nameEnd + 1), valueStart, valueEnd);
    if (text.charCodeAt(valueEnd) !== COMMA) break;
    at = valueEnd + 1;
  }
}

function plainName(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

/** The comma or closing brace that ends the value starting here, in the same object. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return at;
      depth--;
    } else if (code === COMMA && depth === 0) return at;
  }
  return text.length;
}

/** The text without blanks outside strings; most clients send none, and then it is one slice. */
function compact(text: string, start: number, end: number): string {
  let result = '';
  let pieceStart = start;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      result += text.slice(pieceStart, at);
      pieceStart = at + 1;
    }
  }
  return result + text.slice(pieceStart, end);
}
