// Part 1: the CPU of a point read, against the least that Node can do for one and against peers.
import { createContainer, openClient, type Reply } from './client.js';
import type { FloorPlan } from './floor.js';
import { type Bench, cpuUs, interleave, type Samples, type Subject } from './harness.js';
import type { LoadPlan } from './load.js';
import { startMayfly } from './mayfly.js';
import type { Options } from './options.js';
import type { PostgresLoadPlan } from './postgres-load.js';
import { judged, number, type Report } from './report.js';
import { postgres } from './stock.js';
import { type ItemWork, readCall } from './wire.js';

const DOCUMENT_BYTES = 1024;
const CONNECTIONS = 16;
const FILL_CONNECTIONS = 64;
const FLOOR = 'node:http + HMAC (floor)';
const MAYFLY = 'Mayfly';
const AIM = { least: 0.8 };

function worksOf({ documents }: Options): { readonly fill: ItemWork; readonly read: ItemWork } {
  return {
    fill: { kind: 'fill', from: 0, count: documents, bytes: DOCUMENT_BYTES },
    read: { kind: 'read', count: documents, among: documents },
  };
}

export async function readPart(bench: Bench, report: Report): Promise<void> {
  const { rounds, readRequests, documents } = bench.options;
  const works = worksOf(bench.options);
  const load = bench.child('load.js');
  const http = (name: string, pid: number, port: number): Subject => ({
    name,
    pid,
    prepare: () => load.call('prepare', plan(port, works.read, DOCUMENT_BYTES)),
    run: () => load.call('run', { count: readRequests }),
  });
  const fill = async (port: number) => {
    await load.call('prepare', { ...plan(port, works.fill, 0), connections: FILL_CONNECTIONS });
    await load.call('run', { count: documents });
  };
  const server = await startMayfly(bench, { data: bench.newFolder('read'), profile: 'read' });
  await createContainer(server, { indexed: true });
  await fill(server.port);
  const floors = await startFloors(bench, await server.call(readCall(0)));
  const vercel = await startVercel(bench, fill);
  const samples = await interleave(
    [
      http(FLOOR, floors.signed.pid, floors.signed.port),
      http('node:http', floors.bare.pid, floors.bare.port),
      http(MAYFLY, server.pid, server.port),
      http('@vercel/cosmosdb-server', vercel.pid, vercel.port),
      await postgresSubject(bench),
    ],
    rounds,
  );
  await server.stop();
  report.keep('read', Object.fromEntries(samples));
  report.table({
    title:
      `Point read: documents of 1 KB, ${CONNECTIONS} connections, ` +
      `${rounds} rounds of ${number(readRequests)} requests, medians`,
    columns: ['subject', 'CPU µs/request', 'requests/core-s', 'ratio to floor', 'aim'],
    rows: rowsOf(samples),
    notes: ['PostgreSQL answers prepared statements over its own protocol.'],
  });
}

function rowsOf(samples: Samples): readonly (readonly string[])[] {
  const floor = cpuUs(samples, FLOOR);
  return [...samples.keys()].map((name) => {
    const cost = cpuUs(samples, name);
    const cells = [name, number(cost, 1), number(1_000_000 / cost)];
    if (name === MAYFLY) return [...cells, ...judged(floor / cost, AIM)];
    return [...cells, (floor / cost).toFixed(2)];
  });
}

function plan(port: number, work: ItemWork, bodyBytesMin: number): LoadPlan {
  return { port, connections: CONNECTIONS, work, bodyBytesMin };
}

/** Node adds these by itself, to the floor as to Mayfly. */
const NODE_HEADERS = ['date', 'connection', 'keep-alive'];

/** Two servers that answer what Mayfly answered, one of them after checking the signature. */
async function startFloors(bench: Bench, { rawHeaders, body }: Reply) {
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!NODE_HEADERS.includes(name.toLowerCase())) headers.push(name, value);
  }
  const start = async (checksSignature: boolean) => {
    const child = bench.child('floor.js');
    const floorPlan: FloorPlan = { headers, body, checksSignature };
    return { pid: child.pid, port: await child.call<number>('serve', floorPlan) };
  };
  return { signed: await start(true), bare: await start(false) };
}

async function startVercel(bench: Bench, fill: (port: number) => Promise<void>) {
  const child = bench.child('vercel.js');
  const port = await child.call<number>('serve', {});
  const client = openClient(port);
  await createContainer(client, { indexed: true });
  client.close();
  await fill(port);
  return { pid: child.pid, port };
}

async function postgresSubject(bench: Bench): Promise<Subject> {
  const { documents, readRequests } = bench.options;
  const works = worksOf(bench.options);
  const { pid, address, load } = await postgres(bench);
  await load.call('create', { address, indexed: false });
  const prepare = (work: ItemWork, connections: number) =>
    load.call<void>('prepare', {
      address,
      connections,
      work,
      indexed: false,
    } satisfies PostgresLoadPlan);
  await prepare(works.fill, FILL_CONNECTIONS);
  await load.call('run', { count: documents });
  return {
    name: 'PostgreSQL 18, jsonb',
    pid,
    prepare: () => prepare(works.read, CONNECTIONS),
    run: () => load.call('run', { count: readRequests }),
  };
}
