// Asks the engine for a plan, and knows what is left to do when the plan has done its part.
import type { Container, Engine, EpkSpan, Filter, OrderBy, Plan } from '../engine/engine.js';
import { compositeFor, type IndexPath, isIndexed, namedPaths } from '../engine/indexing.js';
import { stopwatch } from '../time/clock.js';
import { failure } from '../value/errors.js';
import type { PartitionKey } from '../value/partition-key.js';
import { type Query, ROOT } from './logical.js';
import type { Position } from './page.js';
import { resumeIn } from './position.js';
import { indexPathOf, weaken } from './weaken.js';

export interface PlanScope {
  readonly partition: PartitionKey | undefined;
  readonly span: EpkSpan | undefined;
}
export interface PlannedQuery {
  readonly plan: Plan;
  /** The query without what the plan has promised. */
  readonly query: Query;
  readonly took: PlanTimes;
  /**
   * Plans for those of the same documents that have a path, in an order of their own; only where
   * the engine can be told everything that the query asks of a document.
   */
  readonly whereDefined: ((path: IndexPath, order: readonly OrderBy[]) => Plan) | undefined;
}
/** How long it took to find what the engine may be told, and how long the engine to plan. */
export interface PlanTimes {
  readonly optimizeMs: number;
  readonly planMs: number;
}

export function planQuery(
  engine: Engine,
  container: Container,
  scope: PlanScope,
  query: Query,
  after: Position | undefined,
): PlannedQuery {
  const took = stopwatch();
  const wanted = query.where ? weaken(query.where) : { filter: undefined, exact: true };
  const order = orderOf(container, query);
  const optimizeMs = took();
  const plan = engine.plan(container, {
    filter: wanted.filter,
    // A page that was sorted by hand goes on so, whatever the engine could do by now.
    order: after && after.way !== 'stream' ? [] : order,
    limit: undefined,
    after: resumeIn(after),
    ...scope,
  });
  const whereDefined = (path: IndexPath, ordering: readonly OrderBy[]) => {
    const isThere: Filter = { op: 'defined', path };
    return engine.plan(container, {
      filter: wanted.filter ? { op: 'and', all: [wanted.filter, isThere] } : isThere,
      order: ordering,
      limit: undefined,
      after: undefined,
      ...scope,
    });
  };
  const ordered = order.length > 0 && plan.ordered && (!after || after.way === 'stream');
  const done = plan.exact && wanted.exact;
  const inOrder = ordered || query.order.length === 0;
  return {
    plan: inOrder === plan.ordered ? plan : { ...plan, ordered: inOrder },
    query: done ? { ...query, where: undefined } : query,
    took: { optimizeMs, planMs: took() - optimizeMs },
    whereDefined: isAboutDocuments(query) && wanted.exact ? whereDefined : undefined,
  };
}

/** Rows are documents, one each. */
function isAboutDocuments({ sources: [first, ...more] }: Query): boolean {
  return first?.kind === 'document' && more.length === 0;
}

/** ORDER BY needs an index on what it sorts by, as on the service: several keys a composite one. */
function orderOf(container: Container, query: Query): readonly OrderBy[] {
  const { indexing } = container;
  const order: OrderBy[] = [];
  for (const { value, descending } of query.order) {
    if (value.kind !== 'path' || value.slot !== ROOT) return [];
    const { path, exact } = indexPathOf(value.path);
    if (query.order.length === 1 && !isIndexed(indexing, path)) {
      throw failure('orderByExcluded', { path: `/${path.join('/')}` });
    }
    if (!exact) return [];
    order.push({ path, descending });
  }
  if (order.length > 1 && !compositeFor(indexing, order)) throw failure('orderByComposite');
  return query.sources.length === 1 ? order : [];
}

/**
 * Whether ORDER BY leaves out the items that lack the property: it does where one path is sorted by
 * that the policy does not include by name.
 */
export function dropsUndefined(container: Container, query: Query): boolean {
  const [first, ...more] = query.order;
  if (!first || more.length > 0 || first.value.kind !== 'path') return false;
  if (first.value.slot !== ROOT) return false;
  const wanted = JSON.stringify(indexPathOf(first.value.path).path);
  return !namedPaths(container.indexing).some((path) => JSON.stringify(path) === wanted);
}
