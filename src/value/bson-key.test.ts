// Texts of BSON values against the one order of BSON values: equal where these are equal, and in
// their order for all scalars.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareBson } from './bson/compare.js';
import { Decimal128, parseDecimal } from './bson/decimal.js';
import { randomBson } from './bson/random-bson.suite.js';
import {
  CodeWithScope,
  DbPointer,
  int32,
  isArray,
  isDocument,
  Regex,
  UNDEFINED,
  type Value,
} from './bson/value.js';
import { keyText } from './bson-key.js';
import { seededRandom, seedFromEnvironment } from './random.suite.js';

const ONES: readonly Value[] = [1, int32(1), 1n, decimal('1'), decimal('1.000'), decimal('10E-1')];

function decimal(text: string): Value {
  return parseDecimal(text) as Value;
}

test('numbers of all types that are equal have one text', () => {
  for (const one of ONES) assert.equal(keyText(one), keyText(1));
  assert.equal(keyText(-0), keyText(0));
  assert.equal(keyText(Number.NaN), keyText(decimal('NaN')));
  assert.equal(keyText(2 ** 60), keyText(2n ** 60n));
  assert.notEqual(keyText(2n ** 53n), keyText(2n ** 53n + 1n));
  assert.notEqual(keyText(0.1), keyText(decimal('0.1')));
  assert.equal(keyText(0.5), keyText(decimal('0.50')));
});

test('integers beyond doubles, and characters beyond UTF-16, in order', () => {
  const longs = [-(2n ** 63n), -(2n ** 53n) - 1n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n - 1n];
  const near = longs.flatMap((long) => [long, Number(long)]).filter((each) => each !== 2 ** 63);
  const texts = ['\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'];
  for (const values of [near, texts] as readonly (readonly Value[])[]) {
    for (const a of values) for (const b of values) assertSameOrder(a, b);
  }
});

test('random values', () => {
  const seed = seedFromEnvironment();
  const random = seededRandom(seed);
  const values = Array.from({ length: 400 }, () => randomBson(random, 2));
  for (const a of values) {
    for (const b of values) {
      const isEqual = compareBson(a, b) === 0;
      const what = `seed ${seed}: ${keyText(a)} and ${keyText(b)}`;
      if (isComparable(a) && isComparable(b)) assertSameOrder(a, b, what);
      else if (isEqual) assert.equal(keyText(a), keyText(b), what);
    }
  }
});

/** Of decimals and of what is made of several values only equality; undefined counts as null. */
function isComparable(value: Value): boolean {
  if (value === UNDEFINED || isArray(value) || isDocument(value)) return false;
  const rare = [Decimal128, CodeWithScope, DbPointer, Regex];
  return !rare.some((type) => value instanceof type);
}

function assertSameOrder(a: Value, b: Value, what = ''): void {
  const [left, right] = [keyText(a), keyText(b)];
  const order = left < right ? -1 : left > right ? 1 : 0;
  assert.equal(order, Math.sign(compareBson(a, b)), what || `${String(a)} and ${String(b)}`);
}
