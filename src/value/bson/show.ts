// Values as error texts of the server print them, such as `{ a: 1, b: "x" }`.
import { Decimal128 } from './decimal.js';
import { BsonType } from './types.js';
import {
  Binary,
  Code,
  CodeWithScope,
  DateTime,
  DbPointer,
  type Document,
  hexOf,
  Int32,
  ObjectId,
  Regex,
  SymbolText,
  Timestamp,
  typeOf,
  type Value,
} from './value.js';

/** Longer texts are cut: an error reply is not a way to get documents. */
const TEXT_UNITS_MAX = 1000;
const UUID = 4;
const UUID_BYTES = 16;

export function showValue(value: Value | undefined): string {
  const text = show(value);
  return text.length > TEXT_UNITS_MAX ? `${text.slice(0, TEXT_UNITS_MAX)}...` : text;
}

/** A field with its value, as `a: 1`. */
export function showField(name: string, value: Value | undefined): string {
  return `${name}: ${showValue(value)}`;
}

function show(value: Value | undefined): string {
  switch (typeof value) {
    case 'undefined':
      return 'missing';
    case 'number':
      return Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toFixed(1) : String(value);
    case 'string':
      return JSON.stringify(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      if (value === null) return 'null';
      if (value instanceof Map) return showFields(value as Document);
      if (Array.isArray(value))
        return value.length === 0 ? '[]' : `[ ${value.map(show).join(', ')} ]`;
      return showSpecial(value as Exclude<Value, Document | readonly Value[]>);
  }
}

function showFields(document: Document): string {
  if (document.size === 0) return '{}';
  return `{ ${[...document].map(([name, value]) => `${name}: ${show(value)}`).join(', ')} }`;
}

function showSpecial(value: Value): string {
  if (value instanceof Int32) return String(value.value);
  if (value instanceof Decimal128) return value.toString();
  if (value instanceof ObjectId) return `ObjectId('${value}')`;
  if (value instanceof DateTime) return `new Date(${value.exact ?? value.ms})`;
  if (value instanceof Binary && value.subtype === UUID && value.bytes.length === UUID_BYTES) {
    const groups = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(hexOf(value.bytes)) ?? [];
    return `UUID("${groups.slice(1).join('-')}")`;
  }
  if (value instanceof Binary)
    return `BinData(${value.subtype}, ${hexOf(value.bytes).toUpperCase()})`;
  if (value instanceof Regex) return `/${value.pattern}/${value.options}`;
  if (value instanceof Timestamp) return `Timestamp(${value.seconds}, ${value.increment})`;
  if (value instanceof SymbolText) return JSON.stringify(value.text);
  if (value instanceof Code || value instanceof CodeWithScope) return value.code;
  if (value instanceof DbPointer) return `DBRef('${value.namespace}', ${hexOf(value.id)})`;
  const type = typeOf(value);
  return type === BsonType.minKey ? 'MinKey' : type === BsonType.maxKey ? 'MaxKey' : 'undefined';
}
