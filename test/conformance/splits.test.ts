// Splitting physical ranges while clients run: queries, lists, feeds, bulk and sessions go on where
// they were, and what addresses a range that is gone is told so.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BulkOperationType, ChangeFeedStartFrom, ConsistencyLevel } from '@azure/cosmos';
import {
  type Box,
  documents,
  headerOf,
  type Json,
  listOf,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const RANGE = 'x-ms-documentdb-partitionkeyrangeid';
const TWO_RANGES = { 'x-ms-offer-throughput': '20000' };
const ITEMS = 60;

describe('the control call', () => {
  test('divides one range, and another call all of them', async () => {
    const box = await server.box();
    const first = rangesOf(await split(box, { rangeId: '0' }));
    assert.deepEqual(first, ['1 0 < 1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF', '2 0 < FF']);
    assert.deepEqual(
      rangesOf(await split(box)).map((each) => each.split(' <')[0]),
      ['3 0,1', '4 0,1', '5 0,2', '6 0,2'],
    );
    rangesOf(await split(box, { rangeId: 4 }));
    const listed = listOf(ok(await server.send('GET', `${box.path}/pkranges`), 200), RANGES);
    assert.deepEqual(
      listed.map(({ id }) => id),
      ['3', '7', '8', '5', '6'],
    );
  });

  for (const [rangeId, text] of [
    ['7', 'There is no range 7; there are: 0.'],
    ['x', 'rangeId must be the id of a range, not "x".'],
    [-1, 'rangeId must be the id of a range, not -1.'],
    [{}, 'rangeId must be the id of a range, not {}.'],
  ] as const) {
    test(`refuses ${JSON.stringify(rangeId)}`, async () => {
      const reply = await split(await server.box(), { rangeId });
      assert.equal(reply.status, 400);
      assert.ok(reply.text.includes(JSON.stringify(text).slice(1, -1)), reply.text);
    });
  }

  test('ends at a hundred ranges', async () => {
    const box = await server.box({}, { 'x-ms-offer-throughput': '510000' });
    const reply = await split(box);
    assert.equal(reply.status, 400);
    assert.ok(reply.text.includes('at most 100 ranges'), reply.text);
  });
});

describe('on the wire', () => {
  test('ranges are a feed of changes: who knows some is shown the new ones', async () => {
    const box = await server.box({}, TWO_RANGES);
    const feed = { 'a-im': 'Incremental feed' };
    const path = `${box.path}/pkranges`;
    const known = ok(await server.send('GET', path, { headers: feed }), 200);
    ok(await split(box, { rangeId: '1' }), 200);
    const since = { 'if-none-match': String(known.headers.etag) };
    const news = ok(await server.send('GET', path, { headers: { ...feed, ...since } }), 200);
    assert.deepEqual(
      listOf(news, RANGES).map(({ id, parents }) => [id, parents]),
      [
        ['2', ['1']],
        ['3', ['1']],
      ],
    );
    const whole = ok(await server.send('GET', path, { headers: since }), 200);
    assert.equal(listOf(whole, RANGES).length, 3);
    const current = { ...feed, 'if-none-match': String(news.headers.etag) };
    ok(await server.send('GET', path, { headers: current }), 304);
  });

  test('a range that was split is gone for whatever names it', async () => {
    const box = await server.box();
    ok(await split(box), 200);
    const gone = { [RANGE]: '0' };
    refused(await box.list(gone), 410, 1002);
    refused(await box.list({ ...gone, 'a-im': 'Incremental feed' }), 410, 1002);
    refused(await box.read('1', 'a', gone), 410, 1002);
    refused(await box.create({ id: '1', pk: 'a' }, gone), 410, 1002);
    const post = (body: unknown, headers: Readonly<Record<string, string>>) =>
      server.send('POST', `${box.path}/docs`, { body, headers: { ...gone, ...headers } });
    const isQuery = { 'x-ms-documentdb-isquery': 'true' };
    refused(await post({ query: 'SELECT * FROM c' }, isQuery), 410, 1002);
    const operation = { operationType: 'Read', id: '1', partitionKey: '["a"]' };
    refused(await post([operation], { 'x-ms-cosmos-is-batch-request': 'true' }), 410, 1002);
  });

  for (const [what, headers] of [
    ['one range', {}],
    ['two ranges', TWO_RANGES],
  ] as const) {
    test(`tokens of a parent lead through its children: lists, ${what}`, async () => {
      const box = await filled(headers);
      const first = ok(await box.list({ [RANGE]: '0', 'x-ms-max-item-count': '7' }), 200);
      const before = documents(await box.list({ [RANGE]: '0' })).map(({ id }) => id);
      const token = headerOf(first, 'x-ms-continuation') ?? '';
      ok(await split(box), 200);
      refused(await box.list({ [RANGE]: '0', 'x-ms-continuation': token }), 410, 1002);
      const seen = documents(first).map(({ id }) => id);
      for (const id of await childrenOf(box, '0')) {
        for (let next: string | undefined = token; next; ) {
          const page = ok(await box.list({ [RANGE]: id, 'x-ms-continuation': next }), 200);
          seen.push(...documents(page).map((each) => each.id));
          next = headerOf(page, 'x-ms-continuation');
        }
      }
      assert.deepEqual(seen.sort(), before.sort());
    });
  }

  test('a query of an SDK about a range that is gone is answered, with the token of that range', async () => {
    const box = await server.box();
    ok(await box.create({ id: '1', pk: 'a' }), 201);
    ok(await split(box), 200);
    const correlated = '2b3c0f5e-7c1d-4d4e-9a0b-1c2d3e4f5a6b';
    const sdk = {
      'x-ms-documentdb-isquery': 'true',
      'x-ms-cosmos-correlated-activityid': correlated,
    };
    const asked = { body: { query: 'SELECT * FROM c' }, headers: { [RANGE]: '0', ...sdk } };
    const reply = ok(await server.send('POST', `${box.path}/docs`, asked), 200);
    assert.equal(documents(reply).length, 1);
    assert.equal(headerOf(reply, 'x-ms-session-token'), '0:-1#1');
    ok(await box.read('1', 'a', { 'x-ms-session-token': '0:-1#1' }), 200);
  });

  test('a session goes on: tokens of the parent still count', async () => {
    const box = await server.box();
    const token = headerOf(ok(await box.create({ id: '1', pk: 'a' }), 201), 'x-ms-session-token');
    ok(await split(box), 200);
    ok(await box.read('1', 'a', { 'x-ms-session-token': String(token) }), 200);
    refused(await box.read('1', 'a', { 'x-ms-session-token': '0:-1#99' }), 404, 1002);
    const read = ok(await box.read('1', 'a'), 200);
    assert.match(String(headerOf(read, 'x-ms-session-token')), /^[12]:-1#1$/);
  });
});

/** By their plans, range by range; without `forceQueryPlan` the SDK names no range. */
const QUERIES: readonly string[] = [
  'SELECT VALUE c.id FROM c',
  'SELECT VALUE c.id FROM c WHERE c.n >= 10',
  'SELECT VALUE c.id FROM c ORDER BY c.n',
  'SELECT VALUE c.id FROM c ORDER BY c.n DESC',
  'SELECT VALUE {a: c.id, b: t} FROM c JOIN t IN c.tags',
  'SELECT DISTINCT VALUE c.n FROM c',
  'SELECT TOP 40 VALUE c.id FROM c ORDER BY c.n',
];

describe('the SDK', () => {
  for (const query of QUERIES) {
    for (const [what, headers] of [
      ['one range', {}],
      ['two ranges', TWO_RANGES],
    ] as const) {
      test(`goes on with ${query}, ${what}`, async () => {
        const box = await filled(headers);
        const { items } = server.client().database(box.database).container('c');
        const options = { forceQueryPlan: true, maxItemCount: 4, maxDegreeOfParallelism: 1 };
        const whole = (await items.query(query, options).fetchAll()).resources;
        const iterator = items.query(query, options);
        const seen: unknown[] = [];
        let pages = 0;
        while (iterator.hasMoreResults() && pages < 100) {
          seen.push(...((await iterator.fetchNext()).resources ?? []));
          pages += 1;
          if (pages === 2) ok(await split(box), 200);
        }
        assert.ok(pages > 3);
        if (query.includes('ORDER BY')) assert.deepEqual(seen, whole);
        else assert.deepEqual(sorted(seen), sorted(whole));
      });
    }
  }

  test('that knew the ranges from before asks the parents, and gets the same rows', async () => {
    const box = await filled(TWO_RANGES);
    const { items } = server.client().database(box.database).container('c');
    const query = () =>
      items.query('SELECT VALUE c.id FROM c ORDER BY c.n', { forceQueryPlan: true }).fetchAll();
    const before = (await query()).resources;
    for (let times = 0; times < 2; times++) {
      ok(await split(box), 200);
      assert.deepEqual((await query()).resources, before);
    }
  });

  test('goes on with a change feed, from before and beyond the split', async () => {
    const box = await filled({});
    const client = server.client();
    const container = client.database(box.database).container('c');
    const start = { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(), maxItemCount: 7 };
    const iterator = container.items.getChangeFeedIterator<Json>(start);
    const seen: unknown[] = [];
    let token = '';
    const drain = async (from: typeof iterator, until: number) => {
      for (let round = 0; round < 100 && seen.length < until; round++) {
        const page = await from.readNext();
        seen.push(...(page.result ?? []).map(({ id }) => id));
        token = page.continuationToken;
      }
    };
    await drain(iterator, 14);
    ok(await split(box), 200);
    await drain(iterator, ITEMS);
    assert.equal(new Set(seen).size, ITEMS);
    ok(await split(box), 200);
    ok(await box.create({ id: 'late', pk: 'late' }), 201);
    await drain(iterator, ITEMS + 1);
    ok(await split(box), 200);
    ok(await box.create({ id: 'later', pk: 'later' }), 201);
    const resumed = ChangeFeedStartFrom.Continuation(token);
    const another = server.client().database(box.database).container('c');
    await drain(
      another.items.getChangeFeedIterator<Json>({ changeFeedStartFrom: resumed }),
      ITEMS + 2,
    );
    assert.deepEqual(seen.slice(ITEMS), ['late', 'later']);
  });

  test('goes on with bulk, sessions and feed ranges', async () => {
    const box = await server.box();
    const client = server.client({ consistencyLevel: ConsistencyLevel.Session });
    const container = client.database(box.database).container('c');
    const creates = (from: number) =>
      Array.from({ length: 20 }, (_, index) => ({
        operationType: BulkOperationType.Create,
        resourceBody: { id: `${from + index}`, pk: `key ${from + index}` },
        partitionKey: `key ${from + index}`,
      }));
    const codes = (results: readonly { readonly response?: { readonly statusCode?: number } }[]) =>
      new Set(results.map(({ response }) => response?.statusCode));
    assert.deepEqual(
      codes(await container.items.executeBulkOperations(creates(0))),
      new Set([201]),
    );
    assert.equal((await container.getFeedRanges()).length, 1);
    ok(await split(box), 200);
    assert.deepEqual(
      codes(await container.items.executeBulkOperations(creates(20))),
      new Set([201]),
    );
    ok(await split(box), 200);
    const legacy = creates(40).map((each) => ({ ...each, partitionKey: each.partitionKey }));
    const answers = await container.items.bulk(legacy as never);
    assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([201]));
    for (const id of ['0', '20', '40', '59']) {
      assert.equal((await container.item(id, `key ${id}`).read()).statusCode, 200);
    }
    const fresh = server.client().database(box.database).container('c');
    assert.equal((await fresh.getFeedRanges()).length, 4);
  });
});

const RANGES = 'PartitionKeyRanges';

async function filled(headers: Readonly<Record<string, string>>): Promise<Box> {
  const box = await server.box({}, headers);
  const operations = Array.from({ length: ITEMS }, (_, n) => ({
    operationType: 'Create',
    partitionKey: JSON.stringify([`key ${n}`]),
    resourceBody: { id: `i${n}`, pk: `key ${n}`, n: (n * 7) % ITEMS, tags: ['x', 'y', 'z'] },
  }));
  const bulk = { 'x-ms-cosmos-is-batch-request': 'true' };
  const reply = await server.send('POST', `${box.path}/docs`, { body: operations, headers: bulk });
  ok(reply, 200);
  return box;
}

function split(box: Box, body?: unknown): Promise<Reply> {
  return server.control('POST', `${box.path.slice(1)}/split`, body);
}

/** `id parents < end` of each. */
function rangesOf(reply: Reply): readonly string[] {
  const { ranges } = ok(reply, 200).json as { readonly ranges: readonly Json[] };
  return ranges.map(({ id, parents, maxExclusive }) => `${id} ${parents} < ${maxExclusive}`);
}

async function childrenOf(box: Box, parent: string): Promise<readonly string[]> {
  const ranges = listOf(ok(await server.send('GET', `${box.path}/pkranges`), 200), RANGES);
  const children = ranges.filter(({ parents }) => (parents as string[]).includes(parent));
  return children.map(({ id }) => String(id));
}

function sorted(rows: readonly unknown[]): readonly string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}
