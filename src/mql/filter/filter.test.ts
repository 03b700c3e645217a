// Filters row by row: which of the operators, paths and types match what.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Binary,
  BSONRegExp,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from 'bson';
import { bytesOf, PLAIN_LANGUAGE, type Plain } from '../language.suite.js';
import { compileFilter } from './filter.js';

type Row = readonly [filter: Plain, matching: readonly Plain[], failing: readonly Plain[]];

const decimal = (text: string) => Decimal128.fromString(text);
const long = (value: number | string) => Long.fromString(String(value));
const id = new ObjectId('64b000000000000000000001');

const rows: readonly Row[] = [
  [{}, [{}, { a: 1 }], []],
  // Numbers are one line, whatever their type.
  [
    { a: 5 },
    [{ a: 5 }, { a: long(5) }, { a: new Double(5) }, { a: decimal('5.0') }, { a: [1, 5] }],
    [{ a: 5.5 }, { a: '5' }, {}, { a: [[5]] }, { b: 5 }, { a: { a: 5 } }],
  ],
  [{ a: decimal('0.1') }, [{ a: decimal('0.10') }], [{ a: 0.1 }]],
  [{ a: 0.5 }, [{ a: decimal('0.5') }, { a: 0.5 }], [{ a: decimal('0.51') }]],
  [
    { a: long('9007199254740993') },
    [{ a: long('9007199254740993') }, { a: decimal('9007199254740993') }],
    [{ a: 9007199254740992 }, { a: long('9007199254740992') }],
  ],
  [{ a: 0 }, [{ a: new Double(-0) }, { a: decimal('-0.0') }], [{ a: false }, { a: null }]],
  [
    { a: { $gt: 4 } },
    [{ a: 5 }, { a: long(5) }, { a: decimal('4.0001') }, { a: Infinity }, { a: [1, 9] }],
    [{ a: 4 }, { a: '5' }, { a: NaN }, { a: decimal('NaN') }, {}, { a: new Date(9) }],
  ],
  [{ a: { $lt: long('9007199254740993') } }, [{ a: 9007199254740992 }, { a: 1 }], [{ a: 2 ** 60 }]],
  [{ a: NaN }, [{ a: NaN }, { a: decimal('NaN') }], [{ a: 0 }, {}]],
  [{ a: { $lte: NaN } }, [{ a: NaN }], [{ a: 1 }]],
  [{ a: { $lt: NaN } }, [], [{ a: NaN }, { a: 1 }]],
  // Null, missing and the brackets of types.
  [{ a: null }, [{ a: null }, {}, { a: [1, null] }], [{ a: 0 }, { a: [] }, { a: '' }]],
  [{ a: { $gte: null } }, [{ a: null }, {}], [{ a: 1 }]],
  [{ a: { $gt: null } }, [], [{ a: null }, {}, { a: 1 }]],
  [{ a: { $ne: null } }, [{ a: 1 }, { a: [] }], [{}, { a: null }, { a: [null] }]],
  [
    { 'a.b': null },
    [{}, { a: 1 }, { a: {} }, { a: [{ b: 1 }, { c: 1 }] }],
    [{ a: [] }, { a: [1] }],
  ],
  [{ a: { $gte: 'b' } }, [{ a: 'b' }, { a: 'ba' }], [{ a: 'a' }, { a: 'B' }, { a: 1 }]],
  [{ a: { $lt: '\ud83d\ude00' } }, [{ a: '\uffff' }, { a: 'z' }], [{ a: '\ud83d\ude01' }]],
  [{ a: { $gt: new MinKey() } }, [{ a: 1 }, { a: 'x' }, {}], [{ a: new MinKey() }]],
  [{ a: { $lt: new MaxKey() } }, [{ a: 1 }, { a: 'x' }], [{ a: new MaxKey() }]],
  [{ a: { $lt: true } }, [{ a: false }], [{ a: true }, { a: 0 }]],
  [{ a: { $gte: new Date(5) } }, [{ a: new Date(5) }], [{ a: new Date(4) }, { a: 6 }]],
  [{ a: { $lte: new Date(-1) } }, [{ a: new Date(-1) }], [{ a: new Date(0) }]],
  [{ _id: id }, [{ _id: id }], [{ _id: new ObjectId('64b000000000000000000002') }, { _id: 'x' }]],
  [{ _id: { $lt: id } }, [{ _id: new ObjectId('64b000000000000000000000') }], [{ _id: id }]],
  [{ a: new Timestamp({ t: 1, i: 2 }) }, [{ a: new Timestamp({ t: 1, i: 2 }) }], [{ a: 1 }]],
  [
    { a: new Binary(Buffer.from('x'), 0) },
    [{ a: new Binary(Buffer.from('x'), 0) }],
    [{ a: new Binary(Buffer.from('x'), 4) }, { a: 'x' }],
  ],
  // Documents and arrays are equal as a whole, fields in order.
  [{ a: { x: 1, y: 2 } }, [{ a: { x: long(1), y: 2 } }], [{ a: { y: 2, x: 1 } }, { a: { x: 1 } }]],
  [{ a: {} }, [{ a: {} }], [{ a: [] }, {}, { a: { b: 1 } }]],
  [{ a: [1, 2] }, [{ a: [1, 2] }, { a: [[1, 2]] }], [{ a: [2, 1] }, { a: 1 }]],
  [{ a: { $gt: [1, 2] } }, [{ a: [1, 3] }, { a: [2] }], [{ a: [1, 2] }, { a: 5 }]],
  // Paths.
  [
    { 'a.b': 1 },
    [{ a: { b: 1 } }, { a: [{ b: 0 }, { b: [1] }] }],
    [{ a: { b: { b: 1 } } }, { a: [[{ b: 1 }]] }, { 'a.b': 1 }],
  ],
  [{ 'a.0': 5 }, [{ a: [5] }, { a: { 0: 5 } }, { a: [{ 0: 5 }] }], [{ a: [1, 5] }, { a: [[5]] }]],
  [{ 'a.1.b': 5 }, [{ a: [1, { b: 5 }] }, { a: [{ 1: { b: 5 } }] }], [{ a: [{ b: 5 }, 1] }]],
  [{ 'a.0.1': 5 }, [{ a: [[1, 5]] }], [{ a: [1, 5] }, { a: [[5, 1]] }]],
  [{ 'a.0.b': 5 }, [{ a: [{ b: 5 }] }], [{ a: [[{ b: 5 }]] }]],
  [{ 'a.0': null }, [{ a: [{ x: 1 }] }, {}], [{ a: [1] }]],
  [{ '': 1 }, [{ '': 1 }], [{ a: 1 }]],
  // Lists.
  [
    { a: { $in: [1, 'x', null] } },
    [{ a: long(1) }, { a: 'x' }, {}, { a: null }, { a: [7, 1] }],
    [{ a: 2 }, { a: 'X' }],
  ],
  [
    { a: { $in: [1, 2, 3, 4, 5, 'x', 'y', decimal('0.5'), id, true] } },
    [{ a: decimal('3.0') }, { a: 'y' }, { a: 0.5 }, { a: id }, { a: true }],
    [{ a: 6 }, { a: 'z' }, {}, { a: false }],
  ],
  [{ a: { $in: [/^x/i, 3] } }, [{ a: 'Xyz' }, { a: 3 }], [{ a: 'yx' }]],
  [{ a: { $in: [] } }, [], [{ a: 1 }, {}]],
  [{ a: { $nin: [1, 2] } }, [{ a: 3 }, {}], [{ a: 1 }, { a: [3, 2] }]],
  [{ a: { $ne: 1 } }, [{ a: 2 }, {}], [{ a: 1 }, { a: [2, 1] }]],
  [{ a: { $not: { $gt: 2 } } }, [{ a: 1 }, {}, { a: 'x' }], [{ a: 3 }, { a: [1, 3] }]],
  [{ a: { $not: /x/ } }, [{ a: 'y' }, {}], [{ a: 'x' }]],
  // Logic.
  [{ $and: [{ a: 1 }, { b: 1 }] }, [{ a: 1, b: 1 }], [{ a: 1 }]],
  [{ $or: [{ a: 1 }, { b: 1 }] }, [{ a: 1 }, { b: 1 }], [{}]],
  [{ $nor: [{ a: 1 }, { b: 1 }] }, [{}], [{ a: 1 }, { b: 1 }]],
  // The language of the tests takes 0.5 for every random number.
  [{ $sampleRate: 0.6 }, [{}], []],
  [{ $sampleRate: 0.4 }, [], [{}]],
  [{ $comment: 'why', a: 1 }, [{ a: 1 }], [{}]],
  // Elements.
  [{ a: { $exists: true } }, [{ a: null }, { a: [] }], [{}]],
  [{ a: { $exists: false } }, [{}], [{ a: null }]],
  [{ 'a.b': { $exists: false } }, [{}, { a: [] }, { a: [1] }], [{ a: [{}, { b: 1 }] }]],
  [{ a: { $type: 'string' } }, [{ a: 'x' }, { a: [1, 'x'] }], [{ a: 1 }, {}]],
  [{ a: { $type: 'number' } }, [{ a: 1 }, { a: long(1) }, { a: decimal('1') }], [{ a: '1' }]],
  [{ a: { $type: ['long', 10] } }, [{ a: long(1) }, { a: null }], [{ a: 1 }, {}]],
  [{ a: { $type: 'array' } }, [{ a: [] }, { a: [[]] }], [{ a: 1 }]],
  [{ a: { $type: -1 } }, [{ a: new MinKey() }], [{ a: 1 }]],
  // Arrays.
  [{ a: { $size: 2 } }, [{ a: [1, 2] }], [{ a: [1] }, { a: 2 }, { a: [[1, 2]] }]],
  [{ a: { $all: [1, 2] } }, [{ a: [2, 3, 1] }], [{ a: [1] }, { a: 1 }]],
  [{ a: { $all: [1] } }, [{ a: 1 }, { a: [1] }], [{ a: 2 }]],
  [{ a: { $all: [[1, 2]] } }, [{ a: [1, 2] }, { a: [[1, 2]] }], [{ a: [1] }]],
  [{ a: { $all: [] } }, [], [{ a: [] }, {}]],
  [{ a: { $all: [/x/, 'y'] } }, [{ a: ['ax', 'y'] }], [{ a: ['ax'] }]],
  [
    { a: { $all: [{ $elemMatch: { x: 1 } }, { $elemMatch: { y: 1 } }] } },
    [{ a: [{ x: 1 }, { y: 1 }] }],
    [{ a: [{ x: 1 }] }],
  ],
  [{ a: { $gt: 2, $lt: 2 } }, [{ a: [1, 3] }], [{ a: 2 }]],
  [{ a: { $elemMatch: { $gt: 2, $lt: 4 } } }, [{ a: [1, 3] }], [{ a: [1, 5] }, { a: 3 }]],
  [{ a: { $elemMatch: { b: 1, c: 1 } } }, [{ a: [{ b: 1, c: 1 }] }], [{ a: [{ b: 1 }, { c: 1 }] }]],
  [{ a: { $elemMatch: { $or: [{ b: 1 }, { c: 1 }] } } }, [{ a: [{ c: 1 }] }], [{ a: [{}] }]],
  [{ a: { $elemMatch: { $in: [1] } } }, [{ a: [1] }], [{ a: [[1]] }]],
  [{ a: { $elemMatch: { $not: { $gt: 2 } } } }, [{ a: [1] }], [{ a: [3] }, { a: [] }]],
  [{ a: { $elemMatch: { 0: 1 } } }, [{ a: [[1]] }], [{ a: [1] }]],
  [{ 'a.b': { $elemMatch: { $eq: 1 } } }, [{ a: [{ b: [1] }] }], [{ a: [{ b: 1 }] }]],
  // Evaluations.
  [{ a: /^x.z$/ }, [{ a: 'xyz' }, { a: ['q', 'xyz'] }], [{ a: 'xyzz' }, { a: 1 }]],
  [{ a: { $regex: 'X', $options: 'i' } }, [{ a: 'ax' }], [{ a: 'b' }]],
  [{ a: { $options: 'i', $regex: 'X' } }, [{ a: 'ax' }], [{ a: 'b' }]],
  [{ a: new BSONRegExp('a b # c', 'x') }, [{ a: 'ab' }], [{ a: 'a b' }]],
  [{ a: new BSONRegExp('(?i)AB', '') }, [{ a: 'ab' }], [{ a: 'b' }]],
  [
    { a: new BSONRegExp('^ab', '') },
    [{ a: 'abc' }, { a: new BSONRegExp('^ab', '') }],
    [{ a: 'b' }],
  ],
  [{ a: { $mod: [4, 1] } }, [{ a: 5 }, { a: 5.9 }, { a: long(9) }], [{ a: 4 }, { a: '5' }, {}]],
  [{ a: { $mod: [4.5, 1] } }, [{ a: 5 }], [{ a: 4 }]],
  [{ a: { $mod: [3, -1] } }, [{ a: -4 }], [{ a: 4 }, { a: NaN }]],
  [
    { $expr: { $gt: ['$a', '$b'] } },
    [
      { a: 2, b: 1 },
      { a: 'x', b: 1 },
    ],
    [{ a: 1, b: 2 }, {}],
  ],
  // Bits.
  [{ a: { $bitsAllSet: 6 } }, [{ a: 7 }, { a: long(-1) }], [{ a: 5 }, { a: 6.5 }, { a: 'x' }]],
  [{ a: { $bitsAnySet: [0, 9] } }, [{ a: 1 }, { a: 512 }], [{ a: 2 }]],
  [{ a: { $bitsAllClear: [0, 70] } }, [{ a: 2 }], [{ a: 3 }, { a: -2 }]],
  [
    { a: { $bitsAnyClear: new Binary(Buffer.from([3])) } },
    [{ a: 1 }, { a: new Binary(Buffer.from([1])) }],
    [{ a: 3 }],
  ],
  [{ a: { $eq: { $ref: 'c', $id: 1 } } }, [{ a: { $ref: 'c', $id: 1 } }], [{ a: 1 }]],
  [{ __proto__x: 1, constructor: 1 }, [{ __proto__x: 1, constructor: 1 }], [{}]],
  [{ a: new Int32(1), b: 'x', c: true }, [{ a: 1, b: 'x', c: true }], [{ a: 1, b: 'x' }]],
];

