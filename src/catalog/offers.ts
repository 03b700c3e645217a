// The offers of the catalog, at hand by their own serials and by what they are for.
import type { Serial } from '../engine/engine.js';
import type { Offer } from './resources.js';

export class Offers {
  readonly #bySerial = new Map<Serial, Offer>();
  /** By the database or container they are for, whose serials are all different. */
  readonly #byOwner = new Map<Serial, Offer>();

  all(): readonly Offer[] {
    return [...this.#bySerial.values()];
  }

  get(serial: Serial): Offer | undefined {
    return this.#bySerial.get(serial);
  }

  of(owner: Serial): Offer | undefined {
    return this.#byOwner.get(owner);
  }

  keep(offer: Offer): void {
    this.#bySerial.set(offer.serial, offer);
    this.#byOwner.set(offer.container ?? offer.database, offer);
  }

  forget(which: (offer: Offer) => boolean): void {
    for (const offer of this.all()) {
      if (!which(offer)) continue;
      this.#bySerial.delete(offer.serial);
      this.#byOwner.delete(offer.container ?? offer.database);
    }
  }

  clear(): void {
    this.forget(() => true);
  }
}
