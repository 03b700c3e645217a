// Operators on arrays that look at values only; those with an expression for each element are in
// iteration.ts.
import { compareBson, keyOfValue } from '../../value/bson/compare.js';
import { toSafeInteger } from '../../value/bson/numbers.js';
import { showValue } from '../../value/bson/show.js';
import {
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  isNullish,
  isNumber,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { type Argument, between, fixed, named, unary, variadic } from './arguments.js';
import { spend } from './effort.js';
import { integerArgument, nameOfType } from './numbers.js';
import type { Operators } from './scope.js';

/** Longer arrays than this are not made out of thin air. */
export const RANGE_MAX = 1_000_000;

export const arrayOperators: Operators = {
  $arrayElemAt: fixed(2, ([array, index]) => elementAt(array, index)),
  $first: unary((array, name) => end(array, name, (elements) => elements[0])),
  $last: unary((array, name) => end(array, name, (elements) => elements.at(-1))),
  $concatArrays: variadic((values) => {
    const joined: Value[] = [];
    for (const value of values) {
      if (isNullish(value)) return null;
      if (!isArray(value)) {
        throw mongoLocation(28664, `$concatArrays only supports arrays, not ${nameOfType(value)}`);
      }
      spend(value.length);
      for (const element of value) joined.push(element);
    }
    return joined;
  }),
  $in: fixed(2, ([value, array], _, { collation }) => {
    if (!isArray(array)) {
      throw mongoLocation(
        40081,
        `$in requires an array as a second argument, found: ${nameOfType(array)}`,
      );
    }
    return array.some((element) => compareBson(element, value, collation?.compare) === 0);
  }),
  $indexOfArray: between(2, 4, indexOf),
  $isArray: unary((value) => isArray(value)),
  $size: unary((value) => {
    if (isArray(value)) return int32(value.length);
    throw mongoLocation(
      17124,
      `The argument to $size must be an array, but was of type: ${nameOfType(value)}`,
    );
  }),
  $reverseArray: unary((value) => {
    if (isNullish(value)) return null;
    if (isArray(value)) return value.toReversed();
    throw mongoLocation(
      34435,
      `The argument to $reverseArray must be an array, but was of type: ${nameOfType(value)}`,
    );
  }),
  $slice: between(2, 3, slice),
  $range: between(2, 3, range),
  $zip: named(
    ['inputs'],
    ['useLongestLength', 'defaults'],
    ({ inputs, useLongestLength, defaults }) => zip(inputs, useLongestLength === true, defaults),
  ),
  $arrayToObject: unary(arrayToObject),
  $objectToArray: unary((value) => {
    if (isNullish(value)) return null;
    if (!isDocument(value)) {
      throw mongoLocation(
        40390,
        `$objectToArray requires a document input, found: ${nameOfType(value)}`,
      );
    }
    return [...value].map(([k, v]) => documentOf({ k, v }));
  }),
  $firstN: named(['n', 'input'], [], ({ n, input }, name) => ends(input, n, name, 'first')),
  $lastN: named(['n', 'input'], [], ({ n, input }, name) => ends(input, n, name, 'last')),
  $minN: named(['n', 'input'], [], ({ n, input }, name, { collation }) =>
    extremes(input, n, name, (a, b) => compareBson(a, b, collation?.compare)),
  ),
  $maxN: named(['n', 'input'], [], ({ n, input }, name, { collation }) =>
    extremes(input, n, name, (a, b) => compareBson(b, a, collation?.compare)),
  ),
};

function elementAt(array: Argument, index: Argument): Argument {
  if (isNullish(array) || isNullish(index)) return null;
  if (!isArray(array)) {
    throw mongoLocation(
      28689,
      `$arrayElemAt's first argument must be an array, but is ${nameOfType(array)}`,
    );
  }
  if (!isNumber(index)) {
    throw mongoLocation(
      28690,
      `$arrayElemAt's second argument must be a numeric value, but is ${nameOfType(index)}`,
    );
  }
  return array.at(
    integerArgument(
      index,
      28691,
      `$arrayElemAt's second argument must be representable as a 32-bit integer: ${showValue(index)}`,
    ),
  );
}

function end(
  array: Argument,
  name: string,
  pick: (elements: readonly Value[]) => Argument,
): Argument {
  if (isNullish(array)) return null;
  if (isArray(array)) return pick(array);
  throw mongoLocation(28689, `${name}'s argument must be an array, but is ${nameOfType(array)}`);
}

function indexOf(values: readonly Argument[]): Argument {
  const [array, wanted, start, stop] = values;
  if (isNullish(array)) return null;
  if (!isArray(array)) {
    throw mongoLocation(
      40090,
      `$indexOfArray requires an array as a first argument, found: ${nameOfType(array)}`,
    );
  }
  const bound = (value: Argument, otherwise: number): number => {
    if (value === undefined) return otherwise;
    const index = integerArgument(
      value,
      40096,
      `$indexOfArray requires an integral starting index, found a value of type: ${nameOfType(value)}`,
    );
    if (index >= 0) return index;
    throw mongoLocation(40097, '$indexOfArray requires a nonnegative starting index');
  };
  const to = Math.min(bound(stop, array.length), array.length);
  for (let at = bound(start, 0); at < to; at++) {
    if (compareBson(array[at], wanted) === 0) return int32(at);
  }
  return int32(-1);
}

function slice(values: readonly Argument[]): Argument {
  const [array, second, third] = values;
  if (values.some(isNullish)) return null;
  if (!isArray(array)) {
    throw mongoLocation(
      28724,
      `First argument to $slice must be an array, but is of type: ${nameOfType(array)}`,
    );
  }
  const first = integerArgument(
    second,
    28725,
    `Second argument to $slice must be a numeric value, but is of type: ${nameOfType(second)}`,
  );
  if (third === undefined) return first >= 0 ? array.slice(0, first) : array.slice(first);
  const count = integerArgument(
    third,
    28727,
    `Third argument to $slice must be numeric, but is of type: ${nameOfType(third)}`,
  );
  if (count <= 0) {
    throw mongoLocation(28729, `Third argument to $slice must be positive: ${count}`);
  }
  const from = first >= 0 ? first : Math.max(0, array.length + first);
  return array.slice(from, from + count);
}

function range(values: readonly Argument[]): Argument {
  const names = ['starting value', 'ending value', 'step value'] as const;
  const [from = 0, to = 0, step = 1] = values.map((value, at) =>
    integerArgument(
      value,
      (isNumber(value) ? 34444 : 34443) + at * 2,
      isNumber(value)
        ? `$range requires a${at === 1 ? 'n' : ''} ${names[at]} that can be represented as a 32-bit integer, found value: ${showValue(value)}`
        : `$range requires a numeric ${names[at]}, found value of type: ${nameOfType(value)}`,
    ),
  );
  if (step === 0) throw mongoLocation(34449, '$range requires a non-zero step value');
  const count = Math.max(0, Math.ceil((to - from) / step));
  if (count > RANGE_MAX) {
    throw mongoFailure('ExceededMemoryLimit', `$range would be longer than ${RANGE_MAX} elements`);
  }
  spend(count);
  return Array.from({ length: count }, (_, at) => int32(from + at * step));
}

function zip(inputs: Argument, longest: boolean, defaults: Argument): Argument {
  if (!isArray(inputs)) {
    throw mongoLocation(
      34461,
      `inputs must be an array of expressions, found ${nameOfType(inputs)}`,
    );
  }
  if (inputs.some(isNullish)) return null;
  const arrays = inputs.map((input) => {
    if (isArray(input)) return input;
    throw mongoLocation(34468, `$zip found a non-array expression in input: ${showValue(input)}`);
  });
  const lengths = arrays.map((array) => array.length);
  const length = lengths.length === 0 ? 0 : longest ? Math.max(...lengths) : Math.min(...lengths);
  const fill = isArray(defaults) ? defaults : [];
  return Array.from({ length }, (_, at) =>
    arrays.map((array, which) => array[at] ?? fill[which] ?? null),
  );
}

function arrayToObject(value: Argument): Argument {
  if (isNullish(value)) return null;
  if (!isArray(value)) {
    throw mongoLocation(
      40386,
      `$arrayToObject requires an array input, found: ${nameOfType(value)}`,
    );
  }
  const document: Document = new Map();
  for (const entry of value) {
    const [name, member] = isDocument(entry) ? [entry.get('k'), entry.get('v')] : pairOf(entry);
    if (typeof name !== 'string' || member === undefined) {
      throw mongoLocation(
        40394,
        '$arrayToObject requires an array of key-value pairs, with strings as keys',
      );
    }
    if (name.includes('\0')) {
      throw mongoLocation(4940400, 'Key field cannot contain an embedded null byte');
    }
    document.set(name, member);
  }
  return document;
}

function pairOf(entry: Value): readonly [Argument, Argument] {
  if (isArray(entry) && entry.length === 2) return [entry[0], entry[1]];
  throw mongoLocation(
    40397,
    '$arrayToObject requires an array of size 2 arrays or of documents with the fields k and v',
  );
}

function countOf(n: Argument, name: string): number {
  const count = isNumber(n) ? toSafeInteger(n) : undefined;
  if (count === undefined)
    throw mongoLocation(
      5787902,
      `Value for 'n' must be of integral type, but found ${showValue(n)}`,
    );
  if (count <= 0)
    throw mongoLocation(5787908, `'n' must be greater than 0, found ${count} for ${name}`);
  return count;
}

function inputOf(input: Argument): readonly Value[] {
  if (isArray(input)) return input;
  throw mongoLocation(5788200, `Input must be an array, but found: ${nameOfType(input)}`);
}

function ends(input: Argument, n: Argument, name: string, which: 'first' | 'last'): Argument {
  const [array, count] = [inputOf(input), countOf(n, name)];
  return which === 'first' ? array.slice(0, count) : array.slice(-count);
}

function extremes(
  input: Argument,
  n: Argument,
  name: string,
  order: (a: Value, b: Value) => number,
): Argument {
  const [array, count] = [inputOf(input), countOf(n, name)];
  return array
    .filter((value) => !isNullish(value))
    .sort(order)
    .slice(0, count);
}

/** Each value once, the first of those that are equal. */
export function distinct(values: readonly Value[]): Value[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const key = keyOfValue(value);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
