// Bulk under a budget: as many operations as there are request units for, and 429 for each of the
// others, with the time to wait.
import type { StoredContainer } from '../catalog/resources.js';
import { type StepResult, type StepResults, stepCharge } from '../documents/batch.js';
import type { Priority } from '../throughput/bucket.js';
import type { Budgets } from '../throughput/budgets.js';
import { Throttled } from '../throughput/throttled.js';
import type { BatchOperation } from './batch-body.js';
import { rangeOf } from './find.js';

/** About what a write costs: how many are tried at once follows from what is left. */
const TYPICAL_CHARGE = 10;

/**
 * Runs piece by piece, so that the debt stays that of one operation. Where there is nothing for the
 * first piece the request is refused as a whole.
 */
export async function runWithin(
  budgets: Budgets,
  container: StoredContainer,
  operations: readonly BatchOperation[],
  priority: Priority,
  run: (piece: readonly BatchOperation[], before: readonly StepResult[]) => Promise<StepResults>,
): Promise<StepResults> {
  const results: StepResult[] = [];
  let lsn = 0;
  while (results.length < operations.length) {
    const left = operations.slice(results.length);
    const piece = left.slice(0, roomIn(budgets, container, left));
    const ranges = rangesOf(container, piece);
    let release: () => void;
    try {
      release = budgets.enter(container, ranges, priority);
    } catch (error) {
      if (!(error instanceof Throttled) || results.length === 0) throw error;
      return { results: [...results, ...left.map(() => refusal(error))], lsn };
    }
    const ran = await run(piece, results).finally(release);
    const charge = ran.results.reduce((sum, result) => sum + stepCharge(container, result), 0);
    budgets.spend(container, charge, ranges);
    results.push(...ran.results);
    ({ lsn } = ran);
  }
  return { results, lsn };
}

function roomIn(
  budgets: Budgets,
  container: StoredContainer,
  operations: readonly BatchOperation[],
): number {
  const room = budgets.room(container, rangesOf(container, operations));
  return Math.max(1, Math.floor(Math.min(room, Number.MAX_SAFE_INTEGER) / TYPICAL_CHARGE));
}

function rangesOf(
  container: StoredContainer,
  operations: readonly BatchOperation[],
): readonly number[] {
  return [...new Set(operations.map(({ partition }) => rangeOf(container, partition)))];
}

function refusal(error: Throttled): StepResult {
  return { kind: 'refused', error };
}
