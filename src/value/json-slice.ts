// Pieces of JSON text that are taken apart one level at a time. Where a bracket closes is looked up
// once per text, so that going down many levels costs one pass, not one for each level.
import { stringEnd } from './json.js';

export interface Slice {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
}
interface Source {
  readonly text: string;
  /** For the place of every opening bracket that of its closing one; made on first use. */
  closers: Int32Array | undefined;
}

/** All of a valid JSON text without blanks. */
export function jsonSlice(text: string): Slice {
  return { source: { text, closers: undefined }, start: 0, end: text.length };
}

export function textOf({ source, start, end }: Slice): string {
  return source.text.slice(start, end);
}

export function kindOf({ source, start }: Slice): 'object' | 'array' | 'scalar' {
  const code = source.text.charCodeAt(start);
  if (code === OPEN_BRACE) return 'object';
  return code === OPEN_BRACKET ? 'array' : 'scalar';
}

/** The members of an object in their order; of twins the last counts, as everywhere. */
export function membersOf({ source, start, end }: Slice): (readonly [string, Slice])[] {
  const members: (readonly [string, Slice])[] = [];
  for (let at = start + 1; at < end - 1; ) {
    const nameEnd = stringEnd(source.text, at) + 1;
    const name = JSON.parse(source.text.slice(at, nameEnd)) as string;
    const value = valueAt(source, nameEnd + ':'.length);
    members.push([name, value]);
    at = value.end + ','.length;
  }
  return members;
}

export function elementsOf({ source, start, end }: Slice): Slice[] {
  const elements: Slice[] = [];
  for (let at = start + 1; at < end - 1; ) {
    const value = valueAt(source, at);
    elements.push(value);
    at = value.end + ','.length;
  }
  return elements;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function valueAt(source: Source, start: number): Slice {
  const { text } = source;
  const code = text.charCodeAt(start);
  if (code === QUOTE) return { source, start, end: stringEnd(text, start) + 1 };
  if (code === OPEN_BRACE || code === OPEN_BRACKET) {
    source.closers ??= closersOf(text);
    return { source, start, end: (source.closers[start] ?? start) + 1 };
  }
  let end = start + 1;
  while (end < text.length && !endsScalar(text.charCodeAt(end))) end += 1;
  return { source, start, end };
}

function endsScalar(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

function closersOf(text: string): Int32Array {
  const closers = new Int32Array(text.length);
  const opened: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) opened.push(at);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) closers[opened.pop() ?? 0] = at;
  }
  return closers;
}
