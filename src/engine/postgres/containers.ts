// The containers of a database: their definitions, buckets and tables.
import { type Container, ContainerGone } from '../engine.js';
import { type Dialect, plain } from './citus.js';
import type { Lease, Pool } from './connection.js';
import { type Head, headOf, headSql, type Place } from './head.js';
import { existingIndexes } from './index-builder.js';
import {
  createIndexSql,
  declaredIndexes,
  indexName,
  isStillWanted,
  needsValues,
} from './path-indexes.js';
import { containerTables, type Schema } from './schema.js';
import { raw, type Sql, sql } from './sql.js';

/** Buckets are fixed, so they are kept in mind; with more containers the list begins anew. */
const KNOWN_MAX = 5_000;

export class Containers {
  readonly #pool: Pool;
  readonly #schema: Schema;
  readonly #dialect: Dialect;
  readonly #buckets = new Map<string, number>();

  constructor(pool: Pool, schema: Schema, dialect: Dialect) {
    this.#pool = pool;
    this.#schema = schema;
    this.#dialect = dialect;
  }

  async list(): Promise<readonly Container[]> {
    const { rows } = await this.#pool.ask(
      sql`select definition from ${this.#schema.container} order by id`,
    );
    return rows.map(([definition]) => JSON.parse(definition as string) as Container);
  }

  async placeOf(container: Container): Promise<Place> {
    return { schema: this.#schema, container, bucket: await this.#bucketOf(container.id) };
  }

  async #bucketOf(id: string): Promise<number> {
    if (this.#dialect === plain) return 0;
    const known = this.#buckets.get(id);
    if (known !== undefined) return known;
    const { rows } = await this.#pool.ask(
      sql`select bucket from ${this.#schema.container} where id = ${id}`,
    );
    const bucket = rows[0]?.[0] as number | undefined;
    if (bucket === undefined) throw new ContainerGone(`the engine has no container '${id}'`);
    if (this.#buckets.size >= KNOWN_MAX) this.#buckets.clear();
    this.#buckets.set(id, bucket);
    return bucket;
  }

  async create(container: Container): Promise<void> {
    const { id } = container;
    const { newBucket, distribute } = this.#dialect;
    const definition = JSON.stringify(container);
    let isTried = false;
    await this.#define(async (lease) => {
      await lease.query(sql`lock table ${this.#schema.container} in share row exclusive mode`);
      const { rows } = await lease.query(sql`select definition = ${definition}::jsonb
        from ${this.#schema.container} where id = ${id}`);
      // Made by the try before, whose answer was lost.
      if (isTried && rows[0]?.[0] === true) return;
      if (rows.length > 0) throw new Error(`the engine has '${id}' already`);
      const bucket = await newBucket(lease, this.#schema);
      for (const statement of [
        ...containerTables(this.#schema, container),
        ...distribute(this.#schema, id),
        ...valuesIndexSql(this.#schema, container),
        ...declaredIndexes(container).flatMap((index) =>
          createIndexSql(this.#schema, id, index, 'at once'),
        ),
      ]) {
        await lease.query(statement);
      }
      await lease.query(sql`insert into ${this.#schema.container}(id, bucket, definition)
        values (${id}, ${bucket}, ${definition})`);
      await lease.query(sql`insert into ${this.#schema.head}
        (bucket, id, lsn, serial, items, bytes, writers, retention)
        values (${bucket}, ${id}, 0, 1, 0, 0, '{}', ${container.retentionMs ?? null})`);
      isTried = true;
    });
  }

  async alter(container: Container): Promise<void> {
    const { id } = container;
    const place = await this.placeOf(container);
    await this.#define(async (lease) => {
      const { rows } = await lease.query(headSql(place, true));
      const head = headOf(rows[0], id);
      await this.#follow(lease, place, head);
      const { rowCount } = await lease.query(sql`update ${this.#schema.container}
        set definition = ${JSON.stringify(container)} where id = ${id}`);
      if (rowCount === 0) throw new ContainerGone(`the engine has no container '${id}'`);
      await this.#index(lease, container, head.items);
    });
  }

  /** Of many items indexes are made beside the writers, by the builder. */
  async #index(lease: Lease, container: Container, items: number): Promise<void> {
    const { id } = container;
    const there = await existingIndexes(lease, this.#schema, id);
    const unwanted = there.filter(({ index }) => !isStillWanted(container, index));
    const missing = declaredIndexes(container).filter((index) => {
      const name = indexName(this.#schema, id, index);
      return items <= ITEMS_AT_ONCE_MAX && !there.some((each) => each.name === name);
    });
    for (const statement of [
      ...unwanted.map(({ name }) => sql`drop index if exists ${this.#schema.table(name)}`),
      ...valuesIndexSql(this.#schema, container),
      ...missing.flatMap((index) => createIndexSql(this.#schema, id, index, 'at once')),
    ]) {
      await lease.query(statement);
    }
  }

  /** Versions are kept from here on, or not any more; what dropped indexes held is let go. */
  async #follow(lease: Lease, { container, bucket, schema }: Place, head: Head): Promise<void> {
    const { id, retentionMs, indexes } = container;
    const isNew = head.retentionMs === undefined && retentionMs !== undefined;
    await lease.query(sql`update ${schema.head} set retention = ${retentionMs ?? null},
      forgotten = ${isNew ? head.lsn : head.forgotten} where bucket = ${bucket} and id = ${id}`);
    const names = indexes.filter(({ unique }) => unique).map(({ name }) => name);
    await lease.query(sql`delete from ${schema.of(id).unique}
      where bucket = ${bucket} and name <> all(${names}::text[])`);
  }

  async drop(id: string): Promise<void> {
    const { items, unique, versions } = this.#schema.of(id);
    const { head, container, lease: leases } = this.#schema;
    const { rows } = await this.#pool.ask(sql`select bucket from ${container} where id = ${id}`);
    const bucket = rows[0]?.[0];
    if (bucket === undefined) return;
    await this.#define(async (lease) => {
      // In the order that writers lock in.
      await lease.query(sql`delete from ${head} where bucket = ${bucket} and id = ${id}`);
      await lease.query(sql`delete from ${container} where id = ${id}`);
      await lease.query(sql`delete from ${leases} where bucket = ${bucket} and id = ${id}`);
      await lease.query(sql`drop table if exists ${items}, ${unique}, ${versions}`);
    });
    this.#buckets.delete(id);
  }

  #define(work: (lease: Lease) => Promise<void>): Promise<void> {
    return this.#pool.transact(async (lease) => {
      for (const statement of this.#dialect.defining) await lease.query(statement);
      await work(lease);
    });
  }
}

/** One index over all values, where the policy does not name all paths one by one. */
function valuesIndexSql(schema: Schema, container: Container): readonly Sql[] {
  const { items, names } = schema.of(container.id);
  const values = schema.table(`${names.items}_x`);
  if (!needsValues(container)) return [sql`drop index if exists ${values}`];
  return [
    sql`create index if not exists ${raw(quotedName(`${names.items}_x`))} on ${items}
      using gin(x jsonb_path_ops) with (gin_pending_list_limit = ${raw(PENDING_KB)})`,
  ];
}

/** What was written last is searched line by line in every query, so there must not be much. */
const PENDING_KB = '128';
/** Writers wait while indexes over so many are made. */
const ITEMS_AT_ONCE_MAX = 10_000;

function quotedName(name: string): string {
  return `"${name}"`;
}
