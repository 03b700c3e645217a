// The ways to find documents: each is some ranges of one table. A request has a few candidates; the
// one with the fewest keys wins, by counting a little and no further.
import { effectivePartitionKey } from '../../value/partition-hash.js';
import type { PartitionKey } from '../../value/partition-key.js';
import type {
  EpkSpan,
  Filter,
  ScanRequest,
  SearchFilter,
  SimpleFilter,
  ValueFilter,
} from '../engine.js';
import {
  type CompositeIndex,
  compositeFor,
  firstAscending,
  isIndexed,
  samePath,
  showPath,
  VALUE_BYTES_MAX,
} from '../indexing.js';
import { compositeWays, directionOf, isNamed } from './composite-ways.js';
import type { Place } from './entries.js';
import { after, partitionBound, type Table, tableRange } from './keys.js';
import { compositePrefix, pathPrefix, searchPrefix } from './path-index.js';
import { intersection, isSearch, type KeyRange, type Ranges, valueRanges } from './ranges.js';
import { searchRanges } from './search-index.js';
import type { Key, Reader } from './store.js';

/** What a way is limited to; a span of everything is none. */
export type WayScope = Pick<Way, 'partition' | 'span'>;

export interface Way {
  readonly table: Table & ('document' | 'partition' | 'path');
  /** In ascending order, without overlap; read from the last to the first when descending. */
  readonly ranges: readonly KeyRange[];
  readonly descending: boolean;
  /** Compared again on each item: other partitions may share a range or a hash. */
  readonly partition: PartitionKey | undefined;
  readonly span: EpkSpan | undefined;
  /** Whether the keys of the way come in the order that was asked for. */
  readonly ordered: boolean;
  /** Whether its ranges say all that the filter says. */
  readonly exact: boolean;
  readonly explain: string;
  /** Whether each range is the one key it begins with. */
  readonly isPoint?: boolean;
  /** The index of the policy whose keys these are. */
  readonly index: CompositeIndex | undefined;
}

/** Sizes of ways are told apart by these numbers of keys, and no further. */
const SIZES = [4, 32, 256, 2048, 16_384] as const;
const RANGES_COUNTED_MAX = 20;
/** Reading in order may take so many sizes more keys before sorting by hand is cheaper. */
const ORDER_WORTH = 1;
/** The scan of everything in scope comes first; it is always possible. */
export function waysFor(place: Place, request: ScanRequest, indexReady: boolean): readonly Way[] {
  const { partition, filter, order } = request;
  const span = request.span && isWhole(request.span) ? undefined : request.span;
  const scope = { partition, span };
  const { table, ranges, explain } = scopeWay(place, request);
  const whole: Way = {
    table,
    ranges,
    descending: false,
    partition,
    span,
    ordered: order.length === 0,
    exact: filter === undefined,
    explain,
    index: undefined,
  };
  const ways: Way[] = [whole];
  if (!indexReady || place.container.indexing.rules.length === 0) return ways;
  const conjuncts = conjunctsOf(filter);
  const sorted = orderWay(place, request, scope);
  if (sorted) ways.push(sorted);
  for (const filters of byPath(conjuncts)) {
    const isAll = filters.length === conjuncts.length;
    const way = pathWay(place, request, scope, filters, isAll);
    if (way) ways.push(way);
  }
  ways.push(...compositeWays(place, request, scope, conjuncts));
  return ways;
}

/** All conditions on one path together, which may be all there are. */
function pathWay(
  place: Place,
  request: ScanRequest,
  { partition, span }: WayScope,
  filters: readonly SimpleFilter[],
  isAll: boolean,
): Way | undefined {
  const { indexing } = place.container;
  const [first] = filters;
  const found = filters.map((filter) => rangesOf(place, filter, request.repeats));
  const ranges = intersection(found.flatMap((each) => (each ? [each.ranges] : [])));
  if (!first || !ranges) return undefined;
  const { ordered, descending } = order(request, first);
  return {
    table: 'path',
    ranges,
    descending,
    partition,
    span,
    ordered,
    // An entry may be of an older version of its item while a lazy index catches up.
    exact: isAll && found.every((each) => each?.exact) && !indexing.lazy && !isRepeated(first),
    explain: filters.map(({ path, op }) => `${showPath(path)} ${op}`).join(', '),
    index: [{ path: first.path, descending: false }],
  };
}

