// Physical ranges of a container: how the space of effective partition keys is divided, and how it
// splits as it grows.
import { failure } from '../value/errors.js';
import { evenBoundaries, hasMiddle, splitSpan } from '../value/partition-hash.js';
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
  let grown = ranges;
  while (grown.length < Math.min(count, RANGES_MAX)) {
    grown = splitAt(grown, indexOfOldest(grown), hash);
  }
  return grown;
}

/** Splits one range in the middle, or each of them. */
export function splitRanges(
  ranges: readonly PartitionRange[],
  id: number | undefined,
  hash: PartitionHash,
): readonly PartitionRange[] {
  const chosen = id === undefined ? ranges : ranges.filter((range) => range.id === id);
  if (chosen.length === 0) {
    const known = ranges.map((range) => range.id).join(', ');
    throw failure('invalidInput', { why: `There is no range ${id}; there are: ${known}.` });
  }
  if (ranges.length + chosen.length > RANGES_MAX) {
    throw failure('invalidInput', { why: `A container has at most ${RANGES_MAX} ranges.` });
  }
  for (const { id: narrow, from, to } of chosen) {
    if (hasMiddle(from, to, hash)) continue;
    throw failure('invalidInput', { why: `The range ${narrow} is too narrow to be split.` });
  }
  return chosen.reduce((split, range) => splitAt(split, split.indexOf(range), hash), ranges);
}

function splitAt(
  ranges: readonly PartitionRange[],
  index: number,
  hash: PartitionHash,
): readonly PartitionRange[] {
  const range = ranges[index] as PartitionRange;
  const id = Math.max(...ranges.map((each) => each.id)) + 1;
  const middle = splitSpan(range.from, range.to, hash);
  const parents = [...range.parents, range.id];
  const low = { id, from: range.from, to: middle, parents };
  const high = { id: id + 1, from: middle, to: range.to, parents };
  return ranges.toSpliced(index, 1, low, high);
}

function indexOfOldest(ranges: readonly PartitionRange[]): number {
  let oldest = 0;
  ranges.forEach((range, index) => {
    if (range.parents.length < (ranges[oldest]?.parents.length ?? 0)) oldest = index;
  });
  return oldest;
}
