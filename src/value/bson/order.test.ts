// The one order of BSON values: its rungs by hand, its laws and exact numbers by chance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzed, seededRandom, seedFromEnvironment } from '../random.suite.js';
import { compareBson, keyOfValue } from './compare.js';
import { Decimal128, parseDecimal } from './decimal.js';
import {
  addDecimals,
  divideDecimals,
  multiplyDecimals,
  roundDecimal,
  squareRoot,
} from './decimal-math.js';
import { addNumbers, compareNumbers, multiplyNumbers } from './numbers.js';
import { randomBson, randomBsonNumber, randomDecimal } from './random-bson.suite.js';
import {
  Binary,
  DateTime,
  documentOf,
  Int32,
  int32,
  MAX_KEY,
  MIN_KEY,
  type NumberValue,
  ObjectId,
  Regex,
  Timestamp,
  UNDEFINED,
  type Value,
} from './value.js';

const decimal = (text: string): Decimal128 => {
  const value = parseDecimal(text);
  assert.ok(value, text);
  return value;
};

/** Each rung is before the next; values of one rung are equal. */
const ladder: readonly (readonly (Value | undefined)[])[] = [
  [MIN_KEY],
  [undefined, UNDEFINED],
  [null],
  [Number.NaN, decimal('NaN')],
  [-Infinity, decimal('-Infinity')],
  [-(2n ** 63n), -(2 ** 63)],
  [0, -0, 0n, int32(0), decimal('0'), decimal('-0.00')],
  [decimal('0.1')],
  [0.1],
  [decimal('0.5'), 0.5],
  [7, 7n, int32(7), decimal('7'), decimal('7.00')],
  [2 ** 53, 2n ** 53n],
  [2n ** 53n + 1n, decimal('9007199254740993')],
  [2n ** 63n - 1n],
  [2 ** 63],
  [Number.POSITIVE_INFINITY, decimal('Infinity')],
  [''],
  ['a'],
  ['a\u0000'],
  ['b'],
  ['\uffff'],
  ['😀'],
  [documentOf({})],
  [documentOf({ a: 1 })],
  [documentOf({ a: 1, b: 1 })],
  [documentOf({ b: 0 })],
  [documentOf({ a: 'x' })],
  [[]],
  [[1]],
  [[1, 2]],
  [[2]],
  [new Binary(0, Buffer.from([9]))],
  [new Binary(0, Buffer.from([1, 1]))],
  [new Binary(1, Buffer.from([0, 0]))],
  [ObjectId.fromHex('000000000000000000000001')],
  [ObjectId.fromHex('ff0000000000000000000001')],
  [false],
  [true],
  [new DateTime(-(2n ** 63n))],
  [new DateTime(-1)],
  [new DateTime(2n ** 62n)],
  [new DateTime(2n ** 62n + 1n)],
  [new Timestamp(1, 2 ** 32 - 1)],
  [new Timestamp(2 ** 31, 0)],
  [new Regex('a', '')],
  [new Regex('a', 'i')],
  [MAX_KEY],
];

test('the rungs of the order', () => {
  ladder.forEach((rung, height) => {
    ladder.forEach((other, otherHeight) => {
      for (const a of rung) {
        for (const b of other) {
          assert.equal(Math.sign(compareBson(a, b)), Math.sign(height - otherHeight));
          assert.equal(keyOfValue(a) === keyOfValue(b), height === otherHeight);
        }
      }
    });
  });
});

const seed = seedFromEnvironment();

test(`the order is one, and equal values share their keys (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  for (let round = 0; round < fuzzed(3000); round++) {
    const [a, b, c] = [randomBson(random), randomBson(random), randomBson(random)];
    const ab = Math.sign(compareBson(a, b));
    assert.equal(ab, -Math.sign(compareBson(b, a)) || 0);
    assert.equal(compareBson(a, a), 0);
    assert.equal(keyOfValue(a) === keyOfValue(b), ab === 0);
    if (ab <= 0 && compareBson(b, c) <= 0) assert.ok(compareBson(a, c) <= 0);
  }
});

/** A number as a fraction of integers, or undefined for what is none. */
function fraction(value: NumberValue): readonly [bigint, bigint] | undefined {
  if (typeof value === 'bigint') return [value, 1n];
  if (value instanceof Int32) return [BigInt(value.value), 1n];
  if (value instanceof Decimal128) {
    if (value.kind !== 'finite') return undefined;
    const signed = value.negative ? -value.coefficient : value.coefficient;
    const power = 10n ** BigInt(Math.abs(value.exponent));
    return value.exponent < 0 ? [signed, power] : [signed * power, 1n];
  }
  if (!Number.isFinite(value)) return undefined;
  let scaled = value;
  let divisor = 1n;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    divisor *= 2n;
  }
  return [BigInt(scaled), divisor];
}

test(`numbers are compared as fractions are (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  for (let round = 0; round < fuzzed(3000); round++) {
    const [a, b] = [randomBsonNumber(random), randomBsonNumber(random)];
    const [left, right] = [fraction(a), fraction(b)];
    if (!left || !right) continue;
    const difference = left[0] * right[1] - right[0] * left[1];
    assert.equal(compareNumbers(a, b), difference < 0n ? -1 : difference > 0n ? 1 : 0);
  }
});

