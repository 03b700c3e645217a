// What is refused, with the code and the text of the server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Long } from 'mongodb';
import { type Any, failureOf, serveMongo } from './support.suite.js';

const server = await serveMongo();
const collection = server.collection();
const database = server.client.db(collection.dbName);
await collection.insertMany([1, 2, 3].map((_id) => ({ _id, a: _id, list: [{ k: 1 }] })));
await collection.updateOne({ _id: 1 }, { $set: { most: Long.MAX_VALUE } });
await collection.createIndex({ a: 1 });

const update = (u: Any, rest: Any = {}) => ({
  update: 'c',
  updates: [{ q: { _id: 1 }, u, ...rest }],
});
const index = (spec: Any) => ({ createIndexes: 'c', indexes: [spec] });

// biome-ignore format: a table is read in columns
const COMMANDS: readonly (readonly [Any, number, RegExp])[] = [
  [{ find: 'c', skip: -1 }, 51024, /^BSON field 'skip' value must be >= 0, actual value '-1'$/],
  [{ find: 'c', limit: -1 }, 51024, /^BSON field 'limit' value must be >= 0, actual value '-1'$/],
  [{ find: 'c', tailable: true }, 2, /tailable cursor requested on non capped collection/],
  [{ find: 'c', awaitData: true }, 9, /^Cannot set 'awaitData' without also setting 'tailable'$/],
  [{ find: 'c', hint: 5 }, 9, /^Hint must be a string or an object$/],
  [{ find: 'c', let: { V: 1 } }, 9, /^'V' starts with an invalid character for a user variable/],
  [{ find: 'c', let: { v: '$a' } }, 4890500, /tried to access a field/],
  [{ find: 'c', readConcern: { level: 'x' } }, 2, /^Enumeration value 'x' for field 'readConcern\.level'/],
  [{ find: 'c', readConcern: { x: 1 } }, 40415, /'readConcern\.x' is an unknown field/],
  [{ find: 'c', $readPreference: { mode: 'x' } }, 2, /^Enumeration value 'x' for field '\$readPreference\.mode'/],
  [{ ping: 1, writeConcern: { w: -1 } }, 9, /^w has to be a non-negative number and not greater than 50; found: -1$/],
  [{ ping: 1, writeConcern: { w: true } }, 9, /^w has to be a number, string, or object$/],
  [{ ping: 1, writeConcern: { x: 1 } }, 40415, /'writeConcern\.x' is an unknown field/],
  [{ ping: 1, apiVersion: '2' }, 322, /^API version must be "1"$/],
  [{ dbStats: 1, apiVersion: '1', apiStrict: true }, 323, /the command dbStats is not in API Version 1/],
  [{ ping: 1, apiStrict: true }, 4886600, /^Provided apiStrict without passing apiVersion$/],
  [{ getMore: 1, collection: 'c' }, 14, /^BSON field 'getMore\.getMore' is the wrong type 'int', expected type 'long'$/],
  [{ getMore: Long.fromNumber(1), collection: 'c' }, 43, /^cursor id 1 not found$/],
  [{ aggregate: 'c', pipeline: [], cursor: { x: 1 } }, 40415, /'aggregate\.cursor\.x' is an unknown field/],
  [{ distinct: 'c' }, 40414, /^BSON field 'distinct\.key' is missing but a required field$/],
  [update({ $set: { b: 1 } }, { multi: true, sort: { _id: 1 } }), 9, /^Cannot specify sort with multi=true$/],
  [update(5), 9, /^Update argument must be either an object or an array$/],
  [{ findAndModify: 'c', remove: true, new: true }, 9, /; 'remove' always returns the deleted document$/],
  [{ create: 'v', validator: { $or: [{ a: { $near: [1, 2] } }] } }, 2, /^\$near is not allowed in this context$/],
  [{ create: 'v', validator: { $text: { $search: 'x' } } }, 2, /^\$text is not allowed in this context$/],
  [{ collMod: 'c', index: { hidden: true } }, 72, /^must specify either index name or key pattern$/],
  [{ collMod: 'c', index: { name: 'a_1', keyPattern: { a: 1 } } }, 72, /^cannot specify both key pattern and name$/],
  [{ collMod: 'c', index: { name: 'z', hidden: true } }, 27, /^cannot find index z for ns d1\.c$/],
  [{ collMod: 'c', index: { keyPattern: { z: 1 }, hidden: true } }, 27, /^cannot find index \{ z: 1 \} for ns/],
  [index({ key: { b: 1 } }), 9, /^Error in specification \{ key: \{ b: 1 \} \} :: caused by :: The 'name' field is a required/],
  [index({ name: 'b' }), 9, /The 'key' field is a required property of an index specification$/],
  [index({ key: { b: 1 }, name: '*' }), 2, /^The index name '\*' is not valid\.$/],
  [index({ key: { b: 1 }, name: 'b', x: 1 }), 197, /The field 'x' is not valid for an index specification/],
  [index({ key: { a: 1 }, name: 'a_1', unique: true }), 86, /^An existing index has the same name as the requested index\./],
  [index({ key: { b: 1 }, name: 'a_1' }), 86, /^An existing index has the same name as the requested index\./],
  [index({ key: { a: 1 }, name: 'x' }), 85, /^Index already exists with a different name: a_1$/],
  [{ dropIndexes: 'c' }, 40414, /^BSON field 'dropIndexes\.index' is missing but a required field$/],
  [{ profile: 2 }, 115, /profile of level 2/],
];

