// Items of another engine, taken over as they are there.
import assert from 'node:assert/strict';
import type { Item, Lsn, Restored, Version } from '../engine.js';
import { changesSql } from './committer.js';
import type { Pool } from './connection.js';
import { headOf, headSql, type Place, storeHeadSql } from './head.js';
import { itemColumns, itemOf } from './record.js';
import { type Sql, sql } from './sql.js';
import { logSql } from './version-log.js';
import { type LoggedVersion, View } from './view.js';

export async function restoreItems(
  pool: Pool,
  place: Place,
  { items, lsn, nextSerial, versions = [], versionsFrom }: Restored,
): Promise<void> {
  const { schema, container, bucket } = place;
  await pool.transact(async (lease) => {
    const { rows } = await lease.query(headSql(place, true));
    const head = headOf(rows[0], container.id);
    const view = new View(lease, place, head);
    const serials = items.map(({ serial }) => serial);
    const known = await lease.query(sql`select ${itemColumns('d')}
      from ${schema.of(container.id).items} d
      where bucket = ${bucket} and serial = any(${serials}::bigint[])`);
    const before = new Map<number, Item>();
    for (const row of known.rows) {
      const item = itemOf(row, 0);
      if (item) before.set(item.serial, item);
    }
    for (const item of items) view.store(item, before.get(item.serial));
    head.lsn = Math.max(head.lsn, lsn);
    head.nextSerial = Math.max(head.nextSerial, nextSerial);
    for (const statement of changesSql(view)) await lease.query(statement);
    await lease.query(storeHeadSql(place, head, head.writers));
    if (versionsFrom === undefined) return;
    for (const statement of versionsSql(place, versions, versionsFrom)) {
      await lease.query(statement);
    }
  });
}

/** What is logged of the same positions already comes from a try that was not known to be done. */
function versionsSql(place: Place, versions: readonly Version[], from: Lsn): readonly Sql[] {
  const { schema, container, bucket } = place;
  const begin = sql`update ${schema.head} set forgotten = ${from}::bigint
    where bucket = ${bucket} and id = ${container.id}`;
  if (versions.length === 0) return [begin];
  const lsns = [...new Set(versions.map(({ lsn }) => lsn))];
  return [
    begin,
    sql`delete from ${schema.of(container.id).versions}
      where bucket = ${bucket} and lsn = any(${lsns}::bigint[])`,
    logSql(place, versions.map(loggedOf)),
  ];
}

function loggedOf(version: Version): LoggedVersion {
  const { key, serial, lsn, at, expired, previous } = version;
  const doc = version.doc ?? previous?.doc;
  assert(doc, 'a version has its document, or the one that is gone');
  const kind = expired ? 'expire' : version.kind;
  return { kind, item: { key, serial, doc }, lsn, at, previous: previous?.lsn };
}
