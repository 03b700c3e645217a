// ORDER BY RANK: which scores a query asks for.
//
//   rank  = score | RRF "(" score "," score { "," score } [ "," weights ] ")"
//   score = FullTextScore "(" path "," term { "," term } ")" | VectorDistance "(" … ")"
import type { Expression, Rank, RankComponent } from '../query/logical.js';
import type { SqlExpression } from './ast.js';
import { SqlError } from './sql-error.js';

type Lower = (expression: SqlExpression) => Expression;

export function lowerRank(expression: SqlExpression, lower: Lower): Rank {
  if (expression.kind !== 'call') throw refused(expression);
  if (expression.name.toUpperCase() !== 'RRF') {
    return { components: [lowerScore(expression, lower)], weights: [] };
  }
  const last = expression.args.at(-1);
  const weights = last && weightsOf(last, lower);
  const scores = weights ? expression.args.slice(0, -1) : expression.args;
  if (scores.length < 2 || (weights && weights.length !== scores.length)) {
    const text = 'RRF takes two or more scores, and then weights for all of them or for none.';
    throw new SqlError('SC2050', text, expression.span);
  }
  return { components: scores.map((score) => lowerScore(score, lower)), weights: weights ?? [] };
}

/** The most alike come first: the least euclidean distance, the greatest of the others. */
export function nearestIsLeast(distance: Expression): boolean {
  if (distance.kind !== 'call') return false;
  const options = distance.args[3];
  if (options?.kind !== 'object' && options?.kind !== 'constant') return false;
  const name =
    options.kind === 'constant'
      ? (options.value as { distanceFunction?: unknown } | null)?.distanceFunction
      : options.entries
          .filter((entry) => entry.name === 'distanceFunction')
          .map(({ value }) => (value.kind === 'constant' ? value.value : undefined))[0];
  return typeof name === 'string' && name.toLowerCase() === 'euclidean';
}

function lowerScore(expression: SqlExpression, lower: Lower): RankComponent {
  if (expression.kind !== 'call') throw refused(expression);
  const name = expression.name.toUpperCase();
  if (name === 'VECTORDISTANCE') {
    const distance = lower(expression);
    return { kind: 'distance', distance, nearestIsLeast: nearestIsLeast(distance) };
  }
  if (name !== 'FULLTEXTSCORE') throw refused(expression);
  const [text, ...terms] = expression.args;
  if (!text || terms.length === 0) {
    throw new SqlError(
      'SC2050',
      'FullTextScore takes a path and one or more terms.',
      expression.span,
    );
  }
  return { kind: 'text', text: lower(text), terms: terms.flatMap((term) => termsOf(term, lower)) };
}

function termsOf(expression: SqlExpression, lower: Lower): readonly string[] {
  const value = constantOf(lower(expression));
  const terms: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (terms.every((term) => typeof term === 'string')) return terms as readonly string[];
  throw new SqlError('SC2241', 'The terms of FullTextScore must be texts.', expression.span);
}

function weightsOf(expression: SqlExpression, lower: Lower): readonly number[] | undefined {
  if (expression.kind !== 'array' && expression.kind !== 'parameter') return undefined;
  const value = constantOf(lower(expression));
  if (Array.isArray(value) && value.every((weight) => typeof weight === 'number')) return value;
  throw new SqlError('SC2242', 'The weights of RRF must be numbers.', expression.span);
}

function constantOf(expression: Expression): unknown {
  if (expression.kind === 'constant') return expression.value;
  return expression.kind === 'array' ? expression.items.map(constantOf) : undefined;
}

function refused(expression: SqlExpression): SqlError {
  const text = 'ORDER BY RANK takes FullTextScore, VectorDistance or RRF of them.';
  return new SqlError('SC2240', text, expression.span);
}
