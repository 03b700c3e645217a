// Random BSON values for tests, of all types and with values at the edges of their types.
import {
  type Random,
  randomInteger,
  randomNumber,
  randomPick,
  randomText,
} from '../random.suite.js';
import { type Decimal128, parseDecimal } from './decimal.js';
import { decimalFromBits } from './decimal-bits.js';
import {
  Binary,
  Code,
  CodeWithScope,
  DateTime,
  DbPointer,
  type Document,
  int32,
  MAX_KEY,
  MIN_KEY,
  type NumberValue,
  ObjectId,
  Regex,
  SymbolText,
  Timestamp,
  UNDEFINED,
  type Value,
} from './value.js';

export function randomBson(random: Random, depthMax = 3): Value {
  const kind = randomInteger(random, depthMax > 0 ? 14 : 10);
  if (kind >= 12) return randomArray(random, depthMax - 1);
  if (kind >= 10) return randomDocument(random, depthMax - 1);
  if (kind >= 7) return randomBsonNumber(random);
  return randomLeaf(random, kind);
}

export function randomDocument(random: Random, depthMax = 3): Document {
  const document: Document = new Map();
  for (let left = randomInteger(random, 5); left > 0; left--) {
    document.set(randomName(random), randomBson(random, depthMax));
  }
  return document;
}

export function randomBsonNumber(random: Random): NumberValue {
  switch (randomInteger(random, 5)) {
    case 0:
      return int32(randomPick(random, [0, 1, -1, 7, 2 ** 31 - 1, -(2 ** 31), 100]));
    case 1:
      return randomPick(random, [0n, 1n, 7n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)]);
    case 2:
      return randomPick(random, [Number.NaN, Number.POSITIVE_INFINITY, -Infinity, -0, 7, 0.1, 0.5]);
    case 3:
      return randomNumber(random);
    default:
      return randomDecimal(random);
  }
}

export function randomDecimal(random: Random): Decimal128 {
  const digits = Array.from({ length: 1 + randomInteger(random, 34) }, () =>
    randomPick(random, ['0', '0', '1', '5', '9', String(randomInteger(random, 10))]),
  ).join('');
  const power = randomPick(random, [0, -1, -3, 3, -40, 40, -6176, 6111, -6170]);
  const sign = random() < 0.3 ? '-' : '';
  const text = random() < 0.1 ? randomPick(random, EDGES) : `${sign}${digits}E${power}`;
  return parseDecimal(text) ?? decimalFromBits(0n, 0n);
}

const EDGES = ['NaN', 'Infinity', '-Infinity', '0', '-0', '7', '7.0', '0.1', '0.5'] as const;

function randomArray(random: Random, depthMax: number): readonly Value[] {
  return Array.from({ length: randomInteger(random, 4) }, () => randomBson(random, depthMax));
}

function randomLeaf(random: Random, kind: number): Value {
  switch (kind) {
    case 0:
      return null;
    case 1:
      return random() < 0.5;
    case 2:
    case 3:
      return wellFormed(randomText(random));
    case 4:
      return new DateTime(
        randomPick(random, [0n, -1n, 1_700_000_000_000n, 2n ** 60n, -(2n ** 63n)]),
      );
    case 5:
      return new ObjectId(randomBytes(random, 12));
    default:
      return randomRare(random);
  }
}

function randomRare(random: Random): Value {
  const text = randomName(random);
  switch (randomInteger(random, 10)) {
    case 0:
      return new Binary(randomPick(random, [0, 2, 4, 5, 128]), randomBytes(random, 16));
    case 1:
      return new Regex(text, randomPick(random, ['', 'i', 'im']));
    case 2:
      return new Timestamp(randomInteger(random, 2 ** 32), randomInteger(random, 2 ** 32));
    case 3:
      return new DbPointer(text, randomBytes(random, 12));
    case 4:
      return new Code(text);
    case 5:
      return new CodeWithScope(text, randomDocument(random, 0));
    case 6:
      return new SymbolText(text);
    case 7:
      return UNDEFINED;
    case 8:
      return MIN_KEY;
    default:
      return MAX_KEY;
  }
}

function randomName(random: Random): string {
  const plain = randomPick(random, [
    'a',
    'b',
    'c',
    '0',
    '10',
    '',
    '_id',
    'long name of a field here',
  ]);
  if (random() < 0.7) return plain;
  return wellFormed(randomText(random, 3)).replaceAll('\u0000', '');
}

function randomBytes(random: Random, length: number): Uint8Array {
  return Buffer.from(Array.from({ length }, () => randomInteger(random, 256)));
}

/** Without surrogates on their own, which UTF-8 cannot say. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
