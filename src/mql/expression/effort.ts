// An expression is evaluated in one go, while everything else waits. So there is an end to the
// steps it may take for one row, and to the size of what it makes.
import { NESTING_MAX } from '../../value/bson/validate.js';
import type { Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';

/** Elements that operators go through or make, of about a tenth of a microsecond each. */
export const STEPS_MAX = 1_000_000;
/** Of texts in UTF-16 units, and of values as `sizeWithin` counts them. */
export const RESULT_SIZE_MAX = 16 * 1024 * 1024;

/** Rows are evaluated one after the other, so one counter is enough. */
let left = STEPS_MAX;

export function startEffort(): void {
  left = STEPS_MAX;
}

export function spend(steps: number): void {
  left -= steps;
  if (left >= 0) return;
  throw mongoFailure('OperationFailed', `an expression takes more than ${STEPS_MAX} steps`);
}

export function checkLength(length: number): void {
  if (length <= RESULT_SIZE_MAX) return;
  throw mongoFailure(
    'BSONObjectTooLarge',
    `an expression makes more than ${RESULT_SIZE_MAX} bytes`,
  );
}

/** Values that hold the same part twice, and that twice again, are small until they are written. */
export function checkSize(value: Value | undefined): void {
  const budget = { left: RESULT_SIZE_MAX };
  count(value, budget, NESTING_MAX);
  if (budget.left < 0) checkLength(RESULT_SIZE_MAX + 1);
}

const VALUE_SIZE = 16;

function count(value: Value | undefined, budget: { left: number }, levels: number): void {
  if (levels < 0) {
    throw mongoFailure(
      'Overflow',
      `an expression makes more than ${NESTING_MAX} levels of nesting`,
    );
  }
  budget.left -= typeof value === 'string' ? value.length + VALUE_SIZE : VALUE_SIZE;
  if (budget.left < 0) return;
  if (Array.isArray(value)) {
    for (const element of value) {
      count(element, budget, levels - 1);
      if (budget.left < 0) return;
    }
  } else if (value instanceof Map) {
    for (const member of value.values()) {
      count(member as Value, budget, levels - 1);
      if (budget.left < 0) return;
    }
  }
}
