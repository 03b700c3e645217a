// The document engine over an ordered store: what the engine SPI promises, put together from the
// files beside it.

import { isLive } from '../../time/expiry.js';
import type { Instant } from '../../time/instant.js';
import {
  type Budget,
  type ChangeScan,
  type Changes,
  type Container,
  type Engine,
  type ExpiryScan,
  type Item,
  type ItemKey,
  type Plan,
  type Purge,
  type Restored,
  type ScanRequest,
  type Serial,
  type Stats,
  type TogetherOutcome,
  VERSIONS_PER_ROW,
  type Versions,
  type WriteBatch,
  type WriteGroup,
  type WriteOutcome,
} from '../engine.js';
import { readChanges } from './changes.js';
import { checkStore } from './check.js';
import { applyBatch, applyTogether } from './commit.js';
import { Committer } from './committer.js';
import { Containers, type Report } from './containers.js';
import { DueQueues } from './due-queues.js';
import { findSerial, loadItem, type Place } from './entries.js';
import { checkFormat } from './format.js';
import { storedLsn } from './head.js';
import { type Due, nextDue, purgeItems, readExpiries } from './purge.js';
import { restoreItems } from './restore.js';
import { planScan } from './scan.js';
import type { Store } from './store.js';
import { dueVersions, nextTrim, readVersions, trimVersions, versionsFrom } from './versions.js';
import type { WriteSet } from './write-set.js';

/**
 * `report` is told of background work that failed and is tried again; `active` says how many
 * requests are being answered.
 */
export async function openKvEngine(
  store: Store,
  report: Report = () => undefined,
  active?: () => number,
): Promise<Engine> {
  try {
    await checkFormat(store);
    const engine = new KvEngine(store, report, active);
    return engine;
  } catch (error) {
    await store.close();
    throw error;
  }
}

const PURGED_PER_PIECE = 4;
const TRIMMED_PER_PIECE = 128;

class KvEngine implements Engine {
  readonly #store: Store;
  readonly #committer: Committer;
  readonly #containers: Containers;
  readonly #due = new DueQueues();

  constructor(store: Store, report: Report, active: (() => number) | undefined) {
    this.#store = store;
    this.#committer = new Committer(store, (group) => this.#containers.storeHeads(group), active);
    this.#containers = new Containers(store, this.#committer, report);
  }

  async containers(): Promise<readonly Container[]> {
    return this.#containers.list();
  }

  createContainer(container: Container): Promise<void> {
    return this.#containers.create(container);
  }

  alterContainer(container: Container): Promise<void> {
    return this.#containers.alter(container);
  }

  dropContainer(id: string): Promise<void> {
    return this.#containers.drop(id);
  }

