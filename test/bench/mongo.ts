// The CPU of MongoDB commands, against a floor that answers fixed replies, against the REST
// face, and against PostgreSQL with the same promise.
import { createContainer } from './client.js';
import { type Bench, cpuUs, interleave, type Samples, type Subject } from './harness.js';
import type { LoadPlan, LoadResult } from './load.js';
import { type Mayfly, startMayfly } from './mayfly.js';
import type { MongoLoadPlan, MongoWork } from './mongo-load.js';
import type { PostgresLoadPlan } from './postgres-load.js';
import { judged, number, type Report } from './report.js';
import { postgres } from './stock.js';
import type { ItemWork, Work } from './wire.js';

const DOCUMENT_BYTES = 1024;
const CONNECTIONS = 16;
const WRITERS = 64;
/** How many documents a find by an index gives, and how many fewer of these finds there are. */
const FOUND = 100;
const FIND_SHARE = 10;
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
  readonly peer: Peer;
}
interface Peer {
  readonly pid: number;
  prepare(work: PostgresLoadPlan['work'], connections: number): Promise<void>;
  run(count: number): Promise<LoadResult>;
}
/** The same work for each of the three. */
interface Trio {
  readonly mongo: MongoWork;
  readonly rest: Work;
  readonly peer: PostgresLoadPlan['work'];
}

export async function mongoPart(bench: Bench, report: Report): Promise<void> {
  const server = await startMayfly(bench, { data: bench.newFolder('mongo'), profile: 'mongo' });
  const stage: Stage = {
    bench,
    server,
    mongo: bench.child('mongo-load.js'),
    rest: bench.child('load.js'),
    peer: await postgresOf(bench),
  };
  await fill(stage);
  const read = await readRound(stage);
  const found = await findRound(stage);
  const inserted = await insertRound(stage);
  const updated = await updateRound(stage);
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
      ...rowsOf(`find of ${FOUND} by an index`, found),
      ...rowsOf('insert, durable', inserted),
      ...rowsOf('update, durable', updated),
    ],
    notes: [
      'A ratio above 1 says that the MongoDB face takes less CPU than the subject.',
      'An update raises a number: $inc here, a patch over REST, jsonb_set in PostgreSQL.',
    ],
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

async function fill({ bench, server, mongo, rest, peer }: Stage): Promise<void> {
  const { documents } = bench.options;
  const work = mongoWork(bench, 'fill', 0, documents);
  await mongo.call('prepare', planOf(server.mongoPort, work, WRITERS));
  await mongo.call('run', { count: documents });
  const index = { createIndexes: 'c', indexes: [{ key: { k: 1 }, name: 'k_1' }], $db: 'mongo' };
  await mongo.call('ask', { port: server.mongoPort, command: index });
  const policy = { includedPaths: [{ path: '/k/?' }], excludedPaths: [{ path: '/*' }] };
  await createContainer(server, { indexed: false, policy });
  const items = fillWork(bench, 0, documents);
  await rest.call('prepare', restPlan(server.port, items, WRITERS, 0));
  await rest.call('run', { count: documents });
  await peer.prepare(items, WRITERS);
  await peer.run(documents);
}

/** Each group has as many documents as are found. */
const groupsOf = ({ options }: Bench): number => Math.ceil(options.documents / FOUND);

function mongoWork(bench: Bench, kind: MongoWork['kind'], from: number, count: number): MongoWork {
  return { kind, from, count, bytes: DOCUMENT_BYTES, groups: groupsOf(bench) };
}

function fillWork(bench: Bench, from: number, count: number): ItemWork {
  return { kind: 'fill', from, count, bytes: DOCUMENT_BYTES, groups: groupsOf(bench) };
}

