// A spatial function does its work in one go, while everything else waits. So there is an end to
// what one call may compare; most polygons of ten thousand positions stay far below it.
import { failure } from '../../value/errors.js';

/** In comparisons of two balls, of less than a tenth of a microsecond each. */
const EFFORT_MAX = 4_000_000;

/** Calls do not run at the same time, so one counter is enough. */
let left = EFFORT_MAX;

export function withEffort<T>(work: () => T): T {
  left = EFFORT_MAX;
  return work();
}

export function spend(comparisons: number): void {
  left -= comparisons;
  if (left < 0) throw failure('invalidInput', { why: TOO_MUCH });
}

const TOO_MUCH =
  'A spatial function takes too many comparisons: its geometries have too many positions close ' +
  'together, or too many long sides. Simplify them.';
