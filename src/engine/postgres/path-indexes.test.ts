// Indexes over paths on a real PostgreSQL: what they hold sorts as values do, and questions with a
// limit touch few rows of many. Rows are counted by the database itself, not timed.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { systemClock } from '../../time/clock.js';
import { systemEntropy } from '../../time/entropy.js';
import { cosmosRules } from '../../time/expiry.js';
import { instant } from '../../time/instant.js';
import { compareValues } from '../../value/compare.js';
import { docFromValue } from '../../value/doc.js';
import { type Container, type Engine, EVERYTHING, type ScanRequest } from '../engine.js';
import { type Cluster, openCluster } from './cluster.suite.js';
import type { Answer, Pool } from './connection.js';
import { openPostgres } from './postgres-engine.js';
import { planScan } from './scan.js';
import { Schema } from './schema.js';
import { sortTextOf, sortTextSql } from './sort-text.js';
import { raw, type Sql, sql, textOf } from './sql.js';
import { indexText } from './text.js';

const ITEMS = 10_000;
const PAGE = 20;
const NOW = instant(1_700_000_000_000);
const EVERY = { path: [], below: true, include: true };
const named = (path: string) => ({ path: [path], below: false, include: true });
const up = (path: string) => ({ path: [path], descending: false });
const down = (path: string) => ({ path: [path], descending: true });
const box: Container = {
  id: 'box',
  partitionPaths: [['pk']],
  partitionHash: 'v2',
  indexes: [],
  indexing: {
    ...{ version: 1, rules: [EVERY, named('n'), named('group'), named('text')] },
    composites: [
      [up('group'), up('n')],
      [up('half'), down('n')],
    ],
    ...{ words: [], points: [], lazy: false },
  },
  expiry: cosmosRules(-1),
};

let cluster: Cluster;
let engine: Engine;
let url: string;
before(async () => {
  cluster = await openCluster();
  url = cluster.newStore();
  const { uuid, fraction } = systemEntropy();
  const { wall } = systemClock();
  engine = (await openPostgres({ url, server: uuid(), fraction, wall })).engine;
  await engine.createContainer(box);
  await fill();
});
after(async () => {
  await engine.close();
  await cluster.stop();
});

async function fill(): Promise<void> {
  const items = Array.from({ length: ITEMS }, (_, n) => ({
    key: { partition: [`p${n % 7}`], id: `${n}` },
    ...{ serial: n + 1, lsn: n + 1, etag: `"${n}"`, fuses: [] },
    doc: docFromValue(documentOf(n)),
  }));
  for (let at = 0; at < ITEMS; at += 1000) {
    const some = items.slice(at, at + 1000);
    await engine.restore(box, { items: some, lsn: at + 1000, nextSerial: at + 1001 });
  }
  await query(raw(`analyze "${schemaOf()}"."d_box"`));
}

function documentOf(n: number) {
  const mixed = (n * 7919) % ITEMS;
  const [group, half] = [`g${n % 50}`, n % 2 === 0];
  return { n: mixed, group, half, text: `t${String(mixed).padStart(5, '0')}`, late: mixed };
}

function schemaOf(): string {
  return new URL(url).searchParams.get('schema') ?? '';
}

async function query(statement: Sql): Promise<Answer> {
  const address = new URL(url);
  address.searchParams.delete('schema');
  const client = new pg.Client({ connectionString: address.href });
  await client.connect();
  try {
    const values = statement.values as unknown[];
    const { rows } = await client.query({ text: textOf(statement), values, rowMode: 'array' });
    return { rows, rowCount: rows.length, command: '' };
  } finally {
    await client.end();
  }
}

/** How many rows the database looks at for the first page of a request. */
async function lookedAt(request: Partial<ScanRequest>, indexes?: Parameters<typeof planScan>[4]) {
  const asked: Sql[] = [];
  const ask = async (statement: Sql) => {
    asked.push(statement);
    throw new Error('only looked at');
  };
  const pool = { ask, askAlone: ask } as unknown as Pool;
  const place = { schema: new Schema(schemaOf()), container: box, bucket: 0 };
  const plan = planScan(pool, box, async () => place, { ...EVERYTHING, ...request }, indexes);
  const batches = plan.run(NOW, { rowsMax: PAGE, bytesMax: 4e6 });
  await assert.rejects(async () => batches[Symbol.asyncIterator]().next(), /only looked at/);
  const { rows } = await query(sql`explain (analyze, format json) ${asked[0]}`);
  const [explained] = (rows[0]?.[0] ?? []) as unknown as readonly { readonly Plan: Node }[];
  assert(explained);
  return scanned(explained.Plan);
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
}

function scanned(node: Node): number {
  const below = (node.Plans ?? []).reduce((sum, each) => sum + scanned(each), 0);
  if (node['Relation Name'] !== 'd_box') return below;
  return below + node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
}

async function firstPage(request: Partial<ScanRequest>) {
  const plan = engine.plan(box, { ...EVERYTHING, ...request });
  assert(plan.exact && plan.ordered);
  for await (const batch of plan.run(NOW, { rowsMax: PAGE, bytesMax: 4e6 })) return batch;
  throw new Error('no batch');
}

