// Reading and writing documents for commands: batches of a bounded size, in order or each by
// itself, and scans that never show what is dead by now.
import type { StoredCollection } from '../catalog/collections.js';
import {
  type EditAt,
  type EditOutcome,
  editEach,
  editTogether,
} from '../documents/collection-write.js';
import { type Item, PlanOutdated, type ScanRequest } from '../engine/engine.js';
import { isLive } from '../time/expiry.js';
import type { Instant } from '../time/instant.js';
import { MongoError } from '../value/mongo-errors.js';
import { samePartitionKey } from '../value/partition-key.js';
import type { Access } from './access.js';
import type { Call, Mongo } from './call.js';
import { merged } from './merged.js';
import { currentOf } from './namespace.js';
import type { Remembered } from './retries.js';
import { shapeOf } from './shape.js';
import type { Transaction } from './transaction.js';

/** So many share a commit: more would keep others waiting. */
const EDITS_PER_COMMIT = 64;
const ROWS_FIRST = 128;
const ROWS_PER_BATCH = 1000;
/** By how much batches grow, while more is asked for. */
const GROWTH = 4;
const BATCH_BYTES_MAX = 4_000_000;

/** An edit, and what is remembered of it where it is part of a retryable write. */
export interface StatementEdit extends EditAt {
  readonly remembered?: Remembered | undefined;
}

/** Until the first that fails; those before it are done. */
export async function editInOrder(
  call: Call,
  collection: StoredCollection,
  edits: readonly StatementEdit[],
): Promise<readonly EditOutcome[]> {
  if (call.transaction) return inTransaction(call, call.transaction, collection, edits, true);
  const outcomes: EditOutcome[] = [];
  for (let from = 0; from < edits.length; ) {
    const to = endOfPlace(edits, from);
    let some = edits.slice(from, to);
    let failure: EditOutcome | undefined;
    while (some.length > 0) {
      const result = await together(call, collection, some);
      if ('items' in result) {
        for (const item of result.items) outcomes.push({ item });
        break;
      }
      failure = result.outcome;
      some = some.slice(0, result.failed);
    }
    if (failure) return [...outcomes, failure];
    from = to;
  }
  return outcomes;
}

/** Each by itself, whatever becomes of the others. */
export async function editAll(
  call: Call,
  collection: StoredCollection,
  edits: readonly StatementEdit[],
): Promise<readonly EditOutcome[]> {
  if (call.transaction) return inTransaction(call, call.transaction, collection, edits, false);
  if (call.retried && edits.some(({ remembered }) => remembered)) {
    return editAllOnce(call, collection, edits);
  }
  const outcomes: EditOutcome[] = [];
  const shape = () => shapeOf(currentOf(call.mongo, collection));
  for (let from = 0; from < edits.length; from += EDITS_PER_COMMIT) {
    const some = edits.slice(from, from + EDITS_PER_COMMIT);
    outcomes.push(...(await editEach(call.mongo.documents, shape, some, call.at)));
  }
  return outcomes;
}

/** Those of a commit together with their record; one that fails is left out, and then the rest. */
async function editAllOnce(
  call: Call,
  collection: StoredCollection,
  edits: readonly StatementEdit[],
): Promise<readonly EditOutcome[]> {
  const outcomes: EditOutcome[] = [];
  let left = edits.map((edit, index) => ({ ...edit, index }));
  while (left.length > 0) {
    const some = left.slice(0, endOfPlace(left, 0));
    const result = await together(call, collection, some);
    const gone = 'items' in result ? some : some.slice(result.failed, result.failed + 1);
    for (const [at, { index }] of gone.entries()) {
      outcomes[index] = 'items' in result ? { item: result.items[at] } : result.outcome;
    }
    left = left.filter((each) => !gone.includes(each));
  }
  return outcomes;
}

function inTransaction(
  call: Call,
  transaction: Transaction,
  collection: StoredCollection,
  edits: readonly StatementEdit[],
  isOrdered: boolean,
): Promise<readonly EditOutcome[]> {
  const shape = () => shapeOf(currentOf(call.mongo, collection));
  const { engine } = call.mongo.documents;
  return transaction.edit(engine, collection, shape, edits, { at: call.at, isOrdered });
}

/** What a scan has looked at. */
export interface Examined {
  keys: number;
  documents: number;
}

/**
 * Items in batches, by the access, each once; a transaction sees its own writes. Of the first batch
 * so many are expected to be enough.
 */
export async function* scan(
  call: Call,
  collection: StoredCollection,
  access: Access,
  enough = ROWS_FIRST,
  examined?: Examined,
): AsyncGenerator<readonly Item[]> {
  const { mongo, at, transaction } = call;
  await transaction?.touch(mongo.documents.engine, collection);
  const seen = access.mayRepeat ? new Set<number>() : undefined;
  for await (const found of scanStored(mongo, collection, access, at, enough)) {
    call.time.check();
    const items = seen ? found.filter(({ serial }) => isNew(seen, serial)) : found;
    if (examined) {
      examined.keys += found.length;
      examined.documents += items.length;
    }
    yield transaction ? transaction.visible(collection, items) : items;
  }
  if (transaction) yield transaction.own(collection);
}

async function* scanStored(
  mongo: Mongo,
  collection: StoredCollection,
  access: Access,
  at: Instant,
  enough: number,
): AsyncGenerator<readonly Item[]> {
  const streams = access.requests.map((request) =>
    requested(mongo, collection, request, at, enough),
  );
  try {
    if (access.mergedBy) yield* merged(streams, access.mergedBy);
    else for (const stream of streams) yield* stream;
  } catch (error) {
    if (!(error instanceof PlanOutdated)) throw error;
    throw new MongoError(175, 'QueryPlanKilled', 'an index changed while the query was running');
  }
}

/** Batches grow, so that who needs little does not wait for much. */
async function* requested(
  mongo: Mongo,
  { engine }: StoredCollection,
  request: ScanRequest,
  at: Instant,
  enough: number,
): AsyncGenerator<readonly Item[]> {
  const plan = mongo.documents.engine.plan(engine, request);
  const budget = { rowsMax: Math.min(enough, ROWS_FIRST), bytesMax: BATCH_BYTES_MAX };
  for await (const { items } of plan.run(at, budget)) {
    yield items;
    budget.rowsMax = Math.min(budget.rowsMax * GROWTH, ROWS_PER_BATCH);
  }
}

/** Under the rules of this moment, which may have changed since a scan began. */
export function isStillLive(
  mongo: Mongo,
  collection: StoredCollection,
  item: Item,
  at: Instant,
): boolean {
  return isLive(item.fuses, currentOf(mongo, collection).engine.expiry, at);
}

function together(call: Call, collection: StoredCollection, edits: readonly StatementEdit[]) {
  const shape = () => shapeOf(currentOf(call.mongo, collection));
  const { retried, mongo, at } = call;
  const remembered = edits.map((edit) => edit.remembered);
  const beside = remembered.some((each) => each)
    ? retried?.retry.beside(collection.engine.id, remembered)
    : undefined;
  return editTogether(mongo.documents, shape, edits, at, beside);
}

/** Edits of one place that stand together, but not too many. */
function endOfPlace(edits: readonly EditAt[], from: number): number {
  const place = edits[from]?.partition ?? [];
  let to = from + 1;
  while (to < edits.length && to - from < EDITS_PER_COMMIT) {
    if (!samePartitionKey(edits[to]?.partition ?? [], place)) break;
    to += 1;
  }
  return to;
}

function isNew(seen: Set<number>, serial: number): boolean {
  if (seen.has(serial)) return false;
  seen.add(serial);
  return true;
}