for (const [filter, matching, failing] of rows) {
  test(`filter ${show(filter)}`, () => {
    const { matches } = compileFilter(bytesOf(filter), PLAIN_LANGUAGE);
    for (const document of matching) assert.ok(matches(bytesOf(document)), show(document));
    for (const document of failing) assert.ok(!matches(bytesOf(document)), show(document));
  });
}

const refused: readonly (readonly [filter: Plain, code: number, message: RegExp])[] = [
  [{ $x: 1 }, 2, /^unknown top level operator: \$x\./],
  [{ a: { $x: 1 } }, 2, /^unknown operator: \$x$/],
  [{ a: { $gt: 1, x: 1 } }, 2, /^unknown operator: x$/],
  [{ $and: [] }, 2, /must be a nonempty array/],
  [{ $or: [1] }, 2, /need to be full objects/],
  [{ a: { $in: 1 } }, 2, /^\$in needs an array$/],
  [{ a: { $in: [{ $gt: 1 }] } }, 2, /^cannot nest \$ under \$in$/],
  [{ a: { $not: 1 } }, 2, /^\$not needs a regex or a document$/],
  [{ a: { $gt: /x/ } }, 2, /Can't have RegEx/],
  [{ a: { $ne: /x/ } }, 2, /^Can't have regex as arg to \$ne\.$/],
  [{ a: { $size: -1 } }, 2, /Expected a non-negative number in: \$size: -1$/],
  [{ a: { $type: 'text' } }, 2, /^Unknown type name alias: text$/],
  [{ a: { $type: 99 } }, 2, /^Invalid numerical type code: 99$/],
  [{ a: { $mod: [0, 1] } }, 2, /^divisor cannot be 0$/],
  [{ a: { $mod: [1] } }, 2, /not enough elements/],
  [{ a: { $all: 1 } }, 2, /^\$all needs an array$/],
  [{ a: { $elemMatch: 1 } }, 2, /^\$elemMatch needs an Object$/],
  [{ a: { $regex: '(' } }, 51091, /Regular expression is invalid/],
  [{ a: { $regex: '(?=a)' } }, 51091, /Regular expression is invalid/],
  [{ a: { $regex: 'a', $options: 'q' } }, 51108, /invalid flag in regex options: q/],
  [{ a: { $options: 'i' } }, 2, /\$options needs a \$regex/],
  [{ $sampleRate: 2 }, 2, /from 0 to 1/],
  [{ $where: '1' }, 2, /\$where is not supported/],
  [{ a: { $bitsAllSet: -1 } }, 2, /takes an Array, a number, or a BinData/],
];
for (const [filter, code, message] of refused) {
  test(`filter ${show(filter)} is refused`, () => {
    assert.throws(() => compileFilter(bytesOf(filter), PLAIN_LANGUAGE), { code, message });
  });
}

const positions: readonly (readonly [filter: Plain, document: Plain, index: number | undefined])[] =
  [
    [{ a: 3 }, { a: [1, 2, 3] }, 2],
    [{ 'a.b': 3 }, { a: [{ b: 1 }, { b: [0, 3] }] }, 1],
    [{ a: { $elemMatch: { b: 1 } } }, { a: [{}, { b: 1 }] }, 1],
    [{ a: 3 }, { a: 3 }, undefined],
    [{ x: 1, a: { $ne: 3 } }, { x: 1, a: [1] }, undefined],
    [{ a: 3 }, { a: [1] }, undefined],
  ];
for (const [filter, document, index] of positions) {
  test(`${show(filter)} matches ${show(document)} at ${index}`, () => {
    assert.equal(compileFilter(bytesOf(filter), PLAIN_LANGUAGE).position(bytesOf(document)), index);
  });
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, part) => (part instanceof RegExp ? String(part) : part));
}
