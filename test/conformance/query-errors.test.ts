// Queries that are refused: every error is a 400 that says what is wrong and where in the text; the
// limits of the language; and continuation tokens that continue something else.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  type Box,
  documents,
  type Headers,
  headerOf,
  type Json,
  keyHeader,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
const HEADERS = { 'content-type': 'application/query+json', 'x-ms-documentdb-isquery': 'true' };
let box: Box;

before(async () => {
  box = await server.box();
  for (let n = 0; n < 5; n++) ok(await box.create({ id: `${n}`, pk: 'p', n, a: [n] }), 201);
});

type Row = readonly [query: string, code: string, marked: string, message: string];

/** The marked part of the text is where the error is; nothing marks the end. */
// biome-ignore format: a table is read in columns
const refusals: Readonly<Record<string, readonly Row[]>> = {
  syntax: [
    ['SELECT FROM c', 'SC1001', 'FROM', "Syntax error, incorrect syntax near 'FROM'."],
    ['SELECT * FROM c WHERE', 'SC1001', '', 'Syntax error, incorrect syntax near'],
    ['', 'SC1001', '', 'Syntax error'],
    ['SELECT * FROM c WHERE c.a = = 1', 'SC1001', '= 1', "near '='"],
    ['SELECT * FROM c WHERE (c.a = 1', 'SC1001', '', 'Syntax error'],
    ['SELECT VALUE {a: 1 FROM c', 'SC1001', 'FROM', "near 'FROM'"],
    ['DELETE FROM c', 'SC1001', 'DELETE', "near 'DELETE'"],
    ['SELECT 1; SELECT 2', 'SC1001', 'SELECT 2', "near 'SELECT'"],
    ['SELECT VALUE TRUE', '', 'TRUE', "'TRUE'"],
    ['SELECT TOP -1 * FROM c', 'SC1001', '-1', "near '-'"],
    ['SELECT TOP 1.5 * FROM c', 'SC1001', '1.5', "near '1.5'"],
    ['SELECT * FROM c OFFSET -1 LIMIT 1', 'SC1001', '-1', "near '-'"],
    ['SELECT * FROM c OFFSET 1', 'SC1001', '', 'Syntax error'],
    ['SELECT * FROM c LIMIT 1', 'SC1001', 'LIMIT', "near 'LIMIT'"],
    ['SELECT TOP 1 * FROM c OFFSET 1 LIMIT 1', 'SC1001', 'OFFSET', 'TOP and OFFSET'],
    ["SELECT VALUE 'a' LIKE 'a' ESCAPE 'xy'", 'SC1001', "'xy'", "near ''xy''"],
    ["SELECT VALUE 'open", 'SC1010', "'open", 'Syntax error, invalid string literal token'],
    ['SELECT VALUE c.a # 1 FROM c', 'SC1010', '#', "'#'"],
  ],
  names: [
    ['SELECT VALUE x.a FROM c', 'SC2001', 'x', "Identifier 'x' could not be resolved."],
    ['SELECT VALUE c.a FROM c AS x', 'SC2001', 'c.a', "Identifier 'c' could not be resolved."],
    ['SELECT * FROM c WHERE a = 1', 'SC2001', 'a =', "Identifier 'a' could not be resolved."],
    ['SELECT VALUE a FROM c JOIN a IN x.a', 'SC2001', 'x.a',
      "Identifier 'x' could not be resolved."],
    ['SELECT VALUE c.a', 'SC2001', 'c.a', "Identifier 'c' could not be resolved."],
    ['SELECT c.n, c.a AS n FROM c', '', '', 'duplicate'],
    ['SELECT VALUE 1 FROM c JOIN c IN c.a', '', '', "'c'"],
    ['SELECT VALUE c.n FROM c WHERE c.n = @n', '', '@n', "'@n'"],
    ['SELECT TOP @n * FROM c', '', '@n', "'@n'"],
  ],
  functions: [
    ['SELECT VALUE NOPE(1) FROM c', 'SC2005', 'NOPE(1)',
      "'NOPE' is not a recognized built-in function name."],
    ['SELECT VALUE 1 + LENGTH() FROM c', 'SC2050', 'LENGTH()', 'LENGTH'],
    ['SELECT VALUE SUM(COUNT(1)) FROM c', 'SC2101', 'COUNT(1)', 'nested'],
    ['SELECT VALUE COUNT() FROM c', 'SC2050', 'COUNT()', 'COUNT'],
    ['SELECT VALUE SUM(c.n, c.n) FROM c', 'SC2050', 'SUM(c.n, c.n)', 'SUM'],
    ['SELECT VALUE c.n FROM c WHERE COUNT(1) > 1', '', 'COUNT(1)', 'COUNT'],
  ],
  clauses: [
    ['SELECT c.n, COUNT(1) FROM c', 'SC2040', 'c.n, COUNT(1)', 'GROUP BY'],
    ['SELECT c.n, COUNT(1) FROM c GROUP BY c.a', 'SC2040', 'c.n, COUNT(1)', 'GROUP BY'],
    ['SELECT * FROM c GROUP BY c.n', 'SC2041', '*', "'SELECT *' is not allowed with GROUP BY."],
    ['SELECT * FROM c JOIN a IN c.a', '', '*', "'SELECT *'"],
    ['SELECT *', '', '*', "'SELECT *'"],
    ['SELECT c.n, COUNT(1) FROM c GROUP BY c.n ORDER BY c.n', '', '', 'ORDER BY'],
    ['SELECT * FROM c ORDER BY c.n + 1', '2206', 'c.n + 1',
      'Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.'],
    ['SELECT * FROM c ORDER BY LOWER(c.n)', '2206', 'LOWER(c.n)', 'Unsupported ORDER BY clause.'],
    ['SELECT * FROM c ORDER BY 1', '2206', '1', 'Unsupported ORDER BY clause.'],
    ['SELECT * FROM c ORDER BY c', '2206', 'c', 'Unsupported ORDER BY clause.'],
    ['SELECT TOP 2147483648 * FROM c', 'SC2060', '2147483648', 'TOP'],
    ['SELECT * FROM c OFFSET 0 LIMIT 2147483648', 'SC2061', '2147483648', 'LIMIT'],
    ['SELECT * FROM c OFFSET 2147483648 LIMIT 1', 'SC2062', '2147483648', 'OFFSET'],
  ],
};

