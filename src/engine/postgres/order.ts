// Orders as SQL: the one order of values over the `x` column, and the conditions that go on
// behind a place in it. Both are what the indexes over paths are made of, so that a page costs
// what it returns.
import { BadResume, type OrderBy, type Serial } from '../engine.js';
import { sortTextSql } from './sort-text.js';
import { join, raw, type Sql, sql } from './sql.js';

export function orderSql(order: readonly OrderBy[], lengthMax: number): Sql {
  const parts = order.map(
    ({ path, descending }) => sql`${sortTextSql(path, lengthMax)}${raw(wayOf(descending))}`,
  );
  return join([...parts, raw(`d.serial${wayOf(order[0]?.descending === true)}`)], ', ');
}

/** What comes behind a place in the order. */
export function behindSql(
  order: readonly OrderBy[],
  lengthMax: number,
  keys: readonly string[],
  serial: Serial,
): Sql {
  const [first] = order;
  if (!first || keys.length !== order.length) throw new BadResume();
  const places = [
    ...order.map(({ path, descending }, index) => ({
      value: sortTextSql(path, lengthMax),
      at: sql`${keys[index]}::text`,
      descending,
    })),
    { value: raw('d.serial'), at: sql`${serial}::bigint`, descending: first.descending },
  ];
  const beyond = raw(first.descending ? '<' : '>');
  if (places.every(({ descending }) => descending === first.descending)) {
    const values = join(
      places.map(({ value }) => value),
      ', ',
    );
    const at = join(
      places.map((place) => place.at),
      ', ',
    );
    return sql`(${values}) ${beyond} (${at})`;
  }
  // An index in both directions knows where to begin by its first path only.
  const begin = sql`${places[0]?.value} ${beyond}= ${places[0]?.at}`;
  const behind = places.reduceRight<Sql | undefined>((next, { value, at, descending }) => {
    const passed = sql`${value} ${raw(descending ? '<' : '>')} ${at}`;
    return next ? sql`(${passed} or ${value} = ${at} and ${next})` : passed;
  }, undefined);
  return sql`${begin} and ${behind}`;
}

function wayOf(descending: boolean): string {
  return descending ? ' desc' : ' asc';
}
