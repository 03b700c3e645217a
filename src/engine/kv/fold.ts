// Counting without reading items: keys are counted where they lie, all in one moment, and what is
// dead in that moment and not purged yet is taken off again.
import { breathe, stopwatch } from '../../time/clock.js';
import type { Instant } from '../../time/instant.js';
import { decodeValues } from '../../value/key.js';
import type { Counted, CountedValues, ScanRequest, SimpleFilter } from '../engine.js';
import { bytesMaxOf, firstAscending, type IndexPath, isIndexed, samePath } from '../indexing.js';
import { isBehind } from './builder.js';
import { type CompositeWay, compositeWay } from './composite-ways.js';
import { indexEntries, loadItem, type Place, partitionEntry } from './entries.js';
import { readHead } from './head.js';
import { after, headKey, SERIAL_BYTES } from './keys.js';
import { pathPrefix, turned } from './path-index.js';
import { countDue, dueItems } from './purge.js';
import { contains, HASH_BYTES, type KeyRange } from './ranges.js';
import { countKeys, type Key, type Reader, type Store } from './store.js';
import { conjunctsOf, type Way } from './ways.js';

/** With more dead items than this about, reading the living ones is as good. */
const DEAD_MAX = 5000;
const VALUES_MAX = 100_000;
const KEYS_PER_READ = 64;
const TURN_MS = 3;
const WHOLE = { partition: undefined, span: undefined };

/** Whether the keys of a way are the items, one each: then `countItems` may count them. */
export function isCountable(way: Way, { container }: Place): boolean {
  if (!way.exact) return false;
  if (way.table === 'document') return !way.partition;
  // Other partitions may share an old hash; the new ones are as long as they must be.
  if (way.table === 'partition') return container.partitionHash !== 'v1';
  return !way.partition && !way.span;
}

/** Undefined when it cannot be told this way. */
export async function countItems(
  store: Store,
  place: Place,
  way: Way,
  at: Instant,
): Promise<Counted | undefined> {
  const reader = store.snapshot();
  try {
    const head = readHead(reader.get(headKey(place.head.slot)));
    if (way.table === 'document') {
      return { items: head.items - (await countDue(reader, place, at)), lsn: head.lsn };
    }
    const dead = await deadKeys(reader, place, way.table, way.ranges, at);
    if (!dead) return undefined;
    let items = -dead.length;
    for (const [from, to] of way.ranges) items += await countKeys(reader, from, to);
    return { items, lsn: head.lsn };
  } finally {
    reader.release();
  }
}

/** Where in an index the values of a path lie, one after the other. */
export interface ValueRuns {
  readonly ranges: readonly KeyRange[];
  /** Where the value begins in a key, how long it may be, and whether its bits are turned. */
  readonly start: number;
  readonly bytesMax: number;
  readonly isTurned: boolean;
  /** Whether there may be items without a value that have no key here. */
  readonly isPartial: boolean;
}

/** The part of an index that says how many of the items have which value; if there is one. */
export function valueRuns(
  place: Place,
  request: ScanRequest,
  ways: readonly Way[],
  path: IndexPath,
): ValueRuns | undefined {
  const { indexing } = place.container;
  if (request.partition || ways[0]?.span || path.includes(null)) return undefined;
  const conjuncts = conjunctsOf(request.filter);
  const bytesMax = bytesMaxOf(1);
  if (isIndexed(indexing, path)) {
    const prefix = pathPrefix(place.head.slot, indexing.version, path);
    const plain = { start: prefix.length, bytesMax, isTurned: false };
    if (conjuncts.length === 0) {
      return { ...plain, ranges: [[prefix, after(prefix)]], isPartial: true };
    }
    const way = ways.find((each) => isOn(each, path, conjuncts));
    if (way) return { ...plain, ranges: way.ranges, isPartial: false };
  }
  for (const index of indexing.composites.keys()) {
    const way = compositeWay(place, { order: [] }, WHOLE, conjuncts, index);
    const runs = way?.exact ? runsOf(way, path) : undefined;
    if (runs) return runs;
  }
  return undefined;
}

function isOn(way: Way, path: IndexPath, conjuncts: readonly SimpleFilter[]): boolean {
  const same = conjuncts.every((each) => samePath(each.path, path));
  return way.exact && way.table === 'path' && same && way.index?.length === 1;
}

function runsOf(way: CompositeWay, path: IndexPath): ValueRuns | undefined {
  const parts = firstAscending(way.index ?? []);
  const part = parts[way.fixed];
  if (!part || !samePath(part.path, path)) return undefined;
  const { start } = way;
  const bytesMax = bytesMaxOf(parts.length);
  return { ranges: way.ranges, start, bytesMax, isTurned: part.descending, isPartial: false };
}

