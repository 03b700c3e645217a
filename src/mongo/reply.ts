// Replies that hold stored documents: they go out as they are, without being decoded.
import { BsonType } from '../value/bson/types.js';
import { type Bytes, documentOf, int32, type Value } from '../value/bson/value.js';
import { Writer } from '../value/bson/write.js';
import type { MongoError } from '../value/mongo-errors.js';
import type { Reply } from './call.js';
import type { CursorBatch } from './cursors.js';

/** The names of the first places in an array. */
const PLACES = Array.from({ length: 1000 }, (_, index) => String(index));

export function cursorReply(
  batch: CursorBatch,
  namespace: string,
  which: 'firstBatch' | 'nextBatch',
): Bytes {
  const writer = new Writer(sizeOf(batch.documents) + namespace.length);
  const all = writer.begin();
  writer.byte(BsonType.object);
  writer.name('cursor');
  const cursor = writer.begin();
  rawArray(writer, which, batch.documents);
  if (batch.resumeToken !== undefined) {
    writer.field('postBatchResumeToken', documentOf({ _data: batch.resumeToken }));
  }
  writer.field('id', batch.id);
  writer.field('ns', namespace);
  writer.end(cursor);
  writer.field('ok', 1);
  writer.end(all);
  return writer.finish();
}

/** A reply of some fields and one document in its bytes, or null. */
export function replyWithDocument(
  fields: Readonly<Record<string, Value>>,
  name: string,
  document: Bytes | undefined,
): Bytes {
  const writer = new Writer();
  const all = writer.begin();
  for (const [field, value] of Object.entries(fields)) writer.field(field, value);
  if (document) writer.rawField(name, BsonType.object, document, 0, document.length);
  else writer.field(name, null);
  writer.field('ok', 1);
  writer.end(all);
  return writer.finish();
}

export function errorReply(
  error: MongoError,
  labels: readonly string[],
  extra: Readonly<Record<string, Value>> = {},
): Reply {
  return documentOf({
    ok: 0,
    errmsg: error.message,
    code: int32(error.code),
    codeName: error.codeName,
    ...(labels.length > 0 ? { errorLabels: labels } : {}),
    ...extra,
  });
}

/** What stands around the documents, and around each of them. */
const FRAME_BYTES = 160;
const PLACE_BYTES = 12;

function sizeOf(documents: readonly Bytes[]): number {
  let bytes = FRAME_BYTES;
  for (const { length } of documents) bytes += length + PLACE_BYTES;
  return bytes;
}

function rawArray(writer: Writer, name: string, documents: readonly Bytes[]): void {
  writer.byte(BsonType.array);
  writer.name(name);
  const array = writer.begin();
  for (let index = 0; index < documents.length; index++) {
    const document = documents[index] as Bytes;
    const place = PLACES[index] ?? String(index);
    writer.rawField(place, BsonType.object, document, 0, document.length);
  }
  writer.end(array);
}
