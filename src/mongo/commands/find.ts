// find, getMore, killCursors.
import type { StoredCollection } from '../../catalog/collections.js';
import { idText, ONE_PLACE } from '../../documents/collection-write.js';
import { typeName } from '../../value/bson/types.js';
import {
  DateTime,
  documentOf,
  isDocument,
  isNumber,
  ObjectId,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { bsonOf } from '../../value/bson-image.js';
import { type MongoError, mongoFailure } from '../../value/mongo-errors.js';
import { atRest, type Call, type Reply } from '../call.js';
import type { Opened, Source } from '../cursors.js';
import {
  arrayOf,
  asInteger,
  asNumber,
  checkFields,
  collectionOf,
  countOf,
  integerOf,
  textOf,
  truthOf,
} from '../fields.js';
import { keysOnly, withBounds } from '../key-bounds.js';
import { findCollection } from '../namespace.js';
import { namespaceOf, type Question, questionOf, shapingOf } from '../question.js';
import { cursorReply } from '../reply.js';
import { accessOf, rowsOf, type Shaping, type Window } from '../rows.js';
import { sessionOf } from '../session-id.js';

const FIND_FIELDS: ReadonlySet<string> = new Set([
  ...['filter', 'sort', 'projection', 'hint', 'skip', 'limit', 'batchSize', 'singleBatch'],
  ...['max', 'min', 'returnKey', 'showRecordId', 'tailable', 'awaitData', 'noCursorTimeout'],
  ...['allowPartialResults', 'collation', 'allowDiskUse', 'let', 'oplogReplay'],
]);
/** How long a stream of changes waits for one, if the client does not say. */
const AWAIT_MS = 1000;

export function find(call: Call): Promise<Reply> {
  return findById(call) ?? findMany(call);
}

async function findMany(call: Call): Promise<Reply> {
  checkFields(call, FIND_FIELDS);
  refuseTailing(call);
  const asked = questionOf(call, collectionOf(call), 'filter');
  const limit = countOf(call, 'limit') ?? 0;
  const { question, shaping } = withBounds(call, asked, shapingOf(call, asked, 'projection'));
  const skip = countOf(call, 'skip') ?? 0;
  const rows = await foundRows(call, question, { skip, limit }, shaping);
  const namespace = namespaceOf(call, question.name);
  const batch = await call.mongo.cursors.begin(
    {
      namespace,
      owner: call.client.login?.user ?? '',
      session: sessionOf(call),
      source: rows,
      neverTimesOut: truthOf(call, 'noCursorTimeout'),
      command: 'find',
    },
    call.at,
    countOf(call, 'batchSize'),
    truthOf(call, 'singleBatch'),
  );
  return cursorReply(batch, namespace, 'firstBatch');
}

function foundRows(
  call: Call,
  question: Question,
  window: Window,
  shaping: Shaping,
): Promise<Source> {
  const recordId = truthOf(call, 'showRecordId');
  if (!truthOf(call, 'returnKey')) return rowsOf(call, question, window, { ...shaping, recordId });
  return keysOfRows(call, question, window, { ...shaping, recordId });
}

async function keysOfRows(
  call: Call,
  question: Question,
  window: Window,
  shaping: Shaping,
): Promise<Source> {
  const access = await accessOf(call, question, shaping.sort);
  const keys = keysOnly(question.collection, access.index);
  return rowsOf(call, question, window, { ...shaping, keys }, access);
}

/** Fields beside which a find by `_id` is a point read. */
const POINT_FIELDS: ReadonlySet<string> = new Set([
  ...['find', 'filter', 'limit', 'singleBatch', 'batchSize', 'lsid', '$db', '$readPreference'],
  ...['$clusterTime', 'readConcern', 'comment', 'maxTimeMS', 'apiVersion', 'noCursorTimeout'],
]);

/** The most usual question of all, without the machinery of the others. */
function findById(call: Call): Promise<Reply> | undefined {
  const { command } = call;
  if (call.transaction) return undefined;
  for (const name of command.keys()) if (!POINT_FIELDS.has(name)) return undefined;
  const id = idAsked(command.get('filter'));
  const batchSize = command.get('batchSize');
  if (id === undefined || (batchSize !== undefined && !(asNumber(batchSize) > 0))) return undefined;
  const name = collectionOf(call);
  const collection = findCollection(call, call.database, name);
  if (!collection || collection.definition.shardKey.length > 0) return undefined;
  if ((integerOf(call, 'limit') ?? 0) < 0) return undefined;
  return readPoint(call, collection, id);
}

async function readPoint(call: Call, collection: StoredCollection, id: Value): Promise<Reply> {
  const key = { partition: ONE_PLACE, id: idText(id) };
  const { items } = await call.mongo.documents.engine.get(collection.engine, [key], call.at);
  const documents = items[0] ? [bsonOf(items[0].doc.bytes)] : [];
  const namespace = namespaceOf(call, collection.definition.id);
  return cursorReply({ id: 0n, documents }, namespace, 'firstBatch');
}

function idAsked(filter: Value | undefined): Value | undefined {
  if (!isDocument(filter) || filter.size !== 1) return undefined;
  const id = filter.get('_id');
  const isPlain =
    typeof id === 'string' ||
    typeof id === 'boolean' ||
    id instanceof ObjectId ||
    id instanceof DateTime ||
    isNumber(id);
  return isPlain ? id : undefined;
}

export async function getMore(call: Call): Promise<Reply> {
  checkFields(call, ['collection', 'batchSize', 'term', 'lastKnownCommittedOpTime']);
  const { mongo, command } = call;
  const id = command.get('getMore');
  if (typeof id !== 'bigint') {
    const type = typeName(typeOf(id));
    throw mongoFailure(
      'TypeMismatch',
      `BSON field 'getMore.getMore' is the wrong type '${type}', expected type 'long'`,
    );
  }
  const collection = textOf(call, 'collection') ?? '';
  const waitMs = asInteger(command.get('maxTimeMS'), 'getMore.maxTimeMS');
  const batch = await mongo.cursors.more(
    id,
    () => mongo.clock.now(),
    countOf(call, 'batchSize'),
    (source) => {
      atRest(call.client);
      return source.wait?.(waitMs ?? AWAIT_MS);
    },
    (opened) => {
      checkCursor(call, opened, collection, id);
      if (waitMs === undefined || opened.source.wait) return;
      throw mongoFailure(
        'BadValue',
        'cannot set maxTimeMS on getMore command for a non-awaitData cursor',
      );
    },
  );
  return cursorReply(batch, batch.namespace, 'nextBatch');
}

export function killCursors(call: Call): Reply {
  checkFields(call, ['cursors']);
  const killed: Value[] = [];
  const unknown: Value[] = [];
  for (const id of arrayOf(call, 'cursors') ?? []) {
    if (typeof id !== 'bigint') {
      throw mongoFailure('TypeMismatch', "Field 'cursors' contains an element that is not a long");
    }
    const opened = call.mongo.cursors.find(id);
    if (opened) checkOwner(call, opened, id);
    (call.mongo.cursors.kill(id) ? killed : unknown).push(id);
  }
  return documentOf({
    cursorsKilled: killed,
    cursorsNotFound: unknown,
    cursorsAlive: [],
    cursorsUnknown: [],
  });
}

function checkCursor(call: Call, opened: Opened, collection: string, id: bigint): void {
  const asked = namespaceOf(call, collection);
  if (opened.namespace !== asked) {
    throw mongoFailure(
      'Unauthorized',
      `Requested getMore on namespace '${asked}', but cursor belongs to a different namespace ${opened.namespace}`,
    );
  }
  checkOwner(call, opened, id);
  if (opened.session !== undefined && opened.session !== sessionOf(call)) {
    throw mongoFailure(
      'Unauthorized',
      `Cannot run getMore on cursor ${id}, which was created in another session`,
    );
  }
}

function checkOwner({ client }: Call, { owner }: Opened, id: bigint): void {
  if (owner === (client.login?.user ?? '')) return;
  throw mongoFailure('Unauthorized', `cursor id ${id} was not created by the authenticated user`);
}

/** There are no capped collections, and of others nobody waits for the end. */
function refuseTailing(call: Call): void {
  if (truthOf(call, 'tailable')) {
    throw mongoFailure(
      'BadValue',
      'error processing query: tailable cursor requested on non capped collection',
    );
  }
  if (truthOf(call, 'awaitData')) {
    throw mongoFailure('FailedToParse', "Cannot set 'awaitData' without also setting 'tailable'");
  }
}

export function notSupported(what: string): MongoError {
  return mongoFailure(
    'CommandNotSupported',
    `'${what}' is not supported by this version of Mayfly`,
  );
}
