// How the catalog is kept: records as items of one system container, in one partition, so that a
// container and its offer come and go in one commit.
import {
  type Change,
  type Container,
  type Decision,
  type Engine,
  type Etag,
  EVERYTHING,
  type Item,
  type Lsn,
  type Serial,
} from '../engine/engine.js';
import { NOT_INDEXED } from '../engine/indexing.js';
import type { Entropy } from '../time/entropy.js';
import { type Instant, secondsOf } from '../time/instant.js';
import { docFromValue } from '../value/doc.js';
import { failure } from '../value/errors.js';
import type { BelongingBodies, BelongingKind } from './belongings.js';
import type { CollectionDefinition } from './collection-definition.js';
import type { ContainerDefinition } from './definition/container-definition.js';
import type { PartitionRange } from './ranges.js';
import { ceilingOf, type Throughput } from './throughput.js';

export type CatalogRecord =
  | { readonly kind: 'database'; readonly id: string }
  | {
      readonly kind: 'container';
      readonly database: Serial;
      readonly definition: ContainerDefinition;
      readonly ranges: readonly PartitionRange[];
      readonly engineId: string;
      /** Counts the changes of the indexing policy. */
      readonly indexVersion: number;
      /** With several servers: from when on all go by it, and what they go by until then. */
      readonly change?: { readonly since: number; readonly before: ContainerDefinition };
    }
  | {
      readonly kind: 'offer';
      readonly database: Serial;
      readonly container?: Serial;
      readonly throughput: Throughput;
      readonly highestEver: number;
    }
  | {
      readonly kind: 'belonging';
      readonly sort: BelongingKind;
      readonly database: Serial;
      readonly owner: Serial;
      readonly id: string;
      /** Of the first record of what has been given another id. */
      readonly number?: Serial;
      readonly body: BelongingBodies[BelongingKind];
    }
  | CollectionRecord
  | MongoUserRecord;

/** A collection of the API for MongoDB. */
export interface CollectionRecord {
  readonly kind: 'collection';
  readonly database: Serial;
  readonly definition: CollectionDefinition;
  readonly engineId: string;
  readonly indexVersion: number;
}
/**
 * A user or a role of the API for MongoDB, what happened to a collection, or a name that is
 * watched; what is known of it is for that face to read.
 */
export interface MongoUserRecord {
  readonly kind: 'mongoUser' | 'mongoRole' | 'mongoEvent' | 'mongoWatch';
  readonly id: string;
  readonly value: unknown;
}

/** A record as it is kept: the engine gives serial and etag. */
export type Kept<R extends CatalogRecord = CatalogRecord> = R & {
  readonly serial: Serial;
  readonly etag: Etag;
  readonly writtenSeconds: number;
};

/** Names are unique among records; ids hold no slash, so the parts cannot be confused. */
export const nameOf = {
  database: (id: string) => `database/${id}`,
  container: (database: Serial, id: string) => `container/${database}/${id}`,
  collection: (database: Serial, id: string) => `collection/${database}/${id}`,
  mongo: (kind: MongoUserRecord['kind'], id: string) => `${kind}/${id}`,
  databaseOffer: (id: string) => `offer/${id}`,
  containerOffer: (database: Serial, id: string) => `offer/${database}/${id}`,
};

/** `record` sees the serials of the records written before it in the same commit. */
export type CatalogChange =
  | { readonly name: string; readonly record: (before: readonly Serial[]) => CatalogRecord }
  | { readonly name: string; readonly remove: true };

const PARTITION = ['catalog'] as const;
const PAGE = { rowsMax: 200, bytesMax: 4_000_000 };

const SYSTEM: Container = {
  id: 'catalog',
  partitionPaths: [['kind']],
  partitionHash: 'v2',
  indexes: [],
  indexing: NOT_INDEXED,
  expiry: [],
};

/** Containers of the API for MongoDB in which it remembers what sessions have written. */
export const SESSION_CONTAINER_PREFIX = 'mongo-sessions-';

/** Another server has written what this one was about to write; it has to look again. */
class CatalogMoved extends Error {}

