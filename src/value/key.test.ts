// Keys as bytes: they order as the values do, none is a prefix of another, and scalars come back.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { compareValues } from './compare.js';
import { boundKey, decodeValues, encodeText, encodeValue, encodeValues } from './key.js';
import {
  type Random,
  randomInteger,
  randomJson,
  randomNumber,
  randomPick,
  randomText,
  seededRandom,
  seedFromEnvironment,
} from './random.suite.js';

const PAIRS = 30_000;
const PARTITION_KEY_BYTES_MAX = 2048;
const ID_BYTES_MAX = 1023;

test('the layout is the drawn one', () => {
  const drawn: readonly (readonly [unknown, string])[] = [
    [undefined, '10'],
    [null, '20'],
    [false, '30'],
    [true, '31'],
    [0, '408000000000000000'],
    [-0, '408000000000000000'],
    [1, '40bff0000000000000'],
    [-1, '40400fffffffffffff'],
    [-Number.MIN_VALUE, '407ffffffffffffffe'],
    ['', '5000'],
    ['aé漢', '5061c3a9e6bca200'],
    ['\u0000\u0001\u0002', '5001010102' + '0200'],
    ['😀', '50eda0bdedb88000'],
    ['\udc00', '50edb08000'],
    [[], '6000'],
    [[null, ['a']], '602060506100' + '0000'],
    [{}, '7000'],
    [{ b: true, a: {} }, '70506100' + '7000' + '50620031' + '00'],
  ];
  for (const [value, hex] of drawn) {
    assert.equal(Buffer.from(encodeValue(value)).toString('hex'), hex, JSON.stringify(value));
  }
});

test('bytes order as the values do', (t) => {
  repeat(t, PAIRS, (random, message) => {
    const a = randomValue(random);
    const b = random() < 0.5 ? neighbour(random, a) : randomValue(random);
    const shown = `${message} ${JSON.stringify([a, b])}`;
    assert.equal(order(encodeValue(a), encodeValue(b)), Math.sign(compareValues(a, b)), shown);
  });
});

test('no encoding is a proper prefix of another', (t) => {
  repeat(t, PAIRS, (random, message) => {
    const a = randomValue(random);
    const b = random() < 0.8 ? neighbour(random, a) : randomValue(random);
    const [one, other] = [encodeValue(a), encodeValue(b)];
    const shared = Math.min(one.length, other.length);
    if (order(one.subarray(0, shared), other.subarray(0, shared)) === 0) {
      assert.equal(one.length, other.length, `${message} ${JSON.stringify([a, b])}`);
    }
  });
});

test('tuples order component by component, whatever text follows them', (t) => {
  repeat(t, PAIRS, (random, message) => {
    const a = Array.from({ length: 3 }, () => randomValue(random));
    const b = a.map((value) => (random() < 0.7 ? value : neighbour(random, value)));
    const [idA, idB] = [randomText(random), randomText(random)];
    const shown = `${message} ${JSON.stringify([a, b, idA, idB])}`;
    const expected = Math.sign(compareValues([...a, idA], [...b, idB]));
    const keyA = Buffer.concat([encodeValues(a), encodeText(idA)]);
    const keyB = Buffer.concat([encodeValues(b), encodeText(idB)]);
    assert.equal(order(keyA, keyB), expected, shown);
    const length = randomInteger(random, 3);
    const shorter = Math.sign(compareValues(a.slice(0, length), b));
    assert.equal(order(encodeValues(a.slice(0, length)), encodeValues(b)), shorter, shown);
  });
});

test('scalars come back exactly', (t) => {
  repeat(t, PAIRS, (random, message) => {
    const length = randomInteger(random, 4);
    const values = Array.from({ length }, () => randomScalar(random));
    const shown = `${message} ${JSON.stringify(values)}`;
    const normal = values.map((value) => (value === 0 ? 0 : value));
    assert.deepStrictEqual(decodeValues(encodeValues(values)), normal, shown);
  });
});

test('the longest partition keys and ids keep their order and come back', () => {
  for (const last of ['a', '\u0000', 'é', '😀']) {
    const key = 'k'.repeat(PARTITION_KEY_BYTES_MAX) + last;
    const id = 'i'.repeat(ID_BYTES_MAX) + last;
    assert.deepStrictEqual(decodeValues(encodeValues([key, key, id])), [key, key, id]);
    assert.equal(order(encodeValue(key), encodeValue(key.slice(0, -1))), 1);
    assert.equal(order(encodeText(`${id}a`), encodeText(id)), 1);
  }
});

test('a large value is encoded whole, and keys are not disturbed by later ones', () => {
  const large = Array.from({ length: 5000 }, (_, index) => `${index}${'x'.repeat(index % 50)}`);
  assert.deepStrictEqual(decodeValues(encodeValues(large)), large);
  const kept = large.map((text) => encodeValue(text));
  encodeValue(large);
  for (const [index, text] of large.entries()) {
    assert.deepStrictEqual(kept[index], encodeValue(text));
  }
});

