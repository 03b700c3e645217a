// The documents that answer a question, one batch after the other. What waits to be fetched is
// looked at again when it is: it may have died meanwhile (T10, T13).
import type { StoredCollection } from '../catalog/collections.js';
import type { Item } from '../engine/engine.js';
import type { Projection } from '../mql/projection/project.js';
import { Row, type RowMeta } from '../mql/row.js';
import type { Sort } from '../mql/sort.js';
import type { Instant } from '../time/instant.js';
import { type Bytes, documentOf } from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';
import { bsonOf } from '../value/bson-image.js';
import { type Access, accessFor, FULL_SCAN, type SortKey } from './access.js';
import type { Call } from './call.js';
import type { Room, Source } from './cursors.js';
import type { Hint, Question } from './question.js';
import { backwards, sorted } from './sorting.js';
import { type Examined, isStillLive, scan } from './storage.js';

export interface Window {
  readonly skip: number;
  /** 0 is none. */
  readonly limit: number;
}

/** Around each document of a batch: its type and the number of its place. */
const PLACE_BYTES = 12;

export const NO_ROWS: Source = { next: async () => [], isDone: async () => true };

/** How rows come: their order, and what is left of each. */
export interface Shaping {
  readonly sort: Sort | undefined;
  readonly projection: Projection | undefined;
  /** Instead of a projection, where the keys of the index are asked for. */
  readonly keys?: ((document: Bytes) => Bytes) | undefined;
  /** Whether each comes with its number. */
  readonly recordId?: boolean;
}

export async function rowsOf(
  call: Call,
  question: Question,
  window: Window,
  shaping: Shaping,
  access?: Access,
  examined?: Examined,
): Promise<Source> {
  const { collection } = question;
  const { sort } = shaping;
  if (!collection) return NO_ROWS;
  const way = access ?? (await accessOf(call, question, sort));
  const limit = window.limit === 0 ? Number.MAX_SAFE_INTEGER : window.limit;
  const wanted = window.skip + limit;
  const isBackwards = (sort?.natural ?? naturalOf(question.hint)) === -1;
  const byHand = isSorted(sort, way) ? sort : undefined;
  const enough = byHand || isBackwards ? undefined : wanted;
  const found = matching(call, collection, question, way, enough, examined);
  const started = isBackwards ? backwards(found) : found;
  const ordered = byHand ? sorted(started, byHand, wanted) : started;
  const isLive = (item: Item, at: Instant) => isStillLive(call.mongo, collection, item, at);
  return new ItemRows(ordered, { skip: window.skip, limit }, isLive, shaping);
}

/** Whether documents come in another order than they are read in. */
export function isSorted(sort: Sort | undefined, access: Access): boolean {
  return sort !== undefined && sort.parts.length > 0 && !access.isOrdered;
}

/** The items of a collection that match, in batches. */
export async function* matching(
  call: Call,
  collection: StoredCollection,
  { filter }: Question,
  access: Access,
  enough?: number,
  examined?: Examined,
): AsyncGenerator<readonly Item[]> {
  for await (const items of scan(call, collection, access, enough, examined)) {
    yield items.filter(({ doc }) => filter.matches(bsonOf(doc.bytes)));
  }
}

export async function accessOf(call: Call, question: Question, sort?: Sort): Promise<Access> {
  const { collection, filter, hint, language } = question;
  if (!collection || (hint && 'natural' in hint) || sort?.natural !== undefined) return FULL_SCAN;
  const { engine } = call.mongo.documents;
  const hasCollation = language.collation !== undefined;
  const only = hint && 'index' in hint ? hint.index : undefined;
  const finding = { engine, collection, at: call.at, hasCollation, only };
  // What a transaction has written is in no index, so its order has to be made.
  const hasOwn = call.transaction?.hasWritten(collection) === true;
  return accessFor(finding, filter.tree, hasOwn ? [] : sortKeys(sort));
}

function naturalOf(hint: Hint | undefined): 1 | -1 | undefined {
  return hint && 'natural' in hint ? hint.natural : undefined;
}

/** None where the order is not by fields alone. */
function sortKeys(sort: Sort | undefined): readonly SortKey[] {
  const keys = (sort?.parts ?? []).flatMap(({ path, descending }) =>
    path === undefined ? [] : [{ path, descending }],
  );
  return keys.length === sort?.parts.length ? keys : [];
}

class ItemRows implements Source {
  readonly #batches: AsyncGenerator<readonly Item[]>;
  readonly #isLive: (item: Item, at: Instant) => boolean;
  readonly #shaping: Shaping;
  #toSkip: number;
  #left: number;
  #waiting: readonly Item[] = [];
  #passed = 0;
  #isExhausted = false;

  constructor(
    batches: AsyncGenerator<readonly Item[]>,
    { skip, limit }: Window,
    isLive: (item: Item, at: Instant) => boolean,
    shaping: Shaping,
  ) {
    this.#shaping = shaping;
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
      const document = this.#shaped(item);
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

  #shaped({ doc, serial }: Item): Bytes {
    const { projection, sort, keys, recordId } = this.#shaping;
    const document = bsonOf(doc.bytes);
    if (keys) return keys(document);
    if (!projection) return recordId ? withRecordId(document, serial) : document;
    const meta = {
      // Few ask for it.
      get sortKey() {
        return sort?.keys(document);
      },
      recordId: BigInt(serial),
    };
    const shaped = projection.apply(Row.ofBytes(document, meta as RowMeta)).bytes;
    return recordId ? withRecordId(shaped, serial) : shaped;
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

/** The length at the beginning, the field, and the end. */
function withRecordId(document: Bytes, serial: number): Bytes {
  const field = encodeDocument(documentOf({ $recordId: BigInt(serial) })).subarray(4);
  const bytes = Buffer.allocUnsafe(document.length - 1 + field.length);
  bytes.set(document, 0);
  bytes.set(field, document.length - 1);
  bytes.writeInt32LE(bytes.length, 0);
  return bytes;
}
