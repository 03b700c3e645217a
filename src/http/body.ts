// Reads a request's body into memory, up to a limit. What is beyond the limit is thrown away for a
// while rather than cut off, because a client that is still sending would see a reset instead of
// the answer.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { failure, type MayflyError } from '../value/errors.js';

/**
 * A refused body up to this size is read to its end and its connection stays; a longer one is cut
 * off there.
 */
export const DISCARD_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Rejects with tooLarge or invalidHeader, or with Error('aborted') when the client goes away. After
 * a refusal the caller just answers. It should not add `connection: close`, which would cut off a
 * client that is still sending.
 */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const refusal = refusalOf(request.headers, bytesMax);
  if (refusal !== undefined) {
    discard(request, 0);
    return Promise.reject(refusal);
  }
  if (request.destroyed && !request.readableEnded) return Promise.reject(new Error('aborted'));
  return collect(request, bytesMax);
}

/**
 * True when the client went away in the middle of its request. A request that has arrived is
 * destroyed too, once it is read, but its client still waits.
 */
export function hasLeft(request: IncomingMessage): boolean {
  return request.destroyed && !request.complete;
}

/** Why a body is not read at all, as far as its headers tell. */
export function refusalOf(headers: IncomingHttpHeaders, bytesMax: number): MayflyError | undefined {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    const why = 'Send the body without compression.';
    return failure('invalidHeader', { value: encoding, header: 'content-encoding', why });
  }
  const bytes = Number(headers['content-length'] ?? 0);
  return bytes > bytesMax ? failure('tooLarge', { bytes, limit: bytesMax }) : undefined;
}

/** Reads on without keeping anything; a client that does not stop by itself is stopped. */
function discard(request: IncomingMessage, bytesBefore: number): void {
  let bytes = bytesBefore;
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > DISCARD_BYTES_MAX) request.destroy();
  });
}

function collect(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const onData = (piece: Buffer): void => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes <= bytesMax) return;
      stop();
      discard(request, bytes);
      reject(failure('tooLarge', { bytes: `more than ${bytesMax}`, limit: bytesMax }));
    };
    const onEnd = (): void => {
      stop();
      const [only] = pieces;
      // Most bodies arrive in one piece, which then need not be copied.
      resolve(pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, bytes));
    };
    const onAbort = (): void => {
      stop();
      reject(new Error('aborted'));
    };
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', onAbort).off('close', onAbort);
    };
    request.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
  });
}
