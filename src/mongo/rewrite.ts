// Rewriting all documents of a collection as they are, after its definition has changed: what is
// stored beside them (fuses of TTL indexes, keys of unique ones) depends on it. Neither the time of
// the last write nor the documents change.
import type { StoredCollection } from '../catalog/collections.js';
import { draftOf } from '../documents/collection-write.js';
import type { Decision, Item, WriteBatch } from '../engine/engine.js';
import type { Fuse } from '../time/expiry.js';
import { bsonOf } from '../value/bson-image.js';
import { FULL_SCAN } from './access.js';
import type { Call } from './call.js';
import { currentOf } from './namespace.js';
import { shapeOf } from './shape.js';
import { scan } from './storage.js';
import { errorOf } from './write-errors.js';

const DOCUMENTS_PER_COMMIT = 64;
/** Fuses that burn from the last write, and not from a date in the document. */
const OF_WRITES: readonly string[] = ['own', 'default', 'overruled'];

export async function rewriteAll(call: Call, collection: StoredCollection): Promise<void> {
  const { engine } = call.mongo.documents;
  // Waits for writes on their way, which may have been decided under the old definition.
  await engine.commit(collection.engine, [{ partition: [null], changes: [] }], call.at);
  for await (const items of scan(call, collection, FULL_SCAN)) {
    for (let from = 0; from < items.length; from += DOCUMENTS_PER_COMMIT) {
      await rewrite(call, collection, items.slice(from, from + DOCUMENTS_PER_COMMIT));
    }
  }
  call.mongo.documents.purger.expect(
    collection.engine.id,
    await engine.nextExpiry(currentOf(call.mongo, collection).engine),
  );
}

/** Whether the indexes that there are now can have all documents. */
export async function checkAll(call: Call, collection: StoredCollection): Promise<void> {
  for await (const items of scan(call, collection, FULL_SCAN)) {
    const { checks } = shapeOf(currentOf(call.mongo, collection));
    for (const { doc } of items) for (const check of checks) check(bsonOf(doc.bytes));
  }
}

async function rewrite(
  call: Call,
  collection: StoredCollection,
  items: readonly Item[],
): Promise<void> {
  const { engine } = call.mongo.documents;
  const thrown: unknown[] = [];
  const batches = items.map((item): WriteBatch => {
    const decide = (current: Item | undefined): Decision => {
      if (!current) return { keep: true };
      try {
        return { put: redrafted(call, collection, current) };
      } catch (error) {
        thrown.push(error);
        return { keep: true };
      }
    };
    return {
      partition: item.key.partition,
      changes: [{ kind: 'update', id: item.key.id, decide }],
    };
  });
  const outcomes = await engine.commit(collection.engine, batches, call.at);
  if (thrown.length > 0) throw thrown[0];
  const namespace = `${call.database}.${collection.definition.id}`;
  for (const [index, outcome] of outcomes.entries()) {
    if (!('refused' in outcome)) continue;
    const document = bsonOf((items[index] as Item).doc.bytes);
    const error = errorOf({ refused: outcome.refused }, namespace, collection, document);
    if (error) throw error;
  }
}

function redrafted(call: Call, collection: StoredCollection, current: Item) {
  const shape = shapeOf(currentOf(call.mongo, collection));
  const draft = draftOf(shape, bsonOf(current.doc.bytes), call.at);
  const isOfWrite = ({ rule }: Fuse) => OF_WRITES.includes(rule);
  const fuses = [
    ...current.fuses.filter(isOfWrite),
    ...draft.fuses.filter((fuse) => !isOfWrite(fuse)),
  ];
  return { ...draft, fuses };
}
