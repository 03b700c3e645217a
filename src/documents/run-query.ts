// Runs one page of a query by a plan, planned anew where the rules change under it; and all rows of
// a query that another one is asked about.
import { BadResume, type Plan, PlanOutdated } from '../engine/engine.js';
import type { Query } from '../query/logical.js';
import type { Position, QueryPage } from '../query/page.js';
import { runPage } from '../query/pipeline.js';
import type { PlannedQuery, PlanTimes } from '../query/planner.js';
import { resumeIn } from '../query/position.js';
import type { UserFunctions } from '../query/user-functions.js';
import { planOverValues } from '../query/values-plan.js';
import { stopwatch } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import type { Documents } from './documents.js';

export interface QueryTask {
  readonly query: Query;
  readonly itemsMax: number;
  readonly bytesMax: number;
  readonly at: Instant;
  readonly abandoned: () => boolean;
  /** Whether somebody asks how long the parts of the work take. */
  readonly isTimed: boolean;
  /** Absent where queries may call none. */
  readonly userFunctions?: UserFunctions | undefined;
}
export type PlanOf = (
  query: Query,
  after: Position | undefined,
) => PlannedQuery & { readonly complete: boolean };

export interface RanPage extends QueryPage {
  readonly plan: Plan;
  readonly took: PlanTimes & { readonly runMs: number };
}

/** How often a page is planned anew because the index rules changed under it. */
const PLANS_MAX = 5;

export async function runTask(
  documents: Documents,
  task: QueryTask,
  planOf: PlanOf,
  after: Position | undefined,
): Promise<RanPage> {
  for (let plans = 1; ; plans++) {
    try {
      const planned = planOf(task.query, after);
      const { plan, took, complete } = planned;
      const ran = stopwatch();
      const random = () => documents.entropy.fraction();
      const page = await runPage(planned, after, { complete, random, ...task });
      return { plan, took: { runMs: ran(), ...took }, ...page };
    } catch (error) {
      if (error instanceof BadResume) throw failure('invalidContinuation');
      if (!(error instanceof PlanOutdated) || plans >= PLANS_MAX) throw error;
    }
  }
}

export const overValues =
  (values: readonly unknown[]): PlanOf =>
  (query, after) => {
    const plan = { ...planOverValues(values, resumeIn(after)), ordered: query.order.length === 0 };
    return {
      plan,
      query,
      complete: true,
      took: { optimizeMs: 0, planMs: 0 },
      whereDefined: undefined,
    };
  };

/** They are held in memory until the query around them has its page. */
const DERIVED_ROWS_MAX = 100_000;
const DERIVED_BYTES_MAX = 32 * 1024 * 1024;

/** All rows of the query that is derived from, and what they took. */
export async function deriveRows(
  documents: Documents,
  task: QueryTask,
  planOf: PlanOf,
): Promise<{ readonly values: readonly unknown[]; readonly last: RanPage }> {
  const { derived } = task.query;
  const below = derived && (await deriveRows(documents, { ...task, query: derived }, planOf));
  const limits = { itemsMax: DERIVED_ROWS_MAX + 1, bytesMax: DERIVED_BYTES_MAX };
  const values: unknown[] = [];
  let bytes = 0;
  let last: RanPage | undefined;
  do {
    const plans = below ? overValues(below.values) : planOf;
    const page: RanPage = await runTask(documents, { ...task, ...limits }, plans, last?.next);
    for (const row of page.rows) {
      bytes += row.length;
      values.push(JSON.parse(typeof row === 'string' ? row : Buffer.from(row).toString()));
    }
    if (values.length > DERIVED_ROWS_MAX || bytes > DERIVED_BYTES_MAX) throw tooManyRows();
    last = { ...page, work: sumOf(last, page), plan: below?.last.plan ?? page.plan };
  } while (last.next);
  return { values, last: below ? { ...last, work: below.last.work } : last };
}

function sumOf(before: RanPage | undefined, { work }: RanPage): RanPage['work'] {
  if (!before) return work;
  const sum = { ...work };
  for (const name of Object.keys(work) as (keyof typeof work)[]) {
    if (name !== 'lsn') sum[name] += before.work[name];
  }
  return sum;
}

function tooManyRows() {
  const why = `FROM (SELECT …) makes more than ${DERIVED_ROWS_MAX} rows, or more than ${DERIVED_BYTES_MAX} bytes; narrow it with WHERE or TOP.`;
  return failure('invalidInput', { why });
}
