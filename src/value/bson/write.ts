// Encoding values as BSON, into a buffer that grows.
import { Decimal128 } from './decimal.js';
import { decimalToBits } from './decimal-bits.js';
import { OLD_BINARY } from './read.js';
import {
  Binary,
  type Bytes,
  Code,
  CodeWithScope,
  DateTime,
  DbPointer,
  type Document,
  Int32,
  ObjectId,
  Regex,
  SymbolText,
  Timestamp,
  typeOf,
  type Value,
} from './value.js';

export function encodeDocument(document: ReadonlyMap<string, Value>): Bytes {
  return new Writer().document(document).finish();
}

/** A document of one field with an empty name, as values are kept and compared on their own. */
export function encodeValue(value: Value): Bytes {
  return encodeDocument(new Map([['', value]]));
}

const FIRST_BYTES = 256;
const SHORT_TEXT = 24;

export class Writer {
  #buffer: Buffer;
  #length = 0;

  /** Who knows about how much it will be saves the growing. */
  constructor(firstBytes = FIRST_BYTES) {
    this.#buffer = Buffer.allocUnsafe(firstBytes);
  }

  get length(): number {
    return this.#length;
  }

  finish(): Bytes {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Starts a document; the answer is for `end`. */
  begin(): number {
    const at = this.#length;
    this.#room(4);
    this.#length += 4;
    return at;
  }

  end(begun: number): void {
    this.byte(0);
    this.#buffer.writeInt32LE(this.#length - begun, begun);
  }

  document(document: ReadonlyMap<string, Value>): this {
    const begun = this.begin();
    for (const [name, value] of document) this.field(name, value);
    this.end(begun);
    return this;
  }

  field(name: string, value: Value): void {
    this.byte(typeOf(value));
    this.name(name);
    this.value(value);
  }

  /** A field whose value is BSON already. */
  rawField(name: string, type: number, bytes: Bytes, from: number, to: number): void {
    this.byte(type);
    this.name(name);
    this.raw(bytes, from, to);
  }

  raw(bytes: Bytes, from: number, to: number): void {
    this.#room(to - from);
    this.#buffer.set(bytes.subarray(from, to), this.#length);
    this.#length += to - from;
  }

  byte(value: number): void {
    this.#room(1);
    this.#buffer[this.#length++] = value;
  }

  name(name: string): void {
    this.#text(name);
    this.byte(0);
  }

  int32(value: number): void {
    this.#room(4);
    this.#length = this.#buffer.writeInt32LE(value, this.#length);
  }

  int64(value: bigint): void {
    this.#room(8);
    this.#length = this.#buffer.writeBigInt64LE(value, this.#length);
  }

  value(value: Value): void {
    switch (typeof value) {
      case 'number':
        this.#room(8);
        this.#length = this.#buffer.writeDoubleLE(value, this.#length);
        return;
      case 'string':
        this.#string(value);
        return;
      case 'boolean':
        this.byte(value ? 1 : 0);
        return;
      case 'bigint':
        this.int64(value);
        return;
      default:
        if (value instanceof Int32) this.int32(value.value);
        else if (value instanceof Map) this.document(value);
        else if (Array.isArray(value)) this.#array(value);
        else this.#rare(value as Exclude<Value, Document | readonly Value[]>);
    }
  }

  #array(values: readonly Value[]): void {
    const begun = this.begin();
    for (let index = 0; index < values.length; index++) {
      this.field(String(index), values[index] as Value);
    }
    this.end(begun);
  }

  #rare(value: Value): void {
    if (value instanceof ObjectId) this.raw(value.bytes, 0, 12);
    else if (value instanceof DateTime) this.int64(value.exact ?? BigInt(value.ms));
    else if (value instanceof Binary) this.#binary(value);
    else if (value instanceof Decimal128) {
      for (const half of decimalToBits(value)) this.int64(BigInt.asIntN(64, half));
    } else if (value instanceof Timestamp) {
      this.int32(value.increment | 0);
      this.int32(value.seconds | 0);
    } else if (value instanceof Regex) {
      this.name(value.pattern);
      this.name(value.options);
    } else if (value instanceof Code) this.#string(value.code);
    else if (value instanceof SymbolText) this.#string(value.text);
    else if (value instanceof DbPointer) {
      this.#string(value.namespace);
      this.raw(value.id, 0, 12);
    } else if (value instanceof CodeWithScope) {
      const begun = this.begin();
      this.#string(value.code);
      this.document(value.scope);
      this.#buffer.writeInt32LE(this.#length - begun, begun);
    }
  }

  #binary({ subtype, bytes }: Binary): void {
    const old = subtype === OLD_BINARY;
    this.int32(bytes.length + (old ? 4 : 0));
    this.byte(subtype);
    if (old) this.int32(bytes.length);
    this.raw(bytes, 0, bytes.length);
  }

  #string(text: string): void {
    const begun = this.begin();
    this.#text(text);
    this.byte(0);
    this.#buffer.writeInt32LE(this.#length - begun - 4, begun);
  }

  #text(text: string): void {
    this.#room(text.length * 3);
    const start = this.#length;
    if (text.length <= SHORT_TEXT) {
      let at = 0;
      for (; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (code >= 0x80) break;
        this.#buffer[start + at] = code;
      }
      if (at === text.length) {
        this.#length = start + at;
        return;
      }
    }
    this.#length = start + this.#buffer.write(text, start);
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
