// What commands cost, in request units, and the budgets they are taken from.
import { SESSION_CONTAINER_PREFIX } from '../catalog/catalog-store.js';
import type { StoredCollection } from '../catalog/collections.js';
import type { Container } from '../engine/engine.js';
import { round } from '../throughput/charges.js';
import { meteredEngine } from '../throughput/metered-engine.js';
import type { Throttled } from '../throughput/throttled.js';
import { type MongoError, mongoFailure } from '../value/mongo-errors.js';
import type { Client, Mongo } from './call.js';

/** The server as one connection sees it: what its commands touch is charged to it. */
export function meteredFor(mongo: Mongo, client: Client): Mongo {
  const { budgets, documents } = mongo;
  const found = new WeakMap<Container, StoredCollection>();
  const collectionOf = (container: Container): StoredCollection | undefined => {
    const known = found.get(container);
    if (known || container.id.startsWith(SESSION_CONTAINER_PREFIX)) return known;
    const all = mongo.catalog.collections.all();
    const collection = all.find(({ engine }) => engine.id === container.id);
    if (collection) found.set(container, collection);
    return collection;
  };
  const engine = meteredEngine(documents.engine, {
    // Once for each command: what it has begun it may end, and leaves a debt.
    admit: (container) => {
      const collection = client.charge === 0 ? collectionOf(container) : undefined;
      if (collection) budgets.admit(collection);
    },
    spend: (container, charge) => {
      const collection = collectionOf(container);
      // What the server remembers of sessions is not for them to pay.
      if (!collection) return;
      client.charge = round(client.charge + charge);
      budgets.spend(collection, charge);
    },
  });
  return { ...mongo, documents: { ...documents, engine } };
}

export function throttledFailure({ retryAfterMs, message, kind }: Throttled): MongoError {
  return mongoFailure('TooManyRequests', throttledText(retryAfterMs, message, kind.subStatus));
}

/** Programs take the time to wait from it. */
export function throttledText(retryAfterMs: number, why: string, subStatus = 3200): string {
  const status = 'Response status code does not indicate success: TooManyRequests (429)';
  const details = `${status}; Substatus: ${subStatus}; Reason: ({ Errors: [${why}] })`;
  return `Error=16500, RetryAfterMs=${retryAfterMs}, Details='${details}'`;
}
