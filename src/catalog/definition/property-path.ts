// Paths to one property, as keys, composite, vector and full-text indexes use them: the grammar of
// value/path.ts, with bare names held to the characters that the service accepts without quotes.
//
//   path  = "/" label { "/" label }
//   label = letters, digits and "_"  |  `"` any characters, `\"` and `\\` escaped `"`
import type { Path } from '../../value/path.js';
import { asString, clip, refuse, TEXT_CHARACTERS_MAX } from './fields.js';

export interface Failed {
  readonly failedAt: number;
}
export type Label = { readonly name: string; readonly end: number } | Failed;

/** The segments of a path, or the position where the text stops following the grammar. */
export function parsePropertyPath(text: string): readonly string[] | Failed {
  if (text.length > TEXT_CHARACTERS_MAX) return { failedAt: TEXT_CHARACTERS_MAX };
  const segments: string[] = [];
  let at = 0;
  do {
    if (text[at] !== '/') return { failedAt: at };
    const label = readLabel(text, at + 1);
    if ('failedAt' in label) return label;
    segments.push(label.name);
    at = label.end;
  } while (at < text.length);
  return segments;
}

export function asPropertyPath(value: unknown, where: string): Path {
  const text = asString(value, where);
  const path = parsePropertyPath(text);
  if (!('failedAt' in path)) return path;
  throw refuse(
    `The path '${clip(text)}' of '${where}' could not be accepted, ` +
      `failed near position '${path.failedAt}'. It must be "/" and a property name, repeated, ` +
      'without wildcards; a name of other characters than letters, digits and "_" is quoted.',
  );
}

/** Two texts of one path, say `/a` and `/"a"`, have the same key. */
export function propertyPathKey(path: Path): string {
  return JSON.stringify(path);
}

export function readLabel(text: string, start: number): Label {
  return text[start] === '"' ? readQuoted(text, start + 1) : readBare(text, start);
}

function readBare(text: string, start: number): Label {
  const characters = /[\p{L}\p{M}\p{N}_]+/uy;
  characters.lastIndex = start;
  const name = characters.exec(text)?.[0];
  return name === undefined ? { failedAt: start } : { name, end: start + name.length };
}

function readQuoted(text: string, start: number): Label {
  let name = '';
  for (let at = start; at < text.length; at++) {
    if (text[at] === '"') return name === '' ? { failedAt: at } : { name, end: at + 1 };
    if (text[at] === '\\') at++;
    name += text[at] ?? '';
  }
  return { failedAt: text.length };
}
