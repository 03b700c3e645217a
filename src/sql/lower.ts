// From the syntax tree to the logical form: names become slots, parameters constants, functions
// their entries; what makes no sense is refused with the service's codes.
import {
  type AggregateCall,
  type Expression,
  type Order,
  type Projection,
  type Query,
  ROOT,
  type Slot,
  type Source,
} from '../query/logical.js';
import type { Count, FromSource, SelectQuery, Span, SqlExpression } from './ast.js';
import { checkGrouping } from './grouping.js';
import { type Hints, NO_HINTS } from './hints.js';
import { lowerExpression } from './lower-expression.js';
import { lowerRank, nearestIsLeast } from './lower-rank.js';
import {
  type LowerState,
  type Parameters,
  parameterValue,
  resolve,
  type Scope,
  unresolved,
} from './scope.js';
import { selectNames } from './select-names.js';
import { SqlError } from './sql-error.js';

export function lowerSql(
  query: SelectQuery,
  parameters: Parameters,
  hints: Hints = NO_HINTS,
): Query {
  const state: LowerState = { parameters, hints, nextSlot: ROOT + 1 };
  const lowered = lowerQuery(query, undefined, state);
  return { ...lowered, slots: state.nextSlot };
}

function lowerQuery(
  query: SelectQuery,
  parent: Scope | undefined,
  state: LowerState,
  container = parent === undefined,
): Query {
  const fresh = { aggregates: undefined, insideAggregate: false, derived: undefined };
  const scope: Scope = { names: new Map(), parent, container, ...fresh };
  const sources = query.from.map((source, index) => lowerSource(source, index, scope, state));
  const lower = (expression: SqlExpression) =>
    lowerExpression(expression, scope, state, (inner) => lowerQuery(inner, scope, state));
  const where = query.where && lower(query.where);
  const groupBy = query.groupBy.map(lower);
  const aggregates: AggregateCall[] = [];
  scope.aggregates = aggregates;
  const project = lowerSelection(query, sources, lower);
  scope.aggregates = undefined;
  const grouped = groupBy.length > 0 || aggregates.length > 0;
  if (grouped) checkGrouping(query, project, groupBy);
  const order = query.orderBy.map((item): Order => lowerOrder(item, lower));
  if (grouped && order.length > 0) {
    throw new SqlError(
      'SC2103',
      'ORDER BY is not allowed together with GROUP BY or aggregates.',
      query.span,
    );
  }
  if (query.rank && (grouped || query.distinct || parent)) {
    const text =
      'ORDER BY RANK is only allowed in a query of its own, without DISTINCT or GROUP BY.';
    throw new SqlError('SC2104', text, query.span);
  }
  const rank = query.rank && lowerRank(query.rank.value, lower);
  const top = countOf(query.top, 'TOP', 'SC2060', state);
  return {
    sources,
    where,
    groupBy,
    aggregates,
    grouped,
    project,
    distinct: query.distinct,
    order,
    rank,
    offset: countOf(query.offset, 'OFFSET', 'SC2062', state) ?? 0,
    limit: countOf(query.limit, 'LIMIT', 'SC2061', state) ?? top,
    slots: state.nextSlot,
    derived: scope.derived,
  };
}

/**
 * The first source names the container, whatever it is called, unless the name is bound already.
 */
function lowerSource(source: FromSource, index: number, scope: Scope, state: LowerState): Source {
  const { collection, iterate } = source;
  if (collection.kind === 'subquery') {
    const overContainer = index === 0 && scope.container;
    const query = lowerQuery(collection.query, scope, state, overContainer);
    const slot = bindName(source.alias, source.span, scope, state);
    if (!overContainer || isRowByRow(query)) {
      return { kind: 'rows', slot, query: withValue(query), each: iterate };
    }
    scope.derived = query;
    return { kind: iterate ? 'elements' : 'value', slot, value: WHOLE };
  }
  const { root, steps } = collection;
  const bound = resolve(scope, root);
  const isContainer = bound === undefined && index === 0 && scope.container;
  if (bound === undefined && !isContainer) throw unresolved(root, collection.span);
  if (isContainer && steps.length === 0 && !iterate) {
    scope.names.set(source.alias ?? root, ROOT);
    return { kind: 'document', slot: ROOT };
  }
  const value: Expression = { kind: 'path', slot: bound ?? ROOT, path: steps };
  const last = [...steps].reverse().find((step) => typeof step === 'string');
  const name = source.alias ?? (iterate ? undefined : (last?.toString() ?? root));
  const slot = bindName(name, source.span, scope, state);
  return { kind: iterate ? 'elements' : 'value', slot, value };
}

