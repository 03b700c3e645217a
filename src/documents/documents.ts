// What the verbs of this room work with, and how an engine's refusals become errors for people.
import { type StoredContainer, uniqueKeyPaths } from '../catalog/resources.js';
import {
  ContainerGone,
  type Engine,
  type Refusal,
  type WriteBatch,
  type WriteOutcome,
} from '../engine/engine.js';
import type { Entropy } from '../time/entropy.js';
import { type Instant, instant } from '../time/instant.js';
import type { Purger } from '../time/purger.js';
import { failure, type MayflyError } from '../value/errors.js';

export interface Documents {
  readonly engine: Engine;
  readonly entropy: Entropy;
  readonly purger: Purger;
  /** T14: whether COUNT takes in what is expired and not purged yet, as the service's does. */
  readonly countsUnpurged: boolean;
}

export function refusalError(refusal: Refusal, container: StoredContainer): MayflyError {
  if (typeof refusal === 'object') {
    const paths = uniqueKeyPaths(container.definition, refusal.uniqueIndex);
    return failure('uniqueConflict', { paths });
  }
  switch (refusal) {
    case 'conflict':
      return failure('conflict');
    case 'notFound':
      return failure('notFound');
    case 'preconditionFailed':
      return failure('preconditionFailed');
    default:
      throw new Error(`unknown refusal ${refusal satisfies never}`);
  }
}

/** Writes, and tells the purge when the versions that come of it are to be forgotten. */
export async function commitBatches(
  { engine, purger }: Documents,
  container: StoredContainer,
  batches: readonly WriteBatch[],
  at: Instant,
): Promise<readonly WriteOutcome[]> {
  const { id, retentionMs } = container.engine;
  const outcomes = await whileThere(container, engine.commit(container.engine, batches, at));
  if (retentionMs !== undefined) purger.expect(id, instant(at + retentionMs));
  return outcomes;
}

/**
 * A container may be deleted while a request for it is under way: then its owner does not exist.
 */
export async function whileThere<T>(container: StoredContainer, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ContainerGone)) throw error;
    throw failure('ownerNotFound', { owner: container.definition.id });
  }
}
