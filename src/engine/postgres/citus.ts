// All that is Citus. Tables are distributed by bucket and colocated with `head`. A container has
// one bucket, and buckets are chosen so that each stands for one shard: whatever a request touches
// lies on one node. Catalog, servers and format stay on the coordinator.
import type { Lease, Pool } from './connection.js';
import type { Schema } from './schema.js';
import { named, quoted, raw, type Sql, sql } from './sql.js';

/** What differs between a PostgreSQL by itself and a cluster of them. */
export interface Dialect {
  readonly name: 'PostgreSQL' | 'Citus';
  /** Whether NOTIFY reaches all servers: in a cluster each node keeps it to itself. */
  readonly notifies: boolean;
  /** Run once, when the shared tables are there. */
  readonly prepare: (schema: Schema) => readonly Sql[];
  /** Opens a transaction that defines tables. */
  readonly defining: readonly Sql[];
  /** Run for the tables of a new container. */
  readonly distribute: (schema: Schema, id: string) => readonly Sql[];
  /** The bucket of a new container. */
  readonly newBucket: (lease: Lease, schema: Schema) => Promise<number>;
  readonly bytesOf: (relation: Sql) => Sql;
  /** Whether a plan for all parameters is as good as one for each. */
  readonly plansOnce: boolean;
}

const ONLY_BUCKET = 0;

export const plain: Dialect = {
  name: 'PostgreSQL',
  notifies: true,
  prepare: () => [],
  defining: [],
  distribute: () => [],
  newBucket: async () => ONLY_BUCKET,
  bytesOf: (relation) => sql`pg_total_relation_size(${relation})`,
  plansOnce: true,
};

/** Few enough that thousands of containers are not millions of tables. */
const SHARDS = 32;
/** So many numbers are tried until each shard has one. */
const BUCKETS_TRIED_MAX = 10_000;

export const citus: Dialect = {
  name: 'Citus',
  notifies: false,
  prepare: (schema) => [
    distributed(
      schema,
      'head',
      sql`colocate_with => 'none', shard_count => ${raw(String(SHARDS))}`,
    ),
    distributed(schema, 'lease', colocated(schema)),
  ],
  // Shards are then defined one after the other, as a transaction of several statements needs it.
  defining: [raw("set local citus.multi_shard_modify_mode to 'sequential'")],
  distribute: (schema, id) => {
    const { items, unique, versions } = schema.of(id).names;
    return [items, unique, versions].map((table) => distributed(schema, table, colocated(schema)));
  },
  newBucket: leastUsed,
  bytesOf: (
    relation,
  ) => sql`coalesce(citus_total_relation_size(${relation}, fail_on_error => false),
    pg_total_relation_size(${relation}))`,
  // The shard is told by a parameter.
  plansOnce: false,
};

export async function dialectOf(pool: Pool): Promise<Dialect> {
  const { rows } = await pool.askAlone(raw("select 1 from pg_extension where extname = 'citus'"));
  return rows.length > 0 ? citus : plain;
}

/** Nothing where it is distributed already: another server may have been first. */
function distributed(schema: Schema, table: string, how: Sql): Sql {
  const name = quoted(nameOf(schema, table));
  return sql`select create_distributed_table(${name}, 'bucket', ${how})
    where not exists (select from pg_dist_partition where logicalrelid = ${name}::regclass)`;
}

function colocated(schema: Schema): Sql {
  return sql`colocate_with => ${quoted(nameOf(schema, 'head'))}`;
}

function nameOf(schema: Schema, table: string): string {
  return `${named(schema.name)}.${named(table)}`;
}

/** For each shard the first number that hashes to it; of these the one with fewest containers. */
async function leastUsed(lease: Lease, schema: Schema): Promise<number> {
  const head = quoted(nameOf(schema, 'head'));
  const { rows } = await lease.query(sql`select b.bucket from (
      select min(n) as bucket from generate_series(0, ${raw(String(BUCKETS_TRIED_MAX))}) n
      group by get_shard_id_for_distribution_column(${head}, n)) b
    left join ${schema.container} c on c.bucket = b.bucket
    group by b.bucket order by count(c.id), b.bucket limit 1`);
  return (rows[0]?.[0] as number | undefined) ?? ONLY_BUCKET;
}
