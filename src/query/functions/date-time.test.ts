// Every function of dates and times with every name of a part, at the ends of months, of bins and
// of the range of years, to the last tick.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDateTime, printDateTime } from './date-parts.js';
import { dateTimeFunctions } from './date-time.js';
import { type Row, testRows } from './rows.suite.js';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  year: ['year', 'yyyy', 'yy', 'YEAR'],
  month: ['month', 'mm', 'm'],
  day: ['day', 'dd', 'd'],
  hour: ['hour', 'hh'],
  minute: ['minute', 'mi', 'n'],
  second: ['second', 'ss', 's'],
  millisecond: ['millisecond', 'ms'],
  microsecond: ['microsecond', 'mcs'],
  nanosecond: ['nanosecond', 'ns'],
};
const PARTS = Object.keys(NAMES);
const perName = (rowsOf: (name: string, part: string) => Row): readonly Row[] =>
  PARTS.flatMap((part) => (NAMES[part] ?? []).map((name) => rowsOf(name, part)));

/** The clock of these tests is at 2023-11-14T22:13:20Z. */
const NOW_MS = 1_700_000_000_000;
const NOW = '2023-11-14T22:13:20.0000000Z';

const clockRows: readonly Row[] = [
  ['GETCURRENTDATETIME', [], NOW],
  ['GETCURRENTDATETIMESTATIC', [], NOW],
  ['NOW', [], NOW],
  ['GETCURRENTTIMESTAMP', [], NOW_MS],
  ['GETCURRENTTIMESTAMPSTATIC', [], NOW_MS],
  ['GETCURRENTTICKS', [], NOW_MS * 10_000],
  ['GETCURRENTTICKSSTATIC', [], NOW_MS * 10_000],
  ['AGO', ['yyyy', 1], '2022-11-14T22:13:20.0000000Z'],
  ['AGO', ['mm', -3], '2024-02-14T22:13:20.0000000Z'],
  ['AGO', ['ss', 30], '2023-11-14T22:12:50.0000000Z'],
  ['AGO', ['ns', 100], '2023-11-14T22:13:19.9999999Z'],
  ['AGO', ['ms', 0.5], undefined],
  ['AGO', ['week', 1], undefined],
];

test('only strict strings are dates', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['2020-01-02', '2020-01-02T00:00:00.0000000Z'],
    ['2020-01-02Z', '2020-01-02T00:00:00.0000000Z'],
    ['2020-01-02T03:04:05', '2020-01-02T03:04:05.0000000Z'],
    ['2020-01-02 03:04:05Z', '2020-01-02T03:04:05.0000000Z'],
    ['2020-01-02T03:04:05.6Z', '2020-01-02T03:04:05.6000000Z'],
    ['2020-01-02T03:04:05.6789123Z', '2020-01-02T03:04:05.6789123Z'],
    ['1601-01-01T00:00:00.0000000Z', '1601-01-01T00:00:00.0000000Z'],
    ['9999-12-31T23:59:59.9999999Z', '9999-12-31T23:59:59.9999999Z'],
    ['2000-02-29', '2000-02-29T00:00:00.0000000Z'],
    ['1900-02-29', undefined],
    ['1600-12-31T23:59:59.9999999Z', undefined],
    ['2020-1-02', undefined],
    ['2020-13-02', undefined],
    ['2020-00-02', undefined],
    ['2020-01-00', undefined],
    ['2020-01-02T24:00:00', undefined],
    ['2020-01-02T23:60:00', undefined],
    ['2020-01-02T23:59:60', undefined],
    ['2020-01-02T03:04', undefined],
    ['2020-01-02T03:04:05.', undefined],
    ['2020-01-02T03:04:05.12345678Z', undefined],
    ['2020-01-02T03:04:05+00:00', undefined],
    ['2020-01-02t03:04:05z', undefined],
    [' 2020-01-02', undefined],
    ['2020-01-02\n', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of rows) {
    const ticks = parseDateTime(text);
    assert.equal(ticks === undefined ? undefined : printDateTime(ticks), expected, text);
  }
});

const START = '2020-01-31T23:59:59.9999999Z';

