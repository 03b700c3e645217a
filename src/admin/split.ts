// POST /_mayfly/dbs/{db}/colls/{coll}/split: divides a physical range in two, or all of them, while
// clients go on. It shows how a client takes a split without paying for the throughput that brings
// one.
import { failure } from '../value/errors.js';
import { fieldsOf } from './fields.js';
import { findContainer } from './find.js';
import type { AdminRequest } from './server.js';

export async function splitRanges(request: AdminRequest): Promise<object> {
  const container = findContainer(request);
  const body = await request.body();
  const { rangeId } = body.length === 0 ? {} : fieldsOf(body, ['rangeId']);
  const split = await request.catalog.splitRanges(container, idOf(rangeId), request.at);
  return {
    ranges: split.ranges.map(({ id, from, to, parents }) => ({
      id: String(id),
      minInclusive: from,
      maxExclusive: to,
      parents: parents.map(String),
    })),
  };
}

/** As clients write it, which is text, or as a number. */
function idOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const isId =
    typeof value === 'string'
      ? /^\d{1,9}$/.test(value)
      : Number.isSafeInteger(value) && Number(value) >= 0;
  if (isId) return Number(value);
  const why = `rangeId must be the id of a range, not ${JSON.stringify(value)}.`;
  throw failure('invalidInput', { why });
}
