// What happened to the collections themselves, for change streams: a short log among the records of
// the catalog, written in one commit with what it tells of. And which names are watched: whatever
// gets one of them keeps its versions from its first document on.
import type { Lsn } from '../engine/engine.js';
import type { Instant } from '../time/instant.js';
import { type CatalogChange, type MongoUserRecord, nameOf } from './catalog-store.js';

export type CollectionEventKind =
  | 'create'
  | 'drop'
  | 'rename'
  | 'dropDatabase'
  | 'createIndexes'
  | 'dropIndexes'
  | 'modify'
  | 'shardCollection';

export interface CollectionEvent {
  readonly number: number;
  readonly at: number;
  readonly kind: CollectionEventKind;
  readonly database: string;
  /** As it was called before; absent where the event is of a database. */
  readonly collection?: string;
  readonly to?: string;
  readonly uuid?: string;
  /** The id of its container in the engine. */
  readonly engine?: string;
  /** How far the collection's own changes had come; absent where all of them come first. */
  readonly lsn?: Lsn;
  /** More about it, in BSON as base64. */
  readonly description?: string;
}
export type Told = Omit<CollectionEvent, 'number' | 'at'>;

/** A database, one of its collections, or with neither everything. */
export interface Watched {
  readonly database?: string | undefined;
  readonly collection?: string | undefined;
}

const EVENTS_MAX = 2000;
const EVENT_MS_MAX = 24 * 3_600_000;
const WATCHED_MAX = 1000;

export class CollectionEvents {
  /** By their numbers, which grow. */
  #events: CollectionEvent[] = [];
  /** In the order in which they were first watched. */
  readonly #watched = new Set<string>();

  get last(): number {
    return this.#events.at(-1)?.number ?? 0;
  }

  after(number: number): readonly CollectionEvent[] {
    if (number >= this.last) return [];
    return this.#events.filter((event) => event.number > number);
  }

  /** Whether none is forgotten of those behind that number. */
  isComplete(after: number): boolean {
    return after + 1 >= (this.#events[0]?.number ?? 1);
  }

  /** The number of the last event before that instant. */
  before(at: number): number {
    const first = this.#events.find((event) => event.at >= at);
    return first ? first.number - 1 : this.last;
  }

  covers(database: string, collection: string): boolean {
    return (
      this.#watched.size > 0 &&
      [{}, { database }, { database, collection }].some((each) => this.isWatched(each))
    );
  }

  isWatched(watched: Watched): boolean {
    return this.#watched.has(textOf(watched));
  }

  /** What to write so that a name is watched; those watched first make room. */
  watching(watched: Watched): readonly CatalogChange[] {
    const oldest = [...this.#watched].slice(0, Math.max(0, this.#watched.size + 1 - WATCHED_MAX));
    const removals = oldest.map((id) => ({ name: nameOf.mongo('mongoWatch', id), remove: true }));
    const id = textOf(watched);
    const record: MongoUserRecord = { kind: 'mongoWatch', id, value: true };
    const name = nameOf.mongo('mongoWatch', id);
    return [{ name, record: () => record }, ...(removals as CatalogChange[])];
  }

  /** What to write so that events are told; old ones make room. */
  telling(told: readonly Told[], at: Instant): readonly CatalogChange[] {
    if (told.length === 0) return [];
    const additions = told.map((each, index): CatalogChange => {
      const event: CollectionEvent = { ...each, number: this.last + 1 + index, at };
      const id = String(event.number);
      const record: MongoUserRecord = { kind: 'mongoEvent', id, value: event };
      return { name: nameOf.mongo('mongoEvent', id), record: () => record };
    });
    const surplus = Math.max(0, this.#events.length + told.length - EVENTS_MAX);
    const old = this.#events.filter(
      (event, index) => index < surplus || event.at + EVENT_MS_MAX < at,
    );
    const removals = old.map(({ number }): CatalogChange => {
      return { name: nameOf.mongo('mongoEvent', String(number)), remove: true };
    });
    return [...additions, ...removals];
  }

  remember({ kind, id, value }: MongoUserRecord): void {
    if (kind === 'mongoWatch') this.#watched.add(id);
    if (kind !== 'mongoEvent') return;
    this.#events.push(value as CollectionEvent);
    this.#events.sort((a, b) => a.number - b.number);
  }

  /** Takes away what a commit has removed. */
  forget(changes: readonly CatalogChange[]): void {
    const gone = new Set(changes.filter((change) => 'remove' in change).map(({ name }) => name));
    if (gone.size === 0) return;
    this.#events = this.#events.filter(
      ({ number }) => !gone.has(nameOf.mongo('mongoEvent', String(number))),
    );
    for (const id of this.#watched) {
      if (gone.has(nameOf.mongo('mongoWatch', id))) this.#watched.delete(id);
    }
  }

  clear(): void {
    this.#events = [];
    this.#watched.clear();
  }
}

/** Names of databases hold no dot. */
function textOf({ database, collection }: Watched): string {
  if (database === undefined) return '';
  return collection === undefined ? database : `${database}.${collection}`;
}
