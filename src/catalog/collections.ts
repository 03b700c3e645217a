// The collections of the API for MongoDB: beside the containers, in the same databases and the same
// store. A name belongs to one API, fixed at creation.
import { isDeepStrictEqual } from 'node:util';
import type { Container, Etag, Serial } from '../engine/engine.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import {
  type CatalogChange,
  type CollectionRecord,
  type Kept,
  type MongoUserRecord,
  nameOf,
} from './catalog-store.js';
import { type CollectionDefinition, collectionContainer } from './collection-definition.js';
import type { Database } from './resources.js';

export interface StoredCollection {
  readonly serial: Serial;
  readonly etag: Etag;
  readonly writtenSeconds: number;
  readonly database: Serial;
  readonly definition: CollectionDefinition;
  readonly indexVersion: number;
  readonly engine: Container;
}

/** What the catalog lends: its queue of changes, its store and its care for engine containers. */
export interface CatalogTools {
  change<T>(work: () => Promise<T>): Promise<T>;
  write(changes: readonly CatalogChange[], at: Instant): Promise<readonly Kept[]>;
  checkRoom(database: Database, id: string): void;
  newEngineId(): string;
  createEngine(container: Container): Promise<void>;
  /** Comes before the definition changes: who goes by the new one needs the engine to know. */
  alterEngine(container: Container): Promise<void>;
  /** While the rules change, no purge goes on under the old ones. */
  quietly<T>(id: string, change: () => Promise<T>, changed: (result: T) => Container): Promise<T>;
  dropEngine(id: string): Promise<void>;
}

const FIRST_INDEX = 1;

export class Collections {
  readonly #tools: CatalogTools;
  readonly #documentTtl: boolean;
  readonly #records = new Map<string, MongoUserRecord>();
  readonly #byEngine = new Map<string, StoredCollection>();
  readonly #byDatabase = new Map<Serial, Map<string, StoredCollection>>();

  constructor(tools: CatalogTools, documentTtl: boolean) {
    this.#tools = tools;
    this.#documentTtl = documentTtl;
  }

  find(database: Database, id: string): StoredCollection | undefined {
    return this.#byDatabase.get(database.serial)?.get(id);
  }

  /** By the id its container has in the engine: as it is now. */
  ofEngine(id: string): StoredCollection | undefined {
    return this.#byEngine.get(id);
  }

  in(database: Database): readonly StoredCollection[] {
    return [...(this.#byDatabase.get(database.serial)?.values() ?? [])];
  }

  all(): readonly StoredCollection[] {
    return [...this.#byDatabase.values()].flatMap((each) => [...each.values()]);
  }

  /** The collection that is there already, or a new one. */
  create(
    database: Database,
    definition: CollectionDefinition,
    at: Instant,
  ): Promise<{ readonly collection: StoredCollection; readonly created: boolean }> {
    return this.#tools.change(async () => {
      const there = this.find(database, definition.id);
      if (there) return { collection: there, created: false };
      this.#tools.checkRoom(database, definition.id);
      const engineId = this.#tools.newEngineId();
      // Its purge is watched from here on.
      await this.#tools.createEngine(this.#container(engineId, definition, FIRST_INDEX));
      const record = recordOf(database.serial, definition, engineId, FIRST_INDEX);
      const name = nameOf.collection(database.serial, definition.id);
      const [kept] = await this.#tools.write([{ name, record: () => record }], at);
      return { collection: this.#keep(kept as KeptCollection), created: true };
    });
  }

  /** T7: whatever the size of the collection, this writes one record. */
  redefine(
    collection: StoredCollection,
    redefine: (current: CollectionDefinition) => CollectionDefinition,
    at: Instant,
  ): Promise<StoredCollection> {
    return this.#tools.change(async () => {
      const current = this.#current(collection);
      const definition = redefine(current.definition);
      if (definition === current.definition) return current;
      const same = isDeepStrictEqual(
        this.#container('', definition, 0).indexing,
        this.#container('', current.definition, 0).indexing,
      );
      const version = current.indexVersion + (same ? 0 : 1);
      const record = recordOf(current.database, definition, current.engine.id, version);
      const renamed = definition.id !== current.definition.id;
      const changes: CatalogChange[] = [
        { name: nameOf.collection(current.database, definition.id), record: () => record },
      ];
      if (renamed) {
        const name = nameOf.collection(current.database, current.definition.id);
        changes.push({ name, remove: true });
      }
      const rewrite = async (): Promise<StoredCollection> => {
        await this.#tools.alterEngine(this.#container(current.engine.id, definition, version));
        const [kept] = await this.#tools.write(changes, at);
        if (renamed) this.#byDatabase.get(current.database)?.delete(current.definition.id);
        return this.#keep(kept as KeptCollection);
      };
      return this.#tools.quietly(current.engine.id, rewrite, ({ engine }) => engine);
    });
  }

