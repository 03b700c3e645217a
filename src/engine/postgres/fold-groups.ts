// Aggregates over the items of a scan, by groups or as a whole, where the items are. Sums are told
// only where every way of adding up gives the same: all numbers are integers, and all of them
// together are small enough for a double.
import type { Instant } from '../../time/instant.js';
import { ContainerGone, type Fold, type Folded } from '../engine.js';
import type { IndexPath } from '../indexing.js';
import type { Row } from './connection.js';
import { parsedOf, VALUES_MAX, where } from './fold.js';
import { isPlain } from './path-indexes.js';
import type { Scan } from './scan.js';
import { BEHIND_TEXTS, lengthMaxOf, sortTextSql, valueOfSortText } from './sort-text.js';
import { join, raw, type Sql, sql } from './sql.js';
import { textSql, valueSql } from './value-sql.js';

/** What is asked for a fold, and what it says. Undefined: that cannot be told. */
interface Asked {
  readonly columns: readonly Sql[];
  read(columns: Row): { readonly value: unknown } | undefined;
}

export async function foldItems(
  scan: Scan,
  by: readonly IndexPath[],
  folds: readonly Fold[],
  at: Instant,
): Promise<Folded | undefined> {
  const paths = folds.flatMap(({ path }) => (path ? [path] : []));
  if (![...by, ...paths].every(isPlain)) return undefined;
  const place = await scan.place();
  const { schema, container, bucket } = place;
  const asked = folds.map(askedOf);
  const keys = by.flatMap((path) => [sql`jsonb_typeof(${valueSql(path)})`, textSql(path)]);
  const columns = [...keys, ...asked.flatMap((each) => each.columns)];
  const grouped =
    keys.length === 0 ? raw('') : raw(`group by ${keys.map((_, at) => at + 1).join(', ')}`);
  const { rows } = await scan.pool.askAlone(sql`select h.lsn, g.* from ${schema.head} h left join (
      select ${join(columns, ', ')}, 1 as found from ${schema.of(container.id).items} d
      where ${where(scan, place, at)} ${grouped} limit ${VALUES_MAX + 1}::int) g on true
    where h.bucket = ${bucket} and h.id = ${container.id}`);
  const lsn = rows[0]?.[0];
  if (typeof lsn !== 'number') throw new ContainerGone(`there is no container '${container.id}'`);
  if (rows.length > VALUES_MAX) return undefined;
  const groups = [];
  for (const [, ...row] of rows) {
    // Of no group at all there is a row of nothing.
    if (row.at(-1) === null) continue;
    const results = resultsOf(asked, row.slice(keys.length));
    if (!results) return undefined;
    groups.push({ by: by.map((_, at) => keyOf(row, at)), results });
  }
  return { groups, lsn };
}

function keyOf(row: Row, at: number): unknown {
  return parsedOf(row[2 * at] as string | null, row[2 * at + 1] as string | null);
}

function resultsOf(asked: readonly Asked[], row: Row): readonly unknown[] | undefined {
  const results: unknown[] = [];
  let from = 0;
  for (const { columns, read } of asked) {
    const result = read(row.slice(from, from + columns.length));
    if (!result) return undefined;
    results.push(result.value);
    from += columns.length;
  }
  return results;
}

function askedOf({ name, path }: Fold): Asked {
  if (path === undefined) {
    return { columns: [raw('count(*)')], read: ([count]) => ({ value: count }) };
  }
  switch (name) {
    case 'COUNT':
      return { columns: [sql`count(${valueSql(path)})`], read: ([count]) => ({ value: count }) };
    case 'MIN':
    case 'MAX':
      return extreme(name, path);
    default:
      return sum(name, path);
  }
}

/** Arrays and objects are at the upper end, and a single one of them makes the whole undefined. */
function extreme(name: 'MIN' | 'MAX', path: IndexPath): Asked {
  const lengthMax = lengthMaxOf(1);
  const texts = sql`case when ${valueSql(path)} is not null then
    ${sortTextSql(path, lengthMax)} end`;
  return {
    columns: [sql`min(${texts})`, sql`max(${texts})`],
    read: ([least, most]) => {
      if (typeof least !== 'string' || typeof most !== 'string') return { value: undefined };
      if (most >= BEHIND_TEXTS) return { value: undefined };
      return valueOfSortText(name === 'MIN' ? least : most, lengthMax);
    },
  };
}

/** A single value that is not a number makes the whole undefined. */
function sum(name: 'SUM' | 'AVG', path: IndexPath): Asked {
  const value = valueSql(path);
  const number = sql`case jsonb_typeof(${value}) when 'number' then (${value})::numeric end`;
  return {
    columns: [
      sql`count(${value})`,
      sql`count(${number})`,
      sql`sum(${number})::text`,
      sql`coalesce(sum(abs(${number})) <= ${raw(String(Number.MAX_SAFE_INTEGER))}, true)`,
      sql`coalesce(bool_and(${number} = trunc(${number})), true)`,
    ],
    read: ([values, numbers, total, isSmall, isWhole]) => {
      if (values !== numbers) return { value: undefined };
      if (isSmall !== true || isWhole !== true) return undefined;
      const added = Number(total ?? 0);
      if (name === 'SUM') return { value: added };
      return { value: numbers === 0 ? undefined : added / (numbers as number) };
    },
  };
}
