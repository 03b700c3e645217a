// Physical ranges of a container: how the space of effective partition keys is divided, and how it
// splits as it grows.
import { evenBoundaries, splitSpan } from '../value/partition-hash.js';
import type { PartitionHash } from '../value/partition-key.js';

export interface PartitionRange {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  /** The ranges this one came from; requests for those answer that they are gone. */
  readonly parents: readonly number[];
}

const RANGES_MAX = 100;

export function newRanges(count: number, hash: PartitionHash): readonly PartitionRange[] {
  const boundaries = evenBoundaries(Math.min(count, RANGES_MAX), hash);
  return boundaries.slice(1).map((to, id) => ({
    id,
    from: boundaries[id] as string,
    to,
    parents: [],
  }));
}

/**
 * Splits the ranges in the middle, those of the lowest generation first, until there are enough.
 * Ranges never merge.
 */
export function grownRanges(
  ranges: readonly PartitionRange[],
  count: number,
  hash: PartitionHash,
): readonly PartitionRange[] {
  const grown = [...ranges];
  let nextId = Math.max(...grown.map((range) => range.id)) + 1;
  while (grown.length < Math.min(count, RANGES_MAX)) {
    const index = indexOfOldest(grown);
    const range = grown[index] as PartitionRange;
    const middle = splitSpan(range.from, range.to, hash);
    const parents = [...range.parents, range.id];
    grown.splice(
      index,
      1,
      { id: nextId, from: range.from, to: middle, parents },
      { id: nextId + 1, from: middle, to: range.to, parents },
    );
    nextId += 2;
  }
  return grown;
}

function indexOfOldest(ranges: readonly PartitionRange[]): number {
  let oldest = 0;
  ranges.forEach((range, index) => {
    if (range.parents.length < (ranges[oldest]?.parents.length ?? 0)) oldest = index;
  });
  return oldest;
}
