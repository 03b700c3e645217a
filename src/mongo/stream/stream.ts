// Change streams: cursors over the logs of all versions, of a collection, of all in a database, or
// of all there are. What happened first by its instant comes first; what happened to a collection
// itself comes behind those of its changes that were before it.
import type { CollectionEvent, Watched } from '../../catalog/collection-events.js';
import type { StoredCollection } from '../../catalog/collections.js';
import type { Lsn } from '../../engine/engine.js';
import { rest, stopwatch } from '../../time/clock.js';
import type { Instant } from '../../time/instant.js';
import { type Bytes, type Document, documentOf } from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { bsonOf } from '../../value/bson-image.js';
import type { Mongo } from '../call.js';
import type { Room, Source } from '../cursors.js';
import { collectionEvent, documentEvent, invalidation } from './event.js';
import { CollectionLog, historyLost, type Placed } from './log.js';
import type { Settings } from './settings.js';
import { type Ending, type Place, type Position, START, shortName, tokenOf } from './token.js';

const EVENTS_PER_READ = 500;
const READ_BYTES_MAX = 8_000_000;
const ROWS_MIN = 16;
const BYTES_MIN = 100_000;
const POLL_MS = 20;
/** Where looking takes long, this much longer is waited between looks. */
const POLL_SHARE = 4;
const WAIT_MS_MAX = 60_000;
/** Shown without being asked for. */
const ALWAYS_SHOWN: readonly string[] = ['drop', 'rename', 'dropDatabase'];

type Shaped = (events: readonly Bytes[]) => Promise<readonly Bytes[]>;
/** One thing that happened: the event, if it is one to tell; passing it can be taken back. */
interface Step {
  readonly at: number;
  readonly event: Document | undefined;
  pass(): () => void;
}

export class Stream implements Source {
  readonly #mongo: Mongo;
  readonly #watched: Watched;
  readonly #settings: Settings;
  readonly #shaped: Shaped;
  readonly #logs = new Map<string, CollectionLog>();
  readonly #stopListening: () => void;
  #horizon: number;
  #sequence: number;
  #ending: Ending;
  #event: number;
  /** Reading, and keeping what is about to be dropped, take turns. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    mongo: Mongo,
    watched: Watched,
    settings: Settings,
    position: Omit<Position, 'places'>,
    shaped: Shaped,
  ) {
    this.#mongo = mongo;
    this.#watched = watched;
    this.#settings = settings;
    this.#shaped = shaped;
    this.#horizon = position.horizon;
    this.#sequence = position.sequence;
    this.#ending = position.ending;
    this.#event = position.event;
    this.#stopListening = mongo.catalog.collections.onDrop((collection, database) =>
      this.#inTurn(() => this.#keepDropped(collection, database)),
    );
  }

  /** Reads the changes of a collection from there on. */
  follow(
    collection: StoredCollection,
    place: Place,
    since?: number,
    database = this.#mongo.catalog.collections.databaseOf(collection),
  ): void {
    const { documents, catalog } = this.#mongo;
    const { id } = collection.engine;
    const container = () => (catalog.collections.ofEngine(id) ?? collection).engine;
    const { engine } = documents;
    this.#logs.set(id, new CollectionLog({ engine, container, database }, place, since));
  }

  close(): void {
    this.#stopListening();
  }

