// Request units: what an operation costs, from the published prices (a 1 KB read is 1, a 1 KB write
// about 5.5).

const KB = 1024;

/** 1 for the first KB, growing to 10 at 100 KB as published. */
export function readCharge(bytes: number): number {
  return round(1 + (Math.max(0, bytes / KB - 1) * 9) / 99);
}

/** 5 for the first KB and 50 at 100 KB, and a little for each entry that finds the item again. */
export function writeCharge(bytes: number, replaced: boolean): number {
  const create = 5.5 + (Math.max(0, bytes / KB - 1) * 45) / 99;
  return round(replaced ? create * 1.5 : create);
}

/**
 * A share of a point read for each item, and a base with the first page alone, so that page sizes
 * change no total.
 */
export function pageCharge(items: number, bytes: number, first: boolean): number {
  return Math.max(0.01, round((first ? 2.3 : 0) + items * 0.05 + (bytes / KB) * 0.02));
}

export const LOOKUP_CHARGE = 1;
export const REFUSAL_CHARGE = 1.24;
export const DEFINITION_READ_CHARGE = 2;
export const DEFINITION_WRITE_CHARGE = 4.95;

function round(charge: number): number {
  return Math.round(charge * 100) / 100;
}
