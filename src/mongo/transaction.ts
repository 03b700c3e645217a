// A transaction: what it writes is kept here, seen by it alone, and committed in one batch. What it
// has read or written must not change meanwhile: then it is a write conflict, and the client begins
// anew. All its writes are in one collection and one place, as one batch is.
import type { StoredCollection } from '../catalog/collections.js';
import {
  decisionOf,
  type EditAt,
  type EditOutcome,
  type ShapeNow,
} from '../documents/collection-write.js';
import type { Change, Draft, Engine, Item, ItemKey, Lsn } from '../engine/engine.js';
import { dueAt } from '../time/expiry.js';
import type { Instant } from '../time/instant.js';
import type { Purger } from '../time/purger.js';
import { type MongoError, mongoFailure } from '../value/mongo-errors.js';
import { samePartitionKey } from '../value/partition-key.js';

export const TRANSACTION_SECONDS_MAX = 60;
const WRITES_MAX = 100_000;

/** A document that the transaction has written: as it found it, and as it leaves it. */
interface Written {
  readonly key: ItemKey;
  readonly base: Item | undefined;
  readonly item: Item | undefined;
}

/** Which transaction has written which document and is not over: the first one wins. */
export type Intents = Map<string, Transaction>;

export interface TransactionParts {
  readonly engine: Engine;
  readonly purger: Purger;
  readonly intents: Intents;
}

export class Transaction {
  readonly number: bigint;
  readonly #parts: TransactionParts;
  readonly #startedAt: Instant;
  readonly #written = new Map<string, Written>();
  /** Where the change order of each collection was when it was first used. */
  readonly #since = new Map<string, Lsn>();
  #collection: StoredCollection | undefined;
  #state: 'active' | 'committed' | 'aborted' = 'active';
  #serials = Number.MAX_SAFE_INTEGER - WRITES_MAX - 1;

  constructor(number: bigint, parts: TransactionParts, startedAt: Instant) {
    this.number = number;
    this.#parts = parts;
    this.#startedAt = startedAt;
  }

  get state(): 'active' | 'committed' | 'aborted' {
    return this.#state;
  }

