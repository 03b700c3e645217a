// Builds the index over paths after its rules have changed: item by item in small commits, going on
// where it stopped after a restart. Meanwhile writes keep the new entries up to date, and scans do
// without the index. Entries of the old rules are swept when the new ones are complete.
import { breathe } from '../../time/clock.js';
import type { Committer } from './committer.js';
import { indexEntries, loadItem, type Place } from './entries.js';
import { after, documentKey, headKey, serialAtEnd, tableRange } from './keys.js';
import { versionPrefix } from './path-index.js';
import type { Store } from './store.js';

const ITEMS_PER_COMMIT = 32;
const KEYS_PER_SWEEP = 500;
const NOTHING = new Uint8Array(0);

/** `place` is asked anew for each step: the rules may change again, and then `live` turns false. */
export async function buildIndex(
  store: Store,
  committer: Committer,
  place: () => Place,
  live: () => boolean,
): Promise<void> {
  while (live() && !place().head.index.ready) {
    await committer.submit((writes) => {
      const { head } = place();
      const [, to] = tableRange(head.slot, 'document');
      const from = documentKey(head.slot, head.index.builtTo + 1);
      const keys = store.keys(from, to, ITEMS_PER_COMMIT);
      for (const key of keys) {
        const item = loadItem(writes, place(), serialAtEnd(key));
        if (!item) continue;
        for (const entry of indexEntries(place(), item)) writes.put(entry, NOTHING);
      }
      const last = keys.at(-1);
      const builtTo = last ? serialAtEnd(last) : head.index.builtTo;
      head.index = { ...head.index, builtTo, ready: keys.length < ITEMS_PER_COMMIT };
      writes.put(headKey(head.slot), head.encode());
    });
    await breathe();
  }
  await sweepOld(store, committer, place, live);
}

async function sweepOld(
  store: Store,
  committer: Committer,
  place: () => Place,
  live: () => boolean,
): Promise<void> {
  const { head } = place();
  const [start, end] = tableRange(head.slot, 'path');
  const current = versionPrefix(head.slot, head.index.version);
  for (const [from, to] of [
    [start, current],
    [after(current), end],
  ] as const) {
    while (live()) {
      const keys = store.keys(from, to, KEYS_PER_SWEEP);
      if (keys.length === 0) break;
      await committer.submit((writes) => {
        for (const key of keys) writes.remove(key);
      });
    }
  }
}