describe('questions with a limit look at few of many rows', () => {
  const equal = (path: string, value: string | boolean) =>
    ({ op: '=', path: [path], value }) as const;
  const above = { op: '>', path: ['n'], value: 5_000 } as const;
  const cases: readonly (readonly [string, Partial<ScanRequest>])[] = [
    ['an order', { order: [up('n')] }],
    ['downwards', { order: [down('n')] }],
    ['of texts', { order: [down('text')] }],
    ['a range in its own order', { filter: above, order: [up('n')] }],
    ['a range', { filter: { op: '<', path: ['n'], value: 10 } }],
    ['texts that begin alike', { filter: { op: 'prefix', path: ['text'], value: 't0001' } }],
    ['equality', { filter: equal('group', 'g7') }],
    ['some values', { filter: { op: 'in', path: ['n'], values: [1, 5, 9] } }],
    ['an order over two paths', { order: [up('group'), up('n')] }],
    ['the same downwards', { order: [down('group'), down('n')] }],
    ['one up, one down', { order: [up('half'), down('n')] }],
    ['equality, then an order', { filter: equal('group', 'g7'), order: [up('n')] }],
    ['equality, then downwards', { filter: equal('half', true), order: [down('n')] }],
    [
      'equality and a range',
      { filter: { op: 'and', all: [equal('group', 'g7'), above] }, order: [up('n')] },
    ],
  ];
  for (const [name, request] of cases) {
    test(name, async () => {
      const rows = await lookedAt(request);
      assert(rows <= 2 * PAGE, `${rows} rows`);
    });
    test(`${name}: the next page, too`, async () => {
      const { resume } = await firstPage(request);
      if (!resume) return;
      const rows = await lookedAt({ ...request, after: resume });
      assert(rows <= 2 * PAGE + 1, `${rows} rows`);
    });
  }
  test('without an index all are looked at, so the count can tell', async () => {
    assert((await lookedAt({ order: [up('late')] })) >= ITEMS);
  });
});

test('a path that is asked for again and again gets an index by itself', async () => {
  const order = [down('late')];
  const explained = () => engine.plan(box, { ...EVERYTHING, order }).explain;
  for (let n = 0; n < 40; n += 1) explained();
  const there = async () => {
    const { rows } =
      await query(sql`select 1 from pg_index i join pg_class c on c.oid = i.indexrelid
      where obj_description(c.oid) = ${JSON.stringify([up('late')])} and i.indisvalid`);
    return rows.length > 0;
  };
  for (let waited = 0; !(await there()) && waited < 100; waited += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    explained();
  }
  assert(await there());
  assert((await lookedAt({ order })) <= 2 * PAGE);
});

test('an index that the policy does not want any more goes, and others come', async () => {
  const indexing = { ...box.indexing, version: 2, composites: [[up('late'), up('n')]] };
  const other: Container = { ...box, id: 'other' };
  await engine.createContainer(other);
  const comments = async () => {
    const { rows } = await query(sql`select obj_description(i.indexrelid) from pg_index i
      where i.indrelid = ${`"${schemaOf()}"."d_other"`}::regclass`);
    return rows.map(([comment]) => comment).filter((comment) => comment !== null);
  };
  assert.equal((await comments()).length, 5);
  await engine.alterContainer({ ...other, indexing });
  assert.equal((await comments()).length, 4);
  assert((await comments()).includes(JSON.stringify([up('late'), up('n')])));
  const rules = [{ ...EVERY, include: false }, named('n')];
  await engine.alterContainer({ ...other, indexing: { ...indexing, version: 3, rules } });
  assert.deepEqual((await comments()).length, 2);
});

test('values sort by their texts as they do by themselves, here and in the database', async () => {
  const values: readonly unknown[] = [
    ...[undefined, null, false, true, [], [1], {}, { a: 1 }],
    ...[0, -0, 1, -1, 1.5, -1.5, 5e-324, -5e-324, 1e-7, 1e21, 123456789012345680000],
    ...[Number.MAX_VALUE, -Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, Infinity, -Infinity],
    ...[
      '',
      'a',
      'A',
      'ab',
      'b',
      '\0',
      '\u0001',
      '\u0001a',
      '\ud800',
      '\ue000',
      '\uffff',
      '\u{1f41d}',
    ],
    ...['é', 'z'.repeat(749), 'z'.repeat(751), '\u{1f41d}'.repeat(800)],
  ];
  for (const value of values) {
    const text = indexText({ value }, Buffer.from(Number.isFinite(value) ? '' : '1e999'));
    const { rows } = await query(sql`select ${sortTextSql(['value'], 750)}
      from (select ${text}::jsonb as x) d`);
    assert.equal(rows[0]?.[0], sortTextOf(value, 750), String(value).slice(0, 20));
  }
  const isCut = (value: unknown) => typeof value === 'string' && value.length > 700;
  const short = values.filter((value) => !isCut(value));
  for (const a of short) {
    for (const b of short) {
      const [x, y] = [Buffer.from(sortTextOf(a, 750)), Buffer.from(sortTextOf(b, 750))];
      const isStructured = [a, b].every((each) => typeof each === 'object' && each !== null);
      if (isStructured) continue;
      assert.equal(Buffer.compare(x, y), Math.sign(compareValues(a, b)), `${a} and ${b}`);
    }
  }
});

test('long texts that no index entry has room for can be written', async () => {
  const texts = ['\u{1f41d}'.repeat(5000), 'é'.repeat(9000)];
  for (const [at, text] of texts.entries()) {
    const id = `long${at}`;
    const item = { id, etag: '"e"', fuses: [], doc: docFromValue({ text, group: text, n: text }) };
    const changes = [{ kind: 'put' as const, item, ifEtag: undefined }];
    const [outcome] = await engine.commit(box, [{ partition: ['p'], changes }], NOW);
    assert(outcome && 'items' in outcome);
    const filter = { op: '=', path: ['text'], value: text } as const;
    const { items } = await firstPage({ filter });
    assert.deepEqual(
      items.map(({ key }) => key.id),
      [id],
    );
  }
});
