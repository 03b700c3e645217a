// A projection as a tree over the fields: what is kept, dropped, computed or changed.
import { toSafeInteger } from '../../value/bson/numbers.js';
import {
  type Document,
  isArray,
  isDocument,
  isNumber,
  type Value,
} from '../../value/bson/value.js';
import { encodeValue } from '../../value/bson/write.js';
import { mongoLocation } from '../../value/mongo-errors.js';
import { checkPath } from '../expression/compile.js';
import type { Compiler, Expression } from '../expression/scope.js';
import { isTruthy } from '../filter/elements.js';
import { compileFilter } from '../filter/filter.js';

export interface ProjectionNode {
  readonly children: Map<string, ProjectionChild>;
}
export type ProjectionChild =
  | { readonly kind: 'keep' }
  | { readonly kind: 'drop' }
  | { readonly kind: 'compute'; readonly value: Expression }
  | { readonly kind: 'change'; readonly change: Change }
  | { readonly kind: 'below'; readonly node: ProjectionNode };
/** What becomes of a value that is there; `matched` is where the filter has matched its array. */
export type Change = (value: Value, matched: number | undefined) => Value | undefined;

export interface ProjectionTree {
  readonly root: ProjectionNode;
  /** Whether fields that are not named are kept. */
  readonly exclusion: boolean;
  /** Whether `_id` is kept although it is not named. */
  readonly keepsId: boolean;
  readonly positional: boolean;
}

export type ProjectionUse = 'find' | '$project';

export function parseProjection(
  spec: Document,
  use: ProjectionUse,
  compiler: Compiler,
): ProjectionTree {
  const entries = [...flatten(spec, '', use)];
  const state = { kind: undefined as 'inclusion' | 'exclusion' | undefined };
  const root: ProjectionNode = { children: new Map() };
  let id: ProjectionChild | undefined;
  let positional = false;
  for (const [path, value] of entries) {
    const isPositional = use === 'find' && path.endsWith('.$');
    if (isPositional && positional) {
      throw mongoLocation(31276, 'Cannot specify more than one positional projection per query.');
    }
    positional ||= isPositional;
    const field = isPositional ? path.slice(0, -2) : path;
    const child = isPositional ? atMatch(value) : childFor(field, value, use, compiler);
    if (field === '_id') {
      id = child;
      if (child.kind === 'drop' || child.kind === 'keep') continue;
    } else checkKind(field, child, state);
    insert(root, field, child);
  }
  // Alone, what keeps the rest (such as `$slice`) or nothing at all drops nothing.
  const exclusion = state.kind ? state.kind === 'exclusion' : id?.kind !== 'keep';
  if (id?.kind === 'keep' && !exclusion) root.children.set('_id', id);
  if (id?.kind === 'drop' && exclusion) root.children.set('_id', id);
  return { root, exclusion, keepsId: id === undefined && !exclusion, positional };
}

/** Documents without operators are paths written in another way. */
function* flatten(
  spec: Document,
  above: string,
  use: ProjectionUse,
): Generator<readonly [path: string, value: Value]> {
  for (const [name, value] of spec) {
    const path = above === '' ? name : `${above}.${name}`;
    const [first] = isDocument(value) ? value.keys() : [];
    if (isDocument(value) && value.size === 0) {
      throw mongoLocation(
        51270,
        `An empty sub-projection is not a valid value. Found empty object at path '${path}'`,
      );
    }
    if (isDocument(value) && !first?.startsWith('$')) yield* flatten(value, path, use);
    else yield [path, value];
  }
}

const KEEP = { kind: 'keep' } as const;
const DROP = { kind: 'drop' } as const;

function childFor(
  path: string,
  value: Value,
  use: ProjectionUse,
  compiler: Compiler,
): ProjectionChild {
  checkPath(path.split('.'), path);
  if (typeof value === 'boolean' || isNumber(value)) return isTruthy(value) ? KEEP : DROP;
  if (use === 'find' && isDocument(value)) {
    const slice = value.get('$slice');
    if (slice !== undefined && isSliceOfFind(slice))
      return { kind: 'change', change: slicing(slice) };
    const condition = value.get('$elemMatch');
    if (condition !== undefined) return elementMatching(path, condition, compiler);
  }
  return { kind: 'compute', value: compiler.compile(value) };
}

function checkKind(
  path: string,
  child: ProjectionChild,
  state: { kind: 'inclusion' | 'exclusion' | undefined },
): void {
  if (child.kind === 'change' && !INCLUDING.has(child.change)) return;
  const kind = child.kind === 'drop' ? 'exclusion' : 'inclusion';
  state.kind ??= kind;
  if (state.kind === kind) return;
  if (kind === 'exclusion') {
    throw mongoLocation(31254, `Cannot do exclusion on field ${path} in inclusion projection`);
  }
  if (child.kind === 'compute') {
    throw mongoLocation(31252, 'Cannot use expression other than $meta in exclusion projection');
  }
  throw mongoLocation(31253, `Cannot do inclusion on field ${path} in exclusion projection`);
}

