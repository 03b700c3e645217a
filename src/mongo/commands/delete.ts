// delete: statements one after the other, each of a filter and how many of what it finds.
import { decodeDocument } from '../../value/bson/read.js';
import type { Document, Value } from '../../value/bson/value.js';
import { type MongoError, mongoFailure } from '../../value/mongo-errors.js';
import type { Call, Reply } from '../call.js';
import {
  asDocument,
  asInteger,
  checkFields,
  collectionOf,
  missingField,
  truthOf,
  unknownField,
} from '../fields.js';
import { mutate } from '../mutate.js';
import { checkCollectionName, findCollection } from '../namespace.js';
import { doneBefore, forStatement } from '../retries.js';
import { isOfStatement } from '../write-errors.js';
import { statementsOf, writeReply } from './insert.js';
import { questionOfStatement } from './update.js';

export async function deleteDocuments(call: Call): Promise<Reply> {
  checkFields(call, ['ordered', 'let']);
  const statements = statementsOf(call, 'deletes').map((bytes) =>
    readStatement(decodeDocument(bytes)),
  );
  const name = collectionOf(call);
  checkCollectionName(call.database, name);
  const ordered = truthOf(call, 'ordered', true);
  const errors: { readonly index: number; readonly error: MongoError }[] = [];
  let n = 0;
  for (const [index, statement] of statements.entries()) {
    try {
      n += await deleteWith(forStatement(call, index), name, statement);
    } catch (error) {
      if (!isOfStatement(call, error)) throw error;
      errors.push({ index, error });
      if (ordered) break;
    }
  }
  return writeReply({ n }, errors);
}

export interface DeleteStatement {
  readonly filter: Document;
  readonly multi: boolean;
  readonly hint: Value | undefined;
  readonly own: Document;
}

export async function deleteWith(
  call: Call,
  name: string,
  statement: DeleteStatement,
): Promise<number> {
  if (doneBefore(call)) return 1;
  const collection = findCollection(call, call.database, name);
  const question = questionOfStatement(call, name, collection, statement);
  const { matched } = await mutate(call, question, {
    change: () => undefined,
    multi: statement.multi,
    sort: undefined,
    bypassValidation: true,
  });
  return matched;
}

function readStatement(given: Document): DeleteStatement {
  for (const name of given.keys()) {
    if (!['q', 'limit', 'collation', 'hint'].includes(name)) {
      throw unknownField(`delete.deletes.${name}`);
    }
  }
  const filter = asDocument(given.get('q'), 'delete.deletes.q');
  const limit = asInteger(given.get('limit'), 'delete.deletes.limit');
  if (!filter) throw missingField('delete.deletes.q');
  if (limit === undefined) throw missingField('delete.deletes.limit');
  if (limit !== 0 && limit !== 1) {
    throw mongoFailure(
      'FailedToParse',
      `The limit field in delete objects must be 0 or 1. Got ${limit}`,
    );
  }
  return { filter, multi: limit === 0, hint: given.get('hint'), own: given };
}
