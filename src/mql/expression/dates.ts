// Operators on dates. A date may also be a timestamp or an ObjectId, which tell the time of their
// making.
import { toInteger, toSafeInteger } from '../../value/bson/numbers.js';
import {
  DateTime,
  documentOf,
  int32,
  isDocument,
  isNullish,
  isNumber,
  ObjectId,
  Timestamp,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { type Argument, folded, named, operandsOf } from './arguments.js';
import {
  addUnits,
  boundaries,
  isoWeekStart,
  type LocalParts,
  partsOf,
  truncate,
  unitNamed,
  weekdayNamed,
} from './calendar.js';
import { ISO_FORMAT, parseDate, printDate } from './date-format.js';
import { nameOfType } from './numbers.js';
import { constant, type Operator, type Operators } from './scope.js';
import { DATE_MS_MAX, fromLocal, UTC, utcOf, type Zone, zoneNamed } from './zones.js';

const PARTS = [
  ...(['year', 'month', 'day', 'isoWeekYear', 'isoWeek', 'isoDayOfWeek'] as const),
  ...(['hour', 'minute', 'second', 'millisecond', 'timezone'] as const),
] as const;

export const dateOperators: Operators = {
  $year: datePart('year'),
  $month: datePart('month'),
  $dayOfMonth: datePart('day'),
  $hour: datePart('hour'),
  $minute: datePart('minute'),
  $second: datePart('second'),
  $millisecond: datePart('millisecond'),
  $dayOfYear: datePart('dayOfYear'),
  $dayOfWeek: datePart('dayOfWeek'),
  $week: datePart('week'),
  $isoDayOfWeek: datePart('isoDayOfWeek'),
  $isoWeek: datePart('isoWeek'),
  $isoWeekYear: datePart('isoWeekYear'),
  $dateToParts: named(['date'], ['timezone', 'iso8601'], ({ date, timezone, iso8601 }) => {
    const zone = zoneOf(timezone);
    if (isNullish(date) || !zone) return null;
    return partsDocument(partsOf(instantOf(date), zone), iso8601 === true);
  }),
  $dateFromParts: named([], PARTS, fromParts),
  $dateToString: named(['date'], ['format', 'timezone', 'onNull'], (given) => {
    const { date, format, timezone, onNull } = given;
    const zone = zoneOf(timezone);
    if (isNullish(date)) return onNull === undefined ? null : onNull;
    if (!zone || format === null) return null;
    if (format !== undefined && typeof format !== 'string') {
      throw mongoLocation(
        18533,
        `$dateToString requires that 'format' be a string, found: ${nameOfType(format)}`,
      );
    }
    const isUtc = timezone === undefined;
    const text = format ?? (isUtc ? ISO_FORMAT : ISO_FORMAT.replace('Z', ''));
    return printDate(instantOf(date), zone, text);
  }),
  $dateFromString: named(
    ['dateString'],
    ['format', 'timezone', 'onError', 'onNull'],
    dateFromString,
  ),
  $dateAdd: named(['startDate', 'unit', 'amount'], ['timezone'], (given) => moved(given, 1)),
  $dateSubtract: named(['startDate', 'unit', 'amount'], ['timezone'], (given) => moved(given, -1)),
  $dateDiff: named(
    ['startDate', 'endDate', 'unit'],
    ['timezone', 'startOfWeek'],
    ({ startDate, endDate, unit, timezone, startOfWeek }) => {
      const zone = zoneOf(timezone);
      if ([startDate, endDate, unit].some(isNullish) || !zone) return null;
      const weekday = weekdayNamed(startOfWeek ?? 'sunday');
      const [from, to] = [instantOf(startDate), instantOf(endDate)];
      return BigInt(boundaries(from, to, unitNamed(unit), zone, weekday));
    },
  ),
  $dateTrunc: named(
    ['date', 'unit'],
    ['binSize', 'timezone', 'startOfWeek'],
    ({ date, unit, binSize, timezone, startOfWeek }) => {
      const zone = zoneOf(timezone);
      if (isNullish(date) || isNullish(unit) || !zone || binSize === null) return null;
      const size = binSize === undefined ? 1 : isNumber(binSize) ? toSafeInteger(binSize) : 0;
      if (size === undefined || size < 1) {
        throw mongoLocation(5439017, '$dateTrunc requires binSize to be greater than 0');
      }
      const weekday = weekdayNamed(startOfWeek ?? 'sunday');
      return new DateTime(truncate(instantOf(date), unitNamed(unit), size, zone, weekday));
    },
  ),
};

/** `undefined` where the zone is null, which makes the result null. */
function zoneOf(timezone: Argument): Zone | undefined {
  if (timezone === undefined) return UTC;
  if (isNullish(timezone)) return undefined;
  if (typeof timezone === 'string') return zoneNamed(timezone);
  throw mongoLocation(40517, `timezone must evaluate to a string, found ${nameOfType(timezone)}`);
}

export function instantOf(value: Argument): number {
  if (value instanceof DateTime) {
    if (Math.abs(value.ms) <= DATE_MS_MAX) return value.ms;
    throw mongoFailure('Overflow', 'the date is beyond what can be calculated with');
  }
  if (value instanceof Timestamp) return value.seconds * 1000;
  if (value instanceof ObjectId) return Buffer.from(value.bytes).readUInt32BE(0) * 1000;
  throw mongoLocation(16006, `can't convert from BSON type ${nameOfType(value)} to Date`);
}

/** Takes a date, or a document of a date and a time zone. */
function datePart(part: keyof LocalParts): Operator {
  const evaluate = (date: Argument, timezone: Argument): Argument => {
    const zone = zoneOf(timezone);
    if (isNullish(date) || !zone) return null;
    const number = partsOf(instantOf(date), zone)[part];
    return part === 'isoWeekYear' ? BigInt(number) : int32(number);
  };
  return (operand, compiler, name) => {
    const parts = isDocument(operand) && operand.has('date') ? operand : undefined;
    const [first, ...more] = parts ? [parts.get('date') as Value] : operandsOf(operand);
    if (first === undefined || more.length > 0) {
      throw mongoLocation(
        40536,
        `${name} accepts exactly one argument if given an array, but was given ${more.length + 1}`,
      );
    }
    const zone = parts?.get('timezone');
    const timezone = zone === undefined ? constant(undefined) : compiler.compile(zone);
    return folded([compiler.compile(first), timezone], ([date, at]) => evaluate(date, at));
  };
}

function partsDocument(parts: LocalParts, iso: boolean): Value {
  const time = {
    hour: int32(parts.hour),
    minute: int32(parts.minute),
    second: int32(parts.second),
    millisecond: int32(parts.millisecond),
  };
  return iso
    ? documentOf({
        isoWeekYear: int32(parts.isoWeekYear),
        isoWeek: int32(parts.isoWeek),
        isoDayOfWeek: int32(parts.isoDayOfWeek),
        ...time,
      })
    : documentOf({
        year: int32(parts.year),
        month: int32(parts.month),
        day: int32(parts.day),
        ...time,
      });
}

function fromParts(given: Readonly<Record<(typeof PARTS)[number], Argument>>): Argument {
  const zone = zoneOf(given.timezone);
  const isIso = given.isoWeekYear !== undefined;
  if (!zone || Object.values(given).some((value) => value === null)) return null;
  const part = (name: Exclude<keyof typeof given, 'timezone'>, otherwise: number): number => {
    const value = given[name];
    if (value === undefined) return otherwise;
    const integer = isNumber(value) ? toInteger(value) : undefined;
    if (integer !== undefined && integer >= -32768n && integer <= 32767n) return Number(integer);
    throw mongoLocation(
      40515,
      `'${name}' must evaluate to an integer from -32768 to 32767, found ${nameOfType(value)}`,
    );
  };
  if (!isIso && given.year === undefined) {
    throw mongoLocation(
      40516,
      "$dateFromParts requires either 'year' or 'isoWeekYear' to be present",
    );
  }
  const day = isIso
    ? isoWeekStart(part('isoWeekYear', 1970), part('isoWeek', 1), part('isoDayOfWeek', 1))
    : utcOf(part('year', 1970), part('month', 1), part('day', 1));
  const time = utcOf(
    1970,
    1,
    1,
    part('hour', 0),
    part('minute', 0),
    part('second', 0),
    part('millisecond', 0),
  );
  return new DateTime(fromLocal(day + time, zone));
}

function dateFromString(
  given: Readonly<Record<'dateString' | 'format' | 'timezone' | 'onError' | 'onNull', Argument>>,
): Argument {
  const { dateString, format, timezone, onError, onNull } = given;
  if (isNullish(dateString)) return onNull === undefined ? null : onNull;
  const zone = timezone === undefined ? undefined : zoneOf(timezone);
  if (timezone === null || format === null) return null;
  try {
    if (typeof dateString !== 'string') {
      throw mongoFailure(
        'ConversionFailure',
        `$dateFromString requires that 'dateString' be a string, found: ${nameOfType(dateString)}`,
      );
    }
    return new DateTime(
      parseDate(dateString, format === undefined ? format : String(format), zone),
    );
  } catch (error) {
    if (onError !== undefined && (error as { code?: unknown }).code === 241) return onError;
    throw error;
  }
}

function moved(
  given: Readonly<Record<'startDate' | 'unit' | 'amount' | 'timezone', Argument>>,
  sign: 1 | -1,
): Argument {
  const { startDate, unit, amount, timezone } = given;
  const zone = zoneOf(timezone);
  if ([startDate, unit, amount].some(isNullish) || !zone) return null;
  const count = isNumber(amount) ? toSafeInteger(amount) : undefined;
  if (count === undefined) {
    throw mongoLocation(5166405, '$dateAdd and $dateSubtract require an integer amount');
  }
  const ms = addUnits(instantOf(startDate), unitNamed(unit), sign * count, zone);
  if (Math.abs(ms) <= DATE_MS_MAX) return new DateTime(ms);
  throw mongoLocation(5976500, 'the date is beyond what can be calculated with');
}
