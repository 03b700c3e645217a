// The documents that go into a pipeline.
import type { StoredCollection } from '../catalog/collections.js';
import type { Item } from '../engine/engine.js';
import { compileFilter } from '../mql/filter/filter.js';
import type { LeadingSort } from '../mql/pipeline/leading.js';
import { compileSort } from '../mql/sort.js';
import type { Instant } from '../time/instant.js';
import type { Bytes, Document } from '../value/bson/value.js';
import { bsonOf } from '../value/bson-image.js';
import type { Call } from './call.js';
import { hintOf, languageOf, type Question } from './question.js';
import { accessOf } from './rows.js';
import { isStillLive, scan } from './storage.js';

/** Where the documents of a pipeline come from. */
export interface Wanted {
  readonly collection: StoredCollection | undefined;
  readonly name: string;
  readonly filter: Document | undefined;
  readonly order?: LeadingSort | undefined;
}
export interface Input {
  readonly documents: AsyncGenerator<readonly Bytes[]>;
  /** Whether they come in the order that was wanted. */
  readonly isOrdered: boolean;
}

/** The documents of a collection that may match, as of an instant that may move on. */
export async function* documentsOf(
  call: Call,
  wanted: Wanted,
  now: { readonly at: Instant },
): AsyncGenerator<readonly Bytes[]> {
  yield* (await openInput(call, wanted, now)).documents;
}

export async function openInput(
  call: Call,
  { collection, name, filter, order }: Wanted,
  now: { readonly at: Instant },
): Promise<Input> {
  if (!collection) return { documents: nothing(), isOrdered: false };
  const question = questionIn(call, collection, name, filter ?? new Map());
  const sort = order && compileSort(order.sort, question.language);
  const access = await accessOf(call, question, sort);
  const isOrdered = order !== undefined && access.isOrdered;
  const enough = isOrdered ? order.limit : undefined;
  return {
    documents: living(call, collection, scan(call, collection, access, enough), now),
    isOrdered,
  };
}

export function questionIn(
  call: Call,
  collection: StoredCollection | undefined,
  name: string,
  filter: Document,
): Question {
  const language = languageOf(call, collection, call.command);
  return {
    name,
    collection,
    language,
    filter: compileFilter(filter, language),
    hint: hintOf(call.command.get('hint'), collection),
  };
}

async function* living(
  call: Call,
  collection: StoredCollection,
  batches: AsyncGenerator<readonly Item[]>,
  now: { readonly at: Instant },
): AsyncGenerator<readonly Bytes[]> {
  for await (const items of batches) {
    yield items
      .filter((item) => isStillLive(call.mongo, collection, item, now.at))
      .map(({ doc }) => bsonOf(doc.bytes));
  }
}

async function* nothing(): AsyncGenerator<readonly Bytes[]> {
  // There is no collection to read.
}
