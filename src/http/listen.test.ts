// The port as clients meet it: both schemes, odd timing, odd bytes, and the errors of binding.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { type Listening, listen } from './listen.js';
import { ask, echo, open, pair, readAll, say, start, stopAll } from './listen.suite.js';

after(stopAll);

for (const scheme of ['http', 'https'] as const) {
  test(`${scheme}: requests share a kept connection`, async () => {
    const { port } = await start();
    const agent = new (scheme === 'http' ? http : https).Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let turn = 0; turn < 5; turn += 1) {
      const answer = await ask(scheme, port, { agent, body: Buffer.from(`turn ${turn}`) });
      assert.equal(answer.body.toString(), `turn ${turn}`);
      ports.add(answer.localPort);
    }
    agent.destroy();
    assert.equal(ports.size, 1);
  });

  test(`${scheme}: a body of two megabytes comes back`, async () => {
    const { port } = await start();
    const body = Buffer.alloc(2 * 1024 * 1024, 'mayfly ');
    const answer = await ask(scheme, port, { body });
    assert.ok(answer.body.equals(body));
  });

  test(`${scheme}: many parallel connections`, async () => {
    const { port } = await start();
    const bodies = Array.from({ length: 60 }, (_, index) => Buffer.from(`client ${index}`));
    const answers = await Promise.all(bodies.map((body) => ask(scheme, port, { body })));
    assert.deepEqual(
      answers.map((answer) => answer.body),
      bodies,
    );
  });

  test(`${scheme}: pipelined requests are answered in order`, async () => {
    const { port } = await start();
    const socket = await open(scheme, port);
    const requests = ['a', 'b', 'c'].map((path) => `GET /${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    requests.push('GET /d HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    socket.write(requests.join(''));
    const text = await readAll(socket);
    assert.deepEqual(text.match(/GET \/\w/g), ['GET /a', 'GET /b', 'GET /c', 'GET /d']);
  });

  test(`${scheme}: a request that arrives byte by byte`, async () => {
    const { port } = await start();
    const socket = await open(scheme, port);
    socket.setNoDelay(true);
    const request =
      'POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc';
    const answer = readAll(socket);
    for (const letter of request) await say(socket, letter);
    assert.match(await answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*abc$/);
  });

  test(`${scheme}: garbage gets a 400 and the connection ends`, async () => {
    const { port } = await start();
    const socket = await open(scheme, port);
    socket.write('\x00\x01 what is this\r\n\r\n');
    const text = await readAll(socket);
    assert.match(text, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.match(text, /\{"code":"BadRequest","message":"The bytes received/);
  });

  test(`${scheme}: too long headers get a 431 and the client sees it`, async () => {
    const { port } = await start();
    const socket = await open(scheme, port);
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(600_000)}\r\n\r\n`);
    const text = await readAll(socket);
    assert.match(text, /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
    assert.match(text, /maximum of 32768 bytes/);
  });

  test(`${scheme}: headers that do not end get a 408`, async () => {
    const { port } = await start({ timeouts: { headersMs: 60, requestMs: 60, checkMs: 20 } });
    const socket = await open(scheme, port);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n');
    const text = await readAll(socket);
    assert.match(text, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    assert.match(text, /"code":"RequestTimeout"/);
  });

  test(`${scheme}: a client that ignores the end of a refused connection is cut off`, async () => {
    const { port } = await start({ timeouts: { headersMs: 60, requestMs: 60, checkMs: 20 } });
    const socket = await open(scheme, port, { allowHalfOpen: true });
    socket.write('\x00\x01 what is this\r\n\r\n');
    await readAll(socket);
    socket.on('error', () => undefined);
    while (!socket.destroyed) await say(socket, 'x');
  });
}

test('garbage that looks like TLS is cut off, and the server goes on', async () => {
  const { port } = await start();
  const socket = await open('http', port);
  socket.write(Buffer.of(0x16, 0xff, 0xff, 0x00, 0x02, 0xff, 0xff));
  await readAll(socket);
  assert.equal((await ask('https', port)).status, 200);
});

test('a connection that stays silent is closed, also in the middle of a handshake', async () => {
  const { port } = await start({ timeouts: { firstByteMs: 40, headersMs: 40, requestMs: 40 } });
  const silent = await open('http', port);
  const hesitant = await open('http', port);
  hesitant.write(Buffer.of(0x16));
  assert.equal(await readAll(silent), '');
  assert.equal(await readAll(hesitant), '');
});

test('a client that leaves before its first byte does no harm', async () => {
  const { port } = await start();
  const ended = await open('http', port, { allowHalfOpen: true });
  ended.end();
  assert.equal(await readAll(ended), '');
  (await open('http', port)).resetAndDestroy();
  assert.equal((await ask('http', port)).status, 200);
});

test('a client may close its half after the request', async () => {
  const { port } = await start();
  const socket = await open('http', port, { allowHalfOpen: true });
  socket.end('GET /half HTTP/1.1\r\nhost: x\r\n\r\n');
  assert.match(await readAll(socket), /GET \/half/);
});

test('the first TLS client asks for the certificate, the next only after a failure', async () => {
  let calls = 0;
  const { port } = await start({
    secureContext: () => {
      calls += 1;
      if (calls === 1) throw new Error('the disk is full');
      return { cert: pair.certificatePem, key: pair.keyPem };
    },
  });
  await ask('http', port);
  assert.equal(calls, 0);
  await assert.rejects(ask('https', port));
  await ask('https', port);
  await ask('https', port);
  assert.equal(calls, 2);
});

test("'only' refuses plain HTTP with an answer that says so", async () => {
  const { port, schemes } = await start({ tls: 'only' });
  assert.deepEqual(schemes, ['https']);
  const refused = await ask('http', port, { body: Buffer.from('x') });
  assert.equal(refused.status, 400);
  assert.match(refused.body.toString(), /HTTPS only/);
  assert.equal((await ask('https', port)).status, 200);
});

test("'off' refuses TLS and speaks HTTP", async () => {
  const { port, schemes } = await start({ tls: 'off' });
  assert.deepEqual(schemes, ['http']);
  const socket = connectTls({ host: '127.0.0.1', port, ca: pair.certificatePem });
  const [error] = await once(socket, 'error');
  assert.match(String((error as NodeJS.ErrnoException).code), /SSL/);
  assert.equal((await ask('http', port)).status, 200);
});

test('a port in use and an unknown host are explained', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  for (const tls of ['auto', 'only', 'off'] as const) {
    await assert.rejects(attempt('127.0.0.1', port, tls), (error: Error) => {
      assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port}: the port is in use`));
      assert.match(error.message, /--port 0/);
      return true;
    });
  }
  other.close();
  await assert.rejects(attempt('no-such-host.invalid', 0, 'off'), /no-such-host\.invalid:0: /);
  await assert.rejects(attempt('192.0.2.1', 0, 'off'), /192\.0\.2\.1:0: this machine does not/);
});

function attempt(host: string, port: number, tls: 'auto' | 'only' | 'off'): Promise<Listening> {
  const secureContext = () => ({ cert: pair.certificatePem, key: pair.keyPem });
  return listen({ host, port, tls, secureContext, handler: echo });
}
