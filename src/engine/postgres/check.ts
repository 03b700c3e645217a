// Verifies what tables say about each other: heads count what is there, and unique indexes hold
// what items have.
import type { Container } from '../engine.js';
import type { Pool } from './connection.js';
import { headOf, headSql, type Place } from './head.js';
import { ITEM_WIDTH, itemColumns, itemOf, keyOf } from './record.js';
import { sql } from './sql.js';
import { uniquesOf } from './view.js';

const PAGE = 500;

export async function checkContainer(pool: Pool, place: Place): Promise<void> {
  const { container, schema, bucket } = place;
  const { items, unique } = schema.of(container.id);
  await pool.transact(async (lease) => {
    const { rows } = await lease.query(headSql(place, true));
    const head = headOf(rows[0], container.id);
    const seen = { items: 0, bytes: 0, lsn: 0, serial: 0, unique: 0 };
    for (let after = 0; ; ) {
      const page = await lease.query(sql`select d.k, ${itemColumns('d')} from ${items} d
        where bucket = ${bucket} and serial > ${after}::bigint order by serial limit ${PAGE}::int`);
      for (const row of page.rows) {
        const item = itemOf(row, row.length - ITEM_WIDTH);
        if (!item) continue;
        found(container, keyOf(item.key).equals(row[0] as Buffer), `the key of ${item.serial}`);
        const hashes = uniquesOf(container, item).map(({ hash }) => Buffer.from(hash, 'hex'));
        const held = await lease.query(sql`select from ${unique} where bucket = ${bucket}
          and serial = ${item.serial} and u = any(${hashes}::bytea[])`);
        found(container, held.rowCount === hashes.length, `unique keys of ${item.serial}`);
        seen.items += 1;
        seen.bytes += item.doc.bytes.length;
        seen.unique += hashes.length;
        seen.lsn = Math.max(seen.lsn, item.lsn);
        seen.serial = Math.max(seen.serial, item.serial);
        after = item.serial;
      }
      if (page.rows.length < PAGE) break;
    }
    const uniques = await lease.query(sql`select count(*) from ${unique} where bucket = ${bucket}`);
    found(container, uniques.rows[0]?.[0] === seen.unique, 'unique keys without an item');
    found(container, head.items === seen.items, `${head.items} items, not ${seen.items}`);
    found(container, head.bytes === seen.bytes, `${head.bytes} bytes, not ${seen.bytes}`);
    found(container, head.lsn >= seen.lsn, `the change ${seen.lsn} behind ${head.lsn}`);
    found(container, head.nextSerial > seen.serial, `the serial ${seen.serial} again`);
  });
}

function found(container: Container, isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`container '${container.id}': ${what}`);
}
