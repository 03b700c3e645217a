// Ways through composite indexes.
import { encodeValue } from '../../value/key.js';
import type { ScanRequest, SimpleFilter, ValueFilter } from '../engine.js';
import {
  bytesMaxOf,
  type CompositeIndex,
  firstAscending,
  type Indexing,
  type IndexPath,
  namedPaths,
  samePath,
  showPath,
} from '../indexing.js';
import type { Place } from './entries.js';
import { after } from './keys.js';
import { compositePart, compositePrefix, turned } from './path-index.js';
import { intersection, isSearch, type KeyRange, type Ranges, valueRanges } from './ranges.js';
import type { Key } from './store.js';
import type { Way, WayScope } from './ways.js';

export interface CompositeWay extends Way {
  /** How many of its paths have one value each along this way. */
  readonly fixed: number;
  /** Where the value of the next path begins in a key. */
  readonly start: number;
  /** How many conditions its ranges are made from. */
  readonly conditions: number;
}

/**
 * Equalities on the first paths of a composite index leave one range of it, and a comparison on the
 * next path a part of that, in the order of the paths that follow.
 */
export function compositeWays(
  place: Place,
  request: ScanRequest,
  scope: WayScope,
  conjuncts: readonly SimpleFilter[],
): readonly CompositeWay[] {
  // With one equality and nothing else the index of that path alone serves as well.
  if (conjuncts.length < 2 && (conjuncts.length === 0 || request.order.length === 0)) return [];
  const ways = place.container.indexing.composites.map((_, index) =>
    compositeWay(place, request, scope, conjuncts, index),
  );
  return ways.filter((way): way is CompositeWay => {
    return way !== undefined && (way.conditions > 1 || (request.order.length > 0 && way.ordered));
  });
}

export function compositeWay(
  place: Place,
  { order, anyTies }: Pick<ScanRequest, 'order' | 'anyTies'>,
  { partition, span }: WayScope,
  conjuncts: readonly SimpleFilter[],
  index: number,
): CompositeWay | undefined {
  const { indexing } = place.container;
  const composite = indexing.composites[index];
  if (!composite) return undefined;
  const parts = firstAscending(composite);
  const [head] = parts;
  if (!head || !conjuncts.some(({ op, path }) => op === '=' && samePath(path, head.path))) {
    return undefined;
  }
  const starts: Uint8Array[] = [compositePrefix(place.head.slot, indexing.version, index)];
  const used = new Set<SimpleFilter>();
  for (const { path, descending } of parts) {
    const equal = conjuncts.find((each) => each.op === '=' && samePath(each.path, path));
    if (equal?.op !== '=') break;
    used.add(equal);
    starts.push(compositePart(equal.value, descending, parts.length));
  }
  const fixed = starts.length - 1;
  const start = Buffer.concat(starts);
  const at = (bytes: Uint8Array) => Buffer.concat([start, bytes]);
  const next = parts[fixed];
  let ranges: readonly KeyRange[] = [[start, after(start)]];
  let exact = true;
  if (next) {
    for (const filter of conjuncts) {
      if (isSearch(filter) || !samePath(filter.path, next.path)) continue;
      const bytesMax = bytesMaxOf(parts.length);
      const found = next.descending
        ? turnedRanges(filter, at, bytesMax)
        : valueRanges(filter, at, after(start), bytesMax);
      if (!found) continue;
      used.add(filter);
      exact &&= found.exact;
      ranges = intersection([ranges, found.ranges]) ?? ranges;
    }
  }
  const direction = directionOf(order, parts.slice(fixed), anyTies === true);
  const ordered = direction !== undefined;
  if (ordered && order.length === 1 && next && !isNamed(indexing, next.path)) {
    const defined = after(at(encodeValue(undefined)));
    ranges = intersection([ranges, [[defined, after(start)]]]) ?? ranges;
  }
  return {
    table: 'path',
    ranges,
    descending: direction === 'down',
    partition,
    span,
    ordered: ordered || order.length === 0,
    exact: exact && used.size === conjuncts.length && !indexing.lazy,
    index: composite,
    explain: `${composite.map(({ path }) => showPath(path)).join(', ')} together`,
    fixed,
    start: start.length,
    conditions: used.size,
  };
}

export function isNamed(indexing: Indexing, path: IndexPath): boolean {
  return namedPaths(indexing).some((each) => samePath(each, path));
}

/**
 * Which way what follows the fixed paths comes in the order that is asked for: ties, too, unless
 * they do not matter.
 */
export function directionOf(
  order: ScanRequest['order'],
  parts: CompositeIndex,
  anyTies: boolean,
): 'up' | 'down' | undefined {
  const [first] = order;
  const [part] = parts;
  if (!first || !part || order.length > parts.length) return undefined;
  if (!anyTies && (part.descending || order.length < parts.length)) return undefined;
  const isDown = first.descending !== part.descending;
  const fits = order.every(({ path, descending }, at) => {
    const same = parts[at];
    return same && samePath(path, same.path) && descending === (same.descending !== isDown);
  });
  return fits ? (isDown ? 'down' : 'up') : undefined;
}

/** Where all bits of a value are turned, ranges begin behind what they ended before. */
function turnedRanges(
  filter: ValueFilter,
  at: (bytes: Uint8Array) => Key,
  bytesMax: number,
): Ranges | undefined {
  const found = valueRanges(filter, (bytes) => Buffer.from(bytes), BEYOND, bytesMax);
  if (!found) return undefined;
  const ranges = found.ranges.map(([from, to]): KeyRange => {
    return [after(at(turned(to))), after(at(turned(from)))];
  });
  return { ranges: ranges.reverse(), exact: found.exact };
}

/** Behind the first byte of every value. */
const BEYOND = Buffer.of(0xfe);
