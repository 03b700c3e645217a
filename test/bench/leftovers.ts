// Part 10: a container of 400 request units per second at twice its load, by the real clock, with a
// backlog of expired items and without (T16).
import { type Bench, pause } from './harness.js';
import { type Mayfly, startMayfly } from './mayfly.js';
import { judged, number, type Report } from './report.js';
import { filledFolder } from './stock.js';
import { CONTAINER, CONTAINER_LINK, DATABASE, itemName, itemText } from './wire.js';

const PER_SECOND = 400;
const DOCUMENT_BYTES = 200;
/** Documents of the load, which are replaced again and again. */
const DOCUMENTS = 50;
const SAME_AIM = { least: 0.97 };
const PURGE_MS_MAX = 600_000;

interface Pressed {
  /** In each second. */
  readonly charged: number;
  readonly refused: number;
  readonly purgeUnits: number;
  readonly purgeSeconds: number;
}

export async function leftoversPart(bench: Bench, report: Report): Promise<void> {
  const { leftoverItems: items, leftoverMs } = bench.options;
  const clean = await press(bench, 0);
  const behind = await press(bench, items);
  report.keep('leftovers', { clean, behind });
  const seconds = leftoverMs / 1000;
  const row = (name: string, { charged, refused, purgeUnits, purgeSeconds }: Pressed) => [
    name,
    number(charged),
    number(refused),
    number(purgeUnits),
    number(purgeSeconds, 1),
  ];
  report.table({
    title:
      `Leftovers: ${PER_SECOND} request units per second, enforced, at twice the load for ` +
      `${seconds} s, by the real clock`,
    columns: [
      'backlog',
      'units/s charged',
      '429s',
      'units purged meanwhile',
      's to purge',
      'ratio',
      'aim',
    ],
    rows: [
      row('none', clean),
      [
        ...row(`${number(items)} expired items`, behind),
        ...judged(behind.charged / clean.charged, SAME_AIM),
      ],
    ],
    notes: [
      'The ratio is that of what requests got. The backlog is purged when the load stops.',
      'A load that is held up by a busy machine leaves something over for the purge.',
    ],
  });
}

async function press(bench: Bench, items: number): Promise<Pressed> {
  const waves = items === 0 ? [] : [{ day: 1, items }];
  const data = await filledFolder(bench, 'leftovers', { living: DOCUMENTS, waves });
  const server = await startMayfly(bench, { data, clock: 'virtual', throughput: 'enforce' });
  await server.control('POST', 'purge/pause');
  await server.control('POST', 'clock', { advance: '1d' });
  let refused = 0;
  const send = async (number: number) => {
    if (!(await upsert(server, number))) refused += 1;
  };
  // The budget is used up before anything is measured.
  for (let number = 0; refused === 0; number++) await send(number);
  await server.control('POST', 'purge/resume');
  refused = 0;
  const before = await unitsOf(server);
  const began = performance.now();
  await atRate(bench.options.leftoverMs, send);
  const seconds = (performance.now() - began) / 1000;
  const after = await unitsOf(server);
  const started = performance.now();
  while (Number((await server.control('GET', 'purge')).purgedTotal) < items) {
    if (performance.now() - started > PURGE_MS_MAX) throw new Error('the purge takes too long');
    await pause(100);
  }
  const purgeSeconds = (performance.now() - started) / 1000;
  await server.stop();
  const charged = (after.charged - before.charged) / seconds;
  return { charged, refused, purgeUnits: after.purged - before.purged, purgeSeconds };
}

/** Twice what there is; an upsert that replaces such a document costs 9.6. */
async function atRate(ms: number, send: (number: number) => Promise<void>): Promise<void> {
  const perMs = (2 * PER_SECOND) / 9.6 / 1000;
  const start = performance.now();
  const sending: Promise<void>[] = [];
  while (performance.now() - start < ms) {
    while (sending.length < (performance.now() - start) * perMs) sending.push(send(sending.length));
    await pause(1);
  }
  await Promise.all(sending);
}

/** False where it was refused for want of request units. */
async function upsert(server: Mayfly, number: number): Promise<boolean> {
  const index = number % DOCUMENTS;
  const headers = {
    'x-ms-documentdb-partitionkey': JSON.stringify([itemName(index).pk]),
    'content-type': 'application/json',
    'x-ms-documentdb-is-upsert': 'true',
  };
  const body = itemText(index, number, DOCUMENT_BYTES);
  const path = `/${CONTAINER_LINK}/docs`;
  try {
    await server.call({ verb: 'POST', path, type: 'docs', link: CONTAINER_LINK, headers, body });
    return true;
  } catch (error) {
    if (String(error).includes('answered with 429')) return false;
    throw error;
  }
}

async function unitsOf(server: Mayfly) {
  const { body } = await server.metrics();
  const labels = `{database="${DATABASE}",container="${CONTAINER}"}`;
  const value = (name: string) => {
    const line = body.split('\n').find((each) => each.startsWith(`${name}${labels} `));
    return Number(line?.split(' ').at(-1));
  };
  return {
    charged: value('mayfly_request_units_total'),
    purged: value('mayfly_purge_request_units_total'),
  };
}
