// What a question costs follows what it finds: documents and keys examined, not time.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Collection } from 'mongodb';
import { type Any, codeOf, serveMongo } from './support.suite.js';

const server = await serveMongo();
const COUNT = 1200;
let collection: Collection<Any>;

before(async () => {
  collection = server.collection();
  for (const key of [
    ...[{ n: 1 }, { tags: 1 }, { name: 1 }, { 'items.sku': 1 }, { group: 1, rank: -1 }],
    ...[{ 'a.b.c.d': 1 }, { gone: 1 }, { 'items.at.place': 1 }],
  ] as Any[]) {
    await collection.createIndex(key);
  }
  await collection.insertMany(
    Array.from({ length: COUNT }, (_, _id) => ({
      _id,
      n: _id,
      name: `name-${String(_id).padStart(5, '0')}`,
      tags: [_id, _id + 0.5, `t${_id}`],
      items: [{ sku: _id, at: [{ place: `p${_id}` }] }, { sku: -_id }],
      group: _id % 100,
      rank: _id,
      a: { b: [{ c: { d: _id } }] },
      ...(_id % 100 === 0 ? { gone: null } : _id % 100 === 1 ? {} : { gone: _id }),
    })),
  );
});

interface Told {
  readonly stages: readonly string[];
  readonly scans: readonly Any[];
  readonly stats: Any;
}

function stagesOf(plan: Any): readonly Any[] {
  if (!plan) return [];
  return [plan, ...stagesOf(plan.inputStage), ...(plan.inputStages ?? []).flatMap(stagesOf)];
}

async function told(filter: Any, options: Any = {}): Promise<Told> {
  const answer = await collection.find(filter, options).explain('executionStats');
  const stages = stagesOf(answer.queryPlanner.winningPlan);
  return {
    stages: stages.map(({ stage }) => stage),
    scans: stages.filter(({ stage }) => stage === 'IXSCAN'),
    stats: answer.executionStats,
  };
}

/** The filter, how many it finds, how many are looked at for it at the most, and the index. */
const CHEAP: readonly (readonly [Any, number, number, string])[] = [
  [{ n: { $gte: 10, $lt: 20 } }, 10, 10, 'n_1'],
  [{ n: { $in: [1, 2, 3] } }, 3, 3, 'n_1'],
  [{ tags: 7 }, 1, 1, 'tags_1'],
  [{ tags: { $gte: 10, $lt: 12 } }, 2, 12, 'tags_1'],
  [{ tags: { $gt: COUNT - 3 } }, 3, 3, 'tags_1'],
  [{ tags: { $elemMatch: { $gte: 10, $lt: 12 } } }, 2, 2, 'tags_1'],
  [{ tags: { $in: [5, 't9', 't10'] } }, 3, 3, 'tags_1'],
  [{ tags: { $all: [5, 't5'] } }, 1, 1, 'tags_1'],
  [{ tags: [5, 5.5, 't5'] }, 1, 1, 'tags_1'],
  [{ tags: { $in: [[5, 5.5, 't5'], 6] } }, 2, 2, 'tags_1'],
  [{ tags: /^t119/ }, 11, 11, 'tags_1'],
  [{ name: /^name-0000/ }, 10, 10, 'name_1'],
  [{ name: { $regex: '^name-0000[12]' } }, 2, 10, 'name_1'],
  [{ name: { $in: [/^name-0001/, 'name-00003'] } }, 11, 11, 'name_1'],
  [{ 'items.sku': 5 }, 1, 1, 'items.sku_1'],
  [{ 'items.sku': { $lt: 5 - COUNT } }, 4, 4, 'items.sku_1'],
  [{ items: { $elemMatch: { sku: { $gt: 3, $lt: 6 } } } }, 2, 2, 'items.sku_1'],
  [{ items: { $elemMatch: { at: { $elemMatch: { place: 'p8' } } } } }, 1, 1, 'items.at.place_1'],
  [{ 'items.at.place': { $regex: /^p11[0-9]$/ } }, 10, 111, 'items.at.place_1'],
  [{ $or: [{ n: 3 }, { tags: 9 }, { name: /^name-00011/ }] }, 3, 3, 'n_1'],
  [{ $or: [{ n: 3 }, { tags: 3 }] }, 1, 1, 'n_1'],
  [{ rank: { $gte: 0 }, $or: [{ n: 3 }, { tags: 9 }] }, 2, 2, 'n_1'],
  [{ n: { $gte: 0 }, tags: 8 }, 1, 1, 'tags_1'],
  [{ 'a.b.c.d': { $gte: 100, $lte: 101 } }, 2, 102, 'a.b.c.d_1'],
  [{ 'a.b.c.d': 100 }, 1, 1, 'a.b.c.d_1'],
  [{ gone: null }, 24, 24, 'gone_1'],
  [{ gone: { $exists: false } }, 12, 12, 'gone_1'],
  [{ gone: { $type: 'null' } }, 12, COUNT, ''],
  [{ group: 7, rank: { $gte: 1000 } }, 2, 2, 'group_1_rank_-1'],
  [{ nothing: 1 }, 0, COUNT, ''],
  [{ n: { $elemMatch: { $gt: 3 } } }, 0, 0, 'n_1'],
  [{ _id: { $in: [4, 5] } }, 2, 2, '_id_'],
];

