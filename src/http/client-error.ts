// The answer to what is not even an HTTP request: too long headers, a request that never ends, or
// garbage. There is no response object for these, so the answer is written to the socket as text.
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { failure } from '../value/errors.js';
import { codeOf } from './codes.js';

export const HEADER_BYTES_MAX = 32 * 1024;

/** A listener for the 'clientError' event of an HTTP or HTTPS server. */
export function answerClientError(error: Error & { code?: string }, socket: Duplex): void {
  const code = error.code ?? '';
  const isTimeout = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const isParsing = code.startsWith('HPE_');
  if (piecesSeen.has(socket) && isParsing) {
    // Once it has complained the parser does so about every further piece of the same request.
    lingerOrDestroy(socket);
  } else if ((!isTimeout && !isParsing) || !socket.writable) {
    // A failed TLS handshake or a broken connection has nobody left to talk to.
    socket.destroy();
  } else {
    piecesSeen.set(socket, 0);
    answerInTurn(socket, code);
  }
}

/**
 * Requests that arrived in full before the bad one get their own answers first: a client that read
 * the refusal instead would believe that its write was refused, while it was done.
 */
function answerInTurn(socket: Duplex, code: string): void {
  const answer = answerOn(socket);
  if (!socket.writable) return;
  if (answer?.req.complete) {
    answer.once('finish', () => answerInTurn(socket, code));
  } else if (answer?.headersSent) {
    // Text in the middle of an answer would corrupt it.
    socket.destroy();
  } else if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    // A slow client could hold the connection for ever by sending a byte now and then.
    socket.end(answerTo(code), () => socket.destroy());
  } else {
    socket.end(answerTo(code));
  }
}

/**
 * The answer in progress on a connection. Node keeps it there and offers no other way to find it.
 */
export function answerOn(socket: Duplex): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Pieces of a refused request that are read and thrown away before the connection is cut. */
const LINGER_PIECES_MAX = 64;
const piecesSeen = new WeakMap<Duplex, number>();

/**
 * Cutting the connection while bytes are unread would reset it, and the client might never see the
 * answer.
 */
function lingerOrDestroy(socket: Duplex): void {
  const pieces = (piecesSeen.get(socket) ?? 0) + 1;
  piecesSeen.set(socket, pieces);
  if (pieces > LINGER_PIECES_MAX) socket.destroy();
}

/** For a request that does not come to its end. */
export function timeoutAnswer(): string {
  const message = 'The request did not arrive completely within the time allowed.';
  return rawAnswer('408 Request Timeout', 'RequestTimeout', message);
}

/** For what is no request, or only half of one. */
export function brokenAnswer(): string {
  const message = 'The bytes received are not a valid HTTP request.';
  return rawAnswer('400 Bad Request', 'BadRequest', message);
}

function answerTo(code: string): string {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const { message } = failure('headersTooLarge', { limit: HEADER_BYTES_MAX });
    return rawAnswer('431 Request Header Fields Too Large', codeOf(431), message);
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return timeoutAnswer();
  return brokenAnswer();
}

function rawAnswer(status: string, code: string, message: string): string {
  const body = JSON.stringify({ code, message });
  const headers = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}
