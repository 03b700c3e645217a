// One port that speaks HTTP and HTTPS: the first byte of a connection tells which. The certificate
// is not asked for before the first TLS client comes.
import type { Server as HttpServer, RequestListener, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Instant } from '../time/instant.js';
import { bind } from './bind.js';
import { HEADER_BYTES_MAX } from './client-error.js';
import { Connections } from './connections.js';
import { Lane, type LaneWork } from './lane.js';
import {
  makePlain,
  makeSecure,
  type SecureContext,
  startTimeouts,
  TIMEOUTS,
  type Timeouts,
} from './speaker.js';

export interface ListenOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly tls: 'auto' | 'only' | 'off';
  /**
   * Called once: at the start, or with 'auto' on the first TLS connection. When it throws there,
   * that connection is cut and the next one asks again, so a caller who wants to know catches,
   * notes and throws on.
   */
  readonly secureContext: () => SecureContext;
  readonly handler: RequestListener;
  /** Answers requests of the usual form over plain connections in place of `handler`. */
  readonly lane?: LaneWork & {
    /** Real time, for the header Date. */
    wall(): Instant;
  };
  readonly timeouts?: Partial<Timeouts>;
}
export interface Listening {
  readonly port: number;
  readonly schemes: readonly ('http' | 'https')[];
  /** Stops accepting, lets requests in flight finish, and destroys what is left at the deadline. */
  drain(deadline: Promise<unknown>): Promise<void>;
}

export async function listen(options: ListenOptions): Promise<Listening> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const connections = new Connections();
  const handler: RequestListener = (request, response) => {
    if (connections.draining) response.shouldKeepAlive = false;
    if (request.headers.host !== undefined || request.httpVersion !== '1.1') {
      options.handler(request, response);
    } else refuse(response, 'A request of HTTP/1.1 must have the header Host.');
  };
  const plain = makePlain(timeouts, options.tls === 'only' ? refusePlain : handler);
  connections.addSpeaker(plain);
  const secure = once(() => {
    const made = makeSecure(timeouts, handler, options.secureContext());
    connections.addSpeaker(made);
    startTimeouts(made);
    return made;
  });
  if (options.tls === 'only') secure();
  const begin = beginner(options, plain, timeouts, connections);
  const front = makeFront(options.tls === 'off' ? undefined : secure, begin, timeouts.firstByteMs);
  startTimeouts(plain);
  connections.watch(front);
  await bind(front, options, 'listen', ADVICE);
  return {
    port: (front.address() as AddressInfo).port,
    schemes: SCHEMES[options.tls],
    drain: (deadline) => connections.drain(front, deadline),
  };
}

const SCHEMES = { auto: ['http', 'https'], only: ['https'], off: ['http'] } as const;
/** The type of the TLS record that opens a handshake. No HTTP method begins with it. */
const TLS_HANDSHAKE = 0x16;

const refusePlain: RequestListener = (_request, response) => {
  refuse(response, 'This address speaks HTTPS only. Use https:// instead of http://.');
};

function refuse(response: ServerResponse, message: string): void {
  response.writeHead(400, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ code: 'BadRequest', message }));
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function makeFront(
  secure: (() => HttpsServer) | undefined,
  beginPlain: (socket: Socket, first: Buffer) => void,
  firstByteMs: number,
): Server {
  // The same settings that an HTTP server gives its own sockets.
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const giveUp = () => socket.destroy();
    socket.setTimeout(firstByteMs, giveUp);
    socket.once('end', giveUp);
    // An error closes the socket by itself, but without a listener it would end the process.
    socket.on('error', () => undefined);
    socket.once('data', (first) => {
      socket.setTimeout(0).off('timeout', giveUp).off('end', giveUp);
      if (secure && first[0] === TLS_HANDSHAKE) handOverSecure(socket, first, secure);
      else beginPlain(socket, first);
    });
  });
}

/** What becomes of a plain connection when its first bytes are there. */
function beginner(
  { tls, lane }: ListenOptions,
  plain: HttpServer,
  timeouts: Timeouts,
  connections: Connections,
): (socket: Socket, first: Buffer) => void {
  if (lane === undefined || tls === 'only') {
    return (socket, first) => handOverPlain(socket, first, plain);
  }
  const terms = {
    takes: lane.takes,
    handle: lane.handle,
    headBytesMax: HEADER_BYTES_MAX,
    requestMs: timeouts.requestMs,
    keepAliveMs: timeouts.keepAliveMs,
    date: dateText(lane.wall),
    draining: () => connections.draining,
    handOver: (socket: Socket, bytes: Buffer) => {
      connections.leaveLane(socket);
      handOverPlain(socket, bytes, plain);
    },
  };
  return (socket, first) => {
    const opened = new Lane(socket, terms);
    connections.enterLane(socket, opened);
    opened.begin(first);
  };
}

/** Made once a second, as the header Date has no more. */
function dateText(wall: () => Instant): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const now = Math.floor(wall() / 1000);
    if (now !== second) text = new Date(now * 1000).toUTCString();
    second = now;
    return text;
  };
}

/**
 * From here on Node's parser reads from the socket's handle, so a request costs what it costs
 * without a front.
 */
function handOverPlain(socket: Socket, bytes: Buffer, plain: HttpServer): void {
  socket.pause();
  socket.unshift(bytes);
  plain.emit('connection', socket);
  socket.resume();
}

/** The TLS layer takes the first bytes out of the paused socket by itself. */
function handOverSecure(socket: Socket, first: Buffer, secure: () => HttpsServer): void {
  socket.pause();
  socket.unshift(first);
  let server: HttpsServer;
  try {
    server = secure();
  } catch {
    socket.destroy();
    return;
  }
  // As with the sockets of an HTTPS server: one that ends amid its handshake is closed.
  socket.allowHalfOpen = false;
  server.emit('connection', socket);
}

const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'the port is in use. Stop the other program, or choose a port; --port 0 picks a free port.',
  EACCES:
    'the system does not permit this port. Choose one above 1023; --port 0 picks a free port.',
  EADDRNOTAVAIL: 'this machine does not have that address. Choose another with --host.',
  ENOTFOUND: 'the host name is unknown. Choose another with --host, for example 127.0.0.1.',
  EAI_AGAIN: 'the host name cannot be looked up now. Choose an address with --host.',
};
