// The load on PostgreSQL, a process of its own: the same items and the same order as over HTTP, by
// prepared statements on as many connections.
import { answerCalls } from './child.js';
import type { Wave } from './fill.js';
import type { LoadResult } from './load.js';
import type { PgAddress, PgClient, PgQuery } from './packages.js';
import { closeAll, connectAll, openClients } from './postgres-clients.js';
import { fieldName, type ItemWork, indexesOf, itemName, writtenText } from './wire.js';

export interface PostgresTable {
  readonly address: PgAddress;
  /** Whether everything in the documents is indexed too. */
  readonly indexed: boolean;
  /** How many properties are indexed one by one instead. */
  readonly fields?: number;
  /** Whether items belong to groups, by which they are found. */
  readonly grouped?: boolean;
}
export interface PostgresLoadPlan extends PostgresTable {
  readonly connections: number;
  readonly work: ItemWork | GroupWork;
}
/** Finds so many items of a group, one group after the other. */
export interface GroupWork {
  readonly kind: 'group';
  readonly groups: number;
  readonly items: number;
}
export interface PostgresFill extends PostgresTable {
  readonly living: number;
  readonly waves: readonly Wave[];
  readonly bytes: number;
}
export interface PostgresPurge {
  readonly deleted: number;
  readonly ms: number;
}

function tableOf({ indexed, fields, grouped }: Omit<PostgresTable, 'address'>): string {
  if (grouped) return 'items_in_groups';
  if (fields !== undefined) return `items_of_${fields}`;
  return indexed ? 'items_indexed' : 'items';
}

/**
 * The entries an item has in Mayfly: by key, by expiry and by change order. Mayfly's list of a
 * partition's items needs no counterpart, because here the primary key is in that order.
 */
const schemaOf = (table: string): string => `
  drop table if exists ${table};
  create sequence if not exists items_lsn;
  create table ${table} (
    pk text not null, id text not null, ts bigint not null, lsn bigint not null,
    body jsonb not null, primary key (pk, id)
  )`;
const groupText = (table: string): string =>
  `select body from ${table} where body->>'k' = $1 limit $2`;
const changeText = (table: string): string => `
  update ${table} set ts = $3, lsn = nextval('items_lsn'),
    body = jsonb_set(body, '{version}', to_jsonb((body->>'version')::int + 1))
  where pk = $1 and id = $2 returning lsn`;
const indexesOn = (
  table: string,
  indexed: boolean,
  fields = 0,
  grouped = false,
): readonly string[] => [
  ...(grouped ? [`create index ${table}_by_group on ${table} ((body->>'k'))`] : []),
  `create index ${table}_by_ts on ${table} (ts)`,
  `create index ${table}_by_lsn on ${table} (lsn)`,
  ...(indexed ? [`create index ${table}_by_body on ${table} using gin (body)`] : []),
  ...Array.from(
    { length: fields },
    (_, number) => `create index on ${table} ((body->>'${fieldName(number)}'))`,
  ),
];

const readText = (table: string): string => `select body from ${table} where pk = $1 and id = $2`;
const upsertText = (table: string): string => `
  insert into ${table} (pk, id, ts, lsn, body) values ($1, $2, $3, nextval('items_lsn'), $4)
  on conflict (pk, id) do update set ts = excluded.ts, lsn = excluded.lsn, body = excluded.body
  returning lsn`;
const deleteText = (table: string): string => `
  delete from ${table} where ctid = any (array(
    select ctid from ${table} where ts <= $1 order by ts limit $2))`;
const DELETE_ROWS = 1000;

const asText = { getTypeParser: () => (text: string) => text };

let queries: readonly PgQuery[] = [];
let rowsExpected = 1;

answerCalls({ create, prepare, run, fill, purge }, closeAll);

async function create(plan: PostgresTable): Promise<void> {
  const [client] = await connectAll(plan.address, 1);
  const table = tableOf(plan);
  const indexes = indexesOn(table, plan.indexed, plan.fields, plan.grouped);
  for (const text of [schemaOf(table), ...indexes]) await client?.query(text);
}

