// Time zones: names of the Olson database and offsets such as +01:00. A local time is told as the
// milliseconds that UTC would have at the same reading of the clock.
import { mongoLocation } from '../../value/mongo-errors.js';

/** How far local time is ahead of UTC, in milliseconds, at an instant. */
export type Zone = (ms: number) => number;

export const UTC: Zone = () => 0;
export const ZONES_MAX = 64;
/** Instants beyond these are no dates to JavaScript. */
export const DATE_MS_MAX = 8.64e15;

const zones = new Map<string, Zone>();
const OFFSET = /^([+-])(\d{2})(?::?(\d{2}))?$/;

export function zoneNamed(name: string): Zone {
  if (name === 'UTC' || name === 'GMT' || name === 'Z') return UTC;
  const offset = OFFSET.exec(name);
  if (offset) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3] ?? 0);
    const ms = (offset[1] === '-' ? -minutes : minutes) * 60_000;
    return () => ms;
  }
  const known = zones.get(name);
  if (known) return known;
  const zone = olsonZone(name);
  const oldest = zones.keys().next().value;
  if (zones.size >= ZONES_MAX && oldest !== undefined) zones.delete(oldest);
  zones.set(name, zone);
  return zone;
}

function olsonZone(name: string): Zone {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      era: 'short',
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  } catch {
    throw mongoLocation(40485, `unrecognized time zone identifier: "${name}"`);
  }
  return (ms) => {
    if (Math.abs(ms) > DATE_MS_MAX) return 0;
    const seconds = Math.floor(ms / 1000) * 1000;
    const parts = new Map(format.formatToParts(seconds).map(({ type, value }) => [type, value]));
    const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
    const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year');
    const local = utcOf(
      year,
      part('month'),
      part('day'),
      part('hour'),
      part('minute'),
      part('second'),
    );
    return local - seconds;
  };
}

/** Like Date.UTC, but with months from 1, and years below 100 are what they say. */
export function utcOf(
  year: number,
  month = 1,
  day = 1,
  hour = 0,
  minute = 0,
  second = 0,
  ms = 0,
): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, ms);
  return date.getTime();
}

export function toLocal(ms: number, zone: Zone): number {
  return ms + zone(ms);
}

/**
 * Where a reading comes twice, as clocks are set back, it is the first; where it never comes, as
 * they are set forward, it is told by the offset before.
 */
export function fromLocal(local: number, zone: Zone): number {
  const before = zone(local - DAY_MS);
  const after = zone(local + DAY_MS);
  if (before === after) return local - zone(local - before);
  const early = local - before;
  const late = local - after;
  if (zone(early) === before) return early;
  return zone(late) === after ? late : early;
}

const DAY_MS = 86_400_000;