const later: Readonly<Record<string, string>> = {
  year: '2021-01-31T23:59:59.9999999Z',
  month: '2020-02-29T23:59:59.9999999Z',
  day: '2020-02-01T23:59:59.9999999Z',
  hour: '2020-02-01T00:59:59.9999999Z',
  minute: '2020-02-01T00:00:59.9999999Z',
  second: '2020-02-01T00:00:00.9999999Z',
  millisecond: '2020-02-01T00:00:00.0009999Z',
  microsecond: '2020-02-01T00:00:00.0000009Z',
  nanosecond: START,
};
const addRows: readonly Row[] = [
  ...perName((name, part) => ['DATETIMEADD', [name, 1, START], later[part]]),
  ['DATETIMEADD', ['ns', 100, START], '2020-02-01T00:00:00.0000000Z'],
  ['DATETIMEADD', ['ns', -199, START], '2020-01-31T23:59:59.9999998Z'],
  ['DATETIMEADD', ['mm', 13, START], '2021-02-28T23:59:59.9999999Z'],
  ['DATETIMEADD', ['mm', -2, START], '2019-11-30T23:59:59.9999999Z'],
  ['DATETIMEADD', ['m', -1, '2020-01-15'], '2019-12-15T00:00:00.0000000Z'],
  ['DATETIMEADD', ['yy', 1, '2020-02-29'], '2021-02-28T00:00:00.0000000Z'],
  ['DATETIMEADD', ['ss', 5 * -5, '2020-07-03T00:00:00.0000000'], '2020-07-02T23:59:35.0000000Z'],
  ['DATETIMEADD', ['dd', 0, '1969-12-31T23:59:59.9999999'], '1969-12-31T23:59:59.9999999Z'],
  ['DATETIMEADD', ['ns', -100, '1601-01-01'], undefined],
  ['DATETIMEADD', ['mm', -1, '1601-01-01'], undefined],
  ['DATETIMEADD', ['ns', 100, '9999-12-31T23:59:59.9999999Z'], undefined],
  ['DATETIMEADD', ['yyyy', 1, '9999-01-01'], undefined],
  ['DATETIMEADD', ['dd', 1e300, '2020-01-01'], undefined],
  ['DATETIMEADD', ['yyyy', 1e300, '2020-01-01'], undefined],
  ['DATETIMEADD', ['dd', 1.5, '2020-01-01'], undefined],
  ['DATETIMEADD', ['weeks', 1, '2020-01-01'], undefined],
  ['DATETIMEADD', ['dd', 1, '2020-02-30'], undefined],
  ['DATETIMEADD', ['dd', '1', '2020-01-01'], undefined],
  ['DATETIMEADD', ['dd', 1, undefined], undefined],
];

const crossed: Readonly<Record<string, number>> = {
  year: 1,
  month: 1,
  day: 1,
  hour: 1,
  minute: 1,
  second: 1,
  millisecond: 1,
  microsecond: 1,
  nanosecond: 100,
};
const [last, first] = ['2019-12-31T23:59:59.9999999Z', '2020-01-01T00:00:00.0000000Z'];
const [from, to] = ['2019-02-04T16:00:00.0000000', '2018-03-05T05:00:00.0000000'];
const differenceRows: readonly Row[] = [
  ...perName((name, part) => ['DATETIMEDIFF', [name, last, first], crossed[part]]),
  ['DATETIMEDIFF', ['yyyy', first, last], -1],
  ['DATETIMEDIFF', ['dd', first, '2020-01-01T23:59:59.9999999Z'], 0],
  ['DATETIMEDIFF', ['hh', '1969-12-31T23:59:59', '1970-01-01T00:00:00'], 1],
  ['DATETIMEDIFF', ['hh', '1969-12-31T23:00:00', '1969-12-31T23:59:59.9999999'], 0],
  ['DATETIMEDIFF', ['yyyy', from, to], -1],
  ['DATETIMEDIFF', ['mm', from, to], -11],
  ['DATETIMEDIFF', ['dd', from, to], -336],
  ['DATETIMEDIFF', ['hh', from, to], -8075],
  ['DATETIMEDIFF', ['hh', to, from], 8075],
  ['DATETIMEDIFF', ['x', first, last], undefined],
  ['DATETIMEDIFF', ['dd', 'today', last], undefined],
  ['DATETIMEDIFF', ['dd', first, 'today'], undefined],
  ['DATETIMEDIFF', ['dd', first, null], undefined],
];

const parts: Readonly<Record<string, number>> = {
  year: 2016,
  month: 5,
  day: 29,
  hour: 8,
  minute: 30,
  second: 7,
  millisecond: 130,
  microsecond: 130_161,
  nanosecond: 130_161_700,
};
const MAY = '2016-05-29T08:30:07.1301617';
const partRows: readonly Row[] = [
  ...perName((name, part) => ['DATETIMEPART', [name, MAY], parts[part]]),
  ['DATETIMEPART', ['dd', '1601-01-01'], 1],
  ['DATETIMEPART', ['ns', '1969-12-31T23:59:59.9999999Z'], 999_999_900],
  ['DATETIMEPART', ['weekday', MAY], undefined],
  ['DATETIMEPART', ['dd', '2016-05-32'], undefined],
  ['DATETIMEPART', ['dd', 7], undefined],
  ['YEAR', [MAY], 2016],
  ['MONTH', [MAY], 5],
  ['DAY', [MAY], 29],
  ['YEAR', ['x'], undefined],
  ['MONTH', [5], undefined],
  ['DAY', [undefined], undefined],
];

