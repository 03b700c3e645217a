// The change order read back: which items changed last, each once and as it is now.
//
// A position is an lsn, and what one commit wrote is never divided. Heads in memory run ahead of
// the store while a commit is on its way, so positions go by the stored one: it is written in one
// piece with all changes up to it.
import { isLive } from '../../time/expiry.js';
import type { Instant } from '../../time/instant.js';
import { effectivePartitionKey } from '../../value/partition-hash.js';
import type { PartitionKey } from '../../value/partition-key.js';
import {
  BadResume,
  type Budget,
  type ChangeScan,
  type Changes,
  type Item,
  type Lsn,
} from '../engine.js';
import type { Place } from './entries.js';
import { storedLsn } from './head.js';
import { changeKey, documentKey, lsnOf, serialAtEnd, successor } from './keys.js';
import { openRecord } from './record.js';
import { type Key, type Reader, Slab } from './store.js';
import { isWhole } from './ways.js';

/** Items that are dead or elsewhere count too, so that every call ends soon. */
const LOOKED_AT_MAX = 1000;
const KEYS_PER_READ = 256;
const slab = new Slab();

export function readChanges(
  store: Reader,
  place: Place,
  scan: ChangeScan,
  at: Instant,
  budget: Budget,
): Changes {
  const { slot } = place.head;
  // Read before the changes: whatever is stored meanwhile lies behind it.
  const stored = storedLsn(store, slot);
  const after = scan.after === 'now' ? stored : scan.after;
  if (after > stored) throw new BadResume();
  const to = changeKey(slot, stored + 1, 0);
  const isPart = scan.partition !== undefined || (scan.span && !isWhole(scan.span));
  const items: Item[] = [];
  let passed: Lsn = after;
  let bytes = 0;
  let lookedAt = 0;
  const isFull = () =>
    items.length >= budget.rowsMax || bytes >= budget.bytesMax || lookedAt >= LOOKED_AT_MAX;
  for (let from: Key | undefined = changeKey(slot, after + 1, 0); from; ) {
    const keys: readonly Key[] = store.keys(from, to, KEYS_PER_READ);
    for (const key of keys) {
      const changed = lsnOf(key);
      if (changed !== passed && lookedAt > 0 && isFull()) {
        return { items, upTo: passed, isEnd: false, lsn: stored };
      }
      passed = changed;
      lookedAt += 1;
      const item = changedItem(store, place, key);
      if (!item || !isLive(item.fuses, place.container.expiry, at)) continue;
      if (isPart && !isInScope(item.key.partition, place, scan)) continue;
      items.push(item);
      bytes += item.doc.bytes.length;
    }
    const last = keys.at(-1);
    from = last && keys.length >= KEYS_PER_READ ? successor(last) : undefined;
  }
  return { items, upTo: stored, isEnd: true, lsn: stored };
}

/** A newer version than the key tells of has a key of its own, further on. */
function changedItem(store: Reader, { head }: Place, key: Key): Item | undefined {
  const serial = serialAtEnd(key);
  const record = store.getInto(slab, documentKey(head.slot, serial));
  const item = record && openRecord(record, serial, head.rules);
  return item?.lsn === lsnOf(key) ? item : undefined;
}

/** Whether a change of this partition is one of those that were asked for. */
export function isInScope(
  own: PartitionKey,
  place: Place,
  { partition, span }: ChangeScan,
): boolean {
  if (partition?.some((part, index) => part !== own[index])) return false;
  if (!span || isWhole(span)) return true;
  const epk = effectivePartitionKey(own, place.container.partitionHash);
  return span.from <= epk && epk < span.to;
}
