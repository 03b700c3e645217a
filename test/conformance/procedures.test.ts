// Stored procedures: what they find, what they write and what they answer, by the SDK and on the
// wire.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Box, type Json, keyHeader, ok, type Reply, refused, serve } from './support.suite.js';

const server = await serve({ scriptTimeMs: 20_000 });
const client = server.client();
let count = 0;

/** Stores a body and runs it. */
async function run(
  box: Box,
  body: string,
  args: readonly unknown[] = [],
  headers: Json = {},
): Promise<Reply> {
  count += 1;
  const path = `${box.path}/sprocs`;
  ok(await server.send('POST', path, { body: { id: `s${count}`, body } }), 201);
  const all = { ...keyHeader('p'), ...headers };
  return server.send('POST', `${path}/s${count}`, { body: args, headers: all as never });
}

/** What it answers, as JSON of any kind. */
async function answer(box: Box, body: string, args: readonly unknown[] = []): Promise<unknown> {
  const { text } = ok(await run(box, body, args), 200);
  return text === '' ? undefined : JSON.parse(text);
}

const items = async (box: Box, n: number) => {
  for (let id = 0; id < n; id++) ok(await box.create({ id: String(id), pk: 'p', n: id }), 201);
};

describe('answers', () => {
  for (const [what, body, args, expected] of [
    [
      'an object',
      'function (a, b) { getContext().getResponse().setBody({ a, b }); }',
      [1, 'x'],
      { a: 1, b: 'x' },
    ],
    ['a text', "function () { getContext().getResponse().setBody('hello'); }", [], 'hello'],
    ['a number', 'function () { __.response.setBody(999); }', [], 999],
    ['null', 'function () { __.response.setBody(null); }', [], null],
    ['nothing', 'function () { return 5; }', [], undefined],
    [
      'piece by piece',
      "function () { for (let i = 0; i < 4; i++) __.response.appendValue('Body', i); }",
      [],
      '0123',
    ],
    [
      'what was set before',
      'function () { const r = __.response; r.setBody([1]); r.getBody().push(2); }',
      [],
      [1, 2],
    ],
    [
      'arguments that are missing',
      'function (a, b) { __.response.setBody([typeof a, typeof b]); }',
      [1],
      ['number', 'undefined'],
    ],
    [
      'nested arguments',
      'function (a) { __.response.setBody(a.b[1]); }',
      [{ b: [1, { c: 2 }] }],
      { c: 2 },
    ],
    ['other letters', 'function (a) { __.response.setBody(a + "ß树"); }', ['é😀'], 'é😀ß树'],
  ] as const) {
    test(what, async () => {
      const box = await server.box();
      assert.deepEqual(await answer(box, body, args), expected);
    });
  }

  test('the SDK shows them', async () => {
    const box = await server.box();
    const { scripts } = client.database(box.database).container('c');
    const body = (name: string) => {
      // @ts-expect-error: this is a global of the sandbox
      const context = getContext();
      // biome-ignore lint/suspicious/noConsole: it is the console of the sandbox
      console.log('called with', name);
      context.getResponse().setBody(`hello ${name}`);
    };
    await scripts.storedProcedures.create({ id: 's', body });
    const procedure = scripts.storedProcedure('s');
    const quiet = await procedure.execute('p', ['you']);
    assert.equal(quiet.resource, 'hello you');
    assert.equal(quiet.headers['x-ms-documentdb-script-log-results'], undefined);
    const loud = await procedure.execute('p', ['you'], { enableScriptLogging: true });
    const log = String(loud.headers['x-ms-documentdb-script-log-results']);
    assert.equal(decodeURIComponent(log), 'called with you');
    assert.ok(loud.requestCharge >= 1);
    assert.equal((await procedure.execute('p')).resource, 'hello undefined');
  });

  test('headers: place, session, charge, and those it sets', async () => {
    const box = await server.box();
    const body = "function () { __.response.setValue('x-mine', 'yes'); }";
    const reply = ok(await run(box, body), 200);
    assert.equal(reply.headers['x-mine'], 'yes');
    assert.match(String(reply.headers['x-ms-session-token']), /^0:-1#\d+$/);
    assert.equal(reply.headers['x-ms-alt-content-path'], box.path.slice(1));
    const own = "function () { __.response.setValue('x-ms-session-token', 'no'); }";
    refused(await run(box, own), 400, 400, "'x-ms-session-token' cannot be set");
  });

  test('what is printed is cut where a header ends', async () => {
    const box = await server.box();
    const body = "function () { for (let i = 0; i < 9000; i++) console.log('x'); }";
    const headers = { 'x-ms-documentdb-script-enable-logging': 'true' };
    const reply = ok(await run(box, body, [], headers), 200);
    const log = decodeURIComponent(String(reply.headers['x-ms-documentdb-script-log-results']));
    assert.match(log, /^(x\n)+x?…$/);
    assert.ok(log.length > 4000);
  });
});

describe('documents', () => {
  test('made, read, replaced, upserted, patched and deleted, each seen by the next', async () => {
    const box = await server.box();
    const body = `function () {
      const steps = [];
      const fail = (error) => { if (error) throw error; };
      const self = __.getSelfLink();
      __.createDocument(self, { id: 'a', pk: 'p', n: 1 }, (error, made) => {
        fail(error); steps.push(made.n);
        __.readDocument(made._self, (error, read) => {
          fail(error); steps.push(read._etag === made._etag);
          const etag = read._etag;
          __.replaceDocument(made._self, { ...read, n: 2 }, { etag }, (error, replaced) => {
            fail(error);
            steps.push(replaced.n, replaced._etag !== etag, replaced._rid === read._rid);
            __.upsertDocument(self, { id: 'a', pk: 'p', n: 3 }, (error, upserted) => {
              fail(error); steps.push(upserted.n);
              __.patchDocument(__.getAltLink() + '/docs/a', { operations: [{ op: 'incr', path: '/n', value: 4 }] }, (error, patched) => {
                fail(error); steps.push(patched.n);
                __.createDocument(self, { id: 'b', pk: 'p' }, (error, other) => {
                  fail(error);
                  __.deleteDocument(other._self, {}, (error) => {
                    fail(error);
                    __.readDocument(other._self, (error) => {
                      steps.push(error.number);
                      __.response.setBody(steps);
                    });
                  });
                });
              });
            });
          });
        });
      });
    }`;
    assert.deepEqual(await answer(box, body), [1, true, 2, true, true, 3, 7, 404]);
    assert.deepEqual(await box.ids(), ['a']);
    assert.equal((await box.read('a')).json.n, 7);
  });

  for (const [what, call, number] of [
    ['an id that is taken', "createDocument(__.getSelfLink(), { id: '0', pk: 'p' }", 409],
    ['none to read', "readDocument(__.getAltLink() + '/docs/none'", 404],
    [
      'none to replace',
      "replaceDocument(__.getAltLink() + '/docs/none', { id: 'none', pk: 'p' }",
      404,
    ],
    ['none to delete', "deleteDocument(__.getAltLink() + '/docs/none'", 404],
    [
      'another etag',
      "replaceDocument(__.getAltLink() + '/docs/0', { id: '0', pk: 'p' }, { etag: '\"x\"' }",
      412,
    ],
    ['an etag to delete', "deleteDocument(__.getAltLink() + '/docs/0', { etag: '\"x\"' }", 412],
    ['another partition', "createDocument(__.getSelfLink(), { id: 'x', pk: 'q' }", 400],
    ['no partition', "createDocument(__.getSelfLink(), { id: 'x' }", 400],
    ['an id that is none', "createDocument(__.getSelfLink(), { id: 5, pk: 'p' }", 400],
    [
      'no id on purpose',
      "createDocument(__.getSelfLink(), { pk: 'p' }, { disableAutomaticIdGeneration: true }",
      400,
    ],
    ['another id', "replaceDocument(__.getAltLink() + '/docs/0', { id: '1', pk: 'p' }", 400],
    ['another collection', "createDocument('dbs/x/colls/y', { id: 'x', pk: 'p' }", 400],
    ['a link to nothing', "readDocument('dbs/x'", 400],
    ['no SQL', "queryDocuments(__.getSelfLink(), 'SELEC'", 400],
    ['a page of none', "queryDocuments(__.getSelfLink(), 'SELECT * FROM c', { pageSize: 0 }", 400],
    [
      'a place to go on that is none',
      "queryDocuments(__.getSelfLink(), 'SELECT * FROM c', { continuation: 'x' }",
      400,
    ],
    [
      'a trigger inside',
      "createDocument(__.getSelfLink(), { pk: 'p' }, { preTriggerInclude: ['t'] }",
      400,
    ],
    [
      'an index action',
      "createDocument(__.getSelfLink(), { pk: 'p' }, { indexAction: 'exclude' }",
      400,
    ],
    [
      'one that was not changed',
      "readDocument(__.getAltLink() + '/docs/0', { ifNoneMatch: etag }",
      304,
    ],
    [
      'one too large',
      "createDocument(__.getSelfLink(), { id: 'x', pk: 'p', x: 'x'.repeat(2100000) }",
      413,
    ],
  ] as const) {
    test(`${what}: ${number} is told, and the script goes on`, async () => {
      const box = await server.box();
      await items(box, 2);
      const { _etag } = (await box.read('0')).json;
      const body = `function (etag) {
        __.${call}, (error, value) =>
          __.response.setBody([error.number, error.body.length > 0, value]));
      }`;
      assert.deepEqual(await answer(box, body, [_etag]), [number, true, null]);
    });
  }

  test('another number is not that of another partition', async () => {
    const box = await server.box();
    const { json } = ok(await box.create({ id: 'q', pk: 'q' }), 201);
    const body = 'function (link) { __.readDocument(link, (e) => __.response.setBody(e.number)); }';
    assert.equal(await answer(box, body, [json._self]), 404);
    const byName =
      '() => __.readDocument(__.getAltLink() + "/docs/q", (e) => __.response.setBody(e.number))';
    assert.equal(await answer(box, byName), 404);
  });

  test('what was answered is what is stored, ids and links included', async () => {
    const box = await server.box();
    const body = `function () {
      __.createDocument(__.getSelfLink(), { pk: 'p' }, (e, first) => {
        __.createDocument(__.getSelfLink(), { id: 'second', pk: 'p', of: first._self, rid: first._rid }, (e, second) => {
          __.replaceDocument(first._self, { ...first, next: second._rid }, (e, first) => {
            __.response.setBody([first, second]);
          });
        });
      });
    }`;
    const [first, second] = (await answer(box, body)) as [Json, Json];
    assert.match(String(first.id), /^[0-9a-f-]{36}$/);
    assert.deepEqual((await box.read(String(first.id))).json, first);
    assert.deepEqual((await box.read('second')).json, second);
    assert.equal(second.of, first._self);
    assert.equal(first.next, second._rid);
    const link = String(first._rid).toLowerCase();
    const self = `/${String(first._self)}`.replace(/\/$/, '');
    ok(await server.send('GET', self, { link, headers: keyHeader('p') }), 200);
  });

  test('numbers keep their digits', async () => {
    const box = await server.box();
    await answer(
      box,
      "() => __.createDocument(__.getSelfLink(), { id: 'x', pk: 'p', n: 0.1, m: 1e21 })",
    );
    const { json } = await box.read('x');
    assert.deepEqual([json.n, json.m], [0.1, 1e21]);
  });
});

describe('all or nothing', () => {
  const MAKE = "__.createDocument(__.getSelfLink(), { id: 'x', pk: 'p' }";
  for (const [what, body, subStatus, says] of [
    [
      'an error in a callback',
      `function () { ${MAKE}, () => { throw new Error('undone'); }); }`,
      0,
      'Error: undone',
    ],
    [
      'an error at once',
      `function () { ${MAKE}); throw new Error('undone'); }`,
      0,
      'Error: undone',
    ],
    [
      'an error with a number',
      `function () { ${MAKE}); throw new Error(409, 'undone'); }`,
      409,
      'Error: undone',
    ],
    [
      'an error by its code',
      `function () { ${MAKE}); throw new Error(ErrorCodes.NotFound, 'undone'); }`,
      404,
      'undone',
    ],
    [
      'abort',
      `function () { ${MAKE}, () => getContext().abort(new Error('undone'))); }`,
      0,
      'undone',
    ],
    [
      'a refusal that is thrown',
      `function () { ${MAKE}, () => { ${MAKE}, (e) => { throw e; }); }); }`,
      409,
      'already exists',
    ],
    ['a refusal that nobody hears', `function () { ${MAKE}); ${MAKE}); }`, 409, 'already exists'],
    [
      'a rejected promise',
      `async function () { ${MAKE}); await 1; throw new Error('undone'); }`,
      0,
      'undone',
    ],
    ['a text that is thrown', `function () { ${MAKE}); throw 'undone'; }`, 0, 'Exception = undone'],
    ['a mistake', `function () { ${MAKE}, (e, d) => d.none.of()); }`, 0, 'TypeError'],
  ] as const) {
    test(what, async () => {
      const box = await server.box();
      const reply = await run(box, body);
      refused(reply, 400, subStatus, says);
      refused(reply, 400, subStatus, 'Encountered exception while executing function.');
      assert.deepEqual(await box.ids(), []);
    });
  }

  test('the message has the stack, with lines and columns of the body', async () => {
    const box = await server.box();
    const reply = await run(
      box,
      "function main() {\n  function inner() { throw new Error('x'); }\n  inner();\n}",
    );
    refused(reply, 400, 0, 'Stack trace: Error: x\n    at inner (');
    assert.match(reply.text, /at inner \(s\d+\.js:2:\d+\)\\\\n {4}at main \(s\d+\.js:3:\d+\)/);
  });

  test('many at once have one LSN, and the change feed shows them together', async () => {
    const box = await server.box();
    const body = `function () {
      for (let i = 0; i < 50; i++) __.createDocument(__.getSelfLink(), { id: 'i' + i, pk: 'p' });
    }`;
    const before = Number((await box.create({ id: 'first', pk: 'p' })).headers.lsn);
    const reply = ok(await run(box, body), 200);
    assert.equal(Number(reply.headers.lsn), before + 1);
    const headers = { 'a-im': 'Incremental feed', 'if-none-match': `"${before}"` };
    const feed = ok(await box.list(headers), 200);
    const lsns = new Set((feed.json.Documents as Json[]).map(({ _lsn }) => _lsn));
    assert.deepEqual([...lsns], [before + 1]);
    assert.equal(feed.json._count, 50);
  });

  test('unique keys: the clash is told where it is made', async () => {
    const box = await server.box({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/u'] }] } });
    ok(await box.create({ id: '0', pk: 'p', u: 'taken' }), 201);
    const body = `function () {
      const told = [];
      const make = (id, u, then) => __.createDocument(__.getSelfLink(), { id, pk: 'p', u }, (e) => { told.push(e ? e.number : 0); then(); });
      make('1', 'taken', () => make('2', 'new', () => make('3', 'new', () =>
        __.deleteDocument(__.getAltLink() + '/docs/0', () => make('4', 'taken', () => __.response.setBody(told))))));
    }`;
    assert.deepEqual(await answer(box, body), [409, 0, 409, 0]);
    assert.deepEqual([...(await box.ids())].sort(), ['2', '4']);
  });
});

describe('time to live', () => {
  test('T4, T10: what expired is not there, and a write begins its life anew', async () => {
    const box = await server.box({ defaultTtl: 10 });
    ok(await box.create({ id: 'old', pk: 'p' }), 201);
    server.clock.advance(10_000);
    const body = `function () {
      __.readDocument(__.getAltLink() + '/docs/old', (gone) =>
        __.queryDocuments(__.getSelfLink(), 'SELECT VALUE COUNT(1) FROM c', (e, counted) =>
          __.createDocument(__.getSelfLink(), { id: 'old', pk: 'p', ttl: 2 }, (e, made) =>
            __.response.setBody([gone.number, counted, made._ts, Math.floor(Date.now() / 1000) - made._ts]))));
    }`;
    const now = Math.floor(server.clock.now() / 1000);
    assert.deepEqual(await answer(box, body), [404, [0], now, 0]);
    server.clock.advance(2000 - (server.clock.now() % 1000) - 1);
    ok(await box.read('old'), 200);
    server.clock.advance(1);
    refused(await box.read('old'), 404, 0);
  });

  test('T20: a ttl that is none is a 400 for the script, too', async () => {
    const box = await server.box({ defaultTtl: -1 });
    const body = `function (ttl) {
      __.createDocument(__.getSelfLink(), { id: 'x', pk: 'p', ttl }, (e) => __.response.setBody(e ? e.number : 201));
    }`;
    for (const ttl of [0, -2, 1.5, null, '5']) assert.equal(await answer(box, body, [ttl]), 400);
    assert.equal(await answer(box, body, [-1]), 201);
  });
});

test('a hierarchical key', async () => {
  const box = await server.box({
    partitionKey: { paths: ['/t', '/u'], kind: 'MultiHash', version: 2 },
  });
  const body = `function () {
    __.createDocument(__.getSelfLink(), { id: 'x', t: 'a', u: 'b' }, (e) =>
      __.createDocument(__.getSelfLink(), { id: 'y', t: 'a', u: 'c' }, (f) => __.response.setBody([!!e, f.number])));
  }`;
  const reply = ok(await run(box, body, [], keyHeader('a', 'b')), 200);
  assert.deepEqual(JSON.parse(reply.text), [false, 400]);
  refused(await run(box, body, [], keyHeader('a')), 400, 0, 'fewer components');
});

test('without a partition key it is refused', async () => {
  const box = await server.box();
  const path = `${box.path}/sprocs`;
  ok(await server.send('POST', path, { body: { id: 's', body: '() => 1' } }), 201);
  refused(await server.send('POST', `${path}/s`, { body: [] }), 400, 0, 'PartitionKey');
});
