// Which partition keys the filter of a query lets through: every way to satisfy it names some
// components of the key, or none. It is sound but not complete: what it does not understand may be
// any key.
import type { PartitionKey, Scalar } from '../value/partition-key.js';
import type { Path } from '../value/path.js';
import type { SelectQuery, SqlExpression } from './ast.js';
import type { Parameters } from './scope.js';

/**
 * The beginnings of all keys that can have rows: `[]` stands for every key, and an empty list says
 * that there can be no row.
 */
export function pinnedKeys(
  query: SelectQuery,
  paths: readonly Path[],
  parameters: Parameters,
): readonly PartitionKey[] {
  const [source] = query.from;
  if (source === undefined) return [];
  const { collection, iterate, alias } = source;
  if (collection.kind === 'subquery') return pinnedKeys(collection.query, paths, parameters);
  const isContainer = collection.steps.length === 0 && !iterate;
  if (!isContainer || query.where === undefined) return [[]];
  const filter: Filter = { root: alias ?? collection.root, paths, parameters };
  return waysTo(query.where, filter).map((way) => {
    const missing = paths.findIndex((_, level) => !way.has(level));
    const levels = missing < 0 ? paths.length : missing;
    return paths.slice(0, levels).map((_, level) => way.get(level));
  });
}

interface Filter {
  readonly root: string;
  readonly paths: readonly Path[];
  readonly parameters: Parameters;
}
/** Components by their level. */
type Way = ReadonlyMap<number, Scalar>;

const ANY: readonly Way[] = [new Map()];
const NONE: readonly Way[] = [];
/** Beyond this many keys asking everywhere costs less than telling where. */
const WAYS_MAX = 1000;

function waysTo(expression: SqlExpression, filter: Filter): readonly Way[] {
  switch (expression.kind) {
    case 'boolean':
      return expression.value ? ANY : NONE;
    case 'in':
      if (expression.negated) return ANY;
      return bounded(
        expression.list.flatMap((item) => waysToEqual(expression.value, item, filter)),
      );
    case 'binary': {
      const { operator, left, right } = expression;
      if (operator === '=') return waysToEqual(left, right, filter);
      if (operator === 'AND') return both(waysTo(left, filter), waysTo(right, filter));
      if (operator === 'OR') return bounded([...waysTo(left, filter), ...waysTo(right, filter)]);
      return ANY;
    }
    default:
      return ANY;
  }
}

function bounded(ways: readonly Way[]): readonly Way[] {
  return ways.length > WAYS_MAX || ways.some((way) => way.size === 0) ? ANY : ways;
}

function both(left: readonly Way[], right: readonly Way[]): readonly Way[] {
  // Either side alone lets too many keys through, never too few.
  if (left.length * right.length > WAYS_MAX) return left.length < right.length ? left : right;
  return left.flatMap((one) => right.flatMap((other) => joined(one, other)));
}

/** No key has two different values at one level. */
function joined(one: Way, other: Way): readonly Way[] {
  for (const [level, value] of other) {
    if (one.has(level) && one.get(level) !== value) return NONE;
  }
  return [new Map([...one, ...other])];
}

function waysToEqual(left: SqlExpression, right: SqlExpression, filter: Filter): readonly Way[] {
  const level = levelOf(left, filter);
  if (level < 0) return levelOf(right, filter) < 0 ? ANY : waysToEqual(right, left, filter);
  const value = constantOf(right, filter.parameters);
  return value === undefined ? ANY : [new Map([[level, value]])];
}

/** Which component of the key an expression is; -1 if none. */
function levelOf(expression: SqlExpression, { root, paths }: Filter): number {
  const steps: string[] = [];
  let at = expression;
  while (at.kind === 'member' && at.key.kind === 'string') {
    steps.unshift(at.key.value);
    at = at.of;
  }
  if (at.kind !== 'identifier' || at.name !== root) return -1;
  return paths.findIndex(
    (path) => path.length === steps.length && path.every((step, index) => step === steps[index]),
  );
}

function constantOf(expression: SqlExpression, parameters: Parameters): Scalar | undefined {
  switch (expression.kind) {
    case 'null':
      return null;
    case 'number':
    case 'string':
    case 'boolean':
      return expression.value;
    case 'parameter': {
      const value = parameters.get(expression.name);
      return typeof value === 'object' && value !== null ? undefined : (value as Scalar);
    }
    case 'unary': {
      const value = constantOf(expression.operand, parameters);
      return expression.operator === '-' && typeof value === 'number' ? -value : undefined;
    }
    default:
      return undefined;
  }
}