/** Whether a decimal is the nearest of 34 digits to a fraction: half a unit away at the most. */
function assertNearest(result: Decimal128, numerator: bigint, denominator: bigint): void {
  if (result.kind !== 'finite') {
    const edge = 10n ** 6145n - 1n;
    const size = numerator < 0n !== denominator < 0n ? -numerator : numerator;
    assert.ok(size * 1n >= (edge - 10n ** 6112n) * denominator || -size >= edge * denominator);
    return;
  }
  const value = fraction(result);
  assert.ok(value);
  const [top, bottom] = value;
  const error = top * denominator - numerator * bottom;
  const twice = (error < 0n ? -error : error) * 2n;
  // One unit in the last place that 34 digits have here.
  const digits = result.coefficient.toString().length;
  const last = Math.max(-6176, result.exponent + Math.min(0, digits - 34));
  const unit: readonly [bigint, bigint] =
    last < 0 ? [1n, 10n ** BigInt(-last)] : [10n ** BigInt(last), 1n];
  const positive = denominator < 0n ? -denominator : denominator;
  assert.ok(
    twice * unit[1] <= unit[0] * bottom * positive,
    `${result} is not ${numerator}/${denominator}`,
  );
}

test(`decimal arithmetic is that of fractions, rounded once (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  for (let round = 0; round < fuzzed(700); round++) {
    const [a, b] = [randomDecimal(random), randomDecimal(random)];
    const [left, right] = [fraction(a), fraction(b)];
    if (!left || !right) continue;
    const [p, q] = left;
    const [r, s] = right;
    assertNearest(addDecimals(a, b), p * s + r * q, q * s);
    assertNearest(multiplyDecimals(a, b), p * r, q * s);
    if (r !== 0n)
      assertNearest(divideDecimals(a, b), p * s * (r < 0n ? -1n : 1n), q * (r < 0n ? -r : r));
    const root = squareRoot(a);
    const square = multiplyDecimals(root, root);
    if (p > 0n && square.exponent > -6100) {
      const off = addDecimals(divideDecimals(square, a), decimal('-1'));
      assert.ok(Math.abs(Number(off.toString())) < 1e-32, `${a}`);
    }
  }
});

const sums: readonly (readonly [NumberValue, NumberValue, NumberValue | undefined])[] = [
  [int32(1), int32(2), int32(3)],
  [int32(2_147_483_647), int32(1), 2_147_483_648n],
  [1n, int32(2), 3n],
  [2n ** 63n - 1n, 1n, undefined],
  [int32(1), 0.5, 1.5],
  [decimal('0.10'), int32(1), decimal('1.10')],
  [decimal('1'), 0.1, decimal('1.100000000000000')],
];
for (const [a, b, sum] of sums) {
  test(`${a.toString()} + ${b.toString()}`, () => assert.deepEqual(addNumbers(a, b), sum));
}

const products: readonly (readonly [NumberValue, NumberValue, NumberValue | undefined])[] = [
  [int32(3), int32(-2), int32(-6)],
  [int32(65_536), int32(65_536), 4_294_967_296n],
  [2n ** 62n, int32(2), undefined],
  [2n, 0.5, 1],
  [decimal('1.5'), int32(2), decimal('3.0')],
];
for (const [a, b, product] of products) {
  test(`${a.toString()} * ${b.toString()}`, () => {
    assert.deepEqual(multiplyNumbers(a, b), product);
  });
}

const texts: readonly (readonly [string, string | undefined])[] = [
  ['1', '1'],
  ['1.0', '1.0'],
  ['-0', '-0'],
  ['1E+3', '1E+3'],
  ['1000', '1000'],
  ['0.000001', '0.000001'],
  ['0.0000001', '1E-7'],
  ['.5', '0.5'],
  ['5.', '5'],
  ['12345678901234567890123456789012345', '1.234567890123456789012345678901234E+34'],
  ['1E6144', '1.000000000000000000000000000000000E+6144'],
  ['1E6145', 'Infinity'],
  ['1E-6176', '1E-6176'],
  ['1E-6177', '0E-6176'],
  ['nan', 'NaN'],
  ['-inf', '-Infinity'],
  ['', undefined],
  ['.', undefined],
  ['1e', undefined],
  ['0x10', undefined],
  [' 1', undefined],
];
for (const [text, printed] of texts) {
  test(`the decimal '${text}'`, () => assert.equal(parseDecimal(text)?.toString(), printed));
}

const rounded: readonly (readonly [string, number, string])[] = [
  ['2.5', 0, '2'],
  ['3.5', 0, '4'],
  ['-2.55', 1, '-2.6'],
  ['1234', -2, '1.2E+3'],
  ['0.4', 0, '0'],
];
for (const [text, places, result] of rounded) {
  test(`${text} to ${places} places`, () => {
    assert.equal(roundDecimal(decimal(text), places, 'even').toString(), result);
  });
}
