// A document on its way through a pipeline: bytes, a decoded document, or both. Each form is made
// from the other when it is asked for first.
import { decodeDocument, decodeValue, findField, typeBefore } from '../value/bson/read.js';
import { BsonType } from '../value/bson/types.js';
import { type Bytes, type Document, isArray, isDocument, type Value } from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';
import { type FieldPath, someOfArray } from './filter/path.js';

export class Row {
  #bytes: Bytes | undefined;
  #document: Document | undefined;
  /** What `$meta` tells: the score of a text search, the distance of `$geoNear`. */
  readonly meta: RowMeta;

  private constructor(bytes: Bytes | undefined, document: Document | undefined, meta: RowMeta) {
    this.#bytes = bytes;
    this.#document = document;
    this.meta = meta;
  }

  static ofBytes(bytes: Bytes, meta: RowMeta = NO_META): Row {
    return new Row(bytes, undefined, meta);
  }

  /** The document is the row's from now on: nobody changes it any more. */
  static ofDocument(document: Document, meta: RowMeta = NO_META): Row {
    return new Row(undefined, document, meta);
  }

  get bytes(): Bytes {
    this.#bytes ??= encodeDocument(this.#document as Document);
    return this.#bytes;
  }

  get document(): Document {
    this.#document ??= decodeDocument(this.#bytes as Bytes);
    return this.#document;
  }

  /** An estimate of the memory it takes, without making the other form. */
  get size(): number {
    return this.#bytes?.length ?? sizeOf(this.#document as Document);
  }

  /** The value at a path as expressions see it: an array on the way gives an array of values. */
  at(path: FieldPath, names: readonly string[]): Value | undefined {
    if (this.#document) return valueAt(this.#document, names, 0);
    return rawValueAt(this.#bytes as Bytes, 0, path, 0);
  }
}

export interface RowMeta {
  readonly textScore?: number;
  readonly geoDistance?: number;
  readonly geoPoint?: Value;
  /** What it was sorted by, where that is told. */
  readonly sortKey?: Value;
  /** The number of the document in its collection. */
  readonly recordId?: bigint;
}
const NO_META: RowMeta = {};

export function valueAt(
  document: Document,
  names: readonly string[],
  from: number,
): Value | undefined {
  const value = document.get(names[from] as string);
  if (from === names.length - 1) return value;
  if (isDocument(value)) return valueAt(value, names, from + 1);
  return isArray(value) ? valuesIn(value, names, from + 1) : undefined;
}

function valuesIn(array: readonly Value[], names: readonly string[], from: number): Value[] {
  const found: Value[] = [];
  for (const element of array) {
    const value = isDocument(element) ? valueAt(element, names, from) : undefined;
    if (value !== undefined) found.push(value);
  }
  return found;
}

function rawValueAt(
  bytes: Bytes,
  document: number,
  path: FieldPath,
  from: number,
): Value | undefined {
  const name = path.names[from] as Bytes;
  const at = findField(bytes, document, name);
  if (at < 0) return undefined;
  const type = typeBefore(bytes, at, name);
  if (from === path.names.length - 1) return decodeValue(bytes, type, at);
  if (type === BsonType.object) return rawValueAt(bytes, at, path, from + 1);
  if (type !== BsonType.array) return undefined;
  const found: Value[] = [];
  someOfArray(bytes, at, (_, elementType, element) => {
    const value =
      elementType === BsonType.object ? rawValueAt(bytes, element, path, from + 1) : undefined;
    if (value !== undefined) found.push(value);
    return false;
  });
  return found;
}

const VALUE_BYTES = 16;

/** About what a value takes in memory. */
export function sizeOf(value: Value | undefined): number {
  if (typeof value === 'string') return VALUE_BYTES + value.length * 2;
  if (typeof value !== 'object' || value === null) return VALUE_BYTES;
  let size = VALUE_BYTES;
  if (value instanceof Map) {
    for (const [name, member] of value as Document) size += name.length + sizeOf(member);
  } else if (Array.isArray(value)) {
    for (const element of value) size += sizeOf(element);
  } else if ('bytes' in value) size += (value.bytes as Bytes).length;
  return size;
}
