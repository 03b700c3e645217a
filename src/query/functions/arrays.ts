// Functions of arrays and of the elements in them.
import { equalValues } from '../../value/compare.js';
import { type FunctionTable, fn, MANY } from '../function.js';
import { type AggregateName, aggregates } from './aggregates.js';
import { allOf, anyOf } from './logic.js';
import { checkArraySize } from './result-size.js';

type Elements = readonly unknown[];
type Properties = Readonly<Record<string, unknown>>;

export const arrayFunctions: FunctionTable = {
  ARRAY_AVG: folding('AVG'),
  ARRAY_CONCAT: fn<readonly Elements[]>(['array'], concatenate, [2, MANY]),
  ARRAY_CONTAINS: fn<readonly [Elements, unknown, boolean?]>(
    ['array', 'any', 'boolean'],
    ([elements, wanted, partial]) =>
      partial === true
        ? elements.some((element) => includes(element, wanted))
        : contains(elements, wanted),
    [2, 3],
  ),
  ARRAY_CONTAINS_ALL: fn<readonly [Elements, ...unknown[]]>(
    ['array', 'maybe'],
    ([elements, ...wanted]) => allOf(wanted, (value) => contains(elements, value)),
    [2, MANY],
  ),
  ARRAY_CONTAINS_ANY: fn<readonly [Elements, ...unknown[]]>(
    ['array', 'maybe'],
    ([elements, ...wanted]) => anyOf(wanted, (value) => contains(elements, value)),
    [2, MANY],
  ),
  ARRAY_LENGTH: fn<readonly [Elements]>(['array'], ([elements]) => elements.length),
  ARRAY_MAX: folding('MAX'),
  ARRAY_MEDIAN: fn<readonly [Elements]>(['array'], ([elements]) => median(elements)),
  ARRAY_MIN: folding('MIN'),
  ARRAY_SLICE: fn<readonly [Elements, number, number?]>(
    ['array', 'number', 'number'],
    ([elements, start, count = elements.length]) => slice(elements, start, count),
    [2, 3],
  ),
  ARRAY_SUM: folding('SUM'),
  OBJECTTOARRAY: fn<readonly [Properties, string?, string?]>(
    ['object', 'string', 'string'],
    ([properties, nameKey = 'k', valueKey = 'v']) =>
      Object.entries(properties).map(([name, value]) => ({ [nameKey]: name, [valueKey]: value })),
    [1, 3],
  ),
};

/** The aggregate of the same name over the elements, with the same rules. */
function folding(name: AggregateName) {
  return fn<readonly [Elements]>(['array'], ([elements]) => {
    const aggregate = aggregates[name]();
    for (const element of elements) aggregate.add(element);
    return aggregate.result();
  });
}

function concatenate(arrays: readonly Elements[]): Elements {
  checkArraySize(arrays.reduce((sum, elements) => sum + elements.length, 0));
  return arrays.flat();
}

/** An object includes one with fewer properties, at every depth; anything else must be equal. */
function includes(value: unknown, wanted: unknown): boolean {
  if (!isObject(value) || !isObject(wanted)) return equalValues(value, wanted);
  return Object.keys(wanted).every(
    (name) => Object.hasOwn(value, name) && includes(value[name], wanted[name]),
  );
}

function isObject(value: unknown): value is Properties {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function contains(elements: Elements, wanted: unknown): boolean | undefined {
  if (wanted === undefined) return undefined;
  return elements.some((element) => equalValues(element, wanted));
}

/** Of numbers only; the mean of the middle two if their count is even. */
function median(elements: Elements): number | undefined {
  const numbers = elements.filter((element) => element !== undefined);
  if (!numbers.every((element) => typeof element === 'number')) return undefined;
  numbers.sort((a, b) => a - b);
  const low = numbers[Math.floor((numbers.length - 1) / 2)];
  const high = numbers[Math.floor(numbers.length / 2)];
  if (low === undefined || high === undefined) return undefined;
  // The sum of two huge numbers may be infinite where their mean is not.
  const mean = (low + high) / 2;
  return Number.isFinite(mean) ? mean : low / 2 + high / 2;
}

/** A negative start counts from the end, and stops at the first element. */
function slice(elements: Elements, start: number, count: number): Elements {
  const whole = Math.trunc(start);
  const first = whole < 0 ? Math.max(0, elements.length + whole) : whole;
  return elements.slice(first, first + Math.max(0, Math.trunc(count)));
}
