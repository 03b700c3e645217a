// Prices of documents, against the published figures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexingOf } from '../catalog/index-rules.js';
import type { Container } from '../engine/engine.js';
import { docFromValue } from '../value/doc.js';
import {
  deleteCharge,
  feedCharge,
  type PageWork,
  pageCharge,
  purgeCharge,
  readCharge,
  scriptCharge,
  writeCharge,
} from './charges.js';
import { indexedValues } from './indexed-values.js';

const KB = 1024;
type Policy = Parameters<typeof indexingOf>[0];
const all = policy({ includedPaths: [{ path: '/*' }] });

function policy(changes: object): Policy {
  const empty = { includedPaths: [], excludedPaths: [{ path: '/"_etag"/?' }] };
  return { indexingMode: 'consistent', automatic: true, ...empty, ...changes } as Policy;
}

function box(rules: Policy = all, uniqueKeys = 0): Container {
  const unique = { name: 'u', paths: [], unique: true };
  const indexing = indexingOf(rules, 1);
  return { indexing, indexes: new Array(uniqueKeys).fill(unique) } as unknown as Container;
}

/** A document that a client sees as one of this size. */
function sized(kilobytes: number) {
  const system = { _rid: 'r', _self: 's', _etag: 'e', _attachments: 'a', _ts: 1 };
  const empty = { id: '1', pk: 'p', pad: '', ...system };
  const bytes = kilobytes * KB + 256 - JSON.stringify(empty).length;
  return docFromValue({ ...empty, pad: 'x'.repeat(bytes) });
}

test('reading costs 1 for a kilobyte and 10 for a hundred', () => {
  assert.equal(readCharge(200), 1);
  assert.equal(readCharge(sized(1).bytes.length), 1);
  assert.equal(readCharge(sized(100).bytes.length), 10);
  assert.ok(readCharge(sized(2).bytes.length) > 1);
});

test('writing costs 5 for a kilobyte without an index and 50 for a hundred', () => {
  const none = box(policy({ indexingMode: 'none' }));
  assert.equal(writeCharge(none, sized(1), false), 5);
  assert.equal(writeCharge(none, sized(100), false), 50);
});

test('a small document with the default index costs between 5.5 and 7', () => {
  const charge = writeCharge(box(), sized(1), false);
  assert.ok(charge >= 5.5 && charge <= 6, String(charge));
  const person = { id: '1', pk: 'p', name: 'Ann', age: 3, town: 'Rome', _ts: 1 };
  assert.equal(writeCharge(box(), docFromValue(person), false), 6.2);
});

test('writes grow with the values that are indexed, and with unique keys', () => {
  const tags = Array.from({ length: 50 }, (_, index) => `tag-${index}`);
  const doc = docFromValue({ id: '1', pk: 'p', tags, _ts: 1 });
  const without = policy({ includedPaths: [{ path: '/*' }], excludedPaths: [{ path: '/tags/*' }] });
  const price = (container: Container) => writeCharge(container, doc, false);
  assert.equal(price(box()), 15.6);
  assert.equal(price(box(without)), 5.6);
  assert.equal(price(box(without, 2)), 6.2);
});

test('replacing costs half as much again as creating, deleting the same', () => {
  const created = writeCharge(box(), sized(1), false);
  assert.equal(writeCharge(box(), sized(1), true), Math.round(created * 150) / 100);
  assert.equal(deleteCharge(box(), sized(1)), created);
});

const COUNTED: readonly (readonly [string, object, number])[] = [
  ['everything but system properties', { includedPaths: [{ path: '/*' }] }, 7],
  ['one path', { includedPaths: [{ path: '/a/?' }], excludedPaths: [{ path: '/*' }] }, 3],
  ['a subtree', { includedPaths: [{ path: '/b/*' }], excludedPaths: [{ path: '/*' }] }, 4],
  ['elements', { includedPaths: [{ path: '/l/[]/?' }], excludedPaths: [{ path: '/*' }] }, 4],
  [
    'a branch of what is excluded',
    { includedPaths: [{ path: '/*' }, { path: '/b/c/?' }], excludedPaths: [{ path: '/b/*' }] },
    6,
  ],
  ['nothing', { indexingMode: 'none' }, 0],
];

for (const [what, changes, count] of COUNTED) {
  test(`what is indexed is counted: ${what}`, () => {
    const value = { id: '1', a: 1, b: { c: 1, d: null }, l: [1, 2], _ts: 1, _rid: 'r', _self: 's' };
    assert.equal(indexedValues(indexingOf(policy(changes), 1), value), count);
  });
}

test('pages cost what one page would, however they are cut', () => {
  const work: PageWork = { documents: 10, documentBytes: 9000, answerBytes: 9000, ranges: 1 };
  const tenfold = { documents: 100, documentBytes: 90_000, answerBytes: 90_000, ranges: 1 };
  let sum = 0;
  for (let page = 0; page < 10; page++) sum += pageCharge(work, page === 0);
  assert.ok(Math.abs(sum - pageCharge(tenfold, true)) < 0.1, String(sum));
});

test('a query costs more by all that it does', () => {
  const least: PageWork = { documents: 0, documentBytes: 0, answerBytes: 0, ranges: 1 };
  const price = (more: Partial<PageWork>) => pageCharge({ ...least, ...more }, true);
  assert.equal(price({}), 2.3);
  assert.equal(price({ ranges: 3 }), 6.9);
  for (const more of [
    { documents: 10 },
    { documentBytes: 100 * KB },
    { answerBytes: 100 * KB },
    { functionCalls: 10 },
    { indexes: 1 },
  ]) {
    assert.ok(price(more) > 2.3, JSON.stringify(more));
  }
  assert.equal(pageCharge(least, false), 0.01);
});

test('an empty feed page is a look-up; scripts sum up; purging costs what reading would', () => {
  assert.equal(feedCharge(0, 0), 1);
  assert.equal(scriptCharge(12.4, 0), 13.4);
  assert.ok(scriptCharge(0, 100) > scriptCharge(0, 10));
  assert.equal(purgeCharge(10, 10 * KB), 10);
  assert.equal(purgeCharge(0, 0), 0);
});
