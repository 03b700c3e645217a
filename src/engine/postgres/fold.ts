// Counting where the items are.
import type { Instant } from '../../time/instant.js';
import { compareValues } from '../../value/compare.js';
import { ContainerGone, type Counted, type CountedValues } from '../engine.js';
import type { IndexPath } from '../indexing.js';
import { valueSql } from './filter.js';
import type { Place } from './head.js';
import { isLiveSql } from './record.js';
import type { Scan } from './scan.js';
import { type Sql, sql } from './sql.js';
import { originalValue } from './text.js';

/** With more different values than this, groups are left to the pipeline. */
const VALUES_MAX = 10_000;

export async function countItems(scan: Scan, at: Instant): Promise<Counted> {
  const place = await scan.place();
  const { schema, container, bucket } = place;
  const { rows } = await scan.pool.askAlone(sql`select h.lsn,
    (select count(*) from ${schema.of(container.id).items} d where ${where(scan, place, at)})
    from ${schema.head} h where h.bucket = ${bucket} and h.id = ${container.id}`);
  const [row] = rows as [number, number][];
  if (!row) throw new ContainerGone(`the engine has no container '${container.id}'`);
  return { lsn: row[0], items: row[1] };
}

export async function countValues(
  scan: Scan,
  path: IndexPath,
  at: Instant,
): Promise<CountedValues | undefined> {
  if (path.includes(null)) return undefined;
  const place = await scan.place();
  const { schema, container, bucket } = place;
  const value = valueSql(path);
  const { rows } = await scan.pool.askAlone(sql`select h.lsn, g.items, g.value
    from ${schema.head} h left join (
      select ${value} as value, count(*) as items from ${schema.of(container.id).items} d
      where ${where(scan, place, at)} group by 1 limit ${VALUES_MAX + 1}::int) g on true
    where h.bucket = ${bucket} and h.id = ${container.id}`);
  const [first] = rows as [number, number | null, string | null][];
  if (!first) throw new ContainerGone(`the engine has no container '${container.id}'`);
  if (rows.length > VALUES_MAX) return undefined;
  const values = (rows as [number, number | null, string | null][])
    .filter(([, items]) => items !== null)
    .map(([, items, text]) => ({
      value: text === null ? undefined : originalValue(JSON.parse(text)),
      items: items as number,
    }));
  values.sort((a, b) => compareValues(a.value, b.value));
  return { values, lsn: first[0] };
}

function where(scan: Scan, { container, bucket }: Place, at: Instant): Sql {
  return sql`d.bucket = ${bucket} and ${scan.condition} and ${isLiveSql(container.expiry, at)}`;
}
