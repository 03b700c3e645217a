// Verifies a whole store: every item has all its entries, every entry has its item, and the counts
// are right.
import { breathe } from '../../time/clock.js';
import type { Container } from '../engine.js';
import { allEntries, type Place, readSize } from './entries.js';
import type { Head } from './head.js';
import {
  documentKey,
  headKey,
  lsnOf,
  serialAtEnd,
  slotRange,
  successor,
  tableCode,
  tableOf,
  tableRange,
  uniqueIndexOf,
  versionsFromKey,
} from './keys.js';
import { versionPrefix } from './path-index.js';
import { decodeRecord } from './record.js';
import type { Key, Store } from './store.js';
import { readLogged } from './version-log.js';

const ENTRIES_PER_READ = 500;
/** What a container has besides the entries of its items. */
const UNCOUNTED = [tableCode('head'), tableCode('version')];

interface Source {
  entries(): Iterable<{ readonly container: Container; readonly head: Head }>;
}

export async function checkStore(store: Store, containers: Source): Promise<void> {
  for (const place of containers.entries()) await checkContainer(store, place);
}

async function checkContainer(store: Store, place: Place): Promise<void> {
  const { head, container } = place;
  let items = 0;
  let bytes = 0;
  let expected = 0;
  for await (const [key, value] of walk(store, tableRange(head.slot, 'document'))) {
    const item = decodeRecord(value, serialAtEnd(key), head.rules, undefined);
    const value_ = item.doc.value;
    if (typeof value_ !== 'object') throw damage(container, `item ${item.key.id} is no document`);
    for (const entry of allEntries(store, place, item)) {
      const found = store.get(entry);
      // An index that is being built may lack entries, but has none too many.
      if (!found && !head.index.ready && tableOf(entry) === tableCode('path')) continue;
      if (!found) throw damage(container, `item '${item.key.id}' lacks its entry ${show(entry)}`);
      expected += 1;
      if (tableOf(entry) !== tableCode('expiry')) continue;
      if (readSize(found) !== item.doc.bytes.length) {
        throw damage(
          container,
          `item '${item.key.id}' has another size in its entry ${show(entry)}`,
        );
      }
    }
    items += 1;
    bytes += item.doc.bytes.length;
  }
  let stored = 0;
  // What waited under older rules is swept before the build.
  const isFollowed = container.indexing.lazy && head.index.ready;
  const current = versionPrefix(head.slot, head.index.version);
  for await (const [key] of walk(store, slotRange(head.slot))) {
    const isOutdated =
      tableOf(key) === tableCode('path') && !key.subarray(0, current.length).equals(current);
    const isSwept = isOutdated || isOfDroppedIndex(place, key);
    if (isSwept || UNCOUNTED.includes(tableOf(key))) continue;
    if (tableOf(key) !== tableCode('waiting')) stored += 1;
    else if (isFollowed && !store.get(documentKey(head.slot, serialAtEnd(key)))) {
      throw damage(container, `item ${serialAtEnd(key)} waits for the index and is not there`);
    }
  }
  if (stored !== expected) {
    throw damage(container, `${stored} entries are stored, its items account for ${expected}`);
  }
  if (items !== head.items || bytes !== head.bytes) {
    throw damage(
      container,
      `it counts ${head.items} items of ${head.bytes} bytes, but holds ${items} of ${bytes}`,
    );
  }
  await checkVersions(store, place);
  if (items > 0 && !store.get(headKey(head.slot))) throw damage(container, 'it has no head');
  if (store.get(documentKey(head.slot, head.nextSerial))) {
    throw damage(container, 'its next serial is in use');
  }
}

function isOfDroppedIndex({ head, container }: Place, key: Key): boolean {
  if (tableOf(key) !== tableCode('unique')) return false;
  const name = head.indexes.nameOf(uniqueIndexOf(key));
  return !container.indexes.some((index) => index.name === name);
}

/** Versions tell of commits that there were, each of one of its items. */
async function checkVersions(store: Store, { head, container }: Place): Promise<void> {
  const range = tableRange(head.slot, 'version');
  for await (const [key, value] of walk(store, range)) {
    if (key.equals(versionsFromKey(head.slot))) continue;
    const { serial } = readLogged(value);
    if (lsnOf(key) <= head.lsn && serial < head.nextSerial) continue;
    throw damage(container, `a version tells of what did not happen yet: ${show(key)}`);
  }
}

async function* walk(store: Store, [start, to]: readonly [Key, Key]) {
  let from = start;
  while (true) {
    const entries = store.range(from, to, ENTRIES_PER_READ);
    yield* entries;
    const last = entries.at(-1);
    if (last === undefined || entries.length < ENTRIES_PER_READ) return;
    from = successor(last[0]);
    await breathe();
  }
}

function damage(container: Container, what: string): Error {
  return new Error(`The store is damaged: container '${container.id}': ${what}.`);
}

const show = (key: Key): string => key.toString('hex');
