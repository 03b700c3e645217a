// Paths of an indexing policy: to a value, a subtree, array elements, or a tuple of properties.
//
//   path  = "/*" | steps "/?" | steps "/*" | tuple
//   steps = "/" label { "/" label | "/[]" }            label: see property-path.ts
//   tuple = steps "/{" inner { "," inner } "}/?"       the last step is the only "/[]"
//   inner = label { "/" label }                        blanks around it do not count
import { asString, clip, refuse } from './fields.js';
import { type Failed, readLabel } from './property-path.js';

export type IndexStep = { readonly property: string } | { readonly elements: true };

export interface IndexPath {
  readonly steps: readonly IndexStep[];
  /** `value`: the scalar at the path. `below`: everything from there down. */
  readonly end: 'value' | 'below';
  readonly tuple?: readonly (readonly string[])[];
}

/** The parsed path, or the position where the text stops following the grammar. */
export function parseIndexPath(text: string): IndexPath | Failed {
  const steps: IndexStep[] = [];
  let at = 0;
  while (text[at] === '/') {
    const next = at + 1;
    if (text[next] === '*') return ending(text, next, { steps, end: 'below' });
    if (text[next] === '?' && steps.length > 0) {
      return ending(text, next, { steps, end: 'value' });
    }
    if (text[next] === '{') return parseTuple(text, next, steps);
    if (text.startsWith('[]', next) && steps.length > 0) {
      steps.push({ elements: true });
      at = next + 2;
      continue;
    }
    const label = readLabel(text, next);
    if ('failedAt' in label) return label;
    steps.push({ property: label.name });
    at = label.end;
  }
  return { failedAt: at };
}

export function asIndexPath(value: unknown, where: string): IndexPath {
  const text = asString(value, where);
  const path = parseIndexPath(text);
  if (!('failedAt' in path)) return path;
  throw refuse(
    `The indexing path '${clip(text)}' could not be accepted, ` +
      `failed near position '${path.failedAt}'. ` +
      'Please ensure that the path is a valid path. Common errors include invalid characters or ' +
      'absence of quotes around labels.',
  );
}

/** Two texts of one path, say `/a/?` and `/"a"/?`, have the same key. */
export function indexPathKey(path: IndexPath): string {
  return JSON.stringify(path);
}

export function isRoot(path: IndexPath): boolean {
  return path.steps.length === 0;
}

function ending(text: string, last: number, path: IndexPath): IndexPath | Failed {
  return last + 1 === text.length ? path : { failedAt: last + 1 };
}

function parseTuple(text: string, brace: number, steps: readonly IndexStep[]): IndexPath | Failed {
  const arrayAt = steps.findIndex((step) => 'elements' in step);
  if (arrayAt < 0 || arrayAt !== steps.length - 1) return { failedAt: brace };
  const tuple: (readonly string[])[] = [];
  let at = brace;
  do {
    const inner = parseInner(text, skipBlanks(text, at + 1));
    if ('failedAt' in inner) return inner;
    tuple.push(inner.names);
    at = skipBlanks(text, inner.end);
  } while (text[at] === ',');
  if (!text.startsWith('}/?', at)) return { failedAt: at };
  return ending(text, at + 2, { steps, end: 'value', tuple });
}

function parseInner(
  text: string,
  start: number,
): { readonly names: readonly string[]; readonly end: number } | Failed {
  const names: string[] = [];
  let at = start - 1;
  do {
    const label = readLabel(text, at + 1);
    if ('failedAt' in label) return label;
    names.push(label.name);
    at = label.end;
  } while (text[at] === '/');
  return { names, end: at };
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ') at++;
  return at;
}
