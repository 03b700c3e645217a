// mongoose as people use it: a model with indexes and expiry, validation, population, versions.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import mongoose from 'mongoose';
import { NOON, serveMongo } from './support.suite.js';

const server = await serveMongo();
const connection = await mongoose.createConnection(server.url, { dbName: 'm' }).asPromise();
after(() => connection.close());

const Author = connection.model(
  'Author',
  new mongoose.Schema({ name: { type: String, unique: true } }),
);
const Post = connection.model(
  'Post',
  new mongoose.Schema({
    title: { type: String, required: true, index: true },
    author: { type: mongoose.Schema.Types.ObjectId, ref: 'Author' },
    tags: [String],
    until: { type: Date, expires: 60 },
  }),
);

test('a model: indexes, saving, finding, populating, pushing, expiring', async () => {
  await Promise.all([Author.init(), Post.init()]);
  const indexes = await Post.collection.indexes();
  assert.deepEqual(indexes.map(({ name }) => name).sort(), ['_id_', 'title_1', 'until_1']);
  const author = await Author.create({ name: 'Ada' });
  await assert.rejects(Author.create({ name: 'Ada' }), { code: 11000 });
  await assert.rejects(Post.create({}), /title/);
  const post = await Post.create({
    title: 'One',
    author: author._id,
    tags: ['a'],
    until: new Date(NOON),
  });
  await Post.create({ title: 'Two', author: author._id });
  post.tags.push('b');
  await post.save();
  const found = await Post.findOne({ tags: 'b' }).populate<{ author: { name: string } }>('author');
  assert.equal(found?.author.name, 'Ada');
  assert.equal(await Post.countDocuments({ author: author._id }), 2);
  const grouped = await Post.aggregate([{ $group: { _id: '$author', n: { $sum: 1 } } }]);
  assert.equal(grouped[0].n, 2);
  await Post.updateMany({}, { $addToSet: { tags: 'z' } });
  const names = await Post.find({ tags: 'z' }).sort('-title').lean();
  assert.deepEqual(
    names.map(({ title }) => title),
    ['Two', 'One'],
  );
  server.at(60_000);
  assert.deepEqual(
    (await Post.find().lean()).map(({ title }) => title),
    ['Two'],
  );
});

test('a session of mongoose', async () => {
  await connection.transaction(async (session) => {
    await Author.create([{ name: 'Grace' }], { session });
    await Author.updateOne({ name: 'Grace' }, { name: 'Grace H.' }, { session });
  });
  assert.ok(await Author.exists({ name: 'Grace H.' }));
});
