// Aggregates that indexes answer: counts from their keys, the least and the most from their ends.
// Whatever they do not say is left to a scan.
import type { Lsn, Plan } from '../engine/engine.js';
import { bytesMaxOf, type IndexPath } from '../engine/indexing.js';
import { breathe } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { type Path, valueAt } from '../value/path.js';
import type { Frame } from './compile.js';
import { type Groups, identityOf } from './evaluate.js';
import type { Value } from './function.js';
import { type AggregateCall, type Expression, ROOT } from './logical.js';
import type { PlannedQuery } from './planner.js';
import { indexPathOf } from './weaken.js';

export interface Aggregated {
  readonly values: readonly Value[];
  readonly lsn: Lsn;
}

/** The results of all aggregates of a query without GROUP BY. */
export async function lookUpAggregates(
  { query, plan, whereDefined }: PlannedQuery,
  at: Instant,
): Promise<Aggregated | undefined> {
  if (!whereDefined || query.groupBy.length > 0) return undefined;
  const lookUps = query.aggregates.map((call) => lookUpOf(call, plan, whereDefined));
  const values: Value[] = [];
  let lsn = 0;
  for (const lookUp of lookUps) if (!lookUp) return undefined;
  for (const lookUp of lookUps) {
    const found = await lookUp?.(at);
    if (!found) return undefined;
    values.push(found.value);
    lsn = Math.max(lsn, found.lsn);
  }
  return { values, lsn };
}

/** Groups that nobody looked at the rows of. */
export interface KnownGroups {
  /** In the order of identities, by which pages go on. */
  readonly groups: readonly {
    /** A document that has nothing but what the group has in common. */
    readonly document: Value;
    readonly identity: string;
    readonly results: readonly Value[];
  }[];
  readonly lsn: Lsn;
}

/** Rows counted by the values of one path. */
export async function lookUpGroups(
  { query, plan, whereDefined }: PlannedQuery,
  at: Instant,
): Promise<KnownGroups | undefined> {
  const [key, ...more] = query.groupBy;
  const path = key && more.length === 0 ? pathOf(key) : undefined;
  if (!whereDefined || !path || !query.aggregates.every(countsRows)) return undefined;
  // A subquery may look at the row that stands for the group, and here there is none.
  if (hasSubquery(query.project)) return undefined;
  const counted = await plan.countBy(path, at);
  const groups = counted?.values.map(({ value, items }) => ({
    document: documentWith(path, value as Value),
    identity: identityOf(value as Value),
    results: query.aggregates.map(() => items),
  }));
  return counted && groups && { groups: inOrder(groups), lsn: counted.lsn };
}

/** With long texts it is not the order of the index. */
export function inOrder(groups: KnownGroups['groups']): KnownGroups['groups'] {
  return [...groups].sort((a, b) => (a.identity < b.identity ? -1 : 1));
}

export function finishWith({ groups }: KnownGroups): Groups['finish'] {
  return (frame: Frame, visit) => {
    for (const { document, identity, results } of groups) {
      frame.slots[ROOT] = document;
      frame.aggregates = results;
      if (!visit(identity)) return;
    }
  };
}

interface Found {
  readonly value: Value;
  readonly lsn: Lsn;
}
type LookUp = (at: Instant) => Promise<Found | undefined>;
type WhereDefined = NonNullable<PlannedQuery['whereDefined']>;

function lookUpOf(call: AggregateCall, plan: Plan, where: WhereDefined): LookUp | undefined {
  if (countsRows(call)) return (at) => counted(plan, at);
  const path = pathOf(call.value);
  if (!path) return undefined;
  switch (call.name) {
    case 'COUNT':
      return (at) => counted(where(path, []), at);
    case 'MIN':
    case 'MAX':
      return (at) => extreme(call.name === 'MAX', path, where, at);
    default:
      return undefined;
  }
}

/** COUNT of something that every row has. */
export function countsRows({ name, value }: AggregateCall): boolean {
  if (name !== 'COUNT') return false;
  if (value.kind === 'constant') return value.value !== undefined;
  return value.kind === 'path' && value.slot === ROOT && value.path.length === 0;
}

async function counted(plan: Plan, at: Instant): Promise<Found | undefined> {
  const found = await plan.count(at);
  return found && { value: found.items, lsn: found.lsn };
}

/**
 * The value at one end of an index. Arrays and objects are at the upper end, and a single one of
 * them makes the whole undefined.
 */
async function extreme(
  isMost: boolean,
  path: IndexPath,
  where: WhereDefined,
  at: Instant,
): Promise<Found | undefined> {
  const most = await firstValue(where(path, [{ path, descending: true }]), path, at);
  if (!most) return undefined;
  if (typeof most.value === 'object' && most.value !== null) return { ...most, value: undefined };
  return isMost ? most : firstValue(where(path, [{ path, descending: false }]), path, at);
}

/** Every engine sorts by at least this part of what an index may hold of a text. */
const SORTED_BY = 1 / 4;

async function firstValue(plan: Plan, path: IndexPath, at: Instant): Promise<Found | undefined> {
  if (!plan.exact || !plan.ordered) return undefined;
  for await (const { items, lsn } of plan.run(at, { rowsMax: 1, bytesMax: 1 })) {
    const [item] = items;
    if (!item) {
      await breathe();
      continue;
    }
    const value = valueAt(item.doc.value, path as Path);
    const bytesMax = bytesMaxOf(plan.indexes.used[0]?.length ?? 1) * SORTED_BY;
    // Among texts that are cut in the index, the first is not the least.
    const isCut = typeof value === 'string' && Buffer.byteLength(value) > bytesMax;
    return isCut ? undefined : { value, lsn };
  }
  return { value: undefined, lsn: 0 };
}

export function pathOf(expression: Expression): IndexPath | undefined {
  if (expression.kind !== 'path' || expression.slot !== ROOT) return undefined;
  const { path, exact } = indexPathOf(expression.path);
  return exact && path.length > 0 ? path : undefined;
}

function documentWith(path: IndexPath, value: Value): Value {
  return path.reduceRight<Value>((inner, step) => {
    return inner === undefined ? undefined : { [step ?? '']: inner };
  }, value);
}

export function hasSubquery(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  if ('kind' in part && part.kind === 'subquery') return true;
  return Object.values(part).some(hasSubquery);
}
