// Arrays taken as sets: equal elements count once, wherever they stand.
import { type FunctionTable, fn } from '../function.js';
import { checkArraySize } from './result-size.js';
import { ValueSet } from './value-set.js';

type Elements = readonly unknown[];

export const setFunctions: FunctionTable = {
  SETUNION: ofTwo((a, b) => {
    const union = setOf(a);
    for (const element of b) union.add(element);
    checkArraySize(union.size);
    return union.toArray();
  }),
  /** In the order of the second array, as in the service. */
  SETINTERSECT: ofTwo((a, b) => {
    const left = setOf(a);
    return b.filter((element) => left.delete(element));
  }),
  SETDIFFERENCE: ofTwo((a, b) => {
    const seen = setOf(b);
    return a.filter((element) => seen.add(element));
  }),
  SETEQUAL: ofTwo((a, b) => {
    const left = setOf(a);
    const right = setOf(b);
    return left.size === right.size && a.every((element) => right.has(element));
  }),
};

function ofTwo(operate: (a: Elements, b: Elements) => unknown) {
  return fn<readonly [Elements, Elements]>(['array', 'array'], ([a, b]) => operate(a, b));
}

function setOf(elements: Elements): ValueSet {
  const set = new ValueSet();
  for (const element of elements) set.add(element);
  return set;
}
