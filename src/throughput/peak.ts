// The highest use of request units in any second of the current hour: what autoscale would have
// scaled to, and the service would bill.
import type { Instant } from '../time/instant.js';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;

export class Peak {
  #hour = 0;
  #second = 0;
  #used = 0;
  #highest = 0;

  add(charge: number, at: Instant): void {
    this.#turn(at);
    this.#used += charge;
    this.#highest = Math.max(this.#highest, this.#used);
  }

  highest(at: Instant): number {
    this.#turn(at);
    return this.#highest;
  }

  #turn(at: Instant): void {
    const second = Math.floor(at / SECOND_MS);
    if (second !== this.#second) this.#used = 0;
    this.#second = second;
    const hour = Math.floor(at / HOUR_MS);
    if (hour !== this.#hour) this.#highest = 0;
    this.#hour = hour;
  }
}
