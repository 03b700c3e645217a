// Items of another engine, taken over as they are there.
import type { Item, Restored } from '../engine.js';
import { changesSql } from './committer.js';
import type { Pool } from './connection.js';
import { headOf, headSql, type Place, storeHeadSql } from './head.js';
import { itemColumns, itemOf } from './record.js';
import { sql } from './sql.js';
import { View } from './view.js';

export async function restoreItems(
  pool: Pool,
  place: Place,
  { items, lsn, nextSerial }: Restored,
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
  });
}
