// Every built-in function of the query language, called in the text of a query on what is stored in
// a document; and how a call with too few or too many arguments is refused.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Container } from '@azure/cosmos';
import { functions } from '../../src/query/functions/all.js';
import { type Box, NOON, ok, refused, serve } from './support.suite.js';

type Rows = readonly (readonly [expression: string, expected: unknown])[];
/** What a call takes at least and at most, and calls with their values. */
type Signature = readonly [min: number, max: number, rows: Rows];
type Family = Readonly<Record<string, Signature>>;

const MANY = Number.POSITIVE_INFINITY;
const server = await serve();
let box: Box;
let container: Container;

const SQUARE = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
  [0, 0],
];
const item = {
  id: 'item',
  pk: 'p',
  s: 'Hello World',
  pad: '  x  ',
  n: -2.5,
  i: 7,
  t: true,
  z: null,
  arr: [1, 2, 3],
  mixed: ['a', 1, null, false],
  objs: [{ a: 1, b: { c: 2, d: 3 } }, { a: 3 }],
  o: { a: 1, b: 'x' },
  d: '2024-02-29T23:59:59.1234567Z',
  inside: { type: 'Point', coordinates: [0.5, 0.5] },
  outside: { type: 'Point', coordinates: [0, 2] },
  line: {
    type: 'LineString',
    coordinates: [
      [-1, 0.5],
      [2, 0.5],
    ],
  },
  square: { type: 'Polygon', coordinates: [SQUARE] },
  open: { type: 'Polygon', coordinates: [SQUARE.slice(0, 4)] },
  v: [3, 4],
  text: 'The quick brown fox jumped over a lazy dog',
};

before(async () => {
  box = await server.box();
  ok(await box.create(item), 201);
  container = server.client().database(box.database).container('c');
});

/** True for what it tells, false for everything else, undefined too. */
function check(yes: readonly string[], no: readonly string[]): Signature {
  const rows = [...yes.map((each) => [each, true]), ...no.map((each) => [each, false])];
  return [1, 1, rows as unknown as Rows];
}

const CHECKED = ['z', 't', 'i', 's', 'arr', 'o'].map((name) => `c.${name}`);
const but = (...names: readonly string[]) => CHECKED.filter((name) => !names.includes(name));

const typeChecks: Family = {
  IS_ARRAY: check(['IS_ARRAY(c.arr)'], calls('IS_ARRAY', but('c.arr'))),
  IS_BOOL: check(['IS_BOOL(c.t)'], calls('IS_BOOL', but('c.t'))),
  IS_BOOLEAN: check(['IS_BOOLEAN(c.t)'], calls('IS_BOOLEAN', but('c.t'))),
  IS_NULL: check(['IS_NULL(c.z)'], calls('IS_NULL', but('c.z'))),
  IS_NUMBER: check(['IS_NUMBER(c.i)', 'IS_NUMBER(c.n)'], calls('IS_NUMBER', but('c.i'))),
  IS_OBJECT: check(['IS_OBJECT(c.o)'], calls('IS_OBJECT', but('c.o'))),
  IS_STRING: check(['IS_STRING(c.s)'], calls('IS_STRING', but('c.s'))),
  IS_DEFINED: check(
    CHECKED.map((name) => `IS_DEFINED(${name})`),
    ['IS_DEFINED(c.missing)', 'IS_DEFINED(c.o.missing)', 'IS_DEFINED(c.arr[3])'],
  ),
  IS_PRIMITIVE: check(
    ['c.z', 'c.t', 'c.i', 'c.s'].map((name) => `IS_PRIMITIVE(${name})`),
    calls('IS_PRIMITIVE', ['c.arr', 'c.o']),
  ),
  IS_INTEGER: check(['IS_INTEGER(c.i)'], calls('IS_INTEGER', ['c.n', ...but('c.i')])),
  IS_FINITE_NUMBER: check(
    ['IS_FINITE_NUMBER(c.i)', 'IS_FINITE_NUMBER(c.n)'],
    calls('IS_FINITE_NUMBER', ['8.9 / 0.0', ...but('c.i')]),
  ),
  IS_DATETIME: check(
    ['c.d', "'2024-02-29'", "'2024-02-29 10:00:00Z'"].map((text) => `IS_DATETIME(${text})`),
    calls('IS_DATETIME', ["'2023-02-29'", "'yesterday'", ...CHECKED]),
  ),
};

