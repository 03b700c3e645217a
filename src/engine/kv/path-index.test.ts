// The entries of documents in the index over paths.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Random,
  randomInteger,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../value/random.suite.js';
import type { Indexing, IndexPath } from '../indexing.js';
import { serialAtEnd } from './keys.js';
import {
  changedEntries,
  compositePrefix,
  pathEntries,
  pathPrefix,
  versionPrefix,
} from './path-index.js';

const SLOT = 3;
const ALL: Indexing = {
  version: 2,
  rules: [{ path: [], below: true, include: true }],
  composites: [],
  words: [],
  points: [],
  lazy: false,
};

function entriesAt(path: IndexPath, document: unknown, indexing = ALL): number {
  const prefix = pathPrefix(SLOT, indexing.version, path);
  const keys = pathEntries(SLOT, indexing, document, 9);
  return keys.filter((key) => key.subarray(0, prefix.length).equals(prefix)).length;
}

test('every value has one entry, and equal elements of an array share theirs', () => {
  const document = { a: 1, o: { b: null }, list: [1, 1, 2, { k: 1 }, { k: 1 }] };
  const rows: readonly [IndexPath, number][] = [
    [['a'], 1],
    [['o'], 1],
    [['o', 'b'], 1],
    [['list'], 1],
    [['list', null], 3],
    [['list', null, 'k'], 1],
    [['missing'], 0],
  ];
  for (const [path, count] of rows) assert.equal(entriesAt(path, document), count, path.join('/'));
  const keys = pathEntries(SLOT, ALL, document, 9);
  assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, keys.length);
  for (const key of keys) assert.equal(serialAtEnd(key), 9);
});

test('names of any characters are kept apart', () => {
  const rows: readonly [object, IndexPath][] = [
    [{ 'a\u0000b': 1 }, ['a', 'b']],
    [{ 'a\u0001': 1 }, ['a', null]],
    [{ 'a[]': 1 }, ['a', null]],
    [{ 'a1:b': 1 }, ['a', 'b']],
    [{ an1: { b: 1 } }, ['a', 'b']],
    [{ '\ud800': 1 }, ['\ud801']],
  ];
  for (const [document, path] of rows) {
    assert.equal(entriesAt(path, document), 0, JSON.stringify(document));
  }
  assert.equal(entriesAt(['\ud800'], { '\ud800': 1 }), 1);
});

test('what is included by name has an entry when it is missing', () => {
  const named = { ...ALL, rules: [{ path: ['a', 'b'], below: false, include: true }] };
  assert.equal(entriesAt(['a', 'b'], {}, named), 1);
  assert.equal(entriesAt(['a', 'b'], { a: { b: 1 }, c: 1 }, named), 1);
  assert.equal(entriesAt(['c'], { c: 1 }, named), 0);
});

test('a composite has one entry for every document, in its order', () => {
  const composites = [
    [
      { path: ['a'], descending: true },
      { path: ['b'], descending: false },
    ],
  ];
  const indexing = { ...ALL, composites };
  const prefix = compositePrefix(SLOT, 2, 0);
  const keyOf = (document: unknown, serial: number) =>
    pathEntries(SLOT, indexing, document, serial).filter((key) =>
      key.subarray(0, prefix.length).equals(prefix),
    )[0];
  // Kept with its first path ascending: the whole is read downwards.
  const sorted = [{}, { b: 1 }, { b: 0 }, { a: 1, b: 'x' }, { a: 1 }, { a: 2, b: 5 }];
  const keys = sorted.map((document, at) => keyOf(document, at) ?? Buffer.of());
  const wanted = [keys[1], keys[2], keys[0], ...keys.slice(3)];
  assert.deepEqual([...keys].sort(Buffer.compare), wanted);
});

test('versions do not meet', () => {
  const [key] = pathEntries(SLOT, ALL, { a: 1 }, 9);
  const prefixes = [1, 2, 3].map((version) => versionPrefix(SLOT, version));
  assert.deepEqual(
    prefixes.map((prefix) => key?.subarray(0, prefix.length).equals(prefix)),
    [false, true, false],
  );
  assert.deepEqual(pathEntries(SLOT, { ...ALL, rules: [] }, { a: 1 }, 9), []);
});

const POLICIES: readonly [Indexing, ...Indexing[]] = [
  ALL,
  {
    ...ALL,
    rules: [
      { path: [], below: true, include: false },
      { path: ['a'], below: true, include: true },
      { path: ['b', 'c'], below: false, include: true },
      { path: ['list', null], below: false, include: true },
    ],
  },
  {
    ...ALL,
    rules: [...ALL.rules, { path: ['b'], below: true, include: false }],
    composites: [
      [
        { path: ['a'], descending: false },
        { path: ['b', 'c'], descending: true },
      ],
    ],
  },
];

function randomPart(random: Random, depth: number): unknown {
  const roll = randomInteger(random, depth > 0 ? 8 : 5);
  if (roll < 3) return randomInteger(random, 3);
  if (roll === 3) return randomPick(random, ['', 'x', 'y'.repeat(2000), `${'y'.repeat(2000)}z`]);
  if (roll === 4) return randomPick(random, [null, true, false]);
  const parts = Array.from({ length: randomInteger(random, 4) }, () =>
    randomPart(random, depth - 1),
  );
  if (roll === 5) return parts;
  return Object.fromEntries(parts.map((part) => [randomPick(random, ['a', 'b', 'c']), part]));
}

function randomDocument(random: Random): Record<string, unknown> {
  const names = ['a', 'b', 'list', '__proto__', 'other'] as const;
  const chosen = names.filter(() => random() < 0.8);
  return JSON.parse(
    `{${chosen.map((name) => `"${name}":${JSON.stringify(randomPart(random, 3))}`).join()}}`,
  );
}

test('what changes between two versions turns the entries of one into those of the other', () => {
  const seed = seedFromEnvironment();
  const random = seededRandom(seed);
  for (let round = 0; round < 3000; round++) {
    const indexing = randomPick(random, POLICIES);
    const before = randomDocument(random);
    const changed = randomDocument(random);
    // Most replaced documents differ in few places.
    const after = random() < 0.5 ? changed : { ...before, a: changed.a ?? 1, list: before.list };
    const after2 = JSON.parse(JSON.stringify(after));
    const names = (document: unknown) =>
      new Set(pathEntries(SLOT, indexing, document, 9).map((key) => key.toString('hex')));
    const { gone, come } = changedEntries(SLOT, indexing, before, after2, 9);
    const entries = names(before);
    for (const key of gone) assert(entries.delete(key.toString('hex')), 'gone, but was not there');
    for (const key of come) entries.add(key.toString('hex'));
    assert.deepEqual([...entries].sort(), [...names(after2)].sort(), `SEED=${seed}`);
  }
});

test('a version like the last one changes nothing', () => {
  const document = { a: [1, { b: 2 }], c: { d: 'x' } };
  const copy = structuredClone(document);
  assert.deepEqual(changedEntries(SLOT, ALL, document, copy, 9), { gone: [], come: [] });
});
