// Every built-in function by its name. A new family is added here; a new function is added to the
// table of its family.
import assert from 'node:assert/strict';
import type { FunctionTable, QueryFunction } from '../function.js';
import { arrayFunctions } from './arrays.js';
import { conditionalFunctions } from './conditional.js';
import { conversionFunctions } from './conversions.js';
import { dateTimeFunctions } from './date-time.js';
import { fullTextFunctions } from './full-text.js';
import { integerFunctions } from './integers.js';
import { mathFunctions } from './math.js';
import { regexFunctions } from './regex.js';
import { setFunctions } from './sets.js';
import { spatialFunctions } from './spatial.js';
import { stringFunctions } from './strings.js';
import { typeCheckFunctions } from './type-checks.js';
import { vectorFunctions } from './vector.js';

export const functions: FunctionTable = merge([
  arrayFunctions,
  conditionalFunctions,
  conversionFunctions,
  dateTimeFunctions,
  fullTextFunctions,
  integerFunctions,
  mathFunctions,
  regexFunctions,
  setFunctions,
  spatialFunctions,
  stringFunctions,
  typeCheckFunctions,
  vectorFunctions,
]);

/** The function that a query calls by this name, in whatever case it is written. */
export function findFunction(name: string): QueryFunction | undefined {
  const known = name.toUpperCase();
  return Object.hasOwn(functions, known) ? functions[known] : undefined;
}

function merge(tables: readonly FunctionTable[]): FunctionTable {
  const merged: Record<string, QueryFunction> = {};
  for (const [name, definition] of tables.flatMap((table) => Object.entries(table))) {
    assert(name === name.toUpperCase(), `the function ${name} is not named in upper case`);
    assert(!Object.hasOwn(merged, name), `the function ${name} is defined twice`);
    merged[name] = definition;
  }
  return merged;
}
