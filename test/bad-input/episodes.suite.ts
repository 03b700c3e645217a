// What a random client does with one connection: a request, several in one go, chunks of a body,
// garbage, far too much, or going away in the middle.
import { type Random, randomInteger, randomPick } from '../../src/value/random.suite.js';
import { chance, randomBytes, randomRequest, type World } from './mutants.suite.js';
import { bytesOf, signature, type WireRequest } from './wire.suite.js';

export interface Episode {
  /** The requests that are whole, in order; each deserves an answer. */
  readonly requests: readonly WireRequest[];
  /** Made when they are sent, because some are large. */
  readonly bytes: () => Buffer;
  /** After the bytes: wait for the answers, end the connection after a while, or go away. */
  readonly ending: 'wait' | 'end' | 'leave' | 'reset';
}

export function randomEpisode(random: Random, world: World): Episode {
  const kind = random();
  const one = randomRequest(random, world);
  if (kind < 0.65) return whole([one]);
  if (kind < 0.75) return inOneGo(random, world);
  if (kind < 0.83) return inChunks(random, one, world);
  if (kind < 0.9) {
    const bytes = garbage(random, one);
    return { requests: [], bytes: () => bytes, ending: 'end' };
  }
  if (kind < 0.995) {
    const ending = chance(random, 0.5) ? 'reset' : 'leave';
    const bytes = unfinished(random, one);
    return { requests: [], bytes: () => bytes, ending };
  }
  return farTooMuch(one, randomPick(random, [2_000_000, 3_000_000, 9_000_000]), world);
}

function farTooMuch(request: WireRequest, count: number, world: World): Episode {
  const headers = { ...request.headers, 'content-length': String(count) };
  const sent = signedAgain({ ...request, method: 'POST', headers, body: undefined }, world);
  const bytes = () => Buffer.concat([bytesOf(sent), Buffer.alloc(count, 'x')]);
  return { requests: [sent], bytes, ending: 'wait' };
}

function whole(requests: readonly WireRequest[]): Episode {
  return { requests, bytes: () => Buffer.concat(requests.map(bytesOf)), ending: 'wait' };
}

/** Pipelining, with or without something at the end that is no request. */
function inOneGo(random: Random, world: World): Episode {
  const requests = Array.from({ length: 1 + randomInteger(random, 5) }, () =>
    randomRequest(random, world),
  ).filter(({ method }) => method !== 'HEAD');
  const all = whole(requests);
  if (requests.length > 0 && chance(random, 0.7)) return all;
  const behind = randomBytes(random, 1 + randomInteger(random, 60));
  return { ...all, bytes: () => Buffer.concat([all.bytes(), behind]), ending: 'end' };
}

/** Now and then a size is wrong, or the end is missing: then it is no whole request. */
function inChunks(random: Random, request: WireRequest, world: World): Episode {
  const body = request.body ?? Buffer.from('{}');
  const chunks: Buffer[] = [];
  let isWhole = chance(random, 0.9);
  for (let at = 0; at < body.length; ) {
    const piece = body.subarray(at, at + 1 + randomInteger(random, 40));
    const isWrong = chance(random, 0.01);
    const size = isWrong ? randomInteger(random, 100) : piece.length;
    if (size !== piece.length) isWhole = false;
    const extension = chance(random, 0.1) ? `;${'x'.repeat(randomInteger(random, 50))}` : '';
    chunks.push(Buffer.from(`${size.toString(16)}${extension}\r\n`), piece, Buffer.from('\r\n'));
    at += piece.length;
  }
  if (isWhole) chunks.push(Buffer.from('0\r\n\r\n'));
  const headers = { ...request.headers, 'transfer-encoding': 'chunked' };
  const sent = signedAgain(
    { ...request, method: 'POST', headers, body: Buffer.concat(chunks) },
    world,
  );
  return isWhole ? whole([sent]) : { requests: [], bytes: () => bytesOf(sent), ending: 'end' };
}

function garbage(random: Random, request: WireRequest): Buffer {
  const bytes = Buffer.from(bytesOf({ ...request, method: 'GET', headers: { host: 'x' } }));
  switch (randomInteger(random, 4)) {
    case 0:
      return randomBytes(random, 1 + randomInteger(random, 500));
    case 1:
      // What looks like the beginning of a TLS handshake.
      return Buffer.concat([Buffer.of(0x16, 0x03, 0x01), randomBytes(random, 100)]);
    case 2:
      for (let left = 5; left > 0; left--) {
        bytes[randomInteger(random, bytes.length)] = randomInteger(random, 256);
      }
      return bytes;
    default:
      return bytes.subarray(0, 1 + randomInteger(random, bytes.length - 1));
  }
}

/** All but the last byte of a body, at the most. A delete is done once its headers are there. */
function unfinished(random: Random, request: WireRequest): Buffer {
  const body = request.body ?? Buffer.from('{}');
  const headers = { ...request.headers, 'content-length': String(body.length + 1) };
  const method = request.method === 'DELETE' ? 'PUT' : request.method;
  const bytes = bytesOf({ ...request, method, headers, body });
  return bytes.subarray(0, 1 + randomInteger(random, bytes.length));
}

/** The method is part of the signature. */
function signedAgain(request: WireRequest, { key }: World): WireRequest {
  const { method, path, headers } = request;
  const date = headers['x-ms-date'];
  if (typeof date !== 'string' || path.startsWith('/_mayfly/')) return request;
  return {
    ...request,
    headers: { ...headers, authorization: signature(method, path, date, key) },
  };
}