test('documents examined follow what is found, and explain names the index', async () => {
  for (const [filter, found, examined, index] of CHEAP) {
    const { stages, scans, stats } = await told(filter);
    const what = `${JSON.stringify(filter)}: ${JSON.stringify({ stages, stats })}`;
    assert.equal((await collection.find(filter).toArray()).length, found, what);
    assert.equal(stats.nReturned, found, what);
    assert.ok(stats.totalDocsExamined <= examined, what);
    assert.equal(stages.includes('COLLSCAN'), index === '', what);
    assert.equal(scans[0]?.indexName ?? '', index, what);
    if (index !== '') assert.ok(stats.totalKeysExamined >= stats.totalDocsExamined, what);
    assert.equal(await collection.countDocuments(filter), found, what);
  }
});

/** The filter, the sort, the limit, how many are looked at at the most, the stages. */
const SORTED: readonly (readonly [Any, Any, number, number, readonly string[]])[] = [
  [{}, { n: -1 }, 5, 5, ['LIMIT', 'FETCH', 'IXSCAN']],
  [{}, { tags: 1 }, 5, 30, ['LIMIT', 'FETCH', 'IXSCAN']],
  [{}, { tags: -1 }, 5, 30, ['LIMIT', 'FETCH', 'IXSCAN']],
  [{}, { 'items.sku': 1 }, 5, 30, ['LIMIT', 'FETCH', 'IXSCAN']],
  [{ group: 7 }, { rank: -1 }, 5, 5, ['LIMIT', 'FETCH', 'IXSCAN']],
  [{ tags: 7 }, { n: 1 }, 5, 1, ['LIMIT', 'SORT', 'FETCH', 'IXSCAN']],
  [
    { $or: [{ n: 7 }, { n: 8 }] },
    { rank: 1 },
    5,
    2,
    ['LIMIT', 'SORT', 'FETCH', 'OR', 'IXSCAN', 'IXSCAN'],
  ],
  [{}, { x: 1 }, 5, COUNT, ['LIMIT', 'SORT', 'COLLSCAN']],
  [{}, { $natural: -1 }, 5, COUNT, ['LIMIT', 'COLLSCAN']],
];

test('the first of an order cost what they are', async () => {
  for (const [filter, sort, limit, examined, stages] of SORTED) {
    const { stages: used, stats } = await told(filter, { sort, limit });
    const what = `${JSON.stringify([filter, sort])}: ${JSON.stringify({ used, stats })}`;
    assert.deepEqual(used, stages, what);
    assert.ok(stats.totalDocsExamined <= examined, what);
    const found = await collection.find(filter, { sort, limit }).toArray();
    assert.equal(found.length, stats.nReturned, what);
  }
  const byTags = await collection.find({}, { sort: { tags: -1 }, limit: 2 }).toArray();
  assert.deepEqual(
    byTags.map(({ tags }) => tags[2]),
    ['t999', 't998'],
  );
});

