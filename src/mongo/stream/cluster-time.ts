// Instants as the timestamps that MongoDB clients compare: seconds, then within the second the
// millisecond and a number that tells apart what happened in it.
import { Timestamp } from '../../value/bson/value.js';

/** So many numbers for each millisecond: 999 times as many are below 2 to the 32nd. */
const PER_MS = 4_000_000;

export function timestampOf(at: number, number: number): Timestamp {
  const ms = Math.floor(at) % 1000;
  return new Timestamp(Math.floor(at / 1000), ms * PER_MS + 1 + (number % (PER_MS - 1)));
}

/** In milliseconds. A timestamp made by hand, of seconds alone, is the beginning of its second. */
export function instantOf({ seconds, increment }: Timestamp): number {
  return seconds * 1000 + Math.min(999, Math.floor(increment / PER_MS));
}
