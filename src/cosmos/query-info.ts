// How a query is distributed, in the words of query plans, and the features a client needs for it.
import type { AggregateName } from '../query/functions/aggregates.js';
import type { Distribution } from '../sql/distribute.js';
import type { HybridSearch } from '../sql/hybrid.js';
import { printSql } from '../sql/print.js';

/** Absent values are null here, and lists are never absent: clients read them without a look. */
export function queryInfo(distribution: Distribution): object {
  const { aggregate, properties, rewritten } = distribution;
  return {
    distinctType: DISTINCT_TYPES[distribution.distinct],
    top: distribution.top ?? null,
    offset: distribution.offset ?? null,
    limit: distribution.limit ?? null,
    orderBy: distribution.orderBy.map(({ descending }) =>
      descending ? 'Descending' : 'Ascending',
    ),
    orderByExpressions: distribution.orderBy.map(({ expression }) => expression),
    groupByExpressions: distribution.groupBy,
    groupByAliases: properties.map(({ name }) => name),
    aggregates: aggregate === undefined ? [] : [AGGREGATE_TYPES[aggregate]],
    groupByAliasToAggregateType: Object.fromEntries(
      properties.map((property) => [
        property.name,
        property.aggregate === undefined ? null : AGGREGATE_TYPES[property.aggregate],
      ]),
    ),
    rewrittenQuery: rewritten === undefined ? '' : printSql(rewritten),
    hasSelectValue: distribution.hasSelectValue,
    dCountInfo:
      distribution.distinctCount === undefined ? null : { dCountAlias: distribution.distinctCount },
    hasNonStreamingOrderBy: distribution.isNonStreaming,
  };
}

/** What stands in place of the query info where ranks are to be fused. */
export function hybridSearchInfo(search: HybridSearch): object {
  return {
    globalStatisticsQuery: search.statistics === undefined ? '' : printSql(search.statistics),
    componentQueryInfos: search.components.map(queryInfo),
    componentWithoutPayloadQueryInfos: [],
    projectionQueryInfo: null,
    componentWeights: search.weights,
    skip: search.skip,
    take: search.take,
    requiresGlobalStatistics: search.statistics !== undefined,
  };
}

export function hybridSearchFeatures({ weights }: HybridSearch): readonly string[] {
  return weights.length > 0 ? ['HybridSearch', 'WeightedRankFusion'] : ['HybridSearch'];
}

/** By the names clients list them under. */
export function neededFeatures(distribution: Distribution): readonly string[] {
  const { aggregate, properties, orderBy } = distribution;
  const folded = properties.flatMap((property) => property.aggregate ?? []);
  const all = aggregate === undefined ? folded : [aggregate];
  const has = (...names: readonly AggregateName[]) => all.some((name) => names.includes(name));
  const needs: Readonly<Record<string, boolean>> = {
    Aggregate: all.length > 0,
    NonValueAggregate: folded.length > 0 && distribution.groupBy.length === 0,
    MultipleAggregates: folded.length > 1,
    CountIf: has('COUNTIF'),
    ListAndSetAggregate: has('MAKELIST', 'MAKESET'),
    GroupBy: distribution.groupBy.length > 0,
    DCount: distribution.distinctCount !== undefined,
    Distinct: distribution.distinct !== 'none',
    OrderBy: orderBy.length > 0,
    MultipleOrderBy: orderBy.length > 1,
    NonStreamingOrderBy: distribution.isNonStreaming,
    Top: distribution.top !== undefined,
    OffsetAndLimit: distribution.limit !== undefined,
  };
  return Object.keys(needs).filter((name) => needs[name]);
}

const DISTINCT_TYPES = { none: 'None', ordered: 'Ordered', unordered: 'Unordered' } as const;
const AGGREGATE_TYPES: Readonly<Record<AggregateName, string>> = {
  COUNT: 'Count',
  COUNTIF: 'CountIf',
  SUM: 'Sum',
  AVG: 'Average',
  MIN: 'Min',
  MAX: 'Max',
  MAKELIST: 'MakeList',
  MAKESET: 'MakeSet',
};
