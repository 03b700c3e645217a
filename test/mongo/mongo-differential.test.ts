// The same documents in a collection with indexes and in one without: filters, sorts and updates
// have to give the same, and what the language says of each document by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize, serialize } from 'bson';
import type { Collection } from 'mongodb';
import {
  anyLeaf,
  type Leaf,
  randomFilter,
  randomTree,
  type Vocabulary,
  WHOLE_VOCABULARY,
} from '../../src/mql/differential/random-filter.suite.js';
import { compileFilter } from '../../src/mql/filter/filter.js';
import { PLAIN_LANGUAGE } from '../../src/mql/language.suite.js';
import { compileSort } from '../../src/mql/sort.js';
import { decodeDocument } from '../../src/value/bson/read.js';
import { showValue } from '../../src/value/bson/show.js';
import { BsonType } from '../../src/value/bson/types.js';
import { type Document, documentOf, int32, typeOf } from '../../src/value/bson/value.js';
import { encodeDocument } from '../../src/value/bson/write.js';
import {
  fuzzed,
  type Random,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../src/value/random.suite.js';
import { type Any, serveMongo } from './support.suite.js';

const server = await serveMongo();
const seed = seedFromEnvironment();
const DOCUMENTS = 150;

/** Types that the driver gives back as it got them. */
const LASTING: ReadonlySet<number> = new Set([
  ...[BsonType.double, BsonType.string, BsonType.int, BsonType.long, BsonType.decimal],
  ...[BsonType.bool, BsonType.null, BsonType.objectId],
]);
const leaf: Leaf = (random) => {
  const value = anyLeaf(random);
  return LASTING.has(typeOf(value)) ? value : null;
};
const VOCABULARY: Vocabulary = {
  ...WHOLE_VOCABULARY,
  leaf,
  operators: [...WHOLE_VOCABULARY.operators, '$regex'],
};
const KEYS: readonly Any[] = [
  ...[{ a: 1 }, { b: -1 }, { 'a.b': 1 }, { c: 1, _id: 1 }, { 'b.a': 1 }, { 'a.b.c': 1 }],
  ...[{ 'c.c': 1 }, { _id: -1, b: 1 }],
];

interface Pair {
  readonly plain: Collection<Any>;
  readonly indexed: Collection<Any>;
  readonly documents: readonly Document[];
}

/** As the driver takes it, types told apart. */
function forDriver(document: Document): Any {
  return deserialize(encodeDocument(document), { promoteValues: false });
}

/** JavaScript puts names like "0" first, so documents are told to us in the order it has given. */
function asSent(document: Document): Document {
  return decodeDocument(serialize(forDriver(document)));
}

async function filled(random: Random): Promise<Pair> {
  const database = server.database();
  const plain = database.collection<Any>('plain');
  const indexed = database.collection<Any>('indexed');
  await indexed.createIndexes(KEYS.map((key) => ({ key })));
  const documents = Array.from({ length: DOCUMENTS }, (_, id) => {
    const document: Document = new Map([['_id', int32(id)]]);
    for (const [name, value] of randomTree(random, leaf)) document.set(name, value);
    return asSent(document);
  });
  for (const collection of [plain, indexed]) await collection.insertMany(documents.map(forDriver));
  return { plain, indexed, documents };
}

async function idsOf(collection: Collection<Any>, filter: Any): Promise<readonly number[]> {
  const found = await collection.find(filter, { projection: { _id: 1 } }).toArray();
  return found.map(({ _id }) => _id as number).sort((a, b) => a - b);
}

test(`filters find the same with and without indexes (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const { plain, indexed, documents } = await filled(random);
  for (let round = 0; round < fuzzed(250); round++) {
    const filter = asSent(randomFilter(random, VOCABULARY, 1));
    const { matches } = compileFilter(filter, PLAIN_LANGUAGE);
    const expected = documents.flatMap((document, id) =>
      matches(encodeDocument(document)) ? [id] : [],
    );
    const question = forDriver(filter);
    assert.deepEqual(await idsOf(plain, question), expected, `scan: ${showValue(filter)}`);
    assert.deepEqual(await idsOf(indexed, question), expected, `index: ${showValue(filter)}`);
    const { n } = await server.client
      .db(indexed.dbName)
      .command({ count: 'indexed', query: question });
    assert.equal(n, expected.length, `count: ${showValue(filter)}`);
  }
});

test(`sorts are the same with and without indexes (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const { plain, indexed, documents } = await filled(random);
  for (const by of [
    { a: 1 },
    { b: -1 },
    { 'a.b': 1 },
    { c: 1, _id: -1 },
    { b: 1, _id: 1 },
  ] as Any[]) {
    const spec = documentOf(
      Object.fromEntries(Object.entries(by).map(([path, sign]) => [path, int32(sign as number)])),
    );
    const sort = compileSort(spec, PLAIN_LANGUAGE);
    for (const collection of [plain, indexed]) {
      const found = await collection
        .find({}, { projection: { _id: 1 } })
        .sort(by)
        .toArray();
      const keys = found.map(({ _id }) => sort.keys(encodeDocument(documents[_id] as Document)));
      assert.equal(found.length, DOCUMENTS);
      for (let at = 1; at < keys.length; at++) {
        const order = sort.compare(keys[at - 1] ?? [], keys[at] ?? []);
        assert.ok(order <= 0, `${JSON.stringify(by)} in ${collection.collectionName} at ${at}`);
      }
    }
  }
});

test(`updates and deletes reach the same with and without indexes (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const { plain, indexed } = await filled(random);
  for (let round = 0; round < fuzzed(40); round++) {
    const filter = forDriver(randomFilter(random, VOCABULARY, 1));
    const update = randomPick(random, UPDATES);
    const results = [];
    for (const collection of [plain, indexed]) {
      const { matchedCount, modifiedCount } = await collection.updateMany(filter, update);
      results.push([matchedCount, modifiedCount]);
    }
    assert.deepEqual(results[0], results[1], `${JSON.stringify(filter)} ${JSON.stringify(update)}`);
  }
  const filter = forDriver(randomFilter(random, VOCABULARY, 0));
  for (const collection of [plain, indexed]) await collection.deleteMany(filter);
  const all = (collection: Collection<Any>) =>
    collection.find({}, { sort: { _id: 1 }, promoteValues: false }).toArray();
  assert.deepEqual(await all(plain), await all(indexed));
});

const UPDATES: readonly [Any, ...Any[]] = [
  { $set: { b: 'x' } },
  { $set: { c: [1, 2, { c: 1 }] } },
  { $unset: { a: '' } },
  { $set: { d: { e: 1 } } },
  { $min: { b: 0 } },
  { $max: { c: 5 } },
  [{ $set: { b: '$a', a: { $type: '$a' } } }],
  [{ $set: { c: { $cond: [{ $isArray: '$a' }, '$a', ['$a']] } } }],
];
