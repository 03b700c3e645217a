// Ways through composite indexes.
import { encodeValue } from '../../value/key.js';
import type { Filter, ScanRequest } from '../engine.js';
import {
  bytesMaxOf,
  type CompositeIndex,
  firstAscending,
  namedPaths,
  samePath,
  showPath,
} from '../indexing.js';
import type { Place } from './entries.js';
import { after } from './keys.js';
import { compositePart, compositePrefix } from './path-index.js';
import { intersection, type KeyRange, valueRanges } from './ranges.js';
import type { Way } from './ways.js';

export interface CompositeWay extends Omit<Way, 'partition' | 'span'> {
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
  conjuncts: readonly Filter[],
): readonly CompositeWay[] {
  const ways = place.container.indexing.composites.map((_, index) =>
    compositeWay(place, request.order, conjuncts, index),
  );
  // With one equality and nothing else the index of that path alone serves as well.
  return ways.filter((way): way is CompositeWay => {
    if (!way || conjuncts.length === 0) return false;
    return way.conditions > 1 || (request.order.length > 0 && way.ordered);
  });
}

export function compositeWay(
  place: Place,
  order: ScanRequest['order'],
  conjuncts: readonly Filter[],
  index: number,
): CompositeWay | undefined {
  const { indexing } = place.container;
  const composite = indexing.composites[index];
  if (!composite) return undefined;
  const parts = firstAscending(composite);
  const named = new Set(namedPaths(indexing).map((path) => JSON.stringify(path)));
  const starts: Uint8Array[] = [compositePrefix(place.head.slot, indexing.version, index)];
  const used = new Set<Filter>();
  for (const { path, descending } of parts) {
    const equal = conjuncts.find((each) => each.op === '=' && samePath(each.path, path));
    if (equal?.op !== '=') break;
    used.add(equal);
    starts.push(compositePart(equal.value, descending, parts.length));
  }
  const fixed = starts.length - 1;
  if (fixed === 0) return undefined;
  const start = Buffer.concat(starts);
  const at = (bytes: Uint8Array) => Buffer.concat([start, bytes]);
  const next = parts[fixed];
  let ranges: readonly KeyRange[] = [[start, after(start)]];
  let exact = true;
  if (next && !next.descending) {
    for (const filter of conjuncts) {
      if (filter.op === 'and' || !samePath(filter.path, next.path)) continue;
      const found = valueRanges(filter, at, after(start), bytesMaxOf(parts.length));
      if (!found) continue;
      used.add(filter);
      exact &&= found.exact;
      ranges = intersection([ranges, found.ranges]) ?? ranges;
    }
  }
  const ordered = ordersBy(order, parts, fixed);
  if (ordered && order.length === 1 && next && !named.has(JSON.stringify(next.path))) {
    const defined = after(at(encodeValue(undefined)));
    ranges = intersection([ranges, [[defined, after(start)]]]) ?? ranges;
  }
  return {
    table: 'path',
    ranges,
    descending: ordered && order[0]?.descending === true,
    ordered: ordered || order.length === 0,
    exact: exact && used.size === conjuncts.length,
    index: composite,
    explain: `${composite.map(({ path }) => showPath(path)).join(', ')} together`,
    fixed,
    start: start.length,
    conditions: used.size,
  };
}

/** Whether what follows the fixed paths comes in the order that is asked for, ties included. */
function ordersBy(order: ScanRequest['order'], parts: CompositeIndex, fixed: number): boolean {
  const [first] = order;
  if (!first || parts[fixed]?.descending !== false) return false;
  if (order.length !== parts.length - fixed) return false;
  return order.every(({ path, descending }, at) => {
    const part = parts[fixed + at];
    return (
      part !== undefined &&
      samePath(path, part.path) &&
      descending === (part.descending !== first.descending)
    );
  });
}
