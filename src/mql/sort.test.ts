// What documents are sorted by, arrays and missing fields included.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOf, documentFrom, PLAIN_LANGUAGE, type Plain } from './language.suite.js';
import { compileSort } from './sort.js';

const orders: readonly (readonly [sort: Plain, documents: readonly Plain[]])[] = [
  // Each list is in order.
  [
    { a: 1 },
    [{ a: [] }, {}, { a: 1 }, { a: [2, 9] }, { a: 3 }, { a: 'x' }, { a: {} }, { a: true }],
  ],
  [{ a: -1 }, [{ a: 'x' }, { a: [2, 9] }, { a: 3 }, { a: 1 }, { a: null }, { a: [] }]],
  [{ 'a.b': 1 }, [{ a: [{ b: 5 }, {}] }, { a: [{ b: 1 }] }, { a: { b: 2 } }]],
  [{ 'a.1': 1 }, [{ a: [9, 1] }, { a: [1, 2] }]],
  [
    { a: 1, b: -1 },
    [
      { a: 1, b: 2 },
      { a: 1, b: 1 },
      { a: 2, b: 9 },
    ],
  ],
  // Through one array the elements count together: (1, 9) is before (1, 10) and (2, 0).
  [
    { 'a.x': 1, 'a.y': 1 },
    [
      {
        a: [
          { x: 1, y: 9 },
          { x: 2, y: 0 },
        ],
      },
      { a: [{ x: 1, y: 10 }] },
      { a: [{ x: 2, y: 0 }] },
    ],
  ],
  [
    { 'a.x': 1, 'a.y': -1 },
    [
      {
        a: [
          { x: 1, y: 3 },
          { x: 1, y: 5 },
        ],
      },
      { a: [{ x: 1, y: 4 }, { x: 1 }] },
    ],
  ],
  [{ a: 1, 'a.x': 1 }, [{ a: [1, 2] }, { a: [{ x: 1 }, { x: 2 }] }]],
];
for (const [spec, documents] of orders) {
  test(`sort by ${JSON.stringify(spec)}`, () => {
    const sort = compileSort(documentFrom(spec), PLAIN_LANGUAGE);
    const keys = documents.map((document) => sort.keys(bytesOf(document)));
    keys.forEach((key, at) => {
      const next = keys[at + 1];
      if (next) assert.ok(sort.compare(key, next) < 0, JSON.stringify(documents[at]));
    });
  });
}

test('two arrays side by side cannot be sorted by', () => {
  const sort = compileSort(documentFrom({ a: 1, b: 1 }), PLAIN_LANGUAGE);
  assert.throws(() => sort.keys(bytesOf({ a: [1, 2], b: [1, 2] })), { code: 2 });
});

const refused: readonly (readonly [spec: Plain, code: number])[] = [
  [{ a: 2 }, 15975],
  [{ a: 'x' }, 15974],
  [{ 'a..b': 1 }, 15998],
  [{ $a: 1 }, 16410],
  [{ $natural: 0 }, 2],
  [{ a: { $meta: 'nope' } }, 17312],
  [Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`f${at}`, 1])), 2],
];
for (const [spec, code] of refused) {
  test(`the sort ${JSON.stringify(spec).slice(0, 60)} is refused`, () => {
    assert.throws(() => compileSort(documentFrom(spec), PLAIN_LANGUAGE), { code });
  });
}
