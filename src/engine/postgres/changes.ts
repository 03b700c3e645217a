// The change order read back: which items changed last, each once and as it is now. A statement
// sees the head and the items of one moment, and whoever writes locks the head first: what it
// does not see yet lies behind that head.
import type { Instant } from '../../time/instant.js';
import {
  BadResume,
  type Budget,
  type ChangeScan,
  type Changes,
  ContainerGone,
  type Item,
} from '../engine.js';
import { keptSql } from './bounded.js';
import type { Pool } from './connection.js';
import type { Place } from './head.js';
import { isLiveSql, itemColumns, itemOf } from './record.js';
import { scopeSql } from './scan.js';
import { allOf, type Sql, sql } from './sql.js';

export async function readChanges(
  pool: Pool,
  place: Place,
  scan: ChangeScan,
  at: Instant,
  budget: Budget,
): Promise<Changes> {
  const { rows } = await pool.askAlone(changesSql(place, scan, at, budget));
  const [first] = rows as unknown as [number, number | null, number | null][];
  if (!first) throw new ContainerGone(`the engine has no container '${place.container.id}'`);
  const [lsn, newest, passed] = first;
  if (scan.after === 'now') return { items: [], upTo: lsn, isEnd: true, lsn };
  if (scan.after > lsn) throw new BadResume();
  const items: Item[] = [];
  for (const row of rows) {
    const item = itemOf(row, 3);
    if (item) items.push(item);
  }
  const isEnd = newest === null || newest <= (passed ?? scan.after);
  return { items, upTo: isEnd ? lsn : (passed ?? scan.after), isEnd, lsn };
}

function changesSql(place: Place, scan: ChangeScan, at: Instant, budget: Budget): Sql {
  const { schema, container, bucket } = place;
  const { items } = schema.of(container.id);
  const after = scan.after === 'now' ? Number.MAX_SAFE_INTEGER : scan.after;
  const isWanted = allOf([...scopeSql(container, scan), isLiveSql(container.expiry, at)]);
  const log = { table: items, row: sql`serial`, bucket };
  return sql`with ${keptSql(log, after, isWanted, budget)}
    select h.lsn, (select max(lsn) from ${items} where bucket = ${bucket}),
      (select max(lsn) from kept), ${itemColumns('c')}
    from ${schema.head} h left join (
      select d.* from kept join ${items} d on d.bucket = ${bucket} and d.serial = kept.serial
      where kept.wanted) c on true
    where h.bucket = ${bucket} and h.id = ${container.id} order by c.lsn, c.serial`;
}
