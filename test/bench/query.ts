// Part 7: the CPU of queries against PostgreSQL with the same documents and indexes, and whether a
// query that asks for little costs the same whatever the container holds.
import assert from 'node:assert/strict';
import type { Child } from './child.js';
import { type Bench, cpuUs, interleave, type Samples, type Subject } from './harness.js';
import type { LoadPlan, LoadResult } from './load.js';
import { type Mayfly, startMayfly } from './mayfly.js';
import type { PgAddress } from './packages.js';
import type { OrdersFill, OrdersPlan } from './postgres-orders.js';
import { type Asked, askedOf, comparable, QUESTIONS, type Question } from './questions.js';
import { judged, number, type Report } from './report.js';
import { filledFolder, postgres, SMALL_ITEMS } from './stock.js';
import { queryCall } from './wire.js';

/** A few clients, and as many as keep a server busy. */
const CONNECTIONS = [16, 64] as const;
/** So many different questions of each kind are asked in turn. */
const VARIANTS = 500;
const COMPARED = 3;
const WARM_UP_MS = 2000;
const FILL_MS_MAX = 1_200_000;
const MAYFLY = 'Mayfly';
const POSTGRES = 'PostgreSQL 18, jsonb';
const PREPARED = 'prepared';
const FLAT_AIM = { most: 1.3 };
/** Those that ask for a few documents only. */
const FLAT = QUESTIONS.filter(({ sql, partition }) => /LIMIT|customer/.test(sql) || partition);

export async function queryPart(bench: Bench, report: Report): Promise<void> {
  const { items } = bench.options;
  report.say(`filling folders and a table with ${number(items)} orders ...`);
  const folder = await filledFolder(bench, 'orders', { living: items, waves: [], orders: true });
  const server = await startMayfly(bench, { data: folder, profile: 'query' });
  const peer = await postgresOrders(bench, items);
  const load = bench.child('load.js');
  const kept: Record<string, unknown> = {};
  for (const question of QUESTIONS) {
    await compareAnswers(question, server, peer, items);
    const plan = planOf(question, items, WARM_UP_MS);
    await warmUp(mayflySubject(MAYFLY, server, load, plan));
  }
  for (const connections of CONNECTIONS) {
    const answered = await compareCosts(bench, report, { server, peer, load }, connections);
    kept[`connections-${connections}`] = answered;
  }
  kept.flat = await flatTable(bench, report, server, load);
  await server.stop();
  report.keep('query', kept);
}

interface Sides {
  readonly server: Mayfly;
  readonly peer: PostgresOrders;
  readonly load: Child;
}

async function compareCosts(
  bench: Bench,
  report: Report,
  { server, peer, load }: Sides,
  connections: number,
): Promise<Readonly<Record<string, unknown>>> {
  const { items, rounds, queryMs } = bench.options;
  const kept: Record<string, unknown> = {};
  const rows: (readonly string[])[] = [];
  for (const question of QUESTIONS) {
    const plan = planOf(question, items, queryMs, connections);
    const samples = await interleave(
      [
        mayflySubject(MAYFLY, server, load, plan),
        postgresSubject(POSTGRES, peer, plan),
        postgresSubject(PREPARED, peer, plan),
      ],
      rounds,
    );
    kept[question.name] = Object.fromEntries(samples);
    rows.push(rowOf(question, samples));
  }
  report.table({
    title:
      `Queries: ${number(items)} documents of 1 KB, ${connections} connections, ` +
      `${rounds} rounds of ${number(queryMs)} ms, medians of the CPU time`,
    columns: ['query', `${MAYFLY} µs`, `${POSTGRES} µs`, `${PREPARED} µs`, 'ratio', 'aim'],
    rows,
    notes: [
      'Both have the same indexes and gave the same answers, which the client read to the end.',
      'The ratio is between queries that come as text and parameters with every request.',
      'Prepared: PostgreSQL again, with statements that each connection has prepared before.',
    ],
  });
  return kept;
}

function rowOf(question: Question, samples: Samples): readonly string[] {
  const [own, theirs] = [cpuUs(samples, MAYFLY), cpuUs(samples, POSTGRES)];
  const prepared = number(cpuUs(samples, PREPARED), 1);
  const cells = [question.name, number(own, 1), number(theirs, 1), prepared];
  const ratio = theirs / own;
  return [...cells, ...(question.aim ? judged(ratio, question.aim) : [ratio.toFixed(2)])];
}

