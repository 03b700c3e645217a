// Calendar arithmetic on local times: adding units, counting their boundaries, cutting to them.
import { mongoFailure } from '../../value/mongo-errors.js';
import { fromLocal, toLocal, utcOf, type Zone } from './zones.js';

export const UNITS = [
  ...['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second', 'millisecond'],
] as const;
export type Unit =
  | 'year'
  | 'quarter'
  | 'month'
  | 'week'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'millisecond';

const DAY_MS = 86_400_000;
/** Units of a fixed length, whatever the zone. */
const LENGTHS: Readonly<Partial<Record<Unit, number>>> = {
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};
const MONTHS: Readonly<Partial<Record<Unit, number>>> = { year: 12, quarter: 3, month: 1 };
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

export function unitNamed(name: unknown): Unit {
  if (typeof name === 'string' && (UNITS as readonly string[]).includes(name)) return name as Unit;
  throw mongoFailure('FailedToParse', `unknown time unit value: ${String(name)}`);
}

/** 0 for Monday up to 6; names may be cut to three letters. */
export function weekdayNamed(name: unknown): number {
  const wanted = typeof name === 'string' ? name.toLowerCase() : '';
  const at = WEEKDAYS.findIndex((day) => day === wanted || day.slice(0, 3) === wanted);
  if (at >= 0) return at;
  throw mongoFailure('FailedToParse', `unknown day of week value: ${String(name)}`);
}

export function addUnits(ms: number, unit: Unit, amount: number, zone: Zone): number {
  const length = LENGTHS[unit];
  if (length !== undefined) return ms + amount * length;
  const local = toLocal(ms, zone);
  const months = MONTHS[unit];
  const moved =
    months === undefined
      ? local + amount * (unit === 'week' ? 7 : 1) * DAY_MS
      : addMonths(local, months * amount);
  return fromLocal(moved, zone);
}

/** The day stays, or is the last of a shorter month. */
function addMonths(local: number, months: number): number {
  const date = new Date(local);
  const total = date.getUTCFullYear() * 12 + date.getUTCMonth() + months;
  const [year, month] = [Math.floor(total / 12), (((total % 12) + 12) % 12) + 1];
  const last = new Date(utcOf(year, month + 1, 0)).getUTCDate();
  const time = ((local % DAY_MS) + DAY_MS) % DAY_MS;
  return utcOf(year, month, Math.min(date.getUTCDate(), last)) + time;
}

/** How many boundaries of a unit lie between two instants. */
export function boundaries(
  from: number,
  to: number,
  unit: Unit,
  zone: Zone,
  startOfWeek: number,
): number {
  return unitIndex(to, unit, zone, startOfWeek) - unitIndex(from, unit, zone, startOfWeek);
}

/** The number of the unit that an instant is in, from an arbitrary zero. */
function unitIndex(ms: number, unit: Unit, zone: Zone, startOfWeek: number): number {
  const local = toLocal(ms, zone);
  const months = MONTHS[unit];
  if (months !== undefined) {
    const date = new Date(local);
    return Math.floor((date.getUTCFullYear() * 12 + date.getUTCMonth()) / months);
  }
  if (unit === 'week') return weekIndex(local, startOfWeek);
  return Math.floor(local / (LENGTHS[unit] ?? DAY_MS));
}

/** 1970 began on a Thursday, three days behind a Monday. */
function weekIndex(local: number, startOfWeek: number): number {
  return Math.floor((Math.floor(local / DAY_MS) + 3 - startOfWeek) / 7);
}

/** The year from which bins are counted. */
const REFERENCE_YEAR = 2000;

/** The start of the bin of some units that an instant is in; bins are counted from 2000. */
export function truncate(
  ms: number,
  unit: Unit,
  binSize: number,
  zone: Zone,
  startOfWeek: number,
): number {
  const local = toLocal(ms, zone);
  const reference = utcOf(REFERENCE_YEAR);
  const months = MONTHS[unit];
  if (months !== undefined) {
    const date = new Date(local);
    const since = (date.getUTCFullYear() - REFERENCE_YEAR) * 12 + date.getUTCMonth();
    const start = Math.floor(since / (months * binSize)) * months * binSize;
    return fromLocal(addMonths(reference, start), zone);
  }
  if (unit === 'week' || unit === 'day') {
    const length = (unit === 'week' ? 7 : 1) * DAY_MS * binSize;
    // The first week begins on the first such day in 2000 or before it.
    const offset = unit === 'week' ? weekStart(reference, startOfWeek) : reference;
    return fromLocal(offset + Math.floor((local - offset) / length) * length, zone);
  }
  const length = (LENGTHS[unit] ?? 1) * binSize;
  const offset = fromLocal(reference, zone);
  return offset + Math.floor((ms - offset) / length) * length;
}

function weekStart(local: number, startOfWeek: number): number {
  const day = Math.floor(local / DAY_MS) + 3;
  const behind = (((day - startOfWeek) % 7) + 7) % 7;
  return local + (behind === 0 ? 0 : 7 - behind) * DAY_MS;
}

export interface LocalParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  /** 1 for Sunday up to 7. */
  readonly dayOfWeek: number;
  readonly dayOfYear: number;
  /** Weeks begin on Sundays; days before the first are in week 0. */
  readonly week: number;
  readonly isoDayOfWeek: number;
  readonly isoWeek: number;
  readonly isoWeekYear: number;
}

export function partsOf(ms: number, zone: Zone): LocalParts {
  const local = toLocal(ms, zone);
  const date = new Date(local);
  const year = date.getUTCFullYear();
  const dayOfYear = Math.floor((local - utcOf(year)) / DAY_MS) + 1;
  const weekday = date.getUTCDay();
  const isoDayOfWeek = weekday === 0 ? 7 : weekday;
  const thursday = local + (4 - isoDayOfWeek) * DAY_MS;
  const isoWeekYear = new Date(thursday).getUTCFullYear();
  return {
    year,
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    millisecond: date.getUTCMilliseconds(),
    dayOfWeek: weekday + 1,
    dayOfYear,
    week: Math.floor((dayOfYear - 1 - weekday + 7) / 7),
    isoDayOfWeek,
    isoWeek: Math.floor((thursday - utcOf(isoWeekYear)) / DAY_MS / 7) + 1,
    isoWeekYear,
  };
}

/** The first day of a week of a year of ISO 8601. */
export function isoWeekStart(isoYear: number, week: number, day: number): number {
  const fourth = utcOf(isoYear, 1, 4);
  const weekday = new Date(fourth).getUTCDay() || 7;
  return fourth + ((week - 1) * 7 + day - weekday) * DAY_MS;
}