test('a value that is refused leaves nothing behind', () => {
  assert.throws(() => encodeValues(['a', 1n]), TypeError);
  assert.equal(Buffer.from(encodeValue(null)).toString('hex'), '20');
});

test('reading back refuses arrays, objects and torn keys', () => {
  assert.throws(() => decodeValues(encodeValue([])), /not the tag of a scalar/);
  assert.throws(() => decodeValues(encodeValue({})), /not the tag of a scalar/);
  assert.throws(() => decodeValues(encodeValue('abc').subarray(0, 3)), /does not end/);
  assert.throws(() => decodeValues(encodeValue(1).subarray(0, 5)), RangeError);
});

test('reading back works from the middle of a larger buffer', () => {
  const key = encodeValues(['a', 1.5, undefined]);
  const larger = Buffer.concat([Buffer.from('junk'), key, Buffer.from('junk')]);
  assert.deepStrictEqual(decodeValues(larger.subarray(4, 4 + key.length)), ['a', 1.5, undefined]);
  const plain = new Uint8Array(larger.buffer, larger.byteOffset + 4, key.length);
  assert.deepStrictEqual(decodeValues(plain), ['a', 1.5, undefined]);
});

test('a bounded key is itself up to the limit, and hashed from one byte more', () => {
  const bytesMax = 64;
  for (const length of [0, bytesMax - 1, bytesMax]) {
    const key = Buffer.alloc(length, 7);
    assert.equal(boundKey(key, bytesMax), key);
  }
  const long = Buffer.alloc(bytesMax + 1, 7);
  const hash = createHash('sha256').update(long).digest();
  const expected = Buffer.concat([long.subarray(0, bytesMax - 32), hash]);
  assert.deepStrictEqual(Buffer.from(boundKey(long, bytesMax)), expected);
  assert.throws(() => boundKey(long, 31), RangeError);
});

test('bounded keys stay distinct, and in order where they differ before the cut', (t) => {
  const bytesMax = 80;
  const seen = new Map<string, string>();
  repeat(t, 5000, (random, message) => {
    const key = encodeValue('x'.repeat(randomInteger(random, 100)) + randomText(random, 40));
    const bounded = boundKey(key, bytesMax);
    assert.ok(bounded.length <= bytesMax, message);
    const [full, short] = [hexOf(key), hexOf(bounded)];
    assert.equal(seen.get(short) ?? full, full, message);
    seen.set(short, full);
    const other = encodeValue(randomText(random, 40));
    const kept = bytesMax - 32;
    if (order(key.subarray(0, kept), other.subarray(0, kept)) !== 0) {
      assert.equal(order(bounded, boundKey(other, bytesMax)), order(key, other), message);
    }
  });
});

function repeat(
  t: { diagnostic(text: string): void },
  rounds: number,
  check: (random: Random, message: string) => void,
): void {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < rounds; round++) check(random, `SEED=${seed} round ${round}`);
}

const order = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(a, b);
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function randomValue(random: Random): unknown {
  return random() < 0.2 ? randomPick(random, [undefined, -0]) : randomJson(random);
}

function randomScalar(random: Random): unknown {
  return randomPick(random, [
    undefined,
    null,
    true,
    false,
    -0,
    randomNumber(random),
    randomText(random),
    randomText(random, 300),
  ]);
}

/** A value hard to tell from the given one: the same, longer, shorter, or changed deep inside. */
function neighbour(random: Random, value: unknown): unknown {
  if (typeof value === 'string') {
    const cut = value.slice(0, randomInteger(random, value.length + 1));
    return random() < 0.3 ? cut : (random() < 0.5 ? value : cut) + randomText(random, 2);
  }
  if (typeof value === 'number') return random() < 0.5 ? -value : value + value * 2 ** -52;
  if (Array.isArray(value)) {
    const shape = random();
    if (shape < 0.3) return [...value, randomValue(random)];
    if (shape < 0.5) return value.slice(0, -1);
    return changeOne(random, value);
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).reverse();
    const shape = random();
    if (shape < 0.3) entries.push([randomText(random, 2), randomValue(random)]);
    else if (shape < 0.5) entries.pop();
    const values = changeOne(
      random,
      entries.map(([, property]) => property),
    );
    return Object.fromEntries(entries.map(([name], index) => [name, values[index]]));
  }
  return random() < 0.5 ? value : randomValue(random);
}

function changeOne(random: Random, values: readonly unknown[]): unknown[] {
  const chosen = randomInteger(random, values.length + 1);
  return values.map((value, index) => (index === chosen ? neighbour(random, value) : value));
}
