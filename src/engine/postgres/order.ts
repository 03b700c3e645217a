// Orders as SQL: the one order of values over the `x` column, and the conditions that go on
// behind a place in it.
import { valueAt } from '../../value/path.js';
import { BadResume, type Item, type OrderBy, type Serial } from '../engine.js';
import { type IndexPath, VALUE_BYTES_MAX } from '../indexing.js';
import { valueSql } from './filter.js';
import { join, raw, type Sql, sql } from './sql.js';
import { storableJson, storableText } from './text.js';

/** A value as it is sorted by: the place of its type, and itself where the type has an order. */
export type SortKey = readonly [rank: number] | readonly [rank: number, value: string];

const NUMBER = 4;
const STRING = 5;
const ARRAY = 6;
const OBJECT = 7;

/** Longer texts come in the order of their beginnings, as in every index. */
const TEXT_LENGTH_MAX = VALUE_BYTES_MAX;

export function orderSql(order: readonly OrderBy[]): Sql {
  const descending = order[0]?.descending === true;
  const parts = order.map((each) => {
    const { rank, number, text } = partsOf(each.path);
    const way = raw(each.descending ? 'desc' : 'asc');
    return sql`${rank} ${way}, ${number} ${way}, ${text} ${way}`;
  });
  return join([...parts, raw(`d.serial ${descending ? 'desc' : 'asc'}`)], ', ');
}

/** What comes behind a place in the order. */
export function behindSql(
  order: readonly OrderBy[],
  keys: readonly SortKey[],
  serial: Serial,
): Sql {
  const [first, ...more] = order;
  const [key, ...others] = keys;
  if (!first || !key) throw new BadResume();
  const tie = raw(`d.serial ${first.descending ? '<' : '>'} `);
  const from = (each: OrderBy, at: SortKey, next: Sql): Sql => {
    const { rank, number, text } = partsOf(each.path);
    const beyond = raw(each.descending ? '<' : '>');
    const [place, value] = at;
    const same =
      place === NUMBER
        ? sql`(${number} ${beyond} ${value}::jsonb or ${number} = ${value}::jsonb and ${next})`
        : place === STRING
          ? sql`(${text} ${beyond} ${value}::text or ${text} = ${value}::text and ${next})`
          : next;
    return sql`(${rank} ${beyond} ${place}::int or ${rank} = ${place}::int and ${same})`;
  };
  const behind = more.reduceRight<Sql>(
    (next, each, index) => from(each, others[index] as SortKey, next),
    sql`${tie}${serial}::bigint`,
  );
  return from(first, key, behind);
}

export function sortKeysOf(item: Item, order: readonly OrderBy[]): readonly SortKey[] {
  return order.map(({ path }) => sortKeyOf(valueAt(item.doc.value, path as readonly string[])));
}

function sortKeyOf(value: unknown): SortKey {
  switch (typeof value) {
    case 'undefined':
      return [0];
    case 'boolean':
      return [value ? 3 : 2];
    case 'number':
      return [NUMBER, storableJson(value)];
    case 'string':
      return [STRING, storableText(value).slice(0, TEXT_LENGTH_MAX)];
    default:
      return [value === null ? 1 : Array.isArray(value) ? ARRAY : OBJECT];
  }
}

export function isSortKey(value: unknown): value is SortKey {
  if (!Array.isArray(value) || !Number.isInteger(value[0])) return false;
  const [rank, scalar] = value as [number, unknown];
  if (rank < 0 || rank > OBJECT) return false;
  if (rank === STRING) return typeof scalar === 'string' && !scalar.includes('\0');
  if (rank === NUMBER) return typeof scalar === 'string' && NUMERIC.test(scalar);
  return value.length === 1;
}

const NUMERIC = /^-?\d{1,30}(\.\d{1,30})?(e[+-]?\d{1,3})?$/;

function partsOf(path: IndexPath) {
  const value = valueSql(path);
  return {
    rank: sql`case jsonb_typeof(${value}) when 'null' then 1
      when 'boolean' then case when ${value} = 'true'::jsonb then 3 else 2 end
      when 'number' then 4 when 'string' then 5 when 'array' then 6 when 'object' then 7
      else 0 end`,
    number: sql`case jsonb_typeof(${value}) when 'number' then ${value} end`,
    text: sql`left(case jsonb_typeof(${value}) when 'string' then ${value} #>> '{}' end,
      ${raw(String(TEXT_LENGTH_MAX))}) collate "C"`,
  };
}
