// The HTTP and the HTTPS server behind the one port: their limits, and taking over connections that
// another server has accepted.
import {
  createServer as createHttp,
  type Server as HttpServer,
  type RequestListener,
} from 'node:http';
import { createServer as createHttps, type Server as HttpsServer } from 'node:https';
import { answerClientError, HEADER_BYTES_MAX } from './client-error.js';

export type Speaker = HttpServer | HttpsServer;

export interface SecureContext {
  readonly cert: string;
  readonly key: string;
}
export interface Timeouts {
  /** How long a connection may stay silent before its first byte. */
  readonly firstByteMs: number;
  readonly headersMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** How often connections are examined for the limits on headers and requests. */
  readonly checkMs: number;
}

export const TIMEOUTS: Timeouts = {
  firstByteMs: 60_000,
  headersMs: 60_000,
  requestMs: 60_000,
  // Load balancers and client pools drop idle connections after 60 s; they should do it first, so
  // that no request meets a connection that is just being closed here.
  keepAliveMs: 65_000,
  checkMs: 10_000,
};

export function makePlain(timeouts: Timeouts, handler: RequestListener): HttpServer {
  return speak(createHttp(settingsOf(timeouts), handler), handler);
}

export function makeSecure(
  timeouts: Timeouts,
  handler: RequestListener,
  { cert, key }: SecureContext,
): HttpsServer {
  const settings = { ...settingsOf(timeouts), handshakeTimeout: timeouts.headersMs, cert, key };
  return speak(createHttps(settings, handler), handler);
}

/** Node's own answers have no body, and clients parse the body of every refusal. */
function speak<S extends Speaker>(speaker: S, handler: RequestListener): S {
  speaker.on('clientError', answerClientError);
  // An expectation that nobody knows may be ignored.
  speaker.on('checkExpectation', handler);
  return speaker;
}

/**
 * Node starts the examination of slow requests when a server listens, which one behind another
 * never does.
 */
export function startTimeouts(speaker: Speaker): void {
  speaker.emit('listening');
}

function settingsOf(timeouts: Timeouts) {
  return {
    noDelay: true,
    maxHeaderSize: HEADER_BYTES_MAX,
    // listen.ts asks for it, and says why.
    requireHostHeader: false,
    keepAliveTimeout: timeouts.keepAliveMs,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkMs,
  } as const;
}
