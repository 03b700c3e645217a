// What a statement of the MongoDB language is read with: the instant of the command, its collation,
// its `let` variables, and what the collection offers.
import type { Instant } from '../time/instant.js';
import type { CompareText } from '../value/bson/compare.js';
import type { Document, Value } from '../value/bson/value.js';

export interface Language {
  /** `$$NOW`, and what `$currentDate` writes. */
  readonly now: Instant;
  readonly collation: Collation | undefined;
  /** The variables of `let`, and user variables of an outer pipeline. */
  readonly variables: ReadonlyMap<string, Value | undefined>;
  /** A number from 0 to 1 for `$rand` and `$sample`: chance comes from outside. */
  readonly random: () => number;
  /** Fields of the text index, with their weights; without one there is no `$text`. */
  readonly text: TextIndex | undefined;
}

export interface Collation {
  readonly compare: CompareText;
  /** Gives equal texts one form. */
  readonly fold: (text: string) => string;
  readonly spec: Document;
}

export interface TextIndex {
  readonly weights: ReadonlyMap<string, number>;
  readonly defaultLanguage: string;
}
