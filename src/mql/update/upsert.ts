// The document that an upsert starts from: the fields that the filter wants to be equal to a value.
import { type Document, isDocument, type Value } from '../../value/bson/value.js';
import { MongoError } from '../../value/mongo-errors.js';
import type { Node } from '../filter/tree.js';
import { updatePath } from './paths.js';
import { modify } from './walk.js';

export function documentOfFilter(filter: Node): Document {
  const document: Document = new Map();
  const seen: string[] = [];
  for (const [path, value] of equalities(filter)) {
    const again = seen.find(
      (other) => other === path || other.startsWith(`${path}.`) || path.startsWith(`${other}.`),
    );
    if (again !== undefined) {
      const text = `cannot infer query fields to set, path '${path}' is matched twice`;
      throw new MongoError(54, 'NotSingleValueField', text);
    }
    seen.push(path);
    const surroundings = { matched: undefined, passes: () => false };
    modify(document, updatePath(path), { creates: true, apply: () => copyOf(value) }, surroundings);
  }
  return document;
}

/** The value that the filter wants `_id` to be, if it does: also the key of a point read. */
export function idOfFilter(filter: Node): Value | undefined {
  for (const [path, value] of equalities(filter)) if (path === '_id') return value;
  return undefined;
}

/** What has to hold whatever else does: conditions that are joined by "and". */
function* equalities(node: Node): Generator<readonly [string, Value]> {
  if (node.kind === 'field' && node.operator === '$eq') yield [node.path.text, node.operand];
  const isAnd = node.kind === 'and' || (node.kind === 'or' && node.of.length === 1);
  if (isAnd) for (const inner of node.of) yield* equalities(inner);
}

/** Updates change documents and arrays in place, and a filter may serve more than once. */
export function copyOf(value: Value): Value {
  if (isDocument(value)) return new Map([...value].map(([name, member]) => [name, copyOf(member)]));
  return Array.isArray(value) ? value.map(copyOf) : value;
}
