// The request units of one physical partition: they flow in evenly, at most those of one second are
// kept, and a request that takes more than there is leaves a debt. What flows over is left for the
// purge.
import type { Instant } from '../time/instant.js';

const SECOND_MS = 1000;

export class Bucket {
  #perSecond: number;
  #level: number;
  #at: Instant;
  /** What flowed over in this second and was not used; below zero the purge has a debt. */
  #spare = 0;

  constructor(perSecond: number, at: Instant) {
    this.#perSecond = perSecond;
    this.#level = perSecond;
    this.#at = at;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** Kept at one second's worth whatever the new rate is: a lower one does not forgive a debt. */
  resize(perSecond: number, at: Instant): void {
    this.#fill(at);
    this.#perSecond = perSecond;
    this.#level = Math.min(this.#level, perSecond);
  }

  /** How long to wait until there is something again; undefined while there is. */
  waitMs(at: Instant): number | undefined {
    this.#fill(at);
    if (this.#level > 0) return undefined;
    return Math.floor((-this.#level * SECOND_MS) / this.#perSecond) + 1;
  }

  /** Somebody was turned away, so nothing of this second is left over. */
  refuse(): void {
    this.#spare = Math.min(0, this.#spare);
  }

  spend(charge: number, at: Instant): void {
    this.#fill(at);
    this.#level -= charge;
  }

  leftover(at: Instant): number {
    this.#fill(at);
    return Math.max(0, this.#spare);
  }

  spendLeftover(charge: number, at: Instant): void {
    this.#fill(at);
    this.#spare -= charge;
  }

  #fill(at: Instant): void {
    const since = this.#at;
    this.#at = at;
    // A clock that was set back only starts anew.
    if (at <= since) return;
    // A second ends with its last instant, so that whoever looks once in a second sees all of it.
    const second = at - 1 - ((at - 1) % SECOND_MS);
    if (second >= since) this.#spare = Math.min(0, this.#spare);
    const perMs = this.#perSecond / SECOND_MS;
    const fullAt = since + (this.#perSecond - this.#level) / perMs;
    this.#level = Math.min(this.#perSecond, this.#level + (at - since) * perMs);
    const over = (from: number) => Math.max(0, at - Math.max(from, fullAt, since)) * perMs;
    // A debt of the purge is paid with all that flowed over; credit is of this second alone.
    const all = over(since);
    const paid = Math.min(all, Math.max(0, -this.#spare));
    this.#spare += paid + Math.min(all - paid, over(second));
  }
}
