// What a client must do to run a query over several partitions: the query that each of them runs,
// and how their answers are put together.
import type { AggregateName } from '../query/functions/aggregates.js';
import type { Query } from '../query/logical.js';
import { failure } from '../value/errors.js';
import { aggregateIn, containsAggregate } from './aggregate-calls.js';
import type { Selection, SelectQuery, SqlExpression } from './ast.js';
import { numberOf } from './build.js';
import { printExpression } from './print.js';
import { rewriteGrouped, rewriteOrdered } from './rewrite.js';
import { selectNames } from './select-names.js';

export interface Distribution {
  readonly distinct: 'none' | 'ordered' | 'unordered';
  readonly top: number | undefined;
  readonly offset: number | undefined;
  readonly limit: number | undefined;
  readonly orderBy: readonly { readonly expression: string; readonly descending: boolean }[];
  readonly groupBy: readonly string[];
  /** The aggregate of SELECT VALUE. */
  readonly aggregate: AggregateName | undefined;
  /** The properties of a SELECT list with groups or aggregates, and what each of them folds. */
  readonly properties: readonly Property[];
  readonly hasSelectValue: boolean;
  /** Rows do not come in an order that could be merged: all of them are needed first. */
  readonly isNonStreaming: boolean;
  /** The client counts the distinct rows, and calls the count so; '' where it is the VALUE. */
  readonly distinctCount: string | undefined;
  /** What each partition is asked, where it is not the query itself. */
  readonly rewritten: SelectQuery | undefined;
}
export interface Property {
  readonly name: string;
  readonly aggregate: AggregateName | undefined;
}

/**
 * `lowered` is the same query, checked and with its parameters in place; `isPinned` says that a
 * single partition holds all its rows.
 */
export function distribute(query: SelectQuery, lowered: Query, isPinned: boolean): Distribution {
  if (lowered.derived) return isPinned ? asItIs(query) : distinctCountOf(query, lowered);
  const counts = countsOf(query, lowered);
  const properties = propertiesOf(query);
  const aggregate = valueAggregate(query.select);
  // Told of TOP 0, some clients ask for pages of no rows; each partition knows that there are none.
  if (counts.top === 0 || counts.limit === 0) return asItIs(query);
  const isGrouped = query.groupBy.length > 0 || aggregate !== undefined || properties.length > 0;
  const isOrdered = query.orderBy.length > 0;
  const isWhole = isPinned && !isGrouped && !isOrdered && !query.distinct;
  if (query.rank && !isWhole) throw new Error('a rank over several partitions: see hybrid.ts');
  return {
    distinct: distinctOf(query),
    top: counts.top,
    offset: isWhole ? undefined : counts.offset,
    limit: isWhole ? undefined : counts.limit,
    orderBy: query.orderBy.map(({ value }, index) => ({
      expression: printExpression(value),
      descending: lowered.order[index]?.descending === true,
    })),
    groupBy: query.groupBy.map(printExpression),
    aggregate,
    properties,
    hasSelectValue: query.select.kind === 'value',
    // The only function to order by is a distance, and no index holds distances in order.
    isNonStreaming: query.orderBy.some(({ value }) => value.kind === 'call'),
    distinctCount: undefined,
    rewritten: isWhole ? undefined : rewrite(query, counts, isGrouped),
  };
}

/** One partition has all the rows, or each has none: there is nothing to put together. */
export function asItIs({ select }: SelectQuery): Distribution {
  return {
    distinct: 'none',
    top: undefined,
    offset: undefined,
    limit: undefined,
    orderBy: [],
    groupBy: [],
    aggregate: undefined,
    properties: [],
    hasSelectValue: select.kind === 'value',
    isNonStreaming: false,
    distinctCount: undefined,
    rewritten: undefined,
  };
}

/**
 * Of the queries about all rows of another one, clients know one: SELECT COUNT(1) FROM (SELECT
 * DISTINCT …). Each partition tells its distinct rows, and the client counts them.
 */
