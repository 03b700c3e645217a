// Builds the index over paths after its rules have changed: item by item in small commits, going on
// where it stopped after a restart. Meanwhile writes keep the new entries up to date, and scans do
// without the index. Entries of the old rules are swept when the new ones are complete.
//
// A lazy index is built on by the same hand: writes only note which items wait for it.
import { rest } from '../../time/clock.js';
import type { Committer } from './committer.js';
import { indexEntries, indexWaiting, loadItem, type Place } from './entries.js';
import {
  after,
  documentKey,
  headKey,
  type Slot,
  serialAtEnd,
  tableRange,
  waitingKey,
} from './keys.js';
import { versionPrefix } from './path-index.js';
import type { Key, Reader, Store } from './store.js';

const ITEMS_PER_COMMIT = 32;
/** As many as a group of writes has, so that a lazy index keeps up with them. */
const WAITING_PER_COMMIT = 128;
const PATIENCE_MS = 50;
const KEYS_PER_SWEEP = 500;
const NOTHING = new Uint8Array(0);

export interface Building {
  /** Asked anew for each step: the rules may change again, and then `live` turns false. */
  place(): Place;
  live(): boolean;
  /** Comes before each step, and lets everything else go first. */
  pause(): Promise<void>;
}

export async function buildIndex(
  store: Store,
  committer: Committer,
  building: Building,
): Promise<void> {
  const { place, live, pause } = building;
  const { slot, index } = place().head;
  // What waited under older rules is built anew, or gone by now.
  if (!index.ready && index.builtTo === 0) {
    await sweep(store, committer, building, [waitingKey(slot, 0), waitingKey(slot, index.goal)]);
  }
  for (await pause(); live() && !place().head.index.ready; await pause()) {
    const { head } = place();
    await committer.submit((writes) => {
      const { builtTo, goal } = head.index;
      const [from, to] = [documentKey(head.slot, builtTo + 1), documentKey(head.slot, goal)];
      const keys = store.keys(from, to, ITEMS_PER_COMMIT);
      for (const key of keys) {
        const item = loadItem(writes, place(), serialAtEnd(key));
        if (!item) continue;
        for (const entry of indexEntries(place(), item)) writes.put(entry, NOTHING);
        writes.remove(waitingKey(head.slot, item.serial));
      }
      const last = keys.at(-1);
      const ready = keys.length < ITEMS_PER_COMMIT;
      head.isIndexStored = false;
      head.index = { ...head.index, builtTo: last ? serialAtEnd(last) : builtTo, ready };
      writes.put(headKey(head.slot), head.encode());
    });
    head.isIndexStored = true;
  }
  await catchUp(store, committer, building);
  for (const range of leftovers(place())) await sweep(store, committer, building, range);
}

/** Whether items of a lazy container wait for their entries. */
export function isBehind(store: Reader, slot: Slot): boolean {
  return store.keys(...tableRange(slot, 'waiting'), 1).length > 0;
}

async function catchUp(store: Store, committer: Committer, building: Building): Promise<void> {
  const { place, live, pause } = building;
  while (live() && place().container.indexing.lazy) {
    const keys = store.keys(...tableRange(place().head.slot, 'waiting'), WAITING_PER_COMMIT);
    if (keys.length === 0) return;
    // Writers go first, but not for ever.
    await Promise.race([committer.idle(), rest(PATIENCE_MS)]);
    if (!live()) return;
    await committer.submit((writes) => {
      for (const key of keys) indexWaiting(writes, place(), serialAtEnd(key));
    });
    await pause();
  }
}

/** Entries of other rules, and what waited for an index that is no longer lazy. */
function leftovers({ head, container }: Place): readonly (readonly [Key, Key])[] {
  const [start, end] = tableRange(head.slot, 'path');
  const current = versionPrefix(head.slot, head.index.version);
  const waiting = container.indexing.lazy ? [] : [tableRange(head.slot, 'waiting')];
  return [[start, current], [after(current), end], ...waiting];
}

async function sweep(
  store: Store,
  committer: Committer,
  { live, pause }: Building,
  [from, to]: readonly [Key, Key],
): Promise<void> {
  while (live()) {
    const keys = store.keys(from, to, KEYS_PER_SWEEP);
    if (keys.length === 0) return;
    await committer.submit((writes) => {
      for (const key of keys) writes.remove(key);
    });
    await pause();
  }
}
