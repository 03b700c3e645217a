// When items die: the nine cells, the boundary to the millisecond, and the values that are taken.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, MayflyError } from '../value/errors.js';
import {
  checkDefaultTtl,
  checkItemTtl,
  cosmosFuses,
  cosmosRules,
  type DefaultTtl,
  dueAt,
  type ExpiryRule,
  type Fuse,
  isLive,
  TTL_MAX_SECONDS,
} from './expiry.js';
import { instant, LAST_INSTANT } from './instant.js';

const TS = 1_900_000_000;
const REFUSED = [null, 0, -2, 1.5, '60', 2_147_483_648, true, {}];

function dueOf(ttl: unknown, defaultTtl: DefaultTtl): number | undefined {
  return dueAt(cosmosFuses(ttl, TS), cosmosRules(defaultTtl));
}

test('T1: the nine cells', () => {
  const own = (TS + 20) * 1000;
  const byDefault = (TS + 90) * 1000;
  const cells: readonly (readonly [unknown, DefaultTtl, number | undefined])[] = [
    [undefined, undefined, undefined],
    [undefined, -1, undefined],
    [undefined, 90, byDefault],
    [-1, undefined, undefined],
    [-1, -1, undefined],
    [-1, 90, undefined],
    [20, undefined, undefined],
    [20, -1, own],
    [20, 90, own],
  ];
  for (const [ttl, defaultTtl, due] of cells) {
    assert.equal(dueOf(ttl, defaultTtl), due, `ttl ${ttl}, defaultTtl ${defaultTtl}`);
  }
  assert.equal(dueOf(200, 90), (TS + 200) * 1000, 'an own ttl may be longer than the default');
});

test('T2: live one millisecond before, expired at that millisecond and after', () => {
  for (const [ttl, defaultTtl, seconds] of [
    [20, -1, 20],
    [20, 90, 20],
    [undefined, 90, 90],
    [1, 90, 1],
    [undefined, TTL_MAX_SECONDS, TTL_MAX_SECONDS],
  ] as const) {
    const fuses = cosmosFuses(ttl, TS);
    const rules = cosmosRules(defaultTtl);
    const due = (TS + seconds) * 1000;
    const live = [-1, 0, 1].map((offset) => isLive(fuses, rules, instant(due + offset)));
    assert.deepEqual(live, [true, false, false], `ttl ${ttl}, defaultTtl ${defaultTtl}`);
    assert.equal(isLive(fuses, rules, instant(TS * 1000)), true);
  }
});

test('T7, T9: rules change what existing fuses mean, and nothing else does', () => {
  const own = cosmosFuses(20, TS);
  const inherited = cosmosFuses(undefined, TS);
  const late = instant((TS + 50) * 1000);
  const state = (defaultTtl: DefaultTtl) =>
    [own, inherited].map((fuses) => isLive(fuses, cosmosRules(defaultTtl), late));
  assert.deepEqual(state(undefined), [true, true]);
  assert.deepEqual(state(-1), [false, true]);
  assert.deepEqual(state(40), [false, false]);
  assert.deepEqual(state(60), [false, true]);
  assert.deepEqual(state(undefined), [true, true], 'off again: both are back');
});

test('T20: defaultTtl is off, -1 or a number of seconds; the rest is refused by its value', () => {
  for (const off of [undefined, null]) assert.equal(checkDefaultTtl(off), undefined);
  for (const value of [-1, 1, 60, TTL_MAX_SECONDS - 1, TTL_MAX_SECONDS]) {
    assert.equal(checkDefaultTtl(value), value);
  }
  for (const value of [0, -0, -2, -10, 1.5, 0.5, '60', '', true, false, {}, [], [60]]) {
    refuses(() => checkDefaultTtl(value), 'defaultTtlInvalid', value);
  }
  for (const value of [TTL_MAX_SECONDS + 1, 2 ** 53, -(2 ** 31)]) {
    refuses(() => checkDefaultTtl(value), 'defaultTtlInvalid', value);
  }
});

test('T21: an item of a container with TTL on may say nothing, -1 or a number of seconds', () => {
  for (const defaultTtl of [-1, 60]) {
    for (const ttl of [undefined, -1, 1, 20.0, TTL_MAX_SECONDS]) checkItemTtl(ttl, defaultTtl);
    for (const ttl of REFUSED) refuses(() => checkItemTtl(ttl, defaultTtl), 'ttlInvalid', ttl);
  }
});

test('T22: with TTL off anything goes, and counts as absent when TTL comes on', () => {
  for (const ttl of REFUSED) {
    checkItemTtl(ttl, undefined);
    assert.equal(dueOf(ttl, undefined), undefined);
    assert.equal(dueOf(ttl, -1), undefined, JSON.stringify(ttl));
    assert.equal(dueOf(ttl, 90), (TS + 90) * 1000, JSON.stringify(ttl));
  }
});

test('T23: the longest ttl is exact, in 2038, in 2106 and at the end of time', () => {
  for (const seconds of [0, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, LAST_INSTANT / 1000]) {
    const written = Math.floor(seconds);
    const due = (written + TTL_MAX_SECONDS) * 1000;
    for (const [ttl, defaultTtl] of [
      [TTL_MAX_SECONDS, -1],
      [undefined, TTL_MAX_SECONDS],
    ] as const) {
      const fuses = cosmosFuses(ttl, written);
      const rules = cosmosRules(defaultTtl);
      assert.equal(dueAt(fuses, rules), due);
      assert.ok(Number.isSafeInteger(due));
      assert.equal(isLive(fuses, rules, instant(due - 1)), true);
      assert.equal(isLive(fuses, rules, instant(due)), false);
    }
  }
});

test('the earliest of several fuses counts, under the enabled rules alone', () => {
  const fuses: readonly Fuse[] = [
    { rule: 'a', at: instant(1000) },
    { rule: 'b', at: instant(500) },
    { rule: 'b', at: instant(700) },
  ];
  const rules = (a: boolean, b: boolean): readonly ExpiryRule[] => [
    { name: 'a', lagMs: 100, enabled: a },
    { name: 'b', lagMs: 1000, enabled: b },
    { name: 'c', lagMs: 0, enabled: true },
  ];
  assert.equal(dueAt(fuses, rules(true, true)), 1100);
  assert.equal(dueAt(fuses, rules(false, true)), 1500);
  assert.equal(dueAt(fuses, rules(false, false)), undefined);
  assert.equal(dueAt(fuses, []), undefined);
  assert.equal(dueAt([], rules(true, true)), undefined);
  assert.equal(isLive([], rules(true, true), LAST_INSTANT), true);
});

function refuses(run: () => unknown, code: ErrorCode, value: unknown): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof MayflyError, `not an expected failure: ${String(error)}`);
    assert.equal(error.code, code);
    assert.equal(error.kind.status, 400);
    assert.ok(error.message.includes(`'${JSON.stringify(value)}'`), error.message);
    assert.ok(error.message.includes("'2147483647'"), error.message);
    return true;
  });
}
