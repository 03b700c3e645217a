// Functions that tell what an argument is. They take undefined and are never undefined themselves.
import { type FunctionTable, fn } from '../function.js';
import { parseDateTime } from './date-parts.js';
import { isInt64 } from './integers.js';

export const typeCheckFunctions: FunctionTable = {
  IS_ARRAY: check((value) => Array.isArray(value)),
  IS_BOOL: check(isBoolean),
  // The SDK for Java writes this when it goes on with ORDER BY over several ranges.
  IS_BOOLEAN: check(isBoolean),
  IS_DATETIME: check((value) => typeof value === 'string' && parseDateTime(value) !== undefined),
  IS_DEFINED: check((value) => value !== undefined),
  IS_FINITE_NUMBER: check((value) => Number.isFinite(value)),
  IS_INTEGER: check(isInt64),
  IS_NULL: check((value) => value === null),
  IS_NUMBER: check((value) => typeof value === 'number'),
  IS_OBJECT: check((value) => isContainer(value) && !Array.isArray(value)),
  IS_PRIMITIVE: check((value) => value !== undefined && !isContainer(value)),
  IS_STRING: check((value) => typeof value === 'string'),
};

function check(test: (value: unknown) => boolean) {
  return fn<readonly [unknown]>(['maybe'], ([value]) => test(value));
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
