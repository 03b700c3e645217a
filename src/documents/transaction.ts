// A transaction over one logical partition: writes are staged and seen by its own reads and
// queries; in the end all of them are committed in one batch, or none. It offers itself as an
// engine, so that every verb works inside it as it does outside.
//
// Whatever it has read by id or written must be in the store as it was first seen, else somebody
// else was faster and the commit is refused.
import type { StoredContainer } from '../catalog/resources.js';
import type {
  Change,
  Container,
  Decide,
  Engine,
  Etag,
  Item,
  ItemKey,
  Lsn,
  Plan,
  ScanRequest,
  Serial,
  WriteBatch,
  WriteOutcome,
} from '../engine/engine.js';
import { dueAt } from '../time/expiry.js';
import type { Instant } from '../time/instant.js';
import { type Doc, docFromBytes } from '../value/doc.js';
import { failure } from '../value/errors.js';
import { type PartitionKey, samePartitionKey } from '../value/partition-key.js';
import { commitBatches, type Documents, refusalError } from './documents.js';
import { readResume, type StagedItem, stagedPlan } from './staged-plan.js';

interface Staged extends StagedItem {
  /** The etag in the store when it was first seen; undefined where there was no item. */
  readonly base: Etag | undefined;
  /** The last decision, and what it was made on. */
  readonly decide: Decide;
  readonly before: Item | undefined;
}

/** New items have a serial only when they are committed; until then it is one of these. */
const PROVISIONAL = 2 ** 47;
const STAGED_BYTES_MAX = 16 * 1024 * 1024;
/** Items that queries have shown, remembered so that a change in between is noticed. */
const SEEN_MAX = 100_000;
/** How often serials are foreseen before somebody else is told to be in the way. */
const ATTEMPTS_MAX = 5;

type Serials = ReadonlyMap<Serial, Serial>;

/** How documents name each other by their serials, which is the business of a face. */
export interface SerialNames {
  find(text: string): readonly Serial[];
  /** Serials for which there is no other stay. */
  replace(text: string, now: (named: Serial) => Serial | undefined): string;
}

export class Transaction {
  /** What verbs work with to work inside the transaction. */
  readonly documents: Documents;
  readonly #outside: Documents;
  readonly #container: StoredContainer;
  readonly #partition: PartitionKey;
  readonly #at: Instant;
  readonly #names: SerialNames;
  readonly #staged = new Map<string, Staged>();
  readonly #seen = new Map<string, Etag | undefined>();
  readonly #read = new Set<string>();
  #bytes = 0;
  #isCreating = false;

