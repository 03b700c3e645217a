// The indexes of the policy that a plan stands for, and those it would have used if the policy had
// them, as the service reports them.
import type { Container, IndexUse, ScanRequest } from '../engine.js';
import { compositeFor, isIndexed } from '../indexing.js';
import { conjunctsOf, isSearch } from './filter.js';

export function indexUse({ indexing }: Container, { filter, order }: ScanRequest): IndexUse {
  const conjuncts = conjunctsOf(filter).filter((each) => !isSearch(each));
  const composite = order.length > 1 ? compositeFor(indexing, order) : undefined;
  const ordered = composite ? indexing.composites[composite.index] : undefined;
  const paths = [...order.slice(0, 1), ...conjuncts].map(({ path }) => path);
  const single = paths.find((path) => isIndexed(indexing, path));
  const used = ordered ?? (single ? [{ path: single, descending: false }] : undefined);
  const lacking = conjuncts.filter(({ path }) => !isIndexed(indexing, path));
  return {
    used: used ? [used] : [],
    missed: lacking.map(({ path }) => [{ path, descending: false }]),
  };
}
