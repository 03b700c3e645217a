// The document engine over PostgreSQL: what the engine SPI promises, put together from the files
// beside it. It keeps nothing in memory that another server could change.
import { isLive } from '../../time/expiry.js';
import { type Instant, instant } from '../../time/instant.js';
import {
  type Budget,
  type ChangeScan,
  type Changes,
  type Container,
  ContainerGone,
  type Engine,
  type ExpiryScan,
  type Item,
  type ItemKey,
  type Lsn,
  type Plan,
  type Purge,
  type Restored,
  type ScanRequest,
  type Serial,
  type Stats,
  type TogetherOutcome,
  type Versions,
  type WriteBatch,
  type WriteGroup,
  type WriteOutcome,
} from '../engine.js';
import { readChanges } from './changes.js';
import { checkContainer } from './check.js';
import type { Dialect } from './citus.js';
import { Committer } from './committer.js';
import { type Answer, Pool, type Row } from './connection.js';
import { Containers } from './containers.js';
import { headOf, headSql, type Place } from './head.js';
import { IndexBuilder } from './index-builder.js';
import { Leases } from './lease.js';
import { Notices } from './notices.js';
import { Presence } from './presence.js';
import { nextOf, purgeDue, readExpiries } from './purge.js';
import { itemColumns, itemOf, keyOf } from './record.js';
import { restoreItems } from './restore.js';
import { planScan } from './scan.js';
import { Schema } from './schema.js';
import { prepareSchema } from './set-up.js';
import { raw, sql } from './sql.js';
import { Statistics } from './statistics.js';
import { readVersions } from './versions.js';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, `?schema=` names another schema than mayfly. */
  readonly url: string;
  /** Another one for each process that opens the database. */
  readonly server: string;
  readonly fraction: () => number;
  /** The time of this machine. */
  readonly wall: () => Instant;
  readonly connectionsMax?: number;
}
export interface Opened {
  readonly engine: Engine;
  readonly presence: Presence;
  /** Where the server passes on what its clients tell each other. */
  readonly notices: Notices | undefined;
}

export async function openPostgres(options: PostgresOptions): Promise<Opened> {
  const { config, schema } = addressOf(options.url);
  const { fraction, connectionsMax } = options;
  const pool = new Pool({
    config,
    fraction,
    ...(connectionsMax === undefined ? {} : { ownMax: connectionsMax }),
  });
  try {
    const dialect = await prepareSchema(pool, schema);
    if (dialect.plansOnce) pool.planOnce();
    const presence = new Presence(pool, schema, options.server, options.wall);
    await presence.beat();
    const notices = dialect.notifies
      ? new Notices(pool, config, schema.name, options.server)
      : undefined;
    return { engine: new PostgresEngine(pool, schema, presence, dialect), presence, notices };
  } catch (error) {
    await pool.close();
    throw error;
  }
}

function addressOf(text: string) {
  const url = new URL(text);
  const schema = new Schema(url.searchParams.get('schema') ?? 'mayfly');
  url.searchParams.delete('schema');
  return { config: { connectionString: url.href, ...TIMEOUTS }, schema };
}

/** Nobody holds a lock for ever: a server that stops in the middle is cut off by the database. */
const TIMEOUTS = {
  statement_timeout: 60_000,
  lock_timeout: 20_000,
  idle_in_transaction_session_timeout: 10_000,
};

/** Committers that are idle are forgotten when there are more. */
const COMMITTERS_MAX = 1000;

class PostgresEngine implements Engine {
  readonly #pool: Pool;
  readonly #schema: Schema;
  readonly #presence: Presence;
  readonly #dialect: Dialect;
  readonly #leases: Leases;
  readonly #containers: Containers;
  readonly #committers = new Map<string, Committer>();
  readonly #statistics: Statistics;
  readonly #indexes: IndexBuilder;
  #groups = 0;

  constructor(pool: Pool, schema: Schema, presence: Presence, dialect: Dialect) {
    this.#pool = pool;
    this.#schema = schema;
    this.#presence = presence;
    this.#leases = new Leases(pool, presence);
    this.#dialect = dialect;
    this.#statistics = new Statistics(pool);
    this.#indexes = new IndexBuilder(pool, schema);
    this.#containers = new Containers(pool, schema, dialect);
  }

  containers(): Promise<readonly Container[]> {
    return this.#containers.list();
  }

  createContainer(container: Container): Promise<void> {
    return this.#containers.create(container);
  }

  async alterContainer(container: Container): Promise<void> {
    await this.#containers.alter(container);
    this.#indexes.forget(container.id);
  }

  async dropContainer(id: string): Promise<void> {
    await this.#containers.drop(id);
    this.#committers.delete(id);
    this.#indexes.forget(id);
  }

  async stats(container: Container): Promise<Stats> {
    const { rows } = await this.#pool.ask(headSql(await this.#place(container), false));
    const { retentionMs, forgotten, ...head } = headOf(rows[0], container.id);
    const { items, bytes, lsn, nextSerial } = head;
    const versionsFrom = retentionMs === undefined ? undefined : forgotten;
    return { items, bytes, lsn, indexProgress: 100, nextSerial, versionsFrom };
  }

