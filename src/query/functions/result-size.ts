// How large a value one function may make. A query of a few characters can ask for terabytes, and
// what it asks for is refused before any of it is allocated.
import { failure } from '../../value/errors.js';

/** Four times the largest document, in UTF-16 code units. */
export const TEXT_UNITS_MAX = 8 * 1024 * 1024;
export const ELEMENTS_MAX = 1_000_000;

export function checkTextSize(units: number): void {
  if (units <= TEXT_UNITS_MAX) return;
  throw failure('invalidInput', {
    why: `A function would make a string of ${units} characters; at most ${TEXT_UNITS_MAX} can be.`,
  });
}

export function checkArraySize(elements: number): void {
  if (elements <= ELEMENTS_MAX) return;
  throw failure('invalidInput', {
    why: `A function would make an array of ${elements} elements; at most ${ELEMENTS_MAX} can be.`,
  });
}
