// One request and the way back for its answer, whichever parser has read it: Node's (here) or the
// lane's.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { hasLeft, readBody } from './body.js';

export interface Exchange {
  readonly method: string;
  readonly target: string;
  /** By their names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** The address the client used, so that mapped ports and container names lead back here. */
  origin(): string;
  /** Rejects with tooLarge or invalidHeader, or with an Error when the client goes away. */
  body(bytesMax: number): Promise<Buffer>;
  /** True once nobody waits for the answer. */
  abandoned(): boolean;
  /** Headers are a flat list of names and values. */
  answer(status: number, headers: readonly string[], body: Uint8Array | undefined): void;
  /** Ends the connection without an answer. */
  drop(): void;
}

/** Up to this size a body is joined with its headers. */
export const JOINED_BYTES_MAX = 16 * 1024;

/** What came through node:http. */
export function nodeExchange(incoming: IncomingMessage, response: ServerResponse): Exchange {
  const { headers, method = 'GET', url = '/' } = incoming;
  return {
    method,
    target: url,
    headers,
    origin: () => originOf(headers, incoming.socket),
    body: (bytesMax) => readBody(incoming, bytesMax),
    abandoned: () => hasLeft(incoming) || incoming.socket.destroyed,
    drop: () => incoming.socket.destroy(),
    answer: (status, fields, body) => {
      response.writeHead(status, fields as string[]);
      if (body === undefined) response.end();
      else if (body.length > JOINED_BYTES_MAX) response.end(body);
      else response.end(singleBytes(body), 'latin1');
    },
  };
}

export function originOf(headers: IncomingHttpHeaders, socket: Socket): string {
  const scheme = (socket as TLSSocket).encrypted ? 'https' : 'http';
  return `${scheme}://${headers.host ?? `${socket.localAddress}:${socket.localPort}`}`;
}

/**
 * Small bodies travel as text of single bytes, which is joined with the headers to one write, where
 * a buffer would be a second one.
 */
export function singleBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