for (const [title, rows] of Object.entries(refusals)) {
  describe(title, () => {
    for (const [query, code, marked, text] of rows) {
      test(`${code || 'refused'}: ${query}`, async () => {
        const error = errorIn(await ask(query));
        assert.equal(error.severity, 'Error');
        if (code !== '') assert.equal(error.code, code);
        assert.ok(error.message.includes(text), error.message);
        const { start, end } = error.location;
        assert.ok(start >= 0 && start <= end && end <= query.length, `${start} to ${end}`);
        if (marked === '') return;
        // The last occurrence, as names stand at their declaration first.
        const at = query.lastIndexOf(marked);
        assert.equal(start, at < 0 ? query.length : at, `marks ${query.slice(start, end)}`);
      });
    }
  });
}

test('the whole error, as it goes over the wire', async () => {
  const reply = await ask('SELECT FROM c', [], { 'x-ms-cosmos-correlated-activityid': 'cafe' });
  refused(reply, 400, 0);
  const message = String(reply.json.message);
  const json =
    '{"errors":[{"severity":"Error","location":{"start":7,"end":11},"code":"SC1001",' +
    `"message":"Syntax error, incorrect syntax near 'FROM'."}]}`;
  assert.ok(message.includes(`Message: ${json}\r\nActivityId: `), message);
  assert.ok(message.includes(String(reply.headers['x-ms-activity-id'])), message);
  assert.ok(Number(reply.headers['x-ms-request-charge']) > 0);
  assert.equal(reply.headers['x-ms-cosmos-correlated-activityid'], 'cafe');
});

test('the SDK tells the error of a query, whole and by pages', async () => {
  const { items } = client.database(box.database).container('c');
  const expected = (error: { code: number; body: { code: string; message: string } }) =>
    error.code === 400 &&
    error.body.code === 'BadRequest' &&
    error.body.message.includes('"code":"SC2001"');
  await assert.rejects(items.query('SELECT VALUE x FROM c').fetchAll(), expected);
  await assert.rejects(items.query('SELECT VALUE x FROM c').fetchNext(), expected);
  const options = { partitionKey: 'p', forceQueryPlan: true };
  await assert.rejects(items.query('SELECT VALUE x FROM c', options).fetchAll(), expected);
});

test('counts out of range are refused in parameters too', async () => {
  for (const [clause, code] of [
    ['SELECT TOP @n * FROM c', 'SC2060'],
    ['SELECT * FROM c OFFSET 0 LIMIT @n', 'SC2061'],
    ['SELECT * FROM c OFFSET @n LIMIT 1', 'SC2062'],
  ] as const) {
    for (const value of [-1, 1.5, 2_147_483_648, '1', null, true]) {
      const reply = await ask(clause, [{ name: '@n', value }]);
      assert.equal(errorIn(reply).code, code, `${clause} with ${value}`);
    }
    ok(await ask(clause, [{ name: '@n', value: 2_147_483_647 }]), 200);
  }
});

test('functions that the container does not have', async () => {
  for (const [query, name] of [
    ['SELECT VALUE udf.tax(c.n) FROM c', "'udf.tax'"],
    ['SELECT * FROM c WHERE udf.isGood(c)', "'udf.isGood'"],
  ] as const) {
    const { code, message } = errorIn(await ask(query));
    assert.equal(code, 'SC2005');
    assert.equal(message, `${name} is not a recognized user-defined function name.`);
  }
});