  next(at: Instant, room: Room): Promise<readonly Bytes[]> {
    return this.#inTurn(async () => {
      const events: Bytes[] = [];
      let bytes = 0;
      await this.#lookAgain(at);
      for (let steps = 0; steps < EVENTS_PER_READ && events.length < room.rows; steps++) {
        const step = await this.#step(at);
        if (!step) break;
        const takeBack = this.#pass(step);
        if (!step.event) continue;
        step.event.set('_id', documentOf({ _data: this.resumeToken() }));
        const event = encodeDocument(step.event);
        bytes += event.length;
        if (events.length > 0 && bytes > room.bytes) {
          takeBack();
          break;
        }
        events.push(event);
      }
      return this.#shaped(events);
    });
  }

  async isDone(): Promise<boolean> {
    return this.#ending === 'told';
  }

  /** Until something happens, the time is up, or the server stops. */
  async wait(ms: number): Promise<void> {
    const took = stopwatch();
    const { stopping } = this.#mongo;
    while (took() < Math.min(ms, WAIT_MS_MAX)) {
      const looking = stopwatch();
      if (await this.#hasNews()) return;
      const pause = Math.max(POLL_MS, looking() * POLL_SHARE);
      const stopped = await Promise.race([rest(pause), stopping.then(() => true)]);
      if (stopped === true) return;
    }
  }

  resumeToken(): string {
    const places = new Map<string, Place>();
    for (const [id, { place }] of this.#logs) places.set(shortName(id), place);
    return tokenOf({
      horizon: this.#horizon,
      sequence: this.#sequence,
      ending: this.#ending,
      event: this.#event,
      places,
    });
  }

  async #hasNews(): Promise<boolean> {
    const { collections } = this.#mongo.catalog;
    if (this.#ending !== 'none' || collections.events.last > this.#event) return true;
    if (this.#newcomers().length > 0) return true;
    for (const log of this.#logs.values()) if (await log.hasMore()) return true;
    return false;
  }

  /** Collections that have one of the names, or had it when something happened to them. */
  #newcomers(): readonly StoredCollection[] {
    const { collections } = this.#mongo.catalog;
    const named = collections.events
      .after(this.#event)
      .filter((told) => told.collection !== undefined && this.#isOf(told.database, told.collection))
      .flatMap(({ engine = '' }) => collections.ofEngine(engine) ?? []);
    const all = [...collections.watchedBy(this.#watched), ...named];
    return all.filter(({ engine }) => !this.#logs.has(engine.id));
  }

  #isOf(database: string, collection: string): boolean {
    const watched = this.#watched;
    return (
      (watched.database === undefined || watched.database === database) &&
      (watched.collection === undefined || watched.collection === collection)
    );
  }

  /** Collections that came since the last look are followed from their first change on. */
  async #lookAgain(at: Instant): Promise<void> {
    const { collections } = this.#mongo.catalog;
    if (!collections.events.isComplete(this.#event)) throw historyLost();
    for (const collection of this.#newcomers()) {
      if (collection.definition.watched) this.follow(collection, START);
      // Another server did not know yet that its name is watched.
      else await collections.watch(this.#watched, at);
    }
    for (const log of this.#logs.values()) log.lookAgain();
  }

  async #keepDropped(collection: StoredCollection, database: string): Promise<void> {
    const { id } = collection.engine;
    if (!this.#logs.has(id) && this.#isOf(database, collection.definition.id)) {
      this.follow(collection, START, undefined, database);
    }
    await this.#logs.get(id)?.keepAll(this.#mongo.clock.now());
  }

  async #step(at: Instant): Promise<Step | undefined> {
    if (this.#ending === 'told') return undefined;
    if (this.#ending === 'due') return this.#lastStep(at);
    const pending = this.#mongo.catalog.collections.events.after(this.#event);
    const [next] = pending;
    const barriers = barriersOf(pending);
    const shares = Math.max(1, this.#logs.size);
    const budget = {
      rowsMax: Math.max(ROWS_MIN, Math.floor(EVENTS_PER_READ / shares)),
      bytesMax: Math.max(BYTES_MIN, Math.floor(READ_BYTES_MAX / shares)),
    };
    let first: CollectionLog | undefined;
    let isNextReady = next !== undefined;
    for (const log of this.#logs.values()) {
      await log.fill(at, budget);
      const { head } = log;
      // What came after an event of its collection waits for it, and it waits for what came before.
      if (!head || head.version.lsn > (barriers.get(log.engineId) ?? Infinity)) continue;
      if (next?.engine === log.engineId) isNextReady = false;
      if (!first?.head || head.version.at < first.head.version.at) first = log;
    }
    const head = first?.head;
    if (!next || !isNextReady || (head && !isBefore(next, head))) {
      return first && head ? this.#documentStep(first, head, at) : undefined;
    }
    return this.#collectionStep(next);
  }

  #pass(step: Step): () => void {
    const before = [this.#horizon, this.#sequence, this.#event] as const;
    const ending = this.#ending;
    const undo = step.pass();
    this.#sequence = step.at > this.#horizon ? 0 : this.#sequence + 1;
    this.#horizon = Math.max(this.#horizon, step.at);
    return () => {
      undo();
      [this.#horizon, this.#sequence, this.#event] = before;
      this.#ending = ending;
    };
  }

  async #documentStep(log: CollectionLog, { version }: Placed, at: Instant): Promise<Step> {
    const { catalog, documents } = this.#mongo;
    const present = catalog.collections.ofEngine(log.engineId);
    const later = catalog.collections.events
      .after(this.#event)
      .find(
        ({ engine, kind, lsn = 0 }) =>
          engine === log.engineId && (kind === 'drop' || (kind === 'rename' && lsn >= version.lsn)),
      );
    const collection = later?.collection ?? present?.definition.id;
    const isInScope =
      this.#watched.collection === undefined || this.#watched.collection === collection;
    const lookUp = async () => {
      if (!present) return undefined;
      const { items } = await documents.engine.get(present.engine, [version.key], at);
      return items[0] && bsonOf(items[0].doc.bytes);
    };
    const subject = { database: log.database, collection, uuid: present?.definition.uuid };
    const happening = { version, subject, definition: present?.definition, lookUp };
    const event = isInScope ? await documentEvent(happening, this.#settings) : undefined;
    return { at: version.at, event, pass: () => log.pass() };
  }

  #collectionStep(told: CollectionEvent): Step {
    const { database, collection } = this.#watched;
    const isInScope =
      [told.collection, told.to].some(
        (name) => name !== undefined && this.#isOf(told.database, name),
      ) ||
      (collection === undefined && this.#isOf(told.database, ''));
    const isShown = this.#settings.showExpandedEvents || ALWAYS_SHOWN.includes(told.kind);
    const ends =
      isInScope &&
      (collection === undefined
        ? database !== undefined && told.kind === 'dropDatabase'
        : told.kind === 'drop' || told.kind === 'rename');
    return {
      at: told.at,
      event: isInScope && isShown ? collectionEvent(told, this.#settings) : undefined,
      pass: () => {
        const gone = told.kind === 'drop' && told.engine ? this.#logs.get(told.engine) : undefined;
        if (gone) this.#logs.delete(gone.engineId);
        this.#event = told.number;
        if (ends) this.#ending = 'due';
        return () => {
          if (gone) this.#logs.set(gone.engineId, gone);
        };
      },
    };
  }

  #lastStep(at: Instant): Step {
    const when = Math.max(at, this.#horizon);
    return {
      at: when,
      event: invalidation(when, this.#event, this.#settings),
      pass: () => {
        this.#ending = 'told';
        return () => undefined;
      },
    };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

/** How far the changes of collections come before the first thing that happened to them. */
function barriersOf(pending: readonly CollectionEvent[]): ReadonlyMap<string, Lsn> {
  const barriers = new Map<string, Lsn>();
  for (const { engine, lsn } of pending) {
    if (engine !== undefined && lsn !== undefined && !barriers.has(engine)) {
      barriers.set(engine, lsn);
    }
  }
  return barriers;
}

/** A collection is there before its documents; all else goes by its instant. */
function isBefore(told: CollectionEvent, { version }: Placed): boolean {
  return told.at < version.at || (told.at === version.at && told.kind === 'create');
}