  async stats(container: Container): Promise<Stats> {
    const { slot, items, bytes, index, nextSerial, retentionMs } = this.#place(container).head;
    const indexProgress = index.ready ? 100 : Math.floor((index.builtTo * 100) / index.goal);
    const from = retentionMs === undefined ? undefined : versionsFrom(this.#store, slot);
    const lsn = storedLsn(this.#store, slot);
    return { items, bytes, lsn, indexProgress, nextSerial, versionsFrom: from };
  }

  async size(): Promise<number> {
    return this.#store.size();
  }

  async get(container: Container, keys: readonly (ItemKey | Serial)[], at: Instant) {
    // Index rules are for writers; a read takes the container as it comes.
    const place = { head: this.#containers.headOf(container.id), container };
    const items: (Item | undefined)[] = [];
    for (const key of keys) {
      const item = this.#load(place, key);
      items.push(item && isLive(item.fuses, container.expiry, at) ? item : undefined);
    }
    return { items, lsn: storedLsn(this.#store, place.head.slot) };
  }

  plan(container: Container, request: ScanRequest): Plan {
    return planScan(this.#store, () => this.#place(container), request);
  }

  async commit(
    container: Container,
    batches: readonly WriteBatch[],
    at: Instant,
  ): Promise<readonly WriteOutcome[]> {
    const outcomes = await this.#committer.submit((writes) => {
      const place = this.#place(container);
      const { nextSerial, lsn, items, bytes } = place.head;
      try {
        return batches.map((batch) => applyBatch(writes, place, batch, at));
      } catch (error) {
        // The writes of earlier batches are undone with those of the one that threw.
        Object.assign(place.head, { nextSerial, lsn, items, bytes });
        throw error;
      }
    }, 'request');
    if (container.indexing.lazy) this.#containers.catchUp(container.id);
    return outcomes;
  }

  async commitTogether(groups: readonly WriteGroup[], at: Instant): Promise<TogetherOutcome> {
    const outcome = await this.#committer.submit((writes) => {
      const places = groups.map(({ container, batches }) => {
        return { place: this.#place(container), batches };
      });
      return applyTogether(writes, places, at);
    }, 'request');
    for (const { container } of groups) {
      if (container.indexing.lazy) this.#containers.catchUp(container.id);
    }
    return outcome;
  }

  async restore(container: Container, restored: Restored): Promise<void> {
    await this.#committer.submit((writes) =>
      restoreItems(writes, this.#place(container), restored),
    );
  }

  async changes(
    container: Container,
    scan: ChangeScan,
    at: Instant,
    budget: Budget,
  ): Promise<Changes> {
    return readChanges(this.#store, this.#place(container), scan, at, budget);
  }

  async versions(
    container: Container,
    scan: ChangeScan,
    at: Instant,
    budget: Budget,
  ): Promise<Versions> {
    return readVersions(this.#store, this.#place(container), scan, at, budget);
  }

  async nextExpiry(container: Container): Promise<Instant | undefined> {
    return this.#nextExpiry(this.#place(container), undefined);
  }

  #nextExpiry(place: Place, known: Instant | undefined): Instant | undefined {
    const item = known ?? nextDue(this.#store, place);
    const version = nextTrim(this.#store, place);
    return item !== undefined && version !== undefined && version > item ? item : (version ?? item);
  }

  async purge(container: Container, at: Instant, rowsMax: number): Promise<Purge> {
    const place = this.#place(container);
    const due = this.#due.take(this.#store, place, at, rowsMax);
    const gone = await this.#purgeItems(container, due, at);
    const left = rowsMax - gone.purged;
    const trimmed = await this.#trim(container, at, left * VERSIONS_PER_ROW);
    const next = this.#nextExpiry(place, this.#due.next(place.head));
    return { ...gone, ...(trimmed > 0 ? { trimmed } : {}), next };
  }

  /** In pieces, between which others have their turn; all of them share a commit. */
  async #purgeItems(container: Container, due: readonly Due[], at: Instant) {
    const pieces: Promise<Omit<Purge, 'next'>>[] = [];
    for (let from = 0; from < due.length; from += PURGED_PER_PIECE) {
      const some = due.slice(from, from + PURGED_PER_PIECE);
      const remove = (writes: WriteSet) => {
        const place = this.#place(container);
        return this.#due.remove(place.head, () => purgeItems(writes, place, some, at));
      };
      pieces.push(this.#committer.submit(remove));
    }
    const gone = { purged: 0, bytes: 0 };
    for (const { purged, bytes } of await Promise.all(pieces)) {
      gone.purged += purged;
      gone.bytes += bytes;
    }
    return gone;
  }

  async #trim(container: Container, at: Instant, rowsMax: number): Promise<number> {
    const due = dueVersions(this.#store, this.#place(container), at, rowsMax);
    const pieces: Promise<void>[] = [];
    for (let from = 0; from < due.length; from += TRIMMED_PER_PIECE) {
      const some = due.slice(from, from + TRIMMED_PER_PIECE);
      const trim = (writes: WriteSet) => trimVersions(writes, this.#place(container), some);
      pieces.push(this.#committer.submit(trim));
    }
    await Promise.all(pieces);
    return due.length;
  }

  async expiries(container: Container, scan: ExpiryScan) {
    return readExpiries(this.#store, this.#place(container), scan);
  }

  async inspect(container: Container, key: ItemKey | Serial): Promise<Item | undefined> {
    return this.#load(this.#place(container), key);
  }

  async check(): Promise<void> {
    await this.#containers.quietly(async () => {
      await this.#committer.idle();
      await checkStore(this.#store, this.#containers);
    });
  }

  async close(): Promise<void> {
    await this.#containers.stopSweeping();
    await this.#committer.idle();
    await this.#store.close();
  }

  /** Expiry goes by the caller's view of the container, entries of indexes by the engine's own. */
  #place(container: Container): Place {
    const head = this.#containers.headOf(container.id);
    const { indexing, indexes } = this.#containers.containerOf(container.id);
    return { head, container: { ...container, indexing, indexes } };
  }

  #load(place: Place, key: ItemKey | Serial): Item | undefined {
    if (typeof key === 'number') return loadItem(this.#store, place, key);
    const serial = findSerial(this.#store, place, key);
    return serial === undefined ? undefined : loadItem(this.#store, place, serial, key);
  }
}