describe('limits', () => {
  test('the text has at most 512 KB', async () => {
    const padded = (length: number) => 'SELECT VALUE 1'.padEnd(length);
    ok(await ask(padded(524_288)), 200);
    refused(await ask(padded(524_289)), 400, 0);
  });

  test('10 JOINs', async () => {
    const joins = (count: number) => {
      const each = Array.from({ length: count }, (_, n) => `JOIN j${n} IN c.a`);
      return `SELECT VALUE 1 FROM c ${each.join(' ')}`;
    };
    assert.equal(documents(ok(await ask(joins(10)), 200)).length, 5);
    assert.ok(errorIn(await ask(joins(11))).message.includes('10 JOINs'));
  });

  test('10 user-defined functions', async () => {
    const sum = (count: number) => new Array(count).fill('udf.f(1)').join(' + ');
    assert.equal(errorIn(await ask(`SELECT VALUE ${sum(10)} FROM c`)).code, 'SC2005');
    assert.ok(errorIn(await ask(`SELECT VALUE ${sum(11)} FROM c`)).message.includes('10'));
  });

  test('16000 items of IN', async () => {
    const list = (count: number) =>
      `SELECT VALUE c.id FROM c WHERE c.n IN (${Array.from({ length: count }, (_, n) => n + 3)})`;
    const found = documents(ok(await ask(list(16_000)), 200)) as readonly unknown[];
    assert.deepEqual(found, ['3', '4']);
    assert.ok(errorIn(await ask(list(16_001))).message.includes('16000'));
  });

  test('expressions are nested, but not without end', async () => {
    const nested = (depth: number) => `SELECT VALUE ${'('.repeat(depth)}1${')'.repeat(depth)}`;
    ok(await ask(nested(100)), 200);
    assert.equal(errorIn(await ask(nested(100_000))).code, 'SC1001');
  });
});

