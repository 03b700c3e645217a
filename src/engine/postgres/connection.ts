// Connections to PostgreSQL. Statements by themselves share a few connections, on which they
// follow each other without waiting; transactions and long scans have one for themselves. What is
// lost with a connection is tried again for a while, and then refused in words of the error
// table.
import type { Writable } from 'node:stream';
import pg from 'pg';
import { type Alarm, later, stopwatch } from '../../time/clock.js';
import { failure } from '../../value/errors.js';
import { ContainerGone } from '../engine.js';
import { raw, type Sql, textOf } from './sql.js';
import { StatementNames } from './statement-names.js';

export type Row = readonly (number | string | boolean | Buffer | null)[];
export interface Answer {
  readonly rows: readonly Row[];
  readonly rowCount: number;
  readonly command: string;
}
/** A connection of one's own, for a while. */
export interface Lease {
  query(statement: Sql): Promise<Answer>;
  /** A broken one is not used again. */
  release(isBroken?: boolean): void;
}

const SHARED_MAX = 4;
const OWN_MAX = 12;
const WAITING_MAX = 1000;
const WAIT_MS_MAX = 10_000;
const CONNECT_MS_MAX = 5_000;
const RETRY_MS = 50;
const RETRY_MS_MAX = 1_000;
const RETRIES_TOOK_MS_MAX = 10_000;

export interface PoolOptions {
  readonly config: pg.ClientConfig;
  readonly ownMax?: number;
  /** Between 0 and 1, so that servers that lost one database do not all come back at once. */
  readonly fraction: () => number;
}

interface Waiting {
  take(client: Connection): void;
  fail(error: unknown): void;
  readonly alarm: Alarm;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #names = new StatementNames();
  readonly #shared: (Promise<Connection> | undefined)[] = [];
  readonly #idle: Connection[] = [];
  readonly #waiting: Waiting[] = [];
  #isPlannedOnce = false;
  #turn = 0;
  #own = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Statements on shared connections are planned once, whatever their parameters are. */
  planOnce(): void {
    this.#isPlannedOnce = true;
  }

  /** One statement that may be sent twice: a read, or a write that repeats itself. */
  ask(statement: Sql): Promise<Answer> {
    return this.retrying(async () => (await this.#sharedOne()).query(statement));
  }

  /** The same for one that takes its time, or its locks: others do not wait behind it. */
  askAlone(statement: Sql): Promise<Answer> {
    return this.retrying(async () => {
      const lease = await this.lease();
      try {
        const answer = await lease.query(statement);
        lease.release();
        return answer;
      } catch (error) {
        lease.release(isLost(error));
        throw error;
      }
    });
  }

  async lease(): Promise<Lease> {
    const client = await this.#ownOne();
    return {
      query: (statement) => client.query(statement),
      release: (isBroken = false) => this.#release(client, isBroken),
    };
  }

  /**
   * A transaction that may be run twice: it is, when the connection is lost before or while it is
   * committed. Work that sends its last statements together with the commit says so.
   */
  transact<T>(work: (lease: Lease) => Promise<T>, ends: 'here' | 'in work' = 'here'): Promise<T> {
    return this.retrying(async () => {
      const lease = await this.lease();
      let isBroken = true;
      try {
        const [, result] = await Promise.all([lease.query(raw('begin')), work(lease)]);
        if (ends === 'here') await lease.query(raw('commit'));
        isBroken = false;
        return result;
      } catch (error) {
        isBroken = isLost(error) || (await lease.query(raw('rollback')).then(no, yes));
        throw error;
      } finally {
        lease.release(isBroken);
      }
    });
  }

  /** Tries again what a lost connection has ended, and says at last that it cannot be done. */
  async retrying<T>(work: () => Promise<T>): Promise<T> {
    const took = stopwatch();
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const isOver = this.#closed || took() > RETRIES_TOOK_MS_MAX;
        if (!isPassing(error) || isOver) throw explained(error);
        await this.pause(attempt);
      }
    }
  }

