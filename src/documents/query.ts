// Queries over the items of a container, page by page.
import type { StoredContainer } from '../catalog/resources.js';
import { BadResume, type Plan, PlanOutdated } from '../engine/engine.js';
import type { Query } from '../query/logical.js';
import type { Position, QueryPage } from '../query/page.js';
import { runPage } from '../query/pipeline.js';
import { dropsUndefined, type PlannedQuery, type PlanTimes, planQuery } from '../query/planner.js';
import { isPosition, resumeIn } from '../query/position.js';
import { planOverValues } from '../query/values-plan.js';
import { stopwatch } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import { decodeContinuation, encodeContinuation } from './continuation.js';
import { type Documents, whileThere } from './documents.js';
import type { Scope } from './list.js';

export interface QueryRequest {
  readonly query: Query;
  /** Names the query for its continuation tokens: text and parameters. */
  readonly name: string;
  readonly itemsMax: number;
  readonly continuation: string | undefined;
  readonly at: Instant;
  readonly abandoned: () => boolean;
  /** Whether somebody asks how long the parts of the work take. */
  readonly isTimed: boolean;
}
export interface AnsweredPage extends Omit<QueryPage, 'next'> {
  /** True for a later page that looked again at what an earlier one was charged for. */
  readonly again: boolean;
  readonly continuation: string | undefined;
  readonly plan: Plan;
  readonly took: PlanTimes & { readonly runMs: number };
}

const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** How often a page is planned anew because the index rules changed under it. */
const PLANS_MAX = 5;

export function queryItems(
  documents: Documents,
  container: StoredContainer,
  scope: Scope,
  request: QueryRequest,
): Promise<AnsweredPage> {
  const tag = `${container.serial} ${JSON.stringify([scope.partition, scope.span])}`;
  const { engine } = documents;
  const counted = documents.countsUnpurged && countsOnly(request.query);
  // Without rules nothing is dead, so what is still there is counted.
  const viewed = counted ? { ...container.engine, expiry: [] } : container.engine;
  return whileThere(
    container,
    answerPage(documents, tag, request, (query, after) => {
      const planned = planQuery(engine, viewed, scope, query, after);
      const complete = !dropsUndefined(container.engine, query);
      return { ...planned, complete };
    }),
  );
}

/** T14 is about numbers: groups would show what the expired items hold. */
function countsOnly({ aggregates, groupBy }: Query): boolean {
  return (
    aggregates.length > 0 &&
    groupBy.length === 0 &&
    aggregates.every(({ name }) => name === 'COUNT')
  );
}

/** The same for values that are at hand, such as resources of the catalog. */
export function queryValues(
  documents: Documents,
  values: readonly unknown[],
  tag: string,
  request: QueryRequest,
): Promise<AnsweredPage> {
  return answerPage(documents, tag, request, (query, after) => {
    const plan = { ...planOverValues(values, resumeIn(after)), ordered: query.order.length === 0 };
    return { plan, query, complete: true, took: { optimizeMs: 0, planMs: 0 } };
  });
}

async function answerPage(
  documents: Documents,
  scopeTag: string,
  request: QueryRequest,
  planOf: (query: Query, after: Position | undefined) => PlannedQuery & { complete: boolean },
): Promise<AnsweredPage> {
  const tag = `${scopeTag} ${request.name}`;
  const { continuation: token } = request;
  const after = token === undefined ? undefined : positionIn(token, tag);
  for (let plans = 1; ; plans++) {
    try {
      const { plan, query, complete, took } = planOf(request.query, after);
      const ran = stopwatch();
      const page = await runPage(query, plan, after, {
        complete,
        itemsMax: request.itemsMax,
        bytesMax: PAGE_BYTES_MAX,
        at: request.at,
        random: () => documents.entropy.fraction(),
        abandoned: request.abandoned,
        isTimed: request.isTimed,
      });
      const continuation =
        page.next && encodeContinuation(Buffer.from(JSON.stringify(page.next)), tag);
      const again = after !== undefined && after.way !== 'stream';
      return { ...page, continuation, plan, again, took: { ...took, runMs: ran() } };
    } catch (error) {
      if (error instanceof BadResume) throw failure('invalidContinuation');
      if (!(error instanceof PlanOutdated) || plans >= PLANS_MAX) throw error;
    }
  }
}

function positionIn(token: string, tag: string): Position {
  const bytes = Buffer.from(decodeContinuation(token, tag));
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString());
  } catch {
    throw failure('invalidContinuation');
  }
  if (!isPosition(parsed)) throw failure('invalidContinuation');
  return parsed;
}
