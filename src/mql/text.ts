// `$text`: words that texts hold, and how much they weigh. English words are cut to their stems, as
// the full-text search of the SQL side does it; of other languages words count as they are written.
import { decodeString, eachField } from '../value/bson/read.js';
import { BsonType } from '../value/bson/types.js';
import { type Bytes, type Document, isArray, isDocument, type Value } from '../value/bson/value.js';
import { mongoFailure } from '../value/mongo-errors.js';
import { tokenize } from '../value/tokenizer.js';
import { type FieldPath, fieldPath, someAtPath } from './filter/path.js';
import type { WholeNode } from './filter/tree.js';
import type { Language, TextIndex } from './language.js';

export type Score = (document: Bytes) => number;

/** The condition `$text` makes; the collection has to have a text index. */
export function textNode(operand: Value, language: Language): WholeNode {
  const search = compileSearch(operand, language);
  return {
    kind: 'whole',
    operator: '$text',
    operand,
    test: (bytes, document) => document === 0 && search.matches(bytes),
  };
}

/** What `{ $meta: "textScore" }` tells of the documents that a filter finds. */
export function scoreOf(filter: Document, language: Language): Score | undefined {
  const operand = textOperand(filter);
  return operand === undefined ? undefined : compileSearch(operand, language).score;
}

/** The search may stand in a conjunction. */
function textOperand(filter: Document): Value | undefined {
  const here = filter.get('$text');
  if (here !== undefined) return here;
  for (const operator of ['$and', '$or']) {
    const clauses = filter.get(operator);
    for (const clause of isArray(clauses) ? clauses : []) {
      const found = isDocument(clause) ? textOperand(clause) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

interface Search {
  readonly matches: (document: Bytes) => boolean;
  readonly score: Score;
}

interface Words {
  /** The words of a text as they are compared. */
  readonly of: (text: string) => readonly string[];
  /** A text as phrases are looked for in it. */
  readonly plain: (text: string) => string;
}

const OPTIONS = new Set(['$search', '$language', '$caseSensitive', '$diacriticSensitive']);

function compileSearch(operand: Value, language: Language): Search {
  if (!isDocument(operand)) throw mongoFailure('BadValue', '$text expects an object');
  const text = operand.get('$search');
  if (typeof text !== 'string') {
    throw mongoFailure('TypeMismatch', '"$search" had the wrong type. Expected string');
  }
  const unknown = [...operand.keys()].find((name) => !OPTIONS.has(name));
  if (unknown !== undefined) throw mongoFailure('BadValue', `extra fields in $text: ${unknown}`);
  const index = language.text;
  if (!index) throw mongoFailure('IndexNotFound', 'text index required for $text query');
  const words = wordsOf(operand, index);
  const { terms, negated, phrases, negatedPhrases } = parseSearch(text, words);
  const fields = [...index.weights].map(([path, weight]) => ({ ...textsAt(path), weight }));
  const every = (document: Bytes) => fields.flatMap(({ read }) => read(document));
  return {
    matches: (document) => {
      const texts = every(document);
      const found = new Set(texts.flatMap(words.of));
      const holds = (phrase: string) => texts.some((each) => words.plain(each).includes(phrase));
      return (
        [...terms].some((term) => found.has(term)) &&
        phrases.every(holds) &&
        ![...negated].some((term) => found.has(term)) &&
        !negatedPhrases.some(holds)
      );
    },
    score: (document) =>
      fields.reduce((sum, { read, weight }) => {
        const texts = read(document);
        return (
          sum + texts.reduce((all, each) => all + weight * scoreText(words.of(each), terms), 0)
        );
      }, 0),
  };
}

/** Each time a word comes again it counts half of the time before. */
function scoreText(found: readonly string[], terms: ReadonlySet<string>): number {
  const seen = new Map<string, { count: number; frequency: number }>();
  for (const word of found) {
    if (!terms.has(word)) continue;
    const entry = seen.get(word) ?? { count: 0, frequency: 0 };
    entry.frequency += 1 / 2 ** entry.count;
    entry.count++;
    seen.set(word, entry);
  }
  let score = 0;
  for (const { count, frequency } of seen.values()) {
    const alone = found.length === 1 ? 1.1 : 1;
    score += frequency * ((0.5 * count) / found.length + 0.5) * alone;
  }
  return score;
}

function wordsOf(operand: Document, index: TextIndex): Words {
  const given = operand.get('$language') ?? index.defaultLanguage;
  const keepsCase = operand.get('$caseSensitive') === true;
  const keepsMarks = operand.get('$diacriticSensitive') === true;
  const unmarked = (text: string) =>
    keepsMarks ? text : text.normalize('NFD').replaceAll(/\p{M}/gu, '');
  const plain = (text: string) => (keepsCase ? unmarked(text) : unmarked(text).toLowerCase());
  const isEnglish = (given === 'english' || given === 'en') && !keepsCase;
  const split = (text: string) => plain(text).match(/[\p{L}\p{N}_]+/gu) ?? [];
  return { of: isEnglish ? (text) => tokenize(unmarked(text)) : split, plain };
}

function parseSearch(text: string, words: Words) {
  const terms = new Set<string>();
  const negated = new Set<string>();
  const phrases: string[] = [];
  const negatedPhrases: string[] = [];
  for (const [, minus, phrase, word] of text.matchAll(/(-?)(?:"([^"]*)"|([^\s"]+))/g)) {
    if (phrase !== undefined) {
      (minus ? negatedPhrases : phrases).push(words.plain(phrase));
      if (!minus) for (const term of words.of(phrase)) terms.add(term);
    } else for (const term of words.of(word ?? '')) (minus ? negated : terms).add(term);
  }
  return { terms, negated, phrases, negatedPhrases };
}

/** The texts at a path, or all of a document for the wildcard. */
function textsAt(path: string): { readonly read: (document: Bytes) => readonly string[] } {
  if (path === '$**') return { read: (document) => allTexts(document, 0) };
  const steps: FieldPath = fieldPath(path);
  return {
    read: (document) => {
      const texts: string[] = [];
      someAtPath(document, 0, steps, true, (bytes, type, at) => {
        if (type === BsonType.string) texts.push(decodeString(bytes, at));
        return false;
      });
      return texts;
    },
  };
}

function allTexts(bytes: Bytes, document: number): string[] {
  const texts: string[] = [];
  eachField(bytes, document, (_, type, at) => {
    if (type === BsonType.string) texts.push(decodeString(bytes, at));
    else if (type === BsonType.object || type === BsonType.array) {
      for (const text of allTexts(bytes, at)) texts.push(text);
    }
  });
  return texts;
}
