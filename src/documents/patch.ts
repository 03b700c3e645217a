// Patching one item. Everything is judged and worked out inside the commit, on the item as it is,
// so that patches of one item at the same time all act.
import type { StoredContainer } from '../catalog/resources.js';
import type { Decision, Etag, Item, ItemKey, Serial } from '../engine/engine.js';
import { writeCharge } from '../throughput/charges.js';
import { checkItemTtl, cosmosFuses, dueAt } from '../time/expiry.js';
import { type Instant, secondsOf } from '../time/instant.js';
import type { Doc } from '../value/doc.js';
import type { Documents } from './documents.js';
import { type Conditions, commitOne, type ItemWrite, meets, type Written } from './write.js';

export interface ItemPatch {
  readonly key: ItemKey;
  readonly conditions: Conditions;
  /** What the request asks of the item before it is patched. */
  readonly holds: (current: Item) => boolean;
  /** Works out the patched item; throws what is wrong with it. */
  readonly change: (current: Doc) => Pick<ItemWrite, 'ttl' | 'compose'>;
}

export async function patchItem(
  documents: Documents,
  container: StoredContainer,
  patch: ItemPatch,
  at: Instant,
): Promise<Written> {
  const writtenSeconds = secondsOf(at);
  const etag = documents.entropy.etag(writtenSeconds);
  const decide = (current: Item | undefined, serial: Serial) =>
    decidePatch(container, patch, current, { serial, etag, writtenSeconds });
  const { item, lsn } = await commitOne(documents, container, patch.key, decide, at);
  if (!item) throw new Error('a patched item is an item');
  documents.purger.expect(container.engine.id, dueAt(item.fuses, container.engine.expiry));
  const charge = writeCharge(container.engine, item.doc, true);
  return { item, created: false, lsn, charge };
}

/** T10: an expired item is absent, so it is a 404 before any precondition is looked at. */
export function decidePatch(
  container: StoredContainer,
  patch: ItemPatch,
  current: Item | undefined,
  next: { readonly serial: Serial; readonly etag: Etag; readonly writtenSeconds: number },
): Decision {
  if (!current) return { refuse: 'notFound' };
  if (!meets(patch.conditions, current) || !patch.holds(current)) {
    return { refuse: 'preconditionFailed' };
  }
  const { ttl, compose } = patch.change(current.doc);
  checkItemTtl(ttl, container.definition.defaultTtl);
  const { serial, etag, writtenSeconds } = next;
  const fuses = cosmosFuses(ttl, writtenSeconds);
  const doc = compose(serial, etag, writtenSeconds);
  return { put: { id: patch.key.id, etag, fuses, doc } };
}
