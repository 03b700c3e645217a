// Compiled filters over raw bytes against the naive evaluation of the same rules, and against mingo
// where that is right.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize } from 'bson';
import { Query } from 'mingo';
import { showValue } from '../../value/bson/show.js';
import { type Document, isArray, isDocument, type Value } from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { fuzzed, randomPick, seededRandom, seedFromEnvironment } from '../../value/random.suite.js';
import { compileFilter } from '../filter/filter.js';
import { PLAIN_LANGUAGE } from '../language.suite.js';
import { naiveMatch } from './naive.suite.js';
import {
  anyLeaf,
  randomFilter,
  randomTree,
  type Vocabulary,
  WHOLE_VOCABULARY,
} from './random-filter.suite.js';

const seed = seedFromEnvironment();
const DOCUMENTS_PER_FILTER = 12;

test(`compiled and naive filters agree on random BSON (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  let matched = 0;
  for (let round = 0; round < fuzzed(2500); round++) {
    const filter = randomFilter(random, WHOLE_VOCABULARY);
    const { matches } = compileFilter(filter, PLAIN_LANGUAGE);
    for (let left = DOCUMENTS_PER_FILTER; left > 0; left--) {
      const document = randomTree(random, anyLeaf);
      const expected = naiveMatch(document, filter);
      const actual = matches(encodeDocument(document));
      assert.equal(actual, expected, `${showValue(filter)} on ${showValue(document)}`);
      if (actual) matched++;
    }
  }
  assert.ok(matched > 100, 'some of them match');
});

/**
 * What mingo does as the server does, by the table in the reference and by measurement. Left out
 * are numbers of other types than double, null and missing in arrays, whole documents and arrays as
 * operands, positions in paths, `$type`, `$all`, and what asks about arrays behind other arrays.
 */
const FLAT: Vocabulary = {
  leaf: (random) => randomPick(random, [0.5, 1.5, 2.5, -1.5, 'x', 'y', '', true, false]),
  paths: ['a', 'b', 'c'],
  operators: [
    '$eq',
    ...['$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists', '$not', '$size'],
    '$elemMatch',
  ],
  operandDepth: 0,
  elementFilters: false,
};
const DEEP: Vocabulary = {
  ...FLAT,
  paths: ['a', 'a.b', 'b.a', 'b.a.c'],
  operators: ['$eq', '$gt', '$gte', '$lt', '$lte', '$in', '$ne', '$nin', '$not'],
};

for (const [name, vocabulary] of [
  ['fields', FLAT],
  ['paths', DEEP],
] as const) {
  test(`compiled filters and mingo agree on ${name} of plain documents (SEED=${seed})`, () => {
    const random = seededRandom(seed);
    for (let round = 0; round < fuzzed(1500); round++) {
      const filter = randomFilter(random, vocabulary);
      const { matches } = compileFilter(filter, PLAIN_LANGUAGE);
      const query = new Query(deserialize(encodeDocument(filter)));
      for (let left = DOCUMENTS_PER_FILTER; left > 0; left--) {
        const document = withFlatArrays(randomTree(random, vocabulary.leaf));
        const bytes = encodeDocument(document);
        const text = `${showValue(filter)} on ${showValue(document)}`;
        assert.equal(matches(bytes), query.test(deserialize(bytes)), text);
      }
    }
  });
}

/** Without arrays right inside of arrays, which mingo opens where the server does not. */
function withFlatArrays(document: Document): Document {
  const flat = (value: Value): Value => {
    if (isDocument(value)) return withFlatArrays(value);
    return isArray(value) ? value.filter((each) => !isArray(each)).map(flat) : value;
  };
  return new Map([...document].map(([name, value]) => [name, flat(value)]));
}
