// The first rows of an order, page by page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SortedRow, SortedRows } from './sorted-rows.js';

const UP = [{ descending: false }];
const DOWN = [{ descending: true }];
const row = (key: string, identity: string): SortedRow => ({
  keys: [key],
  identity,
  text: () => `${key}${identity}`,
});

/** The texts of all pages of this size, each page being told of all rows anew. */
function pages(
  order: readonly { readonly descending: boolean }[],
  distinct: boolean,
  size: number,
  rows: readonly SortedRow[],
): readonly (readonly unknown[])[] {
  const all: unknown[][] = [];
  let after: ConstructorParameters<typeof SortedRows>[3];
  do {
    const best = new SortedRows(order, distinct, size, after);
    for (const each of rows) best.add(each);
    if (distinct && after) for (const each of rows) best.recall(each);
    const page: unknown[] = [];
    for (const kept of best.rows()) {
      if (!best.isRecalled(kept)) page.push(kept.text);
      best.passed(kept);
    }
    all.push(page);
    after = best.hasMore ? best.lastPassed : undefined;
  } while (after);
  return all;
}

const MIXED = [row('b', '1'), row('a', '2'), row('b', '0'), row('a', '1')];

test('rows come by key, and ties by identity in the direction of the first key', () => {
  assert.deepEqual(pages(UP, false, 9, MIXED), [['a1', 'a2', 'b0', 'b1']]);
  assert.deepEqual(pages(DOWN, false, 9, MIXED), [['b1', 'b0', 'a2', 'a1']]);
  assert.deepEqual(pages(UP, false, 3, MIXED), [['a1', 'a2', 'b0'], ['b1']]);
  assert.deepEqual(pages([], false, 2, [row('', 'y'), row('', 'x')]), [['x', 'y']]);
});

test('of equal rows the first counts, on whatever page the others would be', () => {
  const rows = [row('a', 'x'), row('c', 'x'), row('b', 'y'), row('d', 'z'), row('a', 'x')];
  assert.deepEqual(pages(UP, true, 9, rows), [['ax', 'by', 'dz']]);
  assert.deepEqual(pages(UP, true, 1, rows).flat(), ['ax', 'by', 'dz']);
  assert.deepEqual(pages(DOWN, true, 1, rows).flat(), ['dz', 'cx', 'by']);
});

test('far more rows than wanted are trimmed on the way', () => {
  const rows = Array.from({ length: 1000 }, (_, at) =>
    row(String((at * 7) % 1000).padStart(3, '0'), ''),
  );
  const [first] = pages(UP, false, 3, rows.slice(0, 500));
  const least = rows
    .slice(0, 500)
    .map(({ keys }) => keys[0])
    .sort();
  assert.deepEqual(first, least.slice(0, 3));
});