/** Whether an item may have several keys among those of a condition. */
function isRepeated({ op, path }: SimpleFilter): boolean {
  return op !== '=' && op !== 'word' && op !== 'near' && path.includes(null);
}

/**
 * The smallest way, by size classes. One that comes in order is preferred, because the others must
 * look at everything before the first row.
 */
export function bestWay(store: Reader, ways: readonly Way[], request: ScanRequest): Way {
  const [whole, ...narrower] = ways;
  if (!whole) throw new Error('there is always a way');
  // Everything is never less than a part of it, but a partition may be.
  const candidates = whole.table === 'document' ? narrower : ways;
  const [only, another] = candidates;
  if (only && !another) return only;
  const ordered = request.order.length > 0 && candidates.findLast((way) => way.ordered);
  if (!ordered) return smallest(store, candidates)?.way ?? surest(ways);
  const few = smallest(
    store,
    candidates.filter((way) => !way.ordered),
  );
  const keysMax = few && SIZES[few.size + ORDER_WORTH];
  const isWorth = keysMax === undefined || isWithin(store, ordered, keysMax);
  return few && !isWorth ? few.way : ordered;
}

function smallest(store: Reader, ways: readonly Way[]) {
  for (const [size, keysMax] of SIZES.entries()) {
    // Later ways are narrower.
    const way = ways.findLast((each) => isWithin(store, each, keysMax));
    if (way) return { way, size };
  }
  return undefined;
}

/** Among ways that are all large. */
function surest(ways: readonly Way[]): Way {
  const [whole, ...narrower] = ways;
  if (!whole) throw new Error('there is always a way');
  if (whole.table === 'partition') return whole;
  return narrower.find((way) => way.exact) ?? narrower[0] ?? whole;
}

export function isWithin(store: Reader, way: Way, keysMax: number): boolean {
  if (way.ranges.length > RANGES_COUNTED_MAX) return false;
  let left = keysMax;
  for (const [from, to] of way.ranges) {
    if (store.keyAt(from, to, left) !== undefined) return false;
    if (way.ranges.length > 1) left -= store.count(from, to);
  }
  return true;
}

function scopeWay(
  place: Place,
  { partition, span }: ScanRequest,
): Pick<Way, 'table' | 'ranges' | 'explain'> {
  const { slot } = place.head;
  if (partition === undefined && (span === undefined || isWhole(span))) {
    const ranges = [tableRange(slot, 'document')];
    return { table: 'document', ranges, explain: 'all items in order of creation' };
  }
  let from = spanBound(place, span?.from ?? '');
  let to = spanBound(place, span?.to ?? 'FF');
  if (partition !== undefined) {
    const epk = effectivePartitionKey(partition, place.container.partitionHash);
    const start = partitionBound(slot, epk);
    const end = after(start);
    if (Buffer.compare(start, from) > 0) from = start;
    if (Buffer.compare(end, to) < 0) to = end;
  }
  const explain = partition ? 'items of one partition key' : 'items of a span of partition keys';
  return { table: 'partition', ranges: [[from, to]], explain };
}

const EPK_DIGITS = 32;

/** A bound that goes on where keys end lies behind the key it begins with, not in its serials. */
function spanBound({ head, container }: Place, bound: string): Key {
  const levels = container.partitionHash === 'multi' ? container.partitionPaths.length : 1;
  const digits = container.partitionHash === 'v1' ? bound.length : levels * EPK_DIGITS;
  if (bound.length <= digits) return partitionBound(head.slot, bound);
  return after(partitionBound(head.slot, bound.slice(0, digits)));
}

export function isWhole(span: EpkSpan): boolean {
  return span.from === '' && span.to === 'FF';
}

export function conjunctsOf(filter: Filter | undefined): readonly SimpleFilter[] {
  if (filter === undefined) return [];
  return filter.op === 'and' ? filter.all.flatMap(conjunctsOf) : [filter];
}

