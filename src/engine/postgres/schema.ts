// The tables.
//
//   container   one row per container: its definition as the engine was given it, and its bucket
//   head        one row per container: the numbers that every write moves on; locked first
//   lease       who does what only one server should do
//   server      one row per server: when it was alive last, by the database's clock
//   d_ID        the items of a container
//   u_ID        what its unique indexes hold
//   v_ID        all its versions, where the container keeps them
//
// All rows of a container have one bucket, which is what Citus distributes by: everything a request
// touches lies on one shard, and the head is locked where the items are. Elsewhere it is 0.
//
// An item:
//   serial  lsn  size      numbers
//   k                      partition key and id, encoded; long ones cut, with a hash (value/key.ts)
//   whole                  the same uncut, where it was cut
//   epk                    the effective partition key
//   own  dflt              its fuses, in ms; NEVER where it has none: no comparison meets NULL
//   more                   fuses of other rules: { rule: [at, …] }, ascending
//   etag  body             as served
//   x                      the document as jsonb, for questions only (text.ts)
import { createHash } from 'node:crypto';
import type { Container } from '../engine.js';
import { named, quoted, raw, type Sql, sql } from './sql.js';

export const FORMAT_VERSION = 1;
/** Later than all instants, and still exact as a double with any lag added. */
export const NEVER = 2 ** 52;
/** Together with bucket and epk far below what fits into an index page. */
export const KEY_BYTES_MAX = 1000;

/** The tables of one container. */
export interface Tables {
  readonly items: Sql;
  readonly unique: Sql;
  readonly versions: Sql;
  readonly names: { readonly items: string; readonly unique: string; readonly versions: string };
}

export class Schema {
  readonly name: string;
  readonly #tables = new Map<string, Tables>();

  constructor(name: string) {
    this.name = name;
  }

  table(name: string): Sql {
    return raw(`${named(this.name)}.${named(name)}`);
  }

  of(id: string): Tables {
    const known = this.#tables.get(id);
    if (known) return known;
    const suffix = /^[\w-]{1,40}$/.test(id) ? id : hashed(id);
    const names = { items: `d_${suffix}`, unique: `u_${suffix}`, versions: `v_${suffix}` };
    const tables = {
      items: this.table(names.items),
      unique: this.table(names.unique),
      versions: this.table(names.versions),
      names,
    };
    if (this.#tables.size >= TABLES_KNOWN_MAX) this.#tables.clear();
    this.#tables.set(id, tables);
    return tables;
  }

  get container(): Sql {
    return this.table('container');
  }

  get head(): Sql {
    return this.table('head');
  }

  get lease(): Sql {
    return this.table('lease');
  }

  get server(): Sql {
    return this.table('server');
  }

  get meta(): Sql {
    return this.table('meta');
  }
}

const TABLES_KNOWN_MAX = 2000;

export function sharedTables(schema: Schema): readonly Sql[] {
  return [
    sql`create schema if not exists ${raw(named(schema.name))}`,
    sql`create table if not exists ${schema.meta}(
      format int primary key)`,
    sql`create table if not exists ${schema.container}(
      id text collate "C" primary key, bucket int not null, definition jsonb not null)`,
    sql`create table if not exists ${schema.head}(
      bucket int not null, id text collate "C" not null,
      lsn bigint not null, serial bigint not null, items bigint not null, bytes bigint not null,
      writers jsonb not null, retention bigint, forgotten bigint not null default 0, primary key(bucket, id)) with (fillfactor = 50)`,
    sql`create table if not exists ${schema.server}(
      id text collate "C" primary key, seen bigint not null)`,
    sql`create table if not exists ${schema.lease}(
      bucket int not null, id text collate "C" not null, kind text not null,
      owner text not null, until bigint not null, primary key(bucket, id, kind))`,
  ];
}

export function containerTables(schema: Schema, container: Container): readonly Sql[] {
  const { items, unique, versions } = schema.of(container.id);
  return [
    sql`create table ${items}(
      bucket int not null, serial bigint not null, lsn bigint not null,
      k bytea not null, whole bytea, epk text collate "C" not null,
      own bigint not null, dflt bigint not null, more jsonb,
      etag text not null, size int not null, body bytea not null, x jsonb not null,
      primary key(bucket, serial)) with (fillfactor = 80)`,
    sql`create unique index on ${items}(bucket, k)`,
    sql`create index on ${items}(bucket, epk, serial)`,
    sql`create index on ${items}(bucket, lsn)`,
    sql`create index on ${items}(bucket, own, serial) where own < ${raw(String(NEVER))}`,
    sql`create index on ${items}(bucket, dflt, serial) where dflt < ${raw(String(NEVER))}`,
    sql`create table ${unique}(
      bucket int not null, u bytea not null, serial bigint not null,
      name text not null, primary key(bucket, u))`,
    sql`create index on ${unique}(bucket, serial)`,
    sql`create table ${versions}(
      bucket int not null, lsn bigint not null, n int not null, at bigint not null,
      kind text not null, previous bigint, serial bigint not null, whole bytea not null,
      epk text collate "C" not null, size int not null, body bytea not null,
      primary key(bucket, lsn, n))`,
  ];
}

/** The column or expression with the earliest fuse of a rule. */
export function fuseOf(rule: string): Sql {
  if (rule === 'own') return raw('own');
  if (rule === 'default') return raw('dflt');
  return sql`coalesce((more->${quoted(rule)}->>0)::bigint, ${raw(String(NEVER))})`;
}

function hashed(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 40);
}
