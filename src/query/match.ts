// Whether one document, outside of any scan, is among those a query asks for.
import { compileRows } from './evaluate.js';
import type { CallContext, Value } from './function.js';
import { type Query, ROOT } from './logical.js';

export function compileMatch(
  query: Query,
  context: CallContext,
): (value: Value, serial: number) => boolean {
  const rows = compileRows(query);
  return (value, serial) => {
    const slots = new Array<Value>(query.slots).fill(undefined);
    slots[ROOT] = value;
    // A visitor that stops at the first row ends the walk early, which is how a match shows.
    return !rows({ slots, context, serial, rows: 0, aggregates: [] }, () => false);
  };
}
