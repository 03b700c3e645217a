// Views with the real driver: read in every way, never written, made of each other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Any, codeOf, ids, serveMongo } from './support.suite.js';

const server = await serveMongo();

async function withView() {
  const db = server.database();
  const base = db.collection<Any>('base');
  await base.insertMany(
    Array.from({ length: 300 }, (_, _id) => ({ _id, n: _id % 3, tags: [`t${_id % 5}`] })),
  );
  await base.createIndex({ n: 1 });
  await db.createCollection('ones', {
    viewOn: 'base',
    pipeline: [{ $match: { n: 1 } }, { $set: { twice: { $multiply: ['$_id', 2] } } }],
  });
  return { db, base, ones: db.collection<Any>('ones') };
}

test('find, count, distinct and aggregate see what the pipeline makes', async () => {
  const { db, base, ones } = await withView();
  assert.deepEqual(await ones.findOne({ _id: 4 }), { _id: 4, n: 1, tags: ['t4'], twice: 8 });
  assert.equal(await ones.findOne({ _id: 5 }), null);
  assert.equal((await ones.find().batchSize(7).toArray()).length, 100);
  const some = ones.find({ twice: { $gt: 20 } }, { projection: { twice: 1 } });
  assert.deepEqual(await some.sort({ _id: -1 }).skip(1).limit(2).toArray(), [
    { _id: 295, twice: 590 },
    { _id: 292, twice: 584 },
  ]);
  assert.equal(await ones.estimatedDocumentCount(), 100);
  assert.equal(await ones.countDocuments({ tags: 't0' }), 20);
  assert.deepEqual((await ones.distinct('tags', { _id: { $lt: 10 } })).sort(), ['t1', 't2', 't4']);
  assert.equal((await db.command({ count: 'ones', query: { _id: { $lt: 30 } }, skip: 2 })).n, 8);
  const grouped = await ones
    .aggregate([{ $group: { _id: '$n', most: { $max: '$twice' } } }])
    .toArray();
  assert.deepEqual(grouped, [{ _id: 1, most: 596 }]);
  await base.updateOne({ _id: 4 }, { $set: { n: 2 } });
  assert.equal(await ones.findOne({ _id: 4 }), null);
  const plan = await ones.find().explain('queryPlanner');
  assert.match(JSON.stringify(plan.queryPlanner.winningPlan), /IXSCAN/);
});

test('views of views, and views that pipelines read', async () => {
  const { db, base } = await withView();
  await db.createCollection('few', { viewOn: 'ones', pipeline: [{ $match: { _id: { $lt: 8 } } }] });
  assert.deepEqual(await ids(db.collection('few')), [1, 4, 7]);
  const joined = await base
    .aggregate([
      { $match: { _id: { $in: [1, 2] } } },
      { $lookup: { from: 'few', localField: '_id', foreignField: '_id', as: 'found' } },
      { $project: { found: '$found.twice' } },
    ])
    .toArray();
  assert.deepEqual(joined, [
    { _id: 1, found: [2] },
    { _id: 2, found: [] },
  ]);
  const both = await base.aggregate([{ $limit: 1 }, { $unionWith: 'few' }]).toArray();
  assert.equal(both.length, 4);
  await db.command({ collMod: 'few', viewOn: 'base', pipeline: [{ $limit: 2 }] });
  assert.equal((await db.collection('few').find().toArray()).length, 2);
  const cycle = { collMod: 'ones', viewOn: 'few', pipeline: [] };
  await db.command({ collMod: 'few', viewOn: 'ones', pipeline: [] });
  assert.equal(await codeOf(db.command(cycle)), 5);
});

test('they are listed as what they are, and dropped without their collection', async () => {
  const { db, base } = await withView();
  const [view] = (await db.listCollections({ name: 'ones' }).toArray()) as Any[];
  assert.deepEqual([view.type, view.options.viewOn, view.info.readOnly], ['view', 'base', true]);
  assert.equal((await db.stats()).views, 1);
  await db.createCollection('ones', view.options);
  assert.equal(await codeOf(db.createCollection('ones', { viewOn: 'other' })), 48);
  await db.collection('ones').drop();
  assert.deepEqual(await db.listCollections({ type: 'view' }).toArray(), []);
  assert.equal(await base.estimatedDocumentCount(), 300);
});

test('what is for collections only is refused', async () => {
  const { db, ones } = await withView();
  const name = db.databaseName;
  const onView: readonly (() => Promise<unknown>)[] = [
    () => ones.insertOne({}),
    () => ones.updateOne({}, { $set: { a: 1 } }),
    () => ones.deleteMany({}),
    () => ones.findOneAndDelete({}),
    () => ones.createIndex({ a: 1 }),
    () => ones.indexes(),
    () => ones.rename('other'),
    () => ones.watch().next(),
    () => db.command({ collStats: 'ones' }),
    () =>
      db
        .collection('base')
        .aggregate([{ $out: 'ones' }])
        .toArray(),
    () => server.client.db('admin').command({ shardCollection: `${name}.ones`, key: { a: 1 } }),
  ];
  for (const act of onView) assert.equal(await codeOf(act()), 166, act.toString());
  const make = (options: Any) => codeOf(db.createCollection('v', options));
  assert.equal(await make({ viewOn: 'base', pipeline: [{ $out: 'x' }] }), 167);
  assert.equal(await make({ viewOn: 'base', pipeline: [{ $nonsense: 1 }] }), 40324);
  assert.equal(await make({ viewOn: 'v' }), 5);
  assert.equal(await make({ pipeline: [] }), 72);
  assert.equal(await make({ viewOn: 'base', validator: {} }), 72);
});
