// Commands of somebody who has logged in, with values that nobody would give and with damaged
// bytes: each is answered, or refused with a code that is no defect, and the server stays up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BSONRegExp,
  Decimal128,
  type Document,
  deserialize,
  Long,
  MaxKey,
  MinKey,
  Timestamp,
} from 'bson';
import {
  fuzzed,
  type Random,
  randomInteger,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../src/value/random.suite.js';
import { type Any, serveMongo } from './support.suite.js';
import { Line, login, message, OP } from './wire.suite.js';

const server = await serveMongo();
const seed = seedFromEnvironment();
/** A defect, which is logged. */
const INTERNAL_ERROR = 1;

const pipeline = [
  { $match: { a: { $gt: 1, $in: [1, 2] }, $expr: { $eq: ['$a', 2] } } },
  {
    $group: {
      _id: '$k',
      n: { $sum: '$a' },
      top: { $topN: { n: 1, sortBy: { a: 1 }, output: '$a' } },
    },
  },
  { $sort: { n: -1 } },
  {
    $lookup: {
      from: 'c',
      localField: 'a',
      foreignField: 'b',
      as: 'j',
      let: { x: '$a' },
      pipeline: [],
    },
  },
  {
    $project: {
      d: { $dateToString: { date: '$t', format: '%Y' } },
      s: { $substrCP: ['$s', 0, 2] },
    },
  },
  { $limit: 5 },
];
const windows = [
  {
    $setWindowFields: {
      partitionBy: '$k',
      sortBy: { a: 1 },
      output: { s: { $sum: '$a', window: { documents: [-1, 'current'] } } },
    },
  },
  { $bucket: { groupBy: '$a', boundaries: [0, 5], default: 'x', output: { n: { $push: '$b' } } } },
  { $fill: { sortBy: { a: 1 }, output: { b: { method: 'linear' } } } },
  { $densify: { field: 'a', range: { step: 1, bounds: [0, 5] } } },
  {
    $facet: {
      one: [{ $unwind: { path: '$list', includeArrayIndex: 'i' } }],
      two: [{ $count: 'n' }],
    },
  },
];
const COMMANDS: readonly [Document, ...Document[]] = [
  {
    find: 'c',
    filter: { a: { $gt: 1 }, s: /x/i, list: { $elemMatch: { k: 1 } } },
    sort: { a: 1 },
    projection: { a: 1, list: { $slice: [1, 2] } },
    skip: 1,
    limit: 2,
    batchSize: 1,
    hint: { a: 1 },
    collation: { locale: 'en', strength: 2 },
    let: { v: 1 },
  },
  { insert: 'f', documents: [{ a: 1, b: [1, { c: 2 }] }, { _id: 5 }], ordered: false },
  {
    update: 'f',
    updates: [
      {
        q: { a: 1 },
        u: {
          $set: { 'b.$[e].c': 1 },
          $inc: { n: 1 },
          $push: { l: { $each: [1], $slice: 2, $sort: { a: 1 } } },
        },
        arrayFilters: [{ 'e.c': 1 }],
        upsert: true,
        multi: false,
        collation: { locale: 'en' },
      },
    ],
    ordered: true,
  },
  {
    update: 'f',
    updates: [
      { q: { a: 1 }, u: [{ $set: { z: { $add: ['$a', 1] } } }], upsert: true, c: { v: 1 } },
    ],
  },
  { delete: 'f', deletes: [{ q: { a: { $mod: [2, 1] } }, limit: 1, hint: '_id_' }] },
  {
    findAndModify: 'f',
    query: { a: 1 },
    sort: { a: 1 },
    update: { $set: { b: 1 } },
    new: true,
    upsert: true,
    fields: { a: 1 },
    arrayFilters: [],
  },
  { aggregate: 'c', pipeline, cursor: { batchSize: 1 }, let: { v: 1 }, allowDiskUse: true },
  { aggregate: 'c', pipeline: windows, cursor: {} },
  {
    aggregate: 'c',
    pipeline: [{ $changeStream: { fullDocument: 'updateLookup', resumeAfter: { _data: '00' } } }],
    cursor: {},
  },
  { count: 'c', query: { $or: [{ a: 1 }, { $nor: [{ b: 2 }] }] }, skip: 1, limit: 1 },
  { distinct: 'c', key: 'a.b', query: { a: { $bitsAllSet: [1, 5] } } },
  {
    createIndexes: 'i',
    indexes: [
      {
        key: { a: 1, b: -1 },
        name: 'x',
        unique: true,
        sparse: true,
        expireAfterSeconds: 5,
        partialFilterExpression: { a: { $gt: 1 } },
        collation: { locale: 'en' },
      },
    ],
  },
  {
    createIndexes: 'i',
    indexes: [
      { key: { t: 'text' }, name: 't', weights: { t: 2 }, default_language: 'english' },
      { key: { g: '2dsphere' }, name: 'g' },
    ],
  },
  {
    collMod: 'c',
    index: { name: 'a_1', expireAfterSeconds: 5, hidden: true },
    validator: { a: 1 },
    validationLevel: 'off',
  },
  {
    create: 'n',
    validator: {
      $jsonSchema: { required: ['a'], properties: { a: { bsonType: 'int', minimum: 1 } } },
    },
    validationAction: 'warn',
  },
  { explain: { find: 'c', filter: { a: 1 }, sort: { a: 1 } }, verbosity: 'executionStats' },
  { listCollections: 1, filter: { name: 'c' }, nameOnly: true, cursor: { batchSize: 1 } },
  { getMore: Long.fromNumber(5), collection: 'c', batchSize: 1 },
  { killCursors: 'c', cursors: [Long.fromNumber(5)] },
  { dropIndexes: 'i', index: ['x'] },
  {
    bulkWrite: 1,
    $db: 'admin',
    ops: [
      { insert: 0, document: { a: 1 } },
      { update: 0, filter: { a: 1 }, updateMods: { $set: { b: 1 } }, multi: true },
      { delete: 0, filter: {} },
    ],
    nsInfo: [{ ns: 'd.f' }],
    errorsOnly: false,
  },
  {
    createUser: 'u',
    pwd: 'x',
    roles: [{ role: 'read', db: 'd' }],
    mechanisms: ['SCRAM-SHA-256'],
    customData: { a: 1 },
  },
  { usersInfo: [{ user: 'u', db: 'd' }], filter: { user: 'u' } },
  {
    customAction: 'CreateCollection',
    collection: 'x',
    shardKey: 'a',
    indexes: [{ key: { _id: 1 }, name: '_id_1' }],
  },
  {
    hello: 1,
    client: { application: { name: 'x' } },
    topologyVersion: { processId: 1, counter: 1 },
    compression: ['zlib'],
  },
  {
    find: 'c',
    filter: {
      g: {
        $geoWithin: {
          $geometry: {
            type: 'Polygon',
            coordinates: [
              [
                [0, 0],
                [1, 0],
                [1, 1],
                [0, 0],
              ],
            ],
          },
        },
      },
    },
  },
  {
    find: 'c',
    filter: {
      g: { $near: { $geometry: { type: 'Point', coordinates: [0, 0] }, $maxDistance: 5 } },
      $text: { $search: 'a "b c" -d' },
    },
  },
  { endSessions: [{ id: 1 }] },
  { commitTransaction: 1, $db: 'admin', txnNumber: Long.fromNumber(1), autocommit: false },
];

const ODD: readonly [Any, ...Any[]] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  Number.NaN,
  Infinity,
  2 ** 31,
  2 ** 53,
  Long.MIN_VALUE,
  Long.MAX_VALUE,
  Decimal128.fromString('NaN'),
  Decimal128.fromString('1E+6144'),
  '',
  '$',
  '$$',
  '$a',
  '$$x',
  '.',
  'a.',
  'a..b',
  '\u0000',
  [],
  [[]],
  [null],
  {},
  { $x: 1 },
  { '': 1 },
  { a: { $gt: {} } },
  new Date(Number.NaN),
  new Date(8.64e15),
  new MinKey(),
  new MaxKey(),
  new Timestamp(0n),
  new BSONRegExp('('),
  /a/,
  Buffer.alloc(3),
  { $numberLong: '1' },
  '__proto__',
];
const NAMES: readonly [string, ...string[]] = [
  '',
  '$',
  '$set',
  '$expr',
  '__proto__',
  'constructor',
  'a.b',
  '0',
  '_id',
  '_ts',
];