  drop(collection: StoredCollection, at: Instant): Promise<void> {
    return this.#tools.change(async () => {
      const current = this.#current(collection);
      await this.#tools.write([removalOf(current)], at);
      await this.#forget(current);
    });
  }

  /** Users and roles. */
  records(kind: MongoUserRecord['kind']): readonly MongoUserRecord[] {
    return [...this.#records.values()].filter((record) => record.kind === kind);
  }

  record(kind: MongoUserRecord['kind'], id: string): MongoUserRecord | undefined {
    return this.#records.get(nameOf.mongo(kind, id));
  }

  /** Without a value the record is removed. */
  writeRecord({ kind, id, value }: MongoUserRecord, at: Instant): Promise<void> {
    return this.#tools.change(async () => {
      const name = nameOf.mongo(kind, id);
      const change = { name, record: () => ({ kind, id, value }) };
      await this.#tools.write([value === undefined ? { name, remove: true } : change], at);
      if (value === undefined) this.#records.delete(name);
      else this.#records.set(name, { kind, id, value });
    });
  }

  // for the catalog

  removals(database: Database): readonly CatalogChange[] {
    return this.in(database).map(removalOf);
  }

  async forgetAll(database: Database): Promise<void> {
    for (const collection of this.in(database)) await this.#forget(collection);
    this.#byDatabase.delete(database.serial);
  }

  clear(): void {
    this.#records.clear();
    this.#byDatabase.clear();
  }

  remember(record: Kept<CollectionRecord | MongoUserRecord>): void {
    if (record.kind === 'collection') this.#keep(record);
    else this.#records.set(nameOf.mongo(record.kind, record.id), record);
  }

  #keep(record: KeptCollection): StoredCollection {
    const { serial, etag, writtenSeconds, database, definition, indexVersion } = record;
    const engine = this.#container(record.engineId, definition, indexVersion);
    const system = { serial, etag, writtenSeconds, database };
    const collection = { ...system, definition, indexVersion, engine };
    const siblings = this.#byDatabase.get(database) ?? new Map<string, StoredCollection>();
    this.#byDatabase.set(database, siblings.set(definition.id, collection));
    this.#byEngine.set(engine.id, collection);
    return collection;
  }

  #container(id: string, definition: CollectionDefinition, version: number): Container {
    return collectionContainer(id, definition, version, this.#documentTtl);
  }

  #current(collection: StoredCollection): StoredCollection {
    const current = this.#byDatabase.get(collection.database)?.get(collection.definition.id);
    if (current?.engine.id !== collection.engine.id) throw failure('notFound');
    return current;
  }

  async #forget(collection: StoredCollection): Promise<void> {
    this.#byDatabase.get(collection.database)?.delete(collection.definition.id);
    this.#byEngine.delete(collection.engine.id);
    await this.#tools.dropEngine(collection.engine.id);
  }
}

type KeptCollection = Kept<CollectionRecord>;

function recordOf(
  database: Serial,
  definition: CollectionDefinition,
  engineId: string,
  indexVersion: number,
): CollectionRecord {
  return { kind: 'collection', database, definition, engineId, indexVersion };
}

function removalOf({ database, definition }: StoredCollection): CatalogChange {
  return { name: nameOf.collection(database, definition.id), remove: true };
}