function insert(root: ProjectionNode, path: string, child: ProjectionChild): void {
  const names = path.split('.');
  const last = names.pop() as string;
  let node = root;
  for (const [at, name] of names.entries()) {
    const known = node.children.get(name);
    if (known && known.kind !== 'below') {
      const rest = path
        .split('.')
        .slice(at + 1)
        .join('.');
      throw mongoLocation(31249, `Path collision at ${path} remaining portion ${rest}`);
    }
    const below = known?.node ?? { children: new Map() };
    if (!known) node.children.set(name, { kind: 'below', node: below });
    node = below;
  }
  if (node.children.has(last)) throw mongoLocation(31250, `Path collision at ${path}`);
  node.children.set(last, child);
}

function isSliceOfFind(slice: Value): boolean {
  if (isNumber(slice)) return true;
  if (isArray(slice) && slice.length === 2 && slice.every(isNumber)) return true;
  if (isArray(slice)) return false;
  throw mongoLocation(28667, '$slice only supports numbers and [skip, limit] arrays');
}

function slicing(slice: Value): Change {
  const [skip, count] = isArray(slice) ? slice.map(wholeNumber) : [undefined, wholeNumber(slice)];
  if (skip !== undefined && (count ?? 0) <= 0) {
    throw mongoLocation(
      28724,
      'First argument to $slice must be an array; $slice limit must be positive',
    );
  }
  return (value) => {
    if (!isArray(value)) return value;
    const size = count ?? 0;
    if (skip === undefined) return size < 0 ? value.slice(size) : value.slice(0, size);
    const from = skip < 0 ? Math.max(0, value.length + skip) : skip;
    return value.slice(from, from + size);
  };
}

function wholeNumber(value: Value): number {
  return (isNumber(value) ? toSafeInteger(value) : undefined) ?? 0;
}

/** Changes that make a projection an inclusion, as `$elemMatch` and the positional `$` do. */
const INCLUDING = new WeakSet<Change>();

function including(change: Change): ProjectionChild {
  INCLUDING.add(change);
  return { kind: 'change', change };
}

function elementMatching(path: string, condition: Value, compiler: Compiler): ProjectionChild {
  if (path.includes('.')) {
    throw mongoLocation(31275, 'Cannot use $elemMatch projection on a nested field.');
  }
  if (!isDocument(condition)) {
    throw mongoLocation(
      31274,
      `elemMatch: Invalid argument, object required, but got ${typeof condition}`,
    );
  }
  const filter: Document = new Map([['', new Map([['$elemMatch', condition]])]]);
  const { position } = compileFilter(filter, compiler.language);
  return including((value) => {
    if (!isArray(value)) return undefined;
    const index = position(encodeValue(value));
    return index === undefined ? undefined : [value[index] as Value];
  });
}

function atMatch(value: Value): ProjectionChild {
  if (!isTruthy(value))
    throw mongoLocation(31395, 'positional projection cannot be used with exclusion');
  return including((array, matched) => {
    if (!isArray(array)) return array;
    const element = matched === undefined ? undefined : array[matched];
    if (element !== undefined) return [element];
    throw mongoLocation(
      51246,
      "Executor error during find command :: caused by :: positional operator '.$' couldn't find a matching element in the array",
    );
  });
}

/** For `$unset` and update pipelines: a list of paths to drop. */
export function exclusionOf(paths: readonly Value[], operator: string): ProjectionTree {
  const root: ProjectionNode = { children: new Map() };
  for (const path of paths) {
    if (typeof path !== 'string') {
      throw mongoLocation(
        31120,
        `${operator} specification must be a string or an array containing only string values`,
      );
    }
    checkPath(path.split('.'), path);
    insert(root, path, DROP);
  }
  if (paths.length === 0) {
    throw mongoLocation(
      31119,
      `${operator} specification must be a string or an array with at least one field`,
    );
  }
  return { root, exclusion: true, keepsId: false, positional: false };
}

/** For `$addFields`: everything is computed, and all else is kept. */
export function additionOf(spec: Document, compiler: Compiler): ProjectionTree {
  if (spec.size === 0) {
    throw mongoLocation(40177, 'specification must have at least one field');
  }
  const root: ProjectionNode = { children: new Map() };
  const add = (fields: Document, above: string): void => {
    for (const [name, value] of fields) {
      const path = above === '' ? name : `${above}.${name}`;
      checkPath(path.split('.'), path);
      const [first] = isDocument(value) ? value.keys() : [];
      if (isDocument(value) && value.size > 0 && !first?.startsWith('$')) add(value, path);
      else insert(root, path, { kind: 'compute', value: compiler.compile(value) });
    }
  };
  add(spec, '');
  return { root, exclusion: true, keepsId: false, positional: false };
}
