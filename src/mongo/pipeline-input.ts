// The documents that go into a pipeline.
import type { StoredCollection } from '../catalog/collections.js';
import { compileFilter } from '../mql/filter/filter.js';
import type { Instant } from '../time/instant.js';
import type { Bytes, Document } from '../value/bson/value.js';
import { bsonOf } from '../value/bson-image.js';
import type { Call } from './call.js';
import { hintOf, languageOf, type Question } from './question.js';
import { accessOf } from './rows.js';
import { isStillLive, scan } from './storage.js';

/** The documents of a collection that may match, as of an instant that may move on. */
export async function* documentsOf(
  call: Call,
  collection: StoredCollection | undefined,
  name: string,
  filter: Document | undefined,
  now: { readonly at: Instant },
): AsyncGenerator<readonly Bytes[]> {
  if (!collection) return;
  const language = languageOf(call, collection, call.command);
  const question: Question = {
    name,
    collection,
    language,
    filter: compileFilter(filter ?? new Map(), language),
    hint: hintOf(call.command.get('hint'), collection),
  };
  const access = await accessOf(call, question);
  for await (const items of scan(call, collection, access)) {
    yield items
      .filter((item) => isStillLive(call.mongo, collection, item, now.at))
      .map(({ doc }) => bsonOf(doc.bytes));
  }
}
