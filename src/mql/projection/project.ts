// Projections applied: to raw bytes where fields are only kept or dropped, to documents otherwise.
import { decodeDocument, eachField, skipValue } from '../../value/bson/read.js';
import { BsonType } from '../../value/bson/types.js';
import {
  type Bytes,
  type Document,
  isArray,
  isDocument,
  type Value,
} from '../../value/bson/value.js';
import { Writer } from '../../value/bson/write.js';
import { compilerFor } from '../expression/compile.js';
import { type Scope, scopeOf } from '../expression/scope.js';
import type { CompiledFilter } from '../filter/filter.js';
import type { Language } from '../language.js';
import { Row } from '../row.js';
import {
  type ProjectionChild,
  type ProjectionNode,
  type ProjectionTree,
  type ProjectionUse,
  parseProjection,
} from './tree.js';

export interface Projection {
  readonly apply: (row: Row) => Row;
}

/** The filter is that of the query, for a positional `$`. */
export function compileProjection(
  spec: Document | Bytes,
  language: Language,
  use: ProjectionUse,
  filter?: CompiledFilter,
): Projection {
  const document = spec instanceof Map ? spec : decodeDocument(spec);
  const tree = parseProjection(document, use, compilerFor(language));
  return projectionOf(tree, filter);
}

export function projectionOf(tree: ProjectionTree, filter?: CompiledFilter): Projection {
  const { root, exclusion, keepsId, positional } = tree;
  if (root.children.size === 0 && exclusion) return { apply: (row) => row };
  if (keepsId) root.children.set('_id', { kind: 'keep' });
  if (isPlain(root)) {
    return {
      apply: (row) => {
        const writer = new Writer();
        copyDocument(row.bytes, 0, root, exclusion, writer);
        return Row.ofBytes(writer.finish(), row.meta);
      },
    };
  }
  const textScore = filter?.textScore;
  return {
    apply: (found) => {
      const row = textScore ? withScore(found, textScore) : found;
      const matched = positional ? filter?.position(row.bytes) : undefined;
      const walk: Walk = { scope: scopeOf(row), exclusion, matched };
      const projected = projectDocument(row.document, root, walk);
      return Row.ofDocument(exclusion ? projected : idFirst(projected), row.meta);
    },
  };
}

/** For `{ $meta: "textScore" }`, where the row does not bring its score along. */
function withScore(row: Row, textScore: (document: Bytes) => number): Row {
  if (row.meta.textScore !== undefined) return row;
  return Row.ofBytes(row.bytes, { ...row.meta, textScore: textScore(row.bytes) });
}

function isPlain(node: ProjectionNode): boolean {
  for (const child of node.children.values()) {
    if (child.kind === 'compute' || child.kind === 'change') return false;
    if (child.kind === 'below' && !isPlain(child.node)) return false;
  }
  return true;
}

function copyDocument(
  bytes: Bytes,
  document: number,
  node: ProjectionNode,
  exclusion: boolean,
  writer: Writer,
): void {
  const begun = writer.begin();
  eachField(bytes, document, (name, type, at, element) => {
    const child = node.children.get(name);
    if (child?.kind === 'below') copyBelow(bytes, name, type, at, child.node, exclusion, writer);
    else if (child ? child.kind === 'keep' : exclusion) {
      writer.raw(bytes, element, skipValue(bytes, type, at));
    }
  });
  writer.end(begun);
}

function copyBelow(
  bytes: Bytes,
  name: string,
  type: number,
  at: number,
  node: ProjectionNode,
  exclusion: boolean,
  writer: Writer,
): void {
  if (type !== BsonType.object && type !== BsonType.array) {
    if (exclusion) writer.rawField(name, type, bytes, at, skipValue(bytes, type, at));
    return;
  }
  writer.byte(type);
  writer.name(name);
  if (type === BsonType.object) {
    copyDocument(bytes, at, node, exclusion, writer);
    return;
  }
  const begun = writer.begin();
  let index = 0;
  eachField(bytes, at, (_, elementType, element) => {
    const place = String(index);
    const isContainer = elementType === BsonType.object || elementType === BsonType.array;
    if (isContainer || exclusion) index++;
    copyBelow(bytes, place, elementType, element, node, exclusion, writer);
  });
  writer.end(begun);
}

interface Walk {
  readonly scope: Scope;
  readonly exclusion: boolean;
  readonly matched: number | undefined;
}

/**
 * Fields that are there keep their places. Computed ones take the place of those that are there if
 * the rest is kept, and come behind all others if it is not.
 */
function projectDocument(document: Document, node: ProjectionNode, walk: Walk): Document {
  const { exclusion } = walk;
  const projected: Document = new Map();
  for (const [name, value] of document) {
    const child = node.children.get(name);
    if (!child) {
      if (exclusion) projected.set(name, value);
      continue;
    }
    if (child.kind === 'compute' && !exclusion) continue;
    const result = projectValue(value, child, walk);
    if (result !== undefined) projected.set(name, result);
  }
  for (const [name, child] of node.children) {
    if (document.has(name) && (child.kind !== 'compute' || exclusion)) continue;
    const result = projectValue(undefined, child, walk);
    if (result !== undefined) projected.set(name, result);
  }
  return projected;
}

function projectValue(
  value: Value | undefined,
  child: ProjectionChild,
  walk: Walk,
): Value | undefined {
  switch (child.kind) {
    case 'keep':
      return value;
    case 'drop':
      return undefined;
    case 'compute':
      return child.value(walk.scope);
    case 'change':
      return value === undefined ? undefined : child.change(value, walk.matched);
    case 'below':
      return projectBelow(value, child.node, walk);
    default:
      return child satisfies never;
  }
}

function projectBelow(
  value: Value | undefined,
  node: ProjectionNode,
  walk: Walk,
): Value | undefined {
  if (isDocument(value)) return projectDocument(value, node, walk);
  if (isArray(value)) {
    return value.flatMap((element) => {
      const result = projectBelow(element, node, walk);
      return result === undefined ? [] : [result];
    });
  }
  if (!hasComputed(node)) return walk.exclusion ? value : undefined;
  // What is in the way of a computed field gives way to it.
  return projectDocument(new Map(), node, walk);
}

function hasComputed(node: ProjectionNode): boolean {
  for (const child of node.children.values()) {
    if (child.kind === 'compute' || (child.kind === 'below' && hasComputed(child.node)))
      return true;
  }
  return false;
}

function idFirst(document: Document): Document {
  const id = document.get('_id');
  if (id === undefined || document.keys().next().value === '_id') return document;
  const ordered: Document = new Map([['_id', id]]);
  for (const [name, value] of document) ordered.set(name, value);
  return ordered;
}
