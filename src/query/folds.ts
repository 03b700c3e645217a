// Aggregates that the engine folds itself, by groups or as a whole.
import type { Fold } from '../engine/engine.js';
import type { IndexPath } from '../engine/indexing.js';
import type { Instant } from '../time/instant.js';
import { GROUP_CELLS_MAX, identityOf } from './evaluate.js';
import type { Value } from './function.js';
import { countsRows, hasSubquery, inOrder, type KnownGroups, pathOf } from './index-aggregates.js';
import type { AggregateCall } from './logical.js';
import type { PlannedQuery } from './planner.js';

export async function foldGroups(
  { query, plan, whereDefined }: PlannedQuery,
  at: Instant,
): Promise<KnownGroups | undefined> {
  if (!plan.fold || !plan.exact || !whereDefined || hasSubquery(query.project)) return undefined;
  const by = query.groupBy.map(pathOf).filter((path) => path !== undefined);
  const folds = query.aggregates.map(foldOf).filter((fold) => fold !== undefined);
  if (by.length < query.groupBy.length || folds.length < query.aggregates.length) return undefined;
  if (!areApart(by)) return undefined;
  const folded = await plan.fold(by, folds, at);
  const cells = (folded?.groups.length ?? 0) * (by.length + folds.length);
  // Too many are refused by whoever folds them one by one.
  if (!folded || cells >= GROUP_CELLS_MAX) return undefined;
  const groups = folded.groups.map((group) => ({
    document: documentOf(by, group.by as readonly Value[]),
    identity: group.by.map((value) => identityOf(value as Value)).join(''),
    results: group.results as readonly Value[],
  }));
  return { groups: inOrder(groups), lsn: folded.lsn };
}

function foldOf(call: AggregateCall): Fold | undefined {
  if (countsRows(call)) return { name: 'COUNT', path: undefined };
  const path = pathOf(call.value);
  if (!path) return undefined;
  switch (call.name) {
    case 'COUNT':
    case 'SUM':
    case 'AVG':
    case 'MIN':
    case 'MAX':
      return { name: call.name, path };
    default:
      return undefined;
  }
}

/** None leads to what another one has. */
function areApart(paths: readonly IndexPath[]): boolean {
  return paths.every((path, at) =>
    paths.every((other, index) => index === at || !path.every((step, n) => other[n] === step)),
  );
}

function documentOf(paths: readonly IndexPath[], values: readonly Value[]): Value {
  const document: Record<string, Value> = {};
  for (const [index, path] of paths.entries()) {
    const value = values[index];
    if (value === undefined) continue;
    let inner = document;
    for (const step of path.slice(0, -1)) {
      inner[step ?? ''] ??= {};
      inner = inner[step ?? ''] as Record<string, Value>;
    }
    inner[path.at(-1) ?? ''] = value;
  }
  return document;
}
