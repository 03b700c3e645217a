// Expressions row by row: what each operator makes of its arguments, types included.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Binary, Decimal128, Double, deserialize, EJSON, Long, ObjectId, Timestamp } from 'bson';
import type { Value } from '../../value/bson/value.js';
import { encodeValue } from '../../value/bson/write.js';
import { bytesOf, documentFrom, PLAIN_LANGUAGE, type Plain, valueFrom } from '../language.suite.js';
import { Row } from '../row.js';
import { compileExpression, OPERATOR_NAMES } from './compile.js';
import { scopeOf } from './scope.js';

const long = (value: number | string) => Long.fromString(String(value));
const decimal = (text: string) => Decimal128.fromString(text);
const double = (value: number) => new Double(value);
const date = (text: string) => new Date(text);
const MISSING = Symbol('missing');
/** Not as a literal, lest the linter take the document for a promise. */
const THEN = 'then';

const document: Plain = {
  _id: 1,
  a: 5,
  b: 'text',
  c: [1, 2, 3],
  d: { e: 7, f: [{ g: 1 }, { g: 2 }, { h: 3 }, 4] },
  n: null,
  t: date('2024-02-29T13:14:15.678Z'),
  long: long(5),
  double: double(2.5),
  decimal: decimal('1.10'),
};

type Row2 = readonly [expression: unknown, expected: unknown];

