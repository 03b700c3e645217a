// Projections row by row.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize, EJSON } from 'bson';
import { compileFilter } from '../filter/filter.js';
import { bytesOf, documentFrom, PLAIN_LANGUAGE, type Plain } from '../language.suite.js';
import { Row } from '../row.js';
import { compileProjection } from './project.js';

const shown = (bytes: Uint8Array) => EJSON.stringify(deserialize(bytes, { promoteValues: false }));

type ProjectionRow = readonly [spec: Plain, before: Plain, after: Plain, filter?: Plain];

const both: readonly ProjectionRow[] = [
  [{ a: 1 }, { _id: 1, b: 2, a: 3 }, { _id: 1, a: 3 }],
  [
    { b: 1, a: 1 },
    { _id: 1, a: 3, b: 2 },
    { _id: 1, a: 3, b: 2 },
  ],
  [{ a: 1, _id: 0 }, { _id: 1, a: 3 }, { a: 3 }],
  [{ _id: 1 }, { _id: 1, a: 3 }, { _id: 1 }],
  [{ _id: 0 }, { _id: 1, a: 3 }, { a: 3 }],
  [{ a: 0 }, { _id: 1, a: 3, b: 2 }, { _id: 1, b: 2 }],
  [{ a: 0, _id: 0 }, { _id: 1, a: 3, b: 2 }, { b: 2 }],
  [{ 'a.b': 1 }, { _id: 1, a: { b: 1, c: 2 } }, { _id: 1, a: { b: 1 } }],
  [{ a: { b: 1 } }, { _id: 1, a: { b: 1, c: 2 } }, { _id: 1, a: { b: 1 } }],
  [{ 'a.b': 1 }, { a: [{ b: 1, c: 2 }, 5, [{ b: 2 }], {}] }, { a: [{ b: 1 }, [{ b: 2 }], {}] }],
  [{ 'a.b': 0 }, { a: [{ b: 1, c: 2 }, 5, [{ b: 2 }]] }, { a: [{ c: 2 }, 5, [{}]] }],
  [{ 'a.b': 1 }, { a: 5 }, {}],
  [{ 'a.b': 0 }, { a: 5 }, { a: 5 }],
  [
    { a: 1, x: '$b' },
    { _id: 1, b: 2, a: 3 },
    { _id: 1, a: 3, x: 2 },
  ],
  [{ x: { $add: ['$a', 1] } }, { _id: 1, a: 3 }, { _id: 1, x: 4 }],
  [{ a: 'text' }, { _id: 1, a: 3 }, { _id: 1, a: 'text' }],
  [
    { a: true, 'b.c': '$a' },
    { _id: 1, a: 1, b: { d: 1 } },
    { _id: 1, a: 1, b: { c: 1 } },
  ],
  [{ 'b.c': '$a' }, { a: 1, b: [{}, 5] }, { b: [{ c: 1 }, { c: 1 }] }],
  [
    { _id: '$a', b: 1 },
    { _id: 1, a: 7, b: 2 },
    { _id: 7, b: 2 },
  ],
  [{ x: '$$REMOVE', a: 1 }, { a: 1 }, { a: 1 }],
];

const findOnly: readonly ProjectionRow[] = [
  [{}, { _id: 1, a: 1 }, { _id: 1, a: 1 }],
  [{ a: { $slice: 1 } }, { _id: 1, a: [1, 2], b: 1 }, { _id: 1, a: [1], b: 1 }],
  [{ a: { $slice: -1 } }, { _id: 1, a: [1, 2] }, { _id: 1, a: [2] }],
  [
    { a: { $slice: [1, 1] }, b: 1 },
    { _id: 1, a: [1, 2], b: 1, c: 1 },
    { _id: 1, a: [2], b: 1 },
  ],
  [
    { a: { $slice: 1 }, b: 0 },
    { _id: 1, a: [1, 2], b: 1, c: 1 },
    { _id: 1, a: [1], c: 1 },
  ],
  [
    { a: { $elemMatch: { x: 2 } } },
    { _id: 1, a: [{ x: 1 }, { x: 2, y: 1 }], b: 1 },
    { _id: 1, a: [{ x: 2, y: 1 }] },
  ],
  [{ a: { $elemMatch: { $gt: 1 } } }, { _id: 1, a: [1] }, { _id: 1 }],
  [{ 'a.$': 1 }, { _id: 1, a: [1, 2, 3] }, { _id: 1, a: [2] }, { a: 2 }],
  [{ 'a.b.$': 1 }, { _id: 1, a: { b: [1, 2] } }, { _id: 1, a: { b: [2] } }, { 'a.b': { $gt: 1 } }],
];

for (const [spec, before, after, filter = {}] of [...both, ...findOnly]) {
  test(`find with ${JSON.stringify(spec)} on ${JSON.stringify(before)}`, () => {
    const compiled = compileFilter(documentFrom(filter), PLAIN_LANGUAGE);
    const { apply } = compileProjection(bytesOf(spec), PLAIN_LANGUAGE, 'find', compiled);
    assert.equal(shown(apply(Row.ofBytes(bytesOf(before))).bytes), shown(bytesOf(after)));
  });
}
for (const [spec, before, after] of both) {
  test(`$project ${JSON.stringify(spec)} on ${JSON.stringify(before)}`, () => {
    const { apply } = compileProjection(bytesOf(spec), PLAIN_LANGUAGE, '$project');
    assert.equal(shown(apply(Row.ofDocument(documentFrom(before))).bytes), shown(bytesOf(after)));
  });
}

const refused: readonly (readonly [spec: Plain, code: number, message: RegExp])[] = [
  [{ a: 1, b: 0 }, 31254, /^Cannot do exclusion on field b in inclusion projection$/],
  [{ a: 0, b: 1 }, 31253, /^Cannot do inclusion on field b in exclusion projection$/],
  [{ a: 0, b: '$x' }, 31252, /expression other than/],
  [{ a: 1, 'a.b': 1 }, 31249, /^Path collision at a.b remaining portion b$/],
  [{ 'a.b': 1, a: 1 }, 31250, /^Path collision at a$/],
  [{ a: {} }, 51270, /empty sub-projection/],
  [{ 'a..b': 1 }, 15998, /may not be empty/],
  [{ $a: 1 }, 16410, /may not start with '\$'/],
  [{ a: { $nope: 1 } }, 168, /^Unrecognized expression '\$nope'$/],
  [{ 'a.$': 1, 'b.$': 1 }, 31276, /more than one positional/],
  [{ 'a.b': { $elemMatch: {} } }, 31275, /nested field/],
];
for (const [spec, code, message] of refused) {
  test(`the projection ${JSON.stringify(spec)} is refused`, () => {
    assert.throws(() => compileProjection(bytesOf(spec), PLAIN_LANGUAGE, 'find'), {
      code,
      message,
    });
  });
}

test('the positional operator wants a match', () => {
  const compiled = compileFilter(documentFrom({}), PLAIN_LANGUAGE);
  const { apply } = compileProjection(bytesOf({ 'a.$': 1 }), PLAIN_LANGUAGE, 'find', compiled);
  assert.throws(() => apply(Row.ofBytes(bytesOf({ a: [1] }))), { code: 51246 });
});
