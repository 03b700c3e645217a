// `$sort`, which keeps no more rows than a limit right behind it lets through.
import { mongoLocation } from '../../value/mongo-errors.js';
import type { Row } from '../row.js';
import { compileSort, type Sort, type SortKeys } from '../sort.js';
import { batched, sortWithPauses } from './flow.js';
import { needDocument } from './simple.js';
import type { Rows, Run, Stage, Stages } from './stage.js';

export const sortStages: Stages = {
  $sort: (operand, { language }) => {
    const spec = needDocument(operand, '$sort');
    if (spec.size === 0) {
      throw mongoLocation(15976, '$sort stage must have at least one sort key');
    }
    return sorting(compileSort(spec, language), undefined);
  },
};

interface Keyed {
  readonly row: Row;
  readonly keys: SortKeys;
}

/** With a limit, only so many of the first rows are kept. */
export function sorting(sort: Sort, limit: number | undefined): Stage {
  return async function* (input, run) {
    const kept = await keepFirst(input, sort, limit, run);
    const compare = (a: Keyed, b: Keyed) => sort.compare(a.keys, b.keys);
    const sorted = await sortWithPauses(kept, compare, run);
    const rows = sorted.slice(0, limit).map(({ row }) => row);
    yield* batched(rows);
  };
}

/** Rows are thrown out when twice as many as wanted have come. */
async function keepFirst(
  input: Rows,
  sort: Sort,
  limit: number | undefined,
  { memory, pace }: Run,
): Promise<readonly Keyed[]> {
  let kept: Keyed[] = [];
  const most = limit === undefined ? Number.POSITIVE_INFINITY : limit * 2 + KEPT_SPARE;
  for await (const batch of input) {
    for (const row of batch) {
      memory.hold(row.size + KEYED_BYTES, 'Sort');
      kept.push({ row, keys: sort.keys(row.bytes, row.meta.textScore) });
      if (pace.isDue) await pace.rest();
    }
    if (kept.length < most) continue;
    kept.sort((a, b) => sort.compare(a.keys, b.keys));
    for (const { row } of kept.slice(limit)) memory.free(row.size + KEYED_BYTES);
    kept = kept.slice(0, limit);
  }
  return kept;
}

const KEPT_SPARE = 256;
const KEYED_BYTES = 128;
