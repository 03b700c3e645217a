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
import type { View } from './view.js';

export async function applyBatch(
  view: View,
  batch: WriteBatch,
  at: Instant,
): Promise<WriteOutcome> {
  const mark = view.mark();
  const { lsn } = mark.head;
  const applied = await applyBatches(view, [batch], at);
  if (!('refused' in applied)) return { items: applied.batches[0] ?? [], lsn: applied.lsn };
  view.rollBack(mark);
  return { refused: applied.refused, index: applied.index, lsn };
}

/** Batches of several containers, all of them or none. */
export async function applyTogether(
  groups: readonly { readonly view: View; readonly batches: readonly WriteBatch[] }[],
  at: Instant,
): Promise<TogetherOutcome> {
  const marks = groups.map(({ view }) => ({ view, mark: view.mark() }));
  const written: WrittenGroup[] = [];
  for (const [group, { view, batches }] of groups.entries()) {
    const applied = await applyBatches(view, batches, at);
    if ('refused' in applied) {
      for (const { view: each, mark } of marks) each.rollBack(mark);
      return { ...applied, group };
    }
    written.push(applied);
  }
  return { groups: written };
}

/** All of them have one lsn. What is changed before a refusal is for the caller to take back. */
async function applyBatches(
  view: View,
  batches: readonly WriteBatch[],
  at: Instant,
): Promise<
  WrittenGroup | { readonly refused: Refusal; readonly batch: number; readonly index: number }
> {
  const mark = view.mark();
  const moment = { at, lsn: mark.head.lsn + 1 };
  const written: (Item | undefined)[][] = [];
  for (const [number, batch] of batches.entries()) {
    const items: (Item | undefined)[] = [];
    for (const [index, change] of batch.changes.entries()) {
      const result = await applyChange(view, batch, change, moment);
      if ('refused' in result) return { refused: result.refused, batch: number, index };
      items.push(result.item);
    }
    written.push(items);
  }
  if (view.hasChangedSince(mark)) view.head.lsn = moment.lsn;
  return { batches: written, lsn: view.head.lsn };
}

interface Moment {
  readonly at: Instant;
  readonly lsn: Lsn;
}
type Applied = { readonly item: Item | undefined } | { readonly refused: Refusal };

async function applyChange(
  view: View,
  batch: WriteBatch,
  change: Change,
  { at, lsn }: Moment,
): Promise<Applied> {
  const { head, place } = view;
  const key = { partition: batch.partition, id: idOf(change) };
  const kept = view.at(key);
  const current = kept && isLive(kept.fuses, place.container.expiry, at) ? kept : undefined;
  const decision = decide(change, current, current?.serial ?? head.nextSerial);
  if ('refuse' in decision) return { refused: decision.refuse };
  if ('keep' in decision) return { item: current };
  if ('delete' in decision) {
    if (current) remove(view, current, { at, lsn }, false);
    return { item: undefined };
  }
  // An expired item that was not purged yet makes room for the new one, which is another item with
  // another serial.
  if (kept && !current) remove(view, kept, { at, lsn }, true);
  const serial = current?.serial ?? head.nextSerial;
  const item: Item = { key, serial, lsn, ...draftOf(decision.put) };
  const clash = await clearUniqueKeys(view, item, { at, lsn });
  if (clash !== undefined) return { refused: { uniqueIndex: clash } };
  if (!current) head.nextSerial += 1;
  view.store(item, current);
  const kind = current ? 'replace' : 'create';
  view.log({ kind, item, lsn, at, previous: current?.lsn });
  return { item };
}

function remove(view: View, item: Item, { at, lsn }: Moment, expired: boolean): void {
  view.remove(item);
  view.log({ kind: expired ? 'expire' : 'delete', item, lsn, at, previous: item.lsn });
}

function draftOf({ etag, fuses, doc }: Pick<Item, 'etag' | 'fuses' | 'doc'>) {
  return { etag, fuses, doc };
}

/** T11: an expired holder of a unique key does not block it; it is purged on the spot. */
async function clearUniqueKeys(
  view: View,
  item: Item,
  moment: Moment,
): Promise<string | undefined> {
  for (const { index, hash } of view.uniquesOf(item)) {
    const holder = await view.holderOf(hash);
    if (!holder || holder.serial === item.serial) continue;
    if (isLive(holder.fuses, view.place.container.expiry, moment.at)) return index;
    remove(view, holder, moment, true);
  }
  return undefined;
}
