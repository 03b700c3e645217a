// The orders in PostgreSQL, a process of its own: filled in large pieces, indexed as in Mayfly, and
// asked by prepared statements.
import { answerCalls } from './child.js';
import type { LoadResult } from './load.js';
import { makeOrder, ORDER_INDEXES } from './orders.js';
import type { PgAddress, PgClient, PgQuery } from './packages.js';
import { closeAll, connectAll, openClients } from './postgres-clients.js';
import type { Asked } from './questions.js';

export interface OrdersFill {
  readonly address: PgAddress;
  readonly orders: number;
}
export interface OrdersPlan {
  readonly address: PgAddress;
  readonly connections: number;
  readonly asked: readonly Asked[];
  /** Prepared once per connection, or sent as text each time, as Mayfly gets its queries. */
  readonly named: boolean;
}

const ORDERS_PER_INSERT = 1000;

let queries: readonly PgQuery[] = [];

answerCalls({ fill, prepare, answer, runFor }, closeAll);

async function fill({ address, orders }: OrdersFill): Promise<void> {
  const [client] = await connectAll(address, 1);
  if (!client) throw new Error('not connected');
  await client.query(`drop table if exists orders;
    create table orders (pk text not null, id text not null, body jsonb not null);
    alter table orders set (autovacuum_enabled = false);
    set synchronous_commit = off`);
  const text = `insert into orders
    select one->>'pk', one->>'id', one from jsonb_array_elements($1::jsonb) one`;
  for (let from = 0; from < orders; from += ORDERS_PER_INSERT) {
    const count = Math.min(ORDERS_PER_INSERT, orders - from);
    const texts = Array.from({ length: count }, (_, at) => makeOrder(from + at, orders).text);
    await client.query({ name: 'fill', text, values: [`[${texts.join()}]`] });
  }
  await client.query('alter table orders add primary key (pk, id)');
  for (const index of ORDER_INDEXES) await client.query(`create index on orders ${index}`);
  await client.query('vacuum analyze orders');
  await client.query('checkpoint');
}

async function prepare({ address, connections, asked, named }: OrdersPlan): Promise<void> {
  await connectAll(address, connections);
  queries = asked.map((each) => (named ? namedOf(each) : textOf(each)));
}

/** The rows as values, to be compared. */
async function answer(plan: {
  readonly address: PgAddress;
  readonly asked: Asked;
}): Promise<readonly unknown[]> {
  const [client] = await connectAll(plan.address, 1);
  const { types, ...query } = textOf(plan.asked);
  const result = await client?.query(query);
  return (result?.rows ?? []).map(({ body }) => (isNumber(body) ? Number(body) : body));
}

/** Each connection asks its next question when it has read all of its answer. */
async function runFor({ msMax }: { readonly msMax: number }): Promise<LoadResult> {
  const start = performance.now();
  let sent = 0;
  const keepAsking = async (client: PgClient) => {
    while (performance.now() - start < msMax) {
      const query = queries[sent++ % queries.length];
      if (!query) return;
      const { rows } = await client.query(query);
      if (rows.length === 0) throw new Error(`no rows: ${query.text}`);
    }
  };
  await Promise.all(openClients().map(keepAsking));
  return { requests: sent, ms: performance.now() - start };
}

const asText = { getTypeParser: () => (text: string) => text };

function textOf({ postgres, values }: Asked): PgQuery {
  return { text: postgres, values, types: asText };
}

function namedOf(asked: Asked): PgQuery {
  return { name: nameOf(asked.postgres), ...textOf(asked) };
}

const names = new Map<string, string>();

function nameOf(text: string): string {
  const name = names.get(text) ?? `question-${names.size}`;
  names.set(text, name);
  return name;
}

/** Large integers and decimals come as text. */
function isNumber(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);
}