/** A copy in which one value, name or element is something else. */
function mutated(random: Random, value: Any, depth = 0): Any {
  const isPlain =
    value !== null && typeof value === 'object' && !value._bsontype && !(value instanceof RegExp);
  if (!isPlain || (depth > 0 && random() < 0.2)) return randomPick(random, ODD);
  const keys = Object.keys(value);
  if (keys.length === 0) return randomPick(random, ODD);
  const key = keys[randomInteger(random, keys.length)] as string;
  if (Array.isArray(value)) {
    const copy = [...value];
    copy[Number(key)] = mutated(random, value[Number(key)], depth + 1);
    return copy;
  }
  const isCommand = depth === 0 && key === keys[0];
  const entries = Object.entries(value).map(([name, each]): [string, Any] => {
    if (name !== key) return [name, each];
    if (!isCommand && random() < 0.15) return [randomPick(random, NAMES), each];
    return [name, mutated(random, each, depth + 1)];
  });
  return Object.fromEntries(entries);
}

async function loggedIn(): Promise<Line> {
  const line = new Line(server.port);
  await login(line, 'mayfly', server.mayfly.key);
  return line;
}

function codeIn(bytes: Buffer | undefined): number {
  if (!bytes || bytes.readInt32LE(12) !== OP.message) return 0;
  return deserialize(bytes.subarray(21)).code ?? 0;
}

