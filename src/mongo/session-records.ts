// What sessions have written, kept in the store in the same commit as what they wrote: so that a
// write that is sent again is answered and not done again, also by a server that was started
// anew, or by another one. A record dies when the session would.
import { SESSION_CONTAINER_PREFIX } from '../catalog/catalog-store.js';
import { purgeable } from '../catalog/watching.js';
import type { Container, Decision, Engine, Item, Refusal, WriteGroup } from '../engine/engine.js';
import { NOT_INDEXED } from '../engine/indexing.js';
import { cosmosRules, TTL_NEVER } from '../time/expiry.js';
import { type Instant, instant } from '../time/instant.js';
import type { Purger } from '../time/purger.js';
import type { Bytes } from '../value/bson/value.js';
import { docFromValue } from '../value/doc.js';

export const SESSION_MINUTES = 30;
/** Ends of records are full minutes, so that most writes leave the order of expiry as it is. */
const MINUTE_MS = 60_000;
/**
 * On PostgreSQL writers of one container wait for each other. Writes of different collections
 * mostly keep their records in different containers, so that they need not.
 */
const CONTAINERS = 8;
/** So many collections and sessions are known to belong to a container without asking. */
const PLACES_MAX = 10_000;

/** What one statement of a command has done: enough to answer it again. */
export interface Done {
  readonly kind: 'inserted' | 'changed' | 'removed' | 'upserted';
  /** A document with the `_id` of what was upserted. */
  readonly upserted?: Bytes | undefined;
  /** What a findAndModify answers with. */
  readonly image?: Bytes | undefined;
}
/** The last thing that a session has written, or a transaction that is over. */
export interface SessionRecord {
  readonly number: bigint;
  readonly transaction: 'committed' | 'aborted' | undefined;
  readonly statements: ReadonlyMap<number, Done>;
}

/** As JSON. Statements of one kind that stand side by side are one run. */
interface StoredRecord {
  readonly number: string;
  readonly transaction?: 'committed' | 'aborted';
  readonly runs?: readonly StoredRun[];
}
type StoredRun = readonly [
  from: number,
  to: number,
  kind: Done['kind'],
  upserted?: string | null,
  image?: string | null,
];

/** Sees the record of the session, if it has one; answers the next, that it stays, or why not. */
export type DecideRecord = (
  current: SessionRecord | undefined,
) => SessionRecord | 'keep' | { readonly refuse: Refusal };

export class SessionRecords {
  readonly #engine: Engine;
  readonly #purger: Purger;
  readonly #containers = Array.from({ length: CONTAINERS }, (_, number) =>
    containerOf(`${SESSION_CONTAINER_PREFIX}${number}`),
  );
  readonly #ready = new Map<Container, Promise<void> | 'ready'>();
  readonly #places = new Map<string, Container>();

  constructor(engine: Engine, purger: Purger) {
    this.#engine = engine;
    this.#purger = purger;
  }

  /** Looks after what servers before this one have left. */
  async open(): Promise<void> {
    const there = new Set((await this.#engine.containers()).map(({ id }) => id));
    for (const container of this.#containers) {
      if (there.has(container.id)) await this.#prepared(container);
    }
  }

  /** The record of a session among those that are kept beside one of many. */
  async read(session: string, beside: string, at: Instant): Promise<SessionRecord | undefined> {
    const container = this.#containerFor(beside);
    await this.#prepared(container);
    const { items } = await this.#engine.get(container, [keyOf(session)], at);
    return recordOf(items[0]);
  }

  /** A change of it, for a commit. */
  async change(
    session: string,
    beside: string,
    at: Instant,
    decide: DecideRecord,
  ): Promise<WriteGroup> {
    const container = this.#containerFor(beside);
    if (this.#ready.get(container) !== 'ready') await this.#prepared(container);
    const due = instant((Math.floor(at / MINUTE_MS) + SESSION_MINUTES + 1) * MINUTE_MS);
    this.#purger.expect(container.id, due);
    const { partition, id } = keyOf(session);
    const decideItem = (current: Item | undefined): Decision => {
      const decided = decide(recordOf(current));
      if (decided === 'keep') return { keep: true };
      if ('refuse' in decided) return decided;
      const doc = docFromValue({ id, ...storedOf(decided) });
      return { put: { id, etag: '""', fuses: [{ rule: 'own', at: due }], doc } };
    };
    const changes = [{ kind: 'update' as const, id, decide: decideItem }];
    return { container, batches: [{ partition, changes }] };
  }

  #containerFor(beside: string): Container {
    const known = this.#places.get(beside);
    if (known) return known;
    const place = this.#containers[hashOf(beside) % CONTAINERS] as Container;
    if (this.#places.size >= PLACES_MAX) this.#places.clear();
    this.#places.set(beside, place);
    return place;
  }

  /** Made at its first use, once. */
  async #prepared(container: Container): Promise<void> {
    const known = this.#ready.get(container);
    if (known === 'ready') return;
    const preparing = known ?? this.#prepare(container);
    if (!known) this.#ready.set(container, preparing);
    try {
      await preparing;
      this.#ready.set(container, 'ready');
    } catch (error) {
      this.#ready.delete(container);
      throw error;
    }
  }

  async #prepare(container: Container): Promise<void> {
    const isThere = async () =>
      (await this.#engine.containers()).some(({ id }) => id === container.id);
    if (!(await isThere())) {
      try {
        await this.#engine.createContainer(container);
      } catch (error) {
        // Another server may have been first.
        if (!(await isThere())) throw error;
      }
    }
    await this.#purger.watch(purgeable(this.#engine, container));
  }
}

function containerOf(id: string): Container {
  return {
    id,
    partitionPaths: [['id']],
    partitionHash: 'v2',
    indexes: [],
    indexing: NOT_INDEXED,
    expiry: cosmosRules(TTL_NEVER),
  };
}

function keyOf(session: string) {
  return { partition: [session], id: session };
}

const HASH_FACTOR = 31;

function hashOf(text: string): number {
  let hash = 0;
  for (const character of text) {
    hash = (Math.imul(hash, HASH_FACTOR) + (character.codePointAt(0) ?? 0)) >>> 0;
  }
  return hash;
}

function recordOf(item: Item | undefined): SessionRecord | undefined {
  if (!item) return undefined;
  const { number, transaction, runs = [] } = item.doc.value as unknown as StoredRecord;
  const statements = new Map<number, Done>();
  for (const [from, to, kind, upserted, image] of runs) {
    const done = { kind, upserted: bytesOf(upserted), image: bytesOf(image) };
    for (let statement = from; statement <= to; statement++) statements.set(statement, done);
  }
  return { number: BigInt(number), transaction, statements };
}

function storedOf({ number, transaction, statements }: SessionRecord): StoredRecord {
  const runs: [number, number, Done['kind'], (string | null)?, (string | null)?][] = [];
  for (const [statement, { kind, upserted, image }] of statements) {
    const last = runs.at(-1);
    const isPlain = upserted === undefined && image === undefined;
    if (last && last.length === 3 && isPlain && last[2] === kind && last[1] === statement - 1) {
      last[1] = statement;
    } else if (isPlain) runs.push([statement, statement, kind]);
    else runs.push([statement, statement, kind, textOf(upserted), textOf(image)]);
  }
  return { number: String(number), ...(transaction ? { transaction } : { runs }) };
}

function textOf(bytes: Bytes | undefined): string | null {
  return bytes ? Buffer.from(bytes).toString('base64') : null;
}

function bytesOf(text: string | null | undefined): Bytes | undefined {
  return typeof text === 'string' ? Buffer.from(text, 'base64') : undefined;
}
