// Several scans, each in the order of one field, as one in that order.
import type { Item } from '../engine/engine.js';
import { compileSort, type Sort, type SortKeys } from '../mql/sort.js';
import { documentOf, int32, UNDEFINED, type Value } from '../value/bson/value.js';
import { bsonOf } from '../value/bson-image.js';
import type { SortKey } from './access.js';
import { PLAIN_LANGUAGE } from './shape.js';

type Batches = AsyncIterator<readonly Item[]>;

/**
 * What an item is sorted by is one of its values, and by that value it comes in one of the scans;
 * where it comes again, it is later. The first two scans are of what is missing somewhere and of
 * what is empty somewhere: there those count that are sorted by this.
 */
export async function* merged(
  scans: readonly AsyncGenerator<readonly Item[]>[],
  { path, descending }: SortKey,
): AsyncGenerator<readonly Item[]> {
  const sort = compileSort(documentOf({ [path]: int32(descending ? -1 : 1) }), PLAIN_LANGUAGE);
  const heads = scans.map((scan, index) => new Head(scan, sort, VALUELESS[index]));
  try {
    let [next, waiting] = [await first(heads, sort), [] as Item[]];
    while (next) {
      waiting.push(next.take());
      // What is ready goes out before more is read.
      if (next.isEmpty) {
        yield waiting;
        waiting = [];
      }
      next = await first(heads, sort);
    }
    if (waiting.length > 0) yield waiting;
  } finally {
    for (const scan of scans) await scan.return(undefined);
  }
}

const VALUELESS: readonly Value[] = [null, UNDEFINED];

async function first(heads: readonly Head[], sort: Sort): Promise<Head | undefined> {
  let best: Head | undefined;
  for (const head of heads) {
    if (head.isEmpty) await head.fill();
    if (!head.isEmpty && (!best || sort.compare(head.keys, best.keys) < 0)) best = head;
  }
  return best;
}

/** What comes next of a scan. */
class Head {
  readonly #batches: Batches;
  readonly #sort: Sort;
  readonly #only: Value | undefined;
  #waiting: readonly { readonly item: Item; readonly keys: SortKeys }[] = [];
  #at = 0;
  #isDone = false;

  constructor(batches: Batches, sort: Sort, only: Value | undefined) {
    this.#batches = batches;
    this.#sort = sort;
    this.#only = only;
  }

  get isEmpty(): boolean {
    return this.#at >= this.#waiting.length;
  }

  get keys(): SortKeys {
    return this.#waiting[this.#at]?.keys ?? [];
  }

  take(): Item {
    const next = this.#waiting[this.#at];
    if (!next) throw new Error('a scan is asked for more than it has');
    this.#at += 1;
    return next.item;
  }

  async fill(): Promise<void> {
    while (this.isEmpty && !this.#isDone) {
      const batch = await this.#batches.next();
      this.#isDone = batch.done === true;
      const items = batch.done ? [] : batch.value;
      const all = items.map((item) => ({ item, keys: this.#sort.keys(bsonOf(item.doc.bytes)) }));
      const only = this.#only;
      this.#waiting = only === undefined ? all : all.filter(({ keys: [key] }) => key === only);
      this.#at = 0;
    }
  }
}
