// Open cursors: results that are fetched batch by batch. They end by themselves when nobody asks.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import type { Bytes } from '../value/bson/value.js';
import { mongoFailure } from '../value/mongo-errors.js';
import { DOCUMENT_BYTES_MAX } from './wire/message.js';

/** Where documents come from. */
export interface Source {
  /** The next ones, alive at that instant, as many as there are or fit; at least one if any. */
  next(at: Instant, room: Room): Promise<readonly Bytes[]>;
  /** Whether nothing can come any more, as far as that is easily told. */
  isDone(at: Instant): Promise<boolean>;
  /** For streams of changes: waits for something to come, but not long. */
  wait?(ms: number): Promise<void>;
  /** For streams of changes: where to go on, after what was handed out last. */
  resumeToken?(): string;
  /** For streams of changes: nobody asks any more. */
  close?(): void;
}

export interface Room {
  readonly rows: number;
  readonly bytes: number;
}

export interface Opened {
  readonly namespace: string;
  readonly owner: string;
  readonly session: string | undefined;
  readonly source: Source;
  readonly neverTimesOut: boolean;
  readonly command: string;
}
export interface CursorBatch {
  /** 0 when there is no more. */
  readonly id: bigint;
  readonly documents: readonly Bytes[];
  readonly resumeToken?: string;
}

const IDLE_MS_MAX = 10 * 60_000;
const SESSION_IDLE_MS_MAX = 30 * 60_000;
const CURSORS_MAX = 10_000;
const FIRST_BATCH = 101;
/** A little less than a document may have, because a batch stands in one. */
const BATCH_BYTES_MAX = DOCUMENT_BYTES_MAX - 1024;

export class Cursors {
  readonly #clock: Clock;
  readonly #open = new Map<bigint, Cursor>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The first batch; the cursor stays open if there may be more. */
  async begin(
    opened: Opened,
    at: Instant,
    batchSize: number | undefined,
    single: boolean,
  ): Promise<CursorBatch> {
    const cursor = new Cursor(opened);
    let id = 0n;
    try {
      const documents = await cursor.take(at, batchSize ?? FIRST_BATCH);
      if (!single && !cursor.isDone) id = this.#keep(cursor);
      return withToken(cursor, id, documents);
    } finally {
      if (id === 0n) opened.source.close?.();
    }
  }

  /** `wait` is how a stream of changes waits for the first of them. */
  async more(
    id: bigint,
    at: () => Instant,
    batchSize: number | undefined,
    wait: (source: Source) => Promise<void> | undefined,
    check: (opened: Opened) => void,
  ): Promise<CursorBatch & { readonly namespace: string }> {
    const cursor = this.#open.get(id);
    if (!cursor) throw mongoFailure('CursorNotFound', `cursor id ${id} not found`);
    check(cursor.opened);
    if (cursor.isBusy) {
      throw mongoFailure('CursorInUse', `cursor id ${id} is already in use`);
    }
    const count = batchSize === undefined || batchSize === 0 ? Number.MAX_SAFE_INTEGER : batchSize;
    cursor.isBusy = true;
    try {
      let documents = await cursor.take(at(), count);
      const { source } = cursor.opened;
      if (documents.length === 0 && !cursor.isDone && source.wait) {
        await wait(source);
        documents = await cursor.take(at(), count);
      }
      cursor.usedAt = this.#clock.wall();
      if (cursor.isDone) this.kill(id);
      const left = cursor.isDone || cursor.isKilled ? 0n : id;
      return { ...withToken(cursor, left, documents), namespace: cursor.opened.namespace };
    } catch (error) {
      this.kill(id);
      throw error;
    } finally {
      cursor.isBusy = false;
    }
  }

  find(id: bigint): Opened | undefined {
    return this.#open.get(id)?.opened;
  }

  kill(id: bigint): boolean {
    const cursor = this.#open.get(id);
    if (cursor) cursor.isKilled = true;
    cursor?.opened.source.close?.();
    return this.#open.delete(id);
  }

  killOfSession(session: string): void {
    for (const [id, { opened }] of this.#open) if (opened.session === session) this.kill(id);
  }

  killOfNamespace(namespace: string): void {
    for (const [id, { opened }] of this.#open) {
      // Streams of changes have one more to tell.
      if (opened.namespace === namespace && !opened.source.wait) this.kill(id);
    }
  }

  /** Ends those that nobody has asked for in a long time. */
  sweep(): void {
    const now = this.#clock.wall();
    for (const [id, { usedAt, opened, isBusy }] of this.#open) {
      const idleMax = opened.neverTimesOut ? SESSION_IDLE_MS_MAX : IDLE_MS_MAX;
      if (!isBusy && now - usedAt > idleMax) this.kill(id);
    }
  }

  #keep(cursor: Cursor): bigint {
    if (this.#open.size >= CURSORS_MAX) {
      throw mongoFailure('OperationFailed', `There are ${CURSORS_MAX} open cursors, the maximum.`);
    }
    cursor.usedAt = this.#clock.wall();
    const id = this.#newId();
    this.#open.set(id, cursor);
    return id;
  }

  #newId(): bigint {
    // Hard to guess, and positive in an Int64.
    const id = randomBytes(8).readBigUInt64LE() >> 1n;
    return id === 0n || this.#open.has(id) ? this.#newId() : id;
  }
}

class Cursor {
  readonly opened: Opened;
  usedAt = 0 as Instant;
  isBusy = false;
  isKilled = false;
  isDone = false;

  constructor(opened: Opened) {
    this.opened = opened;
  }

  /** A batch that the last document just fills ends the cursor with it. */
  async take(at: Instant, rows: number): Promise<readonly Bytes[]> {
    const { source } = this.opened;
    const taken = rows > 0 ? await source.next(at, { rows, bytes: BATCH_BYTES_MAX }) : [];
    if (rows > 0) this.isDone = await source.isDone(at);
    return taken;
  }
}

function withToken(cursor: Cursor, id: bigint, documents: readonly Bytes[]): CursorBatch {
  const resumeToken = cursor.opened.source.resumeToken?.();
  return resumeToken === undefined ? { id, documents } : { id, documents, resumeToken };
}