async function readRound(stage: Stage): Promise<Samples> {
  const { bench, server, mongo } = stage;
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
  const work = mongoWork(bench, 'read', 0, documents);
  const items: ItemWork = { kind: 'read', count: documents, among: documents };
  const trio: Trio = { mongo: work, rest: items, peer: items };
  const fixed: Subject = {
    name: FLOOR,
    pid: floor.pid,
    prepare: () =>
      mongo.call('prepare', { ...planOf(floorPort, work, CONNECTIONS), logsIn: false }),
    run: () => mongo.call('run', { count: readRequests }),
  };
  const subjects = subjectsOf(stage, () => trio, CONNECTIONS, readRequests, DOCUMENT_BYTES);
  return interleave([fixed, ...subjects], rounds);
}

function findRound(stage: Stage): Promise<Samples> {
  const { bench } = stage;
  const { documents, readRequests, rounds } = bench.options;
  const groups = groupsOf(bench);
  const asked = Array.from({ length: groups }, (_, group) => ({
    sql: `SELECT TOP ${FOUND} * FROM c WHERE c.k = @k`,
    parameters: ['@k'],
    postgres: '',
    values: [group],
    partition: undefined,
  }));
  const trio: Trio = {
    mongo: mongoWork(bench, 'find', 0, documents),
    rest: { kind: 'query', asked },
    peer: { kind: 'group', groups, items: FOUND },
  };
  const count = Math.ceil(readRequests / FIND_SHARE);
  const least = FOUND * DOCUMENT_BYTES;
  return interleave(
    subjectsOf(stage, () => trio, CONNECTIONS, count, least),
    rounds,
  );
}

function insertRound(stage: Stage): Promise<Samples> {
  const { bench } = stage;
  const { documents, rounds } = bench.options;
  const count = writesOf(bench);
  const trioOf = (round: number): Trio => {
    const from = documents + round * count;
    const items = fillWork(bench, from, count);
    return { mongo: mongoWork(bench, 'insert', from, count), rest: items, peer: items };
  };
  return interleave(subjectsOf(stage, trioOf, WRITERS, count, 0), rounds);
}

function updateRound(stage: Stage): Promise<Samples> {
  const { bench } = stage;
  const { documents, rounds } = bench.options;
  const items: ItemWork = { kind: 'change', count: documents, among: documents };
  const trio: Trio = {
    mongo: mongoWork(bench, 'update', 0, documents),
    rest: items,
    peer: items,
  };
  return interleave(
    subjectsOf(stage, () => trio, WRITERS, writesOf(bench), 0),
    rounds,
  );
}

function subjectsOf(
  { server, mongo, rest, peer }: Stage,
  trioOf: (round: number) => Trio,
  connections: number,
  count: number,
  least: number,
): readonly Subject[] {
  return [
    {
      name: MONGO,
      pid: server.pid,
      prepare: (round) =>
        mongo.call('prepare', planOf(server.mongoPort, trioOf(round).mongo, connections)),
      run: () => mongo.call('run', { count }),
    },
    {
      name: REST,
      pid: server.pid,
      prepare: (round) =>
        rest.call('prepare', restPlan(server.port, trioOf(round).rest, connections, least)),
      run: () => rest.call('run', { count }),
    },
    {
      name: POSTGRES,
      pid: peer.pid,
      prepare: (round) => peer.prepare(trioOf(round).peer, connections),
      run: () => peer.run(count),
    },
  ];
}

function writesOf({ options }: Bench): number {
  return options.upsertRequests.get(WRITERS) ?? Math.ceil(options.readRequests / 4);
}

function planOf(port: number, work: MongoWork, connections: number): MongoLoadPlan {
  return { port, connections, work, logsIn: true };
}

function restPlan(port: number, work: Work, connections: number, least: number): LoadPlan {
  return { port, connections, work, bodyBytesMin: least };
}

function postgresOf(bench: Bench): Promise<Peer> {
  return bench.once('mongo-postgres', async () => {
    const { pid, address, load } = await postgres(bench);
    const table = { address, indexed: false, grouped: true };
    await load.call('create', table);
    return {
      pid,
      prepare: (work, connections) =>
        load.call<void>('prepare', { ...table, connections, work } satisfies PostgresLoadPlan),
      run: (count) => load.call<LoadResult>('run', { count }),
    };
  });
}