export class CatalogStore {
  readonly #engine: Engine;
  readonly #entropy: Entropy;
  readonly #written: () => void;
  /** Of the records as this server knows them, by name. */
  readonly #etags = new Map<string, Etag>();
  #lsn: Lsn = 0;

  /** `written` is called when others have something to look at. */
  constructor(engine: Engine, entropy: Entropy, written: () => void = () => undefined) {
    this.#engine = engine;
    this.#entropy = entropy;
    this.#written = written;
  }

  static isSystem(container: Container): boolean {
    return container.id === SYSTEM.id || container.id.startsWith(SESSION_CONTAINER_PREFIX);
  }

  async load(at: Instant): Promise<readonly Kept[]> {
    await this.#create();
    const { lsn } = await this.#engine.stats(SYSTEM);
    const plan = this.#engine.plan(SYSTEM, EVERYTHING);
    const kept: Kept[] = [];
    this.#etags.clear();
    for await (const batch of plan.run(at, PAGE)) {
      for (const { key, serial, etag, doc } of batch.items) {
        this.#etags.set(key.id, etag);
        kept.push({ ...(doc.value as Kept), serial, etag });
      }
    }
    this.#lsn = lsn;
    return kept;
  }

  /** Whether another server has written since this one has looked. */
  async hasMoved(): Promise<boolean> {
    return (await this.#engine.stats(SYSTEM)).lsn !== this.#lsn;
  }

  async #create(): Promise<void> {
    const isThere = async () =>
      (await this.#engine.containers()).some(({ id }) => id === SYSTEM.id);
    if (await isThere()) return;
    try {
      await this.#engine.createContainer(SYSTEM);
    } catch (error) {
      // Another server may have been first.
      if (!(await isThere())) throw error;
    }
  }

  /** All or nothing. Answers the records as kept; removed ones are left out. */
  async write(changes: readonly CatalogChange[], at: Instant): Promise<readonly Kept[]> {
    const writtenSeconds = secondsOf(at);
    const serials: Serial[] = [];
    const kept: Kept[] = [];
    const prepared = changes.map((change, index): Change => {
      const etag = this.#entropy.etag(writtenSeconds);
      const decide = (current: Item | undefined, serial: Serial): Decision => {
        // It may run more than once, always from the first to the last.
        if (index === 0) serials.splice(0, serials.length + kept.splice(0).length);
        if (current?.etag !== this.#etags.get(change.name)) return { refuse: 'preconditionFailed' };
        if ('remove' in change) return current ? { delete: true } : { keep: true };
        const record = change.record([...serials]);
        serials.push(serial);
        kept.push({ ...record, serial, etag, writtenSeconds });
        const doc = docFromValue({ ...record, writtenSeconds });
        return { put: { id: change.name, etag, fuses: [], doc } };
      };
      return { kind: 'update', id: change.name, decide };
    });
    const [outcome] = await this.#engine.commit(
      SYSTEM,
      [{ partition: PARTITION, changes: prepared }],
      at,
    );
    if (!outcome || 'refused' in outcome) throw new CatalogMoved();
    this.#written();
    outcome.items.forEach((item, index) => {
      const { name } = changes[index] as CatalogChange;
      if (item) this.#etags.set(name, item.etag);
      else this.#etags.delete(name);
    });
    if (outcome.lsn === this.#lsn + 1) this.#lsn = outcome.lsn;
    return kept;
  }
}

export function offerChange(
  name: string,
  owner: (before: readonly Serial[]) => { readonly database: Serial; readonly container?: Serial },
  throughput: Throughput,
  highestEver = 0,
): CatalogChange {
  return {
    name,
    record: (before) => ({
      kind: 'offer',
      ...owner(before),
      throughput,
      highestEver: Math.max(highestEver, ceilingOf(throughput)),
    }),
  };
}

const ATTEMPTS_MAX = 5;

/** What another server got ahead of is looked at again, and then done or refused. */
export async function whileMoving<T>(
  work: () => Promise<T>,
  lookAgain: () => Promise<void>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CatalogMoved)) throw error;
      if (attempt === ATTEMPTS_MAX) throw failure('retryWith');
      await lookAgain();
    }
  }
}
