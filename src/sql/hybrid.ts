// ORDER BY RANK over several partitions: no partition knows how rare a word is among all items, nor
// the ranks of the others. So the client first asks all of them for statistics, then for the best
// rows by each score alone, and fuses the ranks itself.
//
//   statistics  SELECT COUNT(1) AS documentCount, [{"totalWordCount": …, "hitCounts": […]}, …]
//   component   SELECT c._rid, [{"item": score}] AS orderByItems,
//                 {"payload": row, "componentScores": [score, …]} AS payload … ORDER BY score
import type { Query, RankComponent } from '../query/logical.js';
import { failure } from '../value/errors.js';
import type { SelectQuery, SqlExpression } from './ast.js';
import {
  arrayOf,
  callOf,
  memberOf,
  nameOf,
  numberOf,
  objectOf,
  orElse,
  stringOf,
} from './build.js';
import { asItIs, type Distribution } from './distribute.js';
import { printExpression } from './print.js';
import { FILTER, filtered, listOf, payloadOf, withNamedSource } from './rewrite.js';

export interface HybridSearch {
  /** Asked of all partitions first; undefined where no score depends on it. */
  readonly statistics: SelectQuery | undefined;
  readonly components: readonly Distribution[];
  /** One for each component, or none at all. */
  readonly weights: readonly number[];
  readonly skip: number;
  readonly take: number;
}

/** Rows that are good by one score may be bad by the others, so more of them are looked at. */
const ROWS_PER_RESULT = 12;
/** Clients hold no more rows than this. */
const ROWS_MAX = 50_000;

export function distributeRank(query: SelectQuery, lowered: Query): HybridSearch {
  const { rank, offset: skip, limit: take } = lowered;
  if (!rank || !query.rank) throw new Error('a query with a rank');
  if (take === undefined) throw failure('invalidInput', { why: NEEDS_LIMIT });
  if (lowered.sources.length !== 1 || lowered.sources[0]?.kind !== 'document') {
    throw failure('notSupported', RANK_OF_JOINS);
  }
  const scores = scoresIn(query.rank.value, rank.components);
  const wanted = skip + take;
  const rowsMax = Math.max(wanted, Math.min(wanted * ROWS_PER_RESULT, ROWS_MAX));
  return {
    statistics: statisticsOf(query, scores),
    components: scores.map((score) => componentOf(query, scores, score, rowsMax)),
    weights: rank.weights,
    skip,
    take,
  };
}

const NEEDS_LIMIT = 'ORDER BY RANK over several partitions needs TOP or OFFSET LIMIT.';
const RANK_OF_JOINS = {
  what: 'A query plan for ORDER BY RANK with JOIN over several partitions',
  hint: 'The query itself is served without a plan.',
};

interface Score {
  readonly component: RankComponent;
  /** What is scored by its words, where words are. */
  readonly text: SqlExpression;
  readonly value: SqlExpression;
  /** The value, or the worst one where there is none. */
  readonly whole: SqlExpression;
  readonly descending: boolean;
}

/** The calls as they are written, each with what it was understood to be. */
function scoresIn(value: SqlExpression, components: readonly RankComponent[]): readonly Score[] {
  if (value.kind !== 'call') throw new Error('a rank is a call');
  const calls = value.name.toUpperCase() === 'RRF' ? value.args : [value];
  let texts = 0;
  return components.map((component, index) => {
    const call = calls[index];
    if (call?.kind !== 'call') throw new Error('a score is a call');
    const [text = call] = call.args;
    if (component.kind === 'text') {
      const score = textScore(text, component.terms, texts++);
      return { component, text, value: score, whole: orElse(score, -1), descending: true };
    }
    const descending = !component.nearestIsLeast;
    const worst = descending ? -Number.MAX_VALUE : Number.MAX_VALUE;
    return { component, text, value: call, whole: orElse(call, worst), descending };
  });
}

/** The client puts the statistics into the places that are held for them. */
function textScore(text: SqlExpression, terms: readonly string[], index: number): SqlExpression {
  const held = (name: string) => nameOf(`{documentdb-formattablehybridsearchquery-${name}}`);
  return callOf(
    '_FullTextScore',
    text,
    arrayOf(terms.map(stringOf)),
    held('totaldocumentcount'),
    held(`totalwordcount-${index}`),
    held(`hitcountsarray-${index}`),
  );
}

/** Over the rows that pass the filter, as without a plan. */
function statisticsOf(query: SelectQuery, scores: readonly Score[]): SelectQuery | undefined {
  const texts = scores.flatMap(({ component, text }) =>
    component.kind === 'text' ? [{ text, terms: component.terms }] : [],
  );
  if (texts.length === 0) return undefined;
  const statistics = texts.map(({ text, terms }) =>
    objectOf([
      ['totalWordCount', callOf('SUM', callOf('_FullTextWordCount', text))],
      ['hitCounts', arrayOf(terms.map((term) => hitCount(text, term)))],
    ]),
  );
  return {
    ...bare(query),
    select: listOf(query.select, [
      { value: callOf('COUNT', numberOf(1)), alias: 'documentCount' },
      { value: arrayOf(statistics), alias: 'fullTextStatistics' },
    ]),
  };
}

function hitCount(text: SqlExpression, term: string): SqlExpression {
  return callOf('COUNTIF', callOf('FullTextContains', text, stringOf(term)));
}

function componentOf(
  query: SelectQuery,
  scores: readonly Score[],
  { value, whole, descending }: Score,
  rowsMax: number,
): Distribution {
  const { from, source } = withNamedSource(query.from);
  const payload = objectOf([
    ['payload', payloadOf(query.select, source, (selected) => selected)],
    ['componentScores', arrayOf(scores.map((score) => score.whole))],
  ]);
  const rewritten: SelectQuery = {
    ...bare(query),
    select: listOf(query.select, [
      { value: memberOf(source, '_rid'), alias: undefined },
      { value: arrayOf([objectOf([['item', whole]])]), alias: 'orderByItems' },
      { value: payload, alias: 'payload' },
    ]),
    from,
    where: filtered(query.where, FILTER),
    orderBy: [{ value, descending }],
    offset: numberOf(0),
    limit: numberOf(rowsMax),
  };
  return {
    ...asItIs(query),
    hasSelectValue: false,
    offset: 0,
    limit: rowsMax,
    orderBy: [{ expression: printExpression(value), descending }],
    isNonStreaming: true,
    rewritten,
  };
}

function bare(query: SelectQuery): SelectQuery {
  return { ...query, top: undefined, rank: undefined, offset: undefined, limit: undefined };
}
