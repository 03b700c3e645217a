// Functions that pick one of their arguments.
import { type FunctionTable, fn, MANY } from '../function.js';

export const conditionalFunctions: FunctionTable = {
  /** Unlike `c ? t : f`, everything but true picks the last. */
  IIF: fn<readonly [unknown, unknown, unknown]>(
    ['maybe', 'maybe', 'maybe'],
    ([condition, then, otherwise]) => (condition === true ? then : otherwise),
  ),
  /** Counts from 1, so the choice is at its own number among the arguments. */
  CHOOSE: fn<readonly [number, ...unknown[]]>(
    ['number', 'maybe'],
    (args) => (args[0] >= 1 ? args[args[0]] : undefined),
    [2, MANY],
  ),
};