  async size(): Promise<number> {
    const { rows } = await this.#pool.ask(sql`select
      coalesce(sum(${this.#dialect.bytesOf(raw('c.oid'))}), 0)::bigint
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${this.#schema.name} and c.relkind = 'r'`);
    return rows[0]?.[0] as number;
  }

  async get(container: Container, keys: readonly (ItemKey | Serial)[], at: Instant) {
    const place = await this.#place(container);
    const answers = await Promise.all(keys.map((key) => this.#load(place, key)));
    let lsn: Lsn = Number.MAX_SAFE_INTEGER;
    const items = answers.map(({ item, lsn: seen }) => {
      lsn = Math.min(lsn, seen);
      return item && isLive(item.fuses, container.expiry, at) ? item : undefined;
    });
    if (keys.length === 0) lsn = (await this.stats(container)).lsn;
    return { items, lsn };
  }

  plan(container: Container, request: ScanRequest): Plan {
    const place = () => this.#place(container);
    this.#indexes.note(container, place, request);
    return planScan(this.#pool, container, place, request, this.#indexes.of(container));
  }

  async commit(
    container: Container,
    batches: readonly WriteBatch[],
    at: Instant,
  ): Promise<readonly WriteOutcome[]> {
    return this.#committerOf(container.id).submit(await this.#place(container), batches, at);
  }

  async commitTogether(groups: readonly WriteGroup[], at: Instant): Promise<TogetherOutcome> {
    const [first] = groups;
    if (!first) return { groups: [] };
    const placed = await Promise.all(
      groups.map(async ({ container, batches }) => {
        return { place: await this.#place(container), batches };
      }),
    );
    return this.#committerOf(first.container.id).submitTogether(placed, at);
  }

  async restore(container: Container, restored: Restored): Promise<void> {
    await restoreItems(this.#pool, await this.#place(container), restored);
  }

  async changes(
    container: Container,
    scan: ChangeScan,
    at: Instant,
    budget: Budget,
  ): Promise<Changes> {
    return readChanges(this.#pool, await this.#place(container), scan, at, budget);
  }

  async versions(
    container: Container,
    scan: ChangeScan,
    at: Instant,
    budget: Budget,
  ): Promise<Versions> {
    return readVersions(this.#pool, await this.#place(container), scan, at, budget);
  }

  async nextExpiry(container: Container): Promise<Instant | undefined> {
    return nextOf((statement) => this.#pool.ask(statement), await this.#place(container));
  }

  async purge(container: Container, at: Instant, rowsMax: number): Promise<Purge> {
    const place = await this.#place(container);
    const othersMs = await this.#leases.othersMs(place, 'purge');
    if (othersMs !== undefined) return { purged: 0, bytes: 0, next: instant(at + othersMs) };
    // Under other rules by now: whoever goes by them will purge.
    const none = { purged: 0, bytes: 0, next: undefined };
    return (await purgeDue(this.#pool, place, at, rowsMax)) ?? none;
  }

  async expiries(container: Container, scan: ExpiryScan) {
    return readExpiries(this.#pool, await this.#place(container), scan);
  }

  async inspect(container: Container, key: ItemKey | Serial): Promise<Item | undefined> {
    return (await this.#load(await this.#place(container), key)).item;
  }

  async check(): Promise<void> {
    for (const container of await this.containers()) {
      await checkContainer(this.#pool, await this.#place(container));
    }
  }

  async close(): Promise<void> {
    for (const committer of this.#committers.values()) await committer.idle();
    await this.#indexes.stop();
    await this.#statistics.idle();
    // Others need not wait until it was silent for long; a database that is gone does not mind.
    await this.#presence.leave().catch(() => undefined);
    await this.#pool.close();
  }

  #place(container: Container): Promise<Place> {
    return this.#containers.placeOf(container);
  }

  #committerOf(id: string): Committer {
    const known = this.#committers.get(id);
    if (known) return known;
    for (const [other, { isIdle }] of this.#committers) {
      if (this.#committers.size < COMMITTERS_MAX) break;
      if (isIdle) this.#committers.delete(other);
    }
    const committer = new Committer(this.#pool, this.#presence.server, this.#statistics, () => {
      this.#groups += 1;
      return this.#groups;
    });
    this.#committers.set(id, committer);
    return committer;
  }

  /** The item together with the head, as they are at one moment. */
  async #load(
    { schema, container, bucket }: Place,
    key: ItemKey | Serial,
  ): Promise<{ readonly item: Item | undefined; readonly lsn: Lsn }> {
    const isSerial = typeof key === 'number';
    const match = isSerial ? sql`d.serial = ${key}` : sql`d.k = ${keyOf(key)}`;
    const answer: Answer = await this.#pool.ask(sql`select h.lsn, ${itemColumns('d')}
      from ${schema.head} h left join ${schema.of(container.id).items} d
      on d.bucket = h.bucket and ${match} where h.bucket = ${bucket} and h.id = ${container.id}`);
    const row: Row | undefined = answer.rows[0];
    if (!row) throw new ContainerGone(`the engine has no container '${container.id}'`);
    return { item: itemOf(row, 1, isSerial ? undefined : key), lsn: row[0] as Lsn };
  }
}
