// Read, decide, write: one batch of changes in one logical partition, all of it or none.
import { isLive } from '../../time/expiry.js';
import type { Instant } from '../../time/instant.js';
import { decide, idOf } from '../decide.js';
import type { Change, Item, Lsn, Refusal, WriteBatch, WriteOutcome } from '../engine.js';
import {
  findSerial,
  loadItem,
  type Place,
  removeItem,
  storeItem,
  uniqueEntries,
} from './entries.js';
import { readSerial } from './keys.js';
import type { WriteSet } from './write-set.js';

export function applyBatch(
  writes: WriteSet,
  place: Place,
  batch: WriteBatch,
  at: Instant,
): WriteOutcome {
  const { head } = place;
  const { nextSerial, lsn, items, bytes } = head;
  const mark = writes.mark();
  const written: (Item | undefined)[] = [];
  const undo = () => {
    writes.rollBack(mark);
    Object.assign(head, { nextSerial, lsn, items, bytes });
  };
  try {
    for (const [index, change] of batch.changes.entries()) {
      const result = applyChange(writes, place, batch, change, { at, lsn: lsn + 1 });
      if ('refused' in result) {
        undo();
        return { refused: result.refused, index, lsn };
      }
      written.push(result.item);
    }
  } catch (error) {
    undo();
    throw error;
  }
  if (writes.size > mark.writes) {
    head.lsn = lsn + 1;
    head.changed = true;
  }
  return { items: written, lsn: head.lsn };
}

interface Moment {
  readonly at: Instant;
  readonly lsn: Lsn;
}
type Applied = { readonly item: Item | undefined } | { readonly refused: Refusal };

function applyChange(
  writes: WriteSet,
  place: Place,
  batch: WriteBatch,
  change: Change,
  moment: Moment,
): Applied {
  const { head, container } = place;
  const key = { partition: batch.partition, id: idOf(change) };
  const found = findSerial(writes, place, key);
  const kept = found === undefined ? undefined : loadItem(writes, place, found, key);
  const current = kept && isLive(kept.fuses, container.expiry, moment.at) ? kept : undefined;
  const decision = decide(change, current, current?.serial ?? head.nextSerial);
  if ('refuse' in decision) return { refused: decision.refuse };
  if ('keep' in decision) return { item: current };
  if ('delete' in decision) {
    if (current) removeItem(writes, place, current, { ...moment, expired: false });
    return { item: undefined };
  }
  // An expired item that was not purged yet makes room for the new one, which is another item with
  // another serial.
  if (kept && !current) removeItem(writes, place, kept, { ...moment, expired: true });
  const serial = current?.serial ?? head.nextSerial;
  const clash = clearUniqueKeys(writes, place, { key, doc: decision.put.doc, serial }, moment);
  if (clash !== undefined) return { refused: { uniqueIndex: clash } };
  if (!current) head.nextSerial += 1;
  const item = storeItem(writes, place, key, decision.put, { serial, ...moment }, current);
  return { item };
}

/** T11: an expired holder of a unique key does not block it; it is purged on the spot. */
function clearUniqueKeys(
  writes: WriteSet,
  place: Place,
  item: Pick<Item, 'key' | 'doc' | 'serial'>,
  moment: Moment,
): string | undefined {
  for (const { index, key } of uniqueEntries(place, item)) {
    const held = writes.get(key);
    const holder = held && readSerial(held);
    if (holder === undefined || holder === item.serial) continue;
    const other = loadItem(writes, place, holder);
    if (other && isLive(other.fuses, place.container.expiry, moment.at)) return index;
    if (other) removeItem(writes, place, other, { ...moment, expired: true });
  }
  return undefined;
}
