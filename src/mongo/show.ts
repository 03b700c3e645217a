// Values in messages, as the shell writes them.
import { Decimal128 } from '../value/bson/decimal.js';
import {
  Binary,
  DateTime,
  type Document,
  Int32,
  isArray,
  isDocument,
  ObjectId,
  Regex,
  Timestamp,
  type Value,
} from '../value/bson/value.js';

const SHOWN_UNITS_MAX = 400;

export function show(value: Value): string {
  const text = textOf(value);
  return text.length <= SHOWN_UNITS_MAX ? text : `${text.slice(0, SHOWN_UNITS_MAX)}…`;
}

export function showDocument(document: Document): string {
  return show(document);
}

function textOf(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (isArray(value)) return value.length === 0 ? '[]' : `[ ${value.map(textOf).join(', ')} ]`;
  if (isDocument(value)) {
    const fields = [...value].map(([name, inner]) => `${name}: ${textOf(inner)}`);
    return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
  }
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Int32) return String(value.value);
  if (value instanceof ObjectId) return `ObjectId('${value.toString()}')`;
  if (value instanceof DateTime) return `new Date(${value.ms})`;
  if (value instanceof Decimal128) return String(value);
  if (value instanceof Regex) return `/${value.pattern}/${value.options}`;
  if (value instanceof Timestamp) return `Timestamp(${value.seconds}, ${value.increment})`;
  if (value instanceof Binary) {
    const hex = Buffer.from(value.bytes).toString('hex').toUpperCase();
    return `BinData(${value.subtype}, ${hex})`;
  }
  return '?';
}
