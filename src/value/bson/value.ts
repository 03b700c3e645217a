// Decoded BSON values. JavaScript's own types stand for what they hold exactly: number for doubles,
// bigint for Int64, Map for documents (which keeps the order of fields, names like "10" included);
// the rest are small classes. `undefined` is a value that is not there.
import type { Decimal128 } from './decimal.js';
import { BsonType, MISSING } from './types.js';

export type Bytes = Uint8Array;

export type Value =
  | number
  | string
  | boolean
  | bigint
  | null
  | Int32
  | Decimal128
  | Document
  | readonly Value[]
  | Binary
  | ObjectId
  | DateTime
  | Regex
  | Timestamp
  | DbPointer
  | Code
  | CodeWithScope
  | SymbolText
  | Singleton;

export type Document = Map<string, Value>;

export class Int32 {
  readonly type = BsonType.int;
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export class Binary {
  readonly type = BsonType.binData;
  readonly subtype: number;
  readonly bytes: Bytes;
  constructor(subtype: number, bytes: Bytes) {
    this.subtype = subtype;
    this.bytes = bytes;
  }
}

export class ObjectId {
  readonly type = BsonType.objectId;
  readonly bytes: Bytes;
  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }

  static fromHex(hex: string): ObjectId {
    return new ObjectId(Buffer.from(hex, 'hex'));
  }

  toString(): string {
    return hexOf(this.bytes);
  }
}

export class DateTime {
  readonly type = BsonType.date;
  /** Since 1970. Beyond 2^53 it is the nearest double, and `exact` holds the number. */
  readonly ms: number;
  readonly exact: bigint | undefined;
  constructor(ms: number | bigint) {
    this.ms = Number(ms);
    this.exact = Number.isSafeInteger(this.ms) ? undefined : BigInt(ms);
  }
}

export class Regex {
  readonly type = BsonType.regex;
  readonly pattern: string;
  readonly options: string;
  constructor(pattern: string, options: string) {
    this.pattern = pattern;
    this.options = options;
  }
}

export class Timestamp {
  readonly type = BsonType.timestamp;
  readonly seconds: number;
  readonly increment: number;
  constructor(seconds: number, increment: number) {
    this.seconds = seconds;
    this.increment = increment;
  }
}

export class DbPointer {
  readonly type = BsonType.dbPointer;
  readonly namespace: string;
  readonly id: Bytes;
  constructor(namespace: string, id: Bytes) {
    this.namespace = namespace;
    this.id = id;
  }
}

export class Code {
  readonly type = BsonType.javascript;
  readonly code: string;
  constructor(code: string) {
    this.code = code;
  }
}

export class CodeWithScope {
  readonly type = BsonType.javascriptWithScope;
  readonly code: string;
  readonly scope: Document;
  constructor(code: string, scope: Document) {
    this.code = code;
    this.scope = scope;
  }
}

export class SymbolText {
  readonly type = BsonType.symbol;
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Types of a single value. */
export class Singleton {
  readonly type: number;
  constructor(type: number) {
    this.type = type;
  }
}

export const MIN_KEY = new Singleton(BsonType.minKey);
export const MAX_KEY = new Singleton(BsonType.maxKey);
export const UNDEFINED = new Singleton(BsonType.undefined);

export type NumberValue = number | bigint | Int32 | Decimal128;

const SMALL_INTS = Array.from({ length: 1024 }, (_, at) => new Int32(at - 128));

export function int32(value: number): Int32 {
  return SMALL_INTS[value + 128] ?? new Int32(value);
}

export function typeOf(value: Value | undefined): number {
  switch (typeof value) {
    case 'number':
      return BsonType.double;
    case 'string':
      return BsonType.string;
    case 'boolean':
      return BsonType.bool;
    case 'bigint':
      return BsonType.long;
    case 'undefined':
      return MISSING;
    default:
      if (value === null) return BsonType.null;
      if (Array.isArray(value)) return BsonType.array;
      if (value instanceof Map) return BsonType.object;
      return (value as Exclude<typeof value, Document | readonly Value[]>).type;
  }
}

export function isDocument(value: unknown): value is Document {
  return value instanceof Map;
}

export function isArray(value: unknown): value is readonly Value[] {
  return Array.isArray(value);
}

export function isNumber(value: unknown): value is NumberValue {
  if (typeof value === 'number' || typeof value === 'bigint') return true;
  if (typeof value !== 'object' || value === null) return false;
  const { type } = value as { readonly type?: unknown };
  return type === BsonType.int || type === BsonType.decimal;
}

/** Null, undefined and what is not there are one and the same to most of the language. */
export function isNullish(value: Value | undefined): value is null | undefined {
  return value === null || value === undefined || value === UNDEFINED;
}

/** A document from its fields, in their order. */
export function documentOf(fields: Readonly<Record<string, Value>>): Document {
  return new Map(Object.entries(fields));
}

export function hexOf(bytes: Bytes): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
