// Several operations in one request: all of them or none in one logical partition (a transactional
// batch), or each for itself (bulk).
import type { StoredContainer } from '../catalog/resources.js';
import type { Change, Decide, Item, ItemKey, Lsn, Refusal } from '../engine/engine.js';
import { itemReadCharge, refusalCharge, writeCharge } from '../throughput/charges.js';
import { dueAt } from '../time/expiry.js';
import { type Instant, secondsOf } from '../time/instant.js';
import { failure, MayflyError } from '../value/errors.js';
import type { PartitionKey } from '../value/partition-key.js';
import { commitBatches, type Documents, refusalError, whileThere } from './documents.js';
import { decidePatch, type ItemPatch } from './patch.js';
import { type Conditions, type ItemWrite, prepareDelete, prepareWrite } from './write.js';

/** What the items that are answered and did not come with the request may have together. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

export type Step =
  | { readonly kind: 'write'; readonly write: ItemWrite }
  | { readonly kind: 'patch'; readonly patch: ItemPatch }
  | {
      readonly kind: 'read' | 'delete';
      readonly key: ItemKey;
      readonly conditions: Conditions;
    }
  | StepRefused;
/** An operation that fails whatever is stored; in a batch those before it may still fail first. */
export interface StepRefused {
  readonly kind: 'refused';
  readonly error: MayflyError;
}

export type StepResult =
  | { readonly kind: 'written'; readonly item: Item; readonly created: boolean }
  /** Without an item the client's copy is current. */
  | { readonly kind: 'read'; readonly item: Item | undefined; readonly etag: string }
  | { readonly kind: 'deleted'; readonly charge: number }
  | StepRefused;

export interface StepResults {
  readonly results: readonly StepResult[];
  readonly lsn: Lsn;
}

/** One commit for all; where one step is refused, the others are failed dependencies. */
export async function runAtomically(
  documents: Documents,
  container: StoredContainer,
  partition: PartitionKey,
  steps: readonly Step[],
  at: Instant,
): Promise<StepResults> {
  const moves = movesOf(documents, container, steps, at);
  const changes = moves.map(changeOf);
  const [outcome] = await commitBatches(documents, container, [{ partition, changes }], at);
  if (!outcome) throw new Error('one batch has one outcome');
  if ('refused' in outcome) {
    const { refused, index, lsn } = outcome;
    const results = moves.map((move, each) =>
      each === index ? refusalResult(move, refused, container) : dependent(),
    );
    return { results, lsn };
  }
  const results = moves.map((move, index) => move.result(outcome.items[index]));
  expectDeaths(documents, container, results);
  return { results, lsn: outcome.lsn };
}

/**
 * Each step is its own commit, in order. They share one wait for the disk, unless the first refusal
 * has to keep those behind it from being carried out; one that was there `before` does so, too.
 */
export async function runSeparately(
  documents: Documents,
  container: StoredContainer,
  steps: readonly Step[],
  continueOnError: boolean,
  at: Instant,
  before: readonly StepResult[] = [],
): Promise<StepResults> {
  const moves = movesOf(documents, container, steps, at);
  const groups = continueOnError ? [moves] : moves.map((move) => [move]);
  const results: StepResult[] = [];
  for (const group of groups) {
    const isOver = !continueOnError && (before.some(isRefused) || results.some(isRefused));
    if (isOver) results.push(dependent());
    else results.push(...(await commitEach(documents, container, group, at)));
  }
  expectDeaths(documents, container, results);
  const { lsn } = await whileThere(container, documents.engine.stats(container.engine));
  return { results, lsn };
}

/** What a step costs; one that was not carried out costs nothing. */
export function stepCharge(container: StoredContainer, result: StepResult): number {
  switch (result.kind) {
    case 'written':
      return writeCharge(container.engine, result.item.doc, !result.created);
    case 'read':
      return itemReadCharge(result.item);
    case 'deleted':
      return result.charge;
    case 'refused':
      return isUntouched(result.error) ? 0 : refusalCharge(result.error);
  }
}

function isUntouched({ kind: { status } }: MayflyError): boolean {
  return status === 424 || status === 429;
}

/** One step made ready: what it decides, and what its answer is when it was not refused. */
interface Move {
  readonly key: ItemKey | undefined;
  readonly decide: Decide;
  /** The refusal in more words than an engine has; tells of the last decision. */
  error(): MayflyError | undefined;
  result(item: Item | undefined): StepResult;
}

/** Throws when an item of this size does not fit into the answer. */
type CheckRoom = (bytes: number) => void;

function movesOf(
  documents: Documents,
  container: StoredContainer,
  steps: readonly Step[],
  at: Instant,
): readonly Move[] {
  const taken = new Array<number>(steps.length).fill(0);
  return steps.map((step, index) => {
    // Steps are decided in their order, and perhaps again.
    const checkRoom = (bytes: number) => {
      taken[index] = bytes;
      const sum = taken.slice(0, index + 1).reduce((total, each) => total + each, 0);
      if (sum > ANSWER_BYTES_MAX) throw failure('responseTooLarge', { limit: ANSWER_BYTES_MAX });
    };
    return moveOf(documents, container, step, at, checkRoom);
  });
}

