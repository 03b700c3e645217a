// Dates as texts: the specifiers of `$dateToString`, the same read backwards, and ISO 8601.
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { isoWeekStart, type LocalParts, partsOf } from './calendar.js';
import { fromLocal, utcOf, type Zone, zoneNamed } from './zones.js';

export const ISO_FORMAT = '%Y-%m-%dT%H:%M:%S.%LZ';
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

interface Specifier {
  readonly print: (parts: LocalParts, offsetMinutes: number) => string;
  /** What it reads, and into which field. */
  readonly pattern?: string;
  readonly field?: keyof Reading;
  readonly value?: (text: string) => number;
}
interface Reading {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  dayOfYear: number;
  isoWeekYear: number;
  isoWeek: number;
  isoDayOfWeek: number;
  offsetMs: number;
}

const digits = (value: number, count: number) => String(value).padStart(count, '0');
const number = (field: keyof Reading & keyof LocalParts, count: number): Specifier => ({
  print: (parts) => digits(parts[field], count),
  pattern: count === 1 ? '\\d' : count === 4 ? '\\d{4}' : `\\d{1,${count}}`,
  field,
  value: Number,
});

const SPECIFIERS: Readonly<Record<string, Specifier>> = {
  Y: number('year', 4),
  m: number('month', 2),
  d: number('day', 2),
  H: number('hour', 2),
  M: number('minute', 2),
  S: number('second', 2),
  L: number('millisecond', 3),
  j: number('dayOfYear', 3),
  G: number('isoWeekYear', 4),
  V: number('isoWeek', 2),
  u: number('isoDayOfWeek', 1),
  w: { print: ({ dayOfWeek }) => String(dayOfWeek) },
  U: { print: ({ week }) => digits(week, 2) },
  b: {
    print: ({ month }) => (MONTHS[month - 1] ?? '').slice(0, 3),
    pattern: '[A-Za-z]{3}',
    field: 'month',
    value: (text) => monthNamed(text, 3),
  },
  B: {
    print: ({ month }) => MONTHS[month - 1] ?? '',
    pattern: '[A-Za-z]+',
    field: 'month',
    value: (text) => monthNamed(text),
  },
  z: {
    print: (_, offset) => offsetText(offset),
    pattern: 'Z|UTC|GMT|[+-]\\d{2}:?\\d{2}',
    field: 'offsetMs',
    value: (text) => zoneNamed(text)(0),
  },
  Z: {
    print: (_, offset) => String(offset),
    pattern: '[+-]\\d+',
    field: 'offsetMs',
    value: (text) => Number(text) * 60_000,
  },
  '%': { print: () => '%', pattern: '%' },
};

function monthNamed(text: string, letters?: number): number {
  const wanted = text.toLowerCase();
  return MONTHS.findIndex((name) => name.slice(0, letters).toLowerCase() === wanted) + 1;
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${digits(Math.floor(size / 60), 2)}${digits(size % 60, 2)}`;
}

export function printDate(ms: number, zone: Zone, format: string): string {
  const parts = partsOf(ms, zone);
  if (parts.year < 0 || parts.year > 9999) {
    throw mongoLocation(
      18537,
      `$dateToString is only defined on year 0-9999, tried to use year ${parts.year}`,
    );
  }
  const offset = Math.round(zone(ms) / 60_000);
  return format.replaceAll(/%(.?)/gs, (_, letter: string) =>
    specifierFor(letter, 18536).print(parts, offset),
  );
}

function specifierFor(letter: string, code: number): Specifier {
  const specifier = Object.hasOwn(SPECIFIERS, letter) ? SPECIFIERS[letter] : undefined;
  if (specifier) return specifier;
  if (letter === '') throw mongoLocation(18535, "Unmatched '%' at end of format string");
  throw mongoLocation(code, `Invalid format character '%${letter}' in format string`);
}

/** Throws ConversionFailure where the text is not of the form. */
export function parseDate(
  text: string,
  format: string | undefined,
  zone: Zone | undefined,
): number {
  const ms = format === undefined ? parseIso(text, zone) : parseFormatted(text, format, zone);
  if (ms !== undefined && !Number.isNaN(ms)) return ms;
  throw mongoFailure('ConversionFailure', `Error parsing date string '${text}'`);
}

const ISO =
  /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:[T ](\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;

function parseIso(text: string, zone: Zone | undefined): number | undefined {
  const match = ISO.exec(text.trim());
  if (!match) return undefined;
  const [, year, month, day = '1', hour = '0', minute = '0', second = '0', fraction = '0', ends] =
    match;
  const reading = emptyReading();
  reading.year = Number(year);
  reading.month = Number(month);
  reading.day = Number(day);
  reading.hour = Number(hour);
  reading.minute = Number(minute);
  reading.second = Number(second);
  reading.millisecond = Math.floor(Number(`0.${fraction}`) * 1000);
  if (ends) reading.offsetMs = zoneNamed(ends.toUpperCase())(0);
  return instantOf(reading, zone, text);
}

function parseFormatted(text: string, format: string, zone: Zone | undefined): number | undefined {
  const fields: Specifier[] = [];
  const source = format.replaceAll(/%(.?)|([^%]+)/gs, (whole, letter?: string) => {
    if (letter === undefined) return whole.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    const specifier = specifierFor(letter, 18536);
    if (specifier.pattern === undefined) {
      throw mongoLocation(18536, `Invalid format character '%${letter}' in format string`);
    }
    if (specifier.field === undefined) return specifier.pattern;
    fields.push(specifier);
    return `(${specifier.pattern})`;
  });
  const match = new RegExp(`^${source}$`).exec(text);
  if (!match) return undefined;
  const reading = emptyReading();
  fields.forEach(({ field, value }, at) => {
    if (field && value) reading[field] = value(match[at + 1] as string);
  });
  return instantOf(reading, zone, text);
}

function emptyReading(): Reading {
  const none = Number.NaN;
  return {
    year: none,
    month: 1,
    day: 1,
    hour: 0,
    minute: 0,
    second: 0,
    millisecond: 0,
    dayOfYear: none,
    isoWeekYear: none,
    isoWeek: 1,
    isoDayOfWeek: 1,
    offsetMs: none,
  };
}

function instantOf(reading: Reading, zone: Zone | undefined, text: string): number | undefined {
  const { year, month, day, hour, minute, second, millisecond, offsetMs } = reading;
  if (hour > 24 || minute > 59 || second > 60) return undefined;
  const time = utcOf(1970, 1, 1, hour, minute, second, millisecond);
  const date = dayOf(reading);
  if (date === undefined) return undefined;
  if (Number.isNaN(offsetMs)) return fromLocal(date + time, zone ?? (() => 0));
  if (zone) {
    throw mongoFailure(
      'ConversionFailure',
      `you cannot pass in a date/time string with GMT offset together with a timezone argument: '${text}'`,
    );
  }
  return Number.isNaN(year + month + day) && Number.isNaN(date)
    ? undefined
    : date + time - offsetMs;
}

function dayOf(reading: Reading): number | undefined {
  const { year, month, day, dayOfYear, isoWeekYear, isoWeek, isoDayOfWeek } = reading;
  if (!Number.isNaN(isoWeekYear)) return isoWeekStart(isoWeekYear, isoWeek, isoDayOfWeek);
  if (Number.isNaN(year)) return undefined;
  if (!Number.isNaN(dayOfYear)) return utcOf(year, 1, dayOfYear);
  const last = new Date(utcOf(year, month + 1, 0)).getUTCDate();
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= last;
  return isDate ? utcOf(year, month, day) : undefined;
}
