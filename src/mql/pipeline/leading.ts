// The condition that a pipeline begins with: a reader of the collection may use it to find the
// documents by an index. The pipeline asks again, so the reader may return too many.
import { type Document, isArray, isDocument, type Value } from '../../value/bson/value.js';

export function leadingMatch(stages: Value): Document | undefined {
  const first = isArray(stages) ? stages[0] : undefined;
  const match = isDocument(first) ? first.get('$match') : undefined;
  return isDocument(match) && !mentionsVariables(match) ? match : undefined;
}

/** Variables have their values only once a row is there. */
function mentionsVariables(value: Value): boolean {
  if (typeof value === 'string') return value.startsWith('$$');
  if (isArray(value)) return value.some(mentionsVariables);
  return isDocument(value) && [...value.values()].some(mentionsVariables);
}