/**
 * BETWEEN and the like are several conditions on one path: together they are one range. Not so with
 * elements of arrays, where each may be met by another element.
 */
function byPath(conjuncts: readonly SimpleFilter[]): readonly (readonly SimpleFilter[])[] {
  const groups: SimpleFilter[][] = [];
  for (const filter of conjuncts) {
    const isMany = isSearch(filter) || filter.path.includes(null);
    const group = isMany
      ? undefined
      : groups.find(([first]) => first && !isSearch(first) && samePath(first.path, filter.path));
    if (group) group.push(filter);
    else groups.push([filter]);
  }
  return groups;
}

/** A range on the very path that is sorted by gives the order for free. */
function order(request: ScanRequest, filter: SimpleFilter): Pick<Way, 'ordered' | 'descending'> {
  const [first, ...more] = request.order;
  if (!first) return { ordered: true, descending: false };
  const same = more.length === 0 && !isSearch(filter) && samePath(filter.path, first.path);
  return { ordered: same, descending: same && first.descending };
}

function orderWay(
  place: Place,
  request: ScanRequest,
  { partition, span }: WayScope,
): Way | undefined {
  const found = orderRange(place, request);
  const isSingle = request.repeats || !request.order.some(({ path }) => path.includes(null));
  if (!found || !isSingle) return undefined;
  return {
    table: 'path',
    ranges: [[found.start, after(found.start)]],
    descending: found.descending,
    partition,
    span,
    ordered: true,
    exact: request.filter === undefined,
    index: found.index,
    explain: `${request.order.map(({ path }) => showPath(path)).join(', ')} in order`,
  };
}

function orderRange(
  place: Place,
  { order, anyTies }: ScanRequest,
):
  | { readonly start: Key; readonly descending: boolean; readonly index: CompositeIndex }
  | undefined {
  const { slot } = place.head;
  const { indexing } = place.container;
  const [first, ...more] = order;
  const beginningWith = (wanted: CompositeIndex) => {
    const ways = indexing.composites.map((each) => directionOf(wanted, firstAscending(each), true));
    const index = ways.findIndex((way) => way !== undefined);
    return index < 0 ? undefined : { index, descending: ways[index] === 'down' };
  };
  if (!first) return undefined;
  if (more.length === 0) {
    if (!isIndexed(indexing, first.path)) return undefined;
    const { descending } = first;
    return { start: pathPrefix(slot, indexing.version, first.path), descending, index: order };
  }
  const found = compositeFor(indexing, order) ?? (anyTies ? beginningWith(order) : undefined);
  if (!found) return undefined;
  const start = compositePrefix(slot, indexing.version, found.index);
  const index = indexing.composites[found.index] ?? order;
  return { start, descending: found.descending, index };
}

/** The keys that a simple filter allows; undefined when the index knows nothing of its path. */
function rangesOf(
  place: Place,
  filter: SimpleFilter,
  repeats: boolean | undefined,
): Ranges | undefined {
  if (isSearch(filter)) return searchOf(place, filter);
  const { indexing } = place.container;
  if (!isIndexed(indexing, filter.path)) return undefined;
  if (asksForMissing(filter) && !isNamed(indexing, filter.path)) return undefined;
  const prefix = pathPrefix(place.head.slot, place.container.indexing.version, filter.path);
  const at = (bytes: Uint8Array) => Buffer.concat([prefix, bytes]);
  return valueRanges(filter, at, after(prefix), VALUE_BYTES_MAX, repeats);
}

/** Only of paths that are included by name it is known who lacks them. */
function asksForMissing(filter: ValueFilter): boolean {
  return filter.op === 'missing' || ('of' in filter && filter.of.some(asksForMissing));
}

/** Never all that was asked: words may have to stand together, and circles are made of squares. */
function searchOf(place: Place, filter: SearchFilter): Ranges | undefined {
  const { op, path } = filter;
  const { version, words, points } = place.container.indexing;
  if (!(op === 'word' ? words : points).some((each) => samePath(each, path))) return undefined;
  const prefix = searchPrefix(place.head.slot, version, op, path);
  return { ranges: searchRanges(filter, (bytes) => Buffer.concat([prefix, bytes])), exact: false };
}
