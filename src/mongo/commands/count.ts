// count and distinct.
import type { StoredCollection } from '../../catalog/collections.js';
import { EVERYTHING, type ScanRequest } from '../../engine/engine.js';
import type { Language } from '../../mql/language.js';
import { keyOfValue } from '../../value/bson/compare.js';
import { type Bytes, documentOf, int32, type Value } from '../../value/bson/value.js';
import { bsonOf } from '../../value/bson-image.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Access } from '../access.js';
import type { Call, Reply } from '../call.js';
import { checkFields, collectionOf, countOf, integerOf, missingField, textOf } from '../fields.js';
import { type Question, questionOf } from '../question.js';
import { accessOf, matching } from '../rows.js';
import { visitValues } from '../shape.js';
import { DOCUMENT_BYTES_MAX } from '../wire/message.js';

export async function count(call: Call): Promise<Reply> {
  checkFields(call, ['query', 'limit', 'skip', 'hint', 'collation', 'fields']);
  const question = questionOf(call, collectionOf(call), 'query');
  const skip = countOf(call, 'skip') ?? 0;
  const limit = Math.abs(integerOf(call, 'limit') ?? 0);
  const all = await countMatching(call, question);
  const rest = Math.max(all - skip, 0);
  return documentOf({ n: int32(limit === 0 ? rest : Math.min(rest, limit)) });
}

export async function countMatching(call: Call, question: Question): Promise<number> {
  const { collection } = question;
  if (!collection) return 0;
  const access = await accessOf(call, question);
  const counted = await countUnread(call, question, access);
  if (counted !== undefined) return counted;
  let found = 0;
  for await (const items of matching(call, collection, question, access)) found += items.length;
  return found;
}

/** Without reading documents, where the index tells exactly. */
export async function countUnread(
  call: Call,
  { collection, filter, hint }: Question,
  access: Access,
): Promise<number | undefined> {
  if (!collection) return 0;
  if (call.transaction) return undefined;
  const { tree } = filter;
  const isAll = tree.kind === 'and' && tree.of.length === 0 && hint === undefined;
  if (isAll) return countFound(call, collection, [EVERYTHING]);
  return access.isCount ? countFound(call, collection, access.requests) : undefined;
}

/** By the index, unless documents may have several fuses, of which each would be counted. */
async function countFound(
  { mongo, at }: Call,
  { engine }: StoredCollection,
  requests: readonly ScanRequest[],
): Promise<number | undefined> {
  if (engine.expiry.some(({ name }) => name.startsWith('date-'))) return undefined;
  let items = 0;
  for (const request of requests) {
    const counted = await mongo.documents.engine.plan(engine, request).count(at);
    if (!counted) return undefined;
    items += counted.items;
  }
  return items;
}

export async function distinct(call: Call): Promise<Reply> {
  checkFields(call, ['key', 'query', 'collation', 'hint']);
  const key = textOf(call, 'key');
  if (key === undefined) throw missingField('distinct.key');
  const question = questionOf(call, collectionOf(call), 'query');
  return valuesAt(key, documentsOf(call, question), question.language);
}

async function* documentsOf(call: Call, question: Question): AsyncGenerator<readonly Bytes[]> {
  const { collection } = question;
  if (!collection) return;
  const access = await accessOf(call, question);
  for await (const items of matching(call, collection, question, access)) {
    yield items.map(({ doc }) => bsonOf(doc.bytes));
  }
}

/** The reply: each value once. */
export async function valuesAt(
  key: string,
  documents: AsyncIterable<readonly Bytes[]>,
  { collation }: Language,
): Promise<Reply> {
  const values = new Map<string, Value>();
  const visit = visitValues(key);
  let bytes = 0;
  for await (const batch of documents) {
    for (const document of batch) {
      visit(document, (value, size) => {
        const text = keyOfValue(value, collation?.fold);
        if (values.has(text)) return;
        bytes += size + 16;
        if (bytes > DOCUMENT_BYTES_MAX) throw tooBig();
        values.set(text, value);
      });
    }
  }
  return documentOf({ values: [...values.values()] });
}

function tooBig() {
  return mongoFailure('BSONObjectTooLarge', 'distinct too big, 16mb cap');
}