function calls(name: string, args: readonly string[]): readonly string[] {
  return [...args, 'c.missing'].map((arg) => `${name}(${arg})`);
}

// biome-ignore format: a table is read in columns
const strings: Family = {
  CONCAT: [2, MANY, [["CONCAT('a', 'b', c.s)", 'abHello World'], ["CONCAT('a', 1)", undefined]]],
  CONTAINS: [2, 3, [["CONTAINS(c.s, 'World')", true], ["CONTAINS(c.s, 'world')", false],
    ["CONTAINS(c.s, 'world', true)", true], ["CONTAINS(c.i, '7')", undefined],
    ["CONTAINS(c.missing, 'x')", undefined]]],
  STARTSWITH: [2, 3, [["STARTSWITH(c.s, 'Hello')", true], ["STARTSWITH(c.s, 'hello')", false],
    ["STARTSWITH(c.s, 'hello', true)", true], ["STARTSWITH(c.s, 1)", undefined]]],
  ENDSWITH: [2, 3, [["ENDSWITH(c.s, 'World')", true], ["ENDSWITH(c.s, 'WORLD')", false],
    ["ENDSWITH(c.s, 'WORLD', true)", true], ["ENDSWITH(c.z, 'x')", undefined]]],
  STRINGEQUALS: [2, 3, [["STRINGEQUALS('a', 'a')", true], ["STRINGEQUALS('a', 'A')", false],
    ["STRINGEQUALS('a', 'A', true)", true], ['STRINGEQUALS(1, 1)', undefined]]],
  INDEX_OF: [2, 3, [["INDEX_OF(c.s, 'o')", 4], ["INDEX_OF(c.s, 'o', 5)", 7],
    ["INDEX_OF(c.s, 'x')", -1], ["INDEX_OF(c.i, 'o')", undefined]]],
  LASTINDEXOF: [2, 3, [["LASTINDEXOF('abcabc', 'abc')", 3], ["LASTINDEXOF('abcabc', 'abc', 5)", 3],
    ["LASTINDEXOF('abcabc', 'abc', 4)", 0], ["LASTINDEXOF('abcabc', 'x')", -1]]],
  LEFT: [2, 2, [['LEFT(c.s, 5)', 'Hello'], ['LEFT(c.s, 99)', 'Hello World'], ['LEFT(c.s, 0)', ''],
    ['LEFT(c.s, -1)', ''], ['LEFT(c.i, 1)', undefined]]],
  RIGHT: [2, 2, [['RIGHT(c.s, 5)', 'World'], ['RIGHT(c.s, 99)', 'Hello World'],
    ['RIGHT(c.s, 0)', ''], ['RIGHT(c.s, -1)', ''], ["RIGHT(c.s, '1')", undefined]]],
  LENGTH: [1, 1, [['LENGTH(c.s)', 11], ["LENGTH('')", 0], ['LENGTH(c.arr)', undefined]]],
  LOWER: [1, 1, [['LOWER(c.s)', 'hello world'], ['LOWER(c.i)', undefined]]],
  UPPER: [1, 1, [['UPPER(c.s)', 'HELLO WORLD'], ['UPPER(c.missing)', undefined]]],
  LTRIM: [1, 2, [['LTRIM(c.pad)', 'x  '], ["LTRIM('xyabc', 'yx')", 'abc']]],
  RTRIM: [1, 2, [['RTRIM(c.pad)', '  x'], ["RTRIM('abcxy', 'yx')", 'abc']]],
  TRIM: [1, 2, [['TRIM(c.pad)', 'x'], ["TRIM('xyabcyx', 'yx')", 'abc'], ['TRIM(c.i)', undefined]]],
  REPLACE: [3, 3, [["REPLACE(c.s, 'o', '0')", 'Hell0 W0rld'],
    ["REPLACE(c.s, 'x', 'y')", 'Hello World'], ["REPLACE(c.s, 'o', 0)", undefined]]],
  REPLICATE: [2, 2, [["REPLICATE('ab', 3)", 'ababab'], ["REPLICATE('ab', 0)", ''],
    ["REPLICATE('ab', -1)", undefined], ["LENGTH(REPLICATE('a', 10000))", 10_000],
    ["REPLICATE('a', 10001)", undefined]]],
  REVERSE: [1, 1, [['REVERSE(c.s)', 'dlroW olleH'], ['REVERSE(c.arr)', undefined]]],
  SUBSTRING: [3, 3, [['SUBSTRING(c.s, 6, 3)', 'Wor'], ['SUBSTRING(c.s, 6, 99)', 'World'],
    ['SUBSTRING(c.s, 0, 0)', ''], ['SUBSTRING(c.s, 2, -1)', ''],
    ["SUBSTRING(c.s, '0', 1)", undefined]]],
  REGEXMATCH: [2, 3, [["REGEXMATCH(c.s, '^H.*d$')", true], ["REGEXMATCH(c.s, '^h')", false],
    ["REGEXMATCH(c.s, '^h', 'i')", true], [String.raw`REGEXMATCH('a\nb', 'a.b')`, false],
    [String.raw`REGEXMATCH('a\nb', 'a.b', 's')`, true],
    [String.raw`REGEXMATCH('a\nb', '^b')`, false],
    [String.raw`REGEXMATCH('a\nb', '^b', 'm')`, true], ["REGEXMATCH('ab', 'a b', 'x')", true],
    ["REGEXMATCH(c.i, '7')", undefined]]],
  STRINGSPLIT: [2, 2, [["STRINGSPLIT('a,b,,c', ',')", ['a', 'b', '', 'c']],
    ["STRINGSPLIT('abc', '')", ['abc']], ["STRINGSPLIT(c.i, ',')", undefined]]],
  STRINGJOIN: [2, 2, [["STRINGJOIN(['a', 'b'], ' ')", 'a b'], ["STRINGJOIN([], ',')", ''],
    ["STRINGJOIN(c.arr, ',')", undefined]]],
  TOSTRING: [1, 1, [['TOSTRING(c.s)', 'Hello World'], ['TOSTRING(c.n)', '-2.5'],
    ['TOSTRING(c.t)', 'true'], ['TOSTRING(c.o)', '{"a":1,"b":"x"}'], ['TOSTRING(c.arr)', '[1,2,3]'],
    ['TOSTRING(c.missing)', undefined]]],
  STRINGTOARRAY: [1, 1, [[`STRINGTOARRAY(' [1, "a", {}] ')`, [1, 'a', {}]],
    [`STRINGTOARRAY("['a']")`, undefined], ["STRINGTOARRAY('{}')", undefined],
    ['STRINGTOARRAY(c.arr)', undefined]]],
  STRINGTOOBJECT: [1, 1, [[`STRINGTOOBJECT(' {"a": [1]} ')`, { a: [1] }],
    [`STRINGTOOBJECT("{'a': 1}")`, undefined], ["STRINGTOOBJECT('[]')", undefined]]],
  STRINGTOBOOLEAN: [1, 1, [["STRINGTOBOOLEAN('true')", true], ["STRINGTOBOOLEAN(' false ')", false],
    ["STRINGTOBOOLEAN('True')", undefined], ["STRINGTOBOOLEAN('1')", undefined]]],
  STRINGTONULL: [1, 1, [["STRINGTONULL('null')", null], ["STRINGTONULL('NULL')", undefined]]],
  STRINGTONUMBER: [1, 1, [["STRINGTONUMBER(' -1.5e1 ')", -15], ["STRINGTONUMBER('x')", undefined],
    ["STRINGTONUMBER('')", undefined], ['STRINGTONUMBER(c.i)', undefined]]],
  CONTAINS_ALL_CI: [2, MANY, [["CONTAINS_ALL_CI(c.s, 'hello', 'WORLD')", true],
    ["CONTAINS_ALL_CI(c.s, 'hello', 'x')", false],
    ["CONTAINS_ALL_CI(c.s, 'hello', 1)", undefined]]],
  CONTAINS_ALL_CS: [2, MANY, [["CONTAINS_ALL_CS(c.s, 'Hello', 'World')", true],
    ["CONTAINS_ALL_CS(c.s, 'hello', 'World')", false],
    ["CONTAINS_ALL_CS(c.s, 'x', c.missing)", false]]],
  CONTAINS_ANY_CI: [2, MANY, [["CONTAINS_ANY_CI(c.s, 'x', 'WORLD')", true],
    ["CONTAINS_ANY_CI(c.s, 'x', 'y')", false], ["CONTAINS_ANY_CI(c.s, 'hello', c.missing)", true]]],
  CONTAINS_ANY_CS: [2, MANY, [["CONTAINS_ANY_CS(c.s, 'x', 'World')", true],
    ["CONTAINS_ANY_CS(c.s, 'x', 'WORLD')", false],
    ["CONTAINS_ANY_CS(c.s, 'x', c.missing)", undefined]]],
};

