// Scripts that would not end, and what everybody else notices of them; scripts over restarts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start } from '../../src/main.js';
import { type Box, keyHeader, lastingStore, ok, refused, Server, serve } from './support.suite.js';

const TIME_MS = 1000;
const server = await serve({ scriptTimeMs: TIME_MS });

async function define(box: Box, id: string, body: string): Promise<string> {
  const path = `${box.path}/sprocs`;
  ok(await box.server.send('POST', path, { body: { id, body } }), 201);
  return `${path}/${id}`;
}

const execute = (box: Box, path: string, headers = {}) =>
  box.server.send('POST', path, { body: [], headers: { ...keyHeader('p'), ...headers } });

// biome-ignore format: a table is read in columns
const HOSTILE: readonly (readonly [what: string, body: string, status: number, says: string])[] = [
  ['a loop',        'function () { for (;;); }',                                              408, 'longer than 1000 ms'],
  ['a native loop', 'function () { new Array(2 ** 31).join("abc"); }',                        408, 'longer than 1000 ms'],
  ['a memory hog',  'function () { const a = []; for (;;) a.push(new Uint8Array(2 ** 24)); }', 400, 'more than 64 MB'],
  ['a deep one',    'function f() { return f() + 1; }',                                       400, 'stack overflow'],
  ['an escape',     'function () { getContext.constructor("return process")().exit(); }',     400, "'process' is not defined"],
];

for (const [what, hostile, status, says] of HOSTILE) {
  test(`${what} is stopped, leaves nothing, and the server serves meanwhile`, async () => {
    const box = await server.box();
    ok(await box.create({ id: 'x', pk: 'p' }), 201);
    const body = `function () {
      const hostile = ${hostile};
      __.createDocument(__.getSelfLink(), { id: 'left', pk: 'p' }, () => hostile());
    }`;
    const path = await define(box, 's', body);
    let isOver = false;
    let slowestMs = 0;
    const running = execute(box, path).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const began = performance.now();
      ok(await box.read('x'), 200);
      slowestMs = Math.max(slowestMs, performance.now() - began);
    }
    const reply = await running;
    assert.equal(reply.status, status, reply.text);
    assert.ok(reply.text.includes(says), reply.text);
    // Far from the time that the script took, however busy the machine is.
    assert.ok(slowestMs < TIME_MS, `a read took ${slowestMs} ms`);
    assert.deepEqual(await box.ids(), ['x']);
    const next = await define(box, 'next', 'function () { __.response.setBody(1); }');
    assert.equal(ok(await execute(box, next), 200).text, '1');
  });
}

test('a script that is told to stop in time ends well', async () => {
  const box = await server.box();
  const body = `function () {
    let n = 0;
    const next = () => {
      n += 1;
      if (!__.readDocument(__.getAltLink() + '/docs/none', () => next())) __.response.setBody(n);
    };
    next();
  }`;
  const { text } = ok(await execute(box, await define(box, 's', body)), 200);
  assert.ok(Number(text) > 1, text);
});

test('what a failed script has printed is told, if that was asked for', async () => {
  const box = await server.box();
  const path = await define(
    box,
    's',
    "function () { console.log('so far'); throw new Error('x'); }",
  );
  const logging = { 'x-ms-documentdb-script-enable-logging': 'true' };
  const reply = await execute(box, path, logging);
  refused(reply, 400, 0, 'Error: x');
  assert.equal(reply.headers['x-ms-documentdb-script-log-results'], 'so%20far');
  const quiet = await execute(box, path);
  assert.equal(quiet.headers['x-ms-documentdb-script-log-results'], undefined);
});

test('scripts are there after a restart, and so is what they have written', async () => {
  const place = lastingStore();
  const open = async () => new Server(await start(place), server.clock);
  const first = await open();
  const box = await first.box();
  const body = "function () { __.createDocument(__.getSelfLink(), { pk: 'p' }); }";
  const path = await define(box, 's', body);
  ok(await execute(box, path), 200);
  await first.close();
  const second = await open();
  const reopened = Object.assign(Object.create(box) as Box, { server: second });
  const { json } = ok(await second.send('GET', path), 200);
  assert.equal(json.body, body);
  ok(await execute(reopened, path), 200);
  const listed = ok(await second.send('GET', `${box.path}/docs`), 200);
  assert.equal(listed.json._count, 2);
  await second.close();
});
