// Bodies of every shape, over real connections: the refusals matter most, because their answers
// must arrive.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, IncomingMessage, request as requestHttp } from 'node:http';
import { Socket } from 'node:net';
import { after, test } from 'node:test';
import { MayflyError } from '../value/errors.js';
import { DISCARD_BYTES_MAX, readBody } from './body.js';
import { open, readAll, start, stopAll } from './listen.suite.js';

const LIMIT = 1000;
const MEGABYTE = 1024 * 1024;

after(stopAll);
const { port } = await start({
  handler: (request, response) => {
    readBody(request, LIMIT).then(
      (body) => response.end(`${body.length} bytes`),
      (error: Error) => {
        response.statusCode = error instanceof MayflyError ? error.kind.status : 500;
        response.end(error.message);
      },
    );
  },
});

interface Row {
  readonly name: string;
  readonly pieces: readonly Buffer[];
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly status: number;
  readonly text: RegExp;
}
const bytes = (count: number): Buffer => Buffer.alloc(count, 'x');
const rows: readonly Row[] = [
  { name: 'no body', pieces: [], status: 200, text: /^0 bytes$/ },
  { name: 'one piece', pieces: [bytes(5)], status: 200, text: /^5 bytes$/ },
  { name: 'just the limit', pieces: [bytes(LIMIT)], status: 200, text: /^1000 bytes$/ },
  {
    name: 'one byte more',
    pieces: [bytes(LIMIT + 1)],
    status: 413,
    text: /too large: 1001 bytes, the maximum is 1000 bytes/,
  },
  { name: 'chunked', pieces: [bytes(400), bytes(600)], status: 200, text: /^1000 bytes$/ },
  {
    name: 'chunked, one byte more',
    pieces: [bytes(400), bytes(600), bytes(1)],
    status: 413,
    text: /too large: more than 1000 bytes, the maximum is 1000 bytes/,
  },
  {
    name: 'chunked, a megabyte more',
    pieces: [bytes(LIMIT), bytes(MEGABYTE)],
    status: 413,
    text: /more than 1000 bytes/,
  },
  {
    name: 'identity',
    pieces: [bytes(5)],
    headers: { 'content-encoding': 'Identity' },
    status: 200,
    text: /^5 bytes$/,
  },
  {
    name: 'compressed',
    pieces: [bytes(5)],
    headers: { 'content-encoding': 'gzip' },
    status: 400,
    text: /'gzip' specified for the header 'content-encoding' is invalid/,
  },
  {
    name: 'up to what is discarded',
    pieces: [bytes(DISCARD_BYTES_MAX)],
    status: 413,
    text: /large/,
  },
];

for (const row of rows) {
  test(`${row.name}: ${row.status}, and the connection stays`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = await post(agent, row.pieces, row.headers);
    assert.equal(first.status, row.status);
    assert.match(first.text, row.text);
    const second = await post(agent, [bytes(7)]);
    assert.equal(second.text, '7 bytes');
    assert.equal(second.localPort, first.localPort);
    agent.destroy();
  });
}

test('a body beyond what is discarded is answered before it is cut off', async () => {
  const sent = requestHttp({ host: '127.0.0.1', port, method: 'POST', agent: false });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  const cut = new Promise((resolve) => sent.once('close', resolve));
  sent.setHeader('content-length', 64 * MEGABYTE);
  sent.flushHeaders();
  const [response] = await answered;
  assert.equal(response.statusCode, 413);
  response.resume();
  sent.on('error', () => undefined);
  sent.end(bytes(64 * MEGABYTE));
  await cut;
});

test('an endless chunked body is answered once and then cut off', async () => {
  const socket = await open('http', port);
  const answer = readAll(socket);
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), bytes(0x10000), Buffer.from('\r\n')]);
  let sent = 0;
  while (!socket.destroyed) {
    sent += chunk.length;
    assert.ok(sent < 64 * MEGABYTE, 'the server goes on reading');
    await new Promise((resolve) => socket.write(chunk, resolve));
  }
  assert.equal((await answer).match(/HTTP\/1\.1 413 /g)?.length, 1);
});

test('a client that goes away makes it reject, and so does one that has gone', async () => {
  const requests: IncomingMessage[] = [];
  const outcomes: Promise<Buffer>[] = [];
  const server = await start({
    handler: (request) => {
      requests.push(request);
      outcomes.push(readBody(request, LIMIT));
    },
  });
  const socket = await open('http', server.port);
  const arrived = once(socket, 'data');
  socket.write(
    'POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\nabc',
  );
  // The interim answer shows that the handler has been called.
  await arrived;
  socket.destroy();
  const [request] = requests;
  assert.ok(request !== undefined);
  await assert.rejects(outcomes[0] ?? Promise.resolve(), { message: 'aborted' });
  await assert.rejects(readBody(request, LIMIT), { message: 'aborted' });
});

test('a client that goes away after a refusal does no harm', async () => {
  const socket = await open('http', port);
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4000\r\n\r\nabc');
  await once(socket, 'data');
  socket.resetAndDestroy();
  const agent = new Agent();
  assert.equal((await post(agent, [bytes(3)])).text, '3 bytes');
});

test('a body in one piece is not copied', async () => {
  const request = new IncomingMessage(new Socket());
  const piece = bytes(10);
  request.push(piece);
  request.push(null);
  assert.equal(await readBody(request, LIMIT), piece);
});

async function post(
  agent: Agent,
  pieces: readonly Buffer[],
  headers: Readonly<Record<string, string | number>> = {},
) {
  const only = pieces.length === 1 ? { 'content-length': pieces[0]?.length ?? 0 } : {};
  const target = {
    host: '127.0.0.1',
    port,
    method: 'POST',
    agent,
    headers: { ...only, ...headers },
  };
  const sent = requestHttp(target);
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  for (const piece of pieces) await new Promise((resolve) => sent.write(piece, resolve));
  sent.end();
  const [response] = await answered;
  const { localPort } = response.socket;
  let text = '';
  for await (const piece of response) text += String(piece);
  return { status: response.statusCode, text, localPort };
}
