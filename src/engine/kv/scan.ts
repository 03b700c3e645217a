// Plans: which table answers a scan, in what order, and how it resumes. A plan claims only what the
// table gives.
//
// Resume point:  1 byte table code, then the rest of the last key that was looked at.
import { isLive } from '../../time/expiry.js';
import type { Instant } from '../../time/instant.js';
import { effectivePartitionKey } from '../../value/partition-hash.js';
import type { PartitionKey } from '../../value/partition-key.js';
import {
  BadResume,
  type Batch,
  type Budget,
  type EpkSpan,
  type Item,
  type Plan,
  type Resume,
  type ScanRequest,
} from '../engine.js';
import { loadItem, type Place } from './entries.js';
import {
  after,
  partitionBound,
  restOf,
  serialAtEnd,
  successor,
  type Table,
  tableCode,
  tableRange,
  withRest,
} from './keys.js';
import type { Key, Store } from './store.js';

/** Dead items count too, so that a batch over a large backlog still ends soon. */
const LOOKED_AT_MAX = 1000;
const KEYS_PER_READ = 64;

export function planScan(store: Store, place: () => Place, request: ScanRequest): Plan {
  const { slot } = place().head;
  const way = chooseWay(slot, place().container.partitionHash, request);
  return {
    exact: request.filter === undefined,
    ordered: request.order.length === 0,
    limited: false,
    explain: way.explain,
    async *run(at, resume, budget) {
      let from = resume === undefined ? way.from : resumeKey(slot, way, resume);
      while (true) {
        const batch = readBatch(store, place(), way, from, at, budget);
        yield batch;
        if (batch.resume === undefined) return;
        from = resumeKey(slot, way, batch.resume);
      }
    },
  };
}

/** One contiguous piece of one table; `partition` is compared again because hashes may collide. */
interface Way {
  readonly table: Table & ('document' | 'partition');
  readonly from: Key;
  readonly to: Key;
  readonly partition: PartitionKey | undefined;
  readonly explain: string;
}

function chooseWay(
  slot: number,
  hash: Place['container']['partitionHash'],
  request: ScanRequest,
): Way {
  const { partition, span } = request;
  if (partition === undefined && (span === undefined || isWhole(span))) {
    const [from, to] = tableRange(slot, 'document');
    return { table: 'document', from, to, partition, explain: 'all items in order of creation' };
  }
  let from = partitionBound(slot, span?.from ?? '');
  let to = partitionBound(slot, span?.to ?? 'FF');
  if (partition !== undefined) {
    const start = partitionBound(slot, effectivePartitionKey(partition, hash));
    const end = after(start);
    if (Buffer.compare(start, from) > 0) from = start;
    if (Buffer.compare(end, to) < 0) to = end;
  }
  const explain = partition ? 'items of one partition key' : 'items of a span of partition keys';
  return { table: 'partition', from, to, partition, explain };
}

function isWhole(span: EpkSpan): boolean {
  return span.from === '' && span.to === 'FF';
}

function readBatch(
  store: Store,
  place: Place,
  way: Way,
  start: Key,
  at: Instant,
  budget: Budget,
): Batch {
  const items: Item[] = [];
  let from = start;
  let bytes = 0;
  let lookedAt = 0;
  while (Buffer.compare(from, way.to) < 0) {
    const wanted = Math.min(KEYS_PER_READ, budget.rowsMax - items.length);
    const keys = store.keys(from, way.to, wanted);
    for (const key of keys) {
      lookedAt += 1;
      const item = loadItem(store, place, serialAtEnd(key));
      if (!item || !belongs(item, way) || !isLive(item.fuses, place.container.expiry, at)) continue;
      items.push(item);
      bytes += item.doc.bytes.length;
      if (bytes >= budget.bytesMax) return batchUpTo(way, key, items, place);
    }
    const last = keys.at(-1);
    if (last === undefined || keys.length < wanted) break;
    if (items.length >= budget.rowsMax || lookedAt >= LOOKED_AT_MAX) {
      return batchUpTo(way, last, items, place);
    }
    from = successor(last);
  }
  return { items, resume: undefined, lsn: place.head.lsn };
}

function batchUpTo(way: Way, key: Key, items: readonly Item[], place: Place): Batch {
  const resume = Buffer.concat([Buffer.of(tableCode(way.table)), restOf(key)]);
  return { items, resume: resume as unknown as Resume, lsn: place.head.lsn };
}

/** Resume points come back from clients, so one that is not from this very way is refused. */
function resumeKey(slot: number, way: Way, resume: Resume): Key {
  if (resume[0] !== tableCode(way.table)) throw new BadResume();
  const key = withRest(slot, way.table, resume.subarray(1));
  if (Buffer.compare(key, way.from) < 0 || Buffer.compare(key, way.to) >= 0) throw new BadResume();
  return successor(key);
}

function belongs(item: Item, way: Way): boolean {
  return (
    way.partition?.every((component, index) => component === item.key.partition[index]) ?? true
  );
}
