// Part 9: what a container does with many items in one request: batches and bulk against single
// upserts, the change feed against a query that reads the same items.
import type { Child } from './child.js';
import { createContainer, type Reply } from './client.js';
import { type Bench, cpuUs, interleave, median, type Samples, type Subject } from './harness.js';
import type { LoadPlan, LoadResult } from './load.js';
import { type Mayfly, startMayfly } from './mayfly.js';
import { judged, number, type Report } from './report.js';
import { TEN_YEARS_SECONDS } from './stock.js';
import { CONTAINER_LINK, OPERATIONS_PER_BATCH, queryCall, type Work } from './wire.js';

const DOCUMENT_BYTES = 1024;
const CONNECTIONS = 16;
const PAGE_ROWS = 1000;
const NAMES = {
  upsert: 'upserts, one by one',
  batch: `transactional batches of ${OPERATIONS_PER_BATCH}`,
  bulk: `bulk of ${OPERATIONS_PER_BATCH}`,
  query: `SELECT * FROM c, pages of ${number(PAGE_ROWS)}`,
  feed: `change feed, pages of ${number(PAGE_ROWS)}`,
};
const WRITES_AIM = { least: 1 };

export async function containerPart(bench: Bench, report: Report): Promise<void> {
  const { rounds, containerItems: count } = bench.options;
  const server = await startMayfly(bench, {
    data: bench.newFolder('container'),
    profile: 'container',
  });
  await createContainer(server, { defaultTtl: TEN_YEARS_SECONDS, indexed: true });
  const load = bench.child('load.js');
  const writes = await interleave(writers(server, load, count), rounds);
  const stored = count * (rounds + 1) * 3;
  const reads = await interleave(readers(server, stored), rounds);
  await server.stop();
  report.keep('container', Object.fromEntries([...writes, ...reads]));
  const how = `${rounds} rounds, medians`;
  report.table({
    title: `Writes of new documents of 1 KB, ${CONNECTIONS} connections, ${number(count)} each, ${how}`,
    columns: [
      'subject',
      'CPU µs/document',
      'documents/core-s',
      'documents/s (wall)',
      'ratio',
      'aim',
    ],
    rows: rowsOf(writes, NAMES.upsert, WRITES_AIM),
    notes: ['The ratio is that of documents per core-second to single upserts.'],
  });
  report.table({
    title: `Reading all of ${number(stored)} documents of 1 KB, one connection, ${how}`,
    columns: ['subject', 'CPU µs/document', 'documents/core-s', 'documents/s (wall)', 'ratio'],
    rows: rowsOf(reads, NAMES.query),
    notes: ['The ratio is that of documents per core-second to the query.'],
  });
}

function rowsOf(
  samples: Samples,
  base: string,
  aim?: { readonly least: number },
): readonly (readonly string[])[] {
  return [...samples].map(([name, all]) => {
    const cost = cpuUs(samples, name);
    const wall = median(all.map((sample) => sample.perSecond));
    const cells = [name, number(cost, 1), number(1_000_000 / cost), number(wall)];
    const ratio = cpuUs(samples, base) / cost;
    return name === base || !aim ? [...cells, ratio.toFixed(2)] : [...cells, ...judged(ratio, aim)];
  });
}

/** Each writes items of its own, so that all of them are new. */
function writers(server: Mayfly, load: Child, count: number): readonly Subject[] {
  const { port, pid } = server;
  const subject = (name: string, lane: number, perRequest: number, workOf: WorkOf): Subject => ({
    name,
    pid,
    prepare: (round) => {
      const work = workOf((round * 3 + lane) * count);
      const plan: LoadPlan = { port, connections: CONNECTIONS, work, bodyBytesMin: 1 };
      return load.call('prepare', plan);
    },
    run: async () => {
      const ran = await load.call<LoadResult>('run', { count: count / perRequest });
      return { requests: ran.requests * perRequest, ms: ran.ms };
    },
  });
  const many = (atomic: boolean) => (from: number) =>
    ({ kind: 'batch', from, count, bytes: DOCUMENT_BYTES, atomic }) as const;
  return [
    subject(NAMES.upsert, 0, 1, (from) => ({ kind: 'fill', from, count, bytes: DOCUMENT_BYTES })),
    subject(NAMES.batch, 1, OPERATIONS_PER_BATCH, many(true)),
    subject(NAMES.bulk, 2, OPERATIONS_PER_BATCH, many(false)),
  ];
}

type WorkOf = (from: number) => Work;

function readers(server: Mayfly, stored: number): readonly Subject[] {
  const subject = (name: string, page: (before: Reply | undefined) => Promise<Reply>): Subject => ({
    name,
    pid: server.pid,
    prepare: async () => undefined,
    run: async () => {
      const start = performance.now();
      let read = 0;
      let reply: Reply | undefined;
      while (read < stored) {
        reply = await page(reply);
        const items = Number(headerOf(reply, 'x-ms-item-count'));
        if (items === 0) throw new Error(`${name} ended after ${read} of ${stored} documents`);
        read += items;
      }
      return { requests: read, ms: performance.now() - start };
    },
  });
  const asked = { sql: 'SELECT * FROM c', parameters: [], values: [], partition: undefined };
  return [
    subject(NAMES.query, (before) => {
      const call = queryCall(asked);
      const token = before && headerOf(before, 'x-ms-continuation');
      const headers = token === undefined ? {} : { 'x-ms-continuation': token };
      return server.call({ ...call, headers: { ...call.headers, ...headers } });
    }),
    subject(NAMES.feed, (before) => {
      const etag = before && headerOf(before, 'etag');
      const headers = {
        'a-im': 'Incremental Feed',
        'x-ms-max-item-count': String(PAGE_ROWS),
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
      };
      const path = `/${CONTAINER_LINK}/docs`;
      return server.call({ verb: 'GET', path, type: 'docs', link: CONTAINER_LINK, headers });
    }),
  ];
}

function headerOf({ rawHeaders }: Reply, name: string): string | undefined {
  const at = rawHeaders.findIndex((each, index) => index % 2 === 0 && each === name);
  return at < 0 ? undefined : rawHeaders[at + 1];
}
