// Options of find that speak of an index: bounds of its keys (`min`, `max`), and its keys instead
// of the documents (`returnKey`).
import type { StoredCollection } from '../catalog/collections.js';
import { compileSort } from '../mql/sort.js';
import { compareBson } from '../value/bson/compare.js';
import { type Bytes, type Document, int32, type Value } from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';
import { mongoLocation } from '../value/mongo-errors.js';
import type { Call } from './call.js';
import { documentOfField } from './fields.js';
import type { Question } from './question.js';
import type { Shaping } from './rows.js';
import { visitValues } from './shape.js';

interface Key {
  readonly path: string;
  readonly isDescending: boolean;
}
type Reader = (document: Bytes) => readonly Value[];

/** A compound index has one array at the most; its elements are keys of their own. */
const KEYS_MAX = 100_000;

/** The question with `min` and `max` in it: what lies between them, in the order of the index. */
export function withBounds(
  call: Call,
  question: Question,
  shaping: Shaping,
): { readonly question: Question; readonly shaping: Shaping } {
  const [min, max] = [documentOfField(call, 'min'), documentOfField(call, 'max')];
  if (!min && !max) return { question, shaping };
  const { hint, collection, filter, language } = question;
  if (!collection) return { question, shaping };
  if (!hint || !('index' in hint)) {
    throw mongoLocation(51173, 'When using min()/max() a hint of which index to use must be given');
  }
  const keys = keysOf(collection, hint.index);
  const compare = comparing(keys);
  const [from, to] = [min && boundOf(keys, min), max && boundOf(keys, max)];
  if (from && to && compare(from, to) >= 0) {
    throw mongoLocation(51175, 'max must be greater than min');
  }
  const read = keys.map(({ path }) => valuesOf(path));
  const isBetween = (document: Bytes) =>
    entriesOf(read, document).some(
      (entry) => (!from || compare(entry, from) >= 0) && (!to || compare(entry, to) < 0),
    );
  const matches = (document: Bytes) => filter.matches(document) && isBetween(document);
  const order = new Map(keys.map((key) => [key.path, int32(key.isDescending ? -1 : 1)] as const));
  return {
    question: { ...question, filter: { ...filter, matches } },
    shaping: { ...shaping, sort: shaping.sort ?? compileSort(order, language) },
  };
}

/** What becomes of each document where keys are asked for: those of the index that was used. */
export function keysOnly(
  collection: StoredCollection | undefined,
  index: string | undefined,
): (document: Bytes) => Bytes {
  const keys = collection && index !== undefined ? keysOf(collection, index) : [];
  const read = keys.map(({ path }) => valuesOf(path));
  return (document) =>
    encodeDocument(
      new Map(keys.map(({ path }, place) => [path, read[place]?.(document)[0] ?? null] as const)),
    );
}

/** Each combination of the values at the paths. */
function entriesOf(read: readonly Reader[], document: Bytes): readonly (readonly Value[])[] {
  let entries: readonly (readonly Value[])[] = [[]];
  for (const values of read) {
    entries = entries.flatMap((entry) => values(document).map((value) => [...entry, value]));
    if (entries.length > KEYS_MAX) return entries.slice(0, KEYS_MAX);
  }
  return entries;
}

function valuesOf(path: string): Reader {
  const visit = visitValues(path);
  return (document) => {
    const values: Value[] = [];
    visit(document, (value) => values.push(value));
    return values.length === 0 ? [null] : values;
  };
}

function keysOf({ definition }: StoredCollection, name: string): readonly Key[] {
  const index = definition.indexes.find((each) => each.name === name);
  if (!index) return [{ path: '_id', isDescending: false }];
  return index.keys.map(({ path, kind }) => ({ path, isDescending: kind === -1 }));
}

function boundOf(keys: readonly Key[], bound: Document): readonly Value[] {
  if ([...bound.keys()].join() !== keys.map(({ path }) => path).join()) {
    throw mongoLocation(51174, 'The fields of min and max must be those of the hinted index');
  }
  return [...bound.values()];
}

function comparing(keys: readonly Key[]) {
  return (a: readonly Value[], b: readonly Value[]): number => {
    for (const [place, { isDescending }] of keys.entries()) {
      const order = compareBson(a[place] ?? null, b[place] ?? null);
      if (order !== 0) return isDescending ? -order : order;
    }
    return 0;
  };
}
