// The changes of one collection as a change stream reads them: some at a time, each with its place.
import {
  type Budget,
  type Container,
  ContainerGone,
  type Engine,
  type Lsn,
  type Version,
  VersionsForgotten,
} from '../../engine/engine.js';
import type { Instant } from '../../time/instant.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { ALL, type Place } from './token.js';

export interface Placed {
  readonly version: Version;
  readonly place: Place;
}

/** Of a collection that is dropped, so much is kept for a stream that has not read it yet. */
const KEPT = { rowsMax: 10_000, bytesMax: 32_000_000 };

export class CollectionLog {
  readonly engineId: string;
  readonly database: string;
  readonly #engine: Engine;
  readonly #container: () => Container;
  /** In milliseconds: what happened before is passed over. */
  readonly #since: number;
  #place: Place;
  #waiting: readonly Placed[] = [];
  #passed = 0;
  /** How far what is waiting reaches. */
  #pageEnd: Lsn;
  #isAtEnd = false;
  #isGone = false;
  #isLost = false;

  constructor(
    parts: {
      readonly engine: Engine;
      readonly container: () => Container;
      readonly database: string;
    },
    place: Place,
    since = 0,
  ) {
    this.#engine = parts.engine;
    this.#container = parts.container;
    this.engineId = parts.container().id;
    this.database = parts.database;
    this.#place = place;
    this.#pageEnd = place.lsn;
    this.#since = since;
  }

  get place(): Place {
    return this.#place;
  }

  get head(): Placed | undefined {
    return this.#waiting[this.#passed];
  }

  /** Whether there is something that has not been read. */
  async hasMore(): Promise<boolean> {
    if (this.head) return true;
    if (this.#isGone) return this.#isLost;
    try {
      const { lsn } = await this.#engine.stats(this.#container());
      return lsn > this.#place.lsn || this.#place.passed !== ALL;
    } catch (error) {
      if (error instanceof ContainerGone) return false;
      throw error;
    }
  }

  /** What has happened since the last look is found by the next fill. */
  lookAgain(): void {
    this.#isAtEnd = false;
  }

  async fill(at: Instant, budget: Budget): Promise<void> {
    if (this.#isLost && !this.head) throw historyLost();
    while (!this.head && !this.#isAtEnd && !this.#isGone) {
      if (await this.hasMore()) await this.#read(at, budget);
      else this.#isAtEnd = true;
    }
  }

  /** Answers how to take it back. */
  pass(): () => void {
    const { head } = this;
    const [place, passed] = [this.#place, this.#passed];
    if (head) this.#place = head.place;
    this.#passed += 1;
    if (!this.head) this.#place = this.#endOfPage();
    return () => {
      this.#place = place;
      this.#passed = passed;
    };
  }

  /** Before the collection is gone: what is left of its changes is read and kept here. */
  async keepAll(at: Instant): Promise<void> {
    const kept = this.#waiting.slice(this.#passed);
    const begin = this.#place;
    let bytes = 0;
    if (kept.length > 0) this.#place = this.#endOfPage();
    this.#waiting = [];
    while (kept.length < KEPT.rowsMax && bytes < KEPT.bytesMax && (await this.hasMore())) {
      await this.#read(at, KEPT);
      kept.push(...this.#waiting);
      for (const { version } of this.#waiting) bytes += version.doc?.bytes.length ?? 0;
      this.#place = this.#endOfPage();
      this.#waiting = [];
    }
    this.#isLost = await this.hasMore();
    this.#isGone = true;
    this.#waiting = kept;
    this.#passed = 0;
    if (kept.length > 0) this.#place = begin;
  }

  async #read(at: Instant, budget: Budget): Promise<void> {
    const { lsn, passed } = this.#place;
    // The events of one lsn are read together, and those that were passed are left out.
    const after = passed === ALL ? lsn : Math.max(lsn - 1, 0);
    const scan = { partition: undefined, span: undefined, after };
    try {
      const page = await this.#engine.versions?.(this.#container(), scan, at, budget);
      this.#pageEnd = page?.upTo ?? lsn;
      this.#waiting = numbered(page?.versions ?? []).filter(
        ({ version, place }) =>
          version.at >= this.#since && (place.lsn > lsn || place.passed > passed),
      );
      this.#passed = 0;
      if (!this.head) this.#place = this.#endOfPage();
    } catch (error) {
      if (error instanceof VersionsForgotten) throw historyLost();
      if (!(error instanceof ContainerGone)) throw error;
      this.#isGone = true;
    }
  }

  /** A page never divides an lsn: what is up to here has been passed. */
  #endOfPage(): Place {
    return { lsn: this.#pageEnd, passed: ALL };
  }
}

/** Where the log of a container begins: behind the smallest lsn that may be asked for. */
export async function beginningOf(
  engine: Engine,
  container: Container,
  at: Instant,
): Promise<Place> {
  let low = 0;
  let high = (await engine.stats(container)).lsn;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const scan = { partition: undefined, span: undefined, after: middle };
    try {
      await engine.versions?.(container, scan, at, { rowsMax: 1, bytesMax: 1 });
      high = middle;
    } catch (error) {
      if (!(error instanceof VersionsForgotten)) throw error;
      low = middle + 1;
    }
  }
  return { lsn: low, passed: ALL };
}

export function historyLost() {
  return mongoFailure(
    'ChangeStreamHistoryLost',
    'Resume of change stream was not possible, as the resume point may no longer be in the log.',
  );
}

function numbered(versions: readonly Version[]): readonly Placed[] {
  let lsn: Lsn | undefined;
  let passed = 0;
  return versions.map((version) => {
    passed = version.lsn === lsn ? passed + 1 : 0;
    lsn = version.lsn;
    return { version, place: { lsn, passed } };
  });
}