/** All questions before the first is measured: a server that runs has met them all. */
async function warmUp(subject: Subject): Promise<void> {
  await subject.prepare(0);
  await subject.run();
}

/** The same few questions, asked of a small container and of the large one. */
async function flatTable(bench: Bench, report: Report, large: Mayfly, load: Child) {
  const { items, rounds, queryMs } = bench.options;
  const content = { living: SMALL_ITEMS, waves: [], orders: true };
  const folder = await filledFolder(bench, 'few-orders', content);
  const small = await startMayfly(bench, { data: folder });
  const names = [`${number(SMALL_ITEMS)} documents`, `${number(items)} documents`] as const;
  const kept: Record<string, unknown> = {};
  const rows: (readonly string[])[] = [];
  for (const question of FLAT) {
    const plan = planOf(question, SMALL_ITEMS, WARM_UP_MS);
    await warmUp(mayflySubject(names[0], small, load, plan));
  }
  for (const question of FLAT) {
    const subjects = [
      mayflySubject(names[0], small, load, planOf(question, SMALL_ITEMS, queryMs)),
      mayflySubject(names[1], large, load, planOf(question, items, queryMs)),
    ];
    const samples = await interleave(subjects, rounds);
    kept[question.name] = Object.fromEntries(samples);
    const [few, many] = [cpuUs(samples, names[0]), cpuUs(samples, names[1])];
    const cells = [question.name, number(few, 1), number(many, 1)];
    rows.push([...cells, ...judged(many / few, FLAT_AIM)]);
  }
  await small.stop();
  report.table({
    title: 'Queries that ask for little: CPU per request over the size of the container',
    columns: ['query', ...names.map((name) => `${name}, µs`), 'ratio', 'aim'],
    rows,
  });
  return kept;
}

interface QueryPlan {
  readonly asked: readonly Asked[];
  readonly connections: number;
  readonly msMax: number;
}

function planOf(
  question: Question,
  orders: number,
  msMax: number,
  connections: number = CONNECTIONS[0],
): QueryPlan {
  const asked = Array.from({ length: VARIANTS }, (_, number) => askedOf(question, number, orders));
  return { asked, connections, msMax };
}

function mayflySubject(
  name: string,
  server: Mayfly,
  load: Child,
  { asked, connections, msMax }: QueryPlan,
): Subject {
  const plan: LoadPlan = {
    port: server.port,
    connections,
    work: { kind: 'query', asked },
    bodyBytesMin: 1,
  };
  return {
    name,
    pid: server.pid,
    prepare: () => load.call('prepare', plan),
    run: () => load.call<LoadResult>('runFor', { msMax }),
  };
}

function postgresSubject(
  name: string,
  { pid, load, prepare }: PostgresOrders,
  plan: QueryPlan,
): Subject {
  return {
    name,
    pid,
    prepare: () => prepare(plan, name === PREPARED),
    run: () => load.call<LoadResult>('runFor', { msMax: plan.msMax }),
  };
}

interface PostgresOrders {
  readonly pid: number;
  readonly address: PgAddress;
  readonly load: Child;
  prepare(plan: QueryPlan, named: boolean): Promise<void>;
}

async function postgresOrders(bench: Bench, orders: number): Promise<PostgresOrders> {
  const { pid, address } = await postgres(bench);
  const load = bench.child('postgres-orders.js');
  await load.call('fill', { address, orders } satisfies OrdersFill, FILL_MS_MAX);
  const prepare = ({ asked, connections }: QueryPlan, named: boolean) =>
    load.call<void>('prepare', { address, connections, asked, named } satisfies OrdersPlan);
  return { pid, address, load, prepare };
}

async function compareAnswers(
  question: Question,
  server: Mayfly,
  { address, load }: PostgresOrders,
  orders: number,
): Promise<void> {
  for (let number = 0; number < COMPARED; number += 1) {
    const asked = askedOf(question, number, orders);
    const { body } = await server.call(queryCall(asked));
    const own: readonly unknown[] = JSON.parse(body).Documents;
    const theirs = await load.call<readonly unknown[]>('answer', { address, asked });
    assert.deepEqual(
      comparable(own, question.ordered),
      comparable(theirs, question.ordered),
      question.name,
    );
    assert(own.length > 0, `${question.name}: no rows`);
  }
}
