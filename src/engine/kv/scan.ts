// Runs a plan: reads keys along the chosen way, in bounded batches, and says where to go on.
//
// Resume point:  1 byte table, then the rest of the last key that was looked at.
import { stopwatch } from '../../time/clock.js';
import { isLive } from '../../time/expiry.js';
import type { Instant } from '../../time/instant.js';
import { effectivePartitionKey } from '../../value/partition-hash.js';
import {
  BadResume,
  type Batch,
  type Budget,
  type Item,
  type Plan,
  PlanOutdated,
  type Resume,
  type ScanRequest,
} from '../engine.js';
import { samePath } from '../indexing.js';
import { isBehind } from './builder.js';
import { findSerial, type Place } from './entries.js';
import { countItems, countValues, isCountable, valueRuns } from './fold.js';
import { storedLsn } from './head.js';
import {
  documentKey,
  restOf,
  SERIAL_BYTES,
  serialAtEnd,
  successor,
  tableCode,
  tableOf,
  tableRange,
  withRest,
} from './keys.js';
import { missedIndexes } from './missed.js';
import { contains, type KeyRange } from './ranges.js';
import { openRecord } from './record.js';
import { KEY_BYTES_MAX, type Key, Slab, type Store } from './store.js';
import { bestWay, conjunctsOf, isWhole, isWithin, type Way, waysFor } from './ways.js';

/** Dead items count too, so that a batch over a large backlog still ends soon. */
const LOOKED_AT_MAX = 1000;
const KEYS_PER_READ = 256;
const slab = new Slab();
/** Container and table come before what a resume point holds, and one byte may follow it. */
const KEY_PREFIX_BYTES_MAX = 8;

export function planScan(store: Store, place: () => Place, request: ScanRequest): Plan {
  const planned = place();
  const { head } = planned;
  const { version } = head.index;
  const passed = request.after && passedKey(head.slot, request.after);
  const { way, ways, begin, isKnown } = chosenWay(store, planned, request, passed);
  // Entries of other rules are no longer kept up, and soon swept.
  const sameRules = (now: Place): Place => {
    if (now.head.index.version !== version) throw new PlanOutdated();
    return now;
  };
  const valid = (now: Place): Place => (way.table === 'path' ? sameRules(now) : now);
  return {
    exact: way.exact,
    ordered: way.ordered,
    limited: false,
    explain: way.explain,
    indexes: {
      used: way.index ? [way.index] : [],
      // Few ask for it, and it is more work than the plan.
      get missed() {
        return missedIndexes(planned, request, way);
      },
    },
    isWithin: (keysMax) => isWithin(store, way, keysMax),
    run: (at, budget) => {
      let left: readonly KeyRange[] | undefined = begin;
      // No generator, which takes longer than reading an item.
      const next = async (): Promise<IteratorResult<Batch, undefined>> => {
        if (!left) return { done: true, value: undefined };
        const batch = readBatch(store, valid(place()), way, left, at, budget);
        left = batch.resume && leftAfter(way, passedKey(head.slot, batch.resume));
        return { done: false, value: batch };
      };
      return { [Symbol.asyncIterator]: () => ({ next }) };
    },
    count: async (at) => {
      const countable = [way, ...ways].find((each) => isCountable(each, planned));
      return countable && countItems(store, sameRules(place()), countable, at);
    },
    countBy: async (path, at) => {
      const runs = isKnown ? valueRuns(planned, request, ways, path) : undefined;
      return runs && countValues(store, sameRules(place()), runs, at);
    },
  };
}

interface Choice {
  readonly way: Way;
  readonly ways: readonly Way[];
  /** What is left of the way at the beginning. */
  readonly begin: readonly KeyRange[];
  readonly isKnown: boolean;
}

