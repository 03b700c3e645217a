// The documents that answer a question, one batch after the other. What waits to be fetched is
// looked at again when it is: it may have died meanwhile (T10, T13).
import type { StoredCollection } from '../catalog/collections.js';
import type { Item } from '../engine/engine.js';
import type { Instant } from '../time/instant.js';
import type { Bytes } from '../value/bson/value.js';
import { bsonOf } from '../value/bson-image.js';
import { type Access, accessFor, FULL_SCAN } from './access.js';
import type { Call } from './call.js';
import type { Room, Source } from './cursors.js';
import type { Question } from './question.js';
import { isStillLive, scan } from './storage.js';

export interface Window {
  readonly skip: number;
  /** 0 is none. */
  readonly limit: number;
}

/** Around each document of a batch: its type and the number of its place. */
const PLACE_BYTES = 12;

export const NO_ROWS: Source = { next: async () => [], isDone: async () => true };

export async function rowsOf(call: Call, question: Question, window: Window): Promise<Source> {
  const { collection } = question;
  if (!collection) return NO_ROWS;
  const access = await accessOf(call, question);
  const found = matching(call, collection, question, access);
  const limit = window.limit === 0 ? Number.MAX_SAFE_INTEGER : window.limit;
  return new ItemRows(found, { skip: window.skip, limit }, (item, at) =>
    isStillLive(call.mongo, collection, item, at),
  );
}

/** The items of a collection that match, in batches. */
export async function* matching(
  { mongo, at }: Call,
  collection: StoredCollection,
  { filter }: Question,
  access: Access,
): AsyncGenerator<readonly Item[]> {
  for await (const items of scan(mongo, collection, access, at)) {
    yield items.filter(({ doc }) => filter.matches(bsonOf(doc.bytes)));
  }
}

export async function accessOf(call: Call, question: Question): Promise<Access> {
  const { collection, filter, hint, language } = question;
  if (!collection || (hint && 'natural' in hint)) return FULL_SCAN;
  const { engine } = call.mongo.documents;
  const hasCollation = language.collation !== undefined;
  return accessFor({ engine, collection, at: call.at, hasCollation }, filter.tree, []);
}

class ItemRows implements Source {
  readonly #batches: AsyncGenerator<readonly Item[]>;
  readonly #isLive: (item: Item, at: Instant) => boolean;
  #toSkip: number;
  #left: number;
  #waiting: readonly Item[] = [];
  #passed = 0;
  #isExhausted = false;

  constructor(
    batches: AsyncGenerator<readonly Item[]>,
    { skip, limit }: Window,
    isLive: (item: Item, at: Instant) => boolean,
  ) {
    this.#batches = batches;
    this.#toSkip = skip;
    this.#left = limit;
    this.#isLive = isLive;
  }

  async next(at: Instant, room: Room): Promise<readonly Bytes[]> {
    const rows: Bytes[] = [];
    let bytes = 0;
    while (rows.length < room.rows && this.#left > 0) {
      const item = this.#peek(at) ?? (await this.#pull(at));
      if (!item) break;
      const document = bsonOf(item.doc.bytes);
      bytes += document.length + PLACE_BYTES;
      if (bytes > room.bytes && rows.length > 0) break;
      this.#passed += 1;
      this.#left -= 1;
      rows.push(document);
    }
    if (this.#left <= 0) await this.#batches.return(undefined);
    return rows;
  }

  async isDone(at: Instant): Promise<boolean> {
    return this.#left <= 0 || !(this.#peek(at) ?? (await this.#pull(at)));
  }

  /** The next one that waits and is alive, if there is one. */
  #peek(at: Instant): Item | undefined {
    for (; this.#passed < this.#waiting.length; this.#passed++) {
      const item = this.#waiting[this.#passed] as Item;
      if (!this.#isLive(item, at)) continue;
      if (this.#toSkip === 0) return item;
      this.#toSkip -= 1;
    }
    return undefined;
  }

  async #pull(at: Instant): Promise<Item | undefined> {
    while (!this.#isExhausted) {
      const batch = await this.#batches.next();
      this.#isExhausted = batch.done === true;
      this.#waiting = batch.done ? [] : batch.value;
      this.#passed = 0;
      const item = this.#peek(at);
      if (item) return item;
    }
    return undefined;
  }
}
