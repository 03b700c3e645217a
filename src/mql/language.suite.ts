// For tests: documents written as the official library reads them, and a plain language.
import { type Document as Plain, type SerializeOptions, serialize } from 'bson';
import { instant } from '../time/instant.js';
import { decodeDocument } from '../value/bson/read.js';
import type { Bytes, Document, Value } from '../value/bson/value.js';
import type { Language } from './language.js';

export type { Plain };

/** Integers are Int32, other numbers doubles, as drivers send them. */
export function bytesOf(document: Plain, options: SerializeOptions = {}): Bytes {
  return serialize(document, { ignoreUndefined: false, ...options });
}

export function documentFrom(document: Plain): Document {
  return decodeDocument(bytesOf(document));
}

export function valueFrom(value: unknown): Value | undefined {
  return documentFrom({ value }).get('value');
}

export const PLAIN_LANGUAGE: Language = {
  now: instant(1_700_000_000_000),
  collation: undefined,
  variables: new Map(),
  random: () => 0.5,
  text: undefined,
};
