// The containers of a database: their definitions, buckets and tables.
import { type Container, ContainerGone } from '../engine.js';
import type { Pool } from './connection.js';
import { headSql, type Place } from './head.js';
import { containerTables, type Schema } from './schema.js';
import { raw, type Sql, sql } from './sql.js';

const BUCKET = 0;

export class Containers {
  readonly #pool: Pool;
  readonly #schema: Schema;

  constructor(pool: Pool, schema: Schema) {
    this.#pool = pool;
    this.#schema = schema;
  }

  async list(): Promise<readonly Container[]> {
    const { rows } = await this.#pool.ask(
      sql`select definition from ${this.#schema.container} order by id`,
    );
    return rows.map(([definition]) => JSON.parse(definition as string) as Container);
  }

  async placeOf(container: Container): Promise<Place> {
    return { schema: this.#schema, container, bucket: BUCKET };
  }

  async create(container: Container): Promise<void> {
    const { id } = container;
    await this.#pool.transact(async (lease) => {
      await lease.query(sql`lock table ${this.#schema.container} in share row exclusive mode`);
      const { rows } = await lease.query(
        sql`select from ${this.#schema.container} where id = ${id}`,
      );
      if (rows.length > 0) throw new Error(`the engine has '${id}' already`);
      for (const statement of containerTables(this.#schema, container)) {
        await lease.query(statement);
      }
      for (const statement of indexesFor(this.#schema, container)) await lease.query(statement);
      await lease.query(sql`insert into ${this.#schema.container}(id, bucket, definition)
        values (${id}, ${BUCKET}, ${JSON.stringify(container)})`);
      await lease.query(sql`insert into ${this.#schema.head}
        (bucket, id, lsn, serial, items, bytes, writers)
        values (${BUCKET}, ${id}, 0, 1, 0, 0, '{}')`);
    });
  }

  async alter(container: Container): Promise<void> {
    const { id } = container;
    await this.#pool.transact(async (lease) => {
      await lease.query(headSql(await this.placeOf(container), true));
      const { rowCount } = await lease.query(sql`update ${this.#schema.container}
        set definition = ${JSON.stringify(container)} where id = ${id}`);
      if (rowCount === 0) throw new ContainerGone(`the engine has no container '${id}'`);
      for (const statement of indexesFor(this.#schema, container)) await lease.query(statement);
    });
  }

  async drop(id: string): Promise<void> {
    const { items, unique } = this.#schema.of(id);
    await this.#pool.transact(async (lease) => {
      // In the order that writers lock in.
      await lease.query(
        sql`delete from ${this.#schema.head} where bucket = ${BUCKET} and id = ${id}`,
      );
      await lease.query(sql`delete from ${this.#schema.container} where id = ${id}`);
      await lease.query(
        sql`delete from ${this.#schema.lease} where bucket = ${BUCKET} and id = ${id}`,
      );
      await lease.query(sql`drop table if exists ${items}, ${unique}`);
    });
  }
}

/** What questions about paths go by: one index over all values, unless the policy wants none. */
function indexesFor(schema: Schema, { id, indexing }: Container): readonly Sql[] {
  const { items, names } = schema.of(id);
  const values = schema.table(`${names.items}_x`);
  if (indexing.rules.length === 0) return [sql`drop index if exists ${values}`];
  return [
    sql`create index if not exists ${raw(quotedName(`${names.items}_x`))} on ${items}
      using gin(x jsonb_path_ops)`,
  ];
}

function quotedName(name: string): string {
  return `"${name}"`;
}