// biome-ignore format: a table is read in columns
const arrays: Family = {
  ARRAY_CONCAT: [2, MANY, [['ARRAY_CONCAT(c.arr, [4], [[5]])', [1, 2, 3, 4, [5]]],
    ['ARRAY_CONCAT(c.arr, 4)', undefined]]],
  ARRAY_CONTAINS: [2, 3, [['ARRAY_CONTAINS(c.arr, 2)', true], ["ARRAY_CONTAINS(c.arr, '2')", false],
    ['ARRAY_CONTAINS(c.mixed, null)', true],
    ['ARRAY_CONTAINS(c.objs, {b: {d: 3, c: 2}, a: 1})', true],
    ['ARRAY_CONTAINS(c.objs, {a: 1})', false], ['ARRAY_CONTAINS(c.objs, {a: 1}, true)', true],
    ['ARRAY_CONTAINS(c.objs, {b: {c: 2}}, true)', true],
    ['ARRAY_CONTAINS(c.objs, {a: 2}, true)', false], ['ARRAY_CONTAINS(c.s, 2)', undefined],
    ['ARRAY_CONTAINS(c.arr, c.missing)', undefined]]],
  ARRAY_CONTAINS_ANY: [2, MANY, [['ARRAY_CONTAINS_ANY(c.arr, 9, 2)', true],
    ['ARRAY_CONTAINS_ANY(c.arr, 8, 9)', false], ['ARRAY_CONTAINS_ANY(c.o, 1)', undefined]]],
  ARRAY_CONTAINS_ALL: [2, MANY, [['ARRAY_CONTAINS_ALL(c.arr, 3, 1)', true],
    ['ARRAY_CONTAINS_ALL(c.arr, 3, 9)', false], ['ARRAY_CONTAINS_ALL(c.s, 1)', undefined]]],
  ARRAY_LENGTH: [1, 1, [['ARRAY_LENGTH(c.arr)', 3], ['ARRAY_LENGTH([])', 0],
    ['ARRAY_LENGTH(c.s)', undefined]]],
  ARRAY_SLICE: [2, 3, [['ARRAY_SLICE(c.arr, 1)', [2, 3]], ['ARRAY_SLICE(c.arr, 0, 2)', [1, 2]],
    ['ARRAY_SLICE(c.arr, -2)', [2, 3]], ['ARRAY_SLICE(c.arr, -2, 1)', [2]],
    ['ARRAY_SLICE(c.arr, 9)', []], ["ARRAY_SLICE(c.arr, '1')", undefined]]],
  ARRAY_AVG: [1, 1, [['ARRAY_AVG(c.arr)', 2], ['ARRAY_AVG([1, c.missing, 2])', 1.5],
    ['ARRAY_AVG(c.mixed)', undefined]]],
  ARRAY_SUM: [1, 1, [['ARRAY_SUM(c.arr)', 6], ['ARRAY_SUM([])', 0],
    ["ARRAY_SUM([1, '2'])", undefined]]],
  ARRAY_MEDIAN: [1, 1, [['ARRAY_MEDIAN([3, 1, 2])', 2], ['ARRAY_MEDIAN([4, 1, 3, 2])', 2.5],
    ['ARRAY_MEDIAN(c.mixed)', undefined]]],
  ARRAY_MIN: [1, 1, [['ARRAY_MIN(c.arr)', 1], ['ARRAY_MIN(c.mixed)', null],
    ["ARRAY_MIN(['b', 'a'])", 'a'], ['ARRAY_MIN([])', undefined]]],
  ARRAY_MAX: [1, 1, [['ARRAY_MAX(c.arr)', 3], ['ARRAY_MAX(c.mixed)', 'a'],
    ['ARRAY_MAX([true, 0])', 0], ['ARRAY_MAX(c.o)', undefined]]],
  CHOOSE: [2, MANY, [["CHOOSE(1, 'a', 'b')", 'a'], ["CHOOSE(2, 'a', 'b')", 'b'],
    ["CHOOSE(3, 'a', 'b')", undefined], ["CHOOSE(0, 'a', 'b')", undefined],
    ["CHOOSE('1', 'a')", undefined]]],
  OBJECTTOARRAY: [1, 3, [['OBJECTTOARRAY(c.o)', [{ k: 'a', v: 1 }, { k: 'b', v: 'x' }]],
    ["OBJECTTOARRAY(c.o, 'name', 'value')", [{ name: 'a', value: 1 }, { name: 'b', value: 'x' }]],
    ['OBJECTTOARRAY(c.arr)', undefined]]],
  SETUNION: [2, 2, [['SETUNION([1, 2, 2], [2, 3])', [1, 2, 3]],
    ['SETUNION([{a: 1}], [{a: 1}])', [{ a: 1 }]], ['SETUNION(c.arr, 1)', undefined]]],
  SETINTERSECT: [2, 2, [['SETINTERSECT([1, 2, 3, 3], [3, 2, 9])', [3, 2]],
    ["SETINTERSECT([1], ['1'])", []]]],
  SETDIFFERENCE: [2, 2, [['SETDIFFERENCE(c.arr, [2])', [1, 3]],
    ['SETDIFFERENCE([1, 1], [])', [1]]]],
  SETEQUAL: [2, 2, [['SETEQUAL([1, 2, 2], [2, 1])', true], ['SETEQUAL([1], [1, 2])', false],
    ['SETEQUAL(c.s, c.s)', undefined]]],
};

