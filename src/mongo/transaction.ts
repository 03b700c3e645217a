// A transaction: what it writes is kept here, seen by it alone, and committed together, in however
// many collections. What it has read or written must not change meanwhile: then it is a write
// conflict, and the client begins anew.
import type { StoredCollection } from '../catalog/collections.js';
import {
  decisionOf,
  type EditAt,
  type EditOutcome,
  type ShapeNow,
} from '../documents/collection-write.js';
import {
  type Change,
  ContainerGone,
  type Draft,
  type Engine,
  type Item,
  type ItemKey,
  type Lsn,
  type Refusal,
  type TogetherOutcome,
  type WriteBatch,
  type WriteGroup,
} from '../engine/engine.js';
import { dueAt, isLive } from '../time/expiry.js';
import type { Instant } from '../time/instant.js';
import type { Purger } from '../time/purger.js';
import { type MongoError, mongoFailure } from '../value/mongo-errors.js';
import type { SessionRecord, SessionRecords } from './session-records.js';

export const TRANSACTION_SECONDS_MAX = 60;
const WRITES_MAX = 100_000;
/** Up to so many writes to a collection its unique indexes are asked with every statement. */
const REHEARSED_MAX = 1000;

/** A document that the transaction has written: as it found it, and as it leaves it. */
interface Written {
  readonly key: ItemKey;
  readonly base: Item | undefined;
  readonly item: Item | undefined;
}
/** A collection that the transaction has read or written. */
interface Used {
  readonly collection: StoredCollection;
  /** Where its change order was when it was first used. */
  readonly since: Lsn;
  readonly written: Map<string, Written>;
}

/** Which transaction has written which document and is not over: the first one wins. */
export type Intents = Map<string, Transaction>;

export interface TransactionParts {
  readonly purger: Purger;
  readonly intents: Intents;
  readonly records: SessionRecords;
  /** A collection as it is now. */
  current(collection: StoredCollection): StoredCollection;
}

export class Transaction {
  readonly number: bigint;
  readonly #session: string;
  readonly #parts: TransactionParts;
  readonly #startedAt: Instant;
  readonly #used = new Map<string, Used>();
  #writes = 0;
  #state: 'active' | 'committed' | 'aborted' = 'active';
  #committing: Promise<void> | undefined;
  #serials = Number.MAX_SAFE_INTEGER - WRITES_MAX - 1;

  constructor(
    { session, number }: { readonly session: string; readonly number: bigint },
    parts: TransactionParts,
    startedAt: Instant,
  ) {
    this.number = number;
    this.#session = session;
    this.#parts = parts;
    this.#startedAt = startedAt;
  }

  get state(): 'active' | 'committed' | 'aborted' {
    return this.#state;
  }

  /** Notes from where on changes of others are conflicts. */
  async touch(engine: Engine, collection: StoredCollection): Promise<Used> {
    const { id } = collection.engine;
    const known = this.#used.get(id);
    if (known) return known;
    const { lsn: since } = await engine.stats(collection.engine);
    const used = this.#used.get(id) ?? { collection, since, written: new Map() };
    this.#used.set(id, used);
    return used;
  }

  hasWritten(collection: StoredCollection): boolean {
    return (this.#used.get(collection.engine.id)?.written.size ?? 0) > 0;
  }

  /** Items as the transaction sees them: its own in place of those that are stored. */
  visible(collection: StoredCollection, items: readonly Item[]): readonly Item[] {
    const used = this.#used.get(collection.engine.id);
    if (!used) return items;
    return items.filter((item) => {
      if (used.written.size > 0 && used.written.has(nameOf(item.key))) return false;
      if (item.lsn > used.since) throw conflict();
      return true;
    });
  }

  /** What the transaction itself has written. */
  own(collection: StoredCollection): readonly Item[] {
    const written = this.#used.get(collection.engine.id)?.written.values() ?? [];
    return [...written].flatMap(({ item }) => (item ? [item] : []));
  }

  async edit(
    engine: Engine,
    collection: StoredCollection,
    shape: ShapeNow,
    edits: readonly EditAt[],
    { at, isOrdered }: { readonly at: Instant; readonly isOrdered: boolean },
  ): Promise<readonly EditOutcome[]> {
    const used = await this.touch(engine, collection);
    const outcomes: EditOutcome[] = [];
    for (const edit of edits) {
      const outcome = await this.#editOne(engine, used, shape, edit, at);
      outcomes.push(outcome);
      if (isOrdered && !('item' in outcome)) break;
    }
    const clash = await this.#clash(engine, used, at);
    if (!clash) return outcomes;
    const failed = edits.findIndex((edit) => nameOf(edit) === nameOf(clash.key));
    // What an earlier statement wrote was free then: somebody else has it since.
    if (failed < 0) throw conflict();
    return [...outcomes.slice(0, failed), { refused: clash.refused }];
  }

  async #editOne(
    engine: Engine,
    used: Used,
    shape: ShapeNow,
    { partition, id, edit }: EditAt,
    at: Instant,
  ): Promise<EditOutcome> {
    const key = { partition, id };
    const name = nameOf(key);
    const written = used.written.get(name);
    const base = written ? written.base : await stored(engine, used, key, at);
    const { expiry } = this.#parts.current(used.collection).engine;
    const latest = written ? written.item : base;
    const current = latest && isLive(latest.fuses, expiry, at) ? latest : undefined;
    try {
      const decision = decisionOf(shape, edit, current, at);
      if ('refuse' in decision) return { refused: decision.refuse };
      if ('keep' in decision) return { item: current };
      if (!written) this.#claim(intentOf(used, name));
      const item = 'put' in decision ? this.#itemOf(key, decision.put, current) : undefined;
      used.written.set(name, { key, base, item });
      return { item };
    } catch (error) {
      return { error };
    }
  }

