// Values as the reference sees them: equality, order and the operators of the query language, each
// written down from its definition with no regard to speed.
import { boundKey, encodeValue } from '../../src/value/key.js';

export type Truth = boolean | undefined;

/** Type order: undefined < null < false < true < numbers < strings < arrays < objects. */
export function rankOf(value: unknown): number {
  if (value === undefined) return 0;
  if (value === null) return 1;
  if (value === false) return 2;
  if (value === true) return 3;
  if (typeof value === 'number') return 4;
  if (typeof value === 'string') return 5;
  return Array.isArray(value) ? 6 : 7;
}

/** Among themselves arrays are alike, and so are objects. */
export function orderOf(a: unknown, b: unknown): number {
  const byRank = rankOf(a) - rankOf(b);
  if (byRank !== 0) return byRank;
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0;
  return 0;
}

/**
 * The order of ORDER BY with this many keys: that of values, but very long strings go by what a key
 * of a store can hold of them.
 */
export function sortOrderOf(a: unknown, b: unknown, keys: number): number {
  if (typeof a !== 'string' || typeof b !== 'string') return orderOf(a, b);
  const bytesMax = Math.floor(1500 / keys);
  const held = (text: string) => boundKey(encodeValue(text), bytesMax);
  return a === b ? 0 : Buffer.compare(held(a), held(b));
}

/** JSON with sorted names: the same text for equal values and for no others. */
export function textOf(value: unknown): string {
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${textOf(members[name])}`).join(',')}}`;
}

export function memberOf(of: unknown, key: unknown): unknown {
  if (typeof of !== 'object' || of === null) return undefined;
  if (Array.isArray(of)) return typeof key === 'number' ? of[key] : undefined;
  if (typeof key !== 'string' || !Object.hasOwn(of, key)) return undefined;
  return (of as Readonly<Record<string, unknown>>)[key];
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

export function compareBy(operator: string, a: unknown, b: unknown): Truth {
  if (a === undefined || b === undefined || kindOf(a) !== kindOf(b)) return undefined;
  if (operator === '=') return textOf(a) === textOf(b);
  if (operator === '!=') return textOf(a) !== textOf(b);
  if (typeof a === 'object' && a !== null) return undefined;
  const order = orderOf(a, b);
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    default:
      return order >= 0;
  }
}

export function bothOf(a: unknown, b: unknown): Truth {
  if (a === false || b === false) return false;
  return a === true && b === true ? true : undefined;
}

export function eitherOf(a: unknown, b: unknown): Truth {
  if (a === true || b === true) return true;
  return a === false && b === false ? false : undefined;
}

export function oppositeOf(value: unknown): Truth {
  return value === true ? false : value === false ? true : undefined;
}

export function calculated(operator: string, a: unknown, b: unknown): unknown {
  if (typeof a !== 'number' || typeof b !== 'number') return undefined;
  const result = ARITHMETIC[operator]?.(a, b);
  return result !== undefined && Number.isFinite(result) ? result : undefined;
}

const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '&': (a, b) => a & b,
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '<<': (a, b) => a << b,
  '>>': (a, b) => a >> b,
  '>>>': (a, b) => a >>> b,
};

/** LIKE by trying everything; sets in brackets are left to the tests of LIKE itself. */
export function isLike(text: unknown, pattern: unknown, escaping: string | undefined): Truth {
  if (typeof text !== 'string' || typeof pattern !== 'string') return undefined;
  return matches([...text], [...pattern], escaping);
}

function matches(
  text: readonly string[],
  pattern: readonly string[],
  escaping: string | undefined,
): boolean {
  const [wanted, ...others] = pattern;
  const [, ...rest] = text;
  if (wanted === undefined) return text.length === 0;
  if (wanted === escaping && others.length > 0) {
    return text[0] === others[0] && matches(rest, others.slice(1), escaping);
  }
  if (wanted === '%') {
    return matches(text, others, escaping) || (text.length > 0 && matches(rest, pattern, escaping));
  }
  return (wanted === '_' ? text.length > 0 : text[0] === wanted) && matches(rest, others, escaping);
}

export function aggregated(name: string, all: readonly unknown[]): unknown {
  const values = all.filter((value) => value !== undefined);
  const isNumbers = values.every((value) => typeof value === 'number');
  const sum = () => values.reduce<number>((total, value) => total + Number(value), 0);
  switch (name) {
    case 'COUNT':
      return values.length;
    case 'COUNTIF':
      return values.filter((value) => value === true).length;
    case 'SUM':
      return isNumbers ? sum() : undefined;
    case 'AVG':
      return isNumbers && values.length > 0 ? sum() / values.length : undefined;
    case 'MIN':
    case 'MAX': {
      if (values.some((value) => rankOf(value) > 5)) return undefined;
      const sorted = [...values].sort(orderOf);
      return name === 'MIN' ? sorted[0] : sorted.at(-1);
    }
    case 'MAKELIST':
      return values;
    case 'MAKESET':
      return [...new Map(values.map((value) => [textOf(value), value])).values()];
    default:
      throw new Error(`the reference does not know the aggregate ${name}`);
  }
}
