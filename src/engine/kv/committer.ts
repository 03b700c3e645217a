// Group commit: work that arrives while one group is being made durable forms the next, and shares
// its fsync. All reading, deciding and writing goes through here one piece at a time, which is what
// makes it atomic.
import type { Store } from './store.js';
import { WriteSet } from './write-set.js';

/**
 * The longest a group may hold the event loop is this many pieces of work at 10 to 30 microseconds
 * each.
 */
const GROUP_MAX = 128;

/** Reads and writes through the set; what it throws undoes its own writes only. */
export type Work<T> = (writes: WriteSet) => T;

interface Waiting {
  run(group: WriteSet): void;
  settle(failed: Error | undefined): void;
}

export class Committer {
  readonly #store: Store;
  readonly #finish: (group: WriteSet) => void;
  readonly #queue: Waiting[] = [];
  #running: Promise<void> | undefined;
  #broken: Error | undefined;

  /**
   * `finish` adds what every group must hold, such as heads; it runs after the group's last piece
   * of work.
   */
  constructor(store: Store, finish: (group: WriteSet) => void) {
    this.#store = store;
    this.#finish = finish;
  }

  submit<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T;
      let thrown: unknown;
      this.#queue.push({
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
      const waiting = this.#queue.splice(0, GROUP_MAX);
      const failed = await this.#commit(waiting);
      for (const each of waiting) each.settle(failed);
    }
    this.#running = undefined;
  }

  async #commit(waiting: readonly Waiting[]): Promise<Error | undefined> {
    if (this.#broken) return this.#broken;
    const group = new WriteSet(this.#store);
    for (const each of waiting) each.run(group);
    if (group.size === 0) return undefined;
    this.#finish(group);
    try {
      await this.#store.write(group.entries());
      return undefined;
    } catch (error) {
      // After a failed write nobody knows what reached the disk, and the heads in memory are ahead
      // of it. Only a restart, which reads them back, may write again.
      this.#broken = new Error(
        `The store could not be written and takes no more writes until a restart: ${String(error)}`,
        { cause: error },
      );
      return this.#broken;
    }
  }
}
