// What an engine sees of a BSON document: its shape, with the text of each value (bson-key.ts) in
// place of the value, so that the index over paths and the one order of texts serve BSON too. Only
// the index lives by it; answers are made from the bytes.
//
//   stored = the document [ a second one: keys of unique indexes by name, an array of texts each ]
//
// The keys of unique indexes depend on definitions that an engine does not know (sparse, partial,
// arrays), so whoever writes a document leaves them behind it. In the image they are at `u`.

import {
  decodeArray,
  decodeString,
  decodeValue,
  eachField,
  findField,
  readInt32,
  typeBefore,
} from './bson/read.js';
import { BsonType } from './bson/types.js';
import type { Bytes, Value } from './bson/value.js';
import { encodeDocument } from './bson/write.js';
import { keyText } from './bson-key.js';

export type UniqueKeys = ReadonlyMap<string, readonly string[]>;

/** JSON ends in a bracket, BSON in a zero. */
export function isBson(bytes: Bytes): boolean {
  return bytes[bytes.length - 1] === 0;
}

export function storedBson(document: Bytes, unique: UniqueKeys): Bytes {
  if (unique.size === 0) return document;
  return Buffer.concat([document, encodeDocument(unique as ReadonlyMap<string, Value>)]);
}

/** Under this name no unique index has keys: it says that the document was replaced as a whole. */
export const REPLACED = 'r';

export function isReplacement(stored: Bytes): boolean {
  const length = readInt32(stored, 0);
  return length < stored.length && findField(stored, length, REPLACED_NAME) >= 0;
}

const REPLACED_NAME = Buffer.from(REPLACED);

/** The document alone. */
export function bsonOf(stored: Bytes): Bytes {
  const length = readInt32(stored, 0);
  return length === stored.length ? stored : stored.subarray(0, length);
}

/**
 * `id` is the text of `_id`, under the name by which engines find items; the fields of the document
 * are below `d`, where none of them can be taken for something else, and only looked at on demand.
 * What an index over a path cannot tell is that an array there has no elements: `e` has the dotted
 * paths of these.
 */
export function imageOf(stored: Bytes): unknown {
  let fields: unknown;
  const empty: Record<string, true> = {};
  const fieldsOf = () => {
    fields ??= objectImage(stored, 0, '', empty);
    return fields;
  };
  return {
    id: idTextOf(stored),
    get d() {
      return fieldsOf();
    },
    get u() {
      return uniqueImage(stored);
    },
    get e() {
      fieldsOf();
      return empty;
    },
  };
}

const ID = Buffer.from('_id');

function idTextOf(stored: Bytes): string {
  const at = findField(stored, 0, ID);
  return at < 0 ? '' : keyText(decodeValue(stored, typeBefore(stored, at, ID), at));
}

function uniqueImage(stored: Bytes): Readonly<Record<string, unknown>> {
  const length = readInt32(stored, 0);
  const unique: Record<string, unknown> = {};
  if (length === stored.length) return unique;
  eachField(stored, length, (name, _type, at) => {
    unique[name] = decodeArray(stored, at);
  });
  return unique;
}

function objectImage(
  bytes: Bytes,
  document: number,
  start: string,
  empty: Record<string, true>,
): Record<string, unknown> {
  const image: Record<string, unknown> = {};
  eachField(bytes, document, (name, type, at) => {
    if (Object.hasOwn(image, name)) return;
    const isDeep = type === BsonType.object || type === BsonType.array;
    const path = isDeep ? start + name : '';
    const value = isDeep ? deepImage(bytes, type, at, path, empty) : scalarImage(bytes, type, at);
    if (name !== '__proto__') image[name] = value;
    else Object.defineProperty(image, name, { value, enumerable: true });
  });
  return image;
}

function deepImage(
  bytes: Bytes,
  type: number,
  at: number,
  path: string,
  empty: Record<string, true>,
): unknown {
  if (type === BsonType.object) return objectImage(bytes, at, `${path}.`, empty);
  const elements: unknown[] = [];
  eachField(bytes, at, (_name, inner, from) => {
    const isDeep = inner === BsonType.object || inner === BsonType.array;
    elements.push(
      isDeep ? deepImage(bytes, inner, from, path, empty) : scalarImage(bytes, inner, from),
    );
  });
  if (elements.length === 0 && path !== '__proto__') empty[path] = true;
  return elements;
}

function scalarImage(bytes: Bytes, type: number, at: number): string {
  if (type === BsonType.string) return keyText(decodeString(bytes, at));
  return keyText(decodeValue(bytes, type, at));
}
