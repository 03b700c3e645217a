// Writing one item: create, upsert, replace, delete. Preconditions are judged inside the commit, on
// the item as it is.
import type { StoredContainer } from '../catalog/resources.js';
import type { Decide, Decision, Etag, Item, ItemKey, Lsn, Serial } from '../engine/engine.js';
import { deleteCharge, writeCharge } from '../throughput/charges.js';
import { checkItemTtl, cosmosFuses, dueAt } from '../time/expiry.js';
import { type Instant, secondsOf } from '../time/instant.js';
import type { Doc } from '../value/doc.js';
import { commitBatches, type Documents, refusalError } from './documents.js';

export type WriteKind = 'create' | 'upsert' | 'replace';

export interface ItemWrite {
  readonly kind: WriteKind;
  readonly key: ItemKey;
  readonly ttl: unknown;
  /** Makes the document to store, once it is known which item it becomes. */
  readonly compose: (serial: Serial, etag: Etag, writtenSeconds: number) => Doc;
  readonly conditions: Conditions;
}
/** The values of If-Match and If-None-Match: an etag, or `*` for any. */
export interface Conditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}
export interface Written {
  readonly item: Item;
  readonly created: boolean;
  readonly lsn: Lsn;
  readonly charge: number;
}

export async function writeItem(
  documents: Documents,
  container: StoredContainer,
  write: ItemWrite,
  at: Instant,
): Promise<Written> {
  const prepared = prepareWrite(documents, container, write, at);
  const { item, lsn } = await commitOne(documents, container, write.key, prepared.decide, at);
  if (!item) throw new Error('a written item is an item');
  documents.purger.expect(container.engine.id, dueAt(item.fuses, container.engine.expiry));
  const created = prepared.created();
  const charge = writeCharge(container.engine, item.doc, !created);
  return { item, created, lsn, charge };
}

/** A write that can be decided; `created` tells of its last decision. */
export function prepareWrite(
  documents: Documents,
  container: StoredContainer,
  write: ItemWrite,
  at: Instant,
): { readonly decide: Decide; created(): boolean } {
  checkItemTtl(write.ttl, container.definition.defaultTtl);
  const writtenSeconds = secondsOf(at);
  const etag = documents.entropy.etag(writtenSeconds);
  const fuses = cosmosFuses(write.ttl, writtenSeconds);
  let created = false;
  const decide = (current: Item | undefined, serial: Serial): Decision => {
    created = current === undefined;
    const refused = refusalOf(write, current);
    if (refused) return { refuse: refused };
    const doc = write.compose(serial, etag, writtenSeconds);
    return { put: { id: write.key.id, etag, fuses, doc } };
  };
  return { decide, created: () => created };
}

export async function deleteItem(
  documents: Documents,
  container: StoredContainer,
  key: ItemKey,
  conditions: Conditions,
  at: Instant,
): Promise<{ readonly lsn: Lsn; readonly charge: number }> {
  const prepared = prepareDelete(container, conditions);
  const { lsn } = await commitOne(documents, container, key, prepared.decide, at);
  return { lsn, charge: prepared.charge() };
}

/** A delete that can be decided; `charge` tells the price of what its last decision deletes. */
export function prepareDelete(
  container: StoredContainer,
  conditions: Conditions,
): {
  readonly decide: Decide;
  charge(): number;
} {
  let charge = 0;
  const decide = (current: Item | undefined): Decision => {
    if (!current) return { refuse: 'notFound' };
    if (!meets(conditions, current)) return { refuse: 'preconditionFailed' };
    charge = deleteCharge(container.engine, current.doc);
    return { delete: true };
  };
  return { decide, charge: () => charge };
}

/** T10: an expired item is absent, so it is a 404 before any precondition is looked at. */
function refusalOf(write: ItemWrite, current: Item | undefined) {
  if (!current) return write.kind === 'replace' ? 'notFound' : undefined;
  if (!meets(write.conditions, current)) return 'preconditionFailed';
  return write.kind === 'create' ? 'conflict' : undefined;
}

export function meets({ ifMatch, ifNoneMatch }: Conditions, current: Item): boolean {
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== current.etag) return false;
  return ifNoneMatch === undefined || (ifNoneMatch !== '*' && ifNoneMatch !== current.etag);
}

export async function commitOne(
  documents: Documents,
  container: StoredContainer,
  key: ItemKey,
  decide: Decide,
  at: Instant,
): Promise<{ readonly item: Item | undefined; readonly lsn: Lsn }> {
  const changes = [{ kind: 'update', id: key.id, decide } as const];
  const batches = [{ partition: key.partition, changes }];
  const [outcome] = await commitBatches(documents, container, batches, at);
  if (!outcome) throw new Error('one batch has one outcome');
  if ('refused' in outcome) {
    throw refusalError(outcome.refused, container).seenAt(outcome.lsn);
  }
  return { item: outcome.items[0], lsn: outcome.lsn };
}
