// User-defined functions in queries: wherever an expression may stand, in one partition and over
// all.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Box, documents, ok, type Reply, refused, serve } from './support.suite.js';

const server = await serve({ scriptTimeMs: 20_000 });
const HEADERS = {
  'content-type': 'application/query+json',
  'x-ms-documentdb-isquery': 'true',
  'x-ms-documentdb-query-enablecrosspartition': 'true',
};
const FUNCTIONS: Readonly<Record<string, string>> = {
  twice: 'function (x) { return 2 * x; }',
  kind: "function (x) { return x === null ? 'null' : Array.isArray(x) ? 'array' : typeof x; }",
  same: 'function (x) { return x; }',
  nothing: 'function () {}',
  count: 'function () { return arguments.length; }',
  isEven: 'function (n) { return n % 2 === 0; }',
  fail: "function (n) { if (n === 7) throw new Error('seven'); return n; }",
  failText: "function () { throw 'text'; }",
  infinite: 'function () { return 1 / 0; }',
  big: 'function () { return 10n; }',
  date: 'function () { return new Date(0); }',
  loop: 'function () { for (;;); }',
  label: 'function (item) { return item.id + ":" + item.n; }',
  look: 'function () { return [typeof getContext, typeof __, typeof console, typeof process]; }',
};
let box: Box;
/** The same in several ranges. */
let wide: Box;

before(async () => {
  box = await filled(await server.box());
  wide = await filled(await server.box({}, { 'x-ms-offer-throughput': '30000' }));
});

async function filled(empty: Box): Promise<Box> {
  for (const [id, body] of Object.entries(FUNCTIONS)) {
    ok(await server.send('POST', `${empty.path}/udfs`, { body: { id, body } }), 201);
  }
  for (let n = 0; n < 12; n++) {
    const more = n % 3 === 0 ? { m: null } : {};
    ok(await empty.create({ id: `i${n}`, pk: `p${n}`, n, list: [n, n + 1], ...more }), 201);
  }
  return empty;
}

function ask(query: string, headers = {}): Promise<Reply> {
  const body = { query, parameters: [{ name: '@v', value: 3 }] };
  return server.send('POST', `${box.path}/docs`, { body, headers: { ...HEADERS, ...headers } });
}

describe('where they may stand', () => {
  for (const [query, expected] of [
    ['SELECT VALUE udf.twice(c.n) FROM c WHERE c.n = 5', [10]],
    ['SELECT VALUE udf.twice(udf.twice(udf.twice(c.n))) FROM c WHERE c.n = 1', [8]],
    ['SELECT VALUE c.n FROM c WHERE udf.isEven(c.n) AND c.n > 5 ORDER BY c.n', [6, 8, 10]],
    [
      'SELECT VALUE c.n FROM c WHERE NOT udf.isEven(c.n) ORDER BY c.n DESC OFFSET 1 LIMIT 2',
      [9, 7],
    ],
    ['SELECT TOP 2 VALUE udf.twice(c.n) FROM c ORDER BY c.n DESC', [22, 20]],
    ['SELECT VALUE SUM(udf.twice(c.n)) FROM c', [132]],
    ['SELECT VALUE udf.twice(COUNT(1)) FROM c', [24]],
    ['SELECT VALUE udf.twice(MAX(c.n)) FROM c', [22]],
    [
      'SELECT udf.isEven(c.n) AS even, COUNT(1) AS n FROM c GROUP BY udf.isEven(c.n)',
      [
        { even: false, n: 6 },
        { even: true, n: 6 },
      ],
    ],
    ['SELECT DISTINCT VALUE udf.isEven(c.n) FROM c', [false, true]],
    ['SELECT VALUE udf.twice(l) FROM c JOIN l IN c.list WHERE udf.twice(l) = 4', [4, 4]],
    [
      'SELECT VALUE ARRAY(SELECT VALUE udf.twice(l) FROM l IN c.list) FROM c WHERE c.n = 1',
      [[2, 4]],
    ],
    [
      'SELECT VALUE c.n FROM c WHERE EXISTS(SELECT 1 FROM l IN c.list WHERE udf.twice(l) = 24)',
      [11],
    ],
    [
      "SELECT VALUE udf.isEven(c.n) ? 'even' : udf.twice(c.n) FROM c WHERE c.n IN (2, 3) ORDER BY c.n",
      ['even', 6],
    ],
    [
      'SELECT VALUE { a: udf.twice(c.n), b: [udf.same(c.n)] } FROM c WHERE c.n = 4',
      [{ a: 8, b: [4] }],
    ],
    ['SELECT VALUE udf.twice(@v)', [6]],
    ['SELECT udf.twice(4), udf.same("x") AS s', [{ $1: 8, s: 'x' }]],
    ['SELECT VALUE c.n FROM c WHERE c.n = udf.twice(@v)', [6]],
    ['SELECT VALUE c.n FROM c WHERE c.n IN (udf.twice(1), udf.twice(@v)) ORDER BY c.n', [2, 6]],
    ['SELECT VALUE udf.label(c) FROM c WHERE udf.same(c.id) = "i9"', ['i9:9']],
    [
      'SELECT VALUE udf.twice(x.n) FROM (SELECT c.n FROM c WHERE udf.isEven(c.n)) x WHERE x.n > 8',
      [20],
    ],
  ] as const) {
    test(query, async () => {
      assert.deepEqual(documents(ok(await ask(query), 200)), expected);
    });
  }
});