  pause(attempt: number): Promise<void> {
    const ms = Math.min(RETRY_MS * 2 ** attempt, RETRY_MS_MAX);
    return new Promise((resolve) => {
      later(ms * (0.5 + this.#options.fraction() / 2), resolve);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const shared = await Promise.allSettled(this.#shared);
    for (const each of shared) if (each.status === 'fulfilled') await each.value?.end();
    // Those that end leave the list.
    for (const client of [...this.#idle]) await client.end();
    for (const { fail, alarm } of this.#waiting) {
      alarm.cancel();
      fail(failure('shuttingDown'));
    }
  }

  #sharedOne(): Promise<Connection> {
    this.#turn = (this.#turn + 1) % SHARED_MAX;
    const at = this.#turn;
    const known = this.#shared[at];
    if (known) return known;
    const made = this.#connect(() => {
      if (this.#shared[at] === made) this.#shared[at] = undefined;
    }).then(async (connection) => {
      if (this.#isPlannedOnce) await connection.query(PLAN_ONCE);
      return connection;
    });
    made.catch(() => {
      if (this.#shared[at] === made) this.#shared[at] = undefined;
    });
    this.#shared[at] = made;
    return made;
  }

  async #ownOne(): Promise<Connection> {
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#own < (this.#options.ownMax ?? OWN_MAX)) {
      this.#own += 1;
      try {
        let client: Connection | undefined;
        client = await this.#connect(() => {
          const at = client ? this.#idle.indexOf(client) : -1;
          if (at < 0) return;
          this.#idle.splice(at, 1);
          this.#own -= 1;
        });
        return client;
      } catch (error) {
        this.#own -= 1;
        throw error;
      }
    }
    if (this.#waiting.length >= WAITING_MAX) throw failure('storeBusy');
    return new Promise((take, fail) => {
      const alarm = later(WAIT_MS_MAX, () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        fail(failure('storeBusy'));
      });
      const waiting: Waiting = { take, fail, alarm };
      this.#waiting.push(waiting);
    });
  }

  #release(client: Connection, isBroken: boolean): void {
    if (isBroken || client.isLost || this.#closed) {
      this.#own -= 1;
      void client.end();
      const next = this.#waiting.shift();
      if (!next) return;
      next.alarm.cancel();
      this.#ownOne().then(next.take, next.fail);
      return;
    }
    const next = this.#waiting.shift();
    if (!next) {
      this.#idle.push(client);
      return;
    }
    next.alarm.cancel();
    next.take(client);
  }

  async #connect(lost: () => void): Promise<Connection> {
    const config = {
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
      application_name: 'mayfly',
      ...this.#options.config,
      pipeline: true,
    };
    const client = new pg.Client(config);
    const connection = new Connection(client, this.#names, lost);
    try {
      await client.connect();
    } catch (error) {
      // A server that is not there yet, or takes no more connections, is asked again.
      throw isLost(error) || codeOf(error) === TOO_MANY ? error : lostBy(error);
    }
    return connection;
  }
}

const PLAN_ONCE = raw('set plan_cache_mode = force_generic_plan');
const no = () => false;
const yes = () => true;

class Connection {
  readonly #client: pg.Client;
  readonly #names: StatementNames;
  #isGathering = false;
  isLost = false;

  constructor(client: pg.Client, names: StatementNames, lost: () => void) {
    this.#client = client;
    this.#names = names;
    const note = () => {
      this.isLost = true;
      lost();
    };
    client.on('error', note);
    client.on('end', note);
  }

  async query(statement: Sql): Promise<Answer> {
    const text = textOf(statement);
    const name = this.#names.nameOf(text);
    this.#gather();
    const query = {
      text,
      values: statement.values as unknown[],
      rowMode: 'array' as const,
      types: { getTypeParser: parserOf } as unknown as pg.CustomTypesConfig,
    };
    const result = await this.#client.query(name === undefined ? query : { ...query, name });
    return { rows: result.rows as Row[], rowCount: result.rowCount ?? 0, command: result.command };
  }

  async end(): Promise<void> {
    this.isLost = true;
    await this.#client.end().catch(() => undefined);
  }

  /** What is sent in one turn goes out in one piece: a system call is dearer than a statement. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    const { stream } = (this.#client as unknown as { connection: { stream: Writable } }).connection;
    stream.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }
}

const OID = { bool: 16, bytea: 17, int8: 20, int4: 23 } as const;

function parserOf(oid: number): (text: string) => unknown {
  switch (oid) {
    case OID.bool:
      return (text) => text === 't';
    case OID.bytea:
      return (text) => Buffer.from(text.slice(2), 'hex');
    case OID.int8:
    case OID.int4:
      return Number;
    default:
      return (text) => text;
  }
}

const TOO_MANY = '53300';

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The connection is gone, and nobody knows what the server did with the last statements. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  if (/^(08...|57P0[1-5]|E[A-Z]+)$/.test(code)) return true;
  return (
    error instanceof Error && /Connection terminated|not queryable|timeout exp/.test(error.message)
  );
}

/** It may well succeed the next time. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  return isLost(error) || code === TOO_MANY || code === '40001' || code === '40P01';
}

/** What a database says, in words of the error table. */
export function explained(error: unknown): unknown {
  const code = codeOf(error);
  if (code === '42P01') return new ContainerGone((error as Error).message);
  if (code === TOO_MANY) return failure('storeBusy');
  if (code === '57014' || code === '55P03') return failure('storeTimeout');
  if (code === '40001' || code === '40P01') return failure('retryWith');
  if (isLost(error)) return failure('storeUnavailable', { why: (error as Error).message });
  return error;
}

function lostBy(error: unknown): unknown {
  if (codeOf(error) !== '' || !(error instanceof Error)) return error;
  return Object.assign(error, { code: 'ECONNECT' });
}