/** Of one number; the same as in JavaScript. */
const unary = (name: string, x: number, expected: number): Signature => [
  1,
  1,
  [
    [`${name}(${x})`, expected],
    [`${name}(c.s)`, undefined],
    [`${name}(c.missing)`, undefined],
    [`${name}(c.z)`, undefined],
  ],
];

/** Values by the arguments that give them. */
function of(
  name: string,
  min: number,
  max: number,
  values: Readonly<Record<string, unknown>>,
): Signature {
  const rows = Object.entries(values).map(
    ([args, expected]) => [`${name}(${args})`, expected] as const,
  );
  return [min, max, rows];
}

const math: Family = {
  ABS: unary('ABS', -2.5, 2.5),
  ACOS: unary('ACOS', 0.5, Math.acos(0.5)),
  ASIN: unary('ASIN', 0.5, Math.asin(0.5)),
  ATAN: unary('ATAN', 1, Math.PI / 4),
  ATN2: of('ATN2', 2, 2, { '1, 1': Math.PI / 4, '1, -1': (Math.PI * 3) / 4, "1, 'x'": undefined }),
  CEILING: unary('CEILING', -2.5, -2),
  COS: unary('COS', 1, Math.cos(1)),
  COT: unary('COT', 1, 1 / Math.tan(1)),
  DEGREES: unary('DEGREES', Math.PI, 180),
  EXP: unary('EXP', 1, Math.exp(1)),
  FLOOR: unary('FLOOR', -2.5, -3),
  LOG: of('LOG', 1, 2, { '1': 0, '8, 2': 3, '1000, 10': 3, '0': undefined, 'c.s': undefined }),
  LOG10: unary('LOG10', 1000, 3),
  PI: of('PI', 0, 0, { '': Math.PI }),
  POWER: of('POWER', 2, 2, { '2, 10': 1024, 'c.i, 2': 49, '-1, 0.5': undefined }),
  RADIANS: unary('RADIANS', 180, Math.PI),
  ROUND: of('ROUND', 1, 2, { '2.4': 2, '2.5': 3, 'c.n': -3, '2.345, 2': 2.35, 'c.s': undefined }),
  SIGN: unary('SIGN', -2.5, -1),
  SIN: unary('SIN', 1, Math.sin(1)),
  SQRT: of('SQRT', 1, 1, { '49': 7, '-1': undefined, 'c.s': undefined }),
  SQUARE: unary('SQUARE', -3, 9),
  TAN: unary('TAN', 1, Math.tan(1)),
  TRUNC: unary('TRUNC', -2.5, -2),
  NUMBERBIN: of('NUMBERBIN', 1, 2, {
    '37.752': 37,
    '37.752, 10': 30,
    '37.752, -100': 100,
    '37.752, 0.25': 37.75,
    '37.752, 0': undefined,
    "'1', 1": undefined,
  }),
  INTADD: of('INTADD', 2, 2, { '20, 10': 30, '1.5, 1': undefined, "'1', 1": undefined }),
  INTSUB: of('INTSUB', 2, 2, { '20, 30': -10, '1, c.n': undefined }),
  INTMUL: of('INTMUL', 2, 2, { '6, 7': 42, '4294967296, 4294967296': 0, '1, c.z': undefined }),
  INTDIV: of('INTDIV', 2, 2, { '7, 2': 3, '-7, 2': -3, '7, 0': undefined }),
  INTMOD: of('INTMOD', 2, 2, { '7, 4': 3, '-7, 4': -3, '7, 0': undefined }),
  INTBITAND: of('INTBITAND', 2, 2, { '6, 3': 2, '4294967297, 4294967296': 4_294_967_296 }),
  INTBITOR: of('INTBITOR', 2, 2, { '6, 3': 7, '6, 0.5': undefined }),
  INTBITXOR: of('INTBITXOR', 2, 2, { '6, 3': 5, "6, '3'": undefined }),
  INTBITNOT: of('INTBITNOT', 1, 1, { '65': -66, '0.5': undefined }),
  INTBITLEFTSHIFT: of('INTBITLEFTSHIFT', 2, 2, { '16, 4': 256, '1, 32': 4_294_967_296 }),
  INTBITRIGHTSHIFT: of('INTBITRIGHTSHIFT', 2, 2, { '16, 4': 1, '-16, 2': -4 }),
};

