// What an update has changed, as change streams tell it: fields that have another value by their
// paths, fields that are gone, and arrays that were cut.
import { equalBson } from '../value/bson/compare.js';
import {
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  typeOf,
  type Value,
} from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';

export function changesOf(before: Document, after: Document): Document {
  const changes = noChanges();
  compareDocuments(before, after, '', changes);
  const { updated, removed, truncated } = changes;
  return documentOf({
    updatedFields: updated,
    removedFields: removed,
    truncatedArrays: truncated,
  });
}

interface Changes {
  readonly updated: Document;
  readonly removed: Value[];
  readonly truncated: Value[];
}

function noChanges(): Changes {
  return { updated: new Map(), removed: [], truncated: [] };
}

function compareDocuments(before: Document, after: Document, prefix: string, to: Changes): void {
  for (const [name, value] of after) {
    const old = before.get(name);
    const path = `${prefix}${name}`;
    if (old === undefined) to.updated.set(path, value);
    else compareValues(old, value, path, to);
  }
  for (const name of before.keys()) if (!after.has(name)) to.removed.push(`${prefix}${name}`);
}

function compareValues(old: Value, value: Value, path: string, to: Changes): void {
  if (isDocument(old) && isDocument(value)) compareDocuments(old, value, `${path}.`, to);
  else if (isArray(old) && isArray(value)) compareArrays(old, value, path, to);
  else if (typeOf(old) !== typeOf(value) || !equalBson(old, value)) to.updated.set(path, value);
}

/** Element by element, unless the whole array is no longer to tell. */
function compareArrays(
  old: readonly Value[],
  value: readonly Value[],
  path: string,
  to: Changes,
): void {
  const changes = noChanges();
  for (const [index, element] of value.entries()) {
    const was = old[index];
    if (was === undefined) changes.updated.set(`${path}.${index}`, element);
    else compareValues(was, element, `${path}.${index}`, changes);
  }
  if (value.length < old.length) {
    changes.truncated.push(documentOf({ field: path, newSize: int32(value.length) }));
  }
  const whole: Document = new Map([[path, value]]);
  if (encodeDocument(changes.updated).length >= encodeDocument(whole).length) {
    to.updated.set(path, value);
    return;
  }
  for (const [name, element] of changes.updated) to.updated.set(name, element);
  to.removed.push(...changes.removed);
  to.truncated.push(...changes.truncated);
}
