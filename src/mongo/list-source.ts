// A list of documents that is all there already, as a source for a cursor.
import type { Bytes } from '../value/bson/value.js';
import type { Source } from './cursors.js';

const PLACE_BYTES = 12;

export function listSource(rows: readonly Bytes[]): Source {
  let passed = 0;
  return {
    next: async (_at, room) => {
      const from = passed;
      let bytes = 0;
      while (passed < rows.length && passed - from < room.rows) {
        bytes += (rows[passed]?.length ?? 0) + PLACE_BYTES;
        if (bytes > room.bytes && passed > from) break;
        passed += 1;
      }
      return rows.slice(from, passed);
    },
    isDone: async () => passed >= rows.length,
  };
}
