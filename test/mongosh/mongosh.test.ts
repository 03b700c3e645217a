// mongosh, as people use it: what is typed, and what is printed. One shell says most of it; what
// is about connecting has shells of its own.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { serveMongo } from '../mongo/support.suite.js';
import { installShell, Shell } from './shell.suite.js';

/** What is typed, and what is printed, white space aside: all of it, or what it must match. */
type Dialogue = readonly (readonly [typed: string, printed: string | RegExp])[];

await installShell();
const server = await serveMongo();
const shell = await Shell.open(server.url);
after(() => shell.close());

/** What every reply of a cluster has besides. */
const CLOCK = /, operationTime: Timestamp\({[^}]*}\), '\$clusterTime': .*keyId: Long\('0'\) } }/;

async function talk(dialogue: Dialogue, to = shell): Promise<void> {
  for (const [typed, printed] of dialogue) {
    const answer = (await to.type(typed)).replace(CLOCK, '');
    if (typeof printed === 'string') assert.equal(answer, printed, typed);
    else assert.match(answer, printed, typed);
  }
}

test('T29, T31, T32: the examples of the documentation, typed to the letter', async () => {
  server.at(0);
  const inserted = /acknowledged: true, insertedIds: { '0': ObjectId\('[0-9a-f]{24}'\) } }$/;
  await talk([
    ['use ttl', 'switched to db ttl'],
    ['db.coll.createIndex({"_ts":1}, {expireAfterSeconds: 10})', '_ts_1'],
    ['db.coll.insert({id:1, location: "Paris", ttl: 20.0})', inserted],
    ['db.coll.insert({id:1, location: "Paris", ttl: NumberInt(20)})', inserted],
    ['db.coll.insert({id:1, location: "Paris", ttl: NumberLong(20)})', inserted],
    [
      'db.coll.insert({id:1, location: "Paris", ttl: 20.5}) //TTL value contains non-zero decimal part.',
      inserted,
    ],
    [
      'db.coll.insert({id:1, location: "Paris", ttl: NumberLong(2147483649)}) //TTL value is greater than Int32.MaxValue (2,147,483,648).',
      inserted,
    ],
    ['db.coll.find().map(({ ttl }) => ttl)', "[ 20, 20, Long('20'), 20.5, Long('2147483649') ]"],
  ]);
  for (const [ms, left] of [
    [9_999, 5],
    [10_000, 3],
    [19_999, 3],
    [20_000, 0],
  ] as const) {
    server.at(ms);
    await talk([
      ['db.coll.find().toArray().length', String(left)],
      ['db.coll.countDocuments()', String(left)],
    ]);
  }
});

