// Index path against full scan where indexes give the order, over arrays and over several fields,
// while documents expire under a clock that moves on; and against mingo, which does not look into
// arrays behind arrays as the server does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Query } from 'mingo';
import type { Collection } from 'mongodb';
import {
  fuzzed,
  type Random,
  randomInteger,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../src/value/random.suite.js';
import { type Any, serveMongo } from './support.suite.js';

const server = await serveMongo();
const seed = seedFromEnvironment();
const DOCUMENTS = 200;
const SCALARS: readonly [Any, ...Any[]] = [0.5, 1.5, 2.5, -1.5, 'x', 'xy', 'y', '', true, false];

/** Values of fields, the indexes, and the paths that are asked about. */
interface Kind {
  readonly value: (random: Random) => Any;
  readonly keys: readonly Any[];
  readonly paths: readonly [string, ...string[]];
  readonly sorts: readonly [Any, ...Any[]];
}

const scalar = (random: Random): Any => randomPick(random, SCALARS);
const scalars: Kind = {
  value: (random) => (random() < 0.1 ? null : scalar(random)),
  keys: [{ a: 1, b: -1 }, { b: 1, c: 1, a: -1 }, { c: -1 }, { 'd.e': 1, a: 1 }],
  paths: ['a', 'b', 'c', 'd.e'],
  sorts: [
    ...([{ a: 1 }, { a: -1 }, { b: 1 }, { a: 1, b: -1 }, { a: -1, b: 1 }] as [Any, ...Any[]]),
    ...[{ b: -1 }, { b: 1, c: 1 }, { b: -1, c: -1 }, { c: 1, a: -1 }, { a: -1 }, { 'd.e': -1 }],
  ],
};
const arrays: Kind = {
  value: (random) =>
    random() < 0.4
      ? Array.from({ length: randomInteger(random, 3) }, () => scalar(random))
      : scalar(random),
  keys: [{ a: 1 }, { b: -1 }, { c: 1, _id: 1 }, { 'd.e': 1 }],
  paths: ['a', 'b', 'c', 'd.e'],
  sorts: [
    ...([{ a: 1 }, { a: -1 }, { b: 1 }, { b: -1 }] as [Any, ...Any[]]),
    ...[{ 'd.e': 1 }, { 'd.e': -1 }, { c: 1 }],
  ],
};

function randomDocument(random: Random, kind: Kind, _id: number): Any {
  const document: Any = { _id };
  for (const name of ['a', 'b', 'c']) {
    if (random() < 0.85) document[name] = kind.value(random);
  }
  const inner = () => (random() < 0.9 ? { e: kind.value(random) } : {});
  if (random() < 0.85) {
    document.d =
      kind === arrays && random() < 0.5
        ? Array.from({ length: randomInteger(random, 3) }, inner)
        : inner();
  }
  if (random() < 0.3) document.ttl = 1 + randomInteger(random, 60);
  return document;
}

function randomCondition(random: Random): Any {
  const operator = randomPick(random, ['$eq', '$gt', '$gte', '$lt', '$lte', '$in'] as const);
  if (operator === '$in') return { $in: [scalar(random), scalar(random)] };
  if (random() < 0.15) return { $regex: randomPick(random, ['^x', '^x?y', '^xy']) };
  const more = random() < 0.3 ? { $lte: scalar(random) } : {};
  return { [operator]: scalar(random), ...more };
}

function randomFilter(random: Random, { paths }: Kind, depth = 1): Any {
  if (depth > 0 && random() < 0.3) {
    const parts = Array.from({ length: 1 + randomInteger(random, 2) }, () =>
      randomFilter(random, { paths } as Kind, 0),
    );
    const more = random() < 0.5 ? { [randomPick(random, paths)]: randomCondition(random) } : {};
    return { $or: parts, ...more };
  }
  const filter: Any = {};
  for (let left = randomInteger(random, 2); left >= 0; left--) {
    filter[randomPick(random, paths)] = randomCondition(random);
  }
  if (random() < 0.2) {
    filter.d = { $elemMatch: { e: randomCondition(random) } };
  }
  return random() < 0.2 ? {} : filter;
}

async function pairOf(kind: Kind, documents: readonly Any[]): Promise<readonly Collection<Any>[]> {
  const database = server.database();
  const [plain, indexed] = [database.collection<Any>('p'), database.collection<Any>('i')];
  await indexed.createIndexes(kind.keys.map((key) => ({ key })));
  for (const collection of [plain, indexed]) {
    await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: -1 });
    await collection.insertMany(documents.map((document) => ({ ...document })));
  }
  return [plain, indexed];
}

