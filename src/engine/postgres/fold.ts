// Counting where the items are.
import type { Instant } from '../../time/instant.js';
import { compareValues } from '../../value/compare.js';
import { ContainerGone, type Counted, type CountedValues } from '../engine.js';
import type { IndexPath } from '../indexing.js';
import type { Place } from './head.js';
import { isLiveSql } from './record.js';
import type { Scan } from './scan.js';
import { type Sql, sql } from './sql.js';
import { originalValue } from './text.js';
import { textSql, valueSql } from './value-sql.js';

/** With more different values than this, groups are left to the pipeline. */
export const VALUES_MAX = 10_000;

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
  if (path.length === 0 || path.includes(null)) return undefined;
  const place = await scan.place();
  const { schema, container, bucket } = place;
  // Texts are told apart by bytes, which takes a fraction of what it takes with jsonb.
  const { rows } = await scan.pool.askAlone(sql`select h.lsn, g.items, g.type, g.text
    from ${schema.head} h left join (
      select jsonb_typeof(${valueSql(path)}) as type, ${textSql(path)} as text, count(*) as items
      from ${schema.of(container.id).items} d
      where ${where(scan, place, at)} group by 1, 2 limit ${VALUES_MAX + 1}::int) g on true
    where h.bucket = ${bucket} and h.id = ${container.id}`);
  const [first] = rows as CountedRow[];
  if (!first) throw new ContainerGone(`the engine has no container '${container.id}'`);
  if (rows.length > VALUES_MAX) return undefined;
  const values = (rows as CountedRow[])
    .filter(([, items]) => items !== null)
    .map(([, items, type, text]) => ({ value: parsedOf(type, text), items: items as number }));
  values.sort((a, b) => compareValues(a.value, b.value));
  return { values, lsn: first[0] };
}

type CountedRow = [lsn: number, items: number | null, type: string | null, text: string | null];

/** A value that was grouped by. */
export function parsedOf(type: string | null, text: string | null): unknown {
  if (type === null) return undefined;
  if (type === 'null' || text === null) return null;
  return originalValue(type === 'string' ? text : JSON.parse(text));
}

export function where(scan: Scan, { container, bucket }: Place, at: Instant): Sql {
  return sql`d.bucket = ${bucket} and ${scan.condition} and ${isLiveSql(container.expiry, at)}`;
}