const DUE = "'2021-06-28T17:24:29.2991234Z'";
const midnight = (day: string) => `${day}T00:00:00.0000000Z`;

// biome-ignore format: a table is read in columns
const dates: Family = {
  GETCURRENTDATETIME: of('GETCURRENTDATETIME', 0, 0, { '': '2030-06-01T12:00:00.2500000Z' }),
  GETCURRENTDATETIMESTATIC: of('GETCURRENTDATETIMESTATIC', 0, 0, {
    '': '2030-06-01T12:00:00.2500000Z' }),
  GETCURRENTTIMESTAMP: of('GETCURRENTTIMESTAMP', 0, 0, { '': NOON }),
  GETCURRENTTIMESTAMPSTATIC: of('GETCURRENTTIMESTAMPSTATIC', 0, 0, { '': NOON }),
  GETCURRENTTICKS: of('GETCURRENTTICKS', 0, 0, { '': NOON * 10_000 }),
  GETCURRENTTICKSSTATIC: of('GETCURRENTTICKSSTATIC', 0, 0, { '': NOON * 10_000 }),
  NOW: of('NOW', 0, 0, { '': '2030-06-01T12:00:00.2500000Z' }),
  AGO: of('AGO', 2, 2, { "'day', 1": '2030-05-31T12:00:00.2500000Z', "'soon', 1": undefined }),
  DATETIMEADD: of('DATETIMEADD', 3, 3, { "'day', 1, c.d": '2024-03-01T23:59:59.1234567Z',
    "'yyyy', 1, c.d": '2025-02-28T23:59:59.1234567Z',
    "'m', -1, c.d": '2024-01-29T23:59:59.1234567Z', "'ss', 1, c.d": '2024-03-01T00:00:00.1234567Z',
    "'ns', 100, c.d": '2024-02-29T23:59:59.1234568Z', "'week', 1, c.d": undefined,
    "'day', 1, 'x'": undefined }),
  DATETIMEDIFF: of('DATETIMEDIFF', 3, 3, {
    "'year', '2019-12-31T23:59:59Z', '2020-01-01T00:00:00Z'": 1,
    "'day', c.d, '2024-02-28'": -1, "'hh', '2024-02-29T20:59:00Z', c.d": 3, "'ms', c.d, c.d": 0,
    "'day', c.d, 'x'": undefined }),
  DATETIMEPART: of('DATETIMEPART', 2, 2, { "'yyyy', c.d": 2024, "'mm', c.d": 2, "'dd', c.d": 29,
    "'hh', c.d": 23, "'mi', c.d": 59, "'ss', c.d": 59, "'ms', c.d": 123, "'mcs', c.d": 123_456,
    "'ns', c.d": 123_456_700, "'x', c.d": undefined }),
  DATETIMEBIN: of('DATETIMEBIN', 2, 4, { [`${DUE}, 'day'`]: midnight('2021-06-28'),
    [`${DUE}, 'hh', 2`]: '2021-06-28T16:00:00.0000000Z',
    [`${DUE}, 'day', 7, '2021-06-01T00:00:00.0000000Z'`]: midnight('2021-06-22'),
    [`${DUE}, 'year'`]: undefined, "'x', 'day'": undefined }),
  DATETIMEFROMPARTS: of('DATETIMEFROMPARTS', 3, 7, { '2020, 9, 4': midnight('2020-09-04'),
    '2020, 9, 4, 10, 52, 12, 3456789': '2020-09-04T10:52:12.3456789Z', '2020, 13, 1': undefined,
    '2023, 2, 29': undefined }),
  DATETIMETOTICKS: of('DATETIMETOTICKS', 1, 1, { "'1970-01-01T00:00:01.0000000Z'": 10_000_000,
    "'x'": undefined }),
  DATETIMETOTIMESTAMP: of('DATETIMETOTIMESTAMP', 1, 1, { "'1970-01-01T00:00:01.0000000Z'": 1000,
    'c.i': undefined }),
  TICKSTODATETIME: of('TICKSTODATETIME', 1, 1, { '10000001': '1970-01-01T00:00:01.0000001Z',
    'c.s': undefined }),
  TIMESTAMPTODATETIME: of('TIMESTAMPTODATETIME', 1, 1, { '1001': '1970-01-01T00:00:01.0010000Z',
    '-1000': '1969-12-31T23:59:59.0000000Z', '-11644473600000': midnight('1601-01-01') }),
  DATETIMEFORMAT: of('DATETIMEFORMAT', 2, 2, {
    "c.d, 'yyyy/MM/dd HH:mm:ss.fff'": '2024/02/29 23:59:59.123',
    "c.d, 'HH\\\\hmm'": '23h59', "'2024-02-29T00:00:00.1200000Z', 'ss.FFF'": '00.12',
    "'x', 'yyyy'": undefined }),
  YEAR: of('YEAR', 1, 1, { 'c.d': 2024, "'x'": undefined }),
  MONTH: of('MONTH', 1, 1, { 'c.d': 2, 'c.i': undefined }),
  DAY: of('DAY', 1, 1, { 'c.d': 29, 'c.missing': undefined }),
};