async function prepare(plan: PostgresLoadPlan): Promise<void> {
  const { address, connections, work } = plan;
  await connectAll(address, connections);
  const table = tableOf(plan);
  const [read, upsert] = [readText(table), upsertText(table)];
  rowsExpected = work.kind === 'group' ? work.items : 1;
  if (work.kind === 'group') {
    queries = Array.from({ length: work.groups }, (_, group) => ({
      name: `group-${table}`,
      text: groupText(table),
      values: [String(group), work.items],
      types: asText,
    }));
    return;
  }
  queries = indexesOf(work).map((index, number) => {
    const { id, pk } = itemName(index);
    if (work.kind === 'change') {
      return { name: `change-${table}`, text: changeText(table), values: [pk, id, Date.now()] };
    }
    if (work.kind === 'read')
      return { name: `read-${table}`, text: read, values: [pk, id], types: asText };
    const values = [pk, id, Date.now(), writtenText(work, index, number)];
    return { name: `upsert-${table}`, text: upsert, values };
  });
}

async function run({ count }: { readonly count: number }): Promise<LoadResult> {
  const start = performance.now();
  let sent = 0;
  const keepAsking = async (client: PgClient) => {
    while (sent < count) {
      const query = queries[sent % queries.length];
      sent += 1;
      if (!query) continue;
      const { rows } = await client.query(query);
      if (rows.length !== rowsExpected) {
        throw new Error(`${rows.length} rows instead of ${rowsExpected}: ${query.text}`);
      }
    }
  };
  await Promise.all(openClients().map(keepAsking));
  return { requests: count, ms: performance.now() - start };
}

/** Living rows, and waves of rows that expire on the same day, mixed in key order. */
async function fill({ address, indexed, living, waves, bytes }: PostgresFill): Promise<void> {
  const [client] = await connectAll(address, 1);
  if (!client) throw new Error('not connected');
  const table = tableOf({ indexed });
  await client.query(schemaOf(table));
  // The vacuum that is measured is the only one.
  await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
  const text = `
    insert into ${table} select 'p' || mixed % 1000, to_hex(mixed) || '-' || n, $3, n,
      jsonb_build_object('id', to_hex(mixed) || '-' || n, 'pk', 'p' || mixed % 1000,
        'version', 0, 'state', (array['new', 'paid', 'sent', 'done'])[n % 4 + 1],
        'price', (n % 10000) / 100.0, 'tags', array['red', 'blue'],
        'note', rpad('', $4::int, 'the quick brown fox '))
    from (select n, (n * 2654435761) % 4294967296 as mixed
      from generate_series($1::bigint, $2::bigint) n) numbers`;
  const insert = (from: number, count: number, ts: number) =>
    client.query({ text, values: [from, from + count - 1, ts, Math.max(0, bytes - 130)] });
  await insert(0, living, Number.MAX_SAFE_INTEGER);
  let from = living;
  for (const { day, items } of waves) {
    await insert(from, items, day);
    from += items;
  }
  for (const index of indexesOn(table, indexed)) await client.query(index);
  await client.query(`vacuum analyze ${table}`);
  await client.query('checkpoint');
}

/** Everything up to this day, oldest first, and then the space is taken back. */
async function purge(plan: { readonly indexed: boolean; readonly day: number }) {
  const [client] = openClients();
  if (!client) throw new Error('not connected');
  const table = tableOf(plan);
  const values = [plan.day, DELETE_ROWS];
  const query = { name: `purge-${table}`, text: deleteText(table), values };
  const start = performance.now();
  let deleted = 0;
  while (true) {
    const { rowCount } = await client.query(query);
    deleted += rowCount ?? 0;
    if (!rowCount) break;
  }
  await client.query(`vacuum ${table}`);
  return { deleted, ms: performance.now() - start } satisfies PostgresPurge;
}
