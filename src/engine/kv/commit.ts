// Read, decide, write: one batch of changes in one logical partition, or several in several
// containers, all of it or none.
import { isLive } from '../../time/expiry.js';
import type { Instant } from '../../time/instant.js';
import { decide, idOf } from '../decide.js';
import type {
  Change,
  Item,
  Lsn,
  Refusal,
  TogetherOutcome,
  WriteBatch,
  WriteOutcome,
  WrittenGroup,
} from '../engine.js';
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
  const undo = undoing(writes, [place]);
  const { lsn } = place.head;
  try {
    const applied = applyBatches(writes, place, [batch], at);
    if (!('refused' in applied)) return { items: applied.batches[0] ?? [], lsn: applied.lsn };
    undo();
    return { refused: applied.refused, index: applied.index, lsn };
  } catch (error) {
    undo();
    throw error;
  }
}

/** Batches of several places, all of them or none. */
export function applyTogether(
  writes: WriteSet,
  groups: readonly { readonly place: Place; readonly batches: readonly WriteBatch[] }[],
  at: Instant,
): TogetherOutcome {
  const undo = undoing(
    writes,
    groups.map(({ place }) => place),
  );
  const written: WrittenGroup[] = [];
  try {
    for (const [group, { place, batches }] of groups.entries()) {
      const applied = applyBatches(writes, place, batches, at);
      if ('refused' in applied) {
        undo();
        return { ...applied, group };
      }
      written.push(applied);
    }
  } catch (error) {
    undo();
    throw error;
  }
  return { groups: written };
}

/** Takes back what is written from here on, in the store and in the heads. */
function undoing(writes: WriteSet, places: readonly Place[]): () => void {
  const mark = writes.mark();
  const heads = places.map(({ head }) => {
    const { nextSerial, lsn, items, bytes } = head;
    return { head, numbers: { nextSerial, lsn, items, bytes } };
  });
  return () => {
    writes.rollBack(mark);
    for (const { head, numbers } of heads) Object.assign(head, numbers);
  };
}

/** All of them have one lsn. What is written before a refusal is for the caller to undo. */
function applyBatches(
  writes: WriteSet,
  place: Place,
  batches: readonly WriteBatch[],
  at: Instant,
): WrittenGroup | { readonly refused: Refusal; readonly batch: number; readonly index: number } {
  const { head } = place;
  const { size } = writes;
  const moment = { at, lsn: head.lsn + 1 };
  const written: (Item | undefined)[][] = [];
  for (const [number, batch] of batches.entries()) {
    const items: (Item | undefined)[] = [];
    for (const [index, change] of batch.changes.entries()) {
      const result = applyChange(writes, place, batch, change, moment);
      if ('refused' in result) return { refused: result.refused, batch: number, index };
      items.push(result.item);
    }
    written.push(items);
  }
  if (writes.size > size) {
    head.lsn = moment.lsn;
    head.changed = true;
  }
  return { batches: written, lsn: head.lsn };
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
