// The request units of one physical partition: they flow in evenly, at most those of one second are
// kept, and a request that takes more than there is leaves a debt. What flows over is left for the
// purge.
import type { Instant } from '../time/instant.js';

const SECOND_MS = 1000;
/** Those who are turned away are spread over this time at the most. */
const SPREAD_MS = 1000;
const TYPICAL_WEIGHT = 0.1;
/** How long low priority stands back after high priority was turned away. */
const STAND_BACK_MS = 1000;

/** Nothing is kept for either; when there is not enough for both, low priority waits. */
export type Priority = 'high' | 'low';

export class Bucket {
  #perSecond: number;
  #level: number;
  #at: Instant;
  /** What flowed over in this second and was not used; below zero the purge has a debt. */
  #spare = 0;
  /** What requests cost of late, and when the last one that was turned away may come back. */
  #typical = 5;
  #lastTurn = 0;
  /** What the requests under way will have cost, by what requests cost of late. */
  #held = 0;
  /** Until when requests of low priority stand back for those of high priority. */
  #standBackUntil = 0;

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

  level(at: Instant): number {
    this.#fill(at);
    return this.#level - this.#held;
  }

  /** How long to wait until there is something again; undefined while there is. */
  waitMs(at: Instant, priority: Priority = 'high'): number | undefined {
    this.#fill(at);
    const left = this.#level - this.#held;
    const standBackMs = priority === 'low' ? this.#standBackUntil - at : 0;
    if (left > 0) return standBackMs > 0 ? standBackMs : undefined;
    return Math.max(Math.floor((-left * SECOND_MS) / this.#perSecond) + 1, standBackMs);
  }

  /** A request begins, and will cost something; the answer takes that back when it is told. */
  hold(): () => void {
    const held = this.#typical;
    this.#held += held;
    return () => {
      this.#held -= held;
    };
  }

  /**
   * Turns somebody away, so nothing of this second is left over. Returns how long to wait: until
   * there is something again, and longer the more wait already, so that they come one by one.
   */
  refuse(at: Instant, priority: Priority = 'high'): number {
    this.#spare = Math.min(0, this.#spare);
    if (priority === 'high') this.#standBackUntil = at + STAND_BACK_MS;
    const earliest = at + (this.waitMs(at, priority) ?? 1);
    const turn = this.#lastTurn + (this.#typical * SECOND_MS) / this.#perSecond;
    this.#lastTurn = Math.min(Math.max(earliest, turn), earliest + SPREAD_MS);
    return Math.ceil(this.#lastTurn - at);
  }

  spend(charge: number, at: Instant): void {
    this.#fill(at);
    this.#level -= charge;
    this.#typical += (charge - this.#typical) * TYPICAL_WEIGHT;
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
    if (at < since) {
      this.#lastTurn = 0;
      this.#standBackUntil = 0;
    }
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