describe('bodies', () => {
  for (const [what, body] of [
    ['no JSON', 'SELECT * FROM c'],
    ['nothing', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['no query', '{}'],
    ['a query that is no text', '{"query":1}'],
    ['parameters that are no list', '{"query":"SELECT 1","parameters":{}}'],
    ['a parameter without a name', '{"query":"SELECT 1","parameters":[{"value":1}]}'],
    ['a parameter without @', '{"query":"SELECT 1","parameters":[{"name":"n","value":1}]}'],
    ['a parameter that is null', '{"query":"SELECT 1","parameters":[null]}'],
  ] as const) {
    test(`${what} is 400`, async () => {
      refused(await server.send('POST', `${box.path}/docs`, { body, headers: HEADERS }), 400, 0);
    });
  }

  test('no parameters, null, and more than the query takes', async () => {
    for (const parameters of [undefined, null, [], [{ name: '@x', value: { a: [] } }]]) {
      assert.deepEqual(documents(ok(await ask('SELECT VALUE 1', parameters), 200)), [1]);
    }
  });
});

describe('pages', () => {
  const INVALID = 'Invalid Continuation Token';
  const QUERY = 'SELECT * FROM c WHERE c.n >= @n';
  const PARAMETERS = [{ name: '@n', value: 0 }];
  const SPEC = { query: QUERY, parameters: PARAMETERS };

  test('junk is no continuation token', async () => {
    const token = await tokenOf(box, QUERY);
    const junk = [
      'junk',
      '!',
      'AQ',
      '{"token":"+RID:~x#RT:1","range":{"min":"","max":"FF"}}',
      token.slice(0, -2),
      `${token}AA`,
      token.slice(4),
      `${token.slice(0, 2)}${token.charAt(2) === 'A' ? 'B' : 'A'}${token.slice(3)}`,
      token.toLowerCase() === token ? token.toUpperCase() : token.toLowerCase(),
      'A'.repeat(4000),
    ];
    for (const value of junk) {
      const reply = await ask(QUERY, PARAMETERS, { 'x-ms-continuation': value });
      refused(reply, 400, 0, INVALID);
    }
    const { items } = client.database(box.database).container('c');
    await assert.rejects(
      items.query(SPEC, { continuationToken: 'junk', partitionKey: 'p' }).fetchNext(),
      (error: { code: number; body: { message: string } }) =>
        error.code === 400 && error.body.message.includes(INVALID),
    );
  });

  test('a token continues the same query over the same items only', async () => {
    const token = { 'x-ms-continuation': await tokenOf(box, QUERY) };
    assert.equal(documents(ok(await ask(QUERY, PARAMETERS, token), 200)).length, 3);
    const other = await server.box();
    const foreign: readonly Reply[] = [
      await ask(QUERY.replace('*', 'c.id'), PARAMETERS, token),
      await ask(QUERY, [{ name: '@n', value: 1 }], token),
      await ask(QUERY, PARAMETERS, { ...token, ...keyHeader('p') }),
      await ask(QUERY, PARAMETERS, { ...token, ...keyHeader('q') }),
      await ask(QUERY, PARAMETERS, token, other),
      await box.list(token),
      await server.send('POST', '/dbs', {
        body: SPEC,
        headers: { ...HEADERS, ...token },
      }),
    ];
    for (const reply of foreign) refused(reply, 400, 0, INVALID);
  });

  test('a token of a deleted container does not continue in its successor', async () => {
    const old = await server.box();
    for (let n = 0; n < 3; n++) ok(await old.create({ id: `${n}`, pk: 'p', n }), 201);
    const token = { 'x-ms-continuation': await tokenOf(old, QUERY) };
    ok(await server.send('DELETE', old.path), 204);
    const body = old.definition;
    ok(await server.send('POST', `/dbs/${old.database}/colls`, { body }), 201);
    refused(await ask(QUERY, PARAMETERS, token, old), 400, 0, INVALID);
  });

  test('a page has 1 item, more, or -1 for any number', async () => {
    for (const value of ['0', '-2', 'x', '1.5', '2147483648']) {
      const reply = await ask('SELECT * FROM c', [], { 'x-ms-max-item-count': value });
      refused(reply, 400, 0, `The input PageSize ${value} is invalid.`);
    }
  });

  async function tokenOf(from: Box, query: string): Promise<string> {
    const page = ok(await ask(query, PARAMETERS, { 'x-ms-max-item-count': '2' }, from), 200);
    assert.equal(documents(page).length, 2);
    const token = headerOf(page, 'x-ms-continuation');
    assert.ok(token);
    return token;
  }
});

describe('indexing', () => {
  const excluded = {
    indexingPolicy: { includedPaths: [{ path: '/*' }], excludedPaths: [{ path: '/n/?' }] },
  };

  test('ORDER BY needs an index, and WHERE does not', async () => {
    const own = await server.box(excluded);
    ok(await own.create({ id: '1', pk: 'p', n: 1, m: 1 }), 201);
    const reply = await ask('SELECT * FROM c ORDER BY c.n', [], {}, own);
    refused(
      reply,
      400,
      0,
      'The index path corresponding to the specified order-by item is excluded',
    );
    for (const query of [
      'SELECT * FROM c WHERE c.n = 1',
      'SELECT * FROM c WHERE c.n > 0 ORDER BY c.m',
    ]) {
      assert.equal(documents(ok(await ask(query, [], {}, own), 200)).length, 1, query);
    }
  });

  test('ORDER BY by several properties needs a composite index', async () => {
    const text =
      'The order by query does not have a corresponding composite index that it can be served from.';
    refused(await ask('SELECT * FROM c ORDER BY c.n, c.m'), 400, 0, text);
  });

  test('without any index queries scan, and only ORDER BY is refused', async () => {
    const own = await server.box({ indexingPolicy: { indexingMode: 'none' } });
    for (let n = 0; n < 3; n++) ok(await own.create({ id: `${n}`, pk: `${n}`, n }), 201);
    for (const [query, expected] of [
      ['SELECT VALUE c.n FROM c WHERE c.n >= 1', [1, 2]],
      ["SELECT VALUE c.n FROM c WHERE c.id = '2'", [2]],
      ['SELECT VALUE COUNT(1) FROM c', [3]],
      ['SELECT DISTINCT VALUE c.n > 0 FROM c', [false, true]],
      ['SELECT VALUE COUNT(1) FROM c GROUP BY c.n', [1, 1, 1]],
    ] as const) {
      const { items } = client.database(own.database).container('c');
      const { resources } = await items.query(query).fetchAll();
      assert.deepEqual([...resources].sort(), expected, query);
    }
    refused(await ask('SELECT * FROM c ORDER BY c.n', [], {}, own), 400, 0, 'excluded');
  });
});

interface QueryError {
  readonly severity: string;
  readonly location: { readonly start: number; readonly end: number };
  readonly code: string;
  readonly message: string;
}

function ask(
  query: string,
  parameters: unknown = [],
  headers: Headers = {},
  from: Box = box,
): Promise<Reply> {
  const body: Json = { query, parameters };
  return server.send('POST', `${from.path}/docs`, { body, headers: { ...HEADERS, ...headers } });
}

function errorIn(reply: Reply): QueryError {
  refused(reply, 400, 0);
  const json = /Message: (\{.*\})\r\nActivityId: /s.exec(String(reply.json.message))?.[1];
  assert.ok(json, reply.text);
  const { errors } = JSON.parse(json) as { readonly errors: readonly QueryError[] };
  const [error] = errors;
  assert.ok(error && errors.length === 1, reply.text);
  return error;
}
