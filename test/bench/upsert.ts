// Part 2: the CPU of a durable upsert, one at a time and many at once, against PostgreSQL with the
// same promise: answered means on disk.
import type { Child } from './child.js';
import { createContainer, openClient } from './client.js';
import { type Bench, cpuUs, interleave, median, type Samples, type Subject } from './harness.js';
import type { LoadPlan, LoadResult } from './load.js';
import { startMayfly } from './mayfly.js';
import type { PostgresLoadPlan } from './postgres-load.js';
import { judged, number, type Report } from './report.js';
import { postgres } from './stock.js';
import type { ItemWork } from './wire.js';

const DOCUMENT_BYTES = 1024;
const FILL_CONNECTIONS = 64;
const DEFAULT_TTL_SECONDS = 864_000;
const NAMES = {
  mayfly: { indexed: 'Mayfly', plain: 'Mayfly, paths not indexed' },
  postgres: { indexed: 'PostgreSQL 18, jsonb with GIN', plain: 'PostgreSQL 18, jsonb' },
  vercel: '@vercel/cosmosdb-server',
};
/** What each is compared with: the one that keeps the same entries. */
const PEERS = new Map([
  [NAMES.mayfly.indexed, NAMES.postgres.indexed],
  [NAMES.mayfly.plain, NAMES.postgres.plain],
]);
const AIM = { least: 1 };

/** Sends a load to one server. */
interface Target {
  readonly name: string;
  readonly pid: number;
  prepare(work: ItemWork, connections: number): Promise<void>;
  run(count: number): Promise<LoadResult>;
}

export async function upsertPart(bench: Bench, report: Report): Promise<void> {
  const { rounds, upsertRequests, documents } = bench.options;
  const bytes = DOCUMENT_BYTES;
  const { targets, finish } = await startTargets(bench);
  for (const target of targets) {
    await target.prepare({ kind: 'fill', from: 0, count: documents, bytes }, FILL_CONNECTIONS);
    await target.run(documents);
  }
  const kept: Record<string, unknown> = {};
  let created = documents;
  for (const [connections, count] of upsertRequests) {
    const from = created;
    const workOf = (round: number): ItemWork => {
      return { kind: 'upsert', from: from + round * count, among: documents, count, bytes };
    };
    const subject = (target: Target): Subject => ({
      name: target.name,
      pid: target.pid,
      prepare: (round) => target.prepare(workOf(round), connections),
      run: () => target.run(count),
    });
    const samples = await interleave(targets.map(subject), rounds);
    created += (rounds + 1) * count;
    kept[`connections-${connections}`] = Object.fromEntries(samples);
    report.table(tableOf(samples, connections, `${rounds} rounds of ${number(count)} requests`));
  }
  await finish();
  report.keep('upsert', kept);
}

function tableOf(samples: Samples, connections: number, how: string) {
  const rows = [...samples].map(([name, all]) => {
    const cost = cpuUs(samples, name);
    const wall = median(all.map((sample) => sample.perSecond));
    const cells = [name, number(cost, 1), number(1_000_000 / cost), number(wall)];
    const peer = PEERS.get(name);
    return peer === undefined ? cells : [...cells, ...judged(cpuUs(samples, peer) / cost, AIM)];
  });
  return {
    title:
      'Durable upsert: documents of 1 KB, half of them new, ' +
      `${connections} ${connections === 1 ? 'connection' : 'connections'}, ${how}, medians`,
    columns: [
      'subject',
      'CPU µs/request',
      'requests/core-s',
      'requests/s (wall)',
      'ratio to its peer',
      'aim',
    ],
    rows,
    notes: [
      'Peers keep the same entries: by key, expiry and change order, with or without all paths.',
      `${NAMES.vercel} keeps everything in memory.`,
    ],
  };
}

async function startTargets(bench: Bench) {
  const load = bench.child('load.js');
  const server = async (name: string, indexed: boolean) => {
    const profile = indexed ? 'upsert' : 'upsert-plain';
    const made = await startMayfly(bench, { data: bench.newFolder('upsert'), profile });
    await createContainer(made, { defaultTtl: DEFAULT_TTL_SECONDS, indexed });
    return { target: httpTarget(name, made.pid, made.port, load), stop: made.stop };
  };
  const indexed = await server(NAMES.mayfly.indexed, true);
  const plain = await server(NAMES.mayfly.plain, false);
  const vercel = bench.child('vercel.js');
  const vercelPort = await vercel.call<number>('serve', {});
  const client = openClient(vercelPort);
  await createContainer(client, { indexed: true });
  client.close();
  const targets: readonly Target[] = [
    indexed.target,
    await postgresTarget(bench, NAMES.postgres.indexed, true),
    plain.target,
    await postgresTarget(bench, NAMES.postgres.plain, false),
    httpTarget(NAMES.vercel, vercel.pid, vercelPort, load),
  ];
  const finish = async () => {
    for (const stop of [indexed.stop, plain.stop, vercel.stop]) await stop();
  };
  return { targets, finish };
}

function httpTarget(name: string, pid: number, port: number, load: Child): Target {
  return {
    name,
    pid,
    prepare: (work, connections) => {
      const plan: LoadPlan = { port, connections, work, bodyBytesMin: DOCUMENT_BYTES };
      return load.call('prepare', plan);
    },
    run: (count) => load.call('run', { count }),
  };
}

async function postgresTarget(bench: Bench, name: string, indexed: boolean): Promise<Target> {
  const { pid, address, load } = await postgres(bench);
  await load.call('create', { address, indexed });
  return {
    name,
    pid,
    prepare: (work, connections) => {
      const plan: PostgresLoadPlan = { address, connections, work, indexed };
      return load.call('prepare', plan);
    },
    run: (count) => load.call('run', { count }),
  };
}
