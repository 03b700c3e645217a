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
import type { Answer, Lease, Pool } from './connection.js';
import { type Head, headOf, headSql, type Place } from './head.js';
import { fuseOf, NEVER } from './schema.js';
import { join, raw, type Sql, sql } from './sql.js';
import { logPurgedSql } from './version-log.js';
import { nextTrim, trimVersions } from './versions.js';

type Ask = (statement: Sql) => Promise<Answer>;

/** When something is due next: an item, or a version. */
export async function nextOf(ask: Ask, place: Place): Promise<Instant | undefined> {
  return earlier(...(await Promise.all([nextDue(ask, place), nextTrim(ask, place)])));
}

function earlier(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

/** The earliest due instant among all enabled rules: one look at the first entry of each. */
async function nextDue(ask: Ask, place: Place): Promise<Instant | undefined> {
  const rules = place.container.expiry.filter((rule) => rule.enabled);
  if (rules.length === 0) return undefined;
  const firsts = rules.map(({ name, lagMs }) => {
    const fuse = fuseOf(name);
    return sql`(select ${fuse} + ${lagMs}::bigint from ${tableOf(place)} d
      where bucket = ${place.bucket} and ${isLit(name)} order by ${fuse}, serial limit 1)`;
  });
  const { rows } = await ask(sql`select least(${join(firsts, ', ')})`);
  const next = rows[0]?.[0];
  return typeof next === 'number' ? instant(next) : undefined;
}

/**
 * Removes what is due, oldest first; the head is locked, so no writer can renew it meanwhile.
 * Undefined where the container goes by other rules by now.
 */
export async function purgeDue(
  pool: Pool,
  place: Place,
  at: Instant,
  rowsMax: number,
): Promise<Purge | undefined> {
  const done = await pool.transact((lease) => purgeLocked(lease, place, at, rowsMax), 'in work');
  if (!done) return undefined;
  const { gone, due, trim } = done;
  const left = (rowsMax - gone.purged) * VERSIONS_PER_ROW;
  if (trim === undefined || trim > at || left <= 0) return { ...gone, next: earlier(due, trim) };
  const trimmed = await pool.transact((lease) => trimVersions(lease, place, at, left));
  const next = earlier(due, await nextTrim((statement) => pool.ask(statement), place));
  return { ...gone, trimmed, next };
}

/** Two round trips: what is to be known under the lock, and all that follows from it. */
async function purgeLocked(lease: Lease, place: Place, at: Instant, rowsMax: number) {
  const { schema, container } = place;
  const ask: Ask = (statement) => lease.query(statement);
  // Who changes the rules locks the head, too: what the new ones revive is not purged by the old.
  const [{ rows: heads }, { rows: now }] = await Promise.all([
    ask(headSql(place, true)),
    ask(sql`select definition->'expiry' from ${schema.container} where id = ${container.id}`),
  ]);
  const head = headOf(heads[0], container.id);
  const stored: unknown = JSON.parse((now[0]?.[0] ?? 'null') as string);
  if (!isDeepStrictEqual(stored, container.expiry)) {
    await ask(raw('rollback'));
    return undefined;
  }
  const [gone, due, trim] = await Promise.all([
    removeDue(ask, place, head, at, rowsMax),
    nextDue(ask, place),
    nextTrim(ask, place),
    ask(raw('commit')),
  ]);
  return { gone, due, trim };
}

/** In one statement: the items, what they hold in unique indexes, their log, and the head. */
async function removeDue(
  ask: Ask,
  place: Place,
  head: Head,
  at: Instant,
  rowsMax: number,
): Promise<{ readonly purged: number; readonly bytes: number }> {
  const { bucket, schema, container } = place;
  const rules = container.expiry.filter((rule) => rule.enabled);
  if (rules.length === 0) return { purged: 0, bytes: 0 };
  const isLogged = head.retentionMs !== undefined;
  const log = isLogged ? sql`, log as (${logPurgedSql(place, head.lsn + 1, at)})` : raw('');
  const free = container.indexes.some((index) => index.unique)
    ? sql`, freed as (delete from ${schema.of(container.id).unique} u using gone
        where u.bucket = ${bucket} and u.serial = gone.serial)`
    : raw('');
  const { rows } = await ask(sql`with gone as (
      delete from ${tableOf(place)} where bucket = ${bucket}
      and ctid = any(array(${dueSql(place, rules, at, rowsMax)}))
      returning ${raw(isLogged ? '*' : 'serial, size')})${log}${free},
    total as (select count(*) as items, coalesce(sum(size), 0) as bytes from gone)
    update ${schema.head} h set lsn = h.lsn + 1,
      items = h.items - total.items, bytes = h.bytes - total.bytes
    from total where h.bucket = ${bucket} and h.id = ${container.id} and total.items > 0
    returning total.items, total.bytes::bigint`);
  const [purged, bytes] = (rows[0] ?? [0, 0]) as [number, number];
  return { purged, bytes };
}

/** Where the rows are that are due at the instant, oldest expiry first over all rules. */
function dueSql(place: Place, rules: readonly ExpiryRule[], at: Instant, rowsMax: number): Sql {
  const limit = raw(String(rowsMax));
  const parts = rules.map(({ name, lagMs }) => {
    const fuse = fuseOf(name);
    return sql`(select ctid, serial, ${fuse} + ${lagMs}::bigint as due from ${tableOf(place)}
      where bucket = ${place.bucket} and ${isLit(name)} and ${fuse} <= ${at - lagMs}::bigint
      order by ${fuse}, serial limit ${limit})`;
  });
  if (parts.length === 1) return sql`select ctid from ${parts[0]} due`;
  return sql`select ctid from (${join(parts, ' union all ')}) due
    group by ctid, serial order by min(due), serial limit ${limit}`;
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
