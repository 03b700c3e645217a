// Part 12: the PostgreSQL engine against SQL written by hand for the same server, and against the
// embedded engine. All of it in this process, by the engine's own interface: what the network and
// the faces cost is for the other parts.
import pg from 'pg';
import {
  type Change,
  type Container,
  type Engine,
  EVERYTHING,
  type ScanRequest,
} from '../../src/engine/engine.js';
import type { IndexRule } from '../../src/engine/indexing.js';
import { openKvEngine } from '../../src/engine/kv/kv-engine.js';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import { openPostgres } from '../../src/engine/postgres/postgres-engine.js';
import { systemClock } from '../../src/time/clock.js';
import { systemEntropy } from '../../src/time/entropy.js';
import { cosmosFuses, cosmosRules } from '../../src/time/expiry.js';
import { instantOfSeconds } from '../../src/time/instant.js';
import { docFromValue } from '../../src/value/doc.js';
import { type Bench, median } from './harness.js';
import { number, type Report } from './report.js';
import { postgres } from './stock.js';

const IN_FLIGHT = 32;
const PARTITIONS = 100;
const GROUPS = 50;
const PAGE = 20;
const SECONDS = 1_700_000_000;
const NOW = instantOfSeconds(SECONDS);
const LATER = instantOfSeconds(SECONDS + 3600);
const PURGE_ROWS = 1000;
const BUDGET = { rowsMax: PAGE, bytesMax: 4_000_000 };
const named = (name: string) => ({ path: [name], below: false, include: true });
const EVERYWHERE: readonly IndexRule[] = [{ path: [], below: true, include: true }];
/** The same as the table by hand has. */
const BY_NAME: readonly IndexRule[] = [named('group'), named('n')];

function boxWith(rules: readonly IndexRule[]): Container {
  return {
    id: 'bench',
    partitionPaths: [['pk']],
    partitionHash: 'v2',
    indexes: [],
    indexing: { version: 1, rules, composites: [], words: [], points: [], lazy: false },
    expiry: cosmosRules(-1),
  };
}

interface Subject {
  readonly name: string;
  put(n: number, ttl?: number): Promise<unknown>;
  read(n: number): Promise<unknown>;
  find(group: number): Promise<unknown>;
  /** The items with the largest numbers. */
  top(): Promise<unknown>;
  count(): Promise<unknown>;
  /** What has expired by then. */
  purge(): Promise<number>;
  close(): Promise<void>;
}

const OPERATIONS = [
  'point read',
  'upsert',
  'upsert, 1 writer',
  'upsert, 64 writers',
  'indexed query',
  'ordered page',
  'aggregate',
  'purge',
] as const;
type Rates = Record<(typeof OPERATIONS)[number], number[]>;