test('commands', async () => {
  for (const [command, code, text] of COMMANDS) {
    const error = await failureOf(database.command(command));
    assert.equal(error.code, code, `${JSON.stringify(command)}: ${error}`);
    assert.match(error.message, text);
  }
});

test('commands of the server', async () => {
  const admin = server.client.db('admin');
  const move = { renameCollection: 'd1.c', to: 'd1.a$b' };
  assert.equal((await failureOf(admin.command(move))).code, 73);
  assert.equal((await failureOf(admin.command({ fsync: 1, lock: true }))).code, 115);
  assert.equal((await admin.command({ fsync: 1 })).ok, 1);
  const { commands } = await admin.command({ listCommands: 1 });
  assert.equal(commands.renameCollection.adminOnly, true);
});

// biome-ignore format: a table is read in columns
const STATEMENTS: readonly (readonly [Any, number, string])[] = [
  [update({ $set: { a: 1 } }, { arrayFilters: [{ e: 1 }] }), 9, "The array filter for identifier 'e' was not used in the update { $set: { a: 1 } }"],
  [update({ $bit: { z: { foo: 1 } } }), 2, "The $bit modifier only supports 'and', 'or', and 'xor', not 'foo' which is an unknown operator: {foo: 1}"],
  [update({ $rename: { 'list.0': 'z' } }), 2, "The source field cannot be an array element, 'list.0' in doc with _id: 1 has an array field called 'list'"],
  [update({ $inc: { most: 1 } }), 2, 'Failed to apply $inc operations to current value ((NumberLong)9223372036854775807) for document {_id: 1}'],
  [update({ $addToSet: { list: { $each: 1 } } }), 14, 'The argument to $each in $addToSet must be an array but it was of type int'],
];

test('statements', async () => {
  for (const [command, code, text] of STATEMENTS) {
    const { writeErrors } = await database.command(command);
    assert.deepEqual(writeErrors, [{ index: 0, code, errmsg: text }]);
  }
});

test('a getMore waits for nothing unless its cursor does', async () => {
  const session = server.client.startSession();
  const { cursor } = await database.command({ find: 'c', batchSize: 1 }, { session });
  const more = { getMore: Long.fromValue(cursor.id), collection: 'c', maxTimeMS: 10 };
  const error = await failureOf(database.command(more, { session }));
  assert.equal(error.code, 2);
  assert.equal(error.message, 'cannot set maxTimeMS on getMore command for a non-awaitData cursor');
  await session.endSession();
});

test('variables of a command are expressions, each of which may use those before it', async () => {
  const variables = {
    one: { $add: [0, 1] },
    two: { $add: ['$$one', 1] },
    text: { $literal: '$a' },
  };
  const found = await collection
    .find({ $expr: { $in: ['$a', ['$$two', '$$text']] } }, { let: variables })
    .project({ _id: 1 })
    .toArray();
  assert.deepEqual(found, [{ _id: 2 }]);
});

test('distinct goes to positions of arrays', async () => {
  const arrays = server.collection();
  await arrays.insertOne({ a: [{ b: 1 }, { b: 2 }] });
  assert.deepEqual(await arrays.distinct('a.1.b'), [2]);
  assert.deepEqual(await arrays.distinct('a.b'), [1, 2]);
});
