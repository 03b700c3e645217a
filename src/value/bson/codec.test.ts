// Encoding and decoding against the official library, and validation against damaged bytes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BSON } from 'bson';
import { MongoError } from '../mongo-errors.js';
import { fuzzed, randomInteger, seededRandom, seedFromEnvironment } from '../random.suite.js';
import { parseDecimal } from './decimal.js';
import { randomDecimal, randomDocument } from './random-bson.suite.js';
import { decodeDocument, findField, typeBefore } from './read.js';
import { BsonType } from './types.js';
import { NESTING_MAX, validateDocument } from './validate.js';
import { DateTime, int32, type Value } from './value.js';
import { encodeDocument } from './write.js';

const seed = seedFromEnvironment();
/** The last instant that a Date of JavaScript can be. */
const DATE_MS_MAX = 8.64e15;
const KEEP_TYPES = { promoteValues: false, bsonRegExp: true, promoteBuffers: false } as const;

test(`what we encode the library decodes, and encodes to the same bytes (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  for (let round = 0; round < fuzzed(2000); round++) {
    const document = randomDocument(random);
    const bytes = Buffer.from(encodeDocument(document));
    assert.equal(validateDocument(bytes), bytes.length);
    assert.deepEqual(decodeDocument(bytes), document);
    if (isBeyondLibrary(document)) continue;
    const theirs = BSON.serialize(BSON.deserialize(bytes, KEEP_TYPES), {
      ignoreUndefined: false,
    });
    assert.equal(Buffer.from(theirs).toString('hex'), bytes.toString('hex'));
  }
});

test(`decimals have the texts and the bytes of the library (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  for (let round = 0; round < fuzzed(3000); round++) {
    const decimal = randomDecimal(random);
    const bytes = Buffer.from(encodeDocument(new Map([['d', decimal]])));
    const { d } = BSON.deserialize(bytes, KEEP_TYPES);
    assert.equal(decimal.toString(), d.toString());
    const theirs = Buffer.from(BSON.Decimal128.fromString(d.toString()).bytes);
    assert.equal(theirs.toString('hex'), bytes.subarray(7, 23).toString('hex'), `${decimal}`);
    assert.deepEqual(parseDecimal(d.toString()), decimal);
  }
});

test(`damaged bytes are refused or are still a document (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  for (let round = 0; round < fuzzed(4000); round++) {
    const bytes = Buffer.from(encodeDocument(randomDocument(random)));
    const damaged = Buffer.from(bytes.subarray(0, bytes.length - randomInteger(random, 3)));
    for (let left = 1 + randomInteger(random, 3); left > 0; left--) {
      damaged[randomInteger(random, damaged.length)] = randomInteger(random, 256);
    }
    try {
      if (validateDocument(damaged) === damaged.length) encodeDocument(decodeDocument(damaged));
    } catch (error) {
      assert.ok(error instanceof MongoError && [15, 22].includes(error.code), String(error));
    }
  }
});

/** JavaScript objects reorder names like "0", and the library has no form for some rare values. */
function isBeyondLibrary(value: Value): boolean {
  const text = Buffer.from(encodeDocument(new Map([['', value]]))).toString('latin1');
  const rare = [BsonType.undefined, BsonType.symbol, BsonType.dbPointer, BsonType.javascript];
  const shown = (part: Value): boolean => {
    if (part instanceof Map) {
      return [...part].some(([name, member]) => /^\d+$|^$|__proto__/.test(name) || shown(member));
    }
    if (Array.isArray(part)) return part.some(shown);
    if (part instanceof DateTime) return Math.abs(part.ms) > DATE_MS_MAX;
    if (typeof part === 'object' && part !== null && 'type' in part) {
      return [...rare, BsonType.javascriptWithScope, BsonType.regex].includes(part.type as never);
    }
    return false;
  };
  return text.includes('$') || shown(value);
}

const invalid: readonly (readonly [what: string, hex: string])[] = [
  ['nothing', ''],
  ['a length beyond the end', '0600000000'],
  ['a length below 5', '0400000000'],
  ['no terminator', '0500000001'],
  ['a string without its zero', '0e00000002610002000000616200'],
  ['a string of length 0', '0c0000000261000000000000'],
  ['a name without end', '080000000a616200'],
  ['a type that is none', '08000000996100 00'.replace(' ', '')],
  ['a boolean of 2', '090000000861000200'],
  ['bad UTF-8', '0e00000002610002000000ff0000'],
  ['an overlong form', '0f0000000261000300 0000c0800000'.replace(' ', '')],
  ['a surrogate', '1000000002610004000000eda0800000'],
  ['a value beyond its document', '0b000000016100000000 0000'.replace(' ', '')],
];
for (const [what, hex] of invalid) {
  test(`invalid: ${what}`, () => {
    assert.throws(() => validateDocument(Buffer.from(hex, 'hex')), { code: 22 });
  });
}

test('nesting has a limit', () => {
  const nested = (levels: number): Value => (levels === 0 ? null : [nested(levels - 1)]);
  const bytesOf = (levels: number) => encodeDocument(new Map([['a', nested(levels)]]));
  validateDocument(bytesOf(NESTING_MAX - 1));
  assert.throws(() => validateDocument(bytesOf(NESTING_MAX)), { code: 15 });
});

test('a field is found by its whole name', () => {
  const bytes = encodeDocument(
    new Map<string, Value>([
      ['ab', int32(1)],
      ['a', 'x'],
      ['', true],
    ]),
  );
  const find = (name: string) => findField(bytes, 0, Buffer.from(name));
  assert.equal(find('b'), -1);
  assert.equal(find('abc'), -1);
  assert.equal(typeBefore(bytes, find('a'), Buffer.from('a')), BsonType.string);
  assert.equal(typeBefore(bytes, find('ab'), Buffer.from('ab')), BsonType.int);
  assert.equal(typeBefore(bytes, find(''), Buffer.from('')), BsonType.bool);
});
