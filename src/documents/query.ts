// Queries over the items of a container, page by page.
import type { StoredContainer } from '../catalog/resources.js';
import type { Query } from '../query/logical.js';
import type { Position } from '../query/page.js';
import { dropsUndefined, planQuery } from '../query/planner.js';
import { isPosition } from '../query/position.js';
import type { UserFunctions } from '../query/user-functions.js';
import { pageCharge } from '../throughput/charges.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import { decodeContinuation, encodeContinuation } from './continuation.js';
import { type Documents, whileThere } from './documents.js';
import type { Scope } from './list.js';
import { deriveRows, overValues, type PlanOf, type RanPage, runTask } from './run-query.js';

export interface QueryRequest {
  readonly query: Query;
  /** Names the query for its continuation tokens: text and parameters. */
  readonly name: () => string;
  readonly itemsMax: number;
  readonly continuation: string | undefined;
  /** A longer token gives way to one that tells how many rows there were. */
  readonly tokenBytesMax: number;
  readonly at: Instant;
  readonly abandoned: () => boolean;
  /** Whether somebody asks how long the parts of the work take. */
  readonly isTimed: boolean;
  /** Absent where queries may call none. */
  readonly userFunctions?: UserFunctions | undefined;
}
export interface AnsweredPage extends Omit<RanPage, 'next'> {
  /** True for a later page that looked again at what an earlier one was charged for. */
  readonly again: boolean;
  readonly continuation: string | undefined;
}

const PAGE_BYTES_MAX = 4 * 1024 * 1024;

export function queryItems(
  documents: Documents,
  container: StoredContainer,
  scope: Scope,
  request: QueryRequest,
): Promise<AnsweredPage> {
  const { partition, span } = scope;
  const tags: Tags = {
    place: () => `${container.serial} ${JSON.stringify([partition])} ${request.name()}`,
    count: () => `${container.serial} ${JSON.stringify([partition, span])} ${request.name()}`,
  };
  const { engine } = documents;
  const counted = documents.countsUnpurged && countsOnly(request.query);
  // Without rules nothing is dead, so what is still there is counted.
  const viewed = counted ? { ...container.engine, expiry: [] } : container.engine;
  const answer = answerPage(documents, tags, request, (query, after) => {
    const planned = planQuery(engine, viewed, scope, query, after);
    const complete = !dropsUndefined(container.engine, query);
    return { complete, ...planned };
  });
  return whileThere(container, withPosition(documents, container, answer));
}

/** A query that had nothing to read is about this moment, too. */
async function withPosition(
  { engine }: Documents,
  container: StoredContainer,
  answer: Promise<AnsweredPage>,
): Promise<AnsweredPage> {
  const page = await answer;
  if (page.work.lsn > 0) return page;
  const { lsn } = await engine.stats(container.engine);
  return { ...page, work: { ...page.work, lsn } };
}

/** A page that looked again at what an earlier one was charged for costs what it answers. */
export function queryCharge(page: AnsweredPage, ranges: number, isFirst: boolean): number {
  const answerBytes = page.rows.reduce((sum, row) => sum + row.length, 0);
  if (page.again) return pageCharge({ documents: 0, documentBytes: 0, answerBytes, ranges }, false);
  const { documents, documentBytes, functionCalls } = page.work;
  const indexes = page.plan.indexes.used.length;
  const work = { documents, documentBytes, answerBytes, functionCalls, indexes, ranges };
  return pageCharge(work, isFirst);
}

/** T14 is about numbers: groups would show what the expired items hold. */
function countsOnly({ aggregates, groupBy, derived }: Query): boolean {
  return (
    !derived &&
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
  const named = () => `${tag} ${request.name()}`;
  return answerPage(documents, { place: named, count: named }, request, overValues(values));
}

/**
 * A token that tells a place in the data is good for any span: when a range is split, the children
 * go on with the token of their parent. One that tells a number of rows is not. Most answers are
 * one page, and need no name.
 */
interface Tags {
  place(): string;
  count(): string;
}

async function answerPage(
  documents: Documents,
  tags: Tags,
  request: QueryRequest,
  planOf: PlanOf,
): Promise<AnsweredPage> {
  const { continuation: token } = request;
  const after = token === undefined ? undefined : positionIn(token, tags);
  const task = { bytesMax: PAGE_BYTES_MAX, ...request };
  const { derived } = request.query;
  const below = derived && (await deriveRows(documents, { ...task, query: derived }, planOf));
  const page = await runTask(documents, task, below ? overValues(below.values) : planOf, after);
  const continuation = page.next && tokenFor(page.next, tags, request);
  const again = after !== undefined && (below !== undefined || after.way !== 'stream');
  if (!below) return { continuation, again, ...page };
  // What was read from the container counts, not what was made of it.
  const { plan, work, took } = below.last;
  const outputMs = page.work.outputMs;
  const runMs = took.runMs + page.took.runMs;
  return {
    ...{ ...page, continuation, again, plan },
    work: { ...work, outputMs },
    took: { ...took, runMs },
  };
}

/** A place in the data is as long as what the data is sorted by; a number of rows is short. */
function tokenFor(next: Position, tags: Tags, request: QueryRequest): string {
  const encode = (position: Position) =>
    encodeContinuation(
      Buffer.from(JSON.stringify(position)),
      isPlace(position) ? tags.place() : tags.count(),
    );
  const token = encode(next);
  if (token.length <= request.tokenBytesMax) return token;
  const { limit, taken } = next;
  const offset = request.query.offset + (taken ?? 0);
  return encode({ way: 'stream', resume: undefined, skip: 0, skipOf: 0, offset, limit, taken });
}

function isPlace(position: Position): boolean {
  return position.way === 'stream' ? position.resume !== undefined : position.way !== 'ranked';
}

function positionIn(token: string, { place, count }: Tags): Position {
  const bytes = Buffer.from(decodeContinuation(token, place(), count()));
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString());
  } catch {
    throw failure('invalidContinuation');
  }
  if (!isPosition(parsed)) throw failure('invalidContinuation');
  return parsed;
}