const idsOf = (found: readonly Any[]) => found.map(({ _id }) => _id as number);
const ascending = (ids: readonly number[]) => [...ids].sort((x, y) => x - y);

/** What has its own time to live is alive until that is over. */
const isAlive = ({ ttl }: Any, ms: number) => ttl === undefined || ms < ttl * 1000;

for (const [name, kind] of [
  ['scalars', scalars],
  ['arrays', arrays],
] as const) {
  test(`T29: indexes over ${name} say what a full scan says (SEED=${seed})`, async () => {
    server.at(0);
    const random = seededRandom(seed);
    const documents = Array.from({ length: DOCUMENTS }, (_, id) =>
      randomDocument(random, kind, id),
    );
    const [plain, indexed] = await pairOf(kind, documents);
    assert.ok(plain && indexed);
    let ms = 0;
    for (let round = 0; round < fuzzed(60); round++) {
      ms += randomInteger(random, 500);
      server.at(ms);
      const filter = randomFilter(random, kind);
      const sort = randomPick(random, kind.sorts);
      const what = `${JSON.stringify(filter)} by ${JSON.stringify(sort)} at ${ms}`;
      const wanted = ascending(idsOf(await plain.find(filter).toArray()));
      if (kind === scalars || !JSON.stringify(filter).includes('"d')) {
        const query = new Query(filter);
        const alive = documents.filter((each) => isAlive(each, ms) && query.test(each));
        assert.deepEqual(wanted, idsOf(alive), `mingo: ${what}`);
      }
      const all = await indexed.find(filter).toArray();
      assert.deepEqual(ascending(idsOf(all)), wanted, what);
      assert.equal(await indexed.countDocuments(filter), wanted.length, `count: ${what}`);
      const sorted = async (collection: Collection<Any>, limit: number) =>
        await collection.find(filter, { sort, limit }).toArray();
      const scanned = await sorted(plain, 0);
      const found = await sorted(indexed, 0);
      assert.deepEqual(ascending(idsOf(found)), wanted, what);
      assert.deepEqual(
        found.map((each) => orderOf(each, sort)),
        scanned.map((each) => orderOf(each, sort)),
        what,
      );
      const first = await sorted(indexed, 5);
      assert.deepEqual(
        first.map((each) => orderOf(each, sort)),
        found.slice(0, 5).map((each) => orderOf(each, sort)),
        `first of ${what}`,
      );
    }
  });
}

/** What a document is sorted by: the least or the greatest, as text. */
function orderOf(document: Any, sort: Any): string {
  const keys = Object.entries(sort).map(([path, sign]) => {
    const values = valuesAt(document, path.split('.')).sort((x, y) => rank(x) - rank(y));
    const best = (sign as number) > 0 ? values[0] : values.at(-1);
    return best === EMPTY ? '[]' : JSON.stringify(best ?? null);
  });
  return keys.join();
}

const EMPTY = Symbol('an empty array');

function valuesAt(value: Any, [name, ...rest]: readonly string[]): Any[] {
  if (name === undefined) {
    if (!Array.isArray(value)) return [value ?? null];
    return value.length === 0 ? [EMPTY] : value;
  }
  if (Array.isArray(value)) {
    const below = value.flatMap((each) => valuesAt(each, [name, ...rest]));
    return below.length === 0 ? [null] : below;
  }
  return valuesAt(value?.[name], rest);
}

const ORDER: readonly Any[] = [EMPTY, null, -1.5, 0.5, 1.5, 2.5, '', 'x', 'xy', 'y', false, true];

function rank(value: Any): number {
  return ORDER.indexOf(value ?? null);
}
