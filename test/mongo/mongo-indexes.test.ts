// Indexes are used, say so, and never change an answer; the service's own commands.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal128, Long } from 'mongodb';
import {
  type Random,
  randomInteger,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../src/value/random.suite.js';
import { type Any, codeOf, failureOf, ids, serveMongo } from './support.suite.js';

const server = await serveMongo();

function stagesOf(plan: Any): readonly string[] {
  return plan ? [plan.stage, ...stagesOf(plan.inputStage)] : [];
}

test('explain names what is used', async () => {
  const collection = server.collection();
  await collection.createIndex({ a: 1 });
  await collection.createIndex({ b: 1, c: -1 });
  await collection.insertMany(
    Array.from({ length: 300 }, (_, _id) => ({
      _id,
      a: _id,
      b: _id % 3,
      c: _id,
      tags: [_id, 'x'],
    })),
  );
  const plan = async (filter: Any, sort: Any = {}) => {
    const told = await collection.find(filter).sort(sort).explain('executionStats');
    return { stages: stagesOf(told.queryPlanner.winningPlan), stats: told.executionStats };
  };
  assert.deepEqual((await plan({ _id: 5 })).stages, ['IDHACK']);
  assert.deepEqual((await plan({ x: 5 })).stages, ['COLLSCAN']);
  const range = await plan({ a: { $gte: 10, $lt: 20 } });
  assert.deepEqual(range.stages, ['FETCH', 'IXSCAN']);
  assert.deepEqual([range.stats.nReturned, range.stats.totalDocsExamined], [10, 10]);
  assert.deepEqual((await plan({}, { a: -1 })).stages, ['FETCH', 'IXSCAN']);
  assert.deepEqual((await plan({}, { b: 1, c: -1 })).stages, ['FETCH', 'IXSCAN']);
  assert.deepEqual((await plan({}, { x: 1 })).stages, ['SORT', 'COLLSCAN']);
  assert.deepEqual((await plan({ a: { $in: [1, 2] } })).stages, ['FETCH', 'IXSCAN']);
  await collection.createIndex({ tags: 1 });
  const multikey = await plan({ tags: 7 });
  assert.deepEqual(multikey.stages, ['FETCH', 'IXSCAN']);
  assert.ok(multikey.stats.totalDocsExamined < 10, JSON.stringify(multikey.stats));
  assert.equal(await codeOf(collection.find({}).hint('nope').toArray()), 2);
});

const VALUES: readonly [Any, ...Any[]] = [
  ...[0, 1, 2, -1, 1.5, Number.NaN, Infinity, '', 'a', 'b', 'ab', 'ä', '\u{1F600}', '\uffee'],
  ...[null, true, false, new Date(0), new Date(5), Long.fromString('9007199254740993')],
  ...[9007199254740992, Decimal128.fromString('1.5'), Decimal128.fromString('0.1'), 0.1],
  ...[[], [1], [1, 2], ['a', 'b'], [[1]], { x: 1 }, [{ x: 1 }, { x: 2 }], [null]],
] as [Any, ...Any[]];

function randomDocument(random: Random, _id: number): Any {
  const document: Any = { _id };
  for (const name of ['a', 'b', 'c']) {
    if (random() < 0.8) document[name] = randomPick(random, VALUES);
  }
  if (random() < 0.7) {
    const inner = () => ({ e: randomPick(random, VALUES) });
    document.d = random() < 0.5 ? inner() : [inner(), inner()];
  }
  return document;
}

function randomFilter(random: Random): Any {
  const path = randomPick(random, ['a', 'b', 'c', 'd.e', 'a.x', '_id'] as const);
  const value = () => randomPick(random, VALUES);
  const operator = randomPick(random, ['$eq', '$gt', '$gte', '$lt', '$lte', '$in', '$ne'] as const);
  const one = { [operator]: operator === '$in' ? [value(), value()] : value() };
  const both = random() < 0.3 ? { ...one, [random() < 0.5 ? '$gte' : '$lt']: value() } : one;
  return random() < 0.3 ? { $and: [{ [path]: both }, randomFilter(random)] } : { [path]: both };
}

test('random filters and sorts: by indexes as without', async () => {
  const seed = seedFromEnvironment();
  const random = seededRandom(seed);
  const [plain, indexed] = [server.collection(), server.collection()];
  for (const key of [
    { a: 1 },
    { b: -1 },
    { 'd.e': 1 },
    { a: 1, _id: -1 },
    { c: 1, _id: 1 },
  ] as Any[]) {
    await indexed.createIndex(key);
  }
  const documents = Array.from({ length: 150 }, (_, _id) => randomDocument(random, _id));
  await plain.insertMany(documents);
  await indexed.insertMany(documents);
  for (let round = 0; round < 50; round++) {
    const filter = randomFilter(random);
    const what = `seed ${seed}: ${JSON.stringify(filter)}`;
    const wanted = (await ids(plain, filter)) as number[];
    const found = (await ids(indexed, filter)) as number[];
    assert.deepEqual(
      found.sort((x, y) => x - y),
      wanted.sort((x, y) => x - y),
      what,
    );
    const sort = {
      [randomPick(random, ['a', 'b', 'c', '_id'] as const)]: random() < 0.5 ? 1 : -1,
    } as Any;
    const [name = ''] = Object.keys(sort);
    const keys = async (collection: typeof plain) =>
      (
        await collection
          .find(filter)
          .sort({ ...sort, _id: 1 })
          .toArray()
      ).map(({ _id }) => _id);
    assert.deepEqual(await keys(indexed), await keys(plain), `${what} sorted by ${name}`);
    if (randomInteger(random, 10) > 0) continue;
    const update = { $set: { [name === '_id' ? 'a' : name]: randomPick(random, VALUES) } };
    const [one, two] = [
      await plain.updateMany(filter, update),
      await indexed.updateMany(filter, update),
    ];
    assert.equal(two.modifiedCount, one.modifiedCount, what);
  }
});

test('custom actions, sharding, statistics of the last request', async () => {
  const database = server.database();
  const action = (customAction: string, more: Any = {}) =>
    database.command({ customAction, ...more });
  await action('CreateDatabase');
  assert.equal((await action('GetDatabase')).database, database.databaseName);
  const indexes = [
    { key: { _id: 1 }, name: '_id_1' },
    { key: { a: 1 }, name: 'a_1' },
  ];
  await action('CreateCollection', { collection: 'c', shardKey: 'region', indexes });
  const told = await action('GetCollection', { collection: 'c' });
  assert.deepEqual(told.shardKeyDefinition, { region: 'hashed' });
  const collection = database.collection<Any>('c');
  await collection.insertMany([
    { _id: 1, region: 'x' },
    { _id: 1, region: 'y' },
  ]);
  assert.equal(await codeOf(collection.insertOne({ _id: 1, region: 'x' })), 11000);
  assert.equal(await codeOf(collection.insertOne({ _id: 2 })), 61);
  assert.equal(await codeOf(collection.updateOne({ region: 'x' }, { $set: { region: 'z' } })), 66);
  assert.equal((await collection.find({ _id: 1 }).toArray()).length, 2);
  assert.equal(await codeOf(collection.createIndex({ u: 1 }, { unique: true })), 67);
  await action('UpdateCollection', { collection: 'c', indexes: [indexes[0]] });
  assert.deepEqual(
    (await collection.indexes()).map(({ name }) => name),
    ['_id_'],
  );
  const unknown = await failureOf(action('CreateCollection', { collection: 'd', offer: 400 }));
  assert.match(unknown.message, /customAction.offer/);
  await server.client
    .db('admin')
    .command({ shardCollection: `${database.databaseName}.s`, key: { k: 'hashed' } });
  assert.equal(await codeOf(database.collection('s').insertOne({ a: 1 })), 61);
  const session = server.client.startSession();
  await collection.findOne({ _id: 1 }, { session });
  const last = await database.command({ getLastRequestStatistics: 1 }, { session });
  assert.equal(last.CommandName, 'find');
  assert.ok(last.RequestCharge >= 1, `${last.RequestCharge}`);
  await session.endSession();
});

test('an index over several fields has one array of a document, and follows it element by element', async () => {
  const collection = server.collection();
  await collection.createIndex({ p: 1, q: -1 });
  const parallel = await failureOf(collection.insertOne({ p: [1], q: [2] }));
  assert.equal(parallel.code, 171);
  assert.equal(parallel.message, 'cannot index parallel arrays [q] [p]');
  await collection.insertOne({ p: [1], q: 2 });
  assert.equal(await codeOf(collection.updateOne({}, { $set: { q: [] } })), 171);
  const filled = server.collection();
  await filled.insertOne({ p: [1], q: [2] });
  assert.equal(await codeOf(filled.createIndex({ p: 1, q: 1 })), 171);
  assert.equal((await filled.indexes()).length, 1);
});

test('unique keys of documents in arrays are those of each document', async () => {
  const collection = server.collection();
  await collection.createIndex({ 'a.b': 1, 'a.c': 1 }, { unique: true });
  await collection.insertOne({
    _id: 1,
    a: [
      { b: 1, c: 1 },
      { b: 2, c: 2 },
    ],
  });
  await collection.insertOne({ _id: 2, a: [{ b: 1, c: 2 }] });
  assert.equal(await codeOf(collection.insertOne({ _id: 3, a: { b: 2, c: 2 } })), 11000);
  const empty = server.collection();
  await empty.createIndex({ a: 1 }, { unique: true });
  await empty.insertMany([{ _id: 1 }, { _id: 2, a: [] }]);
  assert.equal(await codeOf(empty.insertOne({ _id: 3, a: null })), 11000);
  assert.equal(await codeOf(empty.insertOne({ _id: 4, a: [] })), 11000);
});

test('indexes of one key stand side by side if one is unique, sparse or partial', async () => {
  const collection = server.collection();
  await collection.createIndex({ a: 1 });
  await collection.createIndex({ a: 1 }, { unique: true, name: 'unique' });
  await collection.insertOne({ _id: 1, a: 1 });
  assert.equal(await codeOf(collection.insertOne({ _id: 2, a: 1 })), 11000);
  const database = server.client.db(collection.dbName);
  const byKey = { dropIndexes: 'c', index: { a: 1 } };
  assert.equal(await codeOf(database.command(byKey)), 181);
  await collection.dropIndex('unique');
  await collection.insertOne({ _id: 2, a: 1 });
  assert.deepEqual((await collection.find({ a: 1 }).toArray()).length, 2);
});

test('indexes for searches are listed as the server lists them', async () => {
  const collection = server.collection();
  await collection.createIndex({ u: 'text', t: 'text' }, { name: 'words', weights: { t: 2 } });
  await collection.createIndex({ g: '2dsphere' });
  const [, words, places] = await collection.indexes();
  assert.deepEqual(words, {
    v: 2,
    key: { _fts: 'text', _ftsx: 1 },
    name: 'words',
    weights: { t: 2, u: 1 },
    default_language: 'english',
    language_override: 'language',
    textIndexVersion: 3,
  });
  assert.equal(places?.['2dsphereIndexVersion'], 3);
  await collection.insertOne({ _id: 1, u: 'swift foxes' });
  assert.equal(await collection.countDocuments({ $text: { $search: 'fox' } }), 1);
});

test('an index over places has places, and a hashed one no arrays', async () => {
  const collection = server.collection();
  await collection.createIndex({ at: '2dsphere' });
  const point = { type: 'Point', coordinates: [1, 2] };
  const good = [point, [1, 2], { lng: 1, lat: 2 }, [point, point], null, []];
  await collection.insertMany([...good.map((at) => ({ at })), {}]);
  for (const at of ['x', {}, { type: 'Point', coordinates: [200, 0] }, [1], { type: 'Pt' }]) {
    assert.equal(await codeOf(collection.insertOne({ at })), 16755, JSON.stringify(at));
  }
  const hashed = server.collection();
  await hashed.createIndex({ h: 'hashed' });
  const error = await failureOf(hashed.insertOne({ h: [1] }));
  assert.equal(error.code, 16766);
  const filled = server.collection();
  await filled.insertOne({ at: 'here' });
  assert.equal(await codeOf(filled.createIndex({ at: '2dsphere' })), 16755);
});

test('bounds of keys, keys instead of documents, and numbers of documents', async () => {
  const collection = server.collection();
  await collection.insertMany([
    { _id: 1, a: 5, b: 1 },
    { _id: 2, a: 1, b: 9 },
    { _id: 3, a: 3, b: 2 },
    { _id: 4, a: 3, b: 7 },
    { _id: 5, a: 'text' },
    { _id: 6, a: [0, 4], b: 0 },
  ]);
  await collection.createIndex({ a: 1, b: -1 });
  const hint = { a: 1, b: -1 };
  const between = async (options: Any) =>
    (await collection.find({}, { hint, ...options }).toArray()).map(({ _id }) => _id);
  assert.deepEqual(await between({ min: { a: 3, b: 5 }, max: { a: 5, b: 1 } }), [6, 3]);
  assert.deepEqual(await between({ max: { a: 3, b: 2 } }), [6, 2, 4]);
  assert.deepEqual(await between({ min: { a: 5, b: 1 }, sort: { _id: -1 } }), [5, 1]);
  const code = (options: Any) => codeOf(collection.find({}, options).toArray());
  assert.equal(await code({ min: { a: 1, b: 1 } }), 51173);
  assert.equal(await code({ min: { b: 1, a: 1 }, hint }), 51174);
  assert.equal(await code({ min: { a: 2, b: 1 }, max: { a: 2, b: 1 }, hint }), 51175);
  const found = collection.find({ a: 3 }, { hint, returnKey: true });
  const keys = await found.sort({ b: -1 }).toArray();
  assert.deepEqual(keys, [
    { a: 3, b: 7 },
    { a: 3, b: 2 },
  ]);
  assert.deepEqual(await collection.findOne({ z: null }, { returnKey: true }), {});
  const numbered = await collection
    .find({}, { showRecordId: true, projection: { b: 1 } })
    .toArray();
  const numbers = numbered.map(({ $recordId }) => $recordId);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((x, y) => x - y),
  );
  assert.equal(numbers.length, 6);
});