test('documents are written, found, changed and removed', () =>
  talk([
    ['use crud', 'switched to db crud'],
    ['db.c.insertOne({ _id: 1, a: 1 })', '{ acknowledged: true, insertedId: 1 }'],
    [
      "db.c.insertMany([{ _id: 2, a: 2, t: ['x'] }, { _id: 3, a: Long('3'), t: ['x', 'y'] }])",
      "{ acknowledged: true, insertedIds: { '0': 2, '1': 3 } }",
    ],
    [
      'db.c.find()',
      "[ { _id: 1, a: 1 }, { _id: 2, a: 2, t: [ 'x' ] }, { _id: 3, a: Long('3'), t: [ 'x', 'y' ] } ]",
    ],
    [
      'db.c.find({ a: { $gt: 1 } }, { a: 1, _id: 0 }).sort({ a: -1 }).limit(1)',
      "[ { a: Long('3') } ]",
    ],
    ['db.c.findOne({ _id: 2 }).t', "[ 'x' ]"],
    ["db.c.countDocuments({ t: 'x' })", '2'],
    ['db.c.estimatedDocumentCount()', '3'],
    ["db.c.distinct('t')", "[ 'x', 'y' ]"],
    [
      'db.c.updateOne({ _id: 9 }, { $set: { a: 9 } }, { upsert: true })',
      '{ acknowledged: true, insertedId: 9, matchedCount: 0, modifiedCount: 0, upsertedCount: 1 }',
    ],
    ['db.c.updateMany({}, [{ $set: { b: { $add: ["$a", 1] } } }]).modifiedCount', '4'],
    ['db.c.replaceOne({ _id: 9 }, { a: 99 }).modifiedCount', '1'],
    ['db.c.findOneAndUpdate({ _id: 9 }, { $inc: { a: 1 } })', '{ _id: 9, a: 99 }'],
    ['db.c.findAndModify({ query: { _id: 9 }, update: { $inc: { a: 1 } }, new: true }).a', '101'],
    ['db.c.findOneAndDelete({ _id: 9 })', '{ _id: 9, a: 101 }'],
    ['db.c.deleteOne({ _id: 3 })', '{ acknowledged: true, deletedCount: 1 }'],
    [
      'db.c.insertOne({ _id: 1 })',
      'Uncaught MongoServerError: E11000 duplicate key error collection: crud.c index: _id_ dup key: { _id: 1 }',
    ],
    ['db.c.insertOne({ _id: 5 }, { writeConcern: { w: 0 } }).acknowledged', 'false'],
    [
      'db.c.insertMany([{ _id: 6 }, { _id: 1 }, { _id: 7 }], { ordered: false })',
      /insertedIds: { '0': 6, '2': 7 } } Write Errors: \[ WriteError { err: { index: 1, code: 11000/,
    ],
    [
      'db.c.bulkWrite([{ insertOne: { document: { _id: 8 } } }, { updateOne: { filter: { _id: 8 }, update: { $set: { a: 8 } } } }, { deleteMany: { filter: { _id: { $gt: 4 } } } }])',
      "{ acknowledged: true, insertedCount: 1, insertedIds: { '0': 8 }, matchedCount: 1, modifiedCount: 1, deletedCount: 4, upsertedCount: 0, upsertedIds: {} }",
    ],
    [
      'bulk = db.c.initializeUnorderedBulkOp(); bulk.insert({ _id: 8 }); bulk.find({ _id: 2 }).updateOne({ $set: { a: 8 } }); bulk.find({ _id: 1 }).remove(); bulk.execute()',
      /insertedCount: 1, .*matchedCount: 1, modifiedCount: 1, deletedCount: 1/,
    ],
  ]));

test('values of all types come back as what they were', () =>
  talk([
    ['use types', 'switched to db types'],
    [
      "db.c.insertOne({ _id: 1, d: Decimal128('1.10'), l: Long('9007199254740993'), f: 2.5, dt: ISODate('2020-01-02'), o: ObjectId('0123456789abcdef01234567'), u: UUID('01234567-89ab-cdef-0123-456789abcdef'), b: BinData(0, 'aGk='), r: /a+/i, ts: Timestamp(1, 2), mn: MinKey(), mx: MaxKey(), n: null, c: Code('x'), s: 'é😀' }).acknowledged",
      'true',
    ],
    [
      'db.c.findOne()',
      "{ _id: 1, d: Decimal128('1.10'), l: Long('9007199254740993'), f: 2.5, dt: ISODate('2020-01-02T00:00:00.000Z'), o: ObjectId('0123456789abcdef01234567'), u: UUID('01234567-89ab-cdef-0123-456789abcdef'), b: Binary.createFromBase64('aGk=', 0), r: /a+/i, ts: Timestamp({ t: 1, i: 2 }), mn: MinKey(), mx: MaxKey(), n: null, c: Code('x'), s: 'é😀' }",
    ],
  ]));

test('what the shell shows: databases, collections, more of a cursor, statistics', () =>
  talk([
    ['use shown', 'switched to db shown'],
    ['for (let i = 0; i < 30; i++) db.many.insertOne({ _id: i })', /insertedId: 29/],
    ["db.createCollection('plain')", '{ ok: 1 }'],
    ['show collections', 'many plain'],
    ['show dbs', /(^| )shown +\d/],
    ['db.many.find()', /^\[ { _id: 0 }, .* { _id: 19 } \] Type "it" for more$/],
    ['it', /^\[ { _id: 20 }, .* { _id: 29 } \]$/],
    ['it', 'no cursor'],
    ['db.many.find().batchSize(5).toArray().length', '30'],
    ['db.many.stats()', /^{ ok: 1, capped: false, .*count: 30, .*ns: 'shown.many', nindexes: 1/],
    ['db.many.dataSize()', '420'],
    ['db.stats().objects', "Long('30')"],
    ['db.many.validate().valid', 'true'],
    [
      'db.getCollectionInfos({ name: "plain" }, { nameOnly: true })',
      /^\[ { name: 'plain', type: 'collection' } \]$/,
    ],
    ['show profile', /^db.system.profile is empty/],
    ['show log global', '[]'],
    ['show roles', /role: 'readWrite', db: 'shown', isBuiltin: true/],
    ['db.version()', /^7\.0\.\d+$/],
    ['db.hello().msg', 'isdbgrid'],
    ['db.currentOp().inprog', '[]'],
    ["db.commandHelp('find')", /help for: find/],
    ["db.createView('seen', 'many', [{ $match: { _id: { $lt: 2 } } }])", '{ ok: 1 }'],
    ['db.seen.find()', '[ { _id: 0 }, { _id: 1 } ]'],
    ['show collections', 'many plain seen [view]'],
    ['db.seen.drop()', 'true'],
    ["db.many.renameCollection('lots')", '{ ok: 1 }'],
    ['db.lots.drop()', 'true'],
    [
      'db.runCommand({ nonsense: 1 })',
      "Uncaught MongoServerError[CommandNotFound]: no such command: 'nonsense'",
    ],
    ['db.dropDatabase()', "{ ok: 1, dropped: 'shown' }"],
  ]));

test('indexes are made, shown, used, hidden and dropped', () =>
  talk([
    ['use indexes', 'switched to db indexes'],
    ['db.c.createIndex({ a: 1 })', 'a_1'],
    [
      "db.c.createIndexes([{ t: 1 }, { a: -1, 'b.c': 1 }], { sparse: true })",
      "[ 't_1', 'a_-1_b.c_1' ]",
    ],
    ['db.c.getIndexes()[2]', "{ v: 2, key: { t: 1 }, name: 't_1', sparse: true }"],
    ['db.c.insertMany([{ a: 1 }, { a: 2 }]).acknowledged', 'true'],
    ['db.c.find({ a: 1 }).explain().queryPlanner.winningPlan.inputStage.indexName', 'a_1'],
    ["db.c.find({ a: 1 }).explain('executionStats').executionStats.nReturned", '1'],
    ['db.c.explain().aggregate([{ $match: { a: 1 } }]).ok', '1'],
    ["db.c.hideIndex('a_1')", '{ hidden_old: false, hidden_new: true, ok: 1 }'],
    [
      "db.c.find({ a: 1 }).hint('nope')",
      /MongoServerError\[BadValue\]: hint provided does not correspond/,
    ],
    [
      'db.c.createIndex({ u: 1 }, { unique: true })',
      /E11000 duplicate key error collection: indexes.c index: u_1 dup key: { u: null }/,
    ],
    ["db.c.dropIndex('t_1')", '{ nIndexesWas: 4, ok: 1 }'],
    [
      "db.c.dropIndex('t_1')",
      /MongoServerError\[IndexNotFound\]: index not found with name \[t_1\]/,
    ],
    [
      'db.c.dropIndexes()',
      "{ nIndexesWas: 3, msg: 'non-_id indexes dropped for collection', ok: 1 }",
    ],
  ]));

// biome-ignore format: a table is read in columns
const OPERATORS: Dialogue = [
  ['use operators', 'switched to db operators'],
  ['db.c.insertMany([{ _id: 1, a: 5, s: "Fox", l: [1, 2, 3], d: [{ k: 1, v: 2 }], g: [0, 0] }, { _id: 2, a: Long("5"), s: "fish", l: [9], g: [10, 10] }, { _id: 3, a: null }]).acknowledged', 'true'],
  ['found = (filter) => db.c.find(filter).map(({ _id }) => _id).toArray(); 0', '0'],
  // Comparison, logic, elements.
  ['found({ a: { $gte: 5, $lt: Decimal128("5.1") } })', '[ 1, 2 ]'],
  ['found({ a: { $in: [null, "x"] } })', '[ 3 ]'],
  ['found({ $or: [{ _id: 3 }, { s: { $ne: "Fox" } }] })', '[ 2, 3 ]'],
  ['found({ $nor: [{ _id: 1 }], a: { $not: { $type: "null" } } })', '[ 2 ]'],
  ['found({ s: { $exists: true }, a: { $type: "long" } })', '[ 2 ]'],
  // Arrays, evaluation, bits.
  ['found({ l: { $all: [1, 3], $size: 3 }, d: { $elemMatch: { k: 1, v: { $gt: 1 } } } })', '[ 1 ]'],
  ['found({ s: { $regex: "^f", $options: "i" }, a: { $mod: [4, 1] } })', '[ 1, 2 ]'],
  ['found({ $expr: { $gt: [{ $size: { $ifNull: ["$l", []] } }, 1] } })', '[ 1 ]'],
  ['found({ $jsonSchema: { required: ["l"], properties: { a: { bsonType: "int" } } } })', '[ 1 ]'],
  ['found({ a: { $bitsAllSet: [0, 2], $bitsAnyClear: 2 } })', '[ 1, 2 ]'],
  // Places and words.
  ['db.c.createIndexes([{ g: "2dsphere" }, { s: "text" }])', "[ 'g_2dsphere', 's_text' ]"],
  ['found({ g: { $geoWithin: { $centerSphere: [[0, 0], 0.1] } } })', '[ 1 ]'],
  ['found({ g: { $near: { $geometry: { type: "Point", coordinates: [9, 9] } } } })', '[ 2, 1 ]'],
  ['found({ $text: { $search: "foxes" } })', '[ 1 ]'],
  ["found({ $where: 'true' })", /MongoServerError\[BadValue\]: \$where is not supported/],
  // Updates.
  ['changed = (update, more) => db.c.findOneAndUpdate({ _id: 1 }, update, { returnDocument: "after", projection: { _id: 0, a: 1, l: 1, d: 1 }, ...more }); 0', '0'],
  ['changed({ $inc: { a: 2 }, $push: { l: { $each: [7, 5], $sort: -1, $slice: 4 } } })', '{ a: 7, l: [ 7, 5, 3, 2 ], d: [ { k: 1, v: 2 } ] }'],
  ['changed({ $mul: { a: 1.5 }, $pull: { l: { $gt: 4 } }, $set: { "d.$[e].v": 3 } }, { arrayFilters: [{ "e.k": 1 }] })', '{ a: 10.5, l: [ 3, 2 ], d: [ { k: 1, v: 3 } ] }'],
  ['changed({ $min: { a: 4 }, $addToSet: { l: 3 }, $unset: { d: "" } })', '{ a: 4, l: [ 3, 2 ] }'],
  ['changed({ $bit: { a: { xor: 1 } }, $pop: { l: -1 }, $rename: { s: "t" } })', '{ a: 5, l: [ 2 ] }'],
  ['changed([{ $set: { l: { $map: { input: "$l", in: { $multiply: ["$$this", 10] } } } } }])', '{ a: 5, l: [ 20 ] }'],
  ['changed({ $inc: { l: 1 } })', /Cannot apply \$inc to a value of non-numeric type/],
  // Stages and accumulators.
  ['db.c.aggregate([{ $bucket: { groupBy: "$_id", boundaries: [0, 2, 9], output: { n: { $sum: 1 }, top: { $max: "$_id" } } } }])', '[ { _id: 0, n: 1, top: 1 }, { _id: 2, n: 2, top: 3 } ]'],
  ['db.c.aggregate([{ $setWindowFields: { sortBy: { _id: 1 }, output: { sum: { $sum: "$_id", window: { documents: ["unbounded", "current"] } } } } }, { $project: { sum: 1 } }])', '[ { _id: 1, sum: 1 }, { _id: 2, sum: 3 }, { _id: 3, sum: 6 } ]'],
  ['db.c.aggregate([{ $lookup: { from: "c", localField: "_id", foreignField: "_id", as: "self" } }, { $unwind: "$self" }, { $replaceWith: "$self" }, { $sortByCount: { $type: "$a" } }, { $sort: { _id: 1 } }])', "[ { _id: 'int', count: 1 }, { _id: 'long', count: 1 }, { _id: 'null', count: 1 } ]"],
];

test('operators of each family', () => talk(OPERATORS));

test('pipelines', () =>
  talk([
    ['use pipelines', 'switched to db pipelines'],
    [
      'db.c.insertMany([{ _id: 1, k: "a", n: 1 }, { _id: 2, k: "a", n: 2 }, { _id: 3, k: "b", n: 5 }]).acknowledged',
      'true',
    ],
    [
      "db.c.aggregate([{ $group: { _id: '$k', n: { $sum: '$n' } } }, { $sort: { _id: 1 } }])",
      "[ { _id: 'a', n: 3 }, { _id: 'b', n: 5 } ]",
    ],
    ["db.c.aggregate([{ $match: { k: 'a' } }, { $out: 'copy' }])", ''],
    ['db.copy.find({}, { n: 1, _id: 0 })', '[ { n: 1 }, { n: 2 } ]'],
    ['db.aggregate([{ $documents: [{ x: 1 }] }])', '[ { x: 1 } ]'],
    [
      'db.c.aggregate([{ $nope: 1 }])',
      /\[Location40324\]: Unrecognized pipeline stage name: '\$nope'/,
    ],
  ]));

test('transactions and change streams', () =>
  talk([
    ['use sessions', 'switched to db sessions'],
    ['db.c.insertOne({ _id: 0 }).acknowledged', 'true'],
    ['cs = db.c.watch()', 'ChangeStreamCursor on c'],
    ['cs.tryNext()', 'null'],
    [
      "s = db.getMongo().startSession(); c = s.getDatabase('sessions').c; s.startTransaction(); c.insertOne({ _id: 1 }); [c.countDocuments(), db.c.countDocuments()]",
      '[ 2, 1 ]',
    ],
    ['s.abortTransaction(); db.c.countDocuments()', '1'],
    ['s.withTransaction(() => { c.insertOne({ _id: 2 }) }); db.c.countDocuments()', '2'],
    ['s.endSession()', ''],
    [
      'e = cs.tryNext(); [e.operationType, e.documentKey, e.fullDocument]',
      "[ 'insert', { _id: 2 }, { _id: 2 } ]",
    ],
    ['cs.close()', ''],
  ]));

test('validators, and what was refused', () =>
  talk([
    ['use validated', 'switched to db validated'],
    ["db.createCollection('c', { validator: { a: { $type: 'int' } } })", '{ ok: 1 }'],
    [
      "db.c.insertOne({ _id: 1, a: 'x' })",
      /Document failed validation Additional information: { failingDocumentId: 1, details: {/,
    ],
    ["db.runCommand({ collMod: 'c', validationLevel: 'off' })", '{ ok: 1 }'],
    ["db.c.insertOne({ _id: 1, a: 'x' })", '{ acknowledged: true, insertedId: 1 }'],
  ]));

test('users log in by themselves, and may do what their roles allow', async () => {
  await talk([
    ['use people', 'switched to db people'],
    ['db.c.insertOne({ _id: 1 }).acknowledged', 'true'],
    ["db.createUser({ user: 'ann', pwd: 'sécret', roles: ['read'] })", '{ ok: 1 }'],
    ["db.getUser('ann').roles", "[ { role: 'read', db: 'people' } ]"],
    ['show users', /_id: 'people.ann', userId: UUID\('[-0-9a-f]{36}'\), user: 'ann', db: 'people'/],
  ]);
  const account = '--username=ann --password=sécret --authenticationDatabase=people'.split(' ');
  const address = `mongodb://127.0.0.1:${server.port}/people`;
  const ann = await Shell.open(address, ...account, '--authenticationMechanism=SCRAM-SHA-1');
  await talk(
    [
      ['db.c.find()', '[ { _id: 1 } ]'],
      [
        'db.c.insertOne({ _id: 2 })',
        /MongoServerError\[Unauthorized\]: not authorized on people to execute command { insert: /,
      ],
      ['show dbs', /^people/],
      ["db.auth('ann', 'wrong')", /\[AuthenticationFailed\]: Authentication failed\.$/],
    ],
    ann,
  );
  await talk([
    ["db.grantRolesToUser('ann', ['readWrite'])", '{ ok: 1 }'],
    ["db.changeUserPassword('ann', 'other')", '{ ok: 1 }'],
  ]);
  await talk(
    [
      ["db.auth('ann', 'other')", '{ ok: 1 }'],
      ['db.c.insertOne({ _id: 2 }).acknowledged', 'true'],
    ],
    ann,
  );
  await ann.close();
  await talk([["db.dropUser('ann')", '{ ok: 1 }']]);
});

test('TLS, with the certificate of the server, as the service is connected to', async () => {
  const certificate = await fetch(`${server.mayfly.cosmos}_explorer/emulator.pem`);
  const file = join(tmpdir(), `mayfly-mongosh-${process.pid}.pem`);
  writeFileSync(file, await certificate.text());
  const key = encodeURIComponent(server.mayfly.key);
  const url = `mongodb://localhost:${key}@127.0.0.1:${server.port}/?ssl=true&replicaSet=globaldb&retrywrites=false&appName=@localhost@`;
  const secure = await Shell.open(url, `--tlsCAFile=${file}`);
  await talk(
    [
      ['db.hello().setName', 'globaldb'],
      ['rs.status().members[0].stateStr', 'PRIMARY'],
      ['db.c.insertOne({ _id: 1 }).acknowledged', 'true'],
      ['db.c.find()', '[ { _id: 1 } ]'],
    ],
    secure,
  );
  await secure.close();
});
