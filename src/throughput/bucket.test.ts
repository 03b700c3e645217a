// The budget of one physical partition, by the millisecond.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Instant, instant } from '../time/instant.js';
import { Bucket } from './bucket.js';

const START = 1_000_000_000_000;
const at = (ms: number): Instant => instant(START + ms);

test('one second is kept, and no more', () => {
  const bucket = new Bucket(400, at(0));
  assert.equal(bucket.waitMs(at(60_000)), undefined);
  bucket.spend(400, at(60_000));
  assert.equal(bucket.waitMs(at(60_000)), 1);
  assert.equal(bucket.waitMs(at(60_001)), undefined);
});

test('a debt is paid off before anybody is let in, to the millisecond', () => {
  const bucket = new Bucket(400, at(0));
  bucket.spend(1000, at(0));
  assert.equal(bucket.waitMs(at(0)), 1501);
  assert.equal(bucket.waitMs(at(1500)), 1);
  assert.equal(bucket.waitMs(at(1501)), undefined);
});

test('over a long time exactly what is provisioned is spent', () => {
  const bucket = new Bucket(400, at(0));
  let spent = 0;
  for (let ms = 0; ms < 100_000; ms++) {
    if (bucket.waitMs(at(ms)) !== undefined) continue;
    bucket.spend(7.3, at(ms));
    spent += 7.3;
  }
  assert.ok(Math.abs(spent - 400 * 101) < 8, String(spent));
});

test('a clock that is set back starves nobody', () => {
  const bucket = new Bucket(400, at(0));
  bucket.spend(400, at(0));
  bucket.waitMs(at(-10_000));
  assert.equal(bucket.waitMs(at(-9_999)), undefined);
});

test('a new rate acts at once, and forgives no debt', () => {
  const bucket = new Bucket(400, at(0));
  bucket.spend(800, at(0));
  bucket.resize(4000, at(0));
  assert.equal(bucket.waitMs(at(0)), 101);
  const lower = new Bucket(4000, at(0));
  lower.resize(400, at(0));
  lower.spend(401, at(0));
  assert.equal(lower.waitMs(at(0)), 3);
});

test('those who are turned away come back one by one, within a second', () => {
  const bucket = new Bucket(400, at(0));
  for (let count = 0; count < 50; count++) bucket.spend(8, at(0));
  const waits = Array.from({ length: 100 }, () => bucket.refuse(at(0)));
  assert.equal(waits[0], 1);
  assert.ok(Math.abs((waits[10] ?? 0) - 200) < 10, String(waits[10]));
  assert.ok(waits.every((wait, index) => wait >= (waits[index - 1] ?? 0)));
  assert.equal(waits.at(-1), 1001);
  bucket.spend(8, at(5000));
  assert.equal(bucket.waitMs(at(5000)), undefined);
});

test('requests under way count by what requests cost of late', () => {
  const bucket = new Bucket(400, at(0));
  for (let count = 0; count < 40; count++) bucket.spend(8, at(0));
  const releases: (() => void)[] = [];
  while (bucket.waitMs(at(0)) === undefined) releases.push(bucket.hold());
  assert.ok(releases.length >= 10 && releases.length <= 11, String(releases.length));
  releases.pop()?.();
  assert.equal(bucket.waitMs(at(0)), undefined);
  for (const release of releases) release();
  assert.equal(bucket.level(at(0)), 80);
});

// T16: what is left over

test('T16: what the full bucket has no room for is left over, second by second', () => {
  const bucket = new Bucket(400, at(0));
  assert.equal(bucket.leftover(at(0)), 0);
  assert.equal(bucket.leftover(at(500)), 200);
  bucket.spendLeftover(150, at(500));
  assert.equal(bucket.leftover(at(1000)), 250);
  assert.ok(bucket.leftover(at(1001)) < 1);
  assert.equal(Math.round(bucket.leftover(at(1250))), 100);
  assert.equal(Math.round(bucket.leftover(at(9250))), 100);
});

test('T16: what requests use is not left over', () => {
  const bucket = new Bucket(400, at(0));
  bucket.spend(100, at(0));
  assert.equal(bucket.leftover(at(250)), 0);
  assert.equal(bucket.leftover(at(300)), 20);
});

test('T16: while requests are refused nothing is left over', () => {
  const bucket = new Bucket(400, at(0));
  assert.equal(bucket.leftover(at(500)), 200);
  bucket.spend(500, at(500));
  assert.ok(bucket.waitMs(at(500)));
  bucket.refuse(at(500));
  assert.equal(bucket.leftover(at(999)), 0);
});

test('T16: the purge takes nothing from requests, and pays its debts from leftovers', () => {
  const bucket = new Bucket(400, at(0));
  bucket.leftover(at(100));
  bucket.spendLeftover(300, at(100));
  assert.equal(bucket.waitMs(at(100)), undefined);
  bucket.spend(399, at(100));
  assert.equal(bucket.waitMs(at(100)), undefined, 'one unit is still there');
  assert.equal(bucket.leftover(at(1000)), 0);
  // Full at 1097 ms and a half; 260 are owed, which takes 650 ms more.
  assert.equal(bucket.leftover(at(1747)), 0);
  assert.ok(bucket.leftover(at(1750)) > 0);
  assert.ok(bucket.leftover(at(1760)) < 6);
});

test('low priority may use everything, and stands back for a second when high is turned away', () => {
  const bucket = new Bucket(400, at(0));
  assert.equal(bucket.waitMs(at(0), 'low'), undefined);
  bucket.spend(400, at(0));
  bucket.refuse(at(0), 'low');
  assert.equal(bucket.waitMs(at(10), 'low'), undefined, 'nobody of high priority was refused');
  bucket.spend(4, at(10));
  bucket.refuse(at(10), 'high');
  assert.equal(bucket.waitMs(at(11)), undefined);
  assert.equal(bucket.waitMs(at(11), 'low'), 999);
  assert.equal(bucket.refuse(at(11), 'low') >= 999, true);
  assert.equal(bucket.waitMs(at(1009), 'low'), 1);
  assert.equal(bucket.waitMs(at(1010), 'low'), undefined);
});
