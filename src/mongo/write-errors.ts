// What goes wrong with single statements of a write command, as its reply tells it.

import { ID_INDEX, uniqueName } from '../catalog/collection-definition.js';
import type { StoredCollection } from '../catalog/collections.js';
import { type EditOutcome, idOf } from '../documents/collection-write.js';
import type { Refusal } from '../engine/engine.js';
import { decodeDocument } from '../value/bson/read.js';
import { showValue } from '../value/bson/show.js';
import {
  type Bytes,
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  type Value,
} from '../value/bson/value.js';
import { MongoError, mongoCodes } from '../value/mongo-errors.js';

import type { Call } from './call.js';

/** A failure with more to tell than a code and a text. */
export class StatementError extends MongoError {
  readonly extra: Readonly<Record<string, Value>>;

  constructor(
    code: number,
    codeName: string,
    text: string,
    extra: Readonly<Record<string, Value>>,
  ) {
    super(code, codeName, text);
    this.extra = extra;
  }
}

/** The error of an outcome, if it is one; what is no failure is thrown on. */
export function errorOf(
  outcome: EditOutcome,
  namespace: string,
  collection: StoredCollection,
  document: Bytes | undefined,
): MongoError | undefined {
  if ('refused' in outcome) return refusal(outcome.refused, namespace, collection, document);
  if (!('error' in outcome)) return undefined;
  if (outcome.error instanceof MongoError) return outcome.error;
  throw outcome.error;
}

export function writeError(index: number, error: MongoError): Document {
  return documentOf({
    index: int32(index),
    code: int32(error.code),
    ...(error instanceof StatementError ? error.extra : {}),
    errmsg: error.message,
  });
}

/** Whether a failure is that of one statement; a conflict of a transaction is that of all of it. */
export function isOfStatement({ transaction }: Call, error: unknown): error is MongoError {
  if (!(error instanceof MongoError)) return false;
  return !transaction || !ENDS_TRANSACTION.includes(error.code);
}

const ENDS_TRANSACTION: readonly number[] = [
  mongoCodes.WriteConflict,
  mongoCodes.OperationNotSupportedInTransaction,
];

function refusal(
  refused: Refusal,
  namespace: string,
  collection: StoredCollection,
  document: Bytes | undefined,
): MongoError {
  if (typeof refused === 'object') {
    const index = collection.definition.indexes.find(
      ({ number, unique }) => unique && uniqueName(number) === refused.uniqueIndex,
    );
    const keys = index?.keys.map(({ path, kind }) => [path, kind] as const) ?? [];
    const name = index?.name ?? refused.uniqueIndex;
    return duplicate(namespace, name, keys, document);
  }
  if (refused === 'conflict') return duplicate(namespace, ID_INDEX, [['_id', 1]], document);
  throw new Error(`a write was refused: ${refused}`);
}

function duplicate(
  namespace: string,
  index: string,
  keys: readonly (readonly [path: string, kind: number | string])[],
  document: Bytes | undefined,
): MongoError {
  const decoded = document && decodeDocument(document);
  const keyPattern: Document = new Map();
  const keyValue: Document = new Map();
  for (const [path, kind] of keys) {
    keyPattern.set(path, typeof kind === 'number' ? int32(kind) : kind);
    keyValue.set(path, (decoded && valueAt(decoded, path)) ?? null);
  }
  if (document && index === ID_INDEX) keyValue.set('_id', idOf(document) ?? null);
  const text = `E11000 duplicate key error collection: ${namespace} index: ${index} dup key: ${showValue(keyValue)}`;
  return new StatementError(mongoCodes.DuplicateKey, 'DuplicateKey', text, {
    keyPattern,
    keyValue,
  });
}

/** The value to show: the first of several. */
function valueAt(document: Document, path: string): Value | undefined {
  let current: Value | undefined = document;
  for (const name of path.split('.')) {
    if (isArray(current)) current = current.find(isDocument);
    current = isDocument(current) ? current.get(name) : undefined;
  }
  return isArray(current) ? current[0] : current;
}
