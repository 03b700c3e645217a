// Word of changed definitions, from server to server: sooner than each would find out by looking.
// Nothing depends on it. What is said while a listener's connection is down is lost, and found by
// looking as ever.
import pg from 'pg';
import { type Alarm, later } from '../../time/clock.js';
import type { Pool } from './connection.js';
import { named, sql } from './sql.js';

const AGAIN_MS = 1_000;
/** It only listens, so that nothing but this tells it that the other end is gone. */
const ALIVE = {
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
};

export class Notices {
  readonly #pool: Pool;
  readonly #config: pg.ClientConfig;
  readonly #channel: string;
  readonly #server: string;
  #client: pg.Client | undefined;
  #again: Alarm | undefined;
  #isClosed = false;

  constructor(pool: Pool, config: pg.ClientConfig, channel: string, server: string) {
    this.#pool = pool;
    this.#config = config;
    this.#channel = channel;
    this.#server = server;
  }

  /** Whoever misses it finds out by looking. */
  tell(): void {
    const said = sql`select pg_notify(${this.#channel}, ${this.#server})`;
    void this.#pool.ask(said).catch(() => undefined);
  }

  /** Calls back when another server has told, and when this one may have missed it. */
  listen(heard: () => void): void {
    const client = new pg.Client({ ...this.#config, ...ALIVE, application_name: 'mayfly' });
    this.#client = client;
    const lost = () => {
      if (this.#client !== client) return;
      this.#client = undefined;
      if (!this.#isClosed) this.#again = later(AGAIN_MS, () => this.listen(heard));
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => {
      if (payload !== this.#server) heard();
    });
    const begin = async () => {
      await client.connect();
      await client.query(`listen ${named(this.#channel)}`);
      heard();
    };
    begin().catch(() => {
      lost();
      return client.end().catch(() => undefined);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#again?.cancel();
    await this.#client?.end().catch(() => undefined);
  }
}
