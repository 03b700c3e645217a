// The documents that are queried, orders of about 1 KB, and the indexes they have everywhere.
import { type ItemName, itemName } from './wire.js';

/** So many orders has each customer. */
export const ORDERS_PER_CUSTOMER = 100;
/** So many months the orders are spread over, oldest first. */
const MONTHS = 10;
const STATES = ['new', 'paid', 'sent', 'done'] as const;
const CITIES = ['Lisbon', 'Oslo', 'Graz', 'Lyon', 'Cork', 'Turku', 'Ghent'] as const;
const FIRST_SECOND = 1_700_000_000;
const SECONDS_APART = 20;
const ORDER_BYTES = 1000;

export const customersOf = (orders: number): number =>
  Math.max(1, Math.ceil(orders / ORDERS_PER_CUSTOMER));
export const customerName = (number: number): string => `customer-${number}`;
export const monthName = (number: number): string => `2024-${String(number + 1).padStart(2, '0')}`;
export const monthOf = (index: number, orders: number): string =>
  monthName(Math.floor((index * MONTHS) / orders));
export const secondOf = (index: number): number => FIRST_SECOND + index * SECONDS_APART;

export interface Order extends ItemName {
  readonly text: string;
}

/** The same order for the same number, everywhere. */
export function makeOrder(index: number, orders: number): Order {
  const name = itemName(index);
  const mixed = Math.imul(index + 7, 0x85ebca6b) >>> 0;
  const line = (number: number) => ({
    sku: `sku-${(mixed >>> number) % 5000}`,
    quantity: 1 + ((mixed >>> (number + 3)) % 9),
    price: ((mixed >>> number) % 20_000) / 100,
  });
  const order = {
    ...name,
    customer: customerName(index % customersOf(orders)),
    month: monthOf(index, orders),
    state: STATES[mixed % STATES.length],
    total: (mixed % 100_000) / 100,
    createdAt: secondOf(index),
    address: {
      street: `${mixed % 200} Mill Lane`,
      city: CITIES[mixed % CITIES.length],
      zip: String(10_000 + (mixed % 90_000)),
    },
    lines: [line(0), line(4), line(8)],
    tags: [`tag-${mixed % 500}`, `tag-${500 + (mixed % 300)}`],
    note: '',
  };
  const missing = Math.max(0, ORDER_BYTES - JSON.stringify(order).length);
  const filler = 'Please leave it with the neighbours, and ring twice. ';
  order.note = filler.repeat(Math.ceil(missing / filler.length)).slice(0, missing);
  return { ...name, text: JSON.stringify(order) };
}

/** Everything that is asked about, and nothing else. */
export const ORDER_POLICY = {
  includedPaths: ['customer', 'month', 'state', 'total', 'createdAt', 'tags/[]'].map((path) => ({
    path: `/${path}/?`,
  })),
  excludedPaths: [{ path: '/*' }],
  compositeIndexes: [[{ path: '/month' }, { path: '/state' }]],
};
/** The same for PostgreSQL. */
export const ORDER_INDEXES = [
  `((body->>'customer'))`,
  `((body->>'month'))`,
  `((body->>'state'))`,
  `(((body->>'total')::numeric))`,
  `(((body->>'createdAt')::bigint))`,
  `using gin ((body->'tags'))`,
  `((body->>'month'), (body->>'state'))`,
] as const;