  constructor(
    documents: Documents,
    container: StoredContainer,
    partition: PartitionKey,
    at: Instant,
    names: SerialNames,
  ) {
    this.#names = names;
    this.#outside = documents;
    this.#container = container;
    this.#partition = partition;
    this.#at = at;
    this.documents = { ...documents, engine: this.#engine(documents.engine) };
  }

  /** All or nothing; the serials that new items got, by the provisional ones. */
  async commit(): Promise<{ readonly lsn: Lsn; readonly serials: Serials }> {
    const staged = this.#inOrder();
    let expected: Serials = new Map();
    for (let attempts = 1; ; attempts++) {
      const serials = new Map<Serial, Serial>();
      const changes = staged.map((each) => this.#changeOf(each, serials, expected));
      const outcome = await this.#commit([...changes, ...this.#readChecks()]);
      if (!('refused' in outcome)) {
        this.#expectDeaths(outcome.items);
        return { lsn: outcome.lsn, serials };
      }
      if (outcome.refused === 'conflict' && attempts < ATTEMPTS_MAX) {
        expected = await this.#foresee(staged);
      } else if (typeof outcome.refused !== 'object') throw failure('scriptConflict');
      else throw refusalError(outcome.refused, this.#container).seenAt(outcome.lsn);
    }
  }

  #expectDeaths(items: readonly (Item | undefined)[]): void {
    const { id, expiry } = this.#container.engine;
    for (const item of items) {
      if (item) this.#outside.purger.expect(id, dueAt(item.fuses, expiry));
    }
  }

  #engine(outside: Engine): Engine {
    return {
      containers: () => outside.containers(),
      createContainer: (container) => outside.createContainer(container),
      alterContainer: (container) => outside.alterContainer(container),
      dropContainer: (id) => outside.dropContainer(id),
      stats: (container) => outside.stats(container),
      size: () => outside.size(),
      get: async (_, keys) => {
        const items = await Promise.all(keys.map((key) => this.#find(key)));
        return { items, lsn: 0 };
      },
      plan: (container, request) => this.#plan(outside, container, request),
      commit: (_, batches) => this.#stage(batches),
      commitTogether: () => Promise.reject(new Error('scripts write one item at a time')),
      restore: (container, restored) => outside.restore(container, restored),
      changes: (container, scan, at, budget) => outside.changes(container, scan, at, budget),
      nextExpiry: (container) => outside.nextExpiry(container),
      purge: (container, at, rowsMax) => outside.purge(container, at, rowsMax),
      expiries: (container, scan) => outside.expiries(container, scan),
      inspect: (container, key) => outside.inspect(container, key),
      check: () => outside.check(),
      close: () => outside.close(),
    };
  }

  async #find(key: ItemKey | Serial): Promise<Item | undefined> {
    const known =
      typeof key === 'number'
        ? [...this.#staged.values()].find(({ item }) => item?.serial === key)
        : this.#staged.get(key.id);
    if (known) return known.item;
    const { engine } = this.#outside;
    const answer = await engine.get(this.#container.engine, [key], this.#at);
    const item = answer.items[0];
    const id = typeof key === 'number' ? item?.key.id : key.id;
    if (id === undefined) return undefined;
    if (item && !samePartitionKey(item.key.partition, this.#partition)) return undefined;
    // One that was found by its serial may have been deleted or made anew since.
    if (this.#staged.has(id)) return undefined;
    this.#see(id, item?.etag);
    this.#read.add(id);
    return item;
  }

  #see(id: string, etag: Etag | undefined): void {
    if (!this.#seen.has(id)) {
      if (this.#seen.size < SEEN_MAX) this.#seen.set(id, etag);
    } else if (this.#seen.get(id) !== etag) throw failure('scriptConflict');
  }

  /** Rows are sorted by hand, because a place in an index moves with what is staged. */
  #plan(outside: Engine, container: Container, request: ScanRequest): Plan {
    const from = readResume(request.after, this.#staged.size);
    const base = outside.plan(container, { ...request, order: [], after: from.inStore });
    const view = {
      find: (id: string) => this.#staged.get(id),
      all: () => this.#inOrder(),
      saw: (item: Item) => this.#see(item.key.id, item.etag),
    };
    return stagedPlan(base, view, from);
  }

  async #stage(batches: readonly WriteBatch[]): Promise<readonly WriteOutcome[]> {
    const change = batches[0]?.changes[0];
    if (change?.kind !== 'update') throw new Error('scripts write one item at a time');
    const { id, decide } = change;
    const before = await this.#find({ partition: this.#partition, id });
    const known = this.#staged.get(id);
    const number = known?.number ?? this.#staged.size + 1;
    const serial = before?.serial ?? PROVISIONAL + number;
    const decision = decide(before, serial);
    this.#isCreating ||= !before;
    if ('refuse' in decision) return [{ refused: decision.refuse, index: 0, lsn: 0 }];
    if ('keep' in decision) return [{ items: [before], lsn: 0 }];
    const put = 'put' in decision ? decision.put : undefined;
    const item = put && {
      key: { partition: this.#partition, id },
      serial,
      etag: put.etag,
      lsn: 0,
      fuses: put.fuses,
      // Decisions may be made again, and then they write into the value they have made before.
      doc: docFromBytes(put.doc.bytes),
    };
    const base = known ? known.base : this.#seen.get(id);
    const isStored = known?.isStored ?? before !== undefined;
    this.#staged.set(id, { id, number, isStored, base, item, before, decide });
    const clash = await this.#uniqueClash();
    if (clash !== undefined || this.#isTooMuch(item, known)) {
      if (known) this.#staged.set(id, known);
      else this.#staged.delete(id);
      if (clash !== undefined) return [{ refused: { uniqueIndex: clash }, index: 0, lsn: 0 }];
      const limit = STAGED_BYTES_MAX;
      throw failure('tooLarge', { bytes: this.#bytes + (item?.doc.bytes.length ?? 0), limit });
    }
    return [{ items: [item], lsn: 0 }];
  }

  #isTooMuch(item: Item | undefined, known: Staged | undefined): boolean {
    const grown = (item?.doc.bytes.length ?? 0) - (known?.item?.doc.bytes.length ?? 0);
    if (this.#bytes + grown > STAGED_BYTES_MAX) return true;
    this.#bytes += grown;
    return false;
  }

  async #uniqueClash(): Promise<string | undefined> {
    if (!this.#container.engine.indexes.some(({ unique }) => unique)) return undefined;
    return (await this.#rehearse(this.#inOrder())).clash;
  }

  /** The serials that new items would get if nobody else came first. */
  async #foresee(staged: readonly Staged[]): Promise<Serials> {
    return (await this.#rehearse(staged)).serials;
  }

  /** Asks the engine whether all of this could be committed, and has it refuse in the end. */
  async #rehearse(
    staged: readonly Staged[],
  ): Promise<{ readonly clash: string | undefined; readonly serials: Serials }> {
    const serials = new Map<Serial, Serial>();
    const changes = staged.map((each) => this.#changeOf(each, serials, undefined));
    const end: Change = { kind: 'update', id: '', decide: () => ({ refuse: 'notFound' }) };
    const outcome = await this.#commit([...changes, end]);
    if (!('refused' in outcome)) throw new Error('a rehearsal is always refused');
    if (outcome.index === staged.length) return { clash: undefined, serials };
    if (typeof outcome.refused !== 'object') throw failure('scriptConflict');
    return { clash: outcome.refused.uniqueIndex, serials };
  }

  /**
   * The last decision on an item once more, for the serial that it really gets. Those that new
   * items got are noted; where an item names another one that comes behind it, its serial must be
   * the expected one, else the change is refused as a conflict.
   */
  #changeOf(
    { id, base, item, before, decide }: Staged,
    serials: Map<Serial, Serial>,
    expected: Serials | undefined,
  ): Change {
    return {
      kind: 'update',
      id,
      decide: (current, serial) => {
        if (current?.etag !== base) return { refuse: 'preconditionFailed' };
        if (!item) return current ? { delete: true } : { keep: true };
        const decision = decide(before, serial);
        if (item.serial >= PROVISIONAL) serials.set(item.serial, serial);
        if (!expected || !('put' in decision)) return decision;
        const foreseen = expected.get(item.serial) ?? serial;
        const now = (named: Serial) => serials.get(named) ?? expected.get(named);
        const doc = this.#named(decision.put.doc, now);
        if (foreseen !== serial || !doc) return { refuse: 'conflict' };
        return { put: { ...decision.put, doc } };
      },
    };
  }

  /** A document in which new items are named as they are called now; undefined if that is open. */
  #named(doc: Doc, now: (named: Serial) => Serial | undefined): Doc | undefined {
    if (!this.#isCreating) return doc;
    const text = Buffer.from(doc.bytes).toString();
    const found = this.#names.find(text).filter((serial) => serial >= PROVISIONAL);
    if (found.length === 0) return doc;
    if (found.some((serial) => now(serial) === undefined)) return undefined;
    return docFromBytes(Buffer.from(this.#names.replace(text, now)));
  }

  async #commit(changes: readonly Change[]): Promise<WriteOutcome> {
    const batches = [{ partition: this.#partition, changes }];
    const outside = this.#outside;
    const [outcome] = await commitBatches(outside, this.#container, batches, this.#at);
    if (!outcome) throw new Error('one batch has one outcome');
    return outcome;
  }

  /** What frees a unique key comes before what takes it. */
  #inOrder(): readonly Staged[] {
    const all = [...this.#staged.values()];
    return [...all.filter(({ item }) => !item), ...all.filter(({ item }) => item)];
  }

  #readChecks(): readonly Change[] {
    const ids = [...this.#read].filter((id) => !this.#staged.has(id));
    return ids.map((id) => ({
      kind: 'update',
      id,
      decide: (current) =>
        current?.etag === this.#seen.get(id) ? { keep: true } : { refuse: 'preconditionFailed' },
    }));
  }
}
