// The containers of a store: their definitions and heads, and the sweeping of what dropped ones
// leave behind.
import { breathe, rest } from '../../time/clock.js';
import { type Container, ContainerGone } from '../engine.js';
import { buildIndex, isBehind } from './builder.js';
import type { Committer } from './committer.js';
import { Head } from './head.js';
import {
  after,
  containerKey,
  headKey,
  type Slot,
  slotRange,
  tableRange,
  uniquePrefix,
} from './keys.js';
import type { Key, Store } from './store.js';
import { beginVersions } from './version-log.js';
import type { WriteSet } from './write-set.js';

const SWEEP_KEYS = 500;
const RETRY_MS = 100;
const RETRY_MS_MAX = 60_000;

/** What is stored of a container; `condemned` ones are dropped and wait for the sweep. */
interface StoredContainer {
  readonly container: Container;
  readonly rules: readonly string[];
  readonly indexes: readonly string[];
  readonly condemned: boolean;
}
interface Known {
  readonly container: Container;
  readonly head: Head;
}

/** Told when the index of a container could not be built on; it is tried again. */
export type Report = (error: unknown, container: string) => void;

export class Containers {
  readonly #store: Store;
  readonly #committer: Committer;
  readonly #known = new Map<string, Known>();
  #nextSlot: Slot = 1;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;
  /** Heads whose lazy index is being brought up to date, or will be tried again. */
  readonly #following = new Set<Head>();
  #checking: Promise<void> = Promise.resolve();
  readonly #report: Report;

  constructor(store: Store, committer: Committer, report: Report) {
    this.#store = store;
    this.#committer = committer;
    this.#report = report;
    const [from, to] = tableRange(0, 'container');
    for (const [key, value] of store.range(from, to, Number.MAX_SAFE_INTEGER)) {
      const slot = key.readUInt32BE(key.length - 4);
      this.#nextSlot = Math.max(this.#nextSlot, slot + 1);
      this.#load(slot, JSON.parse(Buffer.from(value).toString()) as StoredContainer);
    }
  }

  list(): readonly Container[] {
    return [...this.#known.values()].map((known) => known.container);
  }

  headOf(id: string): Head {
    const known = this.#known.get(id);
    if (!known) throw new ContainerGone(`the engine has no container '${id}'`);
    return known.head;
  }

  /** As the engine knows it: above all, with the index rules that writes follow at this moment. */
  containerOf(id: string): Container {
    const known = this.#known.get(id);
    if (!known) throw new ContainerGone(`the engine has no container '${id}'`);
    return known.container;
  }

  entries(): Iterable<Known> {
    return this.#known.values();
  }

  async create(container: Container): Promise<void> {
    if (this.#known.has(container.id)) throw new Error(`the engine has '${container.id}' already`);
    const head = new Head(this.#nextSlot++, [], []);
    await this.#save(container, head);
  }

  async alter(container: Container): Promise<void> {
    const head = this.headOf(container.id);
    const before = this.containerOf(container.id).indexes;
    await this.#save(container, head);
    for (const { name } of before) {
      if (container.indexes.some((index) => index.name === name)) continue;
      const from = uniquePrefix(head.slot, head.indexes.codeOf(name));
      this.#sweepRange([from, after(from)], () => undefined);
    }
  }

  async drop(id: string): Promise<void> {
    const known = this.#known.get(id);
    if (!known) return;
    this.#known.delete(id);
    await this.#committer.submit((writes) => {
      writes.put(containerKey(known.head.slot), encode(known.container, known.head, true));
    });
    this.#sweep(known.head.slot);
  }

  /** Heads that a group changed are stored with it. */
  storeHeads(group: WriteSet): void {
    for (const { head } of this.#known.values()) {
      if (!head.changed) continue;
      group.put(headKey(head.slot), head.encode());
      head.changed = false;
    }
  }

  /** Lets the index of a lazy container follow what was written; once is enough at a time. */
  catchUp(id: string): void {
    const known = this.#known.get(id);
    if (!known?.container.indexing.lazy || this.#following.has(known.head)) return;
    this.#following.add(known.head);
    this.#build(id, known.head);
  }

  /** Runs a check while no index is built on. */
  async quietly(check: () => Promise<void>): Promise<void> {
    await this.#checking;
    // A step that is on its way by now is waited for with the commits.
    const checked = breathe().then(check);
    this.#checking = checked.catch(() => undefined);
    await checked;
  }

  async stopSweeping(): Promise<void> {
    this.#stopped = true;
    await this.#sweeping;
  }

  #load(slot: Slot, stored: StoredContainer): void {
    if (stored.condemned) {
      this.#sweep(slot);
      return;
    }
    const head = new Head(slot, stored.rules, stored.indexes);
    const numbers = this.#store.get(headKey(slot));
    if (numbers) head.load(numbers);
    head.retentionMs = stored.container.retentionMs;
    this.#known.set(stored.container.id, { container: stored.container, head });
    head.follow(stored.container.indexing);
    this.#build(stored.container.id, head);
  }

  async #save(container: Container, head: Head): Promise<void> {
    await this.#committer.submit((writes) => {
      // From here on, writes make entries by the new rules; what was there before is left to the
      // builder.
      if (head.retentionMs === undefined && container.retentionMs !== undefined) {
        beginVersions(writes, head);
      }
      head.learn(container);
      head.follow(container.indexing);
      this.#known.set(container.id, { container, head });
      writes.put(containerKey(head.slot), encode(container, head, false));
      writes.put(headKey(head.slot), head.encode());
    });
    this.#build(container.id, head);
  }

  /** Also when the index is ready: the sweep of what older rules left may have been cut short. */
  #build(id: string, head: Head, failures = 0): void {
    const { version } = head.index;
    const live = () =>
      !this.#stopped && this.#known.get(id)?.head === head && head.index.version === version;
    const place = () => ({ head, container: this.containerOf(id) });
    const pause = async () => {
      await breathe();
      await this.#checking;
    };
    this.#sweeping = this.#sweeping
      .then(async () => {
        if (live()) await buildIndex(this.#store, this.#committer, { place, live, pause });
        this.#following.delete(head);
        if (live() && isBehind(this.#store, head.slot)) this.catchUp(id);
      })
      .catch((error: unknown) => {
        if (!live()) return;
        this.#report(error, id);
        // Others need not wait for it. A store that stays broken is asked again once in a while.
        const waitMs = Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX);
        void rest(waitMs).then(() => {
          if (live()) this.#build(id, head, failures + 1);
        });
      });
  }

  /** Removes a dropped container's entries, then itself. */
  #sweep(slot: Slot): void {
    this.#sweepRange(slotRange(slot), (writes) => writes.remove(containerKey(slot)));
  }

  /** In small commits, one range after the other. */
  #sweepRange([from, to]: readonly [Key, Key], finish: (writes: WriteSet) => void): void {
    this.#sweeping = this.#sweeping.then(async () => {
      while (!this.#stopped) {
        const keys = this.#store.keys(from, to, SWEEP_KEYS);
        await this.#committer.submit((writes) => {
          for (const key of keys) writes.remove(key);
          if (keys.length === 0) finish(writes);
        });
        if (keys.length === 0) return;
      }
    });
    // A store that can no longer be written says so to the next writer; the sweep goes on after the
    // restart.
    this.#sweeping = this.#sweeping.catch(() => undefined);
  }
}

function encode(container: Container, head: Head, condemned: boolean): Buffer {
  const stored: StoredContainer = {
    container,
    rules: head.rules.names,
    indexes: head.indexes.names,
    condemned,
  };
  return Buffer.from(JSON.stringify(stored));
}
