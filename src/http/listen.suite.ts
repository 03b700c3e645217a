// What the tests of the port share: a server that echoes, and clients for both schemes.
import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { makeCertificate } from './certificate.js';
import { type Listening, type ListenOptions, listen } from './listen.js';

export type Scheme = 'http' | 'https';

/** Valid at every real present, so that clients can check it in earnest. */
export const pair = makeCertificate({
  names: ['localhost', '127.0.0.1'],
  notBefore: new Date('2020-01-01T00:00:00Z'),
  notAfter: new Date('9999-12-31T23:59:59Z'),
  serialNumber: Buffer.of(1),
});

/** Gives back the body, or for a request without one its method and path. */
export const echo: RequestListener = (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    response.end(body.length > 0 ? body : `${request.method} ${request.url}`);
  });
};

const started: Listening[] = [];

export async function start(options: Partial<ListenOptions> = {}): Promise<Listening> {
  const secureContext = () => ({ cert: pair.certificatePem, key: pair.keyPem });
  const defaults = {
    host: '127.0.0.1',
    port: 0,
    tls: 'auto',
    secureContext,
    handler: echo,
  } as const;
  const made = await listen({ ...defaults, ...options });
  started.push(made);
  return made;
}

export async function stopAll(): Promise<void> {
  await Promise.all(started.map((server) => server.drain(Promise.resolve())));
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  /** The client's end of the connection, which tells whether two answers shared it. */
  readonly localPort: number | undefined;
}
interface AskOptions {
  readonly agent?: http.Agent;
  readonly body?: Buffer;
  readonly path?: string;
}

export async function ask(scheme: Scheme, port: number, options: AskOptions = {}): Promise<Answer> {
  const { body, agent = false, path = '/' } = options;
  const method = body === undefined ? 'GET' : 'POST';
  const ca = pair.certificatePem;
  const target = { host: '127.0.0.1', port, method, path, agent, ca };
  const request = scheme === 'http' ? http.request(target) : https.request(target);
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const { localPort } = response.socket;
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const { statusCode: status, headers } = response;
  return { status, headers, body: Buffer.concat(pieces), localPort };
}

export async function open(
  scheme: Scheme,
  port: number,
  options: { readonly allowHalfOpen?: boolean } = {},
): Promise<Socket> {
  const target = { host: '127.0.0.1', port, ...options };
  if (scheme === 'http') {
    const socket = connect(target);
    await once(socket, 'connect');
    return socket;
  }
  const socket = connectTls({ ...target, ca: pair.certificatePem });
  await once(socket, 'secureConnect');
  return socket;
}

/** Writes and lets it reach the wire and the event loop turn, so that pieces stay apart. */
export async function say(socket: Socket, text: string): Promise<void> {
  await new Promise<void>((resolve) => {
    socket.write(text, () => setImmediate(resolve));
  });
}

/** Everything the other side sends until it ends; a reset counts as an end. */
export function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (piece) => {
      text += String(piece);
    });
    socket.on('error', () => undefined);
    socket.on('end', () => resolve(text));
    socket.on('close', () => resolve(text));
  });
}
