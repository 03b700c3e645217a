// Reading one item.
import type { StoredContainer } from '../catalog/resources.js';
import type { Item, ItemKey, Lsn, Serial } from '../engine/engine.js';
import type { Instant } from '../time/instant.js';
import { type Documents, whileThere } from './documents.js';

/** The item if it is alive, and the position in the change order that the answer reflects. */
export async function readItem(
  documents: Documents,
  container: StoredContainer,
  key: ItemKey | Serial,
  at: Instant,
): Promise<{ readonly item: Item | undefined; readonly lsn: Lsn }> {
  const answer = await whileThere(container, documents.engine.get(container.engine, [key], at));
  return { item: answer.items[0], lsn: answer.lsn };
}
