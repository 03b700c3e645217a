// Helpers of stages: rows one by one, in batches again, gathered, with pauses.

import type { Row } from '../row.js';
import { ROWS_PER_BATCH } from './limits.js';
import type { Rows, Run, Stage } from './stage.js';

/** A stage that makes some rows, or none, of each. */
export function eachRow(make: (row: Row, emit: (row: Row) => void) => void): Stage {
  return async function* (input, { pace }) {
    for await (const batch of input) {
      let made: Row[] = [];
      const emit = (row: Row) => made.push(row);
      for (const row of batch) {
        make(row, emit);
        if (made.length >= ROWS_PER_BATCH) {
          yield made;
          made = [];
        }
        if (pace.isDue) await pace.rest();
      }
      if (made.length > 0) yield made;
    }
  };
}

/** A stage that changes each row, or takes it out. */
export function mapRows(change: (row: Row) => Row | undefined): Stage {
  return async function* (input, { pace }) {
    for await (const batch of input) {
      const made: Row[] = [];
      for (const row of batch) {
        const changed = change(row);
        if (changed) made.push(changed);
        if (pace.isDue) await pace.rest();
      }
      if (made.length > 0) yield made;
    }
  };
}

/** All rows, held in memory. */
export async function gather(input: Rows, run: Run, stage: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of input) {
    for (const row of batch) {
      run.memory.hold(row.size + ROW_BYTES, stage);
      rows.push(row);
    }
    if (run.pace.isOver) await run.pace.rest();
  }
  return rows;
}

/** What a row takes beside its document. */
const ROW_BYTES = 64;

export function* batched(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += ROWS_PER_BATCH) {
    yield rows.slice(from, from + ROWS_PER_BATCH);
  }
}

export async function* rowsOf(rows: readonly Row[]): Rows {
  yield* batched(rows);
}

/** Sorted runs of this length are merged, so that no turn is long. */
const RUN_LENGTH = 512;

/** Stable, like `Array.sort`, but with pauses. */
export async function sortWithPauses<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  { pace }: Run,
): Promise<T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += RUN_LENGTH) {
    runs.push(items.slice(from, from + RUN_LENGTH).sort(compare));
    await pace.rest();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left, right] = [runs[at] as T[], runs[at + 1]];
      merged.push(right ? await mergeRuns(left, right, compare, pace) : left);
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergeRuns<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
  pace: Run['pace'],
): Promise<T[]> {
  const merged: T[] = [];
  let [l, r] = [0, 0];
  while (l < left.length && r < right.length) {
    const takeLeft = compare(left[l] as T, right[r] as T) <= 0;
    merged.push(takeLeft ? (left[l++] as T) : (right[r++] as T));
    if (pace.isDue) await pace.rest();
  }
  for (; l < left.length; l++) merged.push(left[l] as T);
  for (; r < right.length; r++) merged.push(right[r] as T);
  return merged;
}
