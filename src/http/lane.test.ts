// The fast lane through real sockets: what it answers itself, what it hands over, and how its
// connections end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { instant } from '../time/instant.js';
import type { Exchange } from './exchange.js';
import type { ListenOptions } from './listen.js';
import { open, readAll, say, start, stopAll } from './listen.suite.js';

after(stopAll);

const never = new Promise<never>(() => undefined);
const WALL = instant(Date.UTC(2026, 0, 2, 3, 4, 5));

/** Both say who they are, and what they were asked. */
const handler: RequestListener = (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => response.end(`node ${request.url} ${Buffer.concat(pieces)}`));
};

async function echo(exchange: Exchange): Promise<void> {
  const body = await exchange.body(1000);
  const text = Buffer.from(`lane ${exchange.target} ${body}`);
  exchange.answer(200, ['content-length', String(text.length)], text);
}

function startLane(handle: (exchange: Exchange) => void = echo, more: Partial<ListenOptions> = {}) {
  const takes = (_method: string, target: string) => !target.startsWith('/_');
  return start({ handler, lane: { takes, handle, wall: () => WALL }, ...more });
}

const get = (target: string) => `GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`;
const post = (target: string, body: string, length = body.length) =>
  `POST ${target} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n${body}`;

/** Talks over one connection and gives the bodies of the answers, in turn. */
async function bodiesOf(port: number, pieces: readonly string[], count: number) {
  const socket = await open('http', port, { allowHalfOpen: true });
  let text = '';
  socket.on('data', (piece) => {
    text += String(piece);
  });
  const read = readAll(socket);
  for (const piece of pieces) {
    await say(socket, piece);
    // So that pieces arrive one by one.
    await pause(20);
  }
  while (bodies(text).length < count && !socket.readableEnded) await pause(1);
  socket.end();
  return bodies(await read);
}

function bodies(text: string): readonly string[] {
  return [...text.matchAll(/(?:lane|node) [^\r\n]*?(?=HTTP\/1\.1|\r\n0\r\n|$)/g)].map(
    ([found]) => found,
  );
}

for (const tls of ['auto', 'off'] as const) {
  test(`tls ${tls}: requests one after another, and several at once`, async () => {
    const { port } = await startLane(echo, { tls });
    const found = await bodiesOf(port, [get('/a'), get('/b') + post('/c', 'body') + get('/d')], 4);
    assert.deepEqual(found, ['lane /a ', 'lane /b ', 'lane /c body', 'lane /d ']);
  });
}

test('a body in pieces, with the next request behind it', async () => {
  const { port } = await startLane();
  const whole = post('/a', 'one two three');
  const at = whole.length - 9;
  const pieces = [whole.slice(0, at), whole.slice(at, at + 4), whole.slice(at + 4) + get('/b')];
  assert.deepEqual(await bodiesOf(port, pieces, 2), ['lane /a one two three', 'lane /b ']);
});

const handedOver: Readonly<Record<string, readonly [string[], string]>> = {
  'a path that is not its own': [[get('/_mayfly/health')], 'node /_mayfly/health '],
  chunks: [
    ['POST /a HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
    'node /a abc',
  ],
  'a head in pieces': [['GET /a HTTP/1.1\r\nho', 'st: x\r\n\r\n'], 'node /a '],
  'a closing connection': [['GET /a HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'], 'node /a '],
};

for (const [name, [pieces, expected]] of Object.entries(handedOver)) {
  test(`handed over: ${name}, also after others`, async () => {
    const { port } = await startLane();
    assert.deepEqual(await bodiesOf(port, pieces, 1), [expected]);
    assert.deepEqual(await bodiesOf(port, [get('/1'), ...pieces], 2), ['lane /1 ', expected]);
    const behind = await bodiesOf(port, [get('/1') + (pieces[0] ?? ''), ...pieces.slice(1)], 2);
    assert.deepEqual(behind, ['lane /1 ', expected]);
  });
}

test('garbage is refused by the parser that knows why', async () => {
  const { port } = await startLane();
  const socket = await open('http', port);
  const read = readAll(socket);
  await say(socket, 'NONSENSE\r\n\r\n');
  assert.match(await read, /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*not a valid HTTP request/);
});

test('a body that is too long is refused, and the connection stays', async () => {
  const { port } = await startLane((exchange) => {
    exchange.body(10).then(
      () => exchange.answer(200, ['content-length', '0'], undefined),
      (error: Error) =>
        exchange.answer(413, ['content-length', '0', 'why', error.message], undefined),
    );
  });
  const socket = await open('http', port);
  socket.setEncoding('latin1');
  for (const [body, status] of [
    ['x'.repeat(11), 413],
    ['short', 200],
    ['y'.repeat(11), 413],
  ]) {
    socket.write(post('/a', String(body)));
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), new RegExp(`^HTTP/1.1 ${status} `));
  }
  socket.destroy();
});

