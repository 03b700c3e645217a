// Group commit: work that arrives while one group is being made durable forms the next, and shares
// its fsync. All reading, deciding and writing goes through here one piece at a time, which is what
// makes it atomic.
import { breathe, later, stopwatch } from '../../time/clock.js';
import { failure } from '../../value/errors.js';
import type { Store } from './store.js';
import { WriteSet } from './write-set.js';

const GROUP_MAX = 128;
/** A group is closed when it has so much; the rest of the work waits for the next. */
const GROUP_WRITES = 1500;
const GROUP_BYTES = 2_097_152;
/** After so long everybody else has a turn; the group goes on behind them. */
const TURN_MS = 3;
/** What nobody waits for holds up others for less. */
const BACKGROUND_TURN_MS = 0.3;
/**
 * Clients whose writes were just answered mostly have more. Where a commit takes longer than this,
 * the next one waits as long for them, so that all share it: else they would fall into two halves
 * that take turns, with twice as many commits.
 */
const GATHER_MS = 1;

/** Reads and writes through the set; what it throws undoes its own writes only. */
export type Work<T> = (writes: WriteSet) => T;

/** Who submits it: somebody who waits for an answer, or the server itself. */
export type Origin = 'request' | 'background';

interface Waiting {
  readonly origin: Origin;
  run(group: WriteSet): void;
  settle(failed: Error | undefined): void;
}

export class Committer {
  readonly #store: Store;
  readonly #finish: (group: WriteSet) => void;
  readonly #active: () => number;
  readonly #queue: Waiting[] = [];
  #running: Promise<void> | undefined;
  /** How many pieces of work the next group may find, and until when it is worth waiting. */
  #expected = 0;
  #sinceCommit: (() => number) | undefined;
  #gathered: (() => void) | undefined;
  #broken: Error | undefined;

  /**
   * `finish` adds what every group must hold, such as heads; it runs after the group's last piece
   * of work. `active` says how many requests are being answered: where all of them are in one
   * group, nobody is kept waiting by its flush.
   */
  constructor(
    store: Store,
    finish: (group: WriteSet) => void,
    active: () => number = () => Number.POSITIVE_INFINITY,
  ) {
    this.#store = store;
    this.#finish = finish;
    this.#active = active;
  }

  submit<T>(work: Work<T>, origin: Origin = 'background'): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T;
      let thrown: unknown;
      this.#queue.push({
        origin,
        run: (group) => {
          const mark = group.mark();
          try {
            result = work(group);
          } catch (error) {
            group.rollBack(mark);
            thrown = error ?? new Error('thrown without a reason');
          }
        },
        settle: (failed) => {
          const reason = thrown ?? failed;
          if (reason === undefined) resolve(result);
          else reject(reason);
        },
      });
      if (this.#queue.length >= this.#expected) this.#gathered?.();
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when nothing waits and nothing is being written. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #drain(): Promise<void> {
    // One turn later, so that requests handled in the same turn of the event loop share the first
    // group too.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      if (this.#queue.length < this.#expected) await this.#gather();
      const waiting = this.#queue.splice(0, GROUP_MAX);
      const took = stopwatch();
      const failed = await this.#commit(waiting);
      const isSlow = took() > GATHER_MS;
      this.#expected = isSlow ? Math.min(waiting.length + this.#queue.length, GROUP_MAX) : 0;
      this.#sinceCommit = stopwatch();
      for (const each of waiting) each.settle(failed);
    }
    this.#running = undefined;
  }

  /** Waits for those who were answered last, but not long. */
  async #gather(): Promise<void> {
    const left = GATHER_MS - (this.#sinceCommit?.() ?? GATHER_MS);
    if (left <= 0) return;
    await new Promise<void>((resolve) => {
      const alarm = later(left, resolve);
      this.#gathered = () => {
        alarm.cancel();
        resolve();
      };
    });
    this.#gathered = undefined;
  }

  /** Takes from the end of those that wait what does not fit into the group. */
  async #commit(waiting: Waiting[]): Promise<Error | undefined> {
    if (this.#broken) return this.#broken;
    const group = new WriteSet(this.#store);
    let turn = stopwatch();
    for (const [index, each] of waiting.entries()) {
      each.run(group);
      if (group.size >= GROUP_WRITES || group.bytes >= GROUP_BYTES) {
        this.#queue.unshift(...waiting.splice(index + 1));
        break;
      }
      if (turn() < (each.origin === 'background' ? BACKGROUND_TURN_MS : TURN_MS)) continue;
      await breathe();
      turn = stopwatch();
    }
    if (group.size === 0) return undefined;
    this.#finish(group);
    try {
      await this.#store.write(group.entries(), this.#isAwaitedByAll(waiting));
      return undefined;
    } catch (error) {
      // After a failed write nobody knows what reached the disk, and the heads in memory are ahead
      // of it. Only a restart, which reads them back, may write again.
      this.#broken = failure('storeBroken', { why: String(error) });
      // The first one is reported with all that is known of it.
      return new Error(this.#broken.message, { cause: error });
    }
  }

  #isAwaitedByAll(waiting: readonly Waiting[]): boolean {
    const requests = waiting.filter(({ origin }) => origin === 'request').length;
    return requests > 0 && this.#active() <= requests;
  }
}
