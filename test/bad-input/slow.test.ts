// Slow clients: hundreds of connections that send a byte now and then hold up nobody else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { DOCS, IN_A, ITEM, Target } from './support.suite.js';
import { bytesOf, signature, talk } from './wire.suite.js';

const CONNECTIONS = 200;
const BYTES_EVERY_MS = 20;
const GOOD_REQUESTS = 200;
const GOOD_REQUEST_MAX_MS = 15_000;

const target = new Target();
await target.start();
after(() => target.close());

test('200 slow connections do not stop a good client', async () => {
  const state = await target.state();
  const slow = await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => open(index)));
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    for (const { socket, bytes } of slow) socket.write(bytes.subarray(sent - 1, sent));
  }, BYTES_EVERY_MS);
  let longestMs = 0;
  for (let turn = 0; turn < GOOD_REQUESTS; turn++) {
    const started = performance.now();
    const { status } = await target.ask('GET', ITEM, { headers: IN_A });
    longestMs = Math.max(longestMs, performance.now() - started);
    assert.equal(status, 200);
  }
  assert.ok(longestMs < GOOD_REQUEST_MAX_MS, `one took ${longestMs} ms`);
  assert.ok(sent > 1, 'the slow ones were sending meanwhile');
  assert.ok(
    slow.every(({ socket }) => !socket.destroyed),
    'and were still connected',
  );
  clearInterval(timer);
  for (const { socket } of slow) socket.destroy();
  assert.equal(await target.state(), state, 'none of them has written anything');
  assert.deepEqual(target.defects, []);
});

test('a slow request is answered all the same', async () => {
  const { socket, bytes } = await open(1);
  const answered = once(socket, 'data');
  for (let at = 0; at < bytes.length; at += 40) {
    socket.write(bytes.subarray(at, at + 40));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.match(String((await answered)[0]), /^HTTP\/1\.1 201 Created\r\n/);
  socket.destroy();
});

test('who says that nothing else will come leaves a query behind, not a defect', async () => {
  const numbers = Array.from({ length: 80 }, (_, number) => number);
  const made = await target.ask('POST', DOCS, {
    headers: IN_A,
    body: { id: 'n', pk: 'a', numbers },
  });
  assert.equal(made.status, 201);
  const joins = ['a', 'b', 'd'].map((name) => `JOIN ${name} IN c.numbers`).join(' ');
  const body = Buffer.from(JSON.stringify({ query: `SELECT VALUE COUNT(1) FROM c ${joins}` }));
  const date = new Date().toUTCString();
  const authorization = signature('POST', DOCS, date, target.server.key);
  const headers = {
    host: 'localhost',
    'x-ms-date': date,
    authorization,
    ...IN_A,
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'true',
  };
  const asked = bytesOf({ method: 'POST', path: DOCS, headers, body });
  const { answers, outcome } = await talk(target.server.port, [asked], { end: true });
  assert.equal(outcome, 'ended');
  assert.deepEqual(answers, []);
  assert.deepEqual(target.defects, []);
});

/** A third of them dawdles over the headers, a third over a body, a third over chunks. */
async function open(index: number): Promise<{ readonly socket: Socket; readonly bytes: Buffer }> {
  const socket = connect({ port: target.server.port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const body = Buffer.from(
    JSON.stringify({ id: `slow ${index}`, pk: 'a', text: 'x'.repeat(5000) }),
  );
  const size = Buffer.from(`${body.length.toString(16)}\r\n`);
  const chunks = Buffer.concat([size, body, Buffer.from('\r\n0\r\n\r\n')]);
  const date = new Date().toUTCString();
  const authorization = signature('POST', DOCS, date, target.server.key);
  const headers = { host: 'localhost', 'x-ms-date': date, authorization, ...IN_A };
  const isChunked = index % 3 === 2;
  const whole = bytesOf({
    method: 'POST',
    path: DOCS,
    headers: isChunked ? { ...headers, 'transfer-encoding': 'chunked' } : headers,
    body: isChunked ? chunks : body,
  });
  if (index % 3 === 0) return { socket, bytes: whole };
  const headEnd = whole.indexOf('\r\n\r\n') + 4;
  socket.write(whole.subarray(0, headEnd));
  return { socket, bytes: whole.subarray(headEnd) };
}
