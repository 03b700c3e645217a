// update: statements one after the other, each of a filter and what to do with what it finds.
import type { StoredCollection } from '../../catalog/collections.js';
import { idOf } from '../../documents/collection-write.js';
import { compileFilter } from '../../mql/filter/filter.js';
import { compileSort } from '../../mql/sort.js';
import { compileUpdate } from '../../mql/update/update.js';
import { decodeDocument } from '../../value/bson/read.js';
import {
  type Bytes,
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  type Value,
} from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { type MongoError, mongoFailure } from '../../value/mongo-errors.js';
import type { Call, Reply } from '../call.js';
import { newObjectId, prepared } from '../documents-in.js';
import {
  asArray,
  asDocument,
  asTruth,
  checkFields,
  collectionOf,
  missingField,
  truthOf,
  unknownField,
} from '../fields.js';
import { type Mutated, mutate } from '../mutate.js';
import { checkCollectionName, collectionFor, findCollection } from '../namespace.js';
import { hintOf, languageOf, type Question } from '../question.js';
import { doneBefore, forStatement } from '../retries.js';
import type { Done } from '../session-records.js';
import { editInOrder } from '../storage.js';
import { errorOf, isOfStatement } from '../write-errors.js';
import { insertion, statementsOf, writeReply } from './insert.js';

export async function update(call: Call): Promise<Reply> {
  checkFields(call, ['ordered', 'bypassDocumentValidation', 'let']);
  const statements = statementsOf(call, 'updates').map((bytes) =>
    readStatement(decodeDocument(bytes)),
  );
  const name = collectionOf(call);
  checkCollectionName(call.database, name);
  const ordered = truthOf(call, 'ordered', true);
  const bypassValidation = truthOf(call, 'bypassDocumentValidation');
  const errors: { readonly index: number; readonly error: MongoError }[] = [];
  const upserted: Document[] = [];
  let [n, nModified] = [0, 0];
  for (const [index, statement] of statements.entries()) {
    try {
      const of = forStatement(call, index);
      const done = await updateWith(of, name, statement, bypassValidation);
      n += done.matched;
      nModified += done.modified;
      if (done.upserted === undefined) continue;
      n += 1;
      upserted.push(documentOf({ index: int32(index), _id: done.upserted }));
    } catch (error) {
      if (!isOfStatement(call, error)) throw error;
      errors.push({ index, error });
      if (ordered) break;
    }
  }
  const reply = writeReply({ n, nModified }, errors);
  if (upserted.length > 0) reply.set('upserted', upserted);
  return reply;
}

export interface UpdateStatement {
  readonly filter: Document;
  readonly update: Value;
  readonly upsert: boolean;
  readonly multi: boolean;
  readonly arrayFilters: readonly Value[];
  readonly sort: Document | undefined;
  readonly hint: Value | undefined;
  /** Collation and variables of the statement itself. */
  readonly own: Document;
}

const STATEMENT_FIELDS: readonly string[] = [
  ...[
    'q',
    'u',
    'upsert',
    'multi',
    'collation',
    'arrayFilters',
    'hint',
    'c',
    'sort',
    'upsertSupplied',
  ],
];

function readStatement(given: Document): UpdateStatement {
  for (const name of given.keys()) {
    if (!STATEMENT_FIELDS.includes(name)) throw unknownField(`update.updates.${name}`);
  }
  const filter = asDocument(given.get('q'), 'update.updates.q');
  const change = given.get('u');
  if (!filter) throw missingField('update.updates.q');
  if (change === undefined) throw missingField('update.updates.u');
  if (!isDocument(change) && !isArray(change)) {
    throw mongoFailure('FailedToParse', 'Update argument must be either an object or an array');
  }
  const multi = asTruth(given.get('multi'), 'update.updates.multi') ?? false;
  const sort = asDocument(given.get('sort'), 'update.updates.sort');
  if (multi && sort) throw mongoFailure('FailedToParse', 'Cannot specify sort with multi=true');
  return {
    filter,
    update: change,
    upsert: asTruth(given.get('upsert'), 'update.updates.upsert') ?? false,
    multi,
    arrayFilters: asArray(given.get('arrayFilters'), 'update.updates.arrayFilters') ?? [],
    sort,
    hint: given.get('hint'),
    own: given,
  };
}

export interface Updated extends Mutated {
  /** The `_id` of a document that was inserted because none was found. */
  readonly upserted: Value | undefined;
}

/** How often an upsert begins again when others insert what it would. */
const TRIES_MAX = 20;

export async function updateWith(
  call: Call,
  name: string,
  statement: UpdateStatement,
  bypassValidation: boolean,
): Promise<Updated> {
  const before = doneBefore(call);
  if (before) return answeredAgain(before);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const collection = findCollection(call, call.database, name);
    const question = questionOfStatement(call, name, collection, statement);
    const { filter, language } = question;
    const { update: change, arrayFilters, multi, sort } = statement;
    const compiled = compileUpdate({ update: change, filter, arrayFilters, multi, language });
    const done = await mutate(call, question, {
      change: compiled.apply,
      multi,
      sort: sort && compileSort(sort, language),
      bypassValidation,
      isReplacement: compiled.kind === 'replacement',
    });
    if (done.matched > 0 || !statement.upsert) return { ...done, upserted: undefined };
    const document = prepared(
      compiled.insert(() => newObjectId(call.mongo.entropy, call.at)),
      call,
    );
    const home = collection ?? (await collectionFor(call, call.database, name));
    const inserted = await upsertOne(call, home, document, bypassValidation);
    if (inserted) return { ...done, after: document, upserted: idOf(document) };
  }
  throw mongoFailure('WriteConflict', 'others inserted the same document again and again');
}

/** What is left of it is what was written, which is all that an answer tells. */
function answeredAgain({ kind, upserted, image }: Done): Updated {
  const isUpsert = kind === 'upserted';
  const count = isUpsert ? 0 : 1;
  const images = { before: isUpsert ? undefined : image, after: image };
  return { matched: count, modified: count, ...images, upserted: upserted && idOf(upserted) };
}

/** False where somebody else was faster with this `_id`: then there is something to update. */
async function upsertOne(
  call: Call,
  collection: StoredCollection,
  document: Bytes,
  bypass: boolean,
): Promise<boolean> {
  const { retried } = call;
  const remembered = retried && {
    statement: retried.retry.idOf(retried.index),
    done: (): Done => ({
      kind: 'upserted',
      upserted: encodeDocument(documentOf({ _id: idOf(document) as Value })),
      image: retried.image === 'after' ? document : undefined,
    }),
  };
  const edit = { ...insertion(call, collection, document, bypass), remembered };
  const [outcome] = await editInOrder(call, collection, [edit]);
  if (!outcome) throw new Error('one edit has one outcome');
  if ('refused' in outcome && outcome.refused === 'conflict') return false;
  const namespace = `${call.database}.${collection.definition.id}`;
  const error = errorOf(outcome, namespace, collection, document);
  if (error) throw error;
  return true;
}

export function questionOfStatement(
  call: Call,
  name: string,
  collection: StoredCollection | undefined,
  { filter, own, hint }: Pick<UpdateStatement, 'filter' | 'own' | 'hint'>,
): Question {
  const variables = call.command.get('let');
  const language = languageOf(call, collection, own, own.get('c') ?? variables);
  const compiled = compileFilter(filter, language);
  return { name, collection, language, filter: compiled, hint: hintOf(hint, collection) };
}