export async function scaleOutPart(bench: Bench, report: Report): Promise<void> {
  const { quick, rounds } = bench.options;
  const { address } = await postgres(bench);
  const { user, password, host, port, database } = address;
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`;
  const items = quick ? 5_000 : 20_000;
  const expiring = quick ? 10_000 : 100_000;
  const subjects = [
    await byHand(url),
    await onPostgres('Mayfly on PostgreSQL', url, BY_NAME),
    await onPostgres('indexing everything', url, EVERYWHERE),
    await embedded(bench),
  ];
  const rates = new Map<string, Rates>();
  for (const { name } of subjects) {
    rates.set(name, Object.fromEntries(OPERATIONS.map((each) => [each, []])) as never);
  }
  for (const subject of subjects) {
    report.say(`filling ${subject.name} with ${number(items)} items ...`);
    await inFlight(items, (n) => subject.put(n));
  }
  await vacuum(url);
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of subjects) await measure(subject, rates.get(subject.name) as Rates, items);
  }
  for (const subject of subjects) {
    report.say(`${subject.name}: ${number(expiring)} items expire ...`);
    await inFlight(expiring, (n) => subject.put(items + n, 60));
    const ms = await timed(async () => {
      const purged = await subject.purge();
      if (purged !== expiring) throw new Error(`${subject.name} purged ${purged}`);
    });
    rates.get(subject.name)?.purge.push((expiring * 1000) / ms);
  }
  for (const subject of subjects) await subject.close();
  report.keep('scale-out', Object.fromEntries(rates));
  const hand = rates.get('hand-written SQL') as Rates;
  report.table({
    title: `PostgreSQL: ${number(items)} items, ${IN_FLIGHT} in flight, ${rounds} rounds, medians per second`,
    columns: ['operation', ...subjects.flatMap(({ name }) => [name, 'ratio'])],
    rows: OPERATIONS.map((operation) => [
      operation,
      ...subjects.flatMap(({ name }) => {
        const rate = median((rates.get(name) as Rates)[operation]);
        return [number(rate), (rate / median(hand[operation])).toFixed(2)];
      }),
    ]),
  });
}

/** What autovacuum does sooner or later, and in the middle of a measurement. */
async function vacuum(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('vacuum analyze');
  await client.end();
}

async function measure(subject: Subject, rates: Rates, items: number): Promise<void> {
  const rate = async (count: number, work: (n: number) => Promise<unknown>, width = IN_FLIGHT) =>
    (count * 1000) / (await timed(() => inFlight(count, work, width)));
  const any = (n: number) => (n * 7919) % items;
  rates['point read'].push(await rate(5_000, (n) => subject.read(any(n))));
  rates.upsert.push(await rate(2_000, (n) => subject.put(any(n))));
  rates['upsert, 1 writer'].push(await rate(200, (n) => subject.put(any(n)), 1));
  rates['upsert, 64 writers'].push(await rate(3_000, (n) => subject.put(any(n)), 64));
  rates['indexed query'].push(await rate(500, (n) => subject.find(n % GROUPS), 4));
  rates['ordered page'].push(await rate(500, () => subject.top(), 4));
  rates.aggregate.push(await rate(10, () => subject.count(), 1));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function inFlight(
  count: number,
  work: (n: number) => Promise<unknown>,
  width = IN_FLIGHT,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

let written = 0;

/** Never the same twice: a database that notices that nothing has changed has less to do. */
function documentOf(n: number, ttl: number | undefined) {
  const filler = 'x'.repeat(300);
  const names = { id: `${n}`, pk: `p${n % PARTITIONS}`, group: `g${n % GROUPS}` };
  const value = { ...names, n, version: written++, filler };
  return ttl === undefined ? value : { ...value, ttl };
}

async function onPostgres(
  name: string,
  url: string,
  rules: readonly IndexRule[],
): Promise<Subject> {
  const { uuid, fraction } = systemEntropy();
  const { wall } = systemClock();
  const store = `${url}?schema=b${process.pid}_${rules.length}`;
  const { engine } = await openPostgres({ url: store, server: uuid(), fraction, wall });
  return onEngine(name, engine, boxWith(rules));
}

async function embedded(bench: Bench): Promise<Subject> {
  const engine = await openKvEngine(openLmdb(bench.newFolder('embedded')));
  return onEngine('Mayfly, embedded', engine, boxWith(BY_NAME));
}

async function onEngine(name: string, engine: Engine, box: Container): Promise<Subject> {
  await engine.createContainer(box);
  const first = (request: ScanRequest) =>
    engine.plan(box, request).run(NOW, BUDGET)[Symbol.asyncIterator]().next();
  const { etag } = systemEntropy();
  return {
    name,
    put: (n, ttl) => {
      const value = documentOf(n, ttl);
      const fuses = cosmosFuses(ttl, SECONDS);
      const item = { id: value.id, etag: etag(SECONDS), fuses, doc: docFromValue(value) };
      const change: Change = { kind: 'put', item, ifEtag: undefined };
      return engine.commit(box, [{ partition: [value.pk], changes: [change] }], NOW);
    },
    read: (n) => engine.get(box, [{ partition: [`p${n % PARTITIONS}`], id: `${n}` }], NOW),
    find: (group) =>
      first({ ...EVERYTHING, filter: { op: '=', path: ['group'], value: `g${group}` } }),
    top: () => first({ ...EVERYTHING, order: [{ path: ['n'], descending: true }] }),
    count: () => engine.plan(box, EVERYTHING).countBy(['group'], NOW),
    purge: async () => {
      let purged = 0;
      for (;;) {
        const pass = await engine.purge(box, LATER, PURGE_ROWS);
        purged += pass.purged;
        if (pass.purged === 0) return purged;
      }
    },
    close: () => engine.close(),
  };
}

/** A table as one would make it for this very application. */
async function byHand(url: string): Promise<Subject> {
  const pool = new pg.Pool({ connectionString: url, max: 2 * IN_FLIGHT });
  const table = `hand${process.pid}`;
  await pool.query(`create table ${table}(pk text, id text, ts bigint not null, ttl int,
    etag text not null, body jsonb not null, primary key(pk, id))`);
  await pool.query(`create index on ${table}((body->>'group'), pk, id)`);
  await pool.query(`create index on ${table}(((body->>'n')::float8))`);
  await pool.query(`create index on ${table}((ts + ttl)) where ttl > 0`);
  const query = (name: string, text: string, values: unknown[]) =>
    pool.query({ name, text, values });
  const alive = `(ttl is null or ttl < 0 or ts + ttl > $1)`;
  return {
    name: 'hand-written SQL',
    put: (n, ttl) => {
      const value = documentOf(n, ttl);
      const text = `insert into ${table}(pk, id, ts, ttl, etag, body)
        values ($1, $2, $3, $4, gen_random_uuid()::text, $5) on conflict (pk, id) do update
        set ts = excluded.ts, ttl = excluded.ttl, etag = excluded.etag, body = excluded.body
        returning etag`;
      return query('put', text, [value.pk, value.id, SECONDS, ttl ?? null, JSON.stringify(value)]);
    },
    read: (n) => {
      const text = `select body, etag from ${table} where pk = $2 and id = $3 and ${alive}`;
      return query('read', text, [SECONDS, `p${n % PARTITIONS}`, `${n}`]);
    },
    find: (group) => {
      const text = `select body from ${table} where body->>'group' = $2 and ${alive}
        order by pk, id limit ${PAGE}`;
      return query('find', text, [SECONDS, `g${group}`]);
    },
    top: () => {
      const text = `select body from ${table} where ${alive}
        order by (body->>'n')::float8 desc limit ${PAGE}`;
      return query('top', text, [SECONDS]);
    },
    count: () => {
      const text = `select body->>'group', count(*) from ${table} where ${alive} group by 1`;
      return query('count', text, [SECONDS]);
    },
    purge: async () => {
      let purged = 0;
      for (;;) {
        const text = `delete from ${table} where ctid = any(array(select ctid from ${table}
          where ttl > 0 and ts + ttl <= $1 limit ${PURGE_ROWS}))`;
        const { rowCount } = await query('purge', text, [SECONDS + 3600]);
        purged += rowCount ?? 0;
        if (!rowCount) return purged;
      }
    },
    close: async () => {
      await pool.query(`drop table ${table}`);
      await pool.end();
    },
  };
}
