// Physical ranges: they tile the space of keys without gap or overlap, at the start and after every
// growth, and each key stays within what its range came from.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectivePartitionKey } from '../value/partition-hash.js';
import type { PartitionHash } from '../value/partition-key.js';
import {
  randomInteger,
  randomText,
  seededRandom,
  seedFromEnvironment,
} from '../value/random.suite.js';
import { grownRanges, newRanges, type PartitionRange, splitRanges } from './ranges.js';

const HASHES: readonly PartitionHash[] = ['v1', 'v2', 'multi'];
const HALF = '1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF';
const KEYS = 500;

test('one range is the whole space', () => {
  for (const hash of HASHES) {
    assert.deepEqual(newRanges(1, hash), [{ id: 0, from: '', to: 'FF', parents: [] }]);
  }
});

test('new ranges tile the space evenly and have no parents', () => {
  for (const hash of HASHES) {
    for (const count of [1, 2, 3, 7, 10, 64, 100]) {
      const ranges = newRanges(count, hash);
      assertTiles(ranges, count);
      assert.deepEqual(
        ranges.map((range) => range.id),
        ranges.map((_, index) => index),
      );
      assert.ok(ranges.every((range) => range.parents.length === 0));
    }
  }
  assert.equal(newRanges(2, 'v2')[0]?.to, HALF);
});

test('there are a hundred ranges at the most', () => {
  for (const hash of HASHES) {
    assertTiles(newRanges(5000, hash), 100);
    assertTiles(grownRanges(newRanges(1, hash), 5000, hash), 100);
  }
});

test('a split halves the range, and its halves name it as their parent', () => {
  assert.deepEqual(grownRanges(newRanges(1, 'v2'), 2, 'v2'), [
    { id: 1, from: '', to: HALF, parents: [0] },
    { id: 2, from: HALF, to: 'FF', parents: [0] },
  ]);
  const four = grownRanges(grownRanges(newRanges(1, 'v2'), 2, 'v2'), 4, 'v2');
  assert.deepEqual(
    four.map(({ id, parents }) => [id, parents]),
    [
      [3, [0, 1]],
      [4, [0, 1]],
      [5, [0, 2]],
      [6, [0, 2]],
    ],
  );
});

test('growth tiles, gives fresh ids, and splits the oldest first', () => {
  for (const hash of HASHES) {
    let ranges = newRanges(3, hash);
    const gone = new Set<number>();
    for (const count of [3, 4, 5, 9, 12, 13, 40]) {
      const before = ranges;
      ranges = grownRanges(before, count, hash);
      assertTiles(ranges, count);
      const ids = ranges.map((range) => range.id);
      for (const { id } of before) if (!ids.includes(id)) gone.add(id);
      assert.ok(ids.every((id) => !gone.has(id)));
      const generations = ranges.map((range) => range.parents.length);
      assert.ok(Math.max(...generations) - Math.min(...generations) <= 1);
    }
  }
});

test('one range is split, or each of them, as long as there is room between its ends', () => {
  for (const hash of HASHES) {
    const three = newRanges(3, hash);
    assertTiles(splitRanges(three, undefined, hash), 6);
    const [first, , , fourth] = splitRanges(three, 1, hash);
    assert.deepEqual([first?.id, fourth?.id], [0, 2]);
    assert.throws(() => splitRanges(three, 7, hash), { code: 'invalidInput' });
    assert.throws(() => splitRanges(newRanges(51, hash), undefined, hash), /at most 100/);
  }
  let ranges = newRanges(1, 'v1');
  const narrow = () => {
    for (let times = 0; times < 40; times++) ranges = splitRanges(ranges, ranges[0]?.id, 'v1');
  };
  assert.throws(narrow, /too narrow/);
  assert.equal(ranges[0]?.from, '');
  assert.equal(ranges.at(-1)?.to, 'FF');
});

test('ranges never merge', () => {
  const ranges = newRanges(5, 'v2');
  for (const count of [0, 1, 4, 5]) assert.deepEqual(grownRanges(ranges, count, 'v2'), ranges);
});

test('a key is in one range, and after growth in a descendant of it', (t) => {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (const hash of HASHES) {
    const before = newRanges(1 + randomInteger(random, 20), hash);
    const after = grownRanges(before, before.length + randomInteger(random, 60), hash);
    for (let round = 0; round < KEYS; round++) {
      const epk = effectivePartitionKey([randomText(random)], hash);
      const [old, now] = [holderOf(before, epk), holderOf(after, epk)];
      assert.ok(now.id === old.id || now.parents.includes(old.id), `SEED=${seed} ${hash} ${epk}`);
    }
  }
});

function holderOf(ranges: readonly PartitionRange[], epk: string): PartitionRange {
  const holders = ranges.filter((range) => range.from <= epk && epk < range.to);
  const [holder] = holders;
  assert.equal(holders.length, 1, epk);
  assert.ok(holder !== undefined);
  return holder;
}

function assertTiles(ranges: readonly PartitionRange[], count: number): void {
  assert.equal(ranges.length, count);
  assert.equal(ranges[0]?.from, '');
  assert.equal(ranges.at(-1)?.to, 'FF');
  ranges.forEach((range, index) => {
    assert.ok(range.from < range.to, `${range.from} is not before ${range.to}`);
    if (index > 0) assert.equal(range.from, ranges[index - 1]?.to);
  });
  assert.equal(new Set(ranges.map((range) => range.id)).size, count);
}