test(`odd values in commands (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const database = server.client.db('d');
  const line = await loggedIn();
  for (let round = 0; round < fuzzed(600); round++) {
    if (round % 100 === 0) {
      await database.dropDatabase();
      await database
        .collection('c')
        .insertMany([
          { a: 1, k: 1, s: 'x', list: [{ k: 1 }], t: new Date(0), g: [0, 0] },
          { a: 2 },
        ]);
      await database.collection('c').createIndex({ a: 1 });
    }
    let command = { $db: 'd', ...randomPick(random, COMMANDS) };
    for (let left = 1 + randomInteger(random, 2); left > 0; left--)
      command = mutated(random, command);
    let bytes: Buffer;
    try {
      bytes = message(command);
    } catch {
      continue;
    }
    line.send(bytes);
    const answer = await line.answer();
    assert.ok(answer, `seed ${seed}: closed after ${JSON.stringify(command)}`);
    assert.notEqual(codeIn(answer), INTERNAL_ERROR, `seed ${seed}: ${JSON.stringify(command)}`);
  }
  line.end();
});

test(`damaged bytes in commands (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  let line = await loggedIn();
  for (let round = 0; round < fuzzed(300); round++) {
    const bytes = message({ $db: 'd', ...randomPick(random, COMMANDS) });
    for (let left = 1 + randomInteger(random, 3); left > 0; left--) {
      // Behind the header: what it promises, it has.
      bytes[20 + randomInteger(random, bytes.length - 20)] = randomInteger(random, 256);
    }
    line.send(bytes);
    const answer = await line.answer();
    assert.notEqual(codeIn(answer), INTERNAL_ERROR, `seed ${seed}, round ${round}`);
    if (answer) continue;
    line.end();
    line = await loggedIn();
  }
  line.end();
  assert.equal((await server.client.db('d').command({ ping: 1 })).ok, 1);
});
