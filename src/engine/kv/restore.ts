// Items of another engine, taken over as they are there.
import { instant } from '../../time/instant.js';
import type { Restored } from '../engine.js';
import { loadItem, type Place, removeItem, storeItem } from './entries.js';
import type { WriteSet } from './write-set.js';

export function restoreItems(
  writes: WriteSet,
  place: Place,
  { items, lsn, nextSerial }: Restored,
): void {
  const { head } = place;
  const moment = { at: instant(0), expired: false };
  for (const item of items) {
    const { serial, etag, fuses, doc } = item;
    const draft = { id: item.key.id, etag, fuses, doc };
    const known = loadItem(writes, place, serial);
    if (known) removeItem(writes, place, known, { lsn: item.lsn, ...moment });
    storeItem(writes, place, item.key, draft, { serial, lsn: item.lsn, ...moment }, undefined);
  }
  head.lsn = Math.max(head.lsn, lsn);
  head.nextSerial = Math.max(head.nextSerial, nextSerial);
  head.changed = true;
}
