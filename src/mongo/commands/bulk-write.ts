// bulkWrite: writes of several kinds to several collections in one command.
import { decodeDocument, eachField } from '../../value/bson/read.js';
import {
  type Bytes,
  type Document,
  documentOf,
  int32,
  isDocument,
  type Value,
} from '../../value/bson/value.js';
import { MongoError, mongoFailure } from '../../value/mongo-errors.js';
import { authorize } from '../authorize.js';
import type { Call, Reply } from '../call.js';
import {
  asArray,
  asDocument,
  asInteger,
  asTruth,
  checkFields,
  missingField,
  truthOf,
  unknownField,
} from '../fields.js';
import { checkCollectionName, collectionFor } from '../namespace.js';
import { forStatement } from '../retries.js';
import { StatementError } from '../write-errors.js';
import { deleteWith } from './delete.js';
import { insertAll, statementsOf } from './insert.js';
import { updateWith } from './update.js';

interface Operation {
  readonly kind: 'insert' | 'update' | 'delete';
  readonly place: Namespace;
  readonly given: Document;
  /** Of an insert. */
  readonly document: Bytes | undefined;
}
interface Namespace {
  readonly database: string;
  readonly name: string;
}
interface Totals {
  nErrors: number;
  nInserted: number;
  nMatched: number;
  nModified: number;
  nUpserted: number;
  nDeleted: number;
}

const FIELDS: Readonly<Record<Operation['kind'], readonly string[]>> = {
  insert: ['insert', 'document'],
  update: [
    ...['update', 'filter', 'updateMods', 'multi', 'upsert', 'arrayFilters', 'hint', 'collation'],
    ...['constants', 'sort'],
  ],
  delete: ['delete', 'filter', 'multi', 'hint', 'collation'],
};

export async function bulkWrite(call: Call): Promise<Reply> {
  checkFields(call, ['ordered', 'errorsOnly', 'bypassDocumentValidation', 'let', 'cursor']);
  const places = (call.documents('nsInfo') ?? []).map((bytes) => placeOf(call, bytes));
  const operations = statementsOf(call, 'ops').map((bytes) => readOperation(bytes, places));
  const ordered = truthOf(call, 'ordered', true);
  const errorsOnly = truthOf(call, 'errorsOnly');
  const bypass = truthOf(call, 'bypassDocumentValidation');
  const totals: Totals = {
    nErrors: 0,
    nInserted: 0,
    nMatched: 0,
    nModified: 0,
    nUpserted: 0,
    nDeleted: 0,
  };
  const results: Document[] = [];
  for (const [idx, operation] of operations.entries()) {
    try {
      const result = await run(
        { ...forStatement(call, idx), database: operation.place.database },
        operation,
        bypass,
        totals,
      );
      if (!errorsOnly) results.push(documentOf({ ok: 1, idx: int32(idx), ...result }));
    } catch (error) {
      if (!(error instanceof MongoError)) throw error;
      totals.nErrors += 1;
      results.push(failed(idx, error));
      if (ordered) break;
    }
  }
  const cursor = documentOf({ id: 0n, firstBatch: results, ns: 'admin.$cmd.bulkWrite' });
  const counts = Object.entries(totals).map(([name, count]) => [name, int32(count as number)]);
  return new Map<string, Value>([['cursor', cursor], ...(counts as [string, Value][])]);
}

async function run(
  call: Call,
  operation: Operation,
  bypass: boolean,
  totals: Totals,
): Promise<Readonly<Record<string, Value>>> {
  const { name } = operation.place;
  switch (operation.kind) {
    case 'insert': {
      const collection = await collectionFor(call, call.database, name);
      const documents = [operation.document as Bytes];
      const { errors } = await insertAll(call, collection, documents, { ordered: true, bypass });
      if (errors[0]) throw errors[0].error;
      totals.nInserted += 1;
      return { n: int32(1) };
    }
    case 'update': {
      const done = await updateWith(call, name, updateOf(operation), bypass);
      totals.nMatched += done.matched;
      totals.nModified += done.modified;
      const counts = { n: int32(done.matched), nModified: int32(done.modified) };
      if (done.upserted === undefined) return counts;
      totals.nUpserted += 1;
      return { ...counts, n: int32(1), upserted: documentOf({ _id: done.upserted }) };
    }
    case 'delete': {
      const deleted = await deleteWith(call, name, deleteOf(operation));
      totals.nDeleted += deleted;
      return { n: int32(deleted) };
    }
  }
}

function updateOf({ given }: Operation) {
  const update = given.get('updateMods');
  if (update === undefined) throw missingField('bulkWrite.ops.updateMods');
  return {
    filter: filterOf(given),
    update,
    upsert: asTruth(given.get('upsert'), 'bulkWrite.ops.upsert') ?? false,
    multi: asTruth(given.get('multi'), 'bulkWrite.ops.multi') ?? false,
    arrayFilters: asArray(given.get('arrayFilters'), 'bulkWrite.ops.arrayFilters') ?? [],
    sort: asDocument(given.get('sort'), 'bulkWrite.ops.sort'),
    hint: given.get('hint'),
    own: withVariables(given),
  };
}

function deleteOf({ given }: Operation) {
  const multi = asTruth(given.get('multi'), 'bulkWrite.ops.multi') ?? false;
  return { filter: filterOf(given), multi, hint: given.get('hint'), own: given };
}

/** Variables have another name here than in an update. */
function withVariables(given: Document): Document {
  const constants = given.get('constants');
  return constants === undefined ? given : new Map([...given, ['c', constants]]);
}

function filterOf(given: Document): Document {
  const filter = asDocument(given.get('filter'), 'bulkWrite.ops.filter');
  if (filter) return filter;
  throw missingField('bulkWrite.ops.filter');
}

function readOperation(bytes: Bytes, places: readonly Namespace[]): Operation {
  let document: Bytes | undefined;
  eachField(bytes, 0, (name, _type, at) => {
    if (name === 'document') document = bytes.subarray(at, at + Buffer.from(bytes).readInt32LE(at));
  });
  const given = decodeDocument(bytes);
  const [first] = given.keys();
  const kind = (['insert', 'update', 'delete'] as const).find((each) => each === first);
  if (!kind) throw unknownField(`bulkWrite.ops.${first ?? ''}`);
  for (const name of given.keys()) {
    if (!FIELDS[kind].includes(name)) throw unknownField(`bulkWrite.ops.${name}`);
  }
  const place = places[asInteger(given.get(kind), `bulkWrite.ops.${kind}`) ?? -1];
  if (!place) throw mongoFailure('BadValue', 'BulkWrite ops entry has an invalid nsInfo index.');
  if (kind === 'insert' && !document) throw missingField('bulkWrite.ops.document');
  return { kind, place, given, document };
}

function placeOf(call: Call, bytes: Bytes): Namespace {
  const info = decodeDocument(bytes);
  const namespace = isDocument(info) ? info.get('ns') : undefined;
  if (typeof namespace !== 'string') throw missingField('bulkWrite.nsInfo.ns');
  const dot = namespace.indexOf('.');
  const place = { database: namespace.slice(0, dot), name: namespace.slice(dot + 1) };
  checkCollectionName(place.database, place.name);
  authorize(call, 'write', place.database);
  return place;
}

function failed(idx: number, error: MongoError): Document {
  return documentOf({
    ok: 0,
    idx: int32(idx),
    code: int32(error.code),
    codeName: error.codeName,
    errmsg: error.message,
    ...(error instanceof StatementError ? error.extra : {}),
    n: int32(0),
  });
}
