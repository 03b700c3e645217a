// Updates row by row: what a document becomes, or why not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal128, Double, deserialize, EJSON, Long, Timestamp } from 'bson';
import { isArray, type Value } from '../../value/bson/value.js';
import { compileFilter } from '../filter/filter.js';
import { bytesOf, documentFrom, PLAIN_LANGUAGE, type Plain, valueFrom } from '../language.suite.js';
import { type CompiledUpdate, compileUpdate } from './update.js';

interface Options {
  readonly filter?: Plain;
  readonly arrayFilters?: readonly Plain[];
  readonly multi?: boolean;
}

function compiled(update: Plain | readonly Plain[], options: Options): CompiledUpdate {
  const arrayFilters = valueFrom(options.arrayFilters ?? []);
  return compileUpdate({
    update: valueFrom(update) as Value,
    filter: compileFilter(documentFrom(options.filter ?? {}), PLAIN_LANGUAGE),
    arrayFilters: isArray(arrayFilters) ? arrayFilters : [],
    multi: options.multi ?? false,
    language: PLAIN_LANGUAGE,
  });
}

const shown = (document: Plain) => EJSON.stringify(document, { relaxed: false });
const shownBytes = (bytes: Uint8Array) =>
  shown(deserialize(bytes, { promoteValues: false, bsonRegExp: true }));
/** The order of fields counts, so documents are compared as bytes, and shown where they differ. */
function assertSame(actual: Uint8Array, expected: Plain): void {
  if (Buffer.compare(actual, bytesOf(expected)) === 0) return;
  assert.equal(shownBytes(actual), shownBytes(bytesOf(expected)));
  assert.fail('the bytes differ');
}

const long = (value: number | string) => Long.fromString(String(value));
const decimal = (text: string) => Decimal128.fromString(text);
const double = (value: number) => new Double(value);

type Row = readonly [
  update: Plain | readonly Plain[],
  before: Plain,
  after: Plain,
  options?: Options,
];