function chosenWay(
  store: Store,
  place: Place,
  request: ScanRequest,
  passed: Key | undefined,
): Choice {
  const isPoint = !passed || tableOf(passed) === tableCode('document');
  const point = isPoint ? pointWay(store, place, request) : undefined;
  if (point) {
    const begin = point.ranges.filter(([from]) => !passed || Buffer.compare(passed, from) < 0);
    return { way: point, ways: [point], begin, isKnown: false };
  }
  const isKnown = knowsAll(store, place, passed);
  const ways = waysFor(place, request, isKnown);
  // A list longer than the container is no shortcut.
  const short = ways.filter(({ ranges }) => ranges.length <= Math.max(1, place.head.items));
  const divided = passed && dividedWay(place, request, ways, passed);
  if (divided) return { ways, isKnown, ...divided };
  const way = passed ? wayOf(ways, passed) : bestWay(store, short, request);
  return { way, ways, begin: leftAfter(way, passed), isKnown };
}

/**
 * A resume point may come from a wider span that was divided since. What it had left of this span
 * is read in the same order: by creation where it was everything, by partition where it was not.
 */
function dividedWay(
  place: Place,
  request: ScanRequest,
  ways: readonly Way[],
  passed: Key,
): Pick<Choice, 'way' | 'begin'> | undefined {
  const [scope] = ways;
  const [range] = scope?.ranges ?? [];
  if (!scope?.span || !range || request.partition) return undefined;
  if (tableOf(passed) === tableCode('document')) {
    const ranges = [tableRange(place.head.slot, 'document')];
    const way: Way = { ...scope, table: 'document', ranges };
    return { way, begin: leftAfter(way, passed) };
  }
  if (tableOf(passed) !== tableCode('partition') || isAt(scope, range, passed)) return undefined;
  return { way: scope, begin: Buffer.compare(passed, range[0]) < 0 ? [range] : [] };
}

/** The one item of a partition with an id, found as a point read finds it. */
function pointWay(store: Store, place: Place, request: ScanRequest): Way | undefined {
  const { partition, span, filter, order } = request;
  if (!partition || partition.length !== place.container.partitionPaths.length) return undefined;
  if (!filter || (span && !isWhole(span))) return undefined;
  const conjuncts = conjunctsOf(filter);
  const wanted = conjuncts.find(({ op, path }) => op === '=' && samePath(path, ID));
  if (wanted?.op !== '=' || typeof wanted.value !== 'string') return undefined;
  const serial = findSerial(store, place, { partition, id: wanted.value });
  const { slot } = place.head;
  return {
    table: 'document',
    ranges:
      serial === undefined ? [] : [[documentKey(slot, serial), documentKey(slot, serial + 1)]],
    descending: false,
    partition,
    span: undefined,
    ordered: order.length === 0,
    exact: conjuncts.length === 1,
    isPoint: true,
    explain: 'the item of an id',
    index: [{ path: ID, descending: false }],
  };
}

/** Every document has its own id under this name. */
const ID = ['id'];

/**
 * Whether the index may be asked: it must be built, and if it is lazy, have caught up. A scan that
 * has begun goes on with it all the same, because what it holds of older versions leads to the
 * items too.
 */
function knowsAll(store: Store, { head, container }: Place, passed: Key | undefined): boolean {
  if (!head.index.ready || !head.isIndexStored) return false;
  if (!container.indexing.lazy) return true;
  return (passed && tableOf(passed) === tableCode('path')) || !isBehind(store, head.slot);
}

