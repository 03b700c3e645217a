// Pages of a query: all of them together are the whole, whatever their size; a continuation token
// is good in any client and after a restart; writes, limits and impatient clients in between.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Container } from '@azure/cosmos';
import {
  type Box,
  documents,
  headerOf,
  lastingStore,
  ok,
  type Server,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
const COUNT = 13;
const PAGES_MAX = 100;

interface Item {
  readonly id: string;
  readonly pk: string;
  readonly n: number;
  readonly kind: string;
  readonly tags: readonly string[];
}

const items: readonly Item[] = Array.from({ length: COUNT }, (_, index) => ({
  id: `i${String(index).padStart(2, '0')}`,
  pk: `p${index % 5}`,
  n: (index * 7) % COUNT,
  kind: `k${index % 4}`,
  tags: ['x', `t${index % 3}`].slice(0, index % 3),
}));

/** Each way a page can be made, and how many rows it has. */
const QUERIES: readonly (readonly [query: string, rows: number])[] = [
  ['SELECT * FROM c', COUNT],
  ['SELECT VALUE c.id FROM c WHERE c.n >= 4', COUNT - 4],
  ["SELECT VALUE c.id FROM c WHERE c.kind = 'k1'", 3],
  ['SELECT VALUE c.id FROM c WHERE c.n * 2 >= 8', COUNT - 4],
  ['SELECT c.id, t FROM c JOIN t IN c.tags', 12],
  ['SELECT VALUE c.id FROM c ORDER BY c.n', COUNT],
  ['SELECT VALUE c.id FROM c ORDER BY c.n DESC', COUNT],
  ['SELECT VALUE c.id FROM c WHERE c.n > 3 ORDER BY c.kind', COUNT - 4],
  ['SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags ORDER BY c.id', 12],
  ['SELECT DISTINCT VALUE c.kind FROM c', 4],
  ['SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n DESC', COUNT],
  ['SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind', 4],
  ['SELECT DISTINCT VALUE COUNT(1) FROM c GROUP BY c.kind', 2],
  ['SELECT VALUE COUNT(1) FROM c', 1],
  ['SELECT TOP 5 VALUE c.id FROM c', 5],
  ['SELECT TOP 5 VALUE c.id FROM c ORDER BY c.n', 5],
  ['SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 3 LIMIT 7', 7],
  ['SELECT VALUE c.id FROM c OFFSET 10 LIMIT 7', 3],
  ['SELECT VALUE c.id FROM c WHERE false', 0],
  ['SELECT VALUE 1', 1],
];

let box: Box;
let container: Container;

before(async () => {
  [box, container] = await fill(server);
});

describe('pages of', () => {
  for (const [query, count] of QUERIES) {
    test(query, async () => {
      const whole = await container.items.query(query).fetchAll();
      assert.equal(whole.resources.length, count);
      for (const maxItemCount of [1, 2, 7, -1]) {
        const found = await pages(query, maxItemCount);
        for (const { resources } of found) {
          assert.ok(maxItemCount === -1 || resources.length <= maxItemCount);
        }
        const most = maxItemCount === -1 ? 1 : Math.ceil(count / maxItemCount) + 1;
        assert.ok(found.length <= most, `${found.length} pages of ${maxItemCount}`);
        const rows = found.flatMap(({ resources }) => resources);
        assert.deepEqual(rows, whole.resources, `by ${maxItemCount}`);
      }
    });
  }
});

test('a page tells how much it has, and the last one has no continuation', async () => {
  const iterator = container.items.query('SELECT * FROM c', { maxItemCount: 10 });
  const first = await iterator.fetchNext();
  assert.equal(first.resources.length, 10);
  assert.equal(typeof first.continuationToken, 'string');
  assert.ok(/^[\x20-\x7e]+$/.test(first.continuationToken ?? ''));
  assert.equal(first.hasMoreResults, true);
  const last = await iterator.fetchNext();
  assert.equal(last.resources.length, 3);
  assert.equal(last.continuationToken, undefined);
  assert.equal(last.hasMoreResults, false);
});

test('without a size a page has 100 items', async () => {
  const own = await server.box();
  await Promise.all(Array.from({ length: 101 }, (_, n) => own.create({ id: `${n}`, pk: 'p' })));
  const { items: many } = client.database(own.database).container('c');
  assert.equal((await many.query('SELECT * FROM c').fetchNext()).resources.length, 100);
});

describe('a continuation token', () => {
  for (const [query, count] of QUERIES) {
    if (count < 3) continue;
    test(`goes on in a fresh client: ${query}`, async () => {
      const whole = (await container.items.query(query).fetchAll()).resources;
      const { continuationToken } = await firstPage(container, query);
      const fresh = server.client();
      const same = fresh.database(box.database).container('c');
      const rest = await same.items.query(query, { continuationToken }).fetchAll();
      assert.deepEqual(rest.resources, whole.slice(2));
      fresh.dispose();
    });
  }

  test('goes on after a restart, and may be used twice', async () => {
    const place = lastingStore();
    const one = await serve(place);
    const [, original] = await fill(one);
    const seen = new Map<string, { readonly whole: readonly unknown[]; readonly token: string }>();
    for (const [query, count] of QUERIES) {
      if (count < 3) continue;
      const whole = (await original.items.query(query).fetchAll()).resources;
      const { continuationToken } = await firstPage(original, query);
      seen.set(query, { whole, token: continuationToken });
    }
    await one.close();
    const two = await serve(place);
    const reopened = two.client().database('d1').container('c');
    for (const [query, { whole, token: continuationToken }] of seen) {
      const rest = await reopened.items.query(query, { continuationToken }).fetchAll();
      assert.deepEqual(rest.resources, whole.slice(2), query);
      const again = await reopened.items.query(query, { continuationToken }).fetchAll();
      assert.deepEqual(again.resources, whole.slice(2), query);
    }
    await two.close();
  });

  test('may be asked for another number of items', async () => {
    const query = 'SELECT VALUE c.id FROM c ORDER BY c.id';
    const { continuationToken } = await firstPage(container, query);
    const options = { continuationToken, maxItemCount: 5 };
    const { resources } = await container.items.query(query, options).fetchNext();
    assert.deepEqual(
      resources,
      items.slice(2, 7).map(({ id }) => id),
    );
  });
});

describe('the pages cost together what the whole costs', () => {
  for (const [query] of QUERIES) {
    test(query, async () => {
      const [whole] = await pages(query, -1);
      assert.ok(whole && whole.requestCharge > 0);
      for (const maxItemCount of [1, 2, 7]) {
        let sum = 0;
        for (const { requestCharge } of await pages(query, maxItemCount)) {
          assert.ok(requestCharge > 0);
          sum += requestCharge;
        }
        const ratio = sum / whole.requestCharge;
        assert.ok(ratio > 0.9 && ratio < 1.1, `${sum} by ${maxItemCount}, ${whole.requestCharge}`);
      }
    });
  }
});

test('a token is no longer than the client wants it', async () => {
  const own = await server.box();
  const count = 9;
  for (let n = 0; n < count; n++) {
    const long = `${'x'.repeat(1400)}${(n * 5) % count}`;
    ok(await own.create({ id: `${n}`, pk: `p${n % 3}`, long, tags: ['a', 'b'] }), 201);
  }
  for (const [query, rows] of [
    ['SELECT VALUE c.id FROM c ORDER BY c.long', count],
    ['SELECT VALUE c.id FROM c ORDER BY c.long DESC OFFSET 2 LIMIT 6', 6],
    ["SELECT VALUE c.id FROM c WHERE c.long > 'x' AND c.id != '3'", count - 1],
    ['SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags ORDER BY c.long', 2 * count],
    ['SELECT DISTINCT VALUE c.long FROM c ORDER BY c.long', count],
    ['SELECT c.long, COUNT(1) AS n FROM c GROUP BY c.long', count],
  ] as const) {
    const whole = await pagesBy(own, query, '1000', {});
    const short = await pagesBy(own, query, '2', { [TOKEN_LIMIT]: '1' });
    const free = await pagesBy(own, query, '2', {});
    assert.equal(whole.rows.length, rows, query);
    assert.deepEqual(short.rows, whole.rows, query);
    assert.deepEqual(free.rows, whole.rows, query);
    assert.ok(Math.max(...short.tokens) <= 1024, `${query}: ${Math.max(...short.tokens)}`);
  }
  const ordered = await pagesBy(own, 'SELECT VALUE c.id FROM c ORDER BY c.long', '2', {});
  assert.ok(Math.max(...ordered.tokens) > 1024, 'a place among long values is long');
});

const TOKEN_LIMIT = 'x-ms-documentdb-responsecontinuationtokenlimitinkb';

async function pagesBy(
  own: Box,
  query: string,
  size: string,
  more: Readonly<Record<string, string>>,
) {
  const rows: unknown[] = [];
  const tokens: number[] = [];
  let token: string | undefined;
  for (let page = 0; page < PAGES_MAX && (page === 0 || token); page++) {
    const headers = {
      ...{ 'content-type': 'application/query+json', 'x-ms-max-item-count': size, ...more },
      ...(token ? { 'x-ms-continuation': token } : {}),
    };
    const reply = ok(
      await server.send('POST', `${own.path}/docs`, { body: { query }, headers }),
      200,
    );
    rows.push(...documents(reply));
    token = headerOf(reply, 'x-ms-continuation');
    if (token) tokens.push(token.length);
  }
  return { rows, tokens };
}

// The item that goes beyond the limit is still on the page.
test('a page has at most 4 MB, and always an item', async () => {
  const own = await server.box();
  const sizes = [1.9, 1.5, 0.3, 1.9, 1.9, 0.1];
  for (const [index, size] of sizes.entries()) {
    const text = 'x'.repeat(size * 1024 * 1024);
    ok(await own.create({ id: `${index}`, pk: 'p', n: index, text }), 201);
  }
  const { items: large } = client.database(own.database).container('c');
  for (const query of [
    'SELECT * FROM c',
    'SELECT c.id, c.text FROM c',
    'SELECT * FROM c ORDER BY c.n',
    'SELECT * FROM c ORDER BY c.n DESC',
    'SELECT DISTINCT c.id, c.text FROM c',
  ]) {
    const iterator = large.query(query, { maxItemCount: 100 });
    const ids: string[] = [];
    for (let page = 0; page < PAGES_MAX && (page === 0 || iterator.hasMoreResults()); page++) {
      const { resources } = await iterator.fetchNext();
      const bytes = Buffer.byteLength(JSON.stringify(resources));
      assert.ok(bytes <= 4 * 1024 * 1024, `${bytes} bytes on a page of ${query}`);
      assert.ok(resources.length > 0, query);
      ids.push(...resources.map(({ id }: { id: string }) => id));
    }
    assert.deepEqual(ids.sort(), ['0', '1', '2', '3', '4', '5'], query);
  }
});

test('what is written between two pages neither repeats nor hides the rest', async () => {
  for (const query of [
    'SELECT VALUE c.id FROM c',
    'SELECT VALUE c.id FROM c WHERE c.n >= 0',
    'SELECT VALUE c.id FROM c WHERE c.n * 1 >= 0',
    'SELECT VALUE c.id FROM c ORDER BY c.n',
    'SELECT VALUE c.id FROM c ORDER BY c.n DESC',
    'SELECT DISTINCT VALUE c.id FROM c',
  ]) {
    const own = await server.box();
    for (let n = 0; n < 12; n++) ok(await own.create({ id: `${n}`, pk: 'p', n }), 201);
    const iterator = client
      .database(own.database)
      .container('c')
      .items.query(query, { maxItemCount: 4 });
    const seen: string[] = (await iterator.fetchNext()).resources;
    const before = new Set(seen);
    assert.equal(before.size, 4, query);
    const [gone, touched] = Array.from({ length: 12 }, (_, n) => `${n}`).filter(
      (id) => !before.has(id),
    );
    assert.ok(gone && touched);
    ok(await own.remove(gone), 204);
    ok(await own.replace({ id: touched, pk: 'p', n: Number(touched), touched: true }), 200);
    ok(await own.remove(seen[0] ?? ''), 204);
    ok(await own.create({ id: 'new', pk: 'p', n: 5.5 }), 201);
    while (iterator.hasMoreResults()) seen.push(...(await iterator.fetchNext()).resources);
    assert.equal(new Set(seen).size, seen.length, `${query} repeats: ${seen}`);
    assert.ok(!seen.includes(gone), query);
    const expected = Array.from({ length: 12 }, (_, n) => `${n}`).filter((id) => id !== gone);
    assert.deepEqual(new Set(seen.filter((id) => id !== 'new')), new Set(expected), query);
  }
});

test('a query that its client abandons disturbs no other', async () => {
  const own = await server.box();
  const numbers = Array.from({ length: 40 }, (_, n) => n);
  for (let part = 0; part < 4; part++) {
    await Promise.all(
      numbers.map((n) => own.create({ id: `${part} ${n}`, pk: `${n}`, numbers, n })),
    );
  }
  const { items: many } = client.database(own.database).container('c');
  const heavy = 'SELECT VALUE COUNT(1) FROM c JOIN a IN c.numbers JOIN b IN c.numbers WHERE a < b';
  const impatient = new AbortController();
  const abandoned = Array.from({ length: 3 }, () =>
    many.query(heavy, { abortSignal: impatient.signal }).fetchAll(),
  );
  const light = many.query('SELECT VALUE COUNT(1) FROM c').fetchAll();
  impatient.abort();
  for (const query of abandoned) await assert.rejects(query);
  assert.deepEqual((await light).resources, [160]);
  assert.deepEqual((await many.query(heavy).fetchAll()).resources, [160 * 780]);
  const other = container.items.query('SELECT VALUE COUNT(1) FROM c');
  assert.deepEqual((await other.fetchAll()).resources, [COUNT]);
});

async function fill(into: Server): Promise<[Box, Container]> {
  const made = await into.box();
  for (const item of items) ok(await made.create(item), 201);
  return [made, into.client().database(made.database).container('c')];
}

interface Page {
  readonly resources: readonly unknown[];
  readonly requestCharge: number;
}
const known = new Map<string, readonly Page[]>();

/** All pages of a query, which is asked once. */
async function pages(query: string, maxItemCount: number): Promise<readonly Page[]> {
  const name = `${maxItemCount} ${query}`;
  const found: Page[] = [...(known.get(name) ?? [])];
  if (found.length > 0) return found;
  const iterator = container.items.query(query, { maxItemCount });
  do found.push(await iterator.fetchNext());
  while (iterator.hasMoreResults() && found.length < PAGES_MAX);
  known.set(name, found);
  return found;
}

async function firstPage(from: Container, query: string) {
  const page = await from.items.query(query, { maxItemCount: 2 }).fetchNext();
  assert.equal(page.resources.length, 2);
  const { continuationToken } = page;
  assert.ok(continuationToken !== undefined, query);
  return { continuationToken };
}
