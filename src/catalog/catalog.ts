// The catalog: databases, containers, offers and what belongs to them, all of it cached.
// Definitions are the truth; the engine's own containers follow them and are brought in line when
// the catalog is opened.
import { isDeepStrictEqual } from 'node:util';
import type { Container, Engine, Serial } from '../engine/engine.js';
import type { Entropy } from '../time/entropy.js';
import { type Instant, instant } from '../time/instant.js';
import type { Purger } from '../time/purger.js';
import { failure } from '../value/errors.js';
import { type Belonging, Belongings } from './belongings.js';
import { CatalogStore, type Kept, nameOf, offerChange, whileMoving } from './catalog-store.js';
import { type CatalogTools, Collections, type StoredCollection } from './collections.js';
import { containerCreation, containerRemoval, databaseCreation, FIRST_INDEX } from './creation.js';
import type { ContainerDefinition } from './definition/container-definition.js';
import { partitionHash } from './definition/partition-key-definition.js';
import { Known } from './known.js';
import { grownRanges, newRanges, splitRanges } from './ranges.js';
import { type Database, engineContainer, type Offer, type StoredContainer } from './resources.js';
import { checkFresh, type Sharing, switchInstant, Waiting } from './sharing.js';
import { DEFAULT_THROUGHPUT, rangesFor, type Throughput } from './throughput.js';
import { purgeable } from './watching.js';

const RESOURCES_MAX = 500;
const SHARED_CONTAINERS_MAX = 25;

interface Parts {
  readonly engine: Engine;
  readonly entropy: Entropy;
  readonly purger: Purger;
  /** T34: whether documents of collections may have a `ttl` of their own. */
  readonly documentTtl?: boolean;
  /** Where other servers may be over the same engine. */
  readonly sharing?: Sharing;
}

export class Catalog {
  readonly belongings: Belongings;
  /** Those of the API for MongoDB. */
  readonly collections: Collections;
  readonly #parts: Parts;
  readonly #store: CatalogStore;
  readonly #known = new Known();
  #changing: Promise<unknown> = Promise.resolve();
  /** Of containers whose time to live changes for all servers at one instant. */
  readonly #waiting: Waiting<Kept>;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.#waiting = new Waiting(parts.sharing);
    this.#store = new CatalogStore(parts.engine, parts.entropy, () => parts.sharing?.tell?.());
    this.belongings = new Belongings({
      store: this.#store,
      change: (work) => this.#change(work),
      isThere: (owner) => this.#known.hasSerial(owner),
    });
    this.collections = new Collections(this.#tools(), parts.documentTtl ?? true);
  }

  static async open(parts: Parts, at: Instant): Promise<Catalog> {
    const catalog = new Catalog(parts);
    for (const record of await catalog.#store.load(at)) catalog.#remember(record);
    const stored = new Map((await parts.engine.containers()).map((each) => [each.id, each]));
    // What others are about to do is theirs to finish.
    const isAlone = !parts.sharing?.others;
    for (const container of catalog.#engines().values()) {
      if (isAlone) await catalog.#bringInLine(container, stored.get(container.id));
      await catalog.#watchEngine(container);
      stored.delete(container.id);
    }
    if (!isAlone) return catalog;
    // What the engine has and no definition names was being created or deleted when the server
    // stopped.
    for (const orphan of stored.values()) {
      if (!CatalogStore.isSystem(orphan)) await parts.engine.dropContainer(orphan.id);
    }
    await catalog.belongings.sweepOrphans(at);
    return catalog;
  }

  /** Takes over what other servers have written. */
  refresh(): Promise<void> {
    return this.#change(async () => {
      if (await this.#store.hasMoved()) await this.#reload();
    });
  }

