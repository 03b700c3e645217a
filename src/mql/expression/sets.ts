// Arrays as sets: neither order nor repetition counts. Unions and intersections come out in order.
import { compareBson, keyOfValue } from '../../value/bson/compare.js';
import { isArray, isNullish, type Value } from '../../value/bson/value.js';
import { mongoLocation } from '../../value/mongo-errors.js';
import { isTruthy } from '../filter/elements.js';
import { type Argument, fixed, unary, variadic } from './arguments.js';
import { distinct } from './arrays.js';
import { nameOfType } from './numbers.js';
import type { Operators } from './scope.js';

export const setOperators: Operators = {
  $setEquals: variadic((values) => {
    const [first, ...others] = values.map((value) => keysOf(value, '$setEquals', 17044));
    return others.every(
      (other) => first?.size === other.size && [...other].every((key) => first.has(key)),
    );
  }),
  $setUnion: variadic((values) => {
    if (values.some(isNullish)) return null;
    return ordered(values.flatMap((value) => arrayOf(value, '$setUnion', 17043)));
  }),
  $setIntersection: variadic((values) => {
    if (values.some(isNullish)) return null;
    const [first = [], ...others] = values.map((value) =>
      arrayOf(value, '$setIntersection', 17047),
    );
    const keys = others.map((other) => new Set(other.map((value) => keyOfValue(value))));
    return ordered(first.filter((value) => keys.every((set) => set.has(keyOfValue(value)))));
  }),
  $setDifference: fixed(2, ([left, right]) => {
    if (isNullish(left) || isNullish(right)) return null;
    const gone = keysOf(right, '$setDifference', 17049);
    const kept = arrayOf(left, '$setDifference', 17048);
    return distinct(kept).filter((value) => !gone.has(keyOfValue(value)));
  }),
  $setIsSubset: fixed(2, ([left, right]) => {
    const all = keysOf(right, '$setIsSubset', 17042);
    return arrayOf(left, '$setIsSubset', 17046).every((value) => all.has(keyOfValue(value)));
  }),
  $allElementsTrue: unary((value) => arrayOf(value, '$allElementsTrue', 17040).every(isTruthy)),
  $anyElementTrue: unary((value) => arrayOf(value, '$anyElementTrue', 17041).some(isTruthy)),
};

function ordered(values: readonly Value[]): Value[] {
  return distinct(values).sort((a, b) => compareBson(a, b));
}

function keysOf(value: Argument, name: string, code: number): ReadonlySet<string> {
  return new Set(arrayOf(value, name, code).map((element) => keyOfValue(element)));
}

function arrayOf(value: Argument, name: string, code: number): readonly Value[] {
  if (isArray(value)) return value;
  throw mongoLocation(
    code,
    `All operands of ${name} must be arrays. One argument is of type: ${nameOfType(value)}`,
  );
}
