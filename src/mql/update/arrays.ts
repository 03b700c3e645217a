// Operators on arrays: `$push`, `$addToSet`, `$pop`, `$pull`, `$pullAll`.
import { compareBson, keyOfValue } from '../../value/bson/compare.js';
import { toDouble, toSafeInteger } from '../../value/bson/numbers.js';
import { showField, showValue } from '../../value/bson/show.js';
import { typeName } from '../../value/bson/types.js';
import {
  type Document,
  isArray,
  isDocument,
  isNumber,
  Regex,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { encodeDocument, encodeValue } from '../../value/bson/write.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { compileFilter } from '../filter/filter.js';
import { isValueOperators } from '../filter/tree.js';
import type { Language } from '../language.js';
import { compareBySort, compileSort } from '../sort.js';
import { type AskedUpdate, idOf, type UpdateOperators } from './operator.js';
import { KEEP, type Modifier, type Place } from './walk.js';

export const arrayOperators: UpdateOperators = {
  $push: push,
  $addToSet: addToSet,
  $pop: pop,
  $pull: ({ operand, language }) => removing('$pull', pullTest(operand, language)),
  $pullAll: ({ operand }) => {
    if (!isArray(operand)) {
      throw mongoFailure(
        'BadValue',
        `$pullAll requires an array argument but was given a ${typeName(typeOf(operand))}`,
      );
    }
    const keys = new Set(operand.map((value) => keyOfValue(value)));
    return removing('$pullAll', (element) => keys.has(keyOfValue(element)));
  },
};

function push({ operand, language }: AskedUpdate): Modifier {
  const { values, position, slice, sort } = pushClauses(operand, language);
  return {
    creates: true,
    apply: (current, place) => {
      const array = [...arrayAt(current, place)];
      const start = position === undefined ? array.length : placeIn(array.length, position);
      array.splice(start, 0, ...values);
      if (sort) array.sort(sort);
      if (slice === undefined) return array;
      return slice < 0 ? array.slice(slice) : array.slice(0, slice);
    },
  };
}

function placeIn(length: number, position: number): number {
  return position < 0 ? Math.max(0, length + position) : Math.min(length, position);
}

interface PushClauses {
  readonly values: readonly Value[];
  readonly position: number | undefined;
  readonly slice: number | undefined;
  readonly sort: ((a: Value, b: Value) => number) | undefined;
}

function pushClauses(operand: Value, language: Language): PushClauses {
  const none = { position: undefined, slice: undefined, sort: undefined };
  if (!isDocument(operand) || !operand.has('$each')) {
    return { values: [operand], ...none };
  }
  const unknown = [...operand.keys()].find((name) => !PUSH_CLAUSES.has(name));
  if (unknown !== undefined) {
    throw mongoFailure('BadValue', `Unrecognized clause in $push: ${unknown}`);
  }
  const sort = operand.get('$sort');
  return {
    values: eachOf(operand, '$push'),
    position: integerClause(operand, '$position'),
    slice: integerClause(operand, '$slice'),
    sort: sort === undefined ? undefined : elementOrder(sort, language),
  };
}

const PUSH_CLAUSES = new Set(['$each', '$position', '$slice', '$sort']);

function eachOf(operand: Document, operator: string): readonly Value[] {
  const each = operand.get('$each') as Value;
  if (isArray(each)) return each;
  throw mongoFailure(
    operator === '$push' ? 'BadValue' : 'TypeMismatch',
    `The argument to $each in ${operator} must be an array but it was of type${operator === '$push' ? ':' : ''} ${typeName(typeOf(each))}`,
  );
}

function integerClause(operand: Document, name: string): number | undefined {
  const value = operand.get(name);
  if (value === undefined) return undefined;
  const integer = isNumber(value) ? toSafeInteger(value) : undefined;
  if (integer !== undefined) return integer;
  throw mongoFailure(
    'BadValue',
    `The value for ${name} must be an integer value but was given type: ${typeName(typeOf(value))}`,
  );
}

/** By the elements themselves, or by fields of theirs. */
function elementOrder(sort: Value, language: Language): (a: Value, b: Value) => number {
  const compareText = language.collation?.compare;
  if (isNumber(sort)) {
    const sign = toDouble(sort);
    if (sign !== 1 && sign !== -1) {
      throw mongoFailure('BadValue', 'The $sort element value must be either 1 or -1');
    }
    return (a, b) => sign * compareBson(a, b, compareText);
  }
  if (!isDocument(sort) || sort.size === 0) {
    throw mongoFailure(
      'BadValue',
      'The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields',
    );
  }
  return compareBySort(compileSort(sort, language));
}

function addToSet({ operand }: AskedUpdate): Modifier {
  const isEach = isDocument(operand) && operand.keys().next().value === '$each';
  const values = isEach ? eachOf(operand, '$addToSet') : [operand];
  return {
    creates: true,
    apply: (current, place) => {
      if (current !== undefined && !isArray(current)) {
        throw mongoFailure(
          'BadValue',
          `Cannot apply $addToSet to non-array field. Field named '${place.path.split('.').at(-1)}' has non-array type ${typeName(typeOf(current))}`,
        );
      }
      const array = [...(current ?? [])];
      const keys = new Set(array.map((value) => keyOfValue(value)));
      for (const value of values) {
        const key = keyOfValue(value);
        if (!keys.has(key)) array.push(value);
        keys.add(key);
      }
      return array;
    },
  };
}

function pop({ path, operand }: AskedUpdate): Modifier {
  const end = isNumber(operand) ? toDouble(operand) : Number.NaN;
  if (end !== 1 && end !== -1) {
    throw mongoFailure('FailedToParse', `$pop expects 1 or -1, found: ${showValue(operand)}`);
  }
  return {
    creates: false,
    apply: (current) => {
      if (!isArray(current)) {
        const type = typeName(typeOf(current));
        throw mongoFailure(
          'TypeMismatch',
          `Path '${path}' contains an element of non-array type '${type}'`,
        );
      }
      return end === 1 ? current.slice(0, -1) : current.slice(1);
    },
  };
}

function removing(operator: string, isGone: (element: Value) => boolean): Modifier {
  return {
    creates: false,
    apply: (current) => {
      if (!isArray(current)) {
        throw mongoFailure('BadValue', `Cannot apply ${operator} to a non-array value`);
      }
      const left = current.filter((element) => !isGone(element));
      return left.length === current.length ? KEEP : left;
    },
  };
}

/**
 * Operators and regular expressions are asked about the elements, documents are filters of the
 * elements that are documents, and everything else has to be equal.
 */
function pullTest(operand: Value, language: Language): (element: Value) => boolean {
  if (isValueOperators(operand) || operand instanceof Regex) {
    const { matches } = compileFilter(new Map([['', operand]]), language);
    return (element) => matches(encodeValue(element));
  }
  if (isDocument(operand)) {
    const { matches } = compileFilter(operand, language);
    return (element) => isDocument(element) && matches(encodeDocument(element));
  }
  const compareText = language.collation?.compare;
  return (element) => compareBson(element, operand, compareText) === 0;
}

function arrayAt(current: Value | undefined, { path, document }: Place): readonly Value[] {
  if (current === undefined) return [];
  if (isArray(current)) return current;
  throw mongoFailure(
    'BadValue',
    `The field '${path}' must be an array but is of type ${typeName(typeOf(current))} in document {${showField('_id', idOf(document))}}`,
  );
}
