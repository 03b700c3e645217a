// Searches by words and by place through the driver: scores, orders, stages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, serveMongo } from './support.suite.js';

const server = await serveMongo();

test('$text finds words, tells scores and sorts by them', async () => {
  const collection = server.collection();
  await collection.createIndex({ title: 'text', body: 'text' }, { weights: { title: 10 } });
  await collection.insertMany([
    { _id: 1, title: 'tea', body: 'coffee' },
    { _id: 2, title: 'coffee', body: 'cake' },
    { _id: 3, title: 'cake', body: 'tea' },
  ]);
  const score = { $meta: 'textScore' } as const;
  const found = await collection
    .find({ $text: { $search: 'coffee' } }, { projection: { score } })
    .sort({ score })
    .toArray();
  assert.deepEqual(
    found.map(({ _id }) => _id),
    [2, 1],
  );
  assert.ok(found[0]?.score > found[1]?.score);
  const piped = await collection
    .aggregate([
      { $match: { $text: { $search: 'coffee' } } },
      { $sort: { score } },
      { $project: { score } },
    ])
    .toArray();
  assert.deepEqual(
    piped,
    found.map(({ _id, score }) => ({ _id, score })),
  );
  assert.equal(await codeOf(server.collection().findOne({ $text: { $search: 'x' } })), 27);
});

test('$near sorts by distance, $geoNear tells it', async () => {
  const collection = server.collection();
  await collection.createIndex({ at: '2dsphere' });
  const point = (x: number) => ({ type: 'Point', coordinates: [x, 0] });
  await collection.insertMany([3, 1, 2].map((x) => ({ _id: x, at: point(x) })));
  const ids = async (condition: object) =>
    (await collection.find({ at: condition }).toArray()).map(({ _id }) => _id);
  assert.deepEqual(await ids({ $near: { $geometry: point(0) } }), [1, 2, 3]);
  assert.deepEqual(await ids({ $near: { $geometry: point(0), $minDistance: 200_000 } }), [2, 3]);
  assert.deepEqual(
    await ids({ $nearSphere: { $geometry: point(4), $maxDistance: 250_000 } }),
    [3, 2],
  );
  const box = {
    $geoWithin: {
      $box: [
        [0, -1],
        [1.5, 1],
      ],
    },
  };
  assert.deepEqual(await ids(box), [1]);
  const near = { near: point(0), distanceField: 'far', spherical: true } as never;
  const [first] = await collection.aggregate([{ $geoNear: near }]).toArray();
  assert.equal(first?._id, 1);
  assert.ok(Math.abs(first?.far - 111_319) < 10);
});
