// The aggregates: each folds the values of many rows into one. They are not functions of one row,
// so they have a table of their own.
import { compareValues } from '../../value/compare.js';
import { failure } from '../../value/errors.js';
import { ValueSet } from './value-set.js';

export interface Aggregate {
  /** Takes every value, undefined too, which no aggregate counts. */
  add(value: unknown): void;
  result(): unknown;
}

export type AggregateName =
  | 'COUNT'
  | 'SUM'
  | 'AVG'
  | 'MIN'
  | 'MAX'
  | 'COUNTIF'
  | 'MAKELIST'
  | 'MAKESET';

/** One entry makes one fold, which starts empty. */
export const aggregates: Readonly<Record<AggregateName, () => Aggregate>> = {
  COUNT: () => counting((value) => value !== undefined),
  COUNTIF: () => counting((value) => value === true),
  SUM: () => summing((sum) => sum),
  AVG: () => summing((sum, count) => (count === 0 ? undefined : sum / count)),
  MIN: () => choosing((order) => order < 0),
  MAX: () => choosing((order) => order > 0),
  MAKELIST: makeList,
  MAKESET: makeSet,
};

/** How many values MAKELIST and MAKESET hold. */
export const COLLECTED_VALUES_MAX = 100_000;

function counting(counts: (value: unknown) => boolean): Aggregate {
  let count = 0;
  return {
    add(value) {
      if (counts(value)) count++;
    },
    result: () => count,
  };
}

/** A single value that is not a number makes the whole undefined. */
function summing(finish: (sum: number, count: number) => number | undefined): Aggregate {
  let sum = 0;
  let count = 0;
  return {
    add(value) {
      if (value === undefined) return;
      sum += typeof value === 'number' ? value : Number.NaN;
      count++;
    },
    result() {
      const total = finish(sum, count);
      return Number.isFinite(total) ? total : undefined;
    },
  };
}

/** A single array or object makes the whole undefined. */
function choosing(isBetter: (order: number) => boolean): Aggregate {
  let best: unknown;
  let comparable = true;
  return {
    add(value) {
      if (value === undefined) return;
      if (typeof value === 'object' && value !== null) comparable = false;
      else if (best === undefined || isBetter(compareValues(value, best))) best = value;
    },
    result: () => (comparable ? best : undefined),
  };
}

function makeList(): Aggregate {
  const values: unknown[] = [];
  return {
    add(value) {
      if (value === undefined) return;
      values.push(value);
      checkCollected('MAKELIST', values.length);
    },
    result: () => values,
  };
}

function makeSet(): Aggregate {
  const values = new ValueSet();
  return {
    add(value) {
      if (value === undefined) return;
      values.add(value);
      checkCollected('MAKESET', values.size);
    },
    result: () => values.toArray(),
  };
}

function checkCollected(name: string, count: number): void {
  if (count <= COLLECTED_VALUES_MAX) return;
  throw failure('invalidInput', {
    why: `${name} collects at most ${COLLECTED_VALUES_MAX} values.`,
  });
}
