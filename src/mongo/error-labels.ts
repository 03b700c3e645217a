// The labels of errors, which tell drivers whether to try again, and how much of it.
import { documentOf, isArray, isDocument, type Value } from '../value/bson/value.js';
import { mongoCodes } from '../value/mongo-errors.js';
import type { Call, Mongo } from './call.js';

/** The client may begin its transaction anew. */
const TRANSIENT: ReadonlySet<number> = new Set([
  ...[mongoCodes.WriteConflict, mongoCodes.NoSuchTransaction, mongoCodes.TransactionAborted],
]);
/** The server goes away or is another's: the same again may succeed. */
const RETRYABLE: ReadonlySet<number> = new Set([
  ...[mongoCodes.HostUnreachable, mongoCodes.HostNotFound, mongoCodes.NetworkTimeout],
  ...[mongoCodes.ShutdownInProgress, mongoCodes.PrimarySteppedDown, mongoCodes.ExceededTimeLimit],
  ...[mongoCodes.SocketException, mongoCodes.NotWritablePrimary, mongoCodes.InterruptedAtShutdown],
  ...[mongoCodes.InterruptedDueToReplStateChange, mongoCodes.NotPrimaryNoSecondaryOk],
  mongoCodes.NotPrimaryOrSecondary,
]);
const STATE_CHANGES: ReadonlySet<number> = new Set([
  ...[mongoCodes.ShutdownInProgress, mongoCodes.PrimarySteppedDown, mongoCodes.NotWritablePrimary],
  ...[mongoCodes.InterruptedAtShutdown, mongoCodes.InterruptedDueToReplStateChange],
  ...[mongoCodes.NotPrimaryNoSecondaryOk, mongoCodes.NotPrimaryOrSecondary],
]);
/** A change stream may be resumed. */
const RESUMABLE: ReadonlySet<number> = new Set([...RETRYABLE, 63, 133, 150, 234, 13388]);

export function labelsOf(code: number, call: Call | undefined): readonly string[] {
  if (!call) return [];
  const isPart = call.command.get('autocommit') === false;
  const isEnd = call.name === 'commitTransaction' || call.name === 'abortTransaction';
  const isRetryable = RETRYABLE.has(code);
  const labels: string[] = [];
  if (isPart && (TRANSIENT.has(code) || (isRetryable && !isEnd))) {
    labels.push('TransientTransactionError');
  }
  if (isRetryable && (isEnd || (!isPart && call.command.has('txnNumber')))) {
    labels.push('RetryableWriteError');
  }
  if (RESUMABLE.has(code) && isOfStream(call)) labels.push('ResumableChangeStreamError');
  return labels;
}

/**
 * Errors that tell clients of a change in the topology come with its version: nothing has changed
 * since they knew it, so they try again at once instead of waiting for news.
 */
export function topologyOf(code: number, mongo: Mongo): Readonly<Record<string, Value>> {
  if (!STATE_CHANGES.has(code)) return {};
  return { topologyVersion: documentOf({ processId: mongo.processId, counter: 0n }) };
}

function isOfStream({ name, command, mongo }: Call): boolean {
  if (name === 'getMore') {
    const id = command.get('getMore');
    return typeof id === 'bigint' && mongo.cursors.find(id)?.source.wait !== undefined;
  }
  const stages = command.get('pipeline');
  const first = isArray(stages) ? stages[0] : undefined;
  return name === 'aggregate' && isDocument(first) && first.has('$changeStream');
}