describe('values', () => {
  for (const [call, expected] of [
    ['udf.kind(c.none)', ['undefined']],
    ['udf.kind(null)', ['null']],
    ['udf.kind(c.list)', ['array']],
    ['udf.kind(c)', ['object']],
    ['udf.kind("x")', ['string']],
    ['udf.kind(true)', ['boolean']],
    ['udf.same(c.none)', []],
    ['udf.same(null)', [null]],
    ['udf.same({ a: [1, { b: null }] })', [{ a: [1, { b: null }] }]],
    ['udf.nothing(1)', []],
    ['udf.infinite()', []],
    ['udf.date()', ['1970-01-01T00:00:00.000Z']],
    ['udf.count()', [0]],
    ['udf.count(c.none, 1, c.none)', [3]],
    ['udf.count(c.none)', [1]],
    ['IS_DEFINED(udf.nothing())', [false]],
    ['udf.nothing() ?? 5', [5]],
    ['udf.same("é😀\\u0000")', ['é😀\u0000']],
    ['udf.look()', [['undefined', 'undefined', 'undefined', 'undefined']]],
  ] as const) {
    test(call, async () => {
      assert.deepEqual(
        documents(ok(await ask(`SELECT VALUE ${call} FROM c WHERE c.n = 0`), 200)),
        expected,
      );
    });
  }
});

describe('failures', () => {
  test('what is thrown fails the query, with its text and place', async () => {
    const reply = await ask('SELECT VALUE udf.fail(c.n) FROM c');
    refused(
      reply,
      400,
      0,
      'Encountered exception while executing function. Exception = Error: seven',
    );
    refused(reply, 400, 0, 'fail.js:1:');
    refused(await ask('SELECT VALUE udf.failText() FROM c'), 400, 0, 'text');
    refused(await ask('SELECT VALUE udf.big() FROM c'), 400, 0, 'TypeError');
  });

  test('a row that is not looked at cannot fail', async () => {
    const kept = ok(
      await ask('SELECT VALUE udf.fail(c.n) FROM c WHERE c.n != 7 AND udf.fail(c.n) > 9'),
      200,
    );
    assert.deepEqual(documents(kept), [10, 11]);
    const cut = ok(
      await ask('SELECT VALUE udf.fail(c.n) FROM c ORDER BY c.n', { 'x-ms-max-item-count': '3' }),
      200,
    );
    assert.deepEqual(documents(cut), [0, 1, 2]);
  });

  test('names are those of the container, exactly', async () => {
    for (const name of ['none', 'Twice', 'toString', '__proto__']) {
      const reply = await ask(`SELECT VALUE udf.${name}(1) FROM c`);
      assert.equal(reply.status, 400);
      assert.ok(reply.text.includes('is not a recognized user-defined function name'), reply.text);
    }
  });

  test('arguments that are never the same', async () => {
    refused(await ask('SELECT VALUE udf.same(RAND()) FROM c'), 400, 0, 'others each time');
  });

  test('not in the condition of a patch', async () => {
    const body = {
      operations: [{ op: 'set', path: '/x', value: 1 }],
      condition: 'FROM c WHERE udf.isEven(c.n)',
    };
    refused(await box.patch('i0', body, 'p0'), 400, 0, 'not supported');
  });

  test('a function that is gone', async () => {
    const body = { id: 'brief', body: '() => 1' };
    ok(await server.send('POST', `${box.path}/udfs`, { body }), 201);
    ok(await ask('SELECT VALUE udf.brief() FROM c'), 200);
    const changed = { id: 'brief', body: '() => 2' };
    ok(await server.send('PUT', `${box.path}/udfs/brief`, { body: changed }), 200);
    assert.deepEqual(documents(ok(await ask('SELECT VALUE udf.brief()'), 200)), [2]);
    ok(await server.send('DELETE', `${box.path}/udfs/brief`), 204);
    assert.equal((await ask('SELECT VALUE udf.brief() FROM c')).status, 400);
  });
});

