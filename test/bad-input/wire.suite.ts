// HTTP by hand: requests as bytes, so that they can be wrong in every way, and answers read from
// bytes, as many as come.
import { createHmac } from 'node:crypto';
import { connect } from 'node:net';

/** A list of values sends the header several times. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Buffer | undefined;
}
export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}
export interface Exchange {
  readonly answers: readonly Answer[];
  /** Bytes at the end that are no whole answer. */
  readonly rest: Buffer;
  readonly outcome: 'ended' | 'enough' | 'timeout';
}

/** Scripts are compiled in threads of their own, for which a loaded machine takes its time. */
export const WAIT_MS = 20_000;
const LEAVE_AFTER_MS = 2;

/** What the server takes a path apart to, done again here; escapes that are none stay. */
export function signature(method: string, path: string, date: string, key: string): string {
  const segments = path.split('/');
  while (segments.length > 1 && segments[0] === '') segments.shift();
  while (segments.length > 1 && segments.at(-1) === '') segments.pop();
  // An operation is signed as a request to its container.
  if (segments.length === 6 && segments[4] === 'operations') segments.splice(4);
  const isFeed = segments.length % 2 === 1;
  const type = segments[segments.length - (isFeed ? 1 : 2)] ?? '';
  const linked = isFeed ? segments.slice(0, -1) : segments;
  const link = linked.map((segment, index) => (index % 2 === 1 ? unescaped(segment) : segment));
  return signatureOver(method, type, link.join('/'), date, key);
}

export function signatureOver(
  method: string,
  type: string,
  link: string,
  date: string,
  key: string,
): string {
  const lines = [method.toLowerCase(), type.toLowerCase(), link, date.toLowerCase(), '', ''];
  const hmac = createHmac('sha256', Buffer.from(key, 'base64')).update(lines.join('\n'));
  return encodeURIComponent(`type=master&ver=1.0&sig=${hmac.digest('base64')}`);
}

/** The bytes of a request. A content length that is given stays, right or wrong. */
export function bytesOf({ method, path, headers, body }: WireRequest): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`];
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : values) {
      lines.push(`${name}: ${value}`);
    }
  }
  const framed = 'content-length' in headers || 'transfer-encoding' in headers;
  if (body !== undefined && !framed) lines.push(`content-length: ${body.length}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}

export interface Talk {
  /** Answers to wait for; without it, until the server ends the connection. */
  readonly answersMax?: number;
  /** Whether to say that nothing more will come, at once or after a while. */
  readonly end?: boolean;
  readonly endAfterMs?: number;
  readonly isHead?: boolean;
  readonly waitMs?: number;
}

/** Sends the pieces one after another, and reads until enough has come or the server ends it. */
export function talk(
  port: number,
  pieces: readonly Buffer[],
  options: Talk = {},
): Promise<Exchange> {
  const { answersMax, end = false, endAfterMs, isHead = false, waitMs = WAIT_MS } = options;
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const received: Buffer[] = [];
    const finish = (outcome: Exchange['outcome']): void => {
      clearTimeout(timer);
      clearTimeout(endTimer);
      socket.destroy();
      resolve({ ...parseAnswers(Buffer.concat(received), isHead), outcome });
    };
    const timer = setTimeout(() => finish('timeout'), waitMs);
    const endTimer =
      endAfterMs === undefined ? undefined : setTimeout(() => socket.end(), endAfterMs);
    socket.on('data', (piece) => {
      received.push(piece);
      if (answersMax === undefined) return;
      const { answers } = parseAnswers(Buffer.concat(received), isHead);
      if (answers.length >= answersMax) finish('enough');
    });
    // A reset is an end too; what it means for the caller is told by the answers.
    socket.on('error', () => undefined);
    socket.on('close', () => finish('ended'));
    socket.on('connect', () => {
      for (const piece of pieces) socket.write(piece);
      if (end) socket.end();
    });
  });
}

/** Sends bytes and goes away, with a reset or without. */
export function leave(port: number, bytes: Buffer, isReset: boolean): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.on('connect', () => {
      socket.write(bytes, () => {
        setTimeout(() => (isReset ? socket.resetAndDestroy() : socket.destroy()), LEAVE_AFTER_MS);
      });
    });
  });
}

/** Takes whole answers off the beginning; interim ones (1xx) do not count. */
export function parseAnswers(
  bytes: Buffer,
  isHead: boolean,
): { readonly answers: readonly Answer[]; readonly rest: Buffer } {
  const answers: Answer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const found = parseAnswer(rest, isHead);
    if (found === undefined) break;
    if (found.answer.status >= 200) answers.push(found.answer);
    rest = rest.subarray(found.end);
  }
  return { answers, rest };
}

function parseAnswer(
  bytes: Buffer,
  isHead: boolean,
): { readonly answer: Answer; readonly end: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  if (Number.isNaN(status)) return undefined;
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodyStart = headEnd + 4;
  const isEmpty = isHead || status < 200 || status === 204 || status === 304;
  if (isEmpty) return { answer: { status, headers, body: Buffer.of() }, end: bodyStart };
  const framed =
    headers.get('transfer-encoding') === 'chunked'
      ? readChunks(bytes, bodyStart)
      : readLength(bytes, bodyStart, Number(headers.get('content-length')));
  return framed && { answer: { status, headers, body: framed.body }, end: framed.end };
}

interface Framed {
  readonly body: Buffer;
  readonly end: number;
}

function readLength(bytes: Buffer, start: number, length: number): Framed | undefined {
  const end = start + length;
  return bytes.length >= end ? { body: bytes.subarray(start, end), end } : undefined;
}

function readChunks(bytes: Buffer, start: number): Framed | undefined {
  const chunks: Buffer[] = [];
  let at = start;
  while (true) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    const chunkEnd = lineEnd + 2 + size;
    if (Number.isNaN(size) || bytes.length < chunkEnd + 2) return undefined;
    chunks.push(bytes.subarray(lineEnd + 2, chunkEnd));
    at = chunkEnd + 2;
    if (size === 0) return { body: Buffer.concat(chunks), end: at };
  }
}

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
