// Updates against a naive form of the same operators on random BSON, and against mingo on plain
// documents.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize } from 'bson';
import { update as mingoUpdate } from 'mingo';
import { compareBson } from '../../value/bson/compare.js';
import { addNumbers, multiplyNumbers } from '../../value/bson/numbers.js';
import { decodeDocument } from '../../value/bson/read.js';
import { showValue } from '../../value/bson/show.js';
import {
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  isNumber,
  type Value,
} from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { MongoError } from '../../value/mongo-errors.js';
import {
  fuzzed,
  type Random,
  randomInteger,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../value/random.suite.js';
import { compileFilter } from '../filter/filter.js';
import { PLAIN_LANGUAGE } from '../language.suite.js';
import { compileUpdate } from '../update/update.js';
import { anyLeaf, type Leaf, randomTree, randomValue } from './random-filter.suite.js';

const seed = seedFromEnvironment();
const NAMES = ['a', 'b', 'c', 'd'] as const;

/** What an operator makes of a field: `undefined` for no field at all. */
type Naive = (current: Value | undefined, operand: Value) => Value | undefined | 'refused';

const NAIVE: Readonly<Record<string, Naive>> = {
  $set: (_, operand) => operand,
  $unset: () => undefined,
  $inc: (current, operand) => {
    if (!isNumber(operand) || (current !== undefined && !isNumber(current))) return 'refused';
    return current === undefined ? operand : (addNumbers(current, operand) ?? 'refused');
  },
  $mul: (current, operand) => {
    if (!isNumber(operand) || (current !== undefined && !isNumber(current))) return 'refused';
    return current === undefined ? undefined : (multiplyNumbers(current, operand) ?? 'refused');
  },
  $min: (current, operand) =>
    current === undefined || compareBson(operand, current) < 0 ? operand : current,
  $max: (current, operand) =>
    current === undefined || compareBson(operand, current) > 0 ? operand : current,
  $push: (current, operand) =>
    current === undefined ? [operand] : isArray(current) ? [...current, operand] : 'refused',
  $addToSet: (current, operand) => {
    if (current !== undefined && !isArray(current)) return 'refused';
    const array = current ?? [];
    return array.some((each) => compareBson(each, operand) === 0) ? array : [...array, operand];
  },
  $pullAll: (current, operand) => {
    if (!isArray(operand)) return 'refused';
    if (current === undefined) return undefined;
    if (!isArray(current)) return 'refused';
    return current.filter((each) => !operand.some((gone) => compareBson(each, gone) === 0));
  },
  $pop: (current) =>
    current === undefined ? undefined : isArray(current) ? current.slice(0, -1) : 'refused',
};
const OPERATORS = Object.keys(NAIVE) as [string, ...string[]];

function operandOf(operator: string, random: Random): Value {
  if (operator === '$pop') return int32(1);
  if (operator === '$pullAll') return Array.from({ length: 2 }, () => anyLeaf(random));
  const value = randomValue(random, anyLeaf, 1);
  const isClause = isDocument(value) && [...value.keys()].some((name) => name.startsWith('$'));
  return isClause ? null : value;
}

test(`updates do what their operators say on random BSON (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  let refusals = 0;
  for (let round = 0; round < fuzzed(6000); round++) {
    const before = randomTree(random, anyLeaf);
    const operator = randomPick(random, OPERATORS);
    const name = randomPick(random, NAMES);
    const operand = operandOf(operator, random);
    const expected = NAIVE[operator]?.(before.get(name), operand);
    // A product with nothing is a zero of the operand's type, which has rows of its own.
    if (operator === '$mul' && !before.has(name)) continue;
    const text = `${operator} ${name}: ${showValue(operand)} on ${showValue(before)}`;
    const bytes = encodeDocument(before);
    const apply = () => run(documentOf({ [operator]: documentOf({ [name]: operand }) }), bytes);
    if (expected === 'refused') {
      assert.throws(apply, MongoError, text);
      refusals++;
      continue;
    }
    const after = new Map(before);
    if (expected === undefined) after.delete(name);
    else after.set(name, expected);
    assert.deepEqual(decodeDocument(apply()), decodeDocument(encodeDocument(after)), text);
  }
  assert.ok(refusals > 100, 'some of them are refused');
});

function run(update: Document, bytes: Uint8Array): Uint8Array {
  return compileUpdate({
    update,
    filter: compileFilter(new Map(), PLAIN_LANGUAGE),
    arrayFilters: [],
    multi: false,
    language: PLAIN_LANGUAGE,
  }).apply(bytes);
}

const plainLeaf: Leaf = (random) => randomPick(random, [0.5, 1.5, -2.5, 'x', 'y', true, false]);
/**
 * Without `$min` and `$max`, for which mingo has an order of its own, and `$addToSet`, with which
 * it also takes out what was there twice.
 */
const PLAIN_OPERATORS = ['$set', '$unset', '$inc', '$push', '$pull', '$pop'] as const;

test(`updates and mingo agree on plain documents (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  for (let round = 0; round < fuzzed(3000); round++) {
    const before = randomTree(random, plainLeaf, 2);
    before.delete('0');
    before.delete('1');
    const operator = randomPick(random, PLAIN_OPERATORS);
    const path = randomPick(random, ['a', 'b', 'a.b', 'd.e']);
    const operand: Value =
      operator === '$pop'
        ? int32(random() < 0.5 ? 1 : -1)
        : operator === '$inc'
          ? 0.5 + randomInteger(random, 3)
          : plainLeaf(random);
    const update = documentOf({ [operator]: documentOf({ [path]: operand }) });
    const bytes = encodeDocument(before);
    let after: Uint8Array;
    try {
      after = run(update, bytes);
    } catch (error) {
      // Where the server refuses, mingo leaves the document as it is.
      assert.ok(error instanceof MongoError);
      continue;
    }
    const theirs = deserialize(bytes);
    mingoUpdate(theirs, deserialize(encodeDocument(update)));
    assert.deepEqual(deserialize(after), theirs, `${showValue(update)} on ${showValue(before)}`);
  }
});