// biome-ignore format: a table is read in columns
const others: Family = {
  IIF: of('IIF', 3, 3, { 'c.t, 1, 2': 1, 'false, 1, 2': 2, 'c.missing, 1, 2': 2, 'c.i, 1, 2': 2 }),
  ST_WITHIN: of('ST_WITHIN', 2, 2, { 'c.inside, c.square': true, 'c.outside, c.square': false,
    'c.inside, 1': undefined }),
  ST_INTERSECTS: of('ST_INTERSECTS', 2, 2, { 'c.line, c.square': true, 'c.outside, c.square': false,
    'c.s, c.square': undefined }),
  ST_ISVALID: of('ST_ISVALID', 1, 1, { 'c.square': true, 'c.open': false }),
  VECTORDISTANCE: of('VECTORDISTANCE', 2, 4, { 'c.v, [4, 3]': 0.96,
    "c.v, [0, 0], true, {distanceFunction: 'euclidean'}": 5,
    "c.v, [1, 2], false, {distanceFunction: 'dotproduct'}": 11, 'c.v, [1]': undefined,
    'c.v, c.s': undefined }),
  FULLTEXTCONTAINS: of('FULLTEXTCONTAINS', 2, 2, { "c.text, 'brown fox'": true,
    "c.text, 'FOX'": true, "c.text, 'cat'": false }),
  FULLTEXTCONTAINSALL: of('FULLTEXTCONTAINSALL', 2, MANY, { "c.text, 'fox', 'dog'": true,
    "c.text, 'fox', 'cat'": false }),
  FULLTEXTCONTAINSANY: of('FULLTEXTCONTAINSANY', 2, MANY, { "c.text, 'cat', 'dog'": true,
    "c.text, 'cat', 'cow'": false }),
};

