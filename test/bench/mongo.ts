// The CPU of MongoDB commands, against a floor that answers fixed replies, against the REST
// face, and against PostgreSQL with the same promise.
import { createContainer } from './client.js';
import { type Bench, cpuUs, interleave, type Samples, type Subject } from './harness.js';
import type { LoadPlan } from './load.js';
import { type Mayfly, startMayfly } from './mayfly.js';
import type { MongoLoadPlan, MongoWork } from './mongo-load.js';
import type { PostgresLoadPlan } from './postgres-load.js';
import { judged, number, type Report } from './report.js';
import { postgres } from './stock.js';
import type { ItemWork } from './wire.js';

const DOCUMENT_BYTES = 1024;
const CONNECTIONS = 16;
const WRITERS = 64;
const MONGO = 'Mayfly, MongoDB face';
const REST = 'Mayfly, REST face';
const POSTGRES = 'PostgreSQL 18, jsonb';
const FLOOR = 'node:net, a fixed reply (floor)';
const FLOOR_AIM = { least: 0.4 };
const PEER_AIM = { least: 1 };

interface Stage {
  readonly bench: Bench;
  readonly server: Mayfly;
  readonly mongo: ReturnType<Bench['child']>;
  readonly rest: ReturnType<Bench['child']>;
}

export async function mongoPart(bench: Bench, report: Report): Promise<void> {
  const { documents } = bench.options;
  const server = await startMayfly(bench, { data: bench.newFolder('mongo'), profile: 'mongo' });
  const stage: Stage = {
    bench,
    server,
    mongo: bench.child('mongo-load.js'),
    rest: bench.child('load.js'),
  };
  await fill(stage);
  const read = await readRound(stage);
  const index = { createIndexes: 'c', indexes: [{ key: { k: 1 }, name: 'k_1' }], $db: 'mongo' };
  await stage.mongo.call('ask', { port: server.mongoPort, command: index });
  const found = await oneRound(stage, 'find', documents, CONNECTIONS, 10);
  const inserted = await writeRound(stage, 'insert');
  const updated = await oneRound(stage, 'update', documents, WRITERS, 2);
  await server.stop();
  const all = { read, find: found, insert: inserted, update: updated };
  report.keep(
    'mongo',
    Object.fromEntries(Object.entries(all).map(([k, v]) => [k, Object.fromEntries(v)])),
  );
  report.table({
    title: `MongoDB commands: documents of 1 KB, ${bench.options.rounds} rounds, medians`,
    columns: [
      'command',
      'subject',
      'CPU µs/request',
      'requests/core-s',
      'ratio of it to ours',
      'aim',
    ],
    rows: [
      ...rowsOf('find by _id', read),
      ...rowsOf('find of 100 by an index', found),
      ...rowsOf('insert, durable', inserted),
      ...rowsOf('update, durable', updated),
    ],
    notes: ['A ratio above 1 says that the MongoDB face takes less CPU than the subject.'],
  });
}

function rowsOf(what: string, samples: Samples): readonly (readonly string[])[] {
  const ours = cpuUs(samples, MONGO);
  return [...samples.keys()].map((name) => {
    const cost = cpuUs(samples, name);
    const cells = [what, name, number(cost, 1), number(1_000_000 / cost)];
    if (name === MONGO) return cells;
    if (name === FLOOR) return [...cells, ...judged(cost / ours, FLOOR_AIM)];
    return [...cells, ...judged(cost / ours, PEER_AIM)];
  });
}

async function fill({ bench, server, mongo, rest }: Stage): Promise<void> {
  const { documents } = bench.options;
  const work: MongoWork = { kind: 'fill', from: 0, count: documents, bytes: DOCUMENT_BYTES };
  await mongo.call('prepare', planOf(server.mongoPort, work, WRITERS));
  await mongo.call('run', { count: documents });
  await createContainer(server, { indexed: false });
  await rest.call('prepare', restPlan(server.port, fillWork(documents), WRITERS, 0));
  await rest.call('run', { count: documents });
}

const fillWork = (count: number): ItemWork => {
  return { kind: 'fill', from: 0, count, bytes: DOCUMENT_BYTES };
};

