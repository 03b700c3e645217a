// The condition that a pipeline begins with: a reader of the collection may use it to find the
// documents by an index. The pipeline asks again, so the reader may return too many.
import { toDouble } from '../../value/bson/numbers.js';
import {
  type Document,
  Int32,
  isArray,
  isDocument,
  isNumber,
  type Value,
} from '../../value/bson/value.js';

export function leadingMatch(stages: Value): Document | undefined {
  const first = isArray(stages) ? stages[0] : undefined;
  const match = isDocument(first) ? first.get('$match') : undefined;
  return isDocument(match) && !mentionsVariables(match) ? match : undefined;
}

/** A sort right behind that condition, or without one; a reader that sorts does its work. */
export interface LeadingSort {
  readonly sort: Document;
  /** The pipeline without it. */
  readonly others: readonly Value[];
  /** How many rows are wanted of it, where the next stage says so. */
  readonly limit: number | undefined;
}

export function leadingSort(stages: readonly Value[]): LeadingSort | undefined {
  const at = leadingMatch(stages) ? 1 : 0;
  const sort = operandOf(stages[at], '$sort');
  if (!isDocument(sort)) return undefined;
  const limit = operandOf(stages[at + 1], '$limit');
  return {
    sort,
    others: stages.filter((_, index) => index !== at),
    limit: isNumber(limit) ? toDouble(limit) : undefined,
  };
}

/** A pipeline that only counts, as clients write it: what it counts, and how it tells. */
export interface LeadingCount {
  readonly match: Document;
  readonly id: Value;
  readonly field: string;
}

export function leadingCount(stages: readonly Value[]): LeadingCount | undefined {
  const match = leadingMatch(stages);
  const [group, ...more] = match ? stages.slice(1) : stages;
  const spec = operandOf(group, '$group');
  if (!isDocument(spec) || spec.size !== 2 || more.length > 0) return undefined;
  const id = spec.get('_id');
  const [field = '_id', sum] = [...spec].find(([name]) => name !== '_id') ?? [];
  const one = operandOf(sum, '$sum');
  if (id === undefined || !(isNumber(id) || id === null)) return undefined;
  if (!(one instanceof Int32) || one.value !== 1) return undefined;
  return { match: match ?? new Map(), id, field };
}

function operandOf(stage: Value | undefined, name: string): Value | undefined {
  return isDocument(stage) && stage.size === 1 ? stage.get(name) : undefined;
}

/** Variables have their values only once a row is there. */
function mentionsVariables(value: Value): boolean {
  if (typeof value === 'string') return value.startsWith('$$');
  if (isArray(value)) return value.some(mentionsVariables);
  return isDocument(value) && [...value.values()].some(mentionsVariables);
}
