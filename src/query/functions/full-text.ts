// Full-text search: containment of words and phrases, and BM25 scores. Fuzzy search and languages
// other than English are not supported.

import { tokenize } from '../../value/tokenizer.js';
import { type FunctionTable, fn, MANY, type Value } from '../function.js';

export const fullTextFunctions: FunctionTable = {
  FULLTEXTCONTAINS: fn<[string, string]>(['string', 'string'], ([text, phrase]) =>
    containsPhrase(tokenize(text), phrase),
  ),
  FULLTEXTCONTAINSALL: fn<[string, ...string[]]>(
    ['string'],
    ([text, ...phrases]) => {
      const tokens = tokenize(text);
      return phrases.every((phrase) => containsPhrase(tokens, phrase));
    },
    [2, MANY],
  ),
  FULLTEXTCONTAINSANY: fn<[string, ...string[]]>(
    ['string'],
    ([text, ...phrases]) => {
      const tokens = tokenize(text);
      return phrases.some((phrase) => containsPhrase(tokens, phrase));
    },
    [2, MANY],
  ),
  /** The two below are asked by the queries that the query plan makes of ORDER BY RANK. */
  _FULLTEXTWORDCOUNT: fn<[string]>(['string'], ([text]) => wordCount(text)),
  _FULLTEXTSCORE: fn<[string, readonly Value[], number, number, readonly Value[]]>(
    ['string', 'array', 'number', 'number', 'array'],
    ([text, phrases, totalDocuments, totalWords, hitCounts]) => {
      if (!isStrings(phrases) || !isCounts(hitCounts)) return undefined;
      if (!isCounts([totalDocuments, totalWords])) return undefined;
      if (phrases.length !== hitCounts.length) return undefined;
      const tokens = tokenize(text);
      const terms = phrases.map((phrase, at) => ({
        frequency: countPhrase(tokens, tokenize(phrase)),
        documentsWithTerm: hitCounts[at] ?? 0,
      }));
      return bm25(terms, tokens.length, totalDocuments, totalWords);
    },
  ),
};

/** How many words of a text count: all but the stop words. */
export function wordCount(text: string): number {
  return tokenize(text).length;
}

export interface RankedTerm {
  /** How many times the term is in the document. */
  readonly frequency: number;
  readonly documentsWithTerm: number;
}

/**
 * How well a document of so many words answers a search. The sum over the terms of
 *
 *   ln(1 + (N - n + 0.5) / (n + 0.5)) * f * (k1 + 1) / (f + k1 * (1 - b + b * words / average))
 *
 * with N documents, n of them with the term, and f the frequency of the term in this one.
 */
export function bm25(
  terms: readonly RankedTerm[],
  words: number,
  totalDocuments: number,
  totalWords: number,
): number {
  const relativeLength = totalWords > 0 ? (words * totalDocuments) / totalWords : 1;
  const damping = K1 * (1 - B + B * relativeLength);
  let score = 0;
  for (const { frequency, documentsWithTerm } of terms) {
    if (frequency === 0) continue;
    // The counts are older than the document, and may not even include it.
    const without = Math.max(0, totalDocuments - documentsWithTerm);
    const rarity = Math.log(1 + (without + 0.5) / (documentsWithTerm + 0.5));
    score += (rarity * frequency * (K1 + 1)) / (frequency + damping);
  }
  return score;
}

/**
 * The score of one document in several rankings together. Ranks count from 1; a ranking without the
 * document, whose rank is undefined, adds nothing. A ranking without a weight weighs 1.
 */
export function reciprocalRankFusion(
  ranks: readonly (number | undefined)[],
  weights: readonly number[] = [],
  k = RANK_CONSTANT,
): number {
  return ranks.reduce<number>((score, rank, at) => {
    return rank === undefined ? score : score + (weights[at] ?? 1) / (k + rank);
  }, 0);
}

const K1 = 1.2;
const B = 0.75;
const RANK_CONSTANT = 60;

function containsPhrase(tokens: readonly string[], phrase: string): boolean {
  return countPhrase(tokens, tokenize(phrase)) > 0;
}

/** The places where all tokens of a phrase follow each other. A phrase of stop words has none. */
function countPhrase(tokens: readonly string[], phrase: readonly string[]): number {
  if (phrase.length === 0) return 0;
  let count = 0;
  for (let start = 0; start + phrase.length <= tokens.length; start++) {
    let length = 0;
    while (length < phrase.length && tokens[start + length] === phrase[length]) length++;
    if (length === phrase.length) count++;
  }
  return count;
}

function isStrings(values: readonly Value[]): values is readonly string[] {
  return values.every((value) => typeof value === 'string');
}

function isCounts(values: readonly Value[]): values is readonly number[] {
  return values.every((value) => typeof value === 'number' && value >= 0);
}
