// How the catalog is kept: records as items of one system container, in one partition, so that a
// container and its offer come and go in one commit.
import type { Change, Container, Engine, Etag, Serial } from '../engine/engine.js';
import { NOT_INDEXED } from '../engine/indexing.js';
import type { Entropy } from '../time/entropy.js';
import { type Instant, secondsOf } from '../time/instant.js';
import { docFromValue } from '../value/doc.js';
import type { BelongingBodies, BelongingKind } from './belongings.js';
import type { CollectionDefinition } from './collection-definition.js';
import type { ContainerDefinition } from './definition/container-definition.js';
import type { PartitionRange } from './ranges.js';
import type { Throughput } from './throughput.js';

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
      readonly key: string;
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
/** A user or a role of the API for MongoDB; what is known of it is for that face to read. */
export interface MongoUserRecord {
  readonly kind: 'mongoUser' | 'mongoRole';
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

const EVERYTHING = {
  partition: undefined,
  span: undefined,
  filter: undefined,
  order: [],
  limit: undefined,
  after: undefined,
} as const;

const SYSTEM: Container = {
  id: 'catalog',
  partitionPaths: [['kind']],
  partitionHash: 'v2',
  indexes: [],
  indexing: NOT_INDEXED,
  expiry: [],
};

export class CatalogStore {
  readonly #engine: Engine;
  readonly #entropy: Entropy;

  constructor(engine: Engine, entropy: Entropy) {
    this.#engine = engine;
    this.#entropy = entropy;
  }

  static isSystem(container: Container): boolean {
    return container.id === SYSTEM.id;
  }

  async load(at: Instant): Promise<readonly Kept[]> {
    const containers = await this.#engine.containers();
    if (!containers.some(CatalogStore.isSystem)) await this.#engine.createContainer(SYSTEM);
    const plan = this.#engine.plan(SYSTEM, EVERYTHING);
    const kept: Kept[] = [];
    for await (const batch of plan.run(at, PAGE)) {
      for (const { serial, etag, doc } of batch.items) {
        kept.push({ ...(doc.value as Kept), serial, etag });
      }
    }
    return kept;
  }

  /** All or nothing. Answers the records as kept; removed ones are left out. */
  async write(changes: readonly CatalogChange[], at: Instant): Promise<readonly Kept[]> {
    const writtenSeconds = secondsOf(at);
    const serials: Serial[] = [];
    const kept: Kept[] = [];
    const prepared = changes.map((change): Change => {
      if ('remove' in change) return { kind: 'delete', id: change.name, ifEtag: undefined };
      const etag = this.#entropy.etag(writtenSeconds);
      return {
        kind: 'update',
        id: change.name,
        decide: (_, serial) => {
          const record = change.record([...serials]);
          serials.push(serial);
          kept.push({ ...record, serial, etag, writtenSeconds });
          const doc = docFromValue({ ...record, writtenSeconds });
          return { put: { id: change.name, etag, fuses: [], doc } };
        },
      };
    });
    const [outcome] = await this.#engine.commit(
      SYSTEM,
      [{ partition: PARTITION, changes: prepared }],
      at,
    );
    if (!outcome || 'refused' in outcome)
      throw new Error('the catalog was written by someone else');
    return kept;
  }
}