const WHOLE: Expression = { kind: 'path', slot: ROOT, path: [] };

/** Rows are made document by document, unless it takes all of them to know one. */
function isRowByRow({ distinct, grouped, order, offset, limit, derived }: Query): boolean {
  const isPlain = !distinct && !grouped && !derived && order.length === 0;
  return isPlain && offset === 0 && limit === undefined;
}

function withValue(query: Query): Query {
  if (query.project.kind === 'value') return query;
  return { ...query, project: { kind: 'value', value: WHOLE } };
}

function bindName(name: string | undefined, span: Span, scope: Scope, state: LowerState): Slot {
  const slot = state.nextSlot++;
  if (name === undefined) return slot;
  if (scope.names.has(name)) {
    throw new SqlError('SC2011', `The identifier '${name}' is already used in FROM.`, span);
  }
  scope.names.set(name, slot);
  return slot;
}

function lowerSelection(
  query: SelectQuery,
  sources: readonly Source[],
  lower: (expression: SqlExpression) => Expression,
): Projection {
  const { select } = query;
  if (select.kind === 'value') return { kind: 'value', value: lower(select.value) };
  if (select.kind === 'star') return lowerStar(query, sources);
  const names = selectNames(select.items);
  const seen = new Set<string>();
  const entries = select.items.map(({ value }, index) => {
    const name = names[index] ?? '';
    if (seen.has(name)) {
      const text = `Cannot specify duplicate property name '${name}' in the SELECT clause.`;
      throw new SqlError('SC2012', text, value.span);
    }
    seen.add(name);
    return { name, value: lower(value) };
  });
  return { kind: 'value', value: { kind: 'object', entries } };
}

function lowerStar(query: SelectQuery, sources: readonly Source[]): Projection {
  const [source, ...more] = sources;
  if (query.groupBy.length > 0) {
    throw new SqlError('SC2041', "'SELECT *' is not allowed with GROUP BY.", query.select.span);
  }
  if (!source || more.length > 0) {
    const text = "'SELECT *' is only valid with a single input set.";
    throw new SqlError('SC2040', text, query.select.span);
  }
  if (source.kind === 'document') return { kind: 'document' };
  return { kind: 'value', value: { kind: 'path', slot: source.slot, path: [] } };
}

function lowerOrder(
  item: SelectQuery['orderBy'][number],
  lower: (expression: SqlExpression) => Expression,
): Order {
  const value = lower(item.value);
  const isDistance = value.kind === 'call' && value.name === 'VECTORDISTANCE';
  // What is written as a path and is none stands for a computed property.
  const isPath = value.kind === 'path' ? value.path.length > 0 : item.value.kind === 'member';
  // Asked by the queries that the query plan makes of ORDER BY RANK.
  const isScore = value.kind === 'call' && value.name === '_FULLTEXTSCORE';
  if (!isDistance && !isScore && !isPath) {
    const text =
      'Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.';
    throw new SqlError('2206', text, item.value.span);
  }
  // The nearest comes first, whatever is written, and what has no distance comes last.
  if (!isDistance) return { value, descending: item.descending };
  if (!nearestIsLeast(value)) return { value, descending: true };
  const farthest: Expression = { kind: 'constant', value: Number.MAX_VALUE };
  return { value: { kind: 'coalesce', left: value, right: farthest }, descending: false };
}

const COUNT_MAX = 2_147_483_647;

function countOf(
  count: Count | undefined,
  clause: string,
  code: string,
  state: LowerState,
): number | undefined {
  if (count === undefined) return undefined;
  const value =
    count.kind === 'number' ? count.value : parameterValue(count.name, count.span, state);
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= COUNT_MAX) {
    return value as number;
  }
  const text = `The value ${JSON.stringify(value)} of ${clause} must be a whole number from 0 to ${COUNT_MAX}.`;
  throw new SqlError(code, text, count.span);
}
