// findAndModify: one document, found, changed or removed, and answered as it was or as it is.

import { Row } from '../../mql/row.js';
import { compileSort } from '../../mql/sort.js';
import {
  type Bytes,
  type Document,
  documentOf,
  int32,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Call, Reply } from '../call.js';
import { arrayOf, checkFields, collectionOf, documentOfField, truthOf } from '../fields.js';
import { mutate } from '../mutate.js';
import { checkCollectionName, findCollection } from '../namespace.js';
import { type Question, shapingOf } from '../question.js';
import { replyWithDocument } from '../reply.js';
import { doneBefore, forStatement } from '../retries.js';
import { questionOfStatement, updateWith } from './update.js';

const FIELDS: readonly string[] = [
  ...['query', 'sort', 'remove', 'update', 'new', 'fields', 'upsert', 'arrayFilters'],
  ...['bypassDocumentValidation', 'collation', 'hint', 'let'],
];

export async function findAndModify(call: Call): Promise<Reply> {
  checkFields(call, FIELDS);
  const name = collectionOf(call);
  checkCollectionName(call.database, name);
  const filter = documentOfField(call, 'query') ?? new Map();
  const update = call.command.get('update');
  const remove = truthOf(call, 'remove');
  const isNew = truthOf(call, 'new');
  if (remove === (update !== undefined)) {
    throw mongoFailure(
      'FailedToParse',
      remove
        ? 'Cannot specify both an update and remove=true'
        : 'Either an update or remove=true must be specified',
    );
  }
  if (remove && (isNew || truthOf(call, 'upsert'))) {
    throw mongoFailure(
      'FailedToParse',
      `Cannot specify both ${isNew ? 'new' : 'upsert'}=true and remove=true${isNew ? "; 'remove' always returns the deleted document" : ''}`,
    );
  }
  const hint = call.command.get('hint');
  const statement = { filter, hint, own: call.command };
  const question = questionOfStatement(
    call,
    name,
    findCollection(call, call.database, name),
    statement,
  );
  const { projection } = shapingOf(call, question, 'fields');
  const shaped = (document: Bytes | undefined) =>
    document && projection ? projection.apply(Row.ofBytes(document)).bytes : document;
  const of = forStatement(call, 0, isNew ? 'after' : 'before');
  const { last, value } = remove
    ? await removeOne(of, question)
    : await updateOne(of, name, statement, update as Value);
  return replyWithDocument({ lastErrorObject: last }, 'value', shaped(value));
}

interface Modified {
  readonly last: Document;
  readonly value: Bytes | undefined;
}

async function removeOne(call: Call, question: Question): Promise<Modified> {
  const done = doneBefore(call);
  if (done) return { last: documentOf({ n: int32(1) }), value: done.image };
  const sort = documentOfField(call, 'sort');
  const { matched, before } = await mutate(call, question, {
    change: () => undefined,
    multi: false,
    sort: sort && sort.size > 0 ? compileSort(sort, question.language) : undefined,
    bypassValidation: true,
  });
  return { last: documentOf({ n: int32(matched) }), value: before };
}

async function updateOne(
  call: Call,
  name: string,
  statement: {
    readonly filter: Document;
    readonly hint: Value | undefined;
    readonly own: Document;
  },
  update: Value,
): Promise<Modified> {
  const sort = documentOfField(call, 'sort');
  const bypass = truthOf(call, 'bypassDocumentValidation');
  const done = await updateWith(
    call,
    name,
    {
      ...statement,
      update,
      upsert: truthOf(call, 'upsert'),
      multi: false,
      arrayFilters: arrayOf(call, 'arrayFilters') ?? [],
      sort: sort && sort.size > 0 ? sort : undefined,
    },
    bypass,
  );
  const isUpsert = done.upserted !== undefined;
  const last = documentOf({
    n: int32(isUpsert ? 1 : done.matched),
    updatedExisting: done.matched > 0,
    ...(done.upserted === undefined ? {} : { upserted: done.upserted }),
  });
  return { last, value: truthOf(call, 'new') ? done.after : done.before };
}
