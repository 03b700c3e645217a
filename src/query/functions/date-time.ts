// Dates and times. The clock is the instant of the request, so that the plain and the STATIC
// variants answer the same.
import { type CallContext, type FunctionTable, fn, type Value } from '../function.js';
import { formatDateTime } from './date-format.js';
import {
  addParts,
  boundariesBetween,
  type DatePart,
  type DateParts,
  parseDateTime,
  partNamed,
  partsOfTicks,
  printDateTime,
  startOfBin,
  TICKS_PER_MILLISECOND,
  type Ticks,
  ticksInRange,
  ticksOfParts,
} from './date-parts.js';

const currentDateTime = fn<[]>([], (_, context) => print(currentTicks(context)));
const currentTimestamp = fn<[]>([], (_, { now }) => now);
/** Ticks that are whole milliseconds are even enough to be exact as numbers. */
const currentTicksNumber = fn<[]>([], (_, context) => Number(currentTicks(context)));

export const dateTimeFunctions: FunctionTable = {
  GETCURRENTDATETIME: currentDateTime,
  GETCURRENTDATETIMESTATIC: currentDateTime,
  NOW: currentDateTime,
  GETCURRENTTIMESTAMP: currentTimestamp,
  GETCURRENTTIMESTAMPSTATIC: currentTimestamp,
  GETCURRENTTICKS: currentTicksNumber,
  GETCURRENTTICKSSTATIC: currentTicksNumber,
  AGO: fn<[string, number]>(['string', 'number'], ([name, count], context) =>
    print(add(currentTicks(context), partNamed(name), -count)),
  ),
  DATETIMEADD: fn<[string, number, string]>(['string', 'number', 'string'], ([name, count, text]) =>
    print(add(parseDateTime(text), partNamed(name), count)),
  ),
  DATETIMEDIFF: fn<[string, string, string]>(
    ['string'],
    ([name, from, to]) => difference(partNamed(name), parseDateTime(from), parseDateTime(to)),
    [3, 3],
  ),
  DATETIMEPART: fn<[string, string]>(['string', 'string'], ([name, text]) =>
    partOf(partNamed(name), text),
  ),
  YEAR: fn<[string]>(['string'], ([text]) => partOf('year', text)),
  MONTH: fn<[string]>(['string'], ([text]) => partOf('month', text)),
  DAY: fn<[string]>(['string'], ([text]) => partOf('day', text)),
  DATETIMEBIN: fn<[string, string, number?, string?]>(
    ['string', 'string', 'number', 'string'],
    ([text, name, size, origin]) => print(bin(text, partNamed(name), size, origin)),
    [2, 4],
  ),
  DATETIMEFORMAT: fn<[string, string]>(['string', 'string'], ([text, pattern]) => {
    const ticks = parseDateTime(text);
    return ticks === undefined ? undefined : formatDateTime(ticks, pattern);
  }),
  DATETIMEFROMPARTS: fn<readonly number[]>(['number'], (parts) => print(fromParts(parts)), [3, 7]),
  /** The nearest number: beyond 2^53 not every count of ticks is one. */
  DATETIMETOTICKS: fn<[string]>(['string'], ([text]) => {
    const ticks = parseDateTime(text);
    return ticks === undefined ? undefined : Number(ticks);
  }),
  DATETIMETOTIMESTAMP: fn<[string]>(['string'], ([text]) => {
    const ticks = parseDateTime(text);
    return ticks === undefined ? undefined : boundariesBetween('millisecond', EPOCH, ticks);
  }),
  TICKSTODATETIME: fn<[number]>(['number'], ([ticks]) => print(wholeTicks(ticks, 1n))),
  TIMESTAMPTODATETIME: fn<[number]>(['number'], ([milliseconds]) =>
    print(wholeTicks(milliseconds, TICKS_PER_MILLISECOND)),
  ),
};

const EPOCH: Ticks = 0n;

function print(ticks: Ticks | undefined): Value {
  return ticks === undefined ? undefined : printDateTime(ticks);
}

function currentTicks({ now }: CallContext): Ticks {
  return BigInt(Math.floor(now)) * TICKS_PER_MILLISECOND;
}

function add(
  ticks: Ticks | undefined,
  part: DatePart | undefined,
  count: number,
): Ticks | undefined {
  return ticks === undefined || part === undefined ? undefined : addParts(ticks, part, count);
}

function difference(
  part: DatePart | undefined,
  from: Ticks | undefined,
  to: Ticks | undefined,
): Value {
  if (part === undefined || from === undefined || to === undefined) return undefined;
  return boundariesBetween(part, from, to);
}

function partOf(part: DatePart | undefined, text: string): Value {
  const ticks = parseDateTime(text);
  return part === undefined || ticks === undefined ? undefined : PART_OF[part](partsOfTicks(ticks));
}

/** The three smallest parts are all of the fraction of the second in that unit. */
const PART_OF: Readonly<Record<DatePart, (parts: DateParts) => number>> = {
  year: ({ year }) => year,
  month: ({ month }) => month,
  day: ({ day }) => day,
  hour: ({ hour }) => hour,
  minute: ({ minute }) => minute,
  second: ({ second }) => second,
  millisecond: ({ fraction }) => Math.floor(fraction / 10_000),
  microsecond: ({ fraction }) => Math.floor(fraction / 10),
  nanosecond: ({ fraction }) => fraction * 100,
};

function bin(
  text: string,
  part: DatePart | undefined,
  size = 1,
  originText?: string,
): Ticks | undefined {
  const ticks = parseDateTime(text);
  const origin = originText === undefined ? EPOCH : parseDateTime(originText);
  if (ticks === undefined || origin === undefined || part === undefined) return undefined;
  if (part === 'year' || part === 'month') return undefined;
  return startOfBin(ticks, part, size, origin);
}

function fromParts(parts: readonly number[]): Ticks | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, fraction = 0] = parts;
  return ticksOfParts({ year, month, day, hour, minute, second, fraction });
}

/** What is smaller than a unit is cut off. */
function wholeTicks(count: number, ticksPerUnit: bigint): Ticks | undefined {
  if (!Number.isFinite(count)) return undefined;
  return ticksInRange(BigInt(Math.trunc(count)) * ticksPerUnit);
}
