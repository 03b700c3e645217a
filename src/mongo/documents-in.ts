// Documents as they may be stored: `_id` first and of a type that can be one, nothing where the
// system has its own.
import { idOf } from '../documents/collection-write.js';
import { validationDetails } from '../mql/validation/details.js';
import type { Entropy } from '../time/entropy.js';
import type { Instant } from '../time/instant.js';
import { findField, readInt32, skipValue, someElement, typeBefore } from '../value/bson/read.js';
import { BsonType, typeName } from '../value/bson/types.js';
import { type Bytes, documentOf, isDocument, ObjectId, type Value } from '../value/bson/value.js';
import { Writer } from '../value/bson/write.js';
import { mongoCodes, mongoFailure } from '../value/mongo-errors.js';
import type { Call, Mongo } from './call.js';
import { PLAIN_LANGUAGE, type Shape } from './shape.js';
import { timestampOf } from './stream/cluster-time.js';
import { DOCUMENT_BYTES_MAX } from './wire/message.js';
import { StatementError } from './write-errors.js';

const ID = Buffer.from('_id');
const WRITTEN = Buffer.from('_ts');

/** A new document: with an `_id`, which comes first, and timestamps that were left empty. */
export function prepared(document: Bytes, { mongo, at }: Pick<Call, 'mongo' | 'at'>): Bytes {
  return stamped(withId(document, mongo.entropy, at), mongo, at);
}

/** A zero at the top of a document stands for the time when it is stored. */
function stamped(document: Bytes, { counters }: Mongo, at: Instant): Bytes {
  let stampedBytes: Buffer | undefined;
  someElement(document, 0, (type, from, index) => {
    if (type !== BsonType.timestamp || index === 0) return false;
    if (readInt32(document, from) !== 0 || readInt32(document, from + 4) !== 0) return false;
    stampedBytes ??= Buffer.from(document);
    counters.stamps += 1;
    const { seconds, increment } = timestampOf(at, counters.stamps);
    stampedBytes.writeUInt32LE(increment, from);
    stampedBytes.writeUInt32LE(seconds, from + 4);
    return false;
  });
  return stampedBytes ?? document;
}

function withId(document: Bytes, entropy: Entropy, at: Instant): Bytes {
  checkSize(document);
  const found = findField(document, 0, ID);
  if (found === ID_FIRST_AT) return checked(document);
  const writer = new Writer();
  const begun = writer.begin();
  if (found < 0) {
    writer.field('_id', newObjectId(entropy, at));
    writer.raw(document, 4, document.length - 1);
  } else {
    const type = typeBefore(document, found, ID);
    const end = skipValue(document, type, found);
    const start = found - ID.length - 2;
    writer.raw(document, start, end);
    writer.raw(document, 4, start);
    writer.raw(document, end, document.length - 1);
  }
  writer.end(begun);
  return checked(writer.finish());
}

/** Where the value of `_id` is if it is the first: length, type, name, zero. */
const ID_FIRST_AT = 4 + 1 + 4;

/** What any document has to be, new or changed. */
export function checked(document: Bytes): Bytes {
  checkSize(document);
  const id = findField(document, 0, ID);
  checkIdType(typeBefore(document, id, ID), document);
  // T30: it is not in any answer, so nobody may think it was stored.
  if (findField(document, 0, WRITTEN) >= 0) {
    throw mongoFailure(
      'BadValue',
      "'_ts' is a system property, the time of the last write; it cannot be set",
    );
  }
  return document;
}

export function checkSize(document: Bytes): void {
  if (readInt32(document, 0) <= DOCUMENT_BYTES_MAX) return;
  throw mongoFailure(
    'BSONObjectTooLarge',
    `object to insert too large. size in bytes: ${document.length}, max size: ${DOCUMENT_BYTES_MAX}`,
  );
}

function checkIdType(type: number, document: Bytes): void {
  if (type === BsonType.array || type === BsonType.regex || type === BsonType.undefined) {
    throw mongoFailure('InvalidIdField', `The '_id' value cannot be of type ${typeName(type)}`);
  }
  if (type !== BsonType.object) return;
  const id = idOf(document);
  const dollar = isDocument(id) && [...id.keys()].find((name) => name.startsWith('$'));
  if (!dollar) return;
  throw mongoFailure(
    'DollarPrefixedFieldName',
    `_id fields may not contain '$'-prefixed fields: ${dollar} is not valid for storage.`,
  );
}

/** 4 bytes of seconds, 5 of chance, 3 that count. */
export function newObjectId(entropy: Entropy, at: Instant): ObjectId {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(Math.floor(at / 1000) % 0x1_0000_0000, 0);
  bytes.set(entropy.bytes(8), 4);
  return new ObjectId(bytes);
}

/** `before` is the document as it was: a moderate rule lets those alone that broke it already. */
export function checkValid(
  { validation }: Shape,
  document: Bytes,
  before: Bytes | undefined,
): void {
  if (!validation || validation.warnsOnly || validation.matches(document)) return;
  if (validation.level === 'moderate' && before && !validation.matches(before)) return;
  const failingDocumentId: Value = idOf(document) ?? null;
  const details = validationDetails(validation.validator, document, PLAIN_LANGUAGE);
  throw new StatementError(
    mongoCodes.DocumentValidationFailure,
    'DocumentValidationFailure',
    'Document failed validation',
    { errInfo: documentOf({ failingDocumentId, details }) },
  );
}
