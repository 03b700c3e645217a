// Rows divided into partitions, each in order: what `$setWindowFields`, `$fill` and `$densify` work
// on.
import { keyOfValue } from '../../value/bson/compare.js';
import { addNumbers, compareNumbers, toDouble } from '../../value/bson/numbers.js';
import {
  DateTime,
  documentOf,
  isArray,
  isNumber,
  type NumberValue,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { addUnits, type Unit } from '../expression/calendar.js';
import { type Expression, scopeOf } from '../expression/scope.js';
import { UTC } from '../expression/zones.js';
import type { Language } from '../language.js';
import type { Row } from '../row.js';
import type { Sort, SortKeys } from '../sort.js';
import { gather, sortWithPauses } from './flow.js';
import type { Rows, Run } from './stage.js';

export interface Placed {
  row: Row;
  readonly keys: SortKeys;
}
export type Partition = Placed[];

export async function partitionsOf(
  input: Rows,
  run: Run,
  by: Expression | undefined,
  sort: Sort | undefined,
  { collation }: Language,
  stage: string,
): Promise<readonly Partition[]> {
  const partitions = new Map<string, Partition>();
  for (const row of await gather(input, run, stage)) {
    const value = by?.(scopeOf(row));
    if (isArray(value)) {
      throw mongoFailure(
        'TypeMismatch',
        'An expression used to partition cannot evaluate to value of type array',
      );
    }
    const key = by ? keyOfValue(value ?? null, collation?.fold) : '';
    const partition = partitions.get(key) ?? [];
    partitions.set(key, partition);
    partition.push({ row, keys: sort?.keys(row.bytes) ?? [] });
    if (run.pace.isDue) await run.pace.rest();
  }
  const sorted: Partition[] = [];
  for (const partition of partitions.values()) {
    const compare = (a: Placed, b: Placed) => sort?.compare(a.keys, b.keys) ?? 0;
    sorted.push(sort ? await sortWithPauses(partition, compare, run) : partition);
  }
  return sorted;
}

/** `partitionByFields` as the expression that `partitionBy` would be. */
export function fieldsAsExpression(fields: Value | undefined): Value | undefined {
  if (fields === undefined) return undefined;
  if (isArray(fields) && fields.every((field) => typeof field === 'string')) {
    return fields.length === 0
      ? undefined
      : documentOf(Object.fromEntries(fields.map((field, at) => [`f${at}`, `$${field}`])));
  }
  throw mongoLocation(6050204, "'partitionByFields' must be an array of strings");
}

/** A place on the line of numbers or of dates, some steps further. */
export function moved(value: Value, step: NumberValue, unit: Unit | undefined): Value {
  if (value instanceof DateTime && unit !== undefined) {
    return new DateTime(addUnits(value.ms, unit, toDouble(step), UTC));
  }
  if (isNumber(value) && unit === undefined)
    return addNumbers(value, step) ?? toDouble(value) + toDouble(step);
  throw mongoLocation(5429414, 'a range goes by numbers without a unit, or by dates with one');
}

/** Where two places are on the same line, their order. */
export function compareOnLine(a: Value, b: Value): number {
  if (a instanceof DateTime && b instanceof DateTime) return a.ms - b.ms;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  throw mongoLocation(5429413, 'a range goes by values that are all numbers or all dates');
}

/** The same as doubles, for what is between. */
export function numberOnLine(value: Value | undefined): number | undefined {
  if (value instanceof DateTime) return value.ms;
  return isNumber(value) ? toDouble(value) : undefined;
}
