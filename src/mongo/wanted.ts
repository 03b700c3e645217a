// A filter as conditions on paths that an index may know: what must hold together, and unions of
// which one part must hold. What it leaves out is asked of the documents.
import type { FieldNode, Node } from '../mql/filter/tree.js';
import { type Told, toldOf } from './conditions.js';

export interface Wanted {
  readonly groups: readonly Group[];
  readonly unions: readonly (readonly Wanted[])[];
  /** Whether nothing was left out. */
  readonly isWhole: boolean;
}
/** Conditions on one path: on the same element where arrays have to be entered. */
export interface Group {
  readonly path: string;
  /** The names of the path that must be arrays, by their place, because of `$elemMatch`. */
  readonly entered: readonly number[];
  readonly told: readonly Told[];
}

interface Inside {
  /** The path of the array whose elements are spoken of, with its dot. */
  readonly start: string;
  readonly entered: readonly number[];
}
const OUTSIDE: Inside = { start: '', entered: [] };

export function wantedOf(tree: Node, hasCollation: boolean): Wanted {
  return gather(tree, OUTSIDE, hasCollation);
}

function gather(node: Node, inside: Inside, hasCollation: boolean): Wanted {
  switch (node.kind) {
    case 'and':
      return allOf(node.of.map((each) => gather(each, inside, hasCollation)));
    case 'or': {
      const parts = node.of.map((each) => gather(each, inside, hasCollation));
      return { groups: [], unions: [parts], isWhole: parts.every(({ isWhole }) => isWhole) };
    }
    case 'field':
      if (node.operator === '$elemMatch') return elementOf(node, inside, hasCollation);
      return conditionOf(node, node.path.text, inside, hasCollation);
    case 'not':
      if (node.of.kind !== 'field') return NOTHING_KNOWN;
      return conditionOf(node, node.of.path.text, inside, hasCollation);
    default:
      return NOTHING_KNOWN;
  }
}

const NOTHING_KNOWN: Wanted = { groups: [], unions: [], isWhole: false };

function conditionOf(node: Node, path: string, inside: Inside, hasCollation: boolean): Wanted {
  const isInside = inside.entered.length > 0;
  const told = toldOf(node, { hasCollation, isInside });
  if (!told) return NOTHING_KNOWN;
  const group = { path: inside.start + path, entered: inside.entered, told: [told] };
  return { groups: [group], unions: [], isWhole: told.isExact && !isInside };
}

function elementOf({ path, inner }: FieldNode, inside: Inside, hasCollation: boolean): Wanted {
  if (!inner) return NOTHING_KNOWN;
  const start = `${inside.start}${path.text}.`;
  const last = start.split('.').length - 2;
  const wanted = gather(inner, { start, entered: [...inside.entered, last] }, hasCollation);
  return { ...wanted, isWhole: false };
}

function allOf(parts: readonly Wanted[]): Wanted {
  const groups: Group[] = [];
  for (const group of parts.flatMap((part) => part.groups)) {
    // The list of names is the same one only for conditions on the same element.
    const at = groups.findIndex(
      ({ path, entered }) => path === group.path && isSameElement(entered, group.entered),
    );
    const known = groups[at];
    if (known) groups[at] = { ...known, told: [...known.told, ...group.told] };
    else groups.push(group);
  }
  return {
    groups,
    unions: parts.flatMap((part) => part.unions),
    isWhole: parts.every(({ isWhole }) => isWhole),
  };
}

function isSameElement(one: readonly number[], other: readonly number[]): boolean {
  return one === other || (one.length === 0 && other.length === 0);
}