async function readRound(stage: Stage): Promise<Samples> {
  const { bench, server, mongo, rest } = stage;
  const { documents, readRequests, rounds } = bench.options;
  const command = {
    find: 'c',
    filter: { _id: 'item-0' },
    limit: 1,
    singleBatch: true,
    $db: 'mongo',
  };
  const reply = await mongo.call<string>('ask', { port: server.mongoPort, command });
  const floor = bench.child('mongo-floor.js');
  const floorPort = await floor.call<number>('serve', { reply });
  const work: MongoWork = { kind: 'read', from: 0, count: documents, bytes: 0 };
  const asked = (name: string, pid: number, plan: MongoLoadPlan): Subject => ({
    name,
    pid,
    prepare: () => mongo.call('prepare', plan),
    run: () => mongo.call('run', { count: readRequests }),
  });
  const read: ItemWork = { kind: 'read', count: documents, among: documents };
  const postgresTarget = await postgresOf(bench);
  await postgresTarget.prepare(fillWork(documents), WRITERS);
  await postgresTarget.run(documents);
  return interleave(
    [
      asked(FLOOR, floor.pid, { ...planOf(floorPort, work, CONNECTIONS), logsIn: false }),
      asked(MONGO, server.pid, planOf(server.mongoPort, work, CONNECTIONS)),
      {
        name: REST,
        pid: server.pid,
        prepare: () =>
          rest.call('prepare', restPlan(server.port, read, CONNECTIONS, DOCUMENT_BYTES)),
        run: () => rest.call('run', { count: readRequests }),
      },
      {
        name: POSTGRES,
        pid: postgresTarget.pid,
        prepare: () => postgresTarget.prepare(read, CONNECTIONS),
        run: () => postgresTarget.run(readRequests),
      },
    ],
    rounds,
  );
}

async function writeRound(stage: Stage, kind: 'insert'): Promise<Samples> {
  const { bench, server, mongo, rest } = stage;
  const { documents, rounds } = bench.options;
  const count = writesOf(bench);
  const peer = await postgresOf(bench);
  const bytes = DOCUMENT_BYTES;
  const works = (round: number): ItemWork => {
    return { kind: 'fill', from: documents + round * count, count, bytes };
  };
  return interleave(
    [
      {
        name: MONGO,
        pid: server.pid,
        prepare: (round) => {
          const work: MongoWork = { kind, from: documents + round * count, count, bytes };
          return mongo.call('prepare', planOf(server.mongoPort, work, WRITERS));
        },
        run: () => mongo.call('run', { count }),
      },
      {
        name: REST,
        pid: server.pid,
        prepare: (round) => rest.call('prepare', restPlan(server.port, works(round), WRITERS, 0)),
        run: () => rest.call('run', { count }),
      },
      {
        name: POSTGRES,
        pid: peer.pid,
        prepare: (round) => peer.prepare(works(round), WRITERS),
        run: () => peer.run(count),
      },
    ],
    rounds,
  );
}

/** A command that has no counterpart over there: its cost alone. */
function oneRound(
  { bench, server, mongo }: Stage,
  kind: MongoWork['kind'],
  documents: number,
  connections: number,
  share: number,
): Promise<Samples> {
  const count = Math.ceil(bench.options.readRequests / share);
  const work: MongoWork = { kind, from: 0, count: documents, bytes: 0 };
  const subject: Subject = {
    name: MONGO,
    pid: server.pid,
    prepare: () => mongo.call('prepare', planOf(server.mongoPort, work, connections)),
    run: () => mongo.call('run', { count }),
  };
  return interleave([subject], bench.options.rounds);
}

function writesOf({ options }: Bench): number {
  return options.upsertRequests.get(WRITERS) ?? Math.ceil(options.readRequests / 4);
}

function planOf(port: number, work: MongoWork, connections: number): MongoLoadPlan {
  return { port, connections, work, logsIn: true };
}

function restPlan(port: number, work: ItemWork, connections: number, least: number): LoadPlan {
  return { port, connections, work, bodyBytesMin: least };
}

function postgresOf(bench: Bench) {
  return bench.once('mongo-postgres', async () => {
    const { pid, address, load } = await postgres(bench);
    await load.call('create', { address, indexed: false });
    return {
      pid,
      prepare: (work: ItemWork, connections: number) =>
        load.call<void>('prepare', {
          address,
          connections,
          work,
          indexed: false,
        } satisfies PostgresLoadPlan),
      run: (count: number) =>
        load.call<{ readonly requests: number; readonly ms: number }>('run', { count }),
    };
  });
}
