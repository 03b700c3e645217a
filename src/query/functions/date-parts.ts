// Date and time strings, and the ticks of 100 nanoseconds they stand for. Ticks are BigInts, as
// those of today are beyond 2^53 already.

/** Ticks of 100 ns since 1970-01-01T00:00:00Z, from FIRST_TICKS to LAST_TICKS. */
export type Ticks = bigint;

export interface DateParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Ticks within the second. */
  readonly fraction: number;
}

export type DatePart =
  | 'year'
  | 'month'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'millisecond'
  | 'microsecond'
  | 'nanosecond';
/** The parts that last equally long every time. */
export type FixedPart = Exclude<DatePart, 'year' | 'month'>;

export const TICKS_PER_MILLISECOND = 10_000n;
export const TICKS_PER_SECOND = 10_000_000;
const NANOSECONDS_PER_TICK = 100n;

/** The first year of Windows file times, which the service counts from. */
export const YEAR_MIN = 1601;
export const YEAR_MAX = 9999;
/** 1601-01-01T00:00:00.0000000Z */
const FIRST_TICKS = BigInt(Date.UTC(YEAR_MIN, 0, 1)) * TICKS_PER_MILLISECOND;
/** 9999-12-31T23:59:59.9999999Z */
const LAST_TICKS = BigInt(Date.UTC(YEAR_MAX + 1, 0, 1)) * TICKS_PER_MILLISECOND - 1n;

/** The part of a name or of one of its short forms; the case of the letters does not matter. */
export function partNamed(name: string): DatePart | undefined {
  return PART_NAMES.get(name.toLowerCase());
}

/**
 * `YYYY-MM-DD`, then maybe `T` or a blank and `hh:mm:ss` with 0 to 7 digits of fraction, maybe `Z`.
 */
export function parseDateTime(text: string): Ticks | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = ''] = match;
  return ticksOfParts({
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    fraction: Number(fraction.padEnd(7, '0')),
  });
}

/** `YYYY-MM-DDThh:mm:ss.fffffffZ` */
export function printDateTime(ticks: Ticks): string {
  const { year, month, day, hour, minute, second, fraction } = partsOfTicks(ticks);
  const date = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
  const time = `${digits(hour, 2)}:${digits(minute, 2)}:${digits(second, 2)}`;
  return `${date}T${time}.${digits(fraction, 7)}Z`;
}

/** Undefined when a part is not whole or there is no such day or time. */
export function ticksOfParts(parts: DateParts): Ticks | undefined {
  const { year, month, day, hour, minute, second, fraction } = parts;
  const isDate =
    isBetween(year, YEAR_MIN, YEAR_MAX) &&
    isBetween(month, 1, 12) &&
    isBetween(day, 1, daysInMonth(year, month));
  const isTime =
    isBetween(hour, 0, 23) &&
    isBetween(minute, 0, 59) &&
    isBetween(second, 0, 59) &&
    isBetween(fraction, 0, TICKS_PER_SECOND - 1);
  if (!isDate || !isTime) return undefined;
  const milliseconds = Date.UTC(year, month - 1, day, hour, minute, second);
  return BigInt(milliseconds) * TICKS_PER_MILLISECOND + BigInt(fraction);
}

export function partsOfTicks(ticks: Ticks): DateParts {
  const milliseconds = Number(floorDivide(ticks, TICKS_PER_MILLISECOND));
  const below = Number(ticks - BigInt(milliseconds) * TICKS_PER_MILLISECOND);
  const date = new Date(milliseconds);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    fraction: date.getUTCMilliseconds() * Number(TICKS_PER_MILLISECOND) + below,
  };
}

/** Undefined for an instant that no string can name. */
export function ticksInRange(ticks: bigint): Ticks | undefined {
  return ticks >= FIRST_TICKS && ticks <= LAST_TICKS ? ticks : undefined;
}

/** Moves by whole parts; a day that the month does not have becomes the last one of the month. */
export function addParts(ticks: Ticks, part: DatePart, count: number): Ticks | undefined {
  if (!Number.isInteger(count)) return undefined;
  if (part === 'year') return addMonths(ticks, count * 12);
  if (part === 'month') return addMonths(ticks, count);
  const nanoseconds = BigInt(count) * nanosecondsPer(part);
  return ticksInRange(ticks + nanoseconds / NANOSECONDS_PER_TICK);
}

/** How many times a new part began on the way from one to the other; negative on the way back. */
export function boundariesBetween(part: DatePart, from: Ticks, to: Ticks): number {
  return Number(partsSinceEpoch(part, to) - partsSinceEpoch(part, from));
}

/** The last start of a bin at or before an instant, if the bin lasts for one tick at least. */
export function startOfBin(
  ticks: Ticks,
  part: FixedPart,
  size: number,
  origin: Ticks,
): Ticks | undefined {
  if (!Number.isInteger(size) || size < 1) return undefined;
  const bin = (BigInt(size) * nanosecondsPer(part)) / NANOSECONDS_PER_TICK;
  if (bin === 0n) return undefined;
  return ticksInRange(origin + floorDivide(ticks - origin, bin) * bin);
}

export function digits(value: number, count: number): string {
  return String(value).padStart(count, '0');
}

const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,7}))?)?Z?$/;

const PART_NAMES: ReadonlyMap<string, DatePart> = new Map([
  ['year', 'year'],
  ['yyyy', 'year'],
  ['yy', 'year'],
  ['month', 'month'],
  ['mm', 'month'],
  ['m', 'month'],
  ['day', 'day'],
  ['dd', 'day'],
  ['d', 'day'],
  ['hour', 'hour'],
  ['hh', 'hour'],
  ['minute', 'minute'],
  ['mi', 'minute'],
  ['n', 'minute'],
  ['second', 'second'],
  ['ss', 'second'],
  ['s', 'second'],
  ['millisecond', 'millisecond'],
  ['ms', 'millisecond'],
  ['microsecond', 'microsecond'],
  ['mcs', 'microsecond'],
  ['nanosecond', 'nanosecond'],
  ['ns', 'nanosecond'],
]);

const NANOSECONDS_PER: Readonly<Record<FixedPart, bigint>> = {
  day: 86_400_000_000_000n,
  hour: 3_600_000_000_000n,
  minute: 60_000_000_000n,
  second: 1_000_000_000n,
  millisecond: 1_000_000n,
  microsecond: 1_000n,
  nanosecond: 1n,
};

function nanosecondsPer(part: FixedPart): bigint {
  return NANOSECONDS_PER[part];
}

function isBetween(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function addMonths(ticks: Ticks, count: number): Ticks | undefined {
  const parts = partsOfTicks(ticks);
  const months = parts.year * 12 + parts.month - 1 + count;
  const year = Math.floor(months / 12);
  if (!isBetween(year, YEAR_MIN, YEAR_MAX)) return undefined;
  const month = months - year * 12 + 1;
  const day = Math.min(parts.day, daysInMonth(year, month));
  return ticksOfParts({ ...parts, year, month, day });
}

function partsSinceEpoch(part: DatePart, ticks: Ticks): bigint {
  if (part === 'year' || part === 'month') {
    const { year, month } = partsOfTicks(ticks);
    return BigInt(part === 'year' ? year : year * 12 + month);
  }
  return floorDivide(ticks * NANOSECONDS_PER_TICK, nanosecondsPer(part));
}

/** BigInt division cuts towards zero, and instants before 1970 are negative. */
function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend < 0n && quotient * divisor !== dividend ? quotient - 1n : quotient;
}
