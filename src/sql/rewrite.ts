// The queries that single partitions run, in the shapes that clients know how to merge:
//
//   ordered   SELECT c._rid, [{"item": key}, …] AS orderByItems, payload AS payload
//   grouped   SELECT [{"item": key}, …] AS groupByItems, payload AS payload
//   folded    SELECT VALUE [aggregate], or SELECT {"name": aggregate, …} AS payload
import type { AggregateName } from '../query/functions/aggregates.js';
import { aggregateIn } from './aggregate-calls.js';
import type { FromSource, SelectItem, Selection, SelectQuery, SqlExpression } from './ast.js';
import { arrayOf, bothOf, callOf, memberOf, nameOf, objectOf } from './build.js';
import { selectNames } from './select-names.js';

/**
 * Stands as a text where the client inserts what it knows when it resumes: `true`, or a comparison
 * with the last row it saw.
 */
export const FILTER = nameOf('({documentdb-formattableorderbyquery-filter})');

/** TOP, OFFSET and LIMIT stay as they are. */
export function rewriteOrdered(query: SelectQuery): SelectQuery {
  const { from, source } = withNamedSource(query.from);
  const keys = query.orderBy.map(({ value }) => objectOf([['item', value]]));
  const payload = payloadOf(query.select, source, (value) => value);
  const where = filtered(query.where, FILTER);
  return {
    ...query,
    distinct: false,
    select: listOf(query.select, [
      { value: memberOf(source, '_rid'), alias: undefined },
      { value: arrayOf(keys), alias: 'orderByItems' },
      { value: payload, alias: 'payload' },
    ]),
    from,
    where: mayBeUndefined(query.select) ? bothOf(where, callOf('IS_DEFINED', payload)) : where,
  };
}

/** Groups are whole only when all partitions have answered, so nothing may be left out before. */
export function rewriteGrouped(query: SelectQuery): SelectQuery {
  const { select } = query;
  const everything = { ...query, distinct: false, top: undefined, ...UNLIMITED };
  if (select.kind === 'value' && query.groupBy.length === 0) {
    return { ...everything, select: { ...select, value: partialValue(select.value) } };
  }
  const keys = query.groupBy.map((value) => objectOf([['item', value]]));
  const { source } = withNamedSource(query.from);
  const partial = select.kind === 'value' ? partialValue : partialProperty;
  const payload: SelectItem = { value: payloadOf(select, source, partial), alias: 'payload' };
  const groupByItems: SelectItem = { value: arrayOf(keys), alias: 'groupByItems' };
  const items = keys.length > 0 ? [groupByItems, payload] : [payload];
  return { ...everything, select: listOf(select, items) };
}

export function filtered(where: SqlExpression | undefined, filter: SqlExpression): SqlExpression {
  return where === undefined ? filter : bothOf(where, filter);
}

const UNLIMITED = { offset: undefined, limit: undefined };

export function listOf({ span }: Selection, items: readonly SelectItem[]): Selection {
  return { kind: 'list', span, items };
}

export function payloadOf(
  select: Selection,
  source: SqlExpression,
  change: (value: SqlExpression) => SqlExpression,
): SqlExpression {
  switch (select.kind) {
    case 'star':
      return source;
    case 'value':
      return change(select.value);
    case 'list': {
      const names = selectNames(select.items);
      return objectOf(select.items.map(({ value }, at) => [names[at] ?? '', change(value)]));
    }
    default:
      return select satisfies never;
  }
}

/** A row whose VALUE is undefined is no row, which a payload alone could not tell. */
function mayBeUndefined(select: Selection): boolean {
  if (select.kind !== 'value') return false;
  switch (select.value.kind) {
    case 'identifier':
    case 'array':
    case 'object':
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return false;
    default:
      return true;
  }
}

function partialValue(value: SqlExpression): SqlExpression {
  const partial = partialResult(value);
  return partial === undefined ? value : arrayOf([partial]);
}

function partialProperty(value: SqlExpression): SqlExpression {
  return partialResult(value) ?? value;
}

/** What a partition tells of an aggregate so that the results of several can be joined. */
function partialResult(expression: SqlExpression): SqlExpression | undefined {
  const found = aggregateIn(expression);
  if (found === undefined) return undefined;
  const { name, value } = found;
  const count = ['count', callOf('COUNT', value)] as const;
  if (name === 'AVG') {
    return objectOf([['item', objectOf([['sum', callOf('SUM', value)], count])]]);
  }
  const item = ['item', callOf(name, value)] as const;
  const extreme = EXTREMES[name];
  if (extreme === undefined) return objectOf([item]);
  // The count tells "no values" from "values that have no order".
  return objectOf([item, ['item2', objectOf([[extreme, callOf(name, value)], count])]]);
}

const EXTREMES: Readonly<Partial<Record<AggregateName, string>>> = { MIN: 'min', MAX: 'max' };

/** The name of the first source, which holds the document; one without a name is given one. */
export function withNamedSource(from: readonly FromSource[]): {
  readonly from: readonly FromSource[];
  readonly source: SqlExpression;
} {
  const [first, ...joined] = from;
  const name = first && sourceName(first);
  if (first === undefined || name !== undefined) return { from, source: nameOf(name ?? UNNAMED) };
  return { from: [{ ...first, alias: UNNAMED }, ...joined], source: nameOf(UNNAMED) };
}

const UNNAMED = 'root';

function sourceName({ alias, iterate, collection }: FromSource): string | undefined {
  if (alias !== undefined || iterate || collection.kind === 'subquery') return alias;
  const names = collection.steps.filter((step) => typeof step === 'string');
  return names.at(-1) ?? collection.root;
}
