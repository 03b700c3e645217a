// A plan over values at hand, so that resources of the catalog are queried like documents.
import type { Item, Plan, Resume } from '../engine/engine.js';
import { docFromValue } from '../value/doc.js';

export function planOverValues(values: readonly unknown[], after: Resume | undefined): Plan {
  const items = values.map(
    (value, index): Item => ({
      key: { partition: [], id: String(index) },
      serial: index + 1,
      etag: '',
      lsn: 0,
      fuses: [],
      doc: docFromValue(value),
    }),
  );
  return {
    exact: false,
    ordered: false,
    limited: false,
    explain: 'all resources',
    indexes: { used: [], missed: [] },
    count: async () => undefined,
    countBy: async () => undefined,
    async *run() {
      const start = after === undefined ? 0 : Buffer.from(after).readUInt32BE();
      const resumeAt = (index: number) => {
        const bytes = Buffer.alloc(4);
        bytes.writeUInt32BE(start + index);
        return bytes as unknown as Resume;
      };
      const resumeAfter = (index: number) => resumeAt(index + 1);
      const nothing = { resume: undefined, lsn: 0, lookupMs: 0, loadMs: 0 };
      yield { items: items.slice(start), resumeAfter, resumeAt, ...nothing };
    },
  };
}
