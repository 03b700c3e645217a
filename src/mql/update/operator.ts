// What an update operator is: it turns its operand for one path into a modifier.
import type { Document, Value } from '../../value/bson/value.js';
import type { Language } from '../language.js';
import type { Modifier } from './walk.js';

export interface AskedUpdate {
  readonly operator: string;
  readonly path: string;
  readonly operand: Value;
  readonly language: Language;
}
export type UpdateOperator = (asked: AskedUpdate) => Modifier;
export type UpdateOperators = Readonly<Record<string, UpdateOperator>>;

/** How error texts name the document they are about. */
export function idOf(document: Document): Value | undefined {
  return document.get('_id');
}