function distinctCountOf(query: SelectQuery, { derived }: Query): Distribution {
  const [source, ...joined] = query.from;
  const { select } = query;
  const [only, ...more] = select.kind === 'list' ? select.items : [];
  const counted = select.kind === 'value' ? select.value : only?.value;
  const found = counted && aggregateIn(counted);
  const isCount = found?.name === 'COUNT' && found.value.kind === 'number' && more.length === 0;
  const isBare = !query.where && !query.distinct && joined.length === 0 && !source?.iterate;
  const inner = source?.collection.kind === 'subquery' ? source.collection.query : undefined;
  const isPlain = derived?.distinct && !derived.grouped && !derived.derived;
  const isAll = isPlain && derived.limit === undefined && derived.offset === 0;
  if (!inner || !isCount || !isBare || !isAll || inner.orderBy.length + query.groupBy.length > 0) {
    throw failure('notSupported', DERIVED_OVER_PARTITIONS);
  }
  const [name = ''] = select.kind === 'list' ? selectNames(select.items) : [];
  return {
    ...asItIs(query),
    distinct: 'unordered',
    distinctCount: select.kind === 'value' ? '' : name,
    rewritten: inner,
  };
}

const DERIVED_OVER_PARTITIONS = {
  what: 'A query plan for FROM (SELECT …) with DISTINCT, GROUP BY, aggregates, ORDER BY, TOP or OFFSET over several partitions',
  hint: 'The query itself is served without a plan.',
};

interface Counts {
  readonly top: number | undefined;
  readonly offset: number | undefined;
  readonly limit: number | undefined;
}

/** The logical form knows no TOP: it is a LIMIT there. */
function countsOf(query: SelectQuery, { offset, limit }: Query): Counts {
  if (query.limit !== undefined) return { top: undefined, offset, limit };
  return { top: limit, offset: undefined, limit: undefined };
}

/** With groups or aggregates; a SELECT list without either needs no help. */
function propertiesOf({ select, groupBy }: SelectQuery): readonly Property[] {
  if (select.kind !== 'list') return [];
  const names = selectNames(select.items);
  const properties = select.items.map(({ value }, at) => ({
    name: names[at] ?? '',
    aggregate: wholeAggregate(value),
  }));
  const isFolded = properties.some(({ aggregate }) => aggregate !== undefined);
  return isFolded || groupBy.length > 0 ? properties : [];
}

function valueAggregate(select: Selection): AggregateName | undefined {
  return select.kind === 'value' ? wholeAggregate(select.value) : undefined;
}

/** Clients can join the results of aggregates, but not what has been made of them since. */
function wholeAggregate(value: SqlExpression): AggregateName | undefined {
  const found = aggregateIn(value);
  if (found === undefined && containsAggregate(value)) {
    const why = 'Compositions of aggregates and other expressions are not allowed.';
    throw failure('invalidInput', { why });
  }
  return found?.name;
}

/** Equal rows that follow each other are easier to find than those that may be anywhere. */
function distinctOf({ distinct, select, orderBy }: SelectQuery): Distribution['distinct'] {
  if (!distinct) return 'none';
  const selected = new Set(selectedExpressions(select).map(printExpression));
  const first = orderBy.slice(0, selected.size).map(({ value }) => printExpression(value));
  const isOrdered = selected.size > 0 && new Set(first).size === selected.size;
  return isOrdered && first.every((key) => selected.has(key)) ? 'ordered' : 'unordered';
}

function selectedExpressions(select: Selection): readonly SqlExpression[] {
  if (select.kind === 'value') return [select.value];
  return select.kind === 'list' ? select.items.map(({ value }) => value) : [];
}

const COUNT_MAX = 2_147_483_647;

function rewrite(
  query: SelectQuery,
  { top, offset, limit }: Counts,
  isGrouped: boolean,
): SelectQuery | undefined {
  if (isGrouped) return rewriteGrouped(query);
  // Rows that are skipped over all partitions may all be in one of them.
  const isLimited = offset !== undefined && limit !== undefined;
  const needed = isLimited ? Math.min(offset + limit, COUNT_MAX) : undefined;
  const counts = {
    top: top === undefined ? undefined : numberOf(top),
    offset: needed === undefined ? undefined : numberOf(0),
    limit: needed === undefined ? undefined : numberOf(needed),
  };
  // Rows that are equal to those of other partitions do not count.
  const none = { top: undefined, offset: undefined, limit: undefined };
  const counted = { ...query, ...(query.distinct ? none : counts) };
  if (query.orderBy.length > 0) return rewriteOrdered(counted);
  const isChanged = isLimited || (query.distinct && top !== undefined);
  return isChanged ? counted : undefined;
}
