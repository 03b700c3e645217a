// Where the partition keys of a query lie, as the ranges that a query plan tells.
//
//   every key        ""        … "FF"           the end excluded
//   beginning of one its EPK   … its EPK + "FF" the end excluded
//   whole key        its EPK   … its EPK        both ends included
//   no key           ""        … ""             both ends included
import { effectivePartitionKey } from '../value/partition-hash.js';
import type { PartitionHash, PartitionKey } from '../value/partition-key.js';

export interface QueryRange {
  readonly min: string;
  readonly max: string;
  readonly isMinInclusive: boolean;
  readonly isMaxInclusive: boolean;
}

/** In order and without overlaps, as clients demand. A key may be the beginning of a longer one. */
export function queryRanges(
  keys: readonly PartitionKey[],
  levels: number,
  hash: PartitionHash,
): readonly QueryRange[] {
  if (keys.length === 0) return [pointAt('')];
  const ranges = keys.map((key) => {
    const min = effectivePartitionKey(key, hash);
    return key.length === levels ? pointAt(min) : spanFrom(min);
  });
  ranges.sort(compareStarts);
  const apart: QueryRange[] = [];
  for (const range of ranges) {
    const last = apart.at(-1);
    if (last === undefined || !covers(last, range)) apart.push(range);
  }
  return apart;
}

/** Whether all rows come from one logical partition. */
export function isOnePoint(ranges: readonly QueryRange[]): boolean {
  const [first] = ranges;
  return ranges.length === 1 && first !== undefined && first.min === first.max;
}

function pointAt(epk: string): QueryRange {
  return { min: epk, max: epk, isMinInclusive: true, isMaxInclusive: true };
}

function spanFrom(min: string): QueryRange {
  return { min, max: `${min}FF`, isMinInclusive: true, isMaxInclusive: false };
}

/** Of two that start together the longer one comes first, so that it covers the other. */
function compareStarts(a: QueryRange, b: QueryRange): number {
  if (a.min !== b.min) return a.min < b.min ? -1 : 1;
  if (a.max === b.max) return 0;
  return a.max > b.max ? -1 : 1;
}

/** Ranges begin and end with the digits of keys, so they lie inside each other or apart. */
function covers(outer: QueryRange, inner: QueryRange): boolean {
  return inner.min < outer.max || inner.min === outer.min;
}
