// Changing and removing the documents that a filter finds. Each is looked at again when its change
// is decided: whoever came first may have made it another document.
import type { StoredCollection } from '../catalog/collections.js';
import type { EditResult } from '../documents/collection-write.js';
import type { Item } from '../engine/engine.js';
import type { Sort } from '../mql/sort.js';
import type { Bytes } from '../value/bson/value.js';
import { bsonOf } from '../value/bson-image.js';
import { mongoFailure } from '../value/mongo-errors.js';
import { samePartitionKey } from '../value/partition-key.js';
import { type Access, pointOf } from './access.js';
import type { Call } from './call.js';
import { checked, checkValid } from './documents-in.js';
import { currentOf } from './namespace.js';
import type { Question } from './question.js';
import type { Remembered } from './retries.js';
import { accessOf, matching } from './rows.js';
import { type Shape, shapeOf } from './shape.js';
import { editAll, type StatementEdit } from './storage.js';
import { errorOf } from './write-errors.js';

export interface Mutation {
  /** The document afterwards, the very same bytes where nothing changes; undefined removes it. */
  readonly change: (document: Bytes) => Bytes | undefined;
  readonly multi: boolean;
  readonly sort: Sort | undefined;
  readonly bypassValidation: boolean;
  /** Whether the change is another document as a whole. */
  readonly isReplacement?: boolean;
}
export interface Mutated {
  readonly matched: number;
  readonly modified: number;
  /** Of a single one: how it was, and how it is. */
  readonly before: Bytes | undefined;
  readonly after: Bytes | undefined;
}

const NOTHING: Mutated = { matched: 0, modified: 0, before: undefined, after: undefined };
const DOCUMENTS_PER_ROUND = 64;
/** How often the first of an order is looked for anew, when others were faster. */
const TRIES_MAX = 100;

export async function mutate(call: Call, question: Question, mutation: Mutation): Promise<Mutated> {
  const { collection } = question;
  if (!collection) return NOTHING;
  call.retried?.retry.note(collection.engine.id);
  const point = pointOf(
    collection,
    question.filter.tree,
    question.language.collation !== undefined,
  );
  if (point) return mutateItems(call, collection, question, mutation, [{ key: point }]);
  const access = await accessOf(call, question, mutation.sort);
  if (mutation.multi) return mutateAll(call, collection, question, mutation, access);
  if (mutation.sort) return mutateFirst(call, collection, question, mutation, access);
  for await (const items of matching(call, collection, question, access, 1)) {
    for (const item of items) {
      const done = await mutateItems(call, collection, question, mutation, [item]);
      if (done.matched > 0) return done;
    }
  }
  return NOTHING;
}

async function mutateAll(
  call: Call,
  collection: StoredCollection,
  question: Question,
  mutation: Mutation,
  access: Access,
): Promise<Mutated> {
  // A change may move a document along the index, where the scan would meet it once more.
  const once = { ...access, mayRepeat: access.mayRepeat || access.index !== undefined };
  let [matched, modified] = [0, 0];
  for await (const items of matching(call, collection, question, once)) {
    for (let from = 0; from < items.length; from += DOCUMENTS_PER_ROUND) {
      const some = items.slice(from, from + DOCUMENTS_PER_ROUND);
      const done = await mutateItems(call, collection, question, mutation, some);
      matched += done.matched;
      modified += done.modified;
    }
  }
  return { ...NOTHING, matched, modified };
}

async function mutateFirst(
  call: Call,
  collection: StoredCollection,
  question: Question,
  mutation: Mutation,
  access: Access,
): Promise<Mutated> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const first = await firstOf(call, collection, question, mutation.sort as Sort, access);
    if (!first) return NOTHING;
    const done = await mutateItems(call, collection, question, mutation, [first]);
    if (done.matched > 0) return done;
  }
  throw mongoFailure('WriteConflict', 'others changed the document again and again; try again');
}

async function firstOf(
  call: Call,
  collection: StoredCollection,
  question: Question,
  sort: Sort,
  access: Access,
): Promise<Item | undefined> {
  const isInOrder = access.isOrdered;
  let first: { readonly item: Item; readonly keys: ReturnType<Sort['keys']> } | undefined;
  const enough = isInOrder ? 1 : undefined;
  for await (const items of matching(call, collection, question, access, enough)) {
    if (isInOrder && items[0]) return items[0];
    for (const item of items) {
      const keys = sort.keys(bsonOf(item.doc.bytes));
      if (!first || sort.compare(keys, first.keys) < 0) first = { item, keys };
    }
  }
  return first?.item;
}

async function mutateItems(
  call: Call,
  collection: StoredCollection,
  { filter }: Question,
  mutation: Mutation,
  items: readonly Pick<Item, 'key'>[],
): Promise<Mutated> {
  const noted: (Pick<Mutated, 'before' | 'after'> | undefined)[] = [];
  const edits = items.map(({ key }, index): StatementEdit => {
    const edit = (current: Bytes | undefined): EditResult => {
      noted[index] = undefined;
      if (!current || !filter.matches(current)) return { keep: true };
      const after = mutation.change(current);
      noted[index] = { before: current, after };
      if (after === undefined) return { remove: true };
      if (after === current) return { keep: true };
      const shape = shapeOf(currentOf(call.mongo, collection));
      const put = checkedChange(shape, current, after, mutation);
      return { put, isReplacement: mutation.isReplacement === true };
    };
    const remembered = mutation.multi ? undefined : rememberedOf(call, () => noted[index]);
    return { ...key, edit, remembered };
  });
  const namespace = `${call.database}.${collection.definition.id}`;
  let [matched, modified] = [0, 0];
  for (const [index, outcome] of (await editAll(call, collection, edits)).entries()) {
    const note = noted[index];
    const current = currentOf(call.mongo, collection);
    const error = errorOf(outcome, namespace, current, note?.after);
    if (error) throw error;
    if (!note) continue;
    matched += 1;
    if (note.after !== note.before) modified += 1;
  }
  const [first] = noted;
  return { matched, modified, before: first?.before, after: first?.after };
}

/** What an attempt after this one needs to know of the change. */
function rememberedOf(
  { retried }: Call,
  noted: () => Pick<Mutated, 'before' | 'after'> | undefined,
): Remembered | undefined {
  if (!retried) return undefined;
  const { retry, index, image } = retried;
  return {
    statement: retry.idOf(index),
    done: () => {
      const note = noted();
      const kind = note?.after === undefined ? 'removed' : 'changed';
      return { kind, image: image && note?.[image] };
    },
  };
}

function checkedChange(
  shape: Shape,
  before: Bytes,
  after: Bytes,
  { bypassValidation }: Mutation,
): Bytes {
  checked(after);
  if (!samePartitionKey(shape.partitionOf(before), shape.partitionOf(after))) {
    const [field] = shape.collection.definition.shardKey;
    throw mongoFailure(
      'ImmutableField',
      `Performing an update on the path '${field}' would modify the immutable field '${field}', the shard key`,
    );
  }
  if (!bypassValidation) checkValid(shape, after, before);
  return after;
}
