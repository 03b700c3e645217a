// Part 11: what a user-defined function adds to each row of a query, against the same query with
// the expression written out.
import assert from 'node:assert/strict';
import type { Child } from './child.js';
import { type Bench, cpuUs, interleave, type Subject } from './harness.js';
import type { LoadPlan, LoadResult } from './load.js';
import { type Mayfly, startMayfly } from './mayfly.js';
import { number, type Report } from './report.js';
import { filledFolder, SMALL_ITEMS } from './stock.js';
import { CONTAINER_LINK, queryCall } from './wire.js';

const CONNECTIONS = 4;
/** Rows of one page, which every answer is. */
const ROWS = 1000;

interface Comparison {
  readonly name: string;
  readonly plain: string;
  readonly called: string;
}

const FUNCTIONS: Readonly<Record<string, string>> = {
  tax: 'function (x) { return x < 500 ? x * 0.1 : x * 0.2; }',
  isLarge: 'function (x) { return x >= 0; }',
  label: 'function (order) { return order.total; }',
};

const COMPARISONS: readonly Comparison[] = [
  {
    name: 'a number of each row',
    plain: 'SELECT VALUE c.total < 500 ? c.total * 0.1 : c.total * 0.2 FROM c',
    called: 'SELECT VALUE udf.tax(c.total) FROM c',
  },
  {
    name: 'a condition on each row',
    plain: 'SELECT VALUE c.total FROM c WHERE ABS(c.total) >= 0',
    called: 'SELECT VALUE c.total FROM c WHERE udf.isLarge(c.total)',
  },
  {
    name: 'the whole document, 1 KB',
    plain: 'SELECT VALUE c["total"] FROM c WHERE ABS(c.total) >= 0',
    called: 'SELECT VALUE udf.label(c) FROM c',
  },
];

export async function scriptsPart(bench: Bench, report: Report): Promise<void> {
  const { rounds, queryMs } = bench.options;
  const content = { living: SMALL_ITEMS, waves: [], orders: true };
  const folder = await filledFolder(bench, 'few-orders', content);
  const server = await startMayfly(bench, { data: folder, profile: 'scripts' });
  for (const [id, body] of Object.entries(FUNCTIONS)) await define(server, id, body);
  const load = bench.child('load.js');
  const kept: Record<string, unknown> = {};
  const rows: (readonly string[])[] = [];
  for (const { name, plain, called } of COMPARISONS) {
    assert.deepEqual(await rowsOf(server, called), await rowsOf(server, plain), name);
    const samples = await interleave(
      [
        subject('plain', server, load, plain, queryMs),
        subject('called', server, load, called, queryMs),
      ],
      rounds,
    );
    kept[name] = Object.fromEntries(samples);
    const [without, by] = [cpuUs(samples, 'plain') / ROWS, cpuUs(samples, 'called') / ROWS];
    rows.push([name, number(without, 2), number(by, 2), (by / without).toFixed(2)]);
  }
  await server.stop();
  report.keep('scripts', kept);
  report.table({
    title:
      `User-defined functions: pages of ${number(ROWS)} rows, ${CONNECTIONS} connections, ` +
      `${rounds} rounds of ${number(queryMs)} ms, medians of the CPU time of each row`,
    columns: ['called with', 'written out, µs', 'udf, µs', 'ratio'],
    rows,
    notes: ['CPU of all threads. Both gave the same rows.'],
  });
}

async function define(server: Mayfly, id: string, body: string): Promise<void> {
  const target = { verb: 'POST', path: `/${CONTAINER_LINK}/udfs`, type: 'udfs' };
  const text = JSON.stringify({ id, body });
  await server.call({ ...target, link: CONTAINER_LINK, body: text });
}

const asked = (sql: string) => ({ sql, parameters: [], values: [], partition: undefined });

async function rowsOf(server: Mayfly, sql: string): Promise<readonly unknown[]> {
  const { body } = await server.call(queryCall(asked(sql)));
  const rows: readonly unknown[] = JSON.parse(body).Documents;
  assert.equal(rows.length, ROWS);
  return rows;
}

function subject(name: string, server: Mayfly, load: Child, sql: string, msMax: number): Subject {
  const plan: LoadPlan = {
    port: server.port,
    connections: CONNECTIONS,
    work: { kind: 'query', asked: [{ ...asked(sql), postgres: '' }] },
    bodyBytesMin: ROWS,
  };
  return {
    name,
    pid: server.pid,
    prepare: () => load.call('prepare', plan),
    run: () => load.call<LoadResult>('runFor', { msMax }),
  };
}
