// Operators that evaluate an expression for each element, or with variables: `$let`, `$map`,
// `$filter`, `$reduce`, `$sortArray`.
import { compareBson } from '../../value/bson/compare.js';
import { toDouble, toSafeInteger } from '../../value/bson/numbers.js';
import { isArray, isDocument, isNullish, isNumber, type Value } from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { isTruthy } from '../filter/elements.js';
import { compareBySort, compileSort } from '../sort.js';
import { namedOperands } from './arguments.js';
import { checkSize, spend } from './effort.js';
import { nameOfType } from './numbers.js';
import type { Compiler, Expression, Operators } from './scope.js';

export const iterationOperators: Operators = {
  $let: (operand, compiler) => {
    const given = namedOperands(operand, ['vars', 'in'], [], '$let');
    const vars = given.get('vars');
    if (!isDocument(vars)) {
      throw mongoLocation(10065, 'invalid parameter: expected an object (vars)');
    }
    const names = [...vars.keys()];
    for (const name of names) checkVariable(name);
    const values = [...vars.values()].map((value) => compiler.compile(value));
    const { inner, slots } = compiler.binding(names);
    const body = inner.compile(given.get('in') as Value);
    return (scope) => {
      const bound = values.map((value) => value(scope));
      slots.forEach((slot, at) => {
        scope.slots[slot] = bound[at];
      });
      return body(scope);
    };
  },
  $map: (operand, compiler) => {
    const given = namedOperands(operand, ['input', 'in'], ['as'], '$map');
    const input = compiler.compile(given.get('input') as Value);
    const { body, slot } = elementBody(given.get('as'), given.get('in') as Value, compiler);
    return (scope) => {
      const array = input(scope);
      if (isNullish(array)) return null;
      if (!isArray(array))
        throw mongoLocation(16883, `input to $map must be an array not ${nameOfType(array)}`);
      spend(array.length);
      return array.map((element) => {
        scope.slots[slot] = element;
        return body(scope) ?? null;
      });
    };
  },
  $filter: (operand, compiler) => {
    const given = namedOperands(operand, ['input', 'cond'], ['as', 'limit'], '$filter');
    const input = compiler.compile(given.get('input') as Value);
    const limit = given.get('limit');
    const most = limit === undefined ? undefined : compiler.compile(limit);
    const { body, slot } = elementBody(given.get('as'), given.get('cond') as Value, compiler);
    return (scope) => {
      const array = input(scope);
      if (isNullish(array)) return null;
      if (!isArray(array))
        throw mongoLocation(28651, `input to $filter must be an array not ${nameOfType(array)}`);
      spend(array.length);
      const count = limitOf(most?.(scope));
      const kept: Value[] = [];
      for (const element of array) {
        if (kept.length >= count) break;
        scope.slots[slot] = element;
        if (isTruthy(body(scope))) kept.push(element);
      }
      return kept;
    };
  },
  $reduce: (operand, compiler) => {
    const given = namedOperands(operand, ['input', 'initialValue', 'in'], [], '$reduce');
    const input = compiler.compile(given.get('input') as Value);
    const initial = compiler.compile(given.get('initialValue') as Value);
    const { inner, slots } = compiler.binding(['this', 'value']);
    const [thisSlot = 0, valueSlot = 0] = slots;
    const body = inner.compile(given.get('in') as Value);
    return (scope) => {
      const array = input(scope);
      if (isNullish(array)) return null;
      if (!isArray(array)) {
        throw mongoLocation(
          40080,
          `$reduce requires that 'input' be an array, found: ${nameOfType(array)}`,
        );
      }
      spend(array.length);
      let value = initial(scope);
      for (const [step, element] of array.entries()) {
        scope.slots[thisSlot] = element;
        scope.slots[valueSlot] = value;
        value = body(scope);
        if (step % STEPS_PER_CHECK === 0) checkSize(value);
      }
      checkSize(value);
      return value;
    };
  },
  $sortArray: (operand, compiler) => {
    const given = namedOperands(operand, ['input', 'sortBy'], [], '$sortArray');
    const input = compiler.compile(given.get('input') as Value);
    const order = elementOrder(given.get('sortBy') as Value, compiler);
    return (scope) => {
      const array = input(scope);
      if (isNullish(array)) return null;
      if (!isArray(array)) {
        throw mongoLocation(
          2942504,
          `The input argument to $sortArray must be an array, but was of type: ${nameOfType(array)}`,
        );
      }
      spend(array.length);
      return array.toSorted(order());
    };
  },
};

/** A value that doubles with each step has grown by 2^16 at the most when it is looked at. */
const STEPS_PER_CHECK = 16;

function elementBody(
  as: Value | undefined,
  body: Value,
  compiler: Compiler,
): { readonly body: Expression; readonly slot: number } {
  const name = as === undefined ? 'this' : as;
  if (typeof name !== 'string') throw mongoFailure('FailedToParse', "'as' has to be a string");
  if (as !== undefined) checkVariable(name);
  const { inner, slots } = compiler.binding([name]);
  return { body: inner.compile(body), slot: slots[0] ?? 0 };
}

/** User variables begin with a small letter; CURRENT is the one exception. */
export function checkVariable(name: string): void {
  if (/^[a-z\u0080-\uffff][\w\u0080-\uffff]*$/.test(name) || name === 'CURRENT') return;
  throw mongoFailure(
    'FailedToParse',
    `'${name}' starts with an invalid character for a user variable name`,
  );
}

function limitOf(limit: Value | undefined): number {
  if (isNullish(limit)) return Number.POSITIVE_INFINITY;
  const count = isNumber(limit) ? toSafeInteger(limit) : undefined;
  if (count !== undefined && count >= 1) return count;
  throw mongoLocation(
    327391,
    '$filter: limit must be represented as a 32-bit integral value, and positive',
  );
}

function elementOrder(sortBy: Value, compiler: Compiler): () => (a: Value, b: Value) => number {
  const compareText = compiler.language.collation?.compare;
  if (isDocument(sortBy)) {
    const sort = compileSort(sortBy, compiler.language);
    return () => compareBySort(sort);
  }
  const sign = isNumber(sortBy) ? toDouble(sortBy) : 0;
  if (sign !== 1 && sign !== -1) {
    throw mongoLocation(2942507, '$sortArray: sortBy has to be 1, -1 or a document');
  }
  return () => (a, b) => sign * compareBson(a, b, compareText);
}