  #claim(intent: string): void {
    if (this.#writes >= WRITES_MAX) {
      throw mongoFailure('OperationFailed', `A transaction has at most ${WRITES_MAX} writes`);
    }
    const holder = this.#parts.intents.get(intent);
    if (holder && holder !== this) throw conflict();
    this.#parts.intents.set(intent, this);
    this.#writes += 1;
  }

  #itemOf(key: ItemKey, { etag, fuses, doc }: Draft, current: Item | undefined): Item {
    this.#serials += 1;
    return { key, serial: current?.serial ?? this.#serials, etag, lsn: 0, fuses, doc };
  }

  /**
   * The write that a unique index has something against: the engine is asked to commit all there
   * is, and to refuse in the end.
   */
  async #clash(engine: Engine, used: Used, at: Instant) {
    const { engine: container } = this.#parts.current(used.collection);
    if (!isRehearsed(used, container.indexes)) return undefined;
    const batches = batchesOf(used);
    const end: Change = { kind: 'update', id: '', decide: () => ({ refuse: 'notFound' }) };
    const changes = [...batches.map(({ batch }) => batch), { partition: [null], changes: [end] }];
    const outcome = await engine.commitTogether([{ container, batches: changes }], at);
    if (!('refused' in outcome)) throw new Error('a rehearsal is always refused');
    const key = batches[outcome.batch]?.keys[outcome.index];
    if (!key) return undefined;
    if (typeof outcome.refused !== 'object') throw conflict();
    return { key, refused: outcome.refused };
  }

  /** Again and again with the same answer. */
  async commit(engine: Engine, at: Instant): Promise<void> {
    if (this.#state === 'committed') return;
    if (this.#state === 'aborted') throw noSuch(this.number);
    this.#committing ??= this.#commit(engine, at);
    try {
      await this.#committing;
    } finally {
      this.#committing = undefined;
    }
  }

  async #commit(engine: Engine, at: Instant): Promise<void> {
    const written = [...this.#used.values()].filter((used) => used.written.size > 0);
    const groups = written.map((used): WriteGroup => {
      const { engine: container, definition } = this.#parts.current(used.collection);
      // What is stored beside a document depends on the indexes.
      if (definition.indexesMade !== used.collection.definition.indexesMade) throw conflict();
      return { container, batches: batchesOf(used).map(({ batch }) => batch) };
    });
    if (groups.length > 0) await this.#store(engine, groups, written, at);
    for (const { collection, written: documents } of written) {
      const { id, expiry } = this.#parts.current(collection).engine;
      for (const { item } of documents.values()) {
        if (item) this.#parts.purger.expect(id, dueAt(item.fuses, expiry));
      }
    }
    this.#end('committed');
  }

  /** Together with a record, by which an attempt before this one, or after it, is known. */
  async #store(
    engine: Engine,
    groups: readonly WriteGroup[],
    written: readonly Used[],
    at: Instant,
  ): Promise<void> {
    const { records } = this.#parts;
    const record = await records.change(this.#session, this.#session, at, (before) => {
      if (!before || before.number < this.number) return committedRecord(this.number);
      const isIn = before.number === this.number && before.transaction === 'committed';
      return { refuse: isIn ? 'conflict' : 'notFound' };
    });
    const outcome = await committed(engine, [record, ...groups], at);
    if (!('refused' in outcome)) return;
    if (outcome.group === 0 && outcome.refused === 'conflict') return;
    this.#end('aborted');
    if (outcome.group === 0) throw noSuch(this.number);
    throw refusal(outcome.refused, written[outcome.group - 1]);
  }

  /** One that is being committed has its own end. */
  abort(): void {
    if (this.#state === 'active' && !this.#committing) this.#end('aborted');
  }

  /** Ends one that has taken too long. */
  expire(now: Instant): void {
    if (now - this.#startedAt > TRANSACTION_SECONDS_MAX * 1000) this.abort();
  }

  #end(state: 'committed' | 'aborted'): void {
    this.#state = state;
    const { intents } = this.#parts;
    for (const used of this.#used.values()) {
      for (const name of used.written.keys()) {
        const intent = intentOf(used, name);
        if (intents.get(intent) === this) intents.delete(intent);
      }
    }
    this.#used.clear();
  }
}