const rows: readonly Row[] = [
  [{ $set: { a: 1 } }, { _id: 1 }, { _id: 1, a: 1 }],
  [{ $set: { a: 1 } }, { _id: 1, a: 0, b: 1 }, { _id: 1, a: 1, b: 1 }],
  [{ $set: { 'a.b.c': 1 } }, {}, { a: { b: { c: 1 } } }],
  [{ $set: { 'a.1': 1 } }, { a: [] }, { a: [null, 1] }],
  [{ $set: { 'a.1': 1 } }, {}, { a: { 1: 1 } }],
  [{ $set: { 'a.0.b': 1 } }, { a: [{ b: 0 }] }, { a: [{ b: 1 }] }],
  [{ $set: {} }, { a: 1 }, { a: 1 }],
  // New fields come in the order of their names, numbers by value.
  [{ $set: { c: 1, b: 1, a10: 1 } }, { x: 1 }, { x: 1, a10: 1, b: 1, c: 1 }],
  [{ $set: { 'a.10': 1, 'a.9': 1 } }, { a: {} }, { a: { 9: 1, 10: 1 } }],
  [{ $unset: { a: '' } }, { a: 1, b: 1 }, { b: 1 }],
  [{ $unset: { 'a.1': '' } }, { a: [1, 2, 3] }, { a: [1, null, 3] }],
  [{ $unset: { 'a.b': '', c: '' } }, { a: 1 }, { a: 1 }],
  // Numbers take the widest type.
  [{ $inc: { a: 2 } }, { a: 1 }, { a: 3 }],
  [{ $inc: { a: 1 } }, { a: 2147483647 }, { a: long(2147483648) }],
  [{ $inc: { a: 1 } }, { a: long(1) }, { a: long(2) }],
  [{ $inc: { a: 0.5 } }, { a: 1 }, { a: 1.5 }],
  [{ $inc: { a: double(1) } }, { a: 1 }, { a: double(2) }],
  [{ $inc: { a: decimal('0.1') } }, { a: 1 }, { a: decimal('1.1') }],
  [{ $inc: { a: 5 } }, {}, { a: 5 }],
  [{ $inc: { a: 0 } }, { a: 7 }, { a: 7 }],
  [{ $mul: { a: 3 } }, { a: 2 }, { a: 6 }],
  [{ $mul: { a: long(3) } }, {}, { a: long(0) }],
  [{ $mul: { a: 65536 } }, { a: 65536 }, { a: long(4294967296) }],
  [{ $min: { a: 1 } }, { a: 2 }, { a: 1 }],
  [{ $min: { a: 3 } }, { a: 2 }, { a: 2 }],
  [{ $min: { a: 3 } }, {}, { a: 3 }],
  [{ $max: { a: 'x' } }, { a: 2 }, { a: 'x' }],
  [{ $max: { a: 2 } }, { a: 'x' }, { a: 'x' }],
  [{ $currentDate: { a: true } }, {}, { a: new Date(1_700_000_000_000) }],
  [
    { $currentDate: { a: { $type: 'timestamp' } } },
    {},
    { a: new Timestamp({ t: 1_700_000_000, i: 1 }) },
  ],
  [{ $bit: { a: { and: 6, or: 8 } } }, { a: 5 }, { a: 12 }],
  [{ $bit: { a: { xor: long(1) } } }, { a: 3 }, { a: long(2) }],
  [{ $rename: { a: 'c' } }, { a: 1, b: 2 }, { b: 2, c: 1 }],
  [{ $rename: { 'a.b': 'c' } }, { a: { b: 1, d: 2 } }, { a: { d: 2 }, c: 1 }],
  [{ $rename: { x: 'c' } }, { c: 1 }, { c: 1 }],
  [{ $setOnInsert: { a: 1 } }, { b: 1 }, { b: 1 }],
  // Arrays.
  [{ $push: { a: 1 } }, {}, { a: [1] }],
  [{ $push: { a: { $each: [1, 2] } } }, { a: [0] }, { a: [0, 1, 2] }],
  [{ $push: { a: [1, 2] } }, { a: [0] }, { a: [0, [1, 2]] }],
  [{ $push: { a: { $each: [9], $position: 1 } } }, { a: [1, 2] }, { a: [1, 9, 2] }],
  [{ $push: { a: { $each: [9], $position: -1 } } }, { a: [1, 2] }, { a: [1, 9, 2] }],
  [{ $push: { a: { $each: [3, 1], $sort: 1 } } }, { a: [2] }, { a: [1, 2, 3] }],
  [{ $push: { a: { $each: [3, 1], $sort: -1, $slice: 2 } } }, { a: [2] }, { a: [3, 2] }],
  [{ $push: { a: { $each: [3], $slice: -2 } } }, { a: [1, 2] }, { a: [2, 3] }],
  [{ $push: { a: { $each: [], $slice: 0 } } }, { a: [1, 2] }, { a: [] }],
  [
    { $push: { a: { $each: [{ x: 1 }], $sort: { x: 1 } } } },
    { a: [{ x: 2 }] },
    { a: [{ x: 1 }, { x: 2 }] },
  ],
  [{ $addToSet: { a: 1 } }, { a: [long(1), 2] }, { a: [long(1), 2] }],
  [{ $addToSet: { a: { $each: [1, 3, 3] } } }, { a: [1] }, { a: [1, 3] }],
  [
    { $addToSet: { a: { x: 1, y: 1 } } },
    { a: [{ y: 1, x: 1 }] },
    {
      a: [
        { y: 1, x: 1 },
        { x: 1, y: 1 },
      ],
    },
  ],
  [{ $pop: { a: 1 } }, { a: [1, 2] }, { a: [1] }],
  [{ $pop: { a: -1 } }, { a: [1, 2] }, { a: [2] }],
  [{ $pop: { a: 1 } }, { b: 1 }, { b: 1 }],
  [{ $pull: { a: 1 } }, { a: [1, 2, 1] }, { a: [2] }],
  [{ $pull: { a: { $gt: 1 } } }, { a: [1, 2, 3] }, { a: [1] }],
  [{ $pull: { a: { x: 1 } } }, { a: [{ x: 1, y: 1 }, { x: 2 }, 5] }, { a: [{ x: 2 }, 5] }],
  [{ $pull: { a: { x: { $gt: 1 } } } }, { a: [{ x: 1 }, { x: 2 }] }, { a: [{ x: 1 }] }],
  [{ $pull: { a: { $or: [{ x: 1 }, { x: 3 }] } } }, { a: [{ x: 1 }, { x: 2 }] }, { a: [{ x: 2 }] }],
  [{ $pull: { a: { $in: [1, /x/] } } }, { a: [1, 'x', 'y'] }, { a: ['y'] }],
  [{ $pull: { a: { $elemMatch: { x: 1 } } } }, { a: [[{ x: 1 }], { x: 1 }] }, { a: [{ x: 1 }] }],
  [{ $pullAll: { a: [1, 2] } }, { a: [1, long(2), 3] }, { a: [3] }],
  [{ $pull: { a: 1 } }, { b: 1 }, { b: 1 }],
  // Positional.
  [{ $set: { 'a.$': 9 } }, { a: [1, 2, 3] }, { a: [1, 9, 3] }, { filter: { a: 2 } }],
  [
    { $inc: { 'a.$.n': 1 } },
    { a: [{ k: 1, n: 1 }] },
    { a: [{ k: 1, n: 2 }] },
    { filter: { 'a.k': 1 } },
  ],
  [{ $set: { 'a.$[]': 0 } }, { a: [1, 2] }, { a: [0, 0] }],
  [{ $inc: { 'a.$[].n': 1 } }, { a: [{ n: 1 }, {}] }, { a: [{ n: 2 }, { n: 1 }] }],
  [{ $set: { 'a.$[x]': 0 } }, { a: [1, 5] }, { a: [1, 0] }, { arrayFilters: [{ x: { $gt: 2 } }] }],
  [
    { $set: { 'a.$[x].b.$[y]': 0 } },
    {
      a: [
        { k: 1, b: [1, 2] },
        { k: 2, b: [1, 2] },
      ],
    },
    {
      a: [
        { k: 1, b: [1, 2] },
        { k: 2, b: [1, 0] },
      ],
    },
    { arrayFilters: [{ 'x.k': 2 }, { y: 2 }] },
  ],
  [{ $unset: { 'a.$[]': '' } }, { a: [1, 2] }, { a: [null, null] }],
  // Replacements.
  [{ b: 1 }, { _id: 1, a: 1 }, { _id: 1, b: 1 }],
  [
    { b: 1, _id: 1 },
    { _id: 1, a: 1 },
    { _id: 1, b: 1 },
  ],
  [{}, { _id: 1, a: 1 }, { _id: 1 }],
  // Pipelines.
  [[{ $set: { b: { $add: ['$a', 1] } } }], { _id: 1, a: 1 }, { _id: 1, a: 1, b: 2 }],
  [[{ $set: { a: '$b' } }, { $unset: 'b' }], { _id: 1, a: 1, b: 2 }, { _id: 1, a: 2 }],
  [[{ $replaceWith: { x: '$a' } }], { _id: 1, a: 1 }, { _id: 1, x: 1 }],
  [[{ $project: { a: 1 } }], { _id: 1, a: 1, b: 2 }, { _id: 1, a: 1 }],
];