  async #reload(): Promise<void> {
    const records = await this.#store.load(instant(0));
    const before = this.#engines();
    this.#known.clear();
    this.belongings.clear();
    this.collections.clear();
    this.#waiting.clear();
    for (const record of records) this.#remember(record);
    for (const [id, container] of this.#engines()) {
      if (!isDeepStrictEqual(before.get(id), container)) await this.#watchEngine(container);
      before.delete(id);
    }
    for (const id of before.keys()) this.#parts.purger.forget(id);
  }

  #engines(): Map<string, Container> {
    const all = [...this.allContainers(), ...this.collections.all()];
    return new Map(all.map(({ engine }) => [engine.id, engine]));
  }

  #settle(): void {
    for (const record of this.#waiting.due()) {
      void this.#watchEngine((this.#remember(record) as StoredContainer).engine);
    }
  }

  // reading: from the cache, at once

  databases(): readonly Database[] {
    return this.#known.databases();
  }

  database(id: string): Database | undefined {
    checkFresh(this.#parts.sharing);
    return this.#known.database(id);
  }

  containers(database: Database): readonly StoredContainer[] {
    return this.#known.containers(database);
  }

  container(database: Database, id: string): StoredContainer | undefined {
    this.#settle();
    return this.#known.container(database, id);
  }

  allContainers(): readonly StoredContainer[] {
    return this.#known.allContainers();
  }

  offers(): readonly Offer[] {
    return this.#known.offers.all();
  }

  offerOf(database: Serial, container: Serial | undefined): Offer | undefined {
    return this.#known.offers.of(container ?? database);
  }

  /** The throughput that requests on a container use: its own, or what its database shares. */
  offerFor({ database, serial }: Pick<StoredContainer, 'database' | 'serial'>): Offer | undefined {
    const { offers } = this.#known;
    return offers.of(serial) ?? offers.of(database);
  }

  // changing: one at a time

  createDatabase(id: string, throughput: Throughput | undefined, at: Instant): Promise<Database> {
    return this.#change(async () => {
      if (this.#known.database(id)) throw failure('resourceConflict');
      this.#checkRoom();
      const changes = databaseCreation(id, throughput);
      const [record, offer] = await this.#store.write(changes, at);
      if (offer) this.#remember(offer);
      return this.#remember(record as Kept) as Database;
    });
  }

  deleteDatabase(database: Database, at: Instant): Promise<void> {
    return this.#change(async () => {
      const containers = this.containers(database);
      const ofCollections = this.collections.removals(database, at);
      const kept = await this.#store.write(
        [
          { name: nameOf.database(database.id), remove: true },
          { name: nameOf.databaseOffer(database.id), remove: true },
          ...containers.flatMap(containerRemoval),
          ...ofCollections,
        ],
        at,
      );
      this.collections.heed(ofCollections, kept);
      this.#known.forgetDatabase(database);
      for (const container of containers) await this.#forget(container);
      await this.collections.forgetAll(database);
      await this.belongings.sweep(database.serial, at);
    });
  }

  createContainer(
    database: Database,
    definition: ContainerDefinition,
    throughput: Throughput | undefined,
    at: Instant,
  ): Promise<StoredContainer> {
    return this.#change(async () => {
      this.#checkOwner(database);
      this.#checkName(database, definition.id);
      this.#checkRoom(database, throughput);
      const shared = this.offerOf(database.serial, undefined);
      const own = throughput ?? (shared ? undefined : DEFAULT_THROUGHPUT);
      const ranges = newRanges(
        rangesFor(own ?? shared?.throughput ?? DEFAULT_THROUGHPUT),
        partitionHash(definition.partitionKey),
      );
      const engineId = this.#parts.entropy.uuid();
      await this.#parts.engine.createContainer(engineContainer(engineId, definition, FIRST_INDEX));
      const changes = containerCreation(database, definition, { ranges, engineId }, own);
      const [record, offer] = await this.#store.write(changes, at);
      if (offer) this.#remember(offer);
      const container = this.#remember(record as Kept) as StoredContainer;
      await this.#watchEngine(container.engine);
      return container;
    });
  }

  /** T7: whatever the size of the container, this writes one record. */
  replaceContainer(
    container: StoredContainer,
    redefine: (current: ContainerDefinition) => ContainerDefinition,
    ifMatch: string | undefined,
    at: Instant,
  ): Promise<StoredContainer> {
    const replacing = this.#change(async () => {
      const current = this.#known.current(container);
      if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== current.etag) {
        throw failure('preconditionFailed');
      }
      const definition = redefine(current.definition);
      const rewrite = async () => {
        const replaced = await this.#rewrite(current, { definition }, at);
        const { engine, indexVersion } = replaced;
        await this.#parts.engine.alterContainer(
          engineContainer(engine.id, definition, indexVersion),
        );
        return replaced;
      };
      return this.#quietly(current.engine.id, rewrite, ({ engine }) => engine);
    });
    return replacing.then((replaced) => this.#inEffect(replaced));
  }

  /** Answered when all servers go by it. */
  async #inEffect(replaced: StoredContainer): Promise<StoredContainer> {
    await this.#waiting.over(({ serial }) => serial === replaced.serial);
    this.#settle();
    return this.#known.current(replaced);
  }

  deleteContainer(container: StoredContainer, at: Instant): Promise<void> {
    return this.#change(async () => {
      const current = this.#known.current(container);
      await this.#store.write(containerRemoval(current), at);
      this.#known.forgetContainer(current);
      await this.belongings.sweep(current.serial, at);
      await this.#forget(current);
    });
  }

  /** `decide` sees the offer as it is when its turn has come. */
  replaceOffer(
    { serial }: Offer,
    decide: (current: Offer) => Throughput,
    at: Instant,
  ): Promise<Offer> {
    return this.#change(async () => {
      const offer = this.#known.offers.get(serial);
      if (!offer) throw failure('notFound');
      const throughput = decide(offer);
      const database = this.#known.databaseOf(offer.database);
      const container = this.#known.containerOf(offer);
      const owned = container ?? this.collections.ofSerial(offer.container);
      if (!database || (offer.container !== undefined && !owned)) throw failure('notFound');
      const grown = container ? [container] : owned ? [] : this.#known.sharing(database);
      for (const each of grown) {
        const { partitionKey } = each.definition;
        const ranges = grownRanges(each.ranges, rangesFor(throughput), partitionHash(partitionKey));
        if (ranges.length > each.ranges.length) await this.#rewrite(each, { ranges }, at);
      }
      return this.#provision(database, owned, throughput, offer.highestEver, at);
    });
  }

  /** A collection of the API for MongoDB that shares its database's throughput gets its own. */
  provisionCollection(
    collection: StoredCollection,
    throughput: Throughput,
    at: Instant,
  ): Promise<Offer> {
    return this.#change(async () => {
      const owned = this.collections.ofSerial(collection.serial);
      const database = this.#known.databaseOf(collection.database);
      if (!owned || !database) throw failure('notFound');
      return this.#provision(database, owned, throughput, 0, at);
    });
  }

  async #provision(
    { serial: database, id }: Database,
    owned:
      | (Pick<StoredContainer, 'serial'> & { readonly definition: { readonly id: string } })
      | undefined,
    throughput: Throughput,
    highestEver: number,
    at: Instant,
  ): Promise<Offer> {
    const name = owned
      ? nameOf.containerOffer(database, owned.definition.id)
      : nameOf.databaseOffer(id);
    const owner = { database, ...(owned ? { container: owned.serial } : {}) };
    const change = offerChange(name, () => owner, throughput, highestEver);
    const [kept] = await this.#store.write([change], at);
    return this.#remember(kept as Kept) as Offer;
  }

  /** Divides physical ranges in two: one of them, or all. Items stay where they are. */
  splitRanges(
    container: StoredContainer,
    id: number | undefined,
    at: Instant,
  ): Promise<StoredContainer> {
    return this.#change(async () => {
      const current = this.#known.current(container);
      const hash = partitionHash(current.definition.partitionKey);
      return this.#rewrite(current, { ranges: splitRanges(current.ranges, id, hash) }, at);
    });
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#changing.then(() => whileMoving(work, () => this.#reload()));
    this.#changing = result.catch(() => undefined);
    return result;
  }

  #checkOwner({ id }: Database): void {
    if (!this.#known.database(id)) throw failure('ownerNotFound', { owner: id });
  }

  /** A name belongs to one API. */
  #checkName(database: Database, id: string): void {
    if (this.container(database, id) || this.collections.find(database, id)) {
      throw failure('resourceConflict');
    }
  }

  #tools(): CatalogTools {
    const { engine, entropy } = this.#parts;
    return {
      change: (work) => this.#change(work),
      write: (changes, at) => this.#store.write(changes, at),
      checkRoom: (database, id) => {
        this.#checkOwner(database);
        this.#checkName(database, id);
        this.#checkRoom();
      },
      newEngineId: () => entropy.uuid(),
      createEngine: async (container) => {
        await engine.createContainer(container);
        await this.#watchEngine(container);
      },
      alterEngine: (container) => engine.alterContainer(container),
      quietly: (id, change, changed) => this.#quietly(id, change, changed),
      dropEngine: async (id) => {
        this.#parts.purger.forget(id);
        await engine.dropContainer(id);
      },
      lsnOf: async (container) => (await engine.stats(container)).lsn,
      databases: () => this.databases(),
      offerOf: (serial) => this.#known.offers.of(serial),
      keepOffer: (record) => void this.#remember(record),
      forgetOffer: (serial) => this.#known.offers.forget(({ container }) => container === serial),
    };
  }

  async #quietly<T>(id: string, change: () => Promise<T>, changed: (result: T) => Container) {
    const { purger } = this.#parts;
    // No pass under the old rules may take what is alive under the new ones.
    purger.forget(id);
    await purger.passesOver();
    const result = await change();
    await this.#watchEngine(changed(result));
    return result;
  }

  #checkRoom(database?: Database, throughput?: Throughput): void {
    if (this.databases().length + this.allContainers().length >= RESOURCES_MAX) {
      throw failure('limitReached', { limit: RESOURCES_MAX, what: 'databases and containers' });
    }
    if (!database || throughput || this.#known.sharing(database).length < SHARED_CONTAINERS_MAX)
      return;
    const what = 'containers in a database with shared throughput';
    throw failure('limitReached', { limit: SHARED_CONTAINERS_MAX, what });
  }

  async #rewrite(
    container: StoredContainer,
    change: Partial<Pick<StoredContainer, 'definition' | 'ranges'>>,
    at: Instant,
  ): Promise<StoredContainer> {
    const { database, definition, ranges, engine } = { ...container, ...change };
    const before = container.definition.indexingPolicy;
    const sameIndex = isDeepStrictEqual(before, definition.indexingPolicy);
    const name = nameOf.container(database, container.definition.id);
    const isOther = definition.defaultTtl !== container.definition.defaultTtl;
    const since = isOther ? switchInstant(this.#parts.sharing) : undefined;
    const record = {
      kind: 'container',
      database,
      definition,
      ranges,
      engineId: engine.id,
      indexVersion: container.indexVersion + (sameIndex ? 0 : 1),
      ...(since === undefined ? {} : { change: { since, before: container.definition } }),
    } as const;
    const [kept] = await this.#store.write([{ name, record: () => record }], at);
    return this.#remember(kept as Kept) as StoredContainer;
  }

  #remember(record: Kept): Database | StoredContainer | Offer | Belonging | undefined {
    if (record.kind === 'belonging') return this.belongings.remember(record);
    if (record.kind === 'collection' || 'value' in record) {
      this.collections.remember(record);
      return undefined;
    }
    if (record.kind === 'database') return this.#known.keepDatabase(record);
    if (record.kind === 'offer') return this.#known.keepOffer(record);
    const { change, definition } = record;
    const isToWait = this.#waiting.add(change?.since, record);
    return this.#known.keepContainer(record, (isToWait && change?.before) || definition);
  }

  async #bringInLine(wanted: Container, stored: Container | undefined): Promise<void> {
    if (!stored) await this.#parts.engine.createContainer(wanted);
    else if (!isDeepStrictEqual(wanted, stored)) await this.#parts.engine.alterContainer(wanted);
  }

  #watchEngine(container: Container): Promise<void> {
    return this.#parts.purger.watch(purgeable(this.#parts.engine, container));
  }

  async #forget(container: StoredContainer): Promise<void> {
    this.#parts.purger.forget(container.engine.id);
    await this.#parts.engine.dropContainer(container.engine.id);
  }
}
