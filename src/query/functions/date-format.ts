// The patterns of DATETIMEFORMAT: runs of one letter stand for a part, as in .NET; a backslash
// makes the character after it stand for itself, and so does every other character.
import { type DateParts, digits, partsOfTicks, type Ticks } from './date-parts.js';

/**
 * Undefined for a pattern with more than seven digits of fraction, or with a backslash at its end.
 *
 *   y yy yyyy       year              h hh H HH   hour of 12, of 24
 *   M MM MMM MMMM   month, its name   m mm s ss   minute, second
 *   d dd ddd dddd   day, weekday      t tt        A or P, AM or PM
 *   f … fffffff     fraction          F … FFFFFFF fraction without zeros at its end
 */
export function formatDateTime(ticks: Ticks, pattern: string): string | undefined {
  const parts = partsOfTicks(ticks);
  let text = '';
  for (const [run, escaped] of pattern.matchAll(PIECE)) {
    if (run === '\\') return undefined;
    const piece = escaped ?? (LETTER.test(run) ? formatRun(parts, run) : run);
    if (piece === undefined) return undefined;
    text += piece;
  }
  return text;
}

const PIECE = /\\(.)|([yMdHhmstfF])\2*|./gsu;
const LETTER = /^[yMdHhmstfF]/;

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function formatRun(parts: DateParts, run: string): string | undefined {
  const count = run.length;
  switch (run[0]) {
    case 'y':
      return digits(count > 2 ? parts.year : parts.year % 100, count);
    case 'M':
      return count > 2 ? named(MONTHS[parts.month - 1], count) : digits(parts.month, count);
    case 'd':
      return count > 2 ? named(WEEKDAYS[weekdayOf(parts)], count) : digits(parts.day, count);
    case 'H':
      return digits(parts.hour, Math.min(count, 2));
    case 'h':
      return digits(parts.hour % 12 || 12, Math.min(count, 2));
    case 'm':
      return digits(parts.minute, Math.min(count, 2));
    case 's':
      return digits(parts.second, Math.min(count, 2));
    case 't':
      return (parts.hour < 12 ? 'AM' : 'PM').slice(0, count);
    case 'f':
      return fraction(parts, count);
    default:
      return fraction(parts, count)?.replace(/0+$/, '');
  }
}

function named(name: string | undefined, count: number): string | undefined {
  return count === 3 ? name?.slice(0, 3) : name;
}

function weekdayOf({ year, month, day }: DateParts): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay();
}

function fraction(parts: DateParts, count: number): string | undefined {
  return count > 7 ? undefined : digits(parts.fraction, 7).slice(0, count);
}
