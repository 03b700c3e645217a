// Sorting what an index does not give in order: in bounded memory, and no more kept than asked for.
import type { Item } from '../engine/engine.js';
import type { Sort } from '../mql/sort.js';
import { bsonOf } from '../value/bson-image.js';
import { mongoFailure } from '../value/mongo-errors.js';

export const BYTES_MAX = 100 * 1024 * 1024;
/** So many more than wanted are gathered before the last of them are dropped. */
const SLACK = 1000;

interface Sorted {
  readonly item: Item;
  readonly keys: ReturnType<Sort['keys']>;
}

/** The first `wanted` items in order, as one batch. */
export async function* sorted(
  batches: AsyncIterable<readonly Item[]>,
  sort: Sort,
  wanted: number,
): AsyncGenerator<readonly Item[]> {
  let kept: Sorted[] = [];
  let bytes = 0;
  const compare = (a: Sorted, b: Sorted) =>
    sort.compare(a.keys, b.keys) || a.item.serial - b.item.serial;
  for await (const items of batches) {
    for (const item of items) {
      kept.push({ item, keys: sort.keys(bsonOf(item.doc.bytes)) });
      bytes += item.doc.bytes.length;
    }
    if (kept.length > wanted + SLACK) {
      kept = kept.sort(compare).slice(0, wanted);
      bytes = kept.reduce((sum, { item }) => sum + item.doc.bytes.length, 0);
    }
    if (bytes > BYTES_MAX) throw tooMuch();
  }
  yield kept
    .sort(compare)
    .slice(0, wanted)
    .map(({ item }) => item);
}

/** The last created first. */
export async function* backwards(
  batches: AsyncIterable<readonly Item[]>,
): AsyncGenerator<readonly Item[]> {
  const all: Item[] = [];
  let bytes = 0;
  for await (const items of batches) {
    for (const item of items) bytes += item.doc.bytes.length;
    all.push(...items);
    if (bytes > BYTES_MAX) throw tooMuch();
  }
  yield all.reverse();
}

function tooMuch() {
  return mongoFailure(
    'QueryExceededMemoryLimitNoDiskUseAllowed',
    `Sort exceeded memory limit of ${BYTES_MAX} bytes; an index over its fields does without`,
  );
}
