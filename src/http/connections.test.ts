// Draining: what is idle goes at once, what is in flight is answered, what is stuck ends at the
// deadline.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { ask, open, readAll, start, stopAll } from './listen.suite.js';

after(stopAll);

const never = new Promise<never>(() => undefined);
const cases = [
  { tls: 'auto', scheme: 'http' },
  { tls: 'auto', scheme: 'https' },
  { tls: 'only', scheme: 'https' },
  { tls: 'off', scheme: 'http' },
] as const;

for (const { tls, scheme } of cases) {
  test(`${tls}, ${scheme}: idle connections are closed at once`, async () => {
    const server = await start({ tls });
    const agent = new (scheme === 'http' ? http : https).Agent({ keepAlive: true });
    await Promise.all([1, 2, 3].map(() => ask(scheme, server.port, { agent })));
    await server.drain(never);
    await assert.rejects(ask(scheme, server.port), /ECONNREFUSED/);
  });

  test(`${tls}, ${scheme}: connections without a request are closed at once`, async () => {
    const server = await start({ tls });
    const silent = await Promise.all([open('http', server.port), open(scheme, server.port)]);
    const ends = silent.map(readAll);
    // An answered request proves that the server has seen the connections opened before it.
    await ask(scheme, server.port);
    await server.drain(never);
    assert.deepEqual(await Promise.all(ends), ['', '']);
  });

  test(`${tls}, ${scheme}: requests in flight are answered first`, async () => {
    const { server, responses } = await startSlow(tls);
    const agent = new (scheme === 'http' ? http : https).Agent({ keepAlive: true });
    const asked = ask(scheme, server.port, { agent });
    const response = await responses.next();
    const begun = ask(scheme, server.port, { agent });
    const second = await responses.next();
    second.write('first half, ');
    let isDrained = false;
    const drained = server.drain(never).then(() => {
      isDrained = true;
    });
    await assert.rejects(ask(scheme, server.port), /ECONNREFUSED/);
    assert.equal(isDrained, false);
    response.end('late');
    second.end('second half');
    assert.equal((await asked).body.toString(), 'late');
    assert.equal((await begun).body.toString(), 'first half, second half');
    await drained;
  });

  test(`${tls}, ${scheme}: a request that is just arriving is still answered`, async () => {
    const server = await start({ tls });
    const socket = await open(scheme, server.port);
    // The first request shows that the server has read the beginning of the second one with it.
    socket.write('GET /one HTTP/1.1\r\nhost: x\r\n\r\nGET /two HTTP/1.1\r\n');
    await seen(socket, 'GET /one');
    const rest = readAll(socket);
    const drained = server.drain(never);
    socket.write('host: x\r\n\r\n');
    assert.match(
      await rest,
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close\r\n[\s\S]*GET \/two$/i,
    );
    await drained;
  });

  test(`${tls}, ${scheme}: what is left at the deadline is destroyed`, async () => {
    const { server, responses } = await startSlow(tls);
    const asked = ask(scheme, server.port);
    await responses.next();
    let passDeadline: () => void = () => undefined;
    const deadline = new Promise<void>((resolve) => {
      passDeadline = resolve;
    });
    const drained = server.drain(deadline);
    assert.equal(server.drain(never), drained);
    passDeadline();
    await assert.rejects(asked, /ECONNRESET|socket hang up/);
    await drained;
  });
}

test('a deadline that fails is a deadline, and ends a handshake that has only begun', async () => {
  const server = await start();
  const socket = await open('http', server.port);
  socket.write(Buffer.of(0x16, 0x03, 0x01));
  await ask('https', server.port);
  await server.drain(Promise.reject(new Error('no time left')));
  assert.equal(await readAll(socket), '');
});

/** A server whose answers the test gives by hand, in the order in which requests arrive. */
async function startSlow(tls: 'auto' | 'only' | 'off') {
  const arrived: ServerResponse[] = [];
  const waiting: ((response: ServerResponse) => void)[] = [];
  const server = await start({
    tls,
    handler: (_request, response) => {
      const next = waiting.shift();
      if (next === undefined) arrived.push(response);
      else next(response);
    },
  });
  const next = (): Promise<ServerResponse> => {
    const response = arrived.shift();
    if (response !== undefined) return Promise.resolve(response);
    return new Promise((resolve) => waiting.push(resolve));
  };
  return { server, responses: { next } };
}

async function seen(socket: Socket, wanted: string): Promise<void> {
  let text = '';
  while (!text.includes(wanted)) {
    const [piece] = await once(socket, 'data');
    text += String(piece);
  }
}
