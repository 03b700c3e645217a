// Accumulators in the place of expressions: over their arguments, or over the array that is their
// only argument.
import { compareBson } from '../../value/bson/compare.js';
import { toDouble } from '../../value/bson/numbers.js';
import { isArray, isNullish, isNumber, type Value } from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { type Argument, named, spread } from './arguments.js';
import type { Operators } from './scope.js';
import { Deviation, percentiles, Sum } from './sums.js';

export const statisticOperators: Operators = {
  $sum: spread((values) => summed(values).total),
  $avg: spread((values) => summed(values).mean),
  $min: spread((values, _, { collation }) =>
    extreme(values, (a, b) => compareBson(a, b, collation?.compare)),
  ),
  $max: spread((values, _, { collation }) =>
    extreme(values, (a, b) => compareBson(b, a, collation?.compare)),
  ),
  $stdDevPop: spread((values) => deviation(values).result(false)),
  $stdDevSamp: spread((values) => deviation(values).result(true)),
  $median: named(['input', 'method'], [], ({ input, method }) => {
    checkMethod(method);
    return percentiles(isArray(input) ? input : [input ?? null], [0.5])[0];
  }),
  $percentile: named(['input', 'p', 'method'], [], ({ input, p, method }) => {
    checkMethod(method);
    return percentiles(isArray(input) ? input : [input ?? null], sharesOf(p));
  }),
};

function summed(values: readonly Argument[]): Sum {
  const sum = new Sum();
  for (const value of values) sum.add(value);
  return sum;
}

function deviation(values: readonly Argument[]): Deviation {
  const state = new Deviation();
  for (const value of values) state.add(value);
  return state;
}

function extreme(values: readonly Argument[], order: (a: Value, b: Value) => number): Argument {
  let best: Value = null;
  for (const value of values) {
    if (isNullish(value) || value === undefined) continue;
    if (best === null || order(value, best) < 0) best = value;
  }
  return best;
}

export function checkMethod(method: Argument): void {
  if (method === 'approximate') return;
  throw mongoFailure(
    'BadValue',
    "Currently only 'approximate' can be used as percentile 'method'.",
  );
}

export function sharesOf(p: Argument): readonly number[] {
  const shares = isArray(p) ? p.map((share) => (isNumber(share) ? toDouble(share) : -1)) : [];
  if (shares.length > 0 && shares.every((share) => share >= 0 && share <= 1)) return shares;
  throw mongoLocation(
    7750301,
    "The $percentile 'p' field must be an array of numbers from [0.0, 1.0] and must not be empty",
  );
}
