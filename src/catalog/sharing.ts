// Several servers over one store. Each looks at the catalog's position several times a second and
// takes over what others have written. A change that decides which items live waits until everybody
// knows of it: it names the instant from which on all servers go by it.
import { type Alarm, every, later } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';

/** What a store that is shared knows of the servers over it. */
export interface Sharing {
  /** Other servers that are alive. */
  readonly others: number;
  /** Whether others may count on this one to know what they changed a moment ago. */
  readonly isFresh: boolean;
  /** Real time, by the store's clock. */
  wall(): Instant;
  beat(): Promise<void>;
  /** Lets others know at once that the catalog has changed, where the store can do so. */
  tell?(): void;
  listen?(heard: () => void): void;
}

const POLL_MS = 250;
/** Longer than a server may go without having looked. */
const LEAD_MS = 2_500;

/** When a change takes effect everywhere; at once where nobody else is. */
export function switchInstant(sharing: Sharing | undefined): number | undefined {
  return sharing && sharing.others > 0 ? sharing.wall() + LEAD_MS : undefined;
}

function reached(sharing: Sharing | undefined, instant: number): Promise<void> {
  const left = sharing ? instant - sharing.wall() : 0;
  if (left <= 0) return Promise.resolve();
  return new Promise<void>((resolve) => {
    later(left, resolve);
  }).then(() => reached(sharing, instant));
}

/** A server that has lost sight of the others stops, rather than to go by what may be over. */
export function checkFresh(sharing: Sharing | undefined): void {
  if (!sharing || sharing.others === 0 || sharing.isFresh) return;
  throw failure('storeUnavailable', { why: 'This server has lost sight of its store.' });
}

/** Looks for what others have written, until it is cancelled. */
export function follow(
  sharing: Sharing,
  refresh: () => Promise<void>,
  report: (error: unknown) => void,
): Alarm {
  let looking = false;
  let isMore = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    do {
      isMore = false;
      try {
        await refresh();
        // Only now: others count on what this server knows, not on its being there.
        await sharing.beat();
      } catch (error) {
        report(error);
      }
    } while (isMore);
    looking = false;
  };
  sharing.listen?.(() => {
    // What it looks at by now may be what was there before.
    isMore = true;
    void look();
  });
  return every(POLL_MS, () => void look());
}

/** What is to take effect at an instant on which all servers agree. */
export class Waiting<T> {
  readonly #sharing: Sharing | undefined;
  #all: readonly { readonly since: number; readonly what: T }[] = [];

  constructor(sharing: Sharing | undefined) {
    this.#sharing = sharing;
  }

  /** Whether it has to wait, which it then does. */
  add(since: number | undefined, what: T): boolean {
    if (since === undefined || this.#now() >= since) return false;
    this.#all = [...this.#all, { since, what }];
    return true;
  }

  /** Those whose instant has come, once. */
  due(): readonly T[] {
    if (this.#all.length === 0) return [];
    const now = this.#now();
    const due = this.#all.filter(({ since }) => since <= now);
    this.#all = this.#all.filter(({ since }) => since > now);
    return due.map(({ what }) => what);
  }

  clear(): void {
    this.#all = [];
  }

  /** Resolves when the last of these can be had. */
  async over(which: (what: T) => boolean): Promise<void> {
    for (const { since, what } of this.#all) {
      if (which(what)) await reached(this.#sharing, since);
    }
  }

  #now(): number {
    return this.#sharing?.wall() ?? Number.POSITIVE_INFINITY;
  }
}
