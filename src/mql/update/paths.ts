// Paths of updates: their parts, the order in which they are applied, and which of them conflict.
import { mongoFailure } from '../../value/mongo-errors.js';

export type Part =
  | { readonly kind: 'name'; readonly name: string; readonly index: number }
  /** `$`: the element that the filter has matched. */
  | { readonly kind: 'matched' }
  /** `$[]`: every element. */
  | { readonly kind: 'every' }
  /** `$[id]`: the elements that an array filter lets through. */
  | { readonly kind: 'filtered'; readonly id: string };

export interface UpdatePath {
  readonly text: string;
  readonly parts: readonly Part[];
}

const INDEX = /^(0|[1-9]\d{0,8})$/;

export function updatePath(text: string): UpdatePath {
  if (text === '') {
    throw mongoFailure('EmptyFieldName', 'An empty update path is not valid.');
  }
  const names = text.split('.');
  const parts = names.map((name, at): Part => {
    if (name === '') {
      throw mongoFailure(
        'EmptyFieldName',
        `The update path '${text}' contains an empty field name, which is not allowed.`,
      );
    }
    const part = partOf(name, text);
    if (part.kind !== 'name' && at === 0) {
      throw mongoFailure(
        'BadValue',
        `Cannot have array filter or positional element as the first part of the path '${text}'`,
      );
    }
    return part;
  });
  if (parts.filter(({ kind }) => kind === 'matched').length > 1) {
    throw mongoFailure(
      'BadValue',
      `Too many positional (i.e. '$') elements found in path '${text}'`,
    );
  }
  return { text, parts };
}

function partOf(name: string, path: string): Part {
  if (name === '$') return { kind: 'matched' };
  if (name === '$[]') return { kind: 'every' };
  const filtered = /^\$\[(.+)\]$/.exec(name);
  if (filtered?.[1]) return { kind: 'filtered', id: filtered[1] };
  if (name.startsWith('$')) {
    throw mongoFailure(
      'DollarPrefixedFieldName',
      `The dollar ($) prefixed field '${name}' in '${path}' is not valid for storage.`,
    );
  }
  return { kind: 'name', name, index: INDEX.test(name) ? Number(name) : -1 };
}

/** The order of new fields: by name, numbers by their value. */
export function comparePaths(a: string, b: string): number {
  const left = a.split('.');
  const right = b.split('.');
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at++) {
    const [one, other] = [left[at] as string, right[at] as string];
    if (one === other) continue;
    const numbers = INDEX.test(one) && INDEX.test(other);
    return numbers ? Number(one) - Number(other) : one < other ? -1 : 1;
  }
  return left.length - right.length;
}

/** Two paths conflict when they are the same or one leads through the other. */
export function checkConflicts(paths: readonly string[]): void {
  const taken = new Set<string>();
  const passed = new Set<string>();
  for (const path of paths) {
    const conflict = taken.has(path) || passed.has(path) ? path : prefixIn(path, taken);
    if (conflict !== undefined) {
      throw mongoFailure(
        'ConflictingUpdateOperators',
        `Updating the path '${path}' would create a conflict at '${conflict}'`,
      );
    }
    taken.add(path);
    for (const prefix of prefixes(path)) passed.add(prefix);
  }
}

function prefixIn(path: string, taken: ReadonlySet<string>): string | undefined {
  return prefixes(path).find((prefix) => taken.has(prefix));
}

function prefixes(path: string): readonly string[] {
  const parts = path.split('.');
  return parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join('.'));
}