async function stored(
  engine: Engine,
  { collection, since }: Used,
  key: ItemKey,
  at: Instant,
): Promise<Item | undefined> {
  const { items } = await engine.get(collection.engine, [key], at);
  const [item] = items;
  if (item && item.lsn > since) throw conflict();
  return item;
}

function isRehearsed({ written }: Used, indexes: StoredCollection['engine']['indexes']): boolean {
  return written.size <= REHEARSED_MAX && indexes.some(({ unique }) => unique);
}

/**
 * What was written, by place, in the order it was; but what frees unique keys comes before what
 * may take them.
 */
function batchesOf({ written, collection }: Used) {
  const places = new Map<string, Written[]>();
  const all = [...written.values()];
  const isUnique = collection.engine.indexes.some(({ unique }) => unique);
  const freeFirst = [...all.filter(({ item }) => !item), ...all.filter(({ item }) => item)];
  for (const each of isUnique ? freeFirst : all) {
    const place = JSON.stringify(each.key.partition);
    const there = places.get(place);
    if (there) there.push(each);
    else places.set(place, [each]);
  }
  return [...places.values()].map((writes) => {
    const partition = writes[0]?.key.partition ?? [];
    const batch: WriteBatch = { partition, changes: writes.map(changeOf) };
    return { batch, keys: writes.map(({ key }) => key) };
  });
}

function changeOf({ key, base, item }: Written): Change {
  return {
    kind: 'update',
    id: key.id,
    decide: (current) => {
      if (current?.lsn !== base?.lsn) return { refuse: 'preconditionFailed' };
      if (!item) return current ? { delete: true } : { keep: true };
      return { put: { id: key.id, etag: item.etag, fuses: item.fuses, doc: item.doc } };
    },
  };
}

/** A collection that was dropped meanwhile is a conflict: a new attempt makes it anew. */
async function committed(
  engine: Engine,
  groups: readonly WriteGroup[],
  at: Instant,
): Promise<TogetherOutcome> {
  try {
    return await engine.commitTogether(groups, at);
  } catch (error) {
    throw error instanceof ContainerGone ? conflict() : error;
  }
}

/**
 * A value that was free when its statement ran is somebody else's by now: a new attempt will tell
 * which. Where statements were not asked, to begin anew would end in the same.
 */
function refusal(refused: Refusal, used: Used | undefined): MongoError {
  if (typeof refused !== 'object' || !used || used.written.size <= REHEARSED_MAX) return conflict();
  return duplicate(used.collection);
}

/**
 * Whether a transaction that this server does not have was committed. If not, it never will be:
 * whoever is still at it is refused.
 */
export async function wasCommitted(
  { engine, records }: { readonly engine: Engine; readonly records: SessionRecords },
  session: string,
  number: bigint,
  at: Instant,
): Promise<boolean> {
  let isIn = false;
  const group = await records.change(session, session, at, (before) => {
    isIn = before?.number === number && before.transaction === 'committed';
    if (before && before.number >= number) return 'keep';
    return { number, transaction: 'aborted', statements: new Map() };
  });
  await engine.commitTogether([group], at);
  return isIn;
}

function committedRecord(number: bigint): SessionRecord {
  return { number, transaction: 'committed', statements: new Map() };
}

export function noSuch(number: bigint): MongoError {
  return mongoFailure(
    'NoSuchTransaction',
    `Given transaction number ${number} does not match any in-progress transactions.`,
  );
}

export function isCommitted(number: bigint): MongoError {
  return mongoFailure(
    'TransactionCommitted',
    `Transaction with { txnNumber: ${number} } has been committed.`,
  );
}

export function conflict(): MongoError {
  return mongoFailure(
    'WriteConflict',
    'Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry your operation or multi-document transaction.',
  );
}

/** Found at the commit: to begin anew would end in the same. */
function duplicate({ definition }: StoredCollection): MongoError {
  return mongoFailure(
    'DuplicateKey',
    `E11000 duplicate key error collection: ${definition.id}: a unique index is violated by the transaction`,
  );
}

/** The name of a document in its collection. */
function nameOf({ partition, id }: ItemKey): string {
  return `${JSON.stringify(partition)} ${id}`;
}

function intentOf({ collection }: Used, name: string): string {
  return `${collection.engine.id} ${name}`;
}
