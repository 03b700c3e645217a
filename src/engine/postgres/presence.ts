// Which servers share the database, and what time it is there. Every server says now and then that
// it is alive, and learns from the same answer how far its own clock is off.
import { type Instant, instant } from '../../time/instant.js';
import type { Pool } from './connection.js';
import type { Schema } from './schema.js';
import { sql } from './sql.js';

/** A server that was silent for so long is not counted with, and must not serve. */
export const ALIVE_MS = 2_000;
const FORGOTTEN_MS = 86_400_000;
/** Of so many answers the quickest tells the time best. */
const SAMPLES_MAX = 20;

interface Sample {
  readonly tripMs: number;
  readonly offsetMs: number;
}

export class Presence {
  readonly server: string;
  readonly #pool: Pool;
  readonly #schema: Schema;
  readonly #wall: () => Instant;
  readonly #samples: Sample[] = [];
  #beating: Promise<void> | undefined;
  #hasLeft = false;
  #others = 0;
  #seenAt = 0;

  constructor(pool: Pool, schema: Schema, server: string, wall: () => Instant) {
    this.#pool = pool;
    this.#schema = schema;
    this.server = server;
    this.#wall = wall;
  }

  /** How far the database's clock is ahead of this machine's. */
  get offsetMs(): number {
    const [first, ...more] = this.#samples;
    if (!first) return 0;
    return more.reduce((best, each) => (each.tripMs < best.tripMs ? each : best), first).offsetMs;
  }

  /** The time that all servers of the database agree on, but for half a round trip. */
  wall(): Instant {
    return instant(Math.round(this.#wall() + this.offsetMs));
  }

  /** Other servers that are alive. */
  get others(): number {
    return this.#others;
  }

  /** Whether others may still count on this server to know what they have changed. */
  get isFresh(): boolean {
    return this.#wall() - this.#seenAt < ALIVE_MS;
  }

  async beat(): Promise<void> {
    if (this.#hasLeft) return;
    this.#beating = this.#beat();
    await this.#beating;
  }

  async #beat(): Promise<void> {
    const began = this.#wall();
    const table = this.#schema.server;
    const { rows } = await this.#pool.ask(sql`with now as (
        select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms),
      me as (insert into ${table}(id, seen) select ${this.server}::text, ms from now
        on conflict (id) do update set seen = excluded.seen returning seen)
      select (select seen from me), (select count(*) from ${table}, now
        where id <> ${this.server}::text and seen > ms - ${ALIVE_MS}::bigint)`);
    const [now, others] = rows[0] as [number, number];
    const ended = this.#wall();
    this.#samples.push({ tripMs: ended - began, offsetMs: now - (began + ended) / 2 });
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
    this.#others = others;
    this.#seenAt = began;
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    // A beat that is on its way would bring the server back.
    await this.#beating?.catch(() => undefined);
    const forgotten = this.wall() - FORGOTTEN_MS;
    await this.#pool.ask(sql`delete from ${this.#schema.server}
      where id = ${this.server} or seen < ${forgotten}::bigint`);
    await this.#pool.ask(sql`delete from ${this.#schema.lease} where owner = ${this.server}`);
  }
}