const rows: readonly Row2[] = [
  // Paths and variables.
  ['$a', 5],
  ['$d.e', 7],
  ['$d.f.g', [1, 2]],
  ['$c.x', []],
  ['$c.0', []],
  ['$a.x', MISSING],
  ['$zz', MISSING],
  ['$$ROOT.a', 5],
  ['$$CURRENT.d.e', 7],
  ['$$REMOVE', MISSING],
  ['$$NOW', new Date(1_700_000_000_000)],
  [{ $toDate: '$$CLUSTER_TIME' }, new Date(1_700_000_000_000)],
  [{ $toHashedIndexKey: 'string to hash' }, long('763543691661428748')],
  [{ $eq: [{ $toHashedIndexKey: 1 }, { $toHashedIndexKey: 1.5 }] }, true],
  [{ $eq: [{ $toHashedIndexKey: { x: [1] } }, { $toHashedIndexKey: { x: [2] } }] }, false],
  [{ $literal: '$a' }, '$a'],
  [
    { x: '$a', y: { z: '$zz' } },
    { x: 5, y: {} },
  ],
  [
    ['$a', '$zz', 1],
    [5, null, 1],
  ],
  // Arithmetic keeps types.
  [{ $add: [1, 2] }, 3],
  [{ $add: ['$a', long(1)] }, long(6)],
  [{ $add: [2147483647, 1] }, long(2147483648)],
  [{ $add: [long('9223372036854775807'), 1] }, double(2 ** 63)],
  [{ $add: ['$a', '$double'] }, double(7.5)],
  [{ $add: ['$decimal', 1] }, decimal('2.10')],
  [{ $add: ['$n', 1] }, null],
  [{ $add: ['$t', 1000] }, date('2024-02-29T13:14:16.678Z')],
  [{ $add: [] }, 0],
  [{ $subtract: [3, 5] }, -2],
  [{ $subtract: ['$t', '$t'] }, long(0)],
  [{ $subtract: ['$t', 678] }, date('2024-02-29T13:14:15Z')],
  [{ $multiply: [2, 3, 4] }, 24],
  [{ $multiply: [65536, 65536] }, long(4294967296)],
  [{ $divide: [7, 2] }, double(3.5)],
  [{ $divide: [decimal('1'), 3] }, decimal('0.3333333333333333333333333333333333')],
  [{ $mod: [-7, 3] }, -1],
  [{ $mod: [5.5, 2] }, double(1.5)],
  [{ $abs: -5 }, 5],
  [{ $abs: long(-5) }, long(5)],
  [{ $ceil: 1.2 }, double(2)],
  [{ $floor: -1.2 }, double(-2)],
  [{ $floor: decimal('-1.2') }, decimal('-2')],
  [{ $round: [2.5] }, double(2)],
  [{ $round: [1.005, 2] }, double(1)],
  [{ $round: [1234, -2] }, 1200],
  [{ $round: 3 }, 3],
  [{ $trunc: [-1.98, 1] }, double(-1.9)],
  [{ $sqrt: 16 }, double(4)],
  [{ $sqrt: decimal('2') }, decimal('1.414213562373095048801688724209698')],
  [{ $pow: [2, 10] }, 1024],
  [{ $pow: [2, 40] }, long(1099511627776)],
  [{ $pow: [2, -1] }, double(0.5)],
  [{ $exp: 0 }, double(1)],
  [{ $ln: 1 }, double(0)],
  [{ $log: [8, 2] }, double(3)],
  [{ $log10: 1000 }, double(3)],
  [{ $sin: 0 }, double(0)],
  [{ $atan2: [0, 1] }, double(0)],
  [{ $degreesToRadians: 180 }, double(Math.PI)],
  [{ $bitAnd: [6, 3] }, 2],
  [{ $bitOr: [6, long(1)] }, long(7)],
  [{ $bitXor: [6, 3] }, 5],
  [{ $bitNot: 0 }, -1],
  // Truth and comparison: across types, missing below null.
  [{ $and: [] }, true],
  [{ $and: [1, 'x', '$zz'] }, false],
  [{ $or: [0, '$n'] }, false],
  [{ $not: ['$n'] }, true],
  [{ $eq: ['$a', '$long'] }, true],
  [{ $gt: ['x', 1] }, true],
  [{ $lt: ['$zz', null] }, true],
  [{ $eq: ['$zz', null] }, false],
  [{ $cmp: [1, 2] }, -1],
  [{ $ne: [1, 1] }, false],
  [{ $gte: [2, 2] }, true],
  [{ $lte: [3, 2] }, false],
  [{ $cond: ['$a', 'yes', 'no'] }, 'yes'],
  [{ $cond: { if: '$n', [THEN]: 'yes', else: 'no' } }, 'no'],
  [{ $cond: [true, 1, { $divide: [1, 0] }] }, 1],
  [{ $ifNull: ['$n', '$zz', 3] }, 3],
  [{ $switch: { branches: [{ case: '$n', [THEN]: 1 }], default: 2 } }, 2],
  // Arrays.
  [{ $arrayElemAt: ['$c', -1] }, 3],
  [{ $arrayElemAt: ['$c', 9] }, MISSING],
  [{ $first: '$c' }, 1],
  [{ $last: '$c' }, 3],
  [{ $concatArrays: ['$c', [4]] }, [1, 2, 3, 4]],
  [{ $concatArrays: ['$c', '$n'] }, null],
  [{ $in: [long(2), '$c'] }, true],
  [{ $indexOfArray: ['$c', 3] }, 2],
  [{ $indexOfArray: ['$c', 1, 1] }, -1],
  [{ $isArray: ['$c'] }, true],
  [{ $size: '$c' }, 3],
  [{ $reverseArray: '$c' }, [3, 2, 1]],
  [{ $slice: ['$c', 2] }, [1, 2]],
  [{ $slice: ['$c', -2] }, [2, 3]],
  [{ $slice: ['$c', 1, 1] }, [2]],
  [{ $range: [0, 5, 2] }, [0, 2, 4]],
  [{ $range: [3, 0, -1] }, [3, 2, 1]],
  [
    { $zip: { inputs: ['$c', ['x', 'y']] } },
    [
      [1, 'x'],
      [2, 'y'],
    ],
  ],
  [
    { $zip: { inputs: ['$c', ['x']], useLongestLength: true, defaults: [0, 'z'] } },
    [
      [1, 'x'],
      [2, 'z'],
      [3, 'z'],
    ],
  ],
  [{ $arrayToObject: [[['k', 1]]] }, { k: 1 }],
  [{ $arrayToObject: { $literal: [{ k: 'x', v: 2 }] } }, { x: 2 }],
  [{ $objectToArray: { x: 1 } }, [{ k: 'x', v: 1 }]],
  [{ $firstN: { n: 2, input: '$c' } }, [1, 2]],
  [{ $lastN: { n: 2, input: '$c' } }, [2, 3]],
  [{ $minN: { n: 2, input: [3, 1, null, 2] } }, [1, 2]],
  [{ $maxN: { n: 2, input: '$c' } }, [3, 2]],
  [{ $map: { input: '$c', as: 'x', in: { $multiply: ['$$x', 2] } } }, [2, 4, 6]],
  [{ $map: { input: '$c', in: { $add: ['$$this', '$a'] } } }, [6, 7, 8]],
  [{ $filter: { input: '$c', cond: { $gt: ['$$this', 1] } } }, [2, 3]],
  [{ $filter: { input: '$c', as: 'x', cond: { $gt: ['$$x', 1] }, limit: 1 } }, [2]],
  [{ $reduce: { input: '$c', initialValue: 0, in: { $add: ['$$value', '$$this'] } } }, 6],
  [{ $let: { vars: { x: 2, y: '$a' }, in: { $multiply: ['$$x', '$$y'] } } }, 10],
  [{ $let: { vars: { CURRENT: '$d' }, in: '$e' } }, 7],
  [
    {
      $map: {
        input: '$c',
        as: 'x',
        in: { $map: { input: '$c', as: 'y', in: { $add: ['$$x', '$$y'] } } },
      },
    },
    [
      [2, 3, 4],
      [3, 4, 5],
      [4, 5, 6],
    ],
  ],
  [{ $sortArray: { input: [3, 1, 2], sortBy: -1 } }, [3, 2, 1]],
  [{ $sortArray: { input: [{ x: 2 }, { x: 1 }], sortBy: { x: 1 } } }, [{ x: 1 }, { x: 2 }]],
  // Documents.
  [{ $mergeObjects: [{ x: 1, y: 1 }, '$n', { y: 2 }] }, { x: 1, y: 2 }],
  [{ $getField: 'a' }, 5],
  [{ $getField: { field: { $literal: 'e' }, input: '$d' } }, 7],
  [{ $setField: { field: 'x.y', input: { z: 1 }, value: 2 } }, { z: 1, 'x.y': 2 }],
  [{ $unsetField: { field: 'z', input: { z: 1 } } }, {}],
  [{ $bsonSize: {} }, 5],
  [{ $binarySize: 'é' }, 2],
  [{ $rand: {} }, double(0.5)],
  [{ $tsSecond: new Timestamp({ t: 7, i: 8 }) }, long(7)],
  [{ $tsIncrement: new Timestamp({ t: 7, i: 8 }) }, long(8)],
  // Sets.
  [
    {
      $setUnion: [
        [3, 1],
        [2, 1],
      ],
    },
    [1, 2, 3],
  ],
  [
    {
      $setIntersection: [
        [3, 1, 2],
        [2, 3],
      ],
    },
    [2, 3],
  ],
  [{ $setDifference: [[3, 1, 2, 3], [1]] }, [3, 2]],
  [
    {
      $setEquals: [
        [1, 2],
        [2, 1, 1],
      ],
    },
    true,
  ],
  [{ $setIsSubset: [[1], [1, 2]] }, true],
  [{ $allElementsTrue: [[1, true]] }, true],
  [{ $anyElementTrue: [[0, null]] }, false],
  // Texts.
  [{ $concat: ['$b', '!'] }, 'text!'],
  [{ $concat: ['$b', '$n'] }, null],
  [{ $toUpper: '$b' }, 'TEXT'],
  [{ $toLower: 'ÄB' }, 'Äb'],
  [{ $toLower: null }, ''],
  [{ $strcasecmp: ['a', 'B'] }, -1],
  [{ $strLenBytes: 'é😀' }, 6],
  [{ $strLenCP: 'é😀' }, 2],
  [{ $substrCP: ['é😀x', 1, 1] }, '😀'],
  [{ $substrBytes: ['éx', 2, 1] }, 'x'],
  [{ $substr: ['abc', 1, -1] }, 'bc'],
  [{ $indexOfCP: ['é😀x', 'x'] }, 2],
  [{ $indexOfBytes: ['é😀x', 'x'] }, 6],
  [{ $indexOfCP: ['abcabc', 'b', 2] }, 4],
  [{ $indexOfCP: ['abc', 'z'] }, -1],
  [{ $split: ['a-b-c', '-'] }, ['a', 'b', 'c']],
  [{ $trim: { input: ' \t x ' } }, 'x'],
  [{ $ltrim: { input: 'xxay', chars: 'x' } }, 'ay'],
  [{ $rtrim: { input: 'ayy', chars: 'y' } }, 'a'],
  [{ $replaceOne: { input: 'aa$', find: 'a', replacement: '&$&' } }, '&$&a$'],
  [{ $replaceAll: { input: 'aba', find: 'a', replacement: 'x' } }, 'xbx'],
  [{ $regexMatch: { input: '$b', regex: '^T', options: 'i' } }, true],
  [
    { $regexFind: { input: 'x12', regex: '(\\d)(\\d)' } },
    { match: '12', idx: 1, captures: ['1', '2'] },
  ],
  [{ $regexFind: { input: 'x', regex: 'y' } }, null],
  [
    { $regexFindAll: { input: '😀a1a', regex: 'a' } },
    [
      { match: 'a', idx: 1, captures: [] },
      { match: 'a', idx: 3, captures: [] },
    ],
  ],
  // Dates.
  [{ $year: '$t' }, 2024],
  [{ $month: '$t' }, 2],
  [{ $dayOfMonth: '$t' }, 29],
  [{ $hour: { date: '$t', timezone: 'Europe/Berlin' } }, 14],
  [{ $hour: { date: '$t', timezone: '-05:30' } }, 7],
  [{ $minute: '$t' }, 14],
  [{ $second: '$t' }, 15],
  [{ $millisecond: '$t' }, 678],
  [{ $dayOfYear: '$t' }, 60],
  [{ $dayOfWeek: '$t' }, 5],
  [{ $week: '$t' }, 8],
  [{ $isoWeek: '$t' }, 9],
  [{ $isoDayOfWeek: '$t' }, 4],
  [{ $isoWeekYear: date('2021-01-01') }, long(2020)],
  [{ $year: '$n' }, null],
  [{ $year: new ObjectId('64b000000000000000000001') }, 2023],
  [
    { $dateToParts: { date: date('2024-01-02T03:04:05.006Z') } },
    { year: 2024, month: 1, day: 2, hour: 3, minute: 4, second: 5, millisecond: 6 },
  ],
  [{ $dateFromParts: { year: 2024, month: 2, day: 30 } }, date('2024-03-01')],
  [{ $dateFromParts: { isoWeekYear: 2021, isoWeek: 1 } }, date('2021-01-04')],
  [
    { $dateFromParts: { year: 2024, month: 7, hour: 12, timezone: 'America/New_York' } },
    date('2024-07-01T16:00:00Z'),
  ],
  [{ $dateToString: { date: '$t' } }, '2024-02-29T13:14:15.678Z'],
  [
    {
      $dateToString: { date: '$t', format: '%d.%m.%Y %H:%M %z %j %V %%', timezone: 'Asia/Kolkata' },
    },
    '29.02.2024 18:44 +0530 060 09 %',
  ],
  [{ $dateToString: { date: '$n', onNull: 'none' } }, 'none'],
  [{ $dateFromString: { dateString: '2024-02-29T12:00:00+02:00' } }, date('2024-02-29T10:00:00Z')],
  [
    { $dateFromString: { dateString: '2024-02-29', timezone: 'Europe/Berlin' } },
    date('2024-02-28T23:00:00Z'),
  ],
  [{ $dateFromString: { dateString: '29/02/2024', format: '%d/%m/%Y' } }, date('2024-02-29')],
  [{ $dateFromString: { dateString: 'x', onError: 'bad' } }, 'bad'],
  [{ $dateAdd: { startDate: date('2024-01-31'), unit: 'month', amount: 1 } }, date('2024-02-29')],
  [
    {
      $dateAdd: {
        startDate: date('2024-03-30T12:00:00Z'),
        unit: 'day',
        amount: 1,
        timezone: 'Europe/Berlin',
      },
    },
    date('2024-03-31T11:00:00Z'),
  ],
  [
    { $dateSubtract: { startDate: '$t', unit: 'hour', amount: 1 } },
    date('2024-02-29T12:14:15.678Z'),
  ],
  [
    { $dateDiff: { startDate: date('2023-12-31'), endDate: date('2024-01-01'), unit: 'year' } },
    long(1),
  ],
  [
    { $dateDiff: { startDate: date('2024-02-24'), endDate: date('2024-02-25'), unit: 'week' } },
    long(1),
  ],
  [
    {
      $dateDiff: {
        startDate: date('2024-02-24'),
        endDate: date('2024-02-25'),
        unit: 'week',
        startOfWeek: 'Monday',
      },
    },
    long(0),
  ],
  [{ $dateTrunc: { date: '$t', unit: 'month' } }, date('2024-02-01')],
  [{ $dateTrunc: { date: '$t', unit: 'hour', binSize: 6 } }, date('2024-02-29T12:00:00Z')],
  [{ $dateTrunc: { date: '$t', unit: 'week', startOfWeek: 'mon' } }, date('2024-02-26')],
  [
    { $dateTrunc: { date: '$t', unit: 'day', timezone: 'Asia/Tokyo' } },
    date('2024-02-28T15:00:00Z'),
  ],
  // Conversions.
  [{ $type: '$long' }, 'long'],
  [{ $type: '$zz' }, 'missing'],
  [{ $isNumber: '$decimal' }, true],
  [{ $toInt: '12' }, 12],
  [{ $toInt: 2.9 }, 2],
  [{ $toLong: '$a' }, long(5)],
  [{ $toLong: date('1970-01-01T00:00:01Z') }, long(1000)],
  [{ $toDouble: '1.5' }, double(1.5)],
  [{ $toDecimal: 2.5 }, decimal('2.50000000000000')],
  [{ $toDecimal: '1.10' }, decimal('1.10')],
  [{ $toString: '$t' }, '2024-02-29T13:14:15.678Z'],
  [{ $toString: double(2) }, '2'],
  [{ $toString: double(1e-7) }, '1e-07'],
  [{ $toString: double(1e16) }, '1e+16'],
  [{ $toString: long(7) }, '7'],
  [{ $toBool: 'false' }, true],
  [{ $toDate: long(0) }, date('1970-01-01')],
  [{ $toDate: '2024-01-01' }, date('2024-01-01')],
  [{ $toObjectId: '64b000000000000000000001' }, new ObjectId('64b000000000000000000001')],
  [{ $convert: { input: 'x', to: 'int', onError: -1 } }, -1],
  [{ $convert: { input: '$n', to: 'int', onNull: 0 } }, 0],
  [{ $convert: { input: '7', to: 16 } }, 7],
  // Statistics.
  [{ $sum: '$c' }, 6],
  [{ $sum: ['$a', '$double', 'x'] }, double(7.5)],
  [{ $avg: '$c' }, double(2)],
  [{ $min: '$c' }, 1],
  [{ $max: ['$a', 'x', null] }, 'x'],
  [{ $stdDevPop: '$c' }, double(Math.sqrt(2 / 3))],
  [{ $stdDevSamp: [1] }, null],
  [{ $median: { input: '$c', method: 'approximate' } }, double(2)],
  [{ $percentile: { input: '$c', p: [0, 1], method: 'approximate' } }, [double(1), double(3)]],
];