/** Their values are not known in advance: see below. */
const LOOSE: Readonly<Record<string, readonly [number, number]>> = {
  RAND: [0, 0],
  DOCUMENTID: [1, 1],
  ST_DISTANCE: [2, 2],
  ST_ISVALIDDETAILED: [1, 1],
  ST_AREA: [1, 1],
};

const families = { typeChecks, strings, arrays, math, dates, others };
for (const [title, family] of Object.entries(families)) {
  describe(title, () => {
    let found: Readonly<Record<string, readonly (readonly unknown[])[]>>;

    before(async () => {
      // Each value in an array of its own, where undefined leaves nothing.
      const lists = Object.entries(family).map(
        ([name, [, , rows]]) => `${name}_: [${rows.map(([call]) => `[${call}]`).join(', ')}]`,
      );
      [found] = (await ask(`SELECT VALUE {${lists.join(', ')}} FROM c`)) as [typeof found];
    });

    for (const [name, [, , rows]] of Object.entries(family)) {
      test(name, () => {
        rows.forEach(([call, expected], index) => {
          const value = found[`${name}_`]?.[index]?.[0];
          assert.deepEqual(value, expected, `${call} is ${JSON.stringify(value)}`);
        });
      });
    }
  });
}

test('RAND is a number from 0 to 1, and another for every call', async () => {
  const [[a, b]] = (await ask('SELECT VALUE [RAND(), RAND()] FROM c')) as [[number, number]];
  assert.ok(a >= 0 && a < 1 && b >= 0 && b < 1 && a !== b);
});

