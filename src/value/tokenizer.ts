// Text as full-text search sees it: a list of stems without the words that are everywhere.
// Documents and search terms go through it alike. Only English is known, whatever the container's
// policy says.
import { stem } from './stemmer.js';

/** The stems of the words of letters and digits, in lower case and in order. */
export function tokenize(text: string): readonly string[] {
  const tokens: string[] = [];
  for (const [word] of text.normalize('NFC').toLowerCase().matchAll(WORD)) {
    if (!STOP_WORDS.has(word)) tokens.push(stem(word));
  }
  return tokens;
}

/**
 * Marks belong to the letter before them. An apostrophe divides, and leaves an s or a t to drop.
 */
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the and or but if then than so nor not no',
    'of on in into at by for from to with as about',
    'is are was were be been being am do does did has have had will would can could',
    'i me my we us our you your he him his she her it its they them their',
    'this that these those there here what which who whom',
    's t',
  ].flatMap((line) => line.split(' ')),
);