const starts: Readonly<Record<string, string | undefined>> = {
  year: undefined,
  month: undefined,
  day: '2021-01-08T00:00:00.0000000Z',
  hour: '2021-01-08T18:00:00.0000000Z',
  minute: '2021-01-08T18:35:00.0000000Z',
  second: '2021-01-08T18:35:12.0000000Z',
  millisecond: '2021-01-08T18:35:12.1230000Z',
  microsecond: '2021-01-08T18:35:12.1234560Z',
  nanosecond: undefined,
};
const JANUARY = '2021-01-08T18:35:12.1234567Z';
const binRows: readonly Row[] = [
  ...perName((name, part) => ['DATETIMEBIN', [JANUARY, name], starts[part]]),
  ['DATETIMEBIN', [JANUARY, 'hh', 5], '2021-01-08T15:00:00.0000000Z'],
  ['DATETIMEBIN', [JANUARY, 'dd', 7], '2021-01-07T00:00:00.0000000Z'],
  [
    'DATETIMEBIN',
    [JANUARY, 'dd', 7, '1601-01-01T00:00:00.0000000'],
    '2021-01-04T00:00:00.0000000Z',
  ],
  ['DATETIMEBIN', [JANUARY, 'ns', 100], JANUARY],
  ['DATETIMEBIN', [JANUARY, 'ns', 99], undefined],
  ['DATETIMEBIN', [JANUARY, 'ns', 1000], '2021-01-08T18:35:12.1234560Z'],
  ['DATETIMEBIN', ['1969-12-31T23:59:59', 'dd'], '1969-12-31T00:00:00.0000000Z'],
  ['DATETIMEBIN', ['1601-01-01', 'dd', 300_000], undefined],
  ['DATETIMEBIN', [JANUARY, 'dd', 0], undefined],
  ['DATETIMEBIN', [JANUARY, 'dd', -1], undefined],
  ['DATETIMEBIN', [JANUARY, 'dd', 1.5], undefined],
  ['DATETIMEBIN', [JANUARY, 'dd', '1'], undefined],
  ['DATETIMEBIN', [JANUARY, 'dd', 1, 'x'], undefined],
  ['DATETIMEBIN', ['x', 'dd'], undefined],
  ['DATETIMEBIN', [JANUARY, 'x'], undefined],
];

const fromPartsRows: readonly Row[] = [
  ['DATETIMEFROMPARTS', [2017, 4, 20], '2017-04-20T00:00:00.0000000Z'],
  ['DATETIMEFROMPARTS', [2017, 4, 20, 13], '2017-04-20T13:00:00.0000000Z'],
  ['DATETIMEFROMPARTS', [2017, 4, 20, 13, 15], '2017-04-20T13:15:00.0000000Z'],
  ['DATETIMEFROMPARTS', [2017, 4, 20, 13, 15, 20], '2017-04-20T13:15:20.0000000Z'],
  ['DATETIMEFROMPARTS', [2017, 4, 20, 13, 15, 20, 3_456_789], '2017-04-20T13:15:20.3456789Z'],
  ['DATETIMEFROMPARTS', [2017, 4, 20, 13, 15, 20, 1], '2017-04-20T13:15:20.0000001Z'],
  ['DATETIMEFROMPARTS', [2024, 2, 29], '2024-02-29T00:00:00.0000000Z'],
  ['DATETIMEFROMPARTS', [2023, 2, 29], undefined],
  ['DATETIMEFROMPARTS', [2024, 2, 30], undefined],
  ['DATETIMEFROMPARTS', [2024, 4, 31], undefined],
  ['DATETIMEFROMPARTS', [-2000, -1, -1], undefined],
  ['DATETIMEFROMPARTS', [1600, 12, 31], undefined],
  ['DATETIMEFROMPARTS', [10_000, 1, 1], undefined],
  ['DATETIMEFROMPARTS', [2024, 0, 1], undefined],
  ['DATETIMEFROMPARTS', [2024, 13, 1], undefined],
  ['DATETIMEFROMPARTS', [2024, 1, 0], undefined],
  ['DATETIMEFROMPARTS', [2024, 1, 1, 24], undefined],
  ['DATETIMEFROMPARTS', [2024, 1, 1, 0, 60], undefined],
  ['DATETIMEFROMPARTS', [2024, 1, 1, 0, 0, 60], undefined],
  ['DATETIMEFROMPARTS', [2024, 1, 1, 0, 0, 0, 10_000_000], undefined],
  ['DATETIMEFROMPARTS', [2024, 1.5, 1], undefined],
  ['DATETIMEFROMPARTS', [2024, '1', 1], undefined],
  ['DATETIMEFROMPARTS', [2024, 1, 1, undefined], undefined],
];