test('explain shows bounds and direction', async () => {
  const boundsOf = async (filter: Any, options: Any = {}) =>
    (await told(filter, options)).scans[0]?.indexBounds;
  assert.deepEqual(await boundsOf({ n: { $gte: 10, $lt: 20 } }), { n: ['[10, 20)'] });
  assert.deepEqual(await boundsOf({ group: 7, rank: 3 }), { group: ['[7, 7]'], rank: ['[3, 3]'] });
  assert.deepEqual(await boundsOf({ group: { $in: [1, 2] } }), {
    group: ['[1, 1]', '[2, 2]'],
    rank: ['[MinKey, MaxKey]'],
  });
  assert.deepEqual(await boundsOf({ name: /^ab/ }), { name: ['["ab", "ac")', '[/^ab/, /^ab/]'] });
  const [scan] = (await told({}, { sort: { n: -1 } })).scans;
  assert.equal(scan.direction, 'backward');
  assert.deepEqual((await told({ tags: 1 })).scans[0].isMultiKey, true);
});

test('a hint acts or is refused', async () => {
  const named = async (filter: Any, hint: Any) =>
    (await told(filter, { hint })).scans[0]?.indexName;
  assert.equal(await named({ n: 5, name: 'name-00005' }, 'name_1'), 'name_1');
  assert.equal(await named({ n: 5, name: 'name-00005' }, { n: 1 }), 'n_1');
  assert.equal(await named({ x: 5 }, { name: 1 }), 'name_1');
  assert.equal(await named({ n: 5 }, '_id_'), '_id_');
  assert.equal(await named({ n: 5 }, { tags: 1 }), 'tags_1');
  assert.equal(await named({ n: 5 }, { $natural: 1 }), undefined);
  const back = await collection.find({}, { hint: { $natural: -1 }, limit: 2 }).toArray();
  assert.deepEqual(
    back.map(({ _id }) => _id),
    [COUNT - 1, COUNT - 2],
  );
  const found = await collection.find({ n: 5 }, { hint: { tags: 1 } }).toArray();
  assert.deepEqual(
    found.map(({ _id }) => _id),
    [5],
  );
  for (const hint of ['nope', { n: -1 }, { rank: 1 }]) {
    assert.equal(await codeOf(collection.find({}, { hint }).toArray()), 2);
    assert.equal(await codeOf(collection.updateOne({ n: 1 }, { $set: { z: 1 } }, { hint })), 2);
    assert.equal(await codeOf(collection.countDocuments({}, { hint })), 2);
  }
});

test('a hidden index is kept and not used', async () => {
  const hiding = server.collection();
  await hiding.createIndex({ a: 1 });
  await hiding.insertMany(Array.from({ length: 50 }, (_, a) => ({ a })));
  const stages = async () => {
    const { queryPlanner } = await hiding.find({ a: 3 }).explain('queryPlanner');
    return stagesOf(queryPlanner.winningPlan).map(({ stage }) => stage);
  };
  assert.deepEqual(await stages(), ['FETCH', 'IXSCAN']);
  const database = server.client.db(hiding.dbName);
  await database.command({ collMod: 'c', index: { name: 'a_1', hidden: true } });
  assert.deepEqual(await stages(), ['COLLSCAN']);
  assert.equal(await codeOf(hiding.find({}, { hint: 'a_1' }).toArray()), 2);
  await database.command({ collMod: 'c', index: { name: 'a_1', hidden: false } });
  assert.deepEqual(await stages(), ['FETCH', 'IXSCAN']);
});

