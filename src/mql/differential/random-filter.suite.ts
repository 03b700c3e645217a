// Random documents and filters over few names and values, so that they meet often.
import { randomBson } from '../../value/bson/random-bson.suite.js';
import {
  type Document,
  documentOf,
  int32,
  isArray,
  Regex,
  UNDEFINED,
  type Value,
} from '../../value/bson/value.js';
import { type Random, randomInteger, randomPick } from '../../value/random.suite.js';

const NAMES = ['a', 'b', 'c', '0', '1'] as const;

/** What documents and operands are made of. */
export type Leaf = (random: Random) => Value;
type Some<T> = readonly [T, ...T[]];

/** What filters are made of. */
export interface Vocabulary {
  readonly leaf: Leaf;
  readonly paths: Some<string>;
  readonly operators: Some<string>;
  /** How deep documents and arrays as operands are; 0 is none. */
  readonly operandDepth: number;
  /** Whether `$elemMatch` asks about documents, too. */
  readonly elementFilters: boolean;
}

export const anyLeaf: Leaf = (random) => (random() < 0.6 ? common(random) : randomBson(random, 0));

export const WHOLE_VOCABULARY: Vocabulary = {
  leaf: anyLeaf,
  paths: ['a', 'b', 'a.b', 'a.b.c', 'a.0', 'a.1.b', 'a.0.1', 'b.a', 'c', 'c.c', '0'],
  operators: [
    '$eq',
    ...['$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists', '$type', '$size'],
    ...['$all', '$elemMatch', '$not', '$mod'],
  ],
  operandDepth: 1,
  elementFilters: true,
};

function common(random: Random): Value {
  return randomPick(random, [int32(0), int32(1), 1, 2n, 1.5, 'x', 'y', '', null, true, false]);
}

export function randomTree(random: Random, leaf: Leaf, depth = 3): Document {
  const document: Document = new Map();
  for (let left = randomInteger(random, 4); left > 0; left--) {
    document.set(randomPick(random, NAMES), randomValue(random, leaf, depth - 1));
  }
  return document;
}

export function randomValue(random: Random, leaf: Leaf, depth: number): Value {
  const kind = random();
  if (depth <= 0 || kind < 0.45) return leaf(random);
  if (kind < 0.7) return randomTree(random, leaf, depth);
  return Array.from({ length: randomInteger(random, 4) }, () =>
    randomValue(random, leaf, depth - 1),
  );
}

/** Values that a filter may be given: no undefined, and no pattern in the place of a value. */
function operand(random: Random, { leaf, operandDepth }: Vocabulary): Value {
  const value = randomValue(random, leaf, operandDepth);
  return isRefused(value) ? true : value;
}

function isRefused(value: Value): boolean {
  if (value === UNDEFINED || value instanceof Regex) return true;
  return isArray(value) && value.some(isRefused);
}

export function randomFilter(random: Random, vocabulary: Vocabulary, depth = 2): Document {
  const filter: Document = new Map();
  if (depth > 0 && random() < 0.3) {
    const clauses = Array.from({ length: 1 + randomInteger(random, 2) }, () =>
      randomFilter(random, vocabulary, depth - 1),
    );
    filter.set(randomPick(random, ['$and', '$or', '$nor']), clauses);
  }
  for (let left = 1 + randomInteger(random, 2); left > 0; left--) {
    const condition =
      random() < 0.3 ? operand(random, vocabulary) : randomOperators(random, vocabulary, depth);
    filter.set(randomPick(random, vocabulary.paths), condition);
  }
  return filter;
}

const PATTERNS = ['^x', '^', 'y', '^y$', '^x?', '^(x|y)', '^x|y', '^\\.', '^xy*', '^x{0}'] as const;
const TYPES = ['string', 'number', 'array', 'object', 'null', 'bool', 'int', 'double'] as const;

function randomOperators(random: Random, vocabulary: Vocabulary, depth: number): Document {
  const operators: Document = new Map();
  for (let left = 1 + randomInteger(random, 2); left > 0; left--) {
    const operator = randomPick(random, vocabulary.operators);
    operators.set(operator, operandFor(operator, random, vocabulary, depth));
  }
  return operators;
}

function operandFor(
  operator: string,
  random: Random,
  vocabulary: Vocabulary,
  depth: number,
): Value {
  switch (operator) {
    case '$in':
    case '$nin':
    case '$all':
      return Array.from({ length: randomInteger(random, 7) }, () => operand(random, vocabulary));
    case '$exists':
      return random() < 0.5;
    case '$type':
      return randomPick(random, TYPES);
    case '$size':
      return int32(randomInteger(random, 3));
    case '$mod':
      return [int32(randomPick(random, [1, 2, 3])), int32(randomInteger(random, 2))];
    case '$regex':
      return randomPick(random, PATTERNS);
    case '$elemMatch':
      if (depth <= 0) return documentOf({ $gt: int32(0) });
      return vocabulary.elementFilters && random() < 0.5
        ? randomFilter(random, vocabulary, 0)
        : randomOperators(random, vocabulary, 0);
    case '$not':
      return depth <= 0
        ? documentOf({ $gt: int32(0) })
        : randomOperators(random, vocabulary, depth - 1);
    default:
      return operand(random, vocabulary);
  }
}