/** What the library makes of the value, types told apart. */
function shown(value: Value | undefined): string {
  if (value === undefined) return 'missing';
  const { '': plain } = deserialize(encodeValue(value), { promoteValues: false });
  return EJSON.stringify({ value: plain }, { relaxed: false });
}

function evaluate(expression: unknown): Value | undefined {
  const compiled = compileExpression(valueFrom(expression) as Value, PLAIN_LANGUAGE);
  const raw = compiled(scopeOf(Row.ofBytes(bytesOf(document))));
  const decoded = compiled(scopeOf(Row.ofDocument(documentFrom(document))));
  assert.equal(shown(raw), shown(decoded), 'bytes and documents give the same');
  return raw;
}

for (const [expression, expected] of rows) {
  test(`expression ${EJSON.stringify(expression)}`, () => {
    const wanted = expected === MISSING ? undefined : valueFrom(expected);
    assert.equal(shown(evaluate(expression)), shown(wanted));
  });
}

const refused: readonly (readonly [expression: unknown, code: number, message: RegExp])[] = [
  [{ $nope: 1 }, 168, /^Unrecognized expression '\$nope'$/],
  ['$$nope', 17276, /^Use of undefined variable: nope$/],
  ['$', 16872, /by itself is not a valid FieldPath/],
  ['$a..b', 15998, /may not be empty/],
  ['$a.', 40353, /must not end with/],
  [{ $add: 1, $subtract: 2 }, 15983, /exactly one field/],
  [
    { $subtract: [1] },
    16020,
    /^Expression \$subtract takes exactly 2 arguments. 1 were passed in.$/,
  ],
  [{ $slice: [1] }, 28667, /takes at least 2 arguments, and at most 3, but 1 were passed in/],
  [{ $add: ['x'] }, 14, /^\$add only supports numeric or date types, not string$/],
  [{ $divide: [1, 0] }, 2, /^can't \$divide by zero$/],
  [{ $mod: [1, 0] }, 16610, /^can't \$mod by zero$/],
  [{ $size: 1 }, 17124, /must be an array/],
  [{ $toInt: 'x' }, 241, /^Failed to parse number 'x' in \$convert with no onError value$/],
  [{ $toInt: long(2 ** 40) }, 241, /overflow/],
  [{ $toInt: 3e9 }, 241, /target type in \$convert with no onError value: 3000000000$/],
  [{ $range: [0.5, 3] }, 34444, /a starting value that can be represented as a 32-bit integer/],
  [{ $toObjectId: 'x' }, 241, /Failed to parse objectId 'x'/],
  [{ $dateFromString: { dateString: 'x' } }, 241, /Error parsing date string 'x'/],
  [{ $hour: { date: '$t', timezone: 'Nowhere/At_All' } }, 40485, /unrecognized time zone/],
  [{ $cond: [1] }, 16020, /exactly 3 arguments/],
  [
    { $switch: { branches: [{ case: false, [THEN]: 1 }] } },
    40066,
    /could not find a matching branch/,
  ],
  [{ $let: { vars: { X: 1 }, in: 1 } }, 9, /invalid character for a user variable name/],
  [{ $map: { input: 1, in: 1 } }, 16883, /must be an array/],
  [{ $map: { input: [] } }, 9, /Missing 'in' parameter/],
  [{ $function: {} }, 2, /\$function is not supported/],
  [{ $range: [0, 10_000_000] }, 146, /longer than/],
  [{ $concat: [1] }, 16702, /only supports strings, not int/],
  [{ $sqrt: -1 }, 28714, /greater than or equal to 0/],
];
for (const [expression, code, message] of refused) {
  test(`expression ${EJSON.stringify(expression)} is refused`, () => {
    assert.throws(() => evaluate(expression), { code, message });
  });
}

test('every operator has a row', () => {
  const text = EJSON.stringify([...rows, ...refused]);
  const without = OPERATOR_NAMES.filter((name) => !text.includes(`"${name}"`));
  assert.deepEqual(without, UNTESTED);
});

/** Siblings of operators in the rows that differ by one function of the platform. */
const UNTESTED = [
  ...['$cos', '$tan', '$asin', '$acos', '$atan', '$sinh', '$cosh', '$tanh', '$asinh', '$acosh'],
  ...['$atanh', '$radiansToDegrees', '$const', '$sampleRate', '$meta', '$accumulator'],
];

test('a binary is as long as its bytes', () => {
  assert.equal(
    shown(evaluate({ $binarySize: new Binary(Buffer.from([1, 2])) })),
    shown(valueFrom(2)),
  );
});
