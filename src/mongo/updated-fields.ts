// What an update has changed, as change streams tell it: fields that have another value by their
// paths, and fields that are gone.
import { equalBson } from '../value/bson/compare.js';
import { type Document, documentOf, isDocument, typeOf, type Value } from '../value/bson/value.js';

export function changesOf(before: Document, after: Document): Document {
  const updatedFields: Document = new Map();
  const removedFields: Value[] = [];
  compare(before, after, '', updatedFields, removedFields);
  return documentOf({ updatedFields, removedFields, truncatedArrays: [] });
}

function compare(
  before: Document,
  after: Document,
  prefix: string,
  updated: Document,
  removed: Value[],
): void {
  for (const [name, value] of after) {
    const old = before.get(name);
    const path = `${prefix}${name}`;
    if (old === undefined) updated.set(path, value);
    else if (isDocument(old) && isDocument(value)) {
      compare(old, value, `${path}.`, updated, removed);
    } else if (typeOf(old) !== typeOf(value) || !equalBson(old, value)) updated.set(path, value);
  }
  for (const name of before.keys()) if (!after.has(name)) removed.push(`${prefix}${name}`);
}
