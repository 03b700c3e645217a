// All versions read back in the order they happened, and forgotten when their time has come. What a
// reader may see goes by the retention alone, however far the trimming is behind.
import { type Instant, instant } from '../../time/instant.js';
import { docFromBytes } from '../../value/doc.js';
import { decodeValues } from '../../value/key.js';
import type { PartitionKey } from '../../value/partition-key.js';
import {
  BadResume,
  type Budget,
  type ChangeScan,
  type Lsn,
  type Serial,
  type Version,
  type Versions,
  VersionsForgotten,
} from '../engine.js';
import { keptSql } from './bounded.js';
import type { Answer, Lease, Pool, Row } from './connection.js';
import { type Head, headOf, headSql, type Place } from './head.js';
import { scopeSql } from './scan.js';
import { allOf, type Sql, sql } from './sql.js';

export function readVersions(
  pool: Pool,
  place: Place,
  scan: ChangeScan,
  at: Instant,
  budget: Budget,
): Promise<Versions> {
  // Head and log of one moment: nothing is trimmed or written between the statements.
  return pool.transact(async (lease) => {
    await lease.query(sql`set transaction isolation level repeatable read, read only`);
    const { rows: heads } = await lease.query(headSql(place, false));
    const head = headOf(heads[0], place.container.id);
    const { lsn } = head;
    if (scan.after === 'now') return { versions: [], upTo: lsn, isEnd: true, lsn };
    if (scan.after > lsn) throw new BadResume();
    await checkKept(lease, place, head, scan.after, at);
    const { after } = scan;
    const { rows } = await lease.query(versionsSql(place, head, { ...scan, after }, at, budget));
    const [newest, passed] = (rows[0] ?? []) as [number | null, number | null];
    const versions = rows.flatMap((row) => (row[2] === null ? [] : [versionOf(row.slice(2))]));
    const isEnd = (newest ?? 0) <= (passed ?? scan.after);
    return { versions, upTo: isEnd ? lsn : (passed ?? scan.after), isEnd, lsn };
  });
}

/** When the first version may be forgotten. */
export async function nextTrim(
  ask: (statement: Sql) => Promise<Answer>,
  { schema, container, bucket }: Place,
): Promise<Instant | undefined> {
  const { rows } = await ask(sql`select case when h.retention is null or v.lsn <= h.forgotten
      then 0 else v.at + h.retention end
    from ${schema.head} h join lateral (
      select lsn, at from ${schema.of(container.id).versions} where bucket = ${bucket}
      order by lsn, n limit 1) v on true
    where h.bucket = ${bucket} and h.id = ${container.id}`);
  const due = rows[0]?.[0];
  return typeof due === 'number' ? instant(due) : undefined;
}

/** The oldest versions, as far as they may be forgotten, but for those of a commit that stay. */
export async function trimVersions(
  lease: Lease,
  place: Place,
  at: Instant,
  rowsMax: number,
): Promise<number> {
  const { schema, container, bucket } = place;
  const { rows: heads } = await lease.query(headSql(place, true));
  const head = headOf(heads[0], container.id);
  const { versions } = schema.of(container.id);
  const isDue =
    head.retentionMs === undefined
      ? sql`true`
      : sql`(v.lsn <= ${head.forgotten}::bigint or v.at <= ${at - head.retentionMs}::bigint)`;
  const { rows } = await lease.query(sql`delete from ${versions} where bucket = ${bucket}
    and (lsn, n) in (select lsn, n from (select * from ${versions} where bucket = ${bucket}
      order by lsn, n limit ${rowsMax}::int) v where ${isDue}) returning lsn`);
  if (rows.length === 0) return 0;
  const last = rows.reduce((most, [lsn]) => Math.max(most, lsn as number), 0);
  await lease.query(sql`update ${schema.head} set forgotten = greatest(forgotten, ${last}::bigint)
    where bucket = ${bucket} and id = ${container.id}`);
  return rows.length;
}

async function checkKept(
  lease: Lease,
  { schema, container, bucket }: Place,
  head: Head,
  after: Lsn,
  at: Instant,
): Promise<void> {
  if (head.retentionMs === undefined || after < head.forgotten) throw new VersionsForgotten();
  const { rows } = await lease.query(sql`select at from ${schema.of(container.id).versions}
    where bucket = ${bucket} and lsn > ${after}::bigint order by lsn, n limit 1`);
  const first = rows[0]?.[0];
  if (typeof first === 'number' && first + head.retentionMs <= at) throw new VersionsForgotten();
}

function versionsSql(
  { schema, container, bucket }: Place,
  { retentionMs = 0, forgotten }: Head,
  scan: ChangeScan & { readonly after: Lsn },
  at: Instant,
  budget: Budget,
): Sql {
  const { versions } = schema.of(container.id);
  const isWanted = allOf(scopeSql(container, scan, sql`d.whole`));
  const log = { table: versions, row: sql`n`, bucket };
  return sql`with ${keptSql(log, scan.after, isWanted, budget)}
    select (select max(lsn) from ${versions} where bucket = ${bucket}),
      (select max(lsn) from kept), c.lsn, c.at, c.kind, c.previous, c.serial, c.whole,
      c.body, p.body
    from (select 1) one left join (
      select v.* from kept join ${versions} v on v.bucket = ${bucket}
        and v.lsn = kept.lsn and v.n = kept.n where kept.wanted) c on true
    left join lateral (
      select body from (select lsn, n, at, body from ${versions} b where b.bucket = ${bucket}
        and b.lsn = c.previous and b.serial = c.serial and (b.lsn, b.n) < (c.lsn, c.n)
        order by b.n desc limit 1) newest
      where newest.lsn > ${forgotten}::bigint
        and newest.at > ${at - retentionMs}::bigint) p on true
    order by c.lsn, c.n`;
}

function versionOf(row: Row): Version {
  const [lsn, at, kind, previous, serial, whole, body, before] = row;
  const values = decodeValues(whole as Buffer);
  const isGone = kind === 'delete' || kind === 'expire';
  const doc = docFromBytes(body as Buffer);
  const older = isGone ? doc : before === null ? undefined : docFromBytes(before as Buffer);
  return {
    kind: kind === 'expire' ? 'delete' : (kind as Version['kind']),
    key: { partition: values.slice(0, -1) as PartitionKey, id: values.at(-1) as string },
    serial: serial as Serial,
    lsn: lsn as Lsn,
    at: instant(at as number),
    doc: isGone ? undefined : doc,
    previous: previous === null ? undefined : { lsn: previous as Lsn, doc: older },
    expired: kind === 'expire',
  };
}
