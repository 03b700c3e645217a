// Entries for searches: the words of a text, the cell of a point. What does not fit that, such as a
// polygon or a book, has one entry that every search of its path looks at.
//
//   words:  a word, encoded; or true
//   points: 1 and the cell in 4 bytes; or 0
import { type CellRun, cellOf, cellsAround, type Place } from '../../value/cells.js';
import { tokenize } from '../../value/tokenizer.js';
import type { SearchFilter } from '../engine.js';
import { sortableBytes } from '../indexing.js';
import { after } from './keys.js';
import type { KeyRange } from './ranges.js';
import type { Key } from './store.js';

/** A text of more different words is looked at in every search. */
const WORDS_MAX = 2000;
const ANY_WORD = sortableBytes(true);
const ANY_PLACE = Buffer.of(0);

/** What is indexed of a value at the path of a full-text index. */
export function wordEntries(value: unknown): readonly Uint8Array[] {
  if (typeof value !== 'string') return [];
  const words = new Set(tokenize(value));
  if (words.size > WORDS_MAX) return [ANY_WORD];
  return [...words].map((word) => sortableBytes(word));
}

/** What is indexed of a value at the path of a spatial index. */
export function pointEntries(value: unknown): readonly Uint8Array[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type, coordinates } = value as { type?: unknown; coordinates?: unknown };
  if (type !== 'Point') return [ANY_PLACE];
  return isPlace(coordinates) ? [cellBytes(cellOf(coordinates))] : [];
}

/** Where the entries of what a search may find are; nothing is in two of the ranges. */
export function searchRanges(
  filter: SearchFilter,
  at: (bytes: Uint8Array) => Key,
): readonly KeyRange[] {
  const point = (bytes: Uint8Array): KeyRange => [at(bytes), after(at(bytes))];
  if (filter.op === 'word') {
    const ranges = [point(ANY_WORD), point(sortableBytes(filter.word))];
    return ranges.sort(([a], [b]) => Buffer.compare(a, b));
  }
  const runs = cellsAround(filter.centre, filter.radians);
  return [point(ANY_PLACE), ...runs.map((run) => runRange(run, at))];
}

function runRange([first, last]: CellRun, at: (bytes: Uint8Array) => Key): KeyRange {
  return [at(cellBytes(first)), after(at(cellBytes(last)))];
}

function cellBytes(cell: number): Buffer {
  const bytes = Buffer.allocUnsafe(5);
  bytes[0] = 1;
  bytes.writeUInt32BE(cell, 1);
  return bytes;
}

/** Other positions are not valid, and no search finds them. */
function isPlace(coordinates: unknown): coordinates is Place {
  if (!Array.isArray(coordinates) || coordinates.length < 2) return false;
  const [longitude, latitude] = coordinates as readonly unknown[];
  return isBetween(longitude, 180) && isBetween(latitude, 90);
}

function isBetween(value: unknown, most: number): boolean {
  return typeof value === 'number' && Math.abs(value) <= most;
}