function readBatch(
  store: Store,
  place: Place,
  way: Way,
  left: readonly KeyRange[],
  at: Instant,
  budget: Budget,
): Batch {
  const took = stopwatch();
  let lookupMs = 0;
  const items: Item[] = [];
  const keysOfItems: Key[] = [];
  const upTo = (last: Key | undefined): Batch => ({
    items,
    resumeAfter: (index) => resumePoint(way, keysOfItems[index] as Key),
    resumeAt: (index) => resumePoint(way, keyBefore(way, keysOfItems[index] as Key)),
    resume: last && resumePoint(way, last),
    lsn: storedLsn(store, place.head.slot),
    lookupMs,
    loadMs: took() - lookupMs,
  });
  const recordKey = documentKey(place.head.slot, 0);
  const needsKey = way.partition !== undefined || way.span !== undefined;
  let bytes = 0;
  let lookedAt = 0;
  let previous: Key | undefined;
  for (let [index, range] = [0, left[0]]; range; ) {
    const wanted = Math.min(KEYS_PER_READ, budget.rowsMax - items.length);
    const from = took();
    const keys = readKeys(store, way, range, wanted);
    lookupMs += took() - from;
    for (const key of keys) {
      lookedAt += 1;
      const serial = serialAtEnd(key);
      key.copy(recordKey, recordKey.length - SERIAL_BYTES, key.length - SERIAL_BYTES);
      const record = store.getInto(slab, recordKey);
      const item = record && openRecord(record, serial, place.head.rules);
      if (!item || (needsKey && !belongs(item, way, place))) continue;
      if (!isLive(item.fuses, place.container.expiry, at)) continue;
      bytes += item.doc.bytes.length;
      // An item that is too much for the batch opens the next one, where it may be alone.
      if (bytes > budget.bytesMax && items.length > 0) return upTo(previous);
      items.push(item);
      keysOfItems.push(key);
      previous = key;
    }
    const last = keys.at(-1);
    if (last !== undefined && keys.length >= wanted) {
      if (items.length >= budget.rowsMax || lookedAt >= LOOKED_AT_MAX) return upTo(last);
      range = remainder(way, range, last);
      continue;
    }
    // Ranges take their time, too; no key is the very beginning of one.
    lookedAt += 1;
    index += 1;
    range = left[index];
    if (range && lookedAt >= LOOKED_AT_MAX) return upTo(range[way.descending ? 1 : 0]);
  }
  return upTo(undefined);
}

function readKeys(store: Store, way: Way, [from, to]: KeyRange, limit: number): readonly Key[] {
  if (Buffer.compare(from, to) >= 0) return [];
  if (way.isPoint) return [from].slice(0, limit);
  return way.descending ? store.keysDown(from, to, limit) : store.keys(from, to, limit);
}

/** What is left of a range behind a key, in the direction of the way. */
function remainder(way: Way, [from, to]: KeyRange, last: Key): KeyRange {
  return way.descending ? [from, last] : [successor(last), to];
}

/** The ranges of a way in the order they are read, from behind a key that was passed. */
function leftAfter(way: Way, passed: Key | undefined): readonly KeyRange[] {
  const ranges = way.descending ? [...way.ranges].reverse() : way.ranges;
  if (!passed) return ranges;
  const index = ranges.findIndex((range) => isAt(way, range, passed));
  const range = ranges[index];
  if (!range) throw new BadResume();
  return [remainder(way, range, passed), ...ranges.slice(index + 1)];
}

/** Whether a scan may stand there: within a range, or before it, at the bound it begins at. */
function isAt(way: Way, range: KeyRange, passed: Key): boolean {
  return contains(range, passed) || (way.descending && range[1].equals(passed));
}

/** The last key that a way could have led to before this one: all keys end in a serial. */
function keyBefore(way: Way, key: Key): Key {
  const before = Buffer.from(key);
  const serial = serialAtEnd(key) + (way.descending ? 1 : -1);
  before.writeUIntBE(serial, key.length - SERIAL_BYTES, SERIAL_BYTES);
  return before;
}

function resumePoint(way: Way, key: Key): Resume {
  return Buffer.concat([Buffer.of(tableCode(way.table)), restOf(key)]) as unknown as Resume;
}

/** Resume points come back from clients, so one that no way of this request leads to is refused. */
function wayOf(ways: readonly Way[], passed: Key): Way {
  // Later ways are narrower: a range that was chosen lies within the order of its path, too.
  const way = ways.findLast((each) => each.ranges.some((range) => isAt(each, range, passed)));
  if (!way) throw new BadResume();
  return way;
}

function passedKey(slot: number, resume: Resume): Key {
  const table = (['document', 'partition', 'path'] as const).find(
    (name) => tableCode(name) === resume[0],
  );
  if (!table || resume.length > KEY_BYTES_MAX - KEY_PREFIX_BYTES_MAX) throw new BadResume();
  return withRest(slot, table, resume.subarray(1));
}

function belongs(item: Item, way: Way, place: Place): boolean {
  const { partition, span } = way;
  if (partition?.some((part, index) => part !== item.key.partition[index])) return false;
  if (!span || way.table === 'partition') return true;
  const epk = effectivePartitionKey(item.key.partition, place.container.partitionHash);
  return span.from <= epk && epk < span.to;
}
