// Part 8: what each indexed path adds to the CPU of a write, against PostgreSQL with as many
// expression indexes.
import type { Child } from './child.js';
import { createContainer } from './client.js';
import { type Bench, cpuUs, interleave, type Samples, type Subject } from './harness.js';
import type { LoadPlan } from './load.js';
import { startMayfly } from './mayfly.js';
import type { PostgresLoadPlan, PostgresTable } from './postgres-load.js';
import { number, type Report } from './report.js';
import { postgres, TEN_YEARS_SECONDS } from './stock.js';
import { fieldName, type ItemWork } from './wire.js';

const DOCUMENT_BYTES = 1024;
const CONNECTIONS = 16;
const FIELDS = 16;
/** How many of the fields are indexed. */
const INDEXED = [0, 1, 4, FIELDS] as const;

export async function indexingPart(bench: Bench, report: Report): Promise<void> {
  const { rounds, indexingRequests: count } = bench.options;
  const load = bench.child('load.js');
  const subjects: Subject[] = [];
  const stops: (() => Promise<void>)[] = [];
  for (const indexed of INDEXED) {
    const workOf = (round: number): ItemWork => {
      return { kind: 'fill', from: round * count, count, bytes: DOCUMENT_BYTES, fields: FIELDS };
    };
    const own = await mayflySubject(bench, load, indexed, workOf);
    subjects.push(own.subject, await postgresSubject(bench, indexed, workOf));
    stops.push(own.stop);
  }
  const samples = await interleave(subjects, rounds);
  for (const stop of stops) await stop();
  report.keep('indexing', Object.fromEntries(samples));
  report.table({
    title:
      `Indexing: new documents of 1 KB with ${FIELDS} properties, ${CONNECTIONS} connections, ` +
      `${rounds} rounds of ${number(count)} requests, medians of the CPU time`,
    columns: ['indexed properties', 'Mayfly µs', 'PostgreSQL 18, jsonb µs', 'ratio'],
    rows: rowsOf(samples),
    notes: ['Both keep the other entries too: by key, by expiry and by change order.'],
  });
}

const mayflyName = (indexed: number): string => `Mayfly, ${indexed} indexed`;
const postgresName = (indexed: number): string => `PostgreSQL, ${indexed} indexed`;

function rowsOf(samples: Samples): readonly (readonly string[])[] {
  const row = (name: string, own: number, theirs: number) => [
    name,
    number(own, 1),
    number(theirs, 1),
    (theirs / own).toFixed(2),
  ];
  const costs = INDEXED.map((indexed) => ({
    own: cpuUs(samples, mayflyName(indexed)),
    theirs: cpuUs(samples, postgresName(indexed)),
  }));
  const rows = costs.map(({ own, theirs }, at) => row(String(INDEXED[at]), own, theirs));
  const [none, all] = [costs[0], costs.at(-1)];
  if (!none || !all) return rows;
  const [own, theirs] = [(all.own - none.own) / FIELDS, (all.theirs - none.theirs) / FIELDS];
  return [...rows, row('each of them adds', own, theirs)];
}

async function mayflySubject(
  bench: Bench,
  load: Child,
  indexed: number,
  workOf: (round: number) => ItemWork,
) {
  const profile = indexed === FIELDS ? { profile: 'indexing' } : {};
  const server = await startMayfly(bench, { data: bench.newFolder('indexing'), ...profile });
  const includedPaths = Array.from({ length: indexed }, (_, at) => ({
    path: `/${fieldName(at)}/?`,
  }));
  const policy = { includedPaths, excludedPaths: [{ path: '/*' }] };
  await createContainer(server, { defaultTtl: TEN_YEARS_SECONDS, indexed: true, policy });
  const subject: Subject = {
    name: mayflyName(indexed),
    pid: server.pid,
    prepare: (round) => {
      const work = workOf(round);
      const plan: LoadPlan = { port: server.port, connections: CONNECTIONS, work, bodyBytesMin: 1 };
      return load.call('prepare', plan);
    },
    run: () => load.call('run', { count: bench.options.indexingRequests }),
  };
  return { subject, stop: server.stop };
}

async function postgresSubject(
  bench: Bench,
  fields: number,
  workOf: (round: number) => ItemWork,
): Promise<Subject> {
  const { pid, address, load } = await postgres(bench);
  const table: PostgresTable = { address, indexed: false, fields };
  await load.call('create', table);
  return {
    name: postgresName(fields),
    pid,
    prepare: (round) => {
      const plan: PostgresLoadPlan = { ...table, connections: CONNECTIONS, work: workOf(round) };
      return load.call('prepare', plan);
    },
    run: () => load.call('run', { count: bench.options.indexingRequests }),
  };
}
