// Distances between vectors. A function does not see the container's policy: the planner hands the
// metric over in the options.
import { type FunctionTable, fn, type Value } from '../function.js';

export type VectorMetric = 'cosine' | 'dotproduct' | 'euclidean';

export const vectorFunctions: FunctionTable = {
  /**
   * Every search here is exact, so that `bruteForce` and the options about indexes change nothing.
   */
  VECTORDISTANCE: fn<[readonly unknown[], readonly unknown[], boolean?, Options?]>(
    ['array', 'array', 'boolean', 'object'],
    ([a, b, , options]) => {
      const metric = metricOf(options?.distanceFunction);
      if (metric === undefined || !isVector(a) || !isVector(b)) return undefined;
      return vectorDistance(a, b, metric);
    },
    [2, 4],
  ),
};

/**
 * The number that VECTORDISTANCE answers: a distance for `euclidean`, where less is nearer, and a
 * likeness for the two others, where more is nearer. Undefined for different lengths, for vectors
 * without elements, beyond the range of numbers, and for the angle to a vector of zeros.
 */
export function vectorDistance(
  a: readonly number[],
  b: readonly number[],
  metric: VectorMetric,
): number | undefined {
  if (a.length !== b.length || a.length === 0) return undefined;
  const distance = MEASURES[metric](a, b);
  return Number.isFinite(distance) ? distance : undefined;
}

/** The metric of a name in a policy or in options; cosine where there is none. */
export function metricOf(name: Value): VectorMetric | undefined {
  if (name === undefined) return 'cosine';
  if (typeof name !== 'string') return undefined;
  const lower = name.toLowerCase();
  return lower === 'cosine' || lower === 'dotproduct' || lower === 'euclidean' ? lower : undefined;
}

interface Options {
  readonly distanceFunction?: Value;
}

type Measure = (a: readonly number[], b: readonly number[]) => number;

const MEASURES: Readonly<Record<VectorMetric, Measure>> = {
  cosine: cosineSimilarity,
  dotproduct: dotProduct,
  euclidean: euclideanDistance,
};

function isVector(values: readonly unknown[]): values is readonly number[] {
  for (const value of values) {
    if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  }
  return true;
}

function dotProduct(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number);
  return sum;
}

function euclideanDistance(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    sum += difference * difference;
  }
  return Math.sqrt(sum);
}

/** Rounding may carry the quotient a little beyond one, which no cosine is. */
function cosineSimilarity(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  let squaresOfA = 0;
  let squaresOfB = 0;
  for (let at = 0; at < a.length; at++) {
    const left = a[at] as number;
    const right = b[at] as number;
    sum += left * right;
    squaresOfA += left * left;
    squaresOfB += right * right;
  }
  const lengths = Math.sqrt(squaresOfA) * Math.sqrt(squaresOfB);
  if (!Number.isFinite(lengths)) return Number.NaN;
  return Math.max(-1, Math.min(1, sum / lengths));
}
