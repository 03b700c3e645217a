// The order of values: a ladder in ascending order, and the laws of a total order on random values.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareValues, equalValues } from './compare.js';
import { randomJson, seededRandom, seedFromEnvironment } from './random.suite.js';

const TRIPLES = 20_000;

const ascending: readonly unknown[] = [
  undefined,
  null,
  false,
  true,
  -Number.MAX_VALUE,
  -1,
  -Number.MIN_VALUE,
  0,
  Number.MIN_VALUE,
  1,
  Number.MAX_VALUE,
  '',
  '\u0000',
  '\u0000a',
  '1',
  'A',
  'a',
  'a\u0000',
  'aa',
  'b',
  'é',
  // By code unit, surrogates come before U+E000; by code point they would come after it.
  '\ud800',
  '😀',
  '\ue000',
  [],
  [undefined],
  [null],
  [null, null],
  [1],
  [1, 'a'],
  [1, []],
  [2],
  ['a'],
  [[]],
  [{}],
  {},
  { '': 0 },
  { a: 0 },
  { a: 0, b: 0 },
  { a: 1 },
  { a: {} },
  { b: null },
];

test('the ladder is in order, step by step and across', () => {
  for (const [low, a] of ascending.entries()) {
    for (const [high, b] of ascending.entries()) {
      const message = `${JSON.stringify(a)} against ${JSON.stringify(b)}`;
      assert.equal(Math.sign(compareValues(a, b)), Math.sign(low - high), message);
      assert.equal(equalValues(a, b), low === high, message);
    }
  }
});

test('values that are written differently are equal', () => {
  const pairs: readonly (readonly [unknown, unknown])[] = [
    [-0, 0],
    [[-0], [0]],
    [
      { a: 1, b: { c: 2, d: 3 } },
      { b: { d: 3, c: 2 }, a: 1 },
    ],
    [JSON.parse('{"__proto__":1,"a":2}'), JSON.parse('{"a":2,"__proto__":1}')],
  ];
  for (const [a, b] of pairs) {
    assert.equal(compareValues(a, b), 0);
    assert.ok(equalValues(a, b));
  }
});

test('inherited properties do not count', () => {
  assert.ok(compareValues({}, { toString: null }) < 0);
  assert.ok(!equalValues({ a: 1 }, Object.create({ a: 1 })));
  assert.ok(!equalValues({ constructor: Object }, { b: 1 }));
});

test('documents at the nesting limit compare', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: [nested(levels - 1)] });
  assert.equal(compareValues(nested(64), nested(64)), 0);
  assert.ok(equalValues(nested(64), nested(64)));
});

test('what is not a value is refused', () => {
  assert.throws(() => compareValues(1n, 1), TypeError);
});

test('the order is antisymmetric and transitive on random triples', (t) => {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < TRIPLES; round++) {
    const [a, b, c] = [randomJson(random, 2), randomJson(random, 2), randomJson(random, 2)];
    const [ab, bc, ac] = [compareValues(a, b), compareValues(b, c), compareValues(a, c)];
    const message = `SEED=${seed} ${JSON.stringify([a, b, c])}`;
    assert.equal(Math.sign(ab), -Math.sign(compareValues(b, a)) || 0, message);
    if (ab <= 0 && bc <= 0) assert.ok(ac <= 0, message);
    if (ab >= 0 && bc >= 0) assert.ok(ac >= 0, message);
    assert.equal(equalValues(a, b), ab === 0, message);
    assert.ok(equalValues(a, JSON.parse(JSON.stringify(a))), message);
  }
});
