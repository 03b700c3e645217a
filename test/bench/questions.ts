// The questions that are asked of the orders, in both languages, with the answers both must give.
import { customerName, customersOf, monthName, secondOf } from './orders.js';
import { itemName } from './wire.js';

export interface Question {
  readonly name: string;
  /** How many times PostgreSQL's queries per core-second there are to be; some have no aim. */
  readonly aim?: { readonly least: number };
  readonly sql: string;
  readonly parameters: readonly string[];
  readonly postgres: string;
  /** The values for the n-th time it is asked. */
  values(number: number, orders: number): readonly unknown[];
  /** For questions about one partition. */
  partition?(number: number, orders: number): string;
  /** Whether the rows come in a certain order. */
  readonly ordered: boolean;
}
export type Asked = Pick<Question, 'sql' | 'parameters' | 'postgres'> & {
  readonly values: readonly unknown[];
  readonly partition: string | undefined;
};

const SCATTER = 7919;
const DOCUMENT = 'select body from orders';

export const QUESTIONS: readonly Question[] = [
  {
    name: '100 documents by an indexed value',
    aim: { least: 1.5 },
    sql: 'SELECT * FROM c WHERE c.customer = @customer',
    parameters: ['@customer'],
    postgres: `${DOCUMENT} where body->>'customer' = $1`,
    values: (number, orders) => [customerName((number * SCATTER) % customersOf(orders))],
    ordered: false,
  },
  {
    name: 'the 10 latest documents',
    aim: { least: 1 },
    sql: 'SELECT * FROM c ORDER BY c.createdAt DESC OFFSET 0 LIMIT 10',
    parameters: [],
    postgres: `${DOCUMENT} order by (body->>'createdAt')::bigint desc limit 10`,
    values: () => [],
    ordered: true,
  },
  {
    name: 'the next 10 documents from a value on',
    aim: { least: 1 },
    sql: 'SELECT * FROM c WHERE c.createdAt >= @from ORDER BY c.createdAt OFFSET 0 LIMIT 10',
    parameters: ['@from'],
    postgres: `${DOCUMENT} where (body->>'createdAt')::bigint >= $1
      order by (body->>'createdAt')::bigint limit 10`,
    values: (number, orders) => [secondOf((number * SCATTER) % (orders - 10))],
    ordered: true,
  },
  {
    name: 'COUNT of the container',
    aim: { least: 1 },
    sql: 'SELECT VALUE COUNT(1) FROM c',
    parameters: [],
    postgres: 'select count(*) as body from orders',
    values: () => [],
    ordered: true,
  },
  {
    name: 'COUNT of a tenth',
    aim: { least: 1 },
    sql: 'SELECT VALUE COUNT(1) FROM c WHERE c.month = @month',
    parameters: ['@month'],
    postgres: `select count(*) as body from orders where body->>'month' = $1`,
    values: (number) => [monthName(number % 10)],
    ordered: true,
  },
  {
    name: 'MAX of the container',
    aim: { least: 1 },
    sql: 'SELECT VALUE MAX(c.total) FROM c',
    parameters: [],
    postgres: `select max((body->>'total')::numeric) as body from orders`,
    values: () => [],
    ordered: true,
  },
  {
    name: 'GROUP BY over a tenth, COUNT',
    aim: { least: 1 },
    sql: 'SELECT c.state, COUNT(1) AS n FROM c WHERE c.month = @month GROUP BY c.state',
    parameters: ['@month'],
    postgres: `select jsonb_build_object('state', body->>'state', 'n', count(*)) as body
      from orders where body->>'month' = $1 group by body->>'state'`,
    values: (number) => [monthName(number % 10)],
    ordered: false,
  },
  {
    name: 'GROUP BY over a tenth, COUNT and MAX, from the documents',
    sql: `SELECT c.state, COUNT(1) AS n, MAX(c.total) AS most FROM c
      WHERE c.month = @month GROUP BY c.state`,
    parameters: ['@month'],
    postgres: `select jsonb_build_object('state', body->>'state', 'n', count(*),
      'most', max((body->>'total')::numeric)) as body
      from orders where body->>'month' = $1 group by body->>'state'`,
    values: (number) => [monthName(number % 10)],
    ordered: false,
  },
  {
    name: 'a point query',
    aim: { least: 1 },
    sql: 'SELECT * FROM c WHERE c.id = @id',
    parameters: ['@id'],
    postgres: `${DOCUMENT} where id = $1 and pk = $2`,
    values: (number, orders) => {
      const { id, pk } = itemName((number * SCATTER) % orders);
      return [id, pk];
    },
    partition: (number, orders) => itemName((number * SCATTER) % orders).pk,
    ordered: true,
  },
];

export function askedOf(question: Question, number: number, orders: number): Asked {
  const { sql, parameters, postgres } = question;
  const values = question.values(number, orders);
  return { sql, parameters, postgres, values, partition: question.partition?.(number, orders) };
}

/** Rows of either side in one form: without system properties, in one order of names and rows. */
export function comparable(rows: readonly unknown[], ordered: boolean): readonly string[] {
  const texts = rows.map((row) => JSON.stringify(plain(row)));
  return ordered ? texts : texts.sort();
}

const SYSTEM = new Set(['_rid', '_self', '_etag', '_attachments', '_ts']);

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !SYSTEM.has(name));
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, plain(member)]));
}
