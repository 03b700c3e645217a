// The operators of the query language on values, with undefined for everything that makes no sense.
import { compareValues, equalValues } from '../value/compare.js';
import type { Value } from './function.js';
import type { CompareOperator, NumberOperator } from './logical.js';

/** False wins over undefined; what is no boolean counts as undefined. */
export function and(left: Value, right: Value): boolean | undefined {
  if (left === false || right === false) return false;
  return left === true && right === true ? true : undefined;
}

/** True wins over undefined. */
export function or(left: Value, right: Value): boolean | undefined {
  if (left === true || right === true) return true;
  return left === false && right === false ? false : undefined;
}

export function not(value: Value): boolean | undefined {
  return typeof value === 'boolean' ? !value : undefined;
}

/**
 * Values of different types do not compare. Arrays and objects are equal or not, and have no order
 * here; ORDER BY has its own, the one order of values.
 */
export function compare(operator: CompareOperator, left: Value, right: Value): boolean | undefined {
  const type = typeOf(left);
  if (type === 'undefined' || type !== typeOf(right)) return undefined;
  if (operator === '=') return equalValues(left, right);
  if (operator === '!=') return !equalValues(left, right);
  if (type === 'array' || type === 'object') return undefined;
  const order = compareValues(left, right);
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    default:
      throw new Error(`unknown operator ${operator satisfies never}`);
  }
}

export function calculate(operator: NumberOperator, left: Value, right: Value): Value {
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  const result = arithmetic(operator, left, right);
  return Number.isFinite(result) ? result : undefined;
}

export function typeOf(value: Value): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function arithmetic(operator: NumberOperator, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
    case '&':
      return left & right;
    case '|':
      return left | right;
    case '^':
      return left ^ right;
    case '<<':
      return left << right;
    case '>>':
      return left >> right;
    case '>>>':
      return left >>> right;
    default:
      throw new Error(`unknown operator ${operator satisfies never}`);
  }
}
