// Deleting all items of a logical partition: in bounded commits, so that others are not kept
// waiting, and only what was there when it began, so that it ends and no later write is lost.
import type { StoredContainer } from '../catalog/resources.js';
import type { Decision, Item, Lsn, Resume } from '../engine/engine.js';
import { deleteCharge, LOOKUP_CHARGE } from '../throughput/charges.js';
import { breathe } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import type { PartitionKey } from '../value/partition-key.js';
import { commitBatches, type Documents, whileThere } from './documents.js';

const ITEMS_PER_COMMIT = 100;
const BYTES_PER_COMMIT = 4 * 1024 * 1024;

/** What the deletes cost, and the position behind the last of them. */
export interface PartitionDeleted {
  readonly charge: number;
  readonly lsn: Lsn;
}

export function deletePartition(
  documents: Documents,
  container: StoredContainer,
  partition: PartitionKey,
  at: Instant,
): Promise<PartitionDeleted> {
  return whileThere(container, deleteAll(documents, container, partition, at));
}

async function deleteAll(
  documents: Documents,
  container: StoredContainer,
  partition: PartitionKey,
  at: Instant,
): Promise<PartitionDeleted> {
  const { engine } = documents;
  const box = container.engine;
  const { lsn: start } = await engine.stats(box);
  const decide = (current: Item | undefined): Decision =>
    current && current.lsn <= start ? { delete: true } : { keep: true };
  const scan = { partition, span: undefined, filter: undefined, order: [], limit: undefined };
  const budget = { rowsMax: ITEMS_PER_COMMIT, bytesMax: BYTES_PER_COMMIT };
  let charge = LOOKUP_CHARGE;
  let lsn = start;
  let after: Resume | undefined;
  do {
    const plan = engine.plan(box, { ...scan, after });
    after = undefined;
    for await (const { items, resume } of plan.run(at, budget)) {
      after = resume;
      const changes = items.map(({ key }) => ({ kind: 'update', id: key.id, decide }) as const);
      const [outcome] = await commitBatches(documents, container, [{ partition, changes }], at);
      if (!outcome || 'refused' in outcome) throw new Error('nothing here is refused');
      items.forEach(({ doc }, index) => {
        if (!outcome.items[index]) charge += deleteCharge(box, doc);
      });
      lsn = outcome.lsn;
      break;
    }
    await breathe();
  } while (after !== undefined);
  return { charge, lsn };
}
