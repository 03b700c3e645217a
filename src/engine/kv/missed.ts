// The indexes that a plan would have read if the policy had them.
import type { ScanRequest, SimpleFilter } from '../engine.js';
import { type CompositeIndex, compositeFor, isIndexed, samePath } from '../indexing.js';
import type { Place } from './entries.js';
import { isSearch } from './ranges.js';
import { conjunctsOf, type Way } from './ways.js';

/** The most a policy allows. */
const PATHS_MAX = 8;

export function missedIndexes(
  place: Place,
  request: ScanRequest,
  way: Way,
): readonly CompositeIndex[] {
  const { indexing } = place.container;
  const conjuncts = conjunctsOf(request.filter).filter((filter) => !isSearch(filter));
  const lacking = conjuncts.filter(
    ({ op, path }) => !isIndexed(indexing, path) && (op === '=' || !path.includes(null)),
  );
  const singles = apart(lacking).map((path) => [{ path, descending: false }]);
  if (way.isPoint || (way.index?.length ?? 0) > 1) return singles;
  const together = compositeOf(request, conjuncts);
  return together.length > 1 && !compositeFor(indexing, together)
    ? [...singles, together]
    : singles;
}

/**
 * Equalities first, then the order that is asked for or else one path that is compared: all of it
 * is then one range.
 */
function compositeOf({ order }: ScanRequest, conjuncts: readonly SimpleFilter[]): CompositeIndex {
  const whole = conjuncts.filter(({ path }) => !path.includes(null));
  const equal = apart(whole.filter(({ op }) => op === '='));
  if (equal.length === 0) return [];
  const isFixed = (path: SimpleFilter['path']) => equal.some((each) => samePath(each, path));
  const compared = whole.find(({ op, path }) => COMPARED.includes(op) && !isFixed(path));
  // Read backwards, an index serves the opposite of its order as well.
  const isBackwards = order[0]?.descending === true;
  const ordered = order
    .filter(({ path }) => !isFixed(path))
    .map(({ path, descending }) => ({ path, descending: descending !== isBackwards }));
  const fixed = equal.map((path) => ({ path, descending: false }));
  const next = compared ? [{ path: compared.path, descending: false }] : [];
  return [...fixed, ...(ordered.length > 0 ? ordered : next)].slice(0, PATHS_MAX);
}

const COMPARED: readonly SimpleFilter['op'][] = ['<', '<=', '>', '>=', 'prefix'];

function apart(filters: readonly SimpleFilter[]): readonly SimpleFilter['path'][] {
  return [...new Map(filters.map(({ path }) => [JSON.stringify(path), path])).values()];
}