test('headers: the date of the clock, and how long the connection is kept', async () => {
  const { port } = await startLane();
  const socket = await open('http', port);
  socket.write(get('/a'));
  const [answer] = await once(socket, 'data');
  assert.equal(
    String(answer),
    'HTTP/1.1 200 OK\r\ncontent-length: 8\r\nDate: Fri, 02 Jan 2026 03:04:05 GMT\r\n' +
      'Connection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\nlane /a ',
  );
  socket.destroy();
});

test('a header value cannot end its line', async () => {
  let thrown: unknown;
  const { port } = await startLane((exchange) => {
    try {
      exchange.answer(200, ['a', 'b\r\nset-cookie: c'], undefined);
    } catch (error) {
      thrown = error;
      exchange.answer(500, ['content-length', '0'], undefined);
    }
  });
  const socket = await open('http', port);
  socket.write(get('/a'));
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 500 /);
  assert.match(String(thrown), /may not hold/);
  socket.destroy();
});

test('a large answer to a slow reader', async () => {
  const large = Buffer.alloc(8 * 1024 * 1024, 'z');
  const { port } = await startLane((exchange) => {
    exchange.answer(200, ['content-length', String(large.length)], large);
  });
  const socket = await open('http', port);
  let bytes = 0;
  socket.write(get('/a') + get('/b'));
  for await (const piece of socket) {
    bytes += (piece as Buffer).length;
    if (bytes > 2 * large.length) break;
  }
  assert(bytes > 2 * large.length);
});

test('a client that has said all still gets its answer, and then the end', async () => {
  const answers: (() => void)[] = [];
  const { port } = await startLane((exchange) => {
    assert.equal(exchange.abandoned(), false);
    answers.push(() => {
      assert.equal(exchange.abandoned(), true);
      exchange.answer(200, ['content-length', '4'], Buffer.from('late'));
    });
  });
  const socket = await open('http', port, { allowHalfOpen: true });
  const read = readAll(socket);
  socket.end(get('/a'));
  while (answers.length === 0) await pause(1);
  await pause(10);
  answers[0]?.();
  assert.match(await read, /Connection: close\r\n\r\nlate$/);
});

test('a client that leaves amid its body is forgotten', async () => {
  let asked = 0;
  const server = await startLane(() => {
    asked += 1;
  });
  const socket = await open('http', server.port);
  await say(socket, post('/a', 'half', 8));
  const refusal = readAll(socket);
  socket.end();
  assert.match(await refusal, /^HTTP\/1\.1 400 /);
  await server.drain(never);
  assert.equal(asked, 0);
});

test('times: a body that does not come, and a connection that stays silent', async () => {
  const { port } = await startLane(echo, {
    timeouts: { headersMs: 30, requestMs: 30, keepAliveMs: 60 },
  });
  const slow = await open('http', port);
  const refusal = readAll(slow);
  await say(slow, post('/a', 'half', 8));
  assert.match(await refusal, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  const silent = await open('http', port);
  const nothing = readAll(silent);
  await say(silent, get('/a'));
  assert.match(await nothing, /lane \/a $/);
});

test('draining: idle connections go, one with a request is answered and closed', async () => {
  const waiting: Exchange[] = [];
  const server = await startLane((exchange) => {
    waiting.push(exchange);
  });
  const idle = await open('http', server.port);
  idle.write(get('/a'));
  while (waiting.length < 1) await pause(1);
  waiting[0]?.answer(200, ['content-length', '0'], undefined);
  const busy = await open('http', server.port);
  busy.write(get('/b'));
  while (waiting.length < 2) await pause(1);
  const ends = [readAll(idle), readAll(busy)];
  const drained = server.drain(never);
  await pause(5);
  waiting[1]?.answer(200, ['content-length', '4'], Buffer.from('late'));
  await drained;
  const [, last = ''] = await Promise.all(ends);
  assert.match(last, /Connection: close\r\n\r\nlate$/);
});

test('over TLS everything goes to node:http', async () => {
  const { port } = await startLane();
  const socket = await open('https', port);
  socket.write(get('/a'));
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /node \/a /);
  socket.destroy();
});