const tickRows: readonly Row[] = [
  ['DATETIMETOTICKS', ['1970-01-01T00:00:00.0000001Z'], 1],
  ['DATETIMETOTICKS', ['1969-12-31T23:59:59.9999999Z'], -1],
  // The odd number of ticks has no double; its even neighbour is the nearest.
  ['DATETIMETOTICKS', ['2020-01-02T03:04:05.6789123Z'], 15_779_342_456_789_124],
  ['DATETIMETOTICKS', ['1601-01-01'], -116_444_736_000_000_000],
  ['DATETIMETOTICKS', ['x'], undefined],
  ['DATETIMETOTICKS', [1], undefined],
  ['DATETIMETOTIMESTAMP', ['2020-07-09T23:20:13.4575530Z'], 1_594_336_813_457],
  ['DATETIMETOTIMESTAMP', ['1969-12-31T23:59:59.9999999Z'], -1],
  ['DATETIMETOTIMESTAMP', ['x'], undefined],
  ['DATETIMETOTIMESTAMP', [null], undefined],
  ['TICKSTODATETIME', [15_943_368_134_575_530], '2020-07-09T23:20:13.4575530Z'],
  ['TICKSTODATETIME', [-1], '1969-12-31T23:59:59.9999999Z'],
  ['TICKSTODATETIME', [-116_444_736_000_000_000], '1601-01-01T00:00:00.0000000Z'],
  ['TICKSTODATETIME', [-116_444_736_000_000_000 - 16], undefined],
  ['TICKSTODATETIME', [1e300], undefined],
  ['TICKSTODATETIME', [Number.POSITIVE_INFINITY], undefined],
  ['TICKSTODATETIME', ['1'], undefined],
  ['TIMESTAMPTODATETIME', [1_594_227_912_345], '2020-07-08T17:05:12.3450000Z'],
  ['TIMESTAMPTODATETIME', [1_594_227_912_345.9], '2020-07-08T17:05:12.3450000Z'],
  ['TIMESTAMPTODATETIME', [-1], '1969-12-31T23:59:59.9990000Z'],
  ['TIMESTAMPTODATETIME', [-11_644_473_600_000], '1601-01-01T00:00:00.0000000Z'],
  ['TIMESTAMPTODATETIME', [-11_644_473_600_001], undefined],
  ['TIMESTAMPTODATETIME', [253_402_300_799_999], '9999-12-31T23:59:59.9990000Z'],
  ['TIMESTAMPTODATETIME', [253_402_300_800_000], undefined],
  ['TIMESTAMPTODATETIME', [true], undefined],
];

/** On Sunday, 2004-03-07T09:05:08.0120000Z. */
const patterns: readonly (readonly [pattern: string, expected: string | undefined])[] = [
  ['yyyyMMdd', '20040307'],
  ['y yy yyy yyyy yyyyy', '4 04 2004 2004 02004'],
  ['M MM MMM MMMM', '3 03 Mar March'],
  ['d dd ddd dddd', '7 07 Sun Sunday'],
  ['H HH h hh', '9 09 9 09'],
  ['m mm s ss', '5 05 8 08'],
  ['t tt', 'A AM'],
  ['f ff fff fffffff', '0 01 012 0120000'],
  ['F FF FFF FFFFFFF', ' 01 012 012'],
  ['yyyy-MM-dd [HH:mm:ss]', '2004-03-07 [09:05:08]'],
  ['To\\da\\y i\\s: yyyy', 'Today is: 2004'],
  ['\\\\', '\\'],
  ['\\😀', '😀'],
  ['', ''],
  ['ffffffff', undefined],
  ['FFFFFFFF', undefined],
  ['yyyy\\', undefined],
];

const formatRows: readonly Row[] = [
  ...patterns.map(([pattern, expected]): Row => {
    return ['DATETIMEFORMAT', ['2004-03-07T09:05:08.0120000Z', pattern], expected];
  }),
  ['DATETIMEFORMAT', ['2024-10-10 14:40:20', 'ss.FFF'], '20.'],
  ['DATETIMEFORMAT', ['2024-10-10 14:40:20', 'h tt'], '2 PM'],
  ['DATETIMEFORMAT', ['2024-10-10 00:40:20', 'hh t'], '12 A'],
  ['DATETIMEFORMAT', ['2024-10-10 12:40:20', 'h tt'], '12 PM'],
  ['DATETIMEFORMAT', ['10/10/2024', 'yyyy'], undefined],
  ['DATETIMEFORMAT', ['2024-10-10', 4], undefined],
];

testRows(dateTimeFunctions, [
  ...clockRows,
  ...addRows,
  ...differenceRows,
  ...partRows,
  ...binRows,
  ...fromPartsRows,
  ...tickRows,
  ...formatRows,
]);
