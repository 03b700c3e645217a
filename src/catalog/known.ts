// What there is, as the records of the catalog tell it, in memory: databases, their containers and
// offers. It decides nothing.
import type { Serial } from '../engine/engine.js';
import { failure } from '../value/errors.js';
import type { Kept } from './catalog-store.js';
import { Offers } from './offers.js';
import { type Database, engineContainer, type Offer, type StoredContainer } from './resources.js';

type KeptAs<Kind extends Kept['kind']> = Extract<Kept, { readonly kind: Kind }>;

export class Known {
  readonly offers = new Offers();
  readonly #databases = new Map<string, Database>();
  readonly #containers = new Map<Serial, Map<string, StoredContainer>>();

  clear(): void {
    for (const each of [this.#databases, this.#containers, this.offers]) each.clear();
  }

  databases(): readonly Database[] {
    return [...this.#databases.values()];
  }

  database(id: string): Database | undefined {
    return this.#databases.get(id);
  }

  databaseOf(serial: Serial): Database | undefined {
    return this.databases().find((each) => each.serial === serial);
  }

  containers({ serial }: Pick<Database, 'serial'>): readonly StoredContainer[] {
    return [...(this.#containers.get(serial)?.values() ?? [])];
  }

  container({ serial }: Database, id: string): StoredContainer | undefined {
    return this.#containers.get(serial)?.get(id);
  }

  allContainers(): readonly StoredContainer[] {
    return [...this.#containers.values()].flatMap((containers) => [...containers.values()]);
  }

  /** The container as it is now, for one that was read before. */
  current({ database, serial, definition }: StoredContainer): StoredContainer {
    const current = this.#containers.get(database)?.get(definition.id);
    if (current?.serial !== serial) throw failure('notFound');
    return current;
  }

  containerOf(offer: Offer): StoredContainer | undefined {
    const siblings = this.containers({ serial: offer.database });
    return siblings.find((container) => container.serial === offer.container);
  }

  /** The containers that use their database's throughput. */
  sharing(database: Database): readonly StoredContainer[] {
    if (!this.offers.of(database.serial)) return [];
    return this.containers(database).filter(({ serial }) => !this.offers.of(serial));
  }

  hasSerial(owner: Serial): boolean {
    const all = [...this.databases(), ...this.allContainers()];
    return all.some(({ serial }) => serial === owner);
  }

  keepDatabase({ serial, etag, writtenSeconds, id }: KeptAs<'database'>): Database {
    const database = { serial, etag, writtenSeconds, id };
    this.#databases.set(id, database);
    return database;
  }

  keepOffer(record: KeptAs<'offer'>): Offer {
    const { serial, etag, writtenSeconds, database, container, throughput, highestEver } = record;
    const offer = { serial, etag, writtenSeconds, database, container, throughput, highestEver };
    this.offers.keep(offer);
    return offer;
  }

  /** By the definition that holds for now. */
  keepContainer(
    record: KeptAs<'container'>,
    definition: StoredContainer['definition'],
  ): StoredContainer {
    const { serial, etag, writtenSeconds, database, ranges, indexVersion } = record;
    const engine = engineContainer(record.engineId, definition, indexVersion);
    const system = { serial, etag, writtenSeconds, database };
    const container = { ...system, definition, ranges, indexVersion, engine };
    const siblings = this.#containers.get(database) ?? new Map<string, StoredContainer>();
    this.#containers.set(database, siblings.set(definition.id, container));
    return container;
  }

  forgetDatabase({ id, serial }: Database): void {
    this.#databases.delete(id);
    this.#containers.delete(serial);
    this.offers.forget((offer) => offer.database === serial);
  }

  forgetContainer({ database, serial, definition }: StoredContainer): void {
    this.#containers.get(database)?.delete(definition.id);
    this.offers.forget((offer) => offer.container === serial);
  }
}
