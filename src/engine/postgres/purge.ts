// Expiry order: finding what is due, and removing it. Cost follows what expired, never what did
// not.
import { isDeepStrictEqual } from 'node:util';
import type { ExpiryRule } from '../../time/expiry.js';
import { type Instant, instant } from '../../time/instant.js';
import {
  BadResume,
  type Expiry,
  type ExpiryScan,
  type Purge,
  type Resume,
  VERSIONS_PER_ROW,
} from '../engine.js';
import type { Lease, Pool } from './connection.js';
import { type Head, headOf, headSql, type Place, storeHeadSql } from './head.js';
import { fuseOf, NEVER } from './schema.js';
import { join, raw, type Sql, sql } from './sql.js';
import { logPurgedSql } from './version-log.js';
import { trimVersions } from './versions.js';

/** The earliest due instant among all enabled rules: one look at the first entry of each. */
export async function nextDue(pool: Pool, place: Place): Promise<Instant | undefined> {
  const rules = place.container.expiry.filter((rule) => rule.enabled);
  if (rules.length === 0) return undefined;
  const firsts = rules.map(({ name, lagMs }) => {
    const fuse = fuseOf(name);
    return sql`(select ${fuse} + ${lagMs}::bigint from ${tableOf(place)} d
      where bucket = ${place.bucket} and ${isLit(name)} order by ${fuse}, serial limit 1)`;
  });
  const { rows } = await pool.ask(sql`select least(${join(firsts, ', ')})`);
  const next = rows[0]?.[0];
  return typeof next === 'number' ? instant(next) : undefined;
}

/** Removes what is due, oldest first; the head is locked, so no writer can renew it meanwhile. */
export async function purgeDue(
  pool: Pool,
  place: Place,
  at: Instant,
  rowsMax: number,
): Promise<Omit<Purge, 'next'> | undefined> {
  const rules = place.container.expiry.filter((rule) => rule.enabled);
  return pool.transact((lease) => purgeLocked(lease, place, rules, at, rowsMax));
}

async function purgeLocked(
  lease: Lease,
  place: Place,
  rules: readonly ExpiryRule[],
  at: Instant,
  rowsMax: number,
): Promise<Omit<Purge, 'next'> | undefined> {
  const { schema, container } = place;
  const { rows: heads } = await lease.query(headSql(place, true));
  const head = headOf(heads[0], container.id);
  // Who changes the rules locks the head, too: what the new ones revive is not purged by the old.
  const { rows: now } = await lease.query(
    sql`select definition->'expiry' from ${schema.container} where id = ${container.id}`,
  );
  const stored: unknown = JSON.parse((now[0]?.[0] ?? 'null') as string);
  if (!isDeepStrictEqual(stored, container.expiry)) return undefined;
  const gone = await removeDue(lease, place, head, rules, at, rowsMax);
  const left = (rowsMax - gone.purged) * VERSIONS_PER_ROW;
  const trimmed = await trimVersions(lease, place, head, at, left);
  return trimmed > 0 ? { ...gone, trimmed } : gone;
}

async function removeDue(
  lease: Lease,
  place: Place,
  head: Head,
  rules: readonly ExpiryRule[],
  at: Instant,
  rowsMax: number,
): Promise<{ readonly purged: number; readonly bytes: number }> {
  const { bucket, schema, container } = place;
  if (rules.length === 0) return { purged: 0, bytes: 0 };
  const isLogged = head.retentionMs !== undefined;
  const log = isLogged ? sql`, log as (${logPurgedSql(place, head.lsn + 1, at)})` : raw('');
  const { rows } = await lease.query(sql`with gone as (
      delete from ${tableOf(place)} where bucket = ${bucket}
      and serial = any(array(${dueSql(place, rules, at, rowsMax)})) returning *)${log}
    select serial, size from gone`);
  if (rows.length === 0) return { purged: 0, bytes: 0 };
  const bytes = rows.reduce((sum, [, size]) => sum + (size as number), 0);
  if (container.indexes.some((index) => index.unique)) {
    const serials = rows.map(([serial]) => serial);
    await lease.query(sql`delete from ${schema.of(container.id).unique}
      where bucket = ${bucket} and serial = any(${serials}::bigint[])`);
  }
  head.lsn += 1;
  head.items -= rows.length;
  head.bytes -= bytes;
  await lease.query(storeHeadSql(place, head, head.writers));
  return { purged: rows.length, bytes };
}

/** Serials due at the instant, oldest expiry first over all rules. */
function dueSql(place: Place, rules: readonly ExpiryRule[], at: Instant, rowsMax: number): Sql {
  const limit = raw(String(rowsMax));
  const parts = rules.map(({ name, lagMs }) => {
    const fuse = fuseOf(name);
    return sql`(select serial, ${fuse} + ${lagMs}::bigint as due from ${tableOf(place)}
      where bucket = ${place.bucket} and ${isLit(name)} and ${fuse} <= ${at - lagMs}::bigint
      order by ${fuse}, serial limit ${limit})`;
  });
  return sql`select serial from (${join(parts, ' union all ')}) due
    group by serial order by min(due), serial limit ${limit}`;
}

/** Pages through fuses rule by rule. Resume point: JSON, [rule, fuse, serial]. */
export async function readExpiries(
  pool: Pool,
  place: Place,
  scan: ExpiryScan,
): Promise<{ readonly expiries: readonly Expiry[]; readonly resume: Resume | undefined }> {
  const rules = scan.rules.filter((rule) => rule.enabled);
  const passed = scan.after && placeIn(rules, scan.after);
  const expiries: Expiry[] = [];
  for (const [index, { name, lagMs }] of rules.entries()) {
    if (passed && index < passed.rule) continue;
    const fuse = fuseOf(name);
    const behind =
      passed?.rule === index
        ? sql`and (${fuse}, serial) > (${passed.at}::bigint, ${passed.serial}::bigint)`
        : raw('');
    const since =
      scan.since === undefined ? raw('') : sql`and ${fuse} > ${scan.since - lagMs}::bigint`;
    const left = scan.rowsMax - expiries.length;
    const { rows } = await pool.ask(sql`select ${fuse}, serial, size from ${tableOf(place)}
      where bucket = ${place.bucket} and ${isLit(name)} and ${fuse} <= ${scan.until - lagMs}::bigint
      ${since} ${behind} order by ${fuse}, serial limit ${left}::int`);
    for (const [at, serial, bytes] of rows as [number, number, number][]) {
      expiries.push({ rule: name, due: instant(at + lagMs), serial, bytes });
      if (expiries.length >= scan.rowsMax) {
        const resume = Buffer.from(JSON.stringify([index, at, serial])) as unknown as Resume;
        return { expiries, resume };
      }
    }
  }
  return { expiries, resume: undefined };
}

function placeIn(rules: readonly ExpiryRule[], resume: Resume) {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(resume).toString());
  } catch {
    throw new BadResume();
  }
  if (!Array.isArray(read) || !read.every(Number.isSafeInteger)) throw new BadResume();
  const [rule, at, serial] = read as number[];
  if (rule === undefined || at === undefined || serial === undefined) throw new BadResume();
  if (!rules[rule]) throw new BadResume();
  return { rule, at, serial };
}

function tableOf({ schema, container }: Place): Sql {
  return schema.of(container.id).items;
}

/** As the partial indexes have it. */
function isLit(rule: string): Sql {
  return sql`${fuseOf(rule)} < ${raw(String(NEVER))}`;
}
