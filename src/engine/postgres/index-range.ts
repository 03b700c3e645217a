// Conditions on a path as ranges of the index over it.
import type { ValueFilter } from '../engine.js';
import {
  BEHIND_TEXTS,
  DEFINED,
  FALSE,
  isWhole,
  LAST,
  NUMBERS,
  sortTextOf,
  sortTextSql,
  TEXTS,
} from './sort-text.js';
import { join, raw, type Sql, sql } from './sql.js';

/** Where texts are cut, the range may hold more than what is asked for. */
export interface Range {
  readonly condition: Sql;
  readonly exact: boolean;
}

export function rangeOf(filter: ValueFilter, lengthMax: number): Range {
  const key = sortTextSql(filter.path, lengthMax);
  const whole = (value: unknown) => isWhole(value, lengthMax);
  switch (filter.op) {
    case 'missing':
      return { condition: sql`${key} = ${sortTextOf(undefined, lengthMax)}::text`, exact: true };
    case 'every':
    case 'any': {
      const parts = filter.of.map((each) => rangeOf(each, lengthMax));
      const conditions = parts.map(({ condition }) => sql`(${condition})`);
      const condition = sql`(${join(conditions, filter.op === 'any' ? ' or ' : ' and ')})`;
      return { condition, exact: parts.every(({ exact }) => exact) };
    }
    case 'defined':
      return { condition: sql`${key} >= ${raw(`'${DEFINED}'`)}`, exact: true };
    case '=': {
      const wanted = sortTextOf(filter.value, lengthMax);
      return { condition: sql`${key} = ${wanted}::text`, exact: whole(filter.value) };
    }
    case 'in': {
      const wanted = [...new Set(filter.values.map((value) => sortTextOf(value, lengthMax)))];
      return { condition: sql`${key} = any(${wanted}::text[])`, exact: filter.values.every(whole) };
    }
    case 'prefix': {
      const start = sortTextOf(filter.value, lengthMax);
      const condition = sql`${key} >= ${start}::text and ${key} < ${start + LAST}::text`;
      return { condition, exact: whole(filter.value) };
    }
    default:
      return comparison(filter.op, filter.value, key, lengthMax);
  }
}

/** Only values of one type compare. */
function comparison(
  op: '<' | '<=' | '>' | '>=',
  wanted: unknown,
  key: Sql,
  lengthMax: number,
): Range {
  if (wanted === null) {
    const condition = op === '<=' || op === '>=' ? sql`${key} = '1'` : raw('false');
    return { condition, exact: true };
  }
  const exact = isWhole(wanted, lengthMax);
  // Of texts that are cut alike each may be the greater one.
  const operator = exact ? op : op.startsWith('<') ? '<=' : '>=';
  const [from, to] = boundsOf(wanted);
  const other = op.startsWith('<') ? sql`${key} >= ${raw(from)}` : sql`${key} < ${raw(to)}`;
  const at = sortTextOf(wanted, lengthMax);
  return { condition: sql`${key} ${raw(operator)} ${at}::text and ${other}`, exact };
}

function boundsOf(wanted: unknown): readonly [from: string, to: string] {
  switch (typeof wanted) {
    case 'number':
      return [`'${NUMBERS}'`, `'${TEXTS}'`];
    case 'string':
      return [`'${TEXTS}'`, `'${BEHIND_TEXTS}'`];
    default:
      return [`'${FALSE}'`, `'${NUMBERS}'`];
  }
}