test('DOCUMENTID is an integer', async () => {
  assert.deepEqual(await ask('SELECT VALUE IS_INTEGER(DOCUMENTID(c)) FROM c'), [true]);
});

test('ST_DISTANCE and ST_AREA measure the ellipsoid of WGS-84', async () => {
  const origin = '{type: "Point", coordinates: [0, 0]}';
  const query = `SELECT VALUE [ST_DISTANCE(${origin}, c.outside), ST_AREA(c.square)] FROM c`;
  const [[metres, area]] = (await ask(query)) as [[number, number]];
  assert.ok(Math.abs(metres - 221_149) < 2, String(metres));
  assert.ok(Math.abs(area / 12_308_778_361 - 1) < 0.005, String(area));
  assert.deepEqual(await ask('SELECT VALUE ST_DISTANCE(c.inside, c.inside) FROM c'), [0]);
  assert.deepEqual(await ask('SELECT VALUE ST_DISTANCE(c.inside, c.s) FROM c'), []);
});

test('ST_ISVALIDDETAILED tells the reason', async () => {
  const query = 'SELECT VALUE [ST_ISVALIDDETAILED(c.square), ST_ISVALIDDETAILED(c.open)] FROM c';
  const [[good, bad]] = (await ask(query)) as [[object, { valid: boolean; reason: string }]];
  assert.deepEqual(good, { valid: true });
  assert.equal(bad.valid, false);
  assert.ok(bad.reason.length > 0);
});

test('names of functions are written in any case', async () => {
  assert.deepEqual(await ask('SELECT VALUE [upper(c.s), Upper(c.s)] FROM c'), [
    ['HELLO WORLD', 'HELLO WORLD'],
  ]);
});

test('there is a test for every function', () => {
  const known = Object.keys(functions).filter((name) => !name.startsWith('_'));
  const tested = [...Object.values(families).flatMap(Object.keys), ...Object.keys(LOOSE)];
  assert.deepEqual(new Set(tested), new Set([...known, 'DOCUMENTID']));
});

describe('a call with too few or too many arguments is SC2050', () => {
  const signatures = Object.values(families).flatMap((family) => Object.entries(family));
  for (const [name, [min, max]] of [...signatures, ...Object.entries(LOOSE)]) {
    test(name, async () => {
      const wrong = [min - 1, max + 1].filter((count) => count >= 0 && count < MANY);
      for (const count of wrong) {
        const args = new Array(count).fill('c.s').join(', ');
        const call = `${name}(${args})`;
        const message = await refusal(`SELECT VALUE ${call} FROM c`);
        assert.ok(message.includes('"code":"SC2050"'), message);
        assert.ok(message.includes(`{"start":13,"end":${13 + call.length}}`), message);
        assert.ok(message.includes(name), message);
      }
    });
  }
});

test('an unknown function is SC2005, and those of ORDER BY RANK stand nowhere else', async () => {
  for (const name of ['NOPE', 'valueOf', 'constructor', '__proto__']) {
    const message = await refusal(`SELECT VALUE ${name}(1) FROM c`);
    assert.ok(message.includes('"code":"SC2005"'), message);
    assert.ok(message.includes(`'${name}' is not a recognized built-in function name.`), message);
  }
  for (const call of ["FULLTEXTSCORE(c.text, 'fox')", "RRF(FULLTEXTSCORE(c.text, 'fox'))"]) {
    const message = await refusal(`SELECT VALUE ${call} FROM c`);
    assert.ok(message.includes('ORDER BY RANK'), message);
  }
});

async function ask(query: string): Promise<readonly unknown[]> {
  return (await container.items.query(query, { partitionKey: 'p' }).fetchAll()).resources;
}

/** The message of the 400 that a query meets. */
async function refusal(query: string): Promise<string> {
  const headers = { 'content-type': 'application/query+json', 'x-ms-documentdb-isquery': 'true' };
  const reply = await server.send('POST', `${box.path}/docs`, { body: { query }, headers });
  refused(reply, 400, 0);
  return String(reply.json.message);
}
