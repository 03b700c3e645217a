// Items of another engine, taken over as they are there.
import { instant } from '../../time/instant.js';
import type { Restored } from '../engine.js';
import { loadItem, type Place, removeItem, storeItem } from './entries.js';
import { restoreVersions } from './version-log.js';
import type { WriteSet } from './write-set.js';

export function restoreItems(
  writes: WriteSet,
  place: Place,
  { items, lsn, nextSerial, versions = [], versionsFrom }: Restored,
): void {
  const { head } = place;
  const { retentionMs } = head;
  // How they came about is told by the log that comes with them.
  head.retentionMs = undefined;
  const moment = { at: instant(0), expired: false };
  for (const item of items) {
    const { serial, etag, fuses, doc } = item;
    const draft = { id: item.key.id, etag, fuses, doc };
    const known = loadItem(writes, place, serial);
    if (known) removeItem(writes, place, known, { lsn: item.lsn, ...moment });
    storeItem(writes, place, item.key, draft, { serial, lsn: item.lsn, ...moment }, undefined);
  }
  head.retentionMs = retentionMs;
  if (versionsFrom !== undefined) restoreVersions(writes, head, versions, versionsFrom);
  head.lsn = Math.max(head.lsn, lsn);
  head.nextSerial = Math.max(head.nextSerial, nextSerial);
  head.changed = true;
}