  /** Notes from where on changes of others are conflicts. */
  async touch(collection: StoredCollection): Promise<void> {
    if (this.#since.has(collection.engine.id)) return;
    const { lsn } = await this.#parts.engine.stats(collection.engine);
    if (!this.#since.has(collection.engine.id)) this.#since.set(collection.engine.id, lsn);
  }

  hasWritten(collection: StoredCollection): boolean {
    return this.#collection?.engine.id === collection.engine.id && this.#written.size > 0;
  }

  /** Items as the transaction sees them: its own in place of those that are stored. */
  visible(collection: StoredCollection, items: readonly Item[]): readonly Item[] {
    const since = this.#since.get(collection.engine.id) ?? Number.MAX_SAFE_INTEGER;
    const isOwn = this.hasWritten(collection);
    return items.filter((item) => {
      if (isOwn && this.#written.has(nameOf(collection, item.key))) return false;
      if (item.lsn > since) throw conflict();
      return true;
    });
  }

  /** What the transaction itself has written. */
  own(collection: StoredCollection): readonly Item[] {
    if (!this.hasWritten(collection)) return [];
    return [...this.#written.values()].flatMap(({ item }) => (item ? [item] : []));
  }

  async edit(
    collection: StoredCollection,
    shape: ShapeNow,
    edits: readonly EditAt[],
    at: Instant,
    isOrdered: boolean,
  ): Promise<readonly EditOutcome[]> {
    await this.touch(collection);
    this.#collection ??= collection;
    if (this.#collection.engine.id !== collection.engine.id) {
      throw mongoFailure(
        'OperationNotSupportedInTransaction',
        `A transaction writes to one collection, and this one to ${this.#collection.definition.id}`,
      );
    }
    const outcomes: EditOutcome[] = [];
    for (const edit of edits) {
      const outcome = await this.#editOne(collection, shape, edit, at);
      outcomes.push(outcome);
      if (isOrdered && !('item' in outcome)) break;
    }
    return outcomes;
  }

  async #editOne(
    collection: StoredCollection,
    shape: ShapeNow,
    { partition, id, edit }: EditAt,
    at: Instant,
  ): Promise<EditOutcome> {
    const key = { partition, id };
    const name = nameOf(collection, key);
    const written = this.#written.get(name);
    const base = written ? written.base : await this.#stored(collection, key, at);
    const current = written ? written.item : base;
    try {
      const decision = decisionOf(shape, edit, current, at);
      if ('refuse' in decision) return { refused: decision.refuse };
      if ('keep' in decision) return { item: current };
      this.#claim(name, key);
      const item = 'put' in decision ? this.#itemOf(key, decision.put, current) : undefined;
      this.#written.set(name, { key, base, item });
      return { item };
    } catch (error) {
      return { error };
    }
  }

  async #stored(
    collection: StoredCollection,
    key: ItemKey,
    at: Instant,
  ): Promise<Item | undefined> {
    const { items } = await this.#parts.engine.get(collection.engine, [key], at);
    const [item] = items;
    const since = this.#since.get(collection.engine.id) ?? 0;
    if (item && item.lsn > since) throw conflict();
    return item;
  }

  #claim(name: string, { partition }: ItemKey): void {
    const [first] = this.#written.values();
    if (first && !samePartitionKey(first.key.partition, partition)) {
      throw mongoFailure(
        'OperationNotSupportedInTransaction',
        'A transaction writes documents of one shard key value',
      );
    }
    if (this.#written.size >= WRITES_MAX) {
      throw mongoFailure('OperationFailed', `A transaction has at most ${WRITES_MAX} writes`);
    }
    const holder = this.#parts.intents.get(name);
    if (holder && holder !== this) throw conflict();
    this.#parts.intents.set(name, this);
  }

  #itemOf(key: ItemKey, { etag, fuses, doc }: Draft, current: Item | undefined): Item {
    this.#serials += 1;
    return { key, serial: current?.serial ?? this.#serials, etag, lsn: 0, fuses, doc };
  }

  /** Again and again with the same answer. */
  async commit(at: Instant): Promise<void> {
    if (this.#state === 'committed') return;
    if (this.#state === 'aborted') throw noSuch(this.number);
    const collection = this.#collection;
    const writes = [...this.#written.values()];
    if (collection && writes.length > 0) await this.#store(collection, writes, at);
    this.#end('committed');
  }

  async #store(
    collection: StoredCollection,
    writes: readonly Written[],
    at: Instant,
  ): Promise<void> {
    const { engine, purger } = this.#parts;
    const changes = writes.map(
      ({ key, base, item }): Change => ({
        kind: 'update',
        id: key.id,
        decide: (current) => {
          if (current?.lsn !== base?.lsn) return { refuse: 'preconditionFailed' };
          if (!item) return current ? { delete: true } : { keep: true };
          return { put: { id: key.id, etag: item.etag, fuses: item.fuses, doc: item.doc } };
        },
      }),
    );
    const partition = writes[0]?.key.partition ?? [];
    const [outcome] = await engine.commit(collection.engine, [{ partition, changes }], at);
    if (outcome && 'refused' in outcome) {
      this.#end('aborted');
      throw typeof outcome.refused === 'object' ? duplicate(collection) : conflict();
    }
    for (const { item } of writes) {
      if (item) purger.expect(collection.engine.id, dueAt(item.fuses, collection.engine.expiry));
    }
  }

  abort(): void {
    if (this.#state === 'active') this.#end('aborted');
  }

  /** Ends one that has taken too long. */
  expire(now: Instant): void {
    if (now - this.#startedAt > TRANSACTION_SECONDS_MAX * 1000) this.abort();
  }

  #end(state: 'committed' | 'aborted'): void {
    this.#state = state;
    for (const name of this.#written.keys()) {
      if (this.#parts.intents.get(name) === this) this.#parts.intents.delete(name);
    }
    this.#written.clear();
  }
}

export function noSuch(number: bigint): MongoError {
  return mongoFailure(
    'NoSuchTransaction',
    `Given transaction number ${number} does not match any in-progress transactions.`,
  );
}

function conflict(): MongoError {
  return mongoFailure(
    'WriteConflict',
    'Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry your operation or multi-document transaction.',
  );
}

/** Found at the commit: to begin anew would end in the same. */
function duplicate({ definition }: StoredCollection): MongoError {
  return mongoFailure(
    'DuplicateKey',
    `E11000 duplicate key error collection: ${definition.id}: a unique index is violated by the transaction`,
  );
}

function nameOf(collection: StoredCollection, { partition, id }: ItemKey): string {
  return `${collection.engine.id} ${JSON.stringify(partition)} ${id}`;
}