function moveOf(
  documents: Documents,
  container: StoredContainer,
  step: Step,
  at: Instant,
  checkRoom: CheckRoom,
): Move {
  switch (step.kind) {
    case 'write':
      return writeMove(documents, container, step.write, at);
    case 'patch':
      return patchMove(documents, container, step.patch, at, checkRoom);
    case 'read':
      return readMove(step.key, step.conditions, checkRoom);
    case 'delete':
      return deleteMove(container, step.key, step.conditions);
    case 'refused':
      return refusedMove(step.error);
  }
}

function writeMove(
  documents: Documents,
  container: StoredContainer,
  write: ItemWrite,
  at: Instant,
): Move {
  try {
    const { decide, created } = prepareWrite(documents, container, write, at);
    const result = (item: Item | undefined) => written(item, created());
    return { key: write.key, decide, error: () => undefined, result };
  } catch (error) {
    if (error instanceof MayflyError) return refusedMove(error);
    throw error;
  }
}

function patchMove(
  documents: Documents,
  container: StoredContainer,
  patch: ItemPatch,
  at: Instant,
  checkRoom: CheckRoom,
): Move {
  const writtenSeconds = secondsOf(at);
  const etag = documents.entropy.etag(writtenSeconds);
  const { decide, error } = refusing((current, serial) => {
    const decision = decidePatch(container, patch, current, { serial, etag, writtenSeconds });
    checkRoom('put' in decision ? decision.put.doc.bytes.length : 0);
    return decision;
  });
  return { key: patch.key, decide, error, result: (item) => written(item, false) };
}

function written(item: Item | undefined, created: boolean): StepResult {
  if (!item) throw new Error('a written item is an item');
  return { kind: 'written', item, created };
}

/** Reads inside the commit, so that it sees what the steps before it wrote. */
function readMove(key: ItemKey, { ifNoneMatch }: Conditions, checkRoom: CheckRoom): Move {
  const isCurrent = (item: Item) => item.etag === ifNoneMatch;
  const { decide, error } = refusing((current) => {
    checkRoom(current && !isCurrent(current) ? current.doc.bytes.length : 0);
    return current ? { keep: true } : { refuse: 'notFound' };
  });
  const result = (item: Item | undefined): StepResult => {
    if (!item) throw new Error('an item that was read is an item');
    return { kind: 'read', item: isCurrent(item) ? undefined : item, etag: item.etag };
  };
  return { key, decide, error, result };
}

/**
 * Turns what a decision throws into a refusal, and keeps it: thrown inside the commit it would take
 * the other operations with it.
 */
function refusing(decide: Decide): Pick<Move, 'decide' | 'error'> {
  let thrown: MayflyError | undefined;
  return {
    decide: (current, serial) => {
      thrown = undefined;
      try {
        return decide(current, serial);
      } catch (error) {
        if (!(error instanceof MayflyError)) throw error;
        thrown = error;
        return { refuse: 'conflict' };
      }
    },
    error: () => thrown,
  };
}

function deleteMove(container: StoredContainer, key: ItemKey, conditions: Conditions): Move {
  const { decide, charge } = prepareDelete(container, conditions);
  return {
    key,
    decide,
    error: () => undefined,
    result: () => ({ kind: 'deleted', charge: charge() }),
  };
}

function refusedMove(error: MayflyError): Move {
  return {
    key: undefined,
    decide: () => ({ refuse: 'conflict' }),
    error: () => error,
    result: () => ({ kind: 'refused', error }),
  };
}

async function commitEach(
  documents: Documents,
  container: StoredContainer,
  moves: readonly Move[],
  at: Instant,
): Promise<readonly StepResult[]> {
  const batches = moves.flatMap((move) =>
    move.key ? [{ partition: move.key.partition, changes: [changeOf(move)] }] : [],
  );
  const outcomes = await commitBatches(documents, container, batches, at);
  let next = 0;
  return moves.map((move) => {
    if (!move.key) return move.result(undefined);
    const outcome = outcomes[next++];
    if (!outcome) throw new Error('every batch has an outcome');
    if ('refused' in outcome) return refusalResult(move, outcome.refused, container);
    return move.result(outcome.items[0]);
  });
}

/** A step that names no item is refused before it matters which. */
function changeOf({ key, decide }: Move): Change {
  return { kind: 'update', id: key?.id ?? '', decide };
}

function refusalResult(move: Move, refusal: Refusal, container: StoredContainer): StepResult {
  return { kind: 'refused', error: move.error() ?? refusalError(refusal, container) };
}

function dependent(): StepResult {
  return { kind: 'refused', error: failure('failedDependency') };
}

function isRefused(result: StepResult): boolean {
  return result.kind === 'refused';
}

function expectDeaths(
  { purger }: Documents,
  { engine }: StoredContainer,
  results: readonly StepResult[],
): void {
  for (const result of results) {
    if (result.kind === 'written')
      purger.expect(engine.id, dueAt(result.item.fuses, engine.expiry));
  }
}
