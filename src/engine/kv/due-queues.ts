// What a purge has found and not removed yet. A scan of the expiry table passes everything that was
// removed lately and is still in the store's file, so it looks for more than one pass wants. What
// it found holds until anybody else writes to the container.
import type { ExpiryRule } from '../../time/expiry.js';
import type { Instant } from '../../time/instant.js';
import type { Lsn } from '../engine.js';
import type { Place } from './entries.js';
import type { Head } from './head.js';
import { type Due, dueItems } from './purge.js';
import type { Reader } from './store.js';

const FOUND_MAX = 1024;

interface Queue {
  readonly at: Instant;
  readonly rules: readonly ExpiryRule[];
  readonly due: Due[];
  /** The last write of the container that is known here. */
  lsn: Lsn;
}

export class DueQueues {
  readonly #queues = new WeakMap<Head, Queue>();

  /** What is due, the oldest first. */
  take(store: Reader, place: Place, at: Instant, rowsMax: number): readonly Due[] {
    const { head, container } = place;
    const queue = this.#queues.get(head);
    if (queue && queue.at <= at && isSame(queue.rules, container.expiry)) {
      if (queue.lsn === head.lsn && queue.due.length >= rowsMax) {
        return queue.due.splice(0, rowsMax);
      }
    }
    const due = dueItems(store, place, at, Math.max(rowsMax, FOUND_MAX));
    const taken = due.splice(0, rowsMax);
    this.#queues.set(head, { at, rules: container.expiry, due, lsn: head.lsn });
    return taken;
  }

  /** Removes what was taken, in a commit; a queue knows of its own writes. */
  remove<T>(head: Head, work: () => T): T {
    const queue = this.#queues.get(head);
    const isKnown = queue?.lsn === head.lsn;
    const result = work();
    if (queue && isKnown) queue.lsn = head.lsn;
    return result;
  }

  /** When the next of those that were found is due. */
  next(head: Head): Instant | undefined {
    const queue = this.#queues.get(head);
    return queue?.lsn === head.lsn ? queue.due[0]?.due : undefined;
  }
}

function isSame(one: readonly ExpiryRule[], other: readonly ExpiryRule[]): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