describe('through the SDK', () => {
  const container = ({ database } = box) => server.client().database(database).container('c');

  test('page by page', async () => {
    const query = 'SELECT VALUE udf.twice(c.n) FROM c WHERE udf.isEven(c.n)';
    const iterator = container().items.query(query, { maxItemCount: 2 });
    const pages: unknown[][] = [];
    while (iterator.hasMoreResults()) {
      const { resources } = await iterator.fetchNext();
      if (resources?.length) pages.push(resources);
    }
    assert.deepEqual(pages.flat(), [0, 4, 8, 12, 16, 20]);
    assert.ok(pages.every((page) => page.length <= 2));
  });

  for (const [query, expected] of [
    [
      'SELECT VALUE udf.twice(c.n) FROM c WHERE udf.isEven(c.n) ORDER BY c.n DESC',
      [20, 16, 12, 8, 4, 0],
    ],
    ['SELECT VALUE SUM(udf.twice(c.n)) FROM c', [132]],
    [
      'SELECT COUNT(1) AS n, udf.isEven(c.n) AS even FROM c GROUP BY udf.isEven(c.n)',
      [
        { n: 6, even: true },
        { n: 6, even: false },
      ],
    ],
    ["SELECT DISTINCT VALUE udf.isEven(c.n) ? 'even' : 'odd' FROM c", ['even', 'odd']],
    ['SELECT TOP 2 VALUE udf.twice(c.n) FROM c ORDER BY c.n', [0, 2]],
  ] as const) {
    test(`by its plan: ${query}`, async () => {
      const options = { forceQueryPlan: true };
      const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
      for (const place of [box, wide]) {
        const { resources } = await container(place).items.query(query, options).fetchAll();
        if (query.includes('ORDER BY')) assert.deepEqual(resources, expected);
        else assert.deepEqual(sorted(resources), sorted(expected));
      }
    });
  }
});

test('an endless one is stopped, and the server serves meanwhile', async () => {
  const brief = await serve({ scriptTimeMs: 600 });
  const place = await brief.box();
  ok(await place.create({ id: 'x', pk: 'p' }), 201);
  const body = { id: 'loop', body: FUNCTIONS.loop };
  ok(await brief.send('POST', `${place.path}/udfs`, { body }), 201);
  let isOver = false;
  let served = 0;
  const query = { query: 'SELECT VALUE udf.loop() FROM c' };
  const asked = brief.send('POST', `${place.path}/docs`, { body: query, headers: HEADERS });
  const loop = asked.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    ok(await place.read('x'), 200);
    served += 1;
  }
  const reply = await loop;
  assert.equal(reply.status, 408, reply.text);
  assert.equal(reply.json.code, 'RequestTimeout');
  assert.ok(served > 5, `${served} reads while it ran`);
});