test('a pipeline begins with what the index gives: condition, order, count', async () => {
  const stages = [{ $match: { group: 7 } }, { $sort: { rank: -1 } }, { $limit: 3 }];
  const told = await collection.aggregate(stages).explain('executionStats');
  const plan = stagesOf(told.queryPlanner.winningPlan).map(({ stage }) => stage);
  assert.deepEqual(plan, ['LIMIT', 'FETCH', 'IXSCAN']);
  assert.equal(told.executionStats.totalDocsExamined, 3);
  const ranks = (await collection.aggregate(stages).toArray()).map(({ rank }) => rank);
  assert.deepEqual(ranks, [1107, 1007, 907]);
  const all = await collection
    .aggregate([{ $sort: { tags: 1 } }, { $limit: 2 }, { $project: { n: 1 } }])
    .toArray();
  assert.deepEqual(
    all.map(({ n }) => n),
    [0, 1],
  );
  assert.deepEqual(
    await collection.aggregate([{ $sort: { x: 1, n: -1 } }, { $limit: 1 }]).toArray(),
    await collection.find({ n: COUNT - 1 }).toArray(),
  );
  const counts: readonly (readonly [Any, number])[] = [
    [{}, COUNT],
    [{ n: { $gt: 10, $lte: 20 } }, 10],
    [{ tags: 5 }, 1],
    [{ n: { $in: [1, 2, 'x'] } }, 2],
    [{ n: { $lt: 0 } }, 0],
    [{ n: { $gte: 5 }, name: 'name-00005' }, 1],
  ];
  for (const [filter, count] of counts) {
    assert.equal(await collection.countDocuments(filter), count, JSON.stringify(filter));
  }
  assert.deepEqual(
    await collection.aggregate([{ $group: { _id: null, all: { $sum: 1 } } }]).toArray(),
    [{ _id: null, all: COUNT }],
  );
});

test('the first of an order is changed without looking at the others', async () => {
  const queue = server.collection();
  await queue.createIndex({ state: 1, at: 1 });
  await queue.insertMany(Array.from({ length: 60 }, (_, at) => ({ _id: at, state: 'new', at })));
  const taken: unknown[] = [];
  for (let left = 4; left > 0; left--) {
    const sort = { at: left % 2 === 0 ? 1 : -1 } as const;
    const found = await queue.findOneAndUpdate(
      { state: 'new' },
      { $set: { state: 'old' } },
      { sort },
    );
    taken.push(found?._id);
  }
  assert.deepEqual(taken, [0, 59, 1, 58]);
});

test('a wildcard below a path serves what is there, and nothing beside it', async () => {
  const wild = server.collection();
  await wild.createIndex({ 'a.b.$**': 1 });
  await wild.insertMany(
    Array.from({ length: 80 }, (_, _id) => ({
      _id,
      a: _id % 2 === 0 ? { b: { x: _id, y: [{ z: _id }] } } : [{ b: { x: _id } }, { b: [_id] }],
      c: _id,
    })),
  );
  const cases: readonly (readonly [Any, number, boolean])[] = [
    [{ 'a.b.x': 4 }, 1, true],
    [{ 'a.b.x': { $gte: 70 } }, 10, true],
    [{ 'a.b.y.z': 8 }, 1, true],
    [{ 'a.b': 9 }, 1, true],
    [{ a: 4 }, 0, false],
    [{ c: 4 }, 1, false],
    [{ 'a.b.x': { $exists: false } }, 0, false],
  ];
  for (const [filter, found, isUsed] of cases) {
    const answer = await wild.find(filter).explain('executionStats');
    const stages = stagesOf(answer.queryPlanner.winningPlan).map(({ stage }) => stage);
    const what = `${JSON.stringify(filter)}: ${stages.join()}`;
    assert.equal(answer.executionStats.nReturned, found, what);
    assert.equal(stages.includes('IXSCAN'), isUsed, what);
    if (isUsed) assert.equal(answer.executionStats.totalDocsExamined, found, what);
  }
});

test('$meta tells what rows were sorted by, and their numbers', async () => {
  const [first, second] = await collection
    .find({ n: { $in: [3, 4] } })
    .sort({ group: -1, n: 1 })
    .project({ key: { $meta: 'sortKey' }, record: { $meta: 'recordId' }, n: 1 })
    .toArray();
  assert.deepEqual(first?.key, [4, 4]);
  assert.deepEqual(second?.key, [3, 3]);
  assert.ok(first?.record > second?.record);
});
