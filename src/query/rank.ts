// ORDER BY RANK: rows scored by full text, by vector distance, or by both fused. A score needs to
// know all rows, so they are gathered first, each with little more than counts, and scored at the
// end.

import { failure } from '../value/errors.js';
import { tokenize } from '../value/tokenizer.js';
import type { Compile, Frame } from './compile.js';
import type { Value } from './function.js';
import { bm25, reciprocalRankFusion } from './functions/full-text.js';
import type { Rank, RankComponent } from './logical.js';
import type { RowText } from './page.js';

const ROWS_MAX = 100_000;
/** Worse than a text without any of the words. */
const NO_TEXT = -1;

interface Row {
  readonly text: () => RowText;
  /** Per component: what its score is made from. */
  readonly measures: readonly Measure[];
}
type Measure =
  /** Without words where there is no text. */
  | { readonly words: number | undefined; readonly frequencies: readonly number[] }
  | { readonly distance: number | undefined };

export class Ranking {
  readonly #rank: Rank;
  readonly #measure: readonly ((frame: Frame) => Measure)[];
  readonly #rows: Row[] = [];

  constructor(rank: Rank, compile: Compile) {
    this.#rank = rank;
    this.#measure = rank.components.map((component) => measureOf(component, compile));
  }

  add(frame: Frame, text: () => RowText): void {
    if (this.#rows.length >= ROWS_MAX) {
      const why = `ORDER BY RANK over more than ${ROWS_MAX} rows; narrow them with WHERE.`;
      throw failure('invalidInput', { why });
    }
    this.#rows.push({ text, measures: this.#measure.map((measure) => measure(frame)) });
  }

  /** Best first; rows of equal score keep their order. */
  rows(): readonly Row[] {
    const scores = this.#rank.components.map((_, index) => this.#scores(index));
    const [only, ...more] = scores;
    const total = more.length === 0 && only ? only : this.#fused(scores);
    const order = this.#rows.map((_, index) => index);
    order.sort((a, b) => (total[b] ?? 0) - (total[a] ?? 0) || a - b);
    return order.map((index) => this.#rows[index] as Row);
  }

  #fused(scores: readonly (readonly number[])[]): readonly number[] {
    const ranks = scores.map(ranksOf);
    return this.#rows.map((_, index) =>
      reciprocalRankFusion(
        ranks.map((rank) => rank[index]),
        this.#rank.weights,
      ),
    );
  }

  /** Higher is better, whatever the component measures. */
  #scores(component: number): readonly number[] {
    const measures = this.#rows.map(({ measures }) => measures[component] as Measure);
    const { totalWords, documentsWith } = statistics(measures);
    const kind = this.#rank.components[component];
    return measures.map((measure) => {
      if ('distance' in measure) {
        if (measure.distance === undefined) return Number.NEGATIVE_INFINITY;
        return kind?.kind === 'distance' && kind.nearestIsLeast
          ? -measure.distance
          : measure.distance;
      }
      if (measure.words === undefined) return NO_TEXT;
      const terms = measure.frequencies.map((frequency, index) => ({
        frequency,
        documentsWithTerm: documentsWith[index] ?? 0,
      }));
      return bm25(terms, measure.words, measures.length, totalWords);
    });
  }
}

function measureOf(component: RankComponent, compile: Compile): (frame: Frame) => Measure {
  if (component.kind === 'distance') {
    const distance = compile(component.distance);
    return (frame) => {
      const value = distance(frame);
      return { distance: typeof value === 'number' ? value : undefined };
    };
  }
  const text = compile(component.text);
  const terms = component.terms.map(tokenize);
  return (frame) => {
    const value: Value = text(frame);
    if (typeof value !== 'string') return { words: undefined, frequencies: terms.map(() => 0) };
    const tokens = tokenize(value);
    return { words: tokens.length, frequencies: terms.map((term) => occurrences(tokens, term)) };
  };
}

/** A term of several words counts where they follow each other. */
function occurrences(tokens: readonly string[], term: readonly string[]): number {
  if (term.length === 0) return 0;
  let count = 0;
  for (let start = 0; start + term.length <= tokens.length; start++) {
    if (term.every((word, index) => tokens[start + index] === word)) count += 1;
  }
  return count;
}

function statistics(measures: readonly Measure[]) {
  let totalWords = 0;
  const documentsWith: number[] = [];
  for (const measure of measures) {
    if ('distance' in measure) continue;
    totalWords += measure.words ?? 0;
    measure.frequencies.forEach((frequency, index) => {
      documentsWith[index] = (documentsWith[index] ?? 0) + (frequency > 0 ? 1 : 0);
    });
  }
  return { totalWords, documentsWith };
}

/** 1 for the best; equal scores share a rank and the next one follows, as clients count them. */
function ranksOf(scores: readonly number[]): readonly number[] {
  const sorted = [...new Set(scores)].sort((a, b) => b - a);
  const rank = new Map(sorted.map((score, index) => [score, index + 1]));
  return scores.map((score) => rank.get(score) ?? sorted.length);
}
