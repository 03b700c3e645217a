// Provisioned throughput: what may be asked for, and how many physical ranges it takes to serve it.
import { failure } from '../value/errors.js';

export type Throughput =
  | { readonly kind: 'manual'; readonly perSecond: number }
  | {
      readonly kind: 'autoscale';
      readonly maxPerSecond: number;
      readonly incrementPercent?: number;
    };

export const DEFAULT_THROUGHPUT: Throughput = { kind: 'manual', perSecond: 400 };
const PER_SECOND_MAX = 1_000_000;
const MANUAL = { min: 400, step: 100 };
const AUTOSCALE = { min: 1000, step: 1000 };
export const PER_RANGE_MAX = 10_000;

/** The number a range is provisioned by: autoscale counts with its ceiling. */
export function ceilingOf(throughput: Throughput): number {
  return throughput.kind === 'manual' ? throughput.perSecond : throughput.maxPerSecond;
}

export function rangesFor(throughput: Throughput): number {
  return Math.max(1, Math.ceil(ceilingOf(throughput) / PER_RANGE_MAX));
}

const GB = 1024 ** 3;

/**
 * How low throughput may sink: a hundredth of the highest ever provisioned and 1 for each GB that
 * is stored; ten times that for the ceiling of autoscale.
 */
export function minimumOf(
  kind: Throughput['kind'],
  highestEver: number,
  storedBytes: number,
): number {
  const { min, step } = kind === 'manual' ? MANUAL : AUTOSCALE;
  const times = kind === 'manual' ? 1 : 10;
  const needed = Math.max(highestEver / 100, storedBytes / GB) * times;
  return Math.max(min, Math.ceil(needed / step) * step);
}

export function manual(value: unknown): Throughput {
  checkAmount(value, MANUAL);
  return { kind: 'manual', perSecond: value };
}

export function autoscale(maxPerSecond: unknown, incrementPercent?: unknown): Throughput {
  checkAmount(maxPerSecond, AUTOSCALE);
  if (incrementPercent === undefined) return { kind: 'autoscale', maxPerSecond };
  if (!isPercent(incrementPercent)) {
    const why = `incrementPercent must be a whole number from 0 to 100, not ${JSON.stringify(incrementPercent)}.`;
    throw failure('invalidInput', { why });
  }
  return { kind: 'autoscale', maxPerSecond, incrementPercent };
}

function isPercent(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 100;
}

function checkAmount(
  value: unknown,
  { min, step }: { readonly min: number; readonly step: number },
): asserts value is number {
  const fits =
    typeof value === 'number' && value >= min && value <= PER_SECOND_MAX && value % step === 0;
  if (!fits) throw failure('offerInvalid', { value: JSON.stringify(value) ?? '', min, step });
}
