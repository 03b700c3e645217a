// A server under simulation: started and restarted in this process on the same clock, with the
// background purge in the simulation's hand.
import { type Mayfly, type StartOptions, start, VirtualClock } from '../../src/main.js';
import { instant } from '../../src/time/instant.js';
import { Client } from './client.suite.js';

/** Nothing is ever due this early, so a clock set to it keeps the purge from finding work. */
const LONG_AGO = instant(0);

export class Server {
  readonly #place: StartOptions;
  readonly #clock = new VirtualClock();
  #mayfly: Mayfly | undefined;
  #client = new Client(0);
  #background = false;
  #pauses = 0;

  /** A folder, `:memory:`, or `postgres://…`. */
  constructor(place: string) {
    this.#place = place.startsWith('postgres:') ? { store: place } : { data: place };
  }

  get client(): Client {
    return this.#client;
  }

  get nowMs(): number {
    return this.#clock.now();
  }

  async open(nowMs: number): Promise<void> {
    this.#clock.freeze();
    this.#clock.set(instant(nowMs));
    await this.#start();
  }

  async restart(): Promise<void> {
    await this.close();
    await this.#start();
  }

  async close(): Promise<void> {
    this.#client.close();
    await this.#mayfly?.close();
    this.#mayfly = undefined;
  }

  async resumePurge(): Promise<void> {
    this.#background = true;
    await this.#client.control('POST', 'purge/resume');
  }

  /** When it resolves, no purge is under way. */
  async pausePurge(): Promise<void> {
    this.#background = false;
    await this.#client.control('POST', 'purge/pause');
    // A pass that has begun already is written before any write that comes after it.
    this.#pauses += 1;
    const body = { id: `pause-${this.#pauses}` };
    await this.#quietly(() => this.#client.cosmos('POST', 'dbs', { body }));
  }

  /** A server starts with its purge on, so it is stopped before there can be work for it. */
  async #start(): Promise<void> {
    const open = async () => {
      this.#mayfly = await start({ ...this.#place, clock: this.#clock });
      this.#client = new Client(this.#mayfly.port);
    };
    if (this.#background) {
      await open();
      return;
    }
    await this.#quietly(async () => {
      await open();
      await this.#client.control('POST', 'purge/pause');
    });
  }

  /** Does something at a moment when nothing is due; no reader is there to notice. */
  async #quietly(work: () => Promise<unknown>): Promise<void> {
    const now = this.#clock.now();
    this.#clock.set(LONG_AGO);
    await work();
    this.#clock.set(now);
  }
}
