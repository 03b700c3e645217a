// What an engine may be told of a condition: a filter that lets through at least what the condition
// does. It is exact when it lets through nothing more.
import type { Filter } from '../engine/engine.js';
import type { IndexPath } from '../engine/indexing.js';
import type { Scalar } from '../value/partition-key.js';
import type { Path } from '../value/path.js';
import { tokenize } from '../value/tokenizer.js';
import { type CompareOperator, type Expression, ROOT } from './logical.js';
import { type Nearness, nearnessOfCall, nearnessOfDistance } from './nearness.js';

export interface Weakened {
  readonly filter: Filter | undefined;
  readonly exact: boolean;
}

const NOTHING: Weakened = { filter: undefined, exact: false };

export function weaken(expression: Expression): Weakened {
  switch (expression.kind) {
    case 'and':
      return weakenAnd(expression.all.map(weaken));
    case 'or':
      return weakenOr(expression.all);
    case 'compare':
      return weakenCompare(expression);
    case 'in':
      return weakenIn(expression.value, expression.list);
    case 'call':
      return weakenCall(expression);
    // Clients that rewrite a query put it where there was no condition.
    case 'constant':
      return expression.value === true ? { filter: undefined, exact: true } : NOTHING;
    // A bare path as a condition holds where it is true.
    case 'path':
      return onPath(expression, (path) => ({ op: '=', path, value: true }));
    default:
      return NOTHING;
  }
}

/**
 * The path that indexes know, for a path into the document. Positions in arrays become any element.
 */
export function indexPathOf(path: Path): { readonly path: IndexPath; readonly exact: boolean } {
  return {
    path: path.map((step) => (typeof step === 'number' ? null : step)),
    exact: !path.some((step) => typeof step === 'number'),
  };
}

function weakenAnd(parts: readonly Weakened[]): Weakened {
  const all = parts.flatMap(({ filter }) => (filter ? [filter] : []));
  const exact = parts.every((part) => part.exact);
  if (all.length === 0) return { filter: undefined, exact };
  return { filter: all.length === 1 ? all[0] : { op: 'and', all }, exact };
}

/** Alternatives on one path are a list of values; others are left to the pipeline. */
function weakenOr(all: readonly Expression[]): Weakened {
  const parts = all.map(weaken);
  const values: Scalar[] = [];
  let path: IndexPath | undefined;
  for (const { filter, exact } of parts) {
    if (!filter || !exact || (filter.op !== '=' && filter.op !== 'in')) return NOTHING;
    path ??= filter.path;
    if (JSON.stringify(path) !== JSON.stringify(filter.path)) return NOTHING;
    values.push(...('values' in filter ? filter.values : [filter.value]));
  }
  return path ? { filter: { op: 'in', path, values }, exact: true } : NOTHING;
}

const MIRRORED: Readonly<Record<CompareOperator, CompareOperator>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function weakenCompare(expression: Extract<Expression, { kind: 'compare' }>): Weakened {
  const { left, right, operator } = expression;
  if (left.kind === 'constant' && (right.kind === 'path' || right.kind === 'call')) {
    return weakenCompare({ ...expression, left: right, right: left, operator: MIRRORED[operator] });
  }
  if (right.kind !== 'constant' || operator === '!=') return NOTHING;
  const { value } = right;
  if (left.kind === 'call') return near(nearnessOfDistance(left, operator, value));
  if (!isScalar(value)) return NOTHING;
  return onPath(left, (path) => ({ op: operator, path, value }));
}

function weakenIn(value: Expression, list: readonly Expression[]): Weakened {
  const values = list.map((item) => (item.kind === 'constant' ? item.value : undefined));
  if (!values.every(isScalar)) return NOTHING;
  return onPath(value, (path) => ({ op: 'in', path, values }));
}

function weakenCall(call: Extract<Expression, { kind: 'call' }>): Weakened {
  const [target, argument, third] = call.args;
  if (target && call.name.startsWith('FULLTEXTCONTAINS')) return words(call.name, call.args);
  if (call.name === 'ST_WITHIN' || call.name === 'ST_INTERSECTS') return near(nearnessOfCall(call));
  if (!target || third) return NOTHING;
  if (call.name === 'IS_DEFINED') return onPath(target, (path) => ({ op: 'defined', path }));
  if (argument?.kind !== 'constant' || !isScalar(argument.value)) return NOTHING;
  const { value } = argument;
  switch (call.name) {
    case 'STARTSWITH':
      if (typeof value !== 'string') return NOTHING;
      return onPath(target, (path) => ({ op: 'prefix', path, value }));
    case 'STRINGEQUALS':
      if (typeof value !== 'string') return NOTHING;
      return onPath(target, (path) => ({ op: '=', path, value }));
    case 'ARRAY_CONTAINS':
      return onPath(target, (path) => ({ op: '=', path: [...path, null], value }));
    default:
      return NOTHING;
  }
}

/** Every word of every phrase must be there; of alternatives only a single one can be told. */
function words(name: string, [target, ...phrases]: readonly Expression[]): Weakened {
  const texts = phrases.map((phrase) => (phrase.kind === 'constant' ? phrase.value : undefined));
  const isAny = name === 'FULLTEXTCONTAINSANY' && texts.length > 1;
  if (!target || isAny || !texts.every((text) => typeof text === 'string')) return NOTHING;
  const stems = [...new Set(texts.flatMap((text) => tokenize(text as string)))];
  const parts = stems
    .slice(0, WORDS_MAX)
    .map((word) => onPath(target, (path) => ({ op: 'word', path, word })));
  return { ...weakenAnd(parts), exact: false };
}

/** More would not narrow a search down much further. */
const WORDS_MAX = 8;

function near(nearness: Nearness | undefined): Weakened {
  if (!nearness) return NOTHING;
  const { of, centre, radians } = nearness;
  return { ...onPath(of, (path) => ({ op: 'near', path, centre, radians })), exact: false };
}

/** Only paths into the document itself; sources made from it are another matter. */
function onPath(expression: Expression, make: (path: IndexPath) => Filter): Weakened {
  if (expression.kind !== 'path' || expression.slot !== ROOT) return NOTHING;
  if (expression.path.length === 0) return NOTHING;
  const { path, exact } = indexPathOf(expression.path);
  return { filter: make(path), exact };
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
