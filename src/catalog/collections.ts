// The collections of the API for MongoDB: beside the containers, in the same databases and the same
// store. A name belongs to one API, fixed at creation.
import { isDeepStrictEqual } from 'node:util';
import type { Container, Etag, Lsn, Serial } from '../engine/engine.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import {
  type CatalogChange,
  type CollectionRecord,
  type Kept,
  type MongoUserRecord,
  nameOf,
  offerChange,
} from './catalog-store.js';
import { type CollectionDefinition, collectionContainer } from './collection-definition.js';
import { CollectionEvents, type Told, type Watched } from './collection-events.js';
import type { Database, Offer } from './resources.js';

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
  /** How far the changes of a container have come. */
  lsnOf(container: Container): Promise<Lsn>;
  databases(): readonly Database[];
  offerOf(serial: Serial): Offer | undefined;
  keepOffer(record: Kept): void;
  forgetOffer(serial: Serial): void;
}
/** More about a change, for those who watch. */
export type Tidings = Pick<Told, 'kind' | 'description'>;
type OnDrop = (collection: StoredCollection, database: string) => Promise<void>;

const FIRST_INDEX = 1;

export class Collections {
  readonly events = new CollectionEvents();
  readonly #onDrop = new Set<OnDrop>();
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

  ofSerial(serial: Serial | undefined): StoredCollection | undefined {
    return this.all().find((each) => each.serial === serial);
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
    given: CollectionDefinition,
    at: Instant,
    description?: string,
  ): Promise<{ readonly collection: StoredCollection; readonly created: boolean }> {
    return this.#tools.change(async () => {
      const there = this.find(database, given.id);
      if (there) return { collection: there, created: false };
      this.#tools.checkRoom(database, given.id);
      const isWatched = given.watched || this.events.covers(database.id, given.id);
      const definition = isWatched ? { ...given, watched: true } : given;
      const engineId = this.#tools.newEngineId();
      // Its purge is watched from here on.
      await this.#tools.createEngine(this.#container(engineId, definition, FIRST_INDEX));
      const record = recordOf(database.serial, definition, engineId, FIRST_INDEX);
      const name = nameOf.collection(database.serial, definition.id);
      const engine = this.#container(engineId, definition, FIRST_INDEX);
      const told = this.#told({ database: database.serial, definition, engine }, [
        { kind: 'create', lsn: 0, ...(description === undefined ? {} : { description }) },
      ]);
      const [kept] = await this.#write([{ name, record: () => record }], told, at);
      return { collection: this.#keep(kept as KeptCollection), created: true };
    });
  }

  /** T7: whatever the size of the collection, this writes one record. */
  redefine(
    collection: StoredCollection,
    redefine: (current: CollectionDefinition) => CollectionDefinition,
    at: Instant,
    tidings?: () => Tidings,
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
        changes.push({ name, remove: true }, ...this.#movedOffer(current, definition.id));
      }
      const rewrite = async (): Promise<StoredCollection> => {
        await this.#tools.alterEngine(this.#container(current.engine.id, definition, version));
        const told = this.#told(current, [
          ...(renamed ? [{ kind: 'rename', to: definition.id } as const] : []),
          ...(tidings ? [tidings()] : []),
        ]);
        const lsn = told.length > 0 ? await this.#tools.lsnOf(current.engine) : 0;
        const news = told.map((each) => ({ ...each, lsn }));
        const [kept] = await this.#write(changes, news, at);
        if (renamed) {
          this.#byDatabase.get(current.database)?.delete(current.definition.id);
          this.#tools.forgetOffer(current.serial);
        }
        return this.#keep(kept as KeptCollection);
      };
      return this.#tools.quietly(current.engine.id, rewrite, ({ engine }) => engine);
    });
  }

  drop(collection: StoredCollection, at: Instant): Promise<void> {
    return this.#tools.change(async () => {
      const current = this.#current(collection);
      await this.#write(removalOf(current), this.#told(current, [{ kind: 'drop' }]), at);
      await this.#forget(current, this.databaseOf(current));
    });
  }

  /** Whatever has that name, or gets it, keeps its versions from now on. */
  async watch(watched: Watched, at: Instant): Promise<void> {
    if (!this.events.isWatched(watched)) {
      await this.#tools.change(async () => {
        await this.#write(this.events.watching(watched), [], at);
      });
    }
    const watch = (current: CollectionDefinition) =>
      current.watched ? current : { ...current, watched: true, watchedSince: at };
    for (const collection of this.watchedBy(watched)) {
      if (!collection.definition.watched) await this.redefine(collection, watch, at);
    }
  }

  watchedBy({ database, collection }: Watched): readonly StoredCollection[] {
    return this.#tools
      .databases()
      .filter(({ id }) => database === undefined || id === database)
      .flatMap((each) => this.in(each))
      .filter(({ definition }) => collection === undefined || definition.id === collection);
  }

  databaseOf({ database }: Pick<StoredCollection, 'database'>): string {
    return this.#tools.databases().find(({ serial }) => serial === database)?.id ?? '';
  }

  /** Called before what a dropped collection kept is gone; answers how to be called no more. */
  onDrop(listener: OnDrop): () => void {
    this.#onDrop.add(listener);
    return () => this.#onDrop.delete(listener);
  }

  /** All collections of a database are gone, and with them what was it for this API. */
  async tellDropped(database: Database, at: Instant): Promise<void> {
    await this.#tools.change(async () => {
      const told = this.#ofDatabase(database);
      if (told.length > 0) await this.#write([], told, at);
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

  removals(database: Database, at: Instant): readonly CatalogChange[] {
    const all = this.in(database);
    const told = all.flatMap((each) => this.#told(each, [{ kind: 'drop' }]));
    return [
      ...all.flatMap(removalOf),
      ...this.events.telling([...told, ...this.#ofDatabase(database)], at),
    ];
  }

  /** Takes over what a commit of the catalog has told of collections. */
  heed(changes: readonly CatalogChange[], kept: readonly Kept[]): void {
    for (const record of kept) {
      if ('value' in record) this.remember(record);
      if (record.kind === 'offer') this.#tools.keepOffer(record);
    }
    this.events.forget(changes);
  }

  async forgetAll(database: Database): Promise<void> {
    for (const collection of this.in(database)) await this.#forget(collection, database.id);
    this.#byDatabase.delete(database.serial);
  }

  clear(): void {
    this.#records.clear();
    this.#byDatabase.clear();
    this.#byEngine.clear();
    this.events.clear();
  }

  remember(record: Kept<CollectionRecord | MongoUserRecord>): void {
    if (record.kind === 'collection') this.#keep(record);
    else if (record.kind === 'mongoEvent' || record.kind === 'mongoWatch') {
      this.events.remember(record);
    } else this.#records.set(nameOf.mongo(record.kind, record.id), record);
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

  /** Under another name a collection is another record, which its throughput goes with. */
  #movedOffer({ serial, database, definition }: StoredCollection, to: string): CatalogChange[] {
    const offer = this.#tools.offerOf(serial);
    if (!offer) return [];
    const owner = ([container = 0]: readonly Serial[]) => ({ database, container });
    const { throughput, highestEver } = offer;
    return [
      offerChange(nameOf.containerOffer(database, to), owner, throughput, highestEver),
      { name: nameOf.containerOffer(database, definition.id), remove: true },
    ];
  }

  async #write(
    changes: readonly CatalogChange[],
    told: readonly Told[],
    at: Instant,
  ): Promise<readonly Kept[]> {
    const all = [...changes, ...this.events.telling(told, at)];
    const kept = await this.#tools.write(all, at);
    this.heed(all, kept);
    return kept;
  }

  /** Only where somebody watches, or has: others pay nothing for it. */
  #told(
    { database, definition, engine }: Pick<StoredCollection, 'database' | 'definition' | 'engine'>,
    news: readonly Omit<Told, 'database' | 'collection' | 'uuid' | 'engine'>[],
  ): readonly Told[] {
    const name = this.databaseOf({ database });
    if (!definition.watched && !this.events.covers(name, definition.id)) return [];
    const { id, uuid } = definition;
    return news.map((each) => ({
      ...each,
      database: name,
      collection: id,
      uuid,
      engine: engine.id,
    }));
  }

  #ofDatabase({ id }: Database): readonly Told[] {
    const isWatched = this.events.isWatched({}) || this.events.isWatched({ database: id });
    return isWatched ? [{ kind: 'dropDatabase', database: id }] : [];
  }

  async #forget(collection: StoredCollection, database: string): Promise<void> {
    this.#byDatabase.get(collection.database)?.delete(collection.definition.id);
    this.#byEngine.delete(collection.engine.id);
    this.#tools.forgetOffer(collection.serial);
    for (const listener of this.#onDrop) await listener(collection, database);
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

function removalOf({ database, definition }: StoredCollection): readonly CatalogChange[] {
  return [
    { name: nameOf.collection(database, definition.id), remove: true },
    { name: nameOf.containerOffer(database, definition.id), remove: true },
  ];
}
