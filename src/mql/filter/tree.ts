// A filter as a tree: what is compiled into closures, weakened for an index, and asked for its
// equalities by an upsert.
import type { Bytes, Document, Value } from '../../value/bson/value.js';
import type { Language } from '../language.js';
import type { FieldPath, Test } from './path.js';

export type Node =
  | { readonly kind: 'and' | 'or' | 'nor'; readonly of: readonly Node[] }
  | { readonly kind: 'not'; readonly of: Node }
  | FieldNode
  | WholeNode;

/** A condition on the values at one path. */
export interface FieldNode {
  readonly kind: 'field';
  readonly path: FieldPath;
  readonly operator: string;
  readonly operand: Value;
  /** Whether an array at the end of the path is tried element by element, and then as a whole. */
  readonly elements: boolean;
  readonly test: Test;
  /** Of `$elemMatch`: what one element has to fulfil. */
  readonly inner?: Node | undefined;
}

/** A condition on the document as a whole. */
export interface WholeNode {
  readonly kind: 'whole';
  readonly operator: string;
  readonly operand: Value;
  readonly test: DocumentTest;
}
export type DocumentTest = (bytes: Bytes, document: number) => boolean;

/** What an operator on a field is told. */
export interface Asked {
  readonly path: string;
  readonly operator: string;
  readonly operand: Value;
  /** The document of operators it stands in, where some look at others. */
  readonly siblings: Document;
  readonly language: Language;
  /** For conditions inside of conditions. */
  readonly parser: Parser;
}
export interface Parser {
  /** A whole filter. */
  filter(filter: Document): Node;
  /** A document of operators on one path. */
  operators(path: string, operators: Document): Node;
}
export type FieldOperator = (asked: Asked) => Node;
export type FieldOperators = Readonly<Record<string, FieldOperator>>;

/** An operator on whole documents. */
export type WholeOperator = (operand: Value, language: Language, parser: Parser) => Node;
export type WholeOperators = Readonly<Record<string, WholeOperator>>;

export function allOf(nodes: readonly Node[]): Node {
  const [only] = nodes;
  return nodes.length === 1 && only ? only : { kind: 'and', of: nodes };
}

export const NOTHING: Node = { kind: 'or', of: [] };
export const EVERYTHING: Node = { kind: 'and', of: [] };

/** Whether a document holds operators and not a value: `$ref`, `$id` and `$db` make a reference. */
export function isOperators(value: Value): value is Document {
  if (!(value instanceof Map)) return false;
  const first = value.keys().next().value;
  return first?.startsWith('$') === true && !REFERENCE.has(first);
}

const REFERENCE = new Set(['$ref', '$id', '$db']);

/** Operators that ask about whole documents make a condition on documents, not on values. */
const ABOUT_DOCUMENTS = new Set([
  ...['$and', '$or', '$nor', '$where', '$expr', '$jsonSchema', '$comment', '$text'],
]);

/** Whether a document holds operators on a value, such as `$gt`. */
export function isValueOperators(value: Value): value is Document {
  if (!isOperators(value)) return false;
  const first = value.keys().next().value;
  return first !== undefined && !ABOUT_DOCUMENTS.has(first);
}
