// insert: new documents, in order or each by itself.

import type { StoredCollection } from '../../catalog/collections.js';
import { type EditAt, idOf, idText } from '../../documents/collection-write.js';
import { type Bytes, type Document, int32 } from '../../value/bson/value.js';
import { type MongoError, mongoFailure } from '../../value/mongo-errors.js';
import type { Call, Reply } from '../call.js';
import { checkValid, prepared } from '../documents-in.js';
import { checkFields, collectionOf, missingField, truthOf } from '../fields.js';
import { collectionFor, currentOf } from '../namespace.js';
import type { Done } from '../session-records.js';
import { shapeOf } from '../shape.js';
import { editAll, editInOrder, type StatementEdit } from '../storage.js';
import { errorOf, isOfStatement, writeError } from '../write-errors.js';
import { WRITE_BATCH_MAX } from './hello.js';

export async function insert(call: Call): Promise<Reply> {
  checkFields(call, ['ordered', 'bypassDocumentValidation']);
  const documents = statementsOf(call, 'documents');
  const name = collectionOf(call);
  const collection = await collectionFor(call, call.database, name);
  const ordered = truthOf(call, 'ordered', true);
  const bypass = truthOf(call, 'bypassDocumentValidation');
  const { inserted, errors } = await insertAll(call, collection, documents, { ordered, bypass });
  return writeReply({ n: inserted }, errors);
}

export interface InsertResult {
  readonly inserted: number;
  readonly errors: readonly { readonly index: number; readonly error: MongoError }[];
}

export async function insertAll(
  call: Call,
  collection: StoredCollection,
  documents: readonly Bytes[],
  { ordered, bypass }: { readonly ordered: boolean; readonly bypass: boolean },
): Promise<InsertResult> {
  const namespace = `${call.database}.${collection.definition.id}`;
  const errors: { readonly index: number; readonly error: MongoError }[] = [];
  const ready: {
    readonly index: number;
    readonly edit: StatementEdit;
    readonly document: Bytes;
  }[] = [];
  let inserted = 0;
  for (const [index, given] of documents.entries()) {
    const retry = call.retried?.retry;
    const statement = retry?.idOf((call.retried?.index ?? 0) + index) ?? index;
    if (retry?.done(statement)) {
      inserted += 1;
      continue;
    }
    try {
      const document = prepared(given, call);
      const edit = insertion(call, collection, document, bypass);
      const remembered = call.retried && { statement, done: INSERTED };
      ready.push({ index, edit: { ...edit, remembered }, document });
    } catch (error) {
      if (!isOfStatement(call, error)) throw error;
      errors.push({ index, error });
      if (ordered) break;
    }
  }
  const edits = ready.map(({ edit }) => edit);
  const apply = ordered ? editInOrder : editAll;
  const outcomes = await apply(call, collection, edits);
  const failed: { readonly index: number; readonly error: MongoError }[] = [];
  for (const [at, outcome] of outcomes.entries()) {
    const { index, document } = ready[at] as (typeof ready)[number];
    const error = errorOf(outcome, namespace, currentOf(call.mongo, collection), document);
    if (error && !isOfStatement(call, error)) throw error;
    if (error) failed.push({ index, error });
    else inserted += 1;
  }
  // In order, what cannot be stored at all only counts if everything before it was stored.
  const all = ordered ? (failed.length > 0 ? failed : errors) : [...errors, ...failed];
  return { inserted, errors: [...all].sort((a, b) => a.index - b.index) };
}

const INSERTED = (): Done => ({ kind: 'inserted' });

/** `_id` must be new: what is expired does not count (T11). */
export function insertion(
  call: Call,
  collection: StoredCollection,
  document: Bytes,
  bypass: boolean,
): EditAt {
  const shape = () => shapeOf(currentOf(call.mongo, collection));
  const partition = shape().partitionOf(document);
  const id = idOf(document);
  if (id === undefined) throw new Error('a prepared document has an _id');
  return {
    partition,
    id: idText(id),
    edit: (current) => {
      if (current) return { refuse: 'conflict' };
      if (!bypass) checkValid(shape(), document, undefined);
      return { put: document };
    },
  };
}

/** The array of statements that every write command has. */
export function statementsOf(call: Call, field: string): readonly Bytes[] {
  const statements = call.documents(field);
  if (!statements) throw missingField(`${call.name}.${field}`);
  if (statements.length > 0 && statements.length <= WRITE_BATCH_MAX) return statements;
  throw mongoFailure(
    'InvalidLength',
    `Write batch sizes must be between 1 and ${WRITE_BATCH_MAX}. Got ${statements.length} operations.`,
  );
}

export function writeReply(
  counts: Readonly<Record<string, number>>,
  errors: InsertResult['errors'],
): Document {
  const reply: Document = new Map();
  for (const [name, count] of Object.entries(counts)) reply.set(name, int32(count));
  if (errors.length > 0) {
    const shown = errors.map(({ index, error }) => writeError(index, error));
    reply.set('writeErrors', shown);
  }
  return reply;
}