for (const [update, before, after, options = {}] of rows) {
  test(`${shown(update)} on ${shown(before)}`, () => {
    const bytes = bytesOf(before);
    const result = compiled(update, options).apply(bytes);
    assertSame(result, after);
    assert.equal(result === bytes, Buffer.compare(bytes, bytesOf(after)) === 0);
  });
}

type Refusal = readonly [
  update: Plain | readonly Plain[],
  before: Plain,
  code: number,
  message: RegExp,
  options?: Options,
];

const refusals: readonly Refusal[] = [
  [
    { $set: { a: 1, 'a.b': 1 } },
    {},
    40,
    /^Updating the path 'a.b' would create a conflict at 'a'$/,
  ],
  [
    { $set: { 'a.b': 1 }, $inc: { a: 1 } },
    {},
    40,
    /^Updating the path 'a' would create a conflict at 'a'$/,
  ],
  [{ $set: { a: 1 }, $unset: { a: 1 } }, {}, 40, /conflict at 'a'$/],
  [{ $rename: { a: 'b' }, $set: { b: 1 } }, {}, 40, /conflict at 'b'$/],
  [{ $set: { 'a.b': 1 } }, { a: 1 }, 28, /^Cannot create field 'b' in element \{a: 1\}$/],
  [{ $set: { 'a.b': 1 } }, { a: [1] }, 28, /^Cannot create field 'b' in element \{a: \[ 1 \]\}$/],
  [
    { $inc: { a: 1 } },
    { _id: 1, a: 'x' },
    14,
    /^Cannot apply \$inc to a value of non-numeric type. \{_id: 1\} has the field 'a' of non-numeric type string$/,
  ],
  [{ $inc: { a: 1 } }, { a: null }, 14, /non-numeric type null$/],
  [{ $inc: { a: 'x' } }, {}, 14, /^Cannot increment with non-numeric argument: \{a: "x"\}$/],
  [{ $inc: { a: long(1) } }, { a: long('9223372036854775807') }, 2, /^Failed to apply \$inc/],
  [{ $set: { _id: 2 } }, { _id: 1 }, 66, /immutable field '_id'/],
  [{ _id: 2 }, { _id: 1 }, 66, /altered to _id: 2$/],
  [{ $x: { a: 1 } }, {}, 9, /^Unknown modifier: \$x\. Expected a valid update modifier/],
  [{ $set: { a: 1 }, b: 1 }, {}, 9, /^Unknown modifier: b\./],
  [{ b: 1, $set: { a: 1 } }, {}, 52, /prefixed field '\$set'/],
  [{ $set: 1 }, {}, 9, /^Modifiers operate on fields but we found type int instead/],
  [{ $set: { 'a..b': 1 } }, {}, 56, /contains an empty field name/],
  [{ $set: { 'a.$x': 1 } }, {}, 52, /not valid for storage/],
  [
    { $push: { a: 1 } },
    { _id: 1, a: 1 },
    2,
    /^The field 'a' must be an array but is of type int in document \{_id: 1\}$/,
  ],
  [{ $push: { a: { $each: 1 } } }, {}, 2, /must be an array but it was of type: int$/],
  [{ $push: { a: { $each: [], $x: 1 } } }, {}, 2, /^Unrecognized clause in \$push: \$x$/],
  [{ $addToSet: { a: 1 } }, { a: 1 }, 2, /^Cannot apply \$addToSet to non-array field/],
  [{ $pop: { a: 1 } }, { a: 1 }, 14, /^Path 'a' contains an element of non-array type 'int'$/],
  [{ $pop: { a: 2 } }, {}, 9, /^\$pop expects 1 or -1, found: 2$/],
  [{ $pull: { a: 1 } }, { a: 1 }, 2, /^Cannot apply \$pull to a non-array value$/],
  [{ $pullAll: { a: 1 } }, {}, 2, /^\$pullAll requires an array argument but was given a int$/],
  [{ $bit: { a: { and: 1.5 } } }, {}, 2, /must be an Integer/],
  [{ $bit: { a: { and: 1 } } }, { a: 'x' }, 2, /non-integral type/],
  [{ $rename: { a: 1 } }, {}, 2, /must be a string/],
  [{ $rename: { a: 'a' } }, {}, 2, /must differ/],
  [{ $rename: { 'a.0': 'b' } }, { a: [1] }, 2, /cannot be an array element/],
  [{ $currentDate: { a: { $type: 'x' } } }, {}, 2, /'date' or 'timestamp'/],
  [{ $set: { 'a.$': 1 } }, { a: [1] }, 2, /^The positional operator did not find the match/],
  [{ $set: { 'a.$[]': 1 } }, { a: 1 }, 2, /^Cannot apply array updates to non-array element a: 1$/],
  [{ $set: { 'a.$[]': 1 } }, {}, 2, /must exist in the document in order to apply array updates/],
  [
    { $set: { 'a.$[x]': 1 } },
    {},
    2,
    /^No array filter found for identifier 'x' in path 'a.\$\[x\]'$/,
  ],
  [{ $set: { a: 1 } }, {}, 9, /identifier 'x' was not used/, { arrayFilters: [{ x: 1 }] }],
  [{ $set: { a: 1 } }, {}, 9, /found 'x' and 'y'/, { arrayFilters: [{ x: 1, y: 1 }] }],
  [{ $set: { a: 1 } }, {}, 9, /multiple array filters/, { arrayFilters: [{ x: 1 }, { x: 2 }] }],
  [{ a: 1 }, {}, 9, /multi update is not supported/, { multi: true }],
  [[{ $match: {} }], {}, 72, /^\$match is not allowed to be used within an update$/],
  [[{ $set: { _id: 2 } }], { _id: 1 }, 66, /immutable field '_id'/],
  [{ $set: { 'a.1500002': 1 } }, { a: [] }, 2, /can't backfill more than/],
];

for (const [update, before, code, message, options = {}] of refusals) {
  test(`${shown(update)} on ${shown(before)} is refused`, () => {
    assert.throws(() => compiled(update, options).apply(bytesOf(before)), { code, message });
  });
}

const upserts: readonly (readonly [filter: Plain, update: Plain, inserted: Plain])[] = [
  [{ a: 1 }, { $set: { b: 2 } }, { _id: 'new', a: 1, b: 2 }],
  [{ _id: 5, a: { $gt: 1 } }, { $set: { b: 2 } }, { _id: 5, b: 2 }],
  [{ a: { $eq: 1 }, 'b.c': 2 }, { $inc: { n: 1 } }, { _id: 'new', a: 1, b: { c: 2 }, n: 1 }],
  [{ $and: [{ a: 1 }, { b: 1 }] }, { $setOnInsert: { c: 1 } }, { _id: 'new', a: 1, b: 1, c: 1 }],
  [{ $or: [{ a: 1 }, { b: 1 }] }, { $set: { c: 1 } }, { _id: 'new', c: 1 }],
  [{ a: { $in: [1] } }, { $set: { c: 1 } }, { _id: 'new', c: 1 }],
  [{ a: 1 }, { $set: { a: 2 } }, { _id: 'new', a: 2 }],
  [{ a: 1 }, { $set: { _id: 7 } }, { _id: 7, a: 1 }],
  [{ a: 1, _id: 5 }, { b: 1 }, { _id: 5, b: 1 }],
  [{ a: 1 }, { b: 1 }, { _id: 'new', b: 1 }],
  [{ a: [1] }, { $push: { a: 2 } }, { _id: 'new', a: [1, 2] }],
];
for (const [filter, update, inserted] of upserts) {
  test(`upsert of ${shown(filter)} with ${shown(update)}`, () => {
    assertSame(
      compiled(update, { filter }).insert(() => 'new'),
      inserted,
    );
  });
}

test('upserts that cannot be', () => {
  const refuses = (filter: Plain, update: Plain, code: number) =>
    assert.throws(() => compiled(update, { filter }).insert(() => 'new'), { code });
  refuses({ _id: 1 }, { $set: { _id: 2 } }, 66);
  refuses({ _id: 1 }, { _id: 2 }, 66);
  refuses({ a: 1, 'a.b': 1 }, { $set: { c: 1 } }, 54);
  refuses({}, { $set: { _id: [1] } }, 53);
  refuses({}, { $set: { _id: { $x: 1 } } }, 52);
});