/** How many living items have each value; undefined when it cannot be told from the keys alone. */
export async function countValues(
  store: Store,
  place: Place,
  runs: ValueRuns,
  at: Instant,
): Promise<CountedValues | undefined> {
  const reader = store.snapshot();
  try {
    const head = readHead(reader.get(headKey(place.head.slot)));
    const counts = await countRuns(reader, runs);
    const dead = counts && (await deadKeys(reader, place, 'path', runs.ranges, at));
    if (!counts || !dead) return undefined;
    for (const key of dead) {
      const name = runOf(key, runs)?.toString('latin1') ?? '';
      counts.set(name, (counts.get(name) ?? 0) - 1);
    }
    const values: { value: unknown; items: number }[] = [];
    let known = 0;
    for (const [run, items] of counts) {
      known += items;
      if (items > 0) values.push({ value: valueIn(Buffer.from(run, 'latin1'), runs), items });
    }
    if (runs.isPartial) {
      const all = head.items - (await countDue(reader, place, at));
      addMissing(values, all - known);
    }
    return { values, lsn: head.lsn };
  } finally {
    reader.release();
  }
}

/** Items without a value come first, as `undefined` does in the one order. */
function addMissing(values: { value: unknown; items: number }[], missing: number): void {
  if (missing === 0) return;
  const [first] = values;
  if (first && first.value === undefined) first.items += missing;
  else values.unshift({ value: undefined, items: missing });
}

/** The number of keys of each run, by the run's bytes, in the order of the keys. */
async function countRuns(
  reader: Reader,
  runs: ValueRuns,
): Promise<Map<string, number> | undefined> {
  const counts = new Map<string, number>();
  let took = stopwatch();
  for (const [from, to] of runs.ranges) {
    for (let start: Key | undefined = from; start; ) {
      const keys = reader.keys(start, to, KEYS_PER_READ);
      const [first] = keys;
      if (!first) break;
      const step = await nextRuns(reader, runs, keys, to, counts);
      if (!step || counts.size > VALUES_MAX) return undefined;
      start = step.next;
      if (took() < TURN_MS) continue;
      await breathe();
      took = stopwatch();
    }
  }
  return counts;
}

/** A run that goes on behind the keys at hand is counted as a whole, shorter ones key by key. */
async function nextRuns(
  reader: Reader,
  runs: ValueRuns,
  keys: readonly Key[],
  to: Key,
  counts: Map<string, number>,
): Promise<{ readonly next: Key | undefined } | undefined> {
  let index = 0;
  while (index < keys.length) {
    const key = keys[index] as Key;
    const run = runOf(key, runs);
    if (!run) return undefined;
    const end = runs.start + run.length;
    const name = run.toString('latin1');
    let count = 1;
    while (isSame(keys[index + count], key, end)) count += 1;
    index += count;
    if (index < keys.length || keys.length < KEYS_PER_READ) {
      counts.set(name, (counts.get(name) ?? 0) + count);
      continue;
    }
    const behind = after(key.subarray(0, end));
    const last = Buffer.compare(behind, to) < 0 ? behind : to;
    counts.set(name, (counts.get(name) ?? 0) + (await countKeys(reader, key, last)));
    return { next: last === to ? undefined : behind };
  }
  return { next: undefined };
}

function isSame(key: Key | undefined, other: Key, end: number): boolean {
  if (key === undefined || key.length < end) return false;
  return key.compare(other, 0, end, 0, end) === 0;
}

const Tag = { string: 0x50, number: 0x40, array: 0x60 } as const;
const NUMBER_BYTES = 9;

/**
 * The bytes of the value in a key; undefined for arrays and objects, of which a key holds the type
 * alone, and for long texts, of which it holds the beginning.
 */
function runOf(key: Key, { start, bytesMax, isTurned }: ValueRuns): Buffer | undefined {
  const flip = isTurned ? 0xff : 0;
  const tag = (key[start] ?? 0) ^ flip;
  if (tag >= Tag.array) return undefined;
  if (tag === Tag.number) return key.subarray(start, start + NUMBER_BYTES);
  if (tag !== Tag.string) return key.subarray(start, start + 1);
  const end = key.indexOf(flip, start);
  const isWhole =
    end >= 0 && end < key.length - SERIAL_BYTES && end - start < bytesMax - HASH_BYTES;
  return isWhole ? key.subarray(start, end + 1) : undefined;
}

function valueIn(run: Buffer, { isTurned }: ValueRuns): unknown {
  return decodeValues(isTurned ? turned(run) : run)[0];
}

/** The keys in the ranges that belong to dead items; undefined when that is too much to ask. */
async function deadKeys(
  reader: Reader,
  place: Place,
  table: 'partition' | 'path',
  ranges: readonly KeyRange[],
  at: Instant,
): Promise<readonly Key[] | undefined> {
  // What is in a lazy index of an item that waits for it, nobody knows.
  if (table === 'path' && isBehind(reader, place.head.slot)) return undefined;
  const due = dueItems(reader, place, at, DEAD_MAX + 1);
  if (due.length > DEAD_MAX) return undefined;
  const found: Key[] = [];
  let took = stopwatch();
  for (const { serial } of due) {
    const item = loadItem(reader, place, serial);
    if (!item) continue;
    const keys = table === 'path' ? indexEntries(place, item) : [partitionEntry(place, item)];
    found.push(...keys.filter((key) => ranges.some((range) => contains(range, key))));
    if (took() < TURN_MS) continue;
    await breathe();
    took = stopwatch();
  }
  return found;
}
