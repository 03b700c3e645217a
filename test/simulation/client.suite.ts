// A small raw client: signed requests over kept connections, so that a test sees exactly what goes
// over the wire and no library tidies it up.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { WELL_KNOWN_KEY } from '../../src/http/keys.js';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON, or undefined when there was no body. */
  readonly body: unknown;
}

export interface Ask {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Goes on between the headers of the request and its body. */
  readonly beforeBody?: () => Promise<unknown>;
  /** Called as soon as the status is known, before the body of the answer has arrived. */
  readonly onStatus?: (status: number) => void;
}

const CONNECTIONS_MAX = 64;
const ANSWER_MS_MAX = 60_000;
const API_VERSION = '2018-12-31';

export class Client {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  readonly #key: KeyObject = createSecretKey(Buffer.from(WELL_KNOWN_KEY, 'base64'));

  constructor(port: number) {
    this.#port = port;
  }

  /** A request of the REST API; the path is made of plain names, without escapes. */
  cosmos(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const date = new Date().toUTCString();
    return this.#send(method, `/${path}`, ask, {
      authorization: this.#signature(method, path, date),
      'x-ms-date': date,
      'x-ms-version': API_VERSION,
    });
  }

  /** A request of the control API. */
  control(method: string, path: string, body?: unknown): Promise<Answer> {
    const authorization = `Bearer ${WELL_KNOWN_KEY}`;
    return this.#send(method, `/_mayfly/${path}`, { body }, { authorization });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Signed are the kind of the last resource and the path down to the last name. */
  #signature(method: string, path: string, date: string): string {
    const segments = path.split('/');
    const isFeed = segments.length % 2 === 1;
    const type = segments.at(isFeed ? -1 : -2) ?? '';
    const link = isFeed ? segments.slice(0, -1).join('/') : path;
    const text = `${method.toLowerCase()}\n${type}\n${link}\n${date.toLowerCase()}\n\n`;
    const signature = createHmac('sha256', this.#key).update(text).digest('base64');
    return encodeURIComponent(`type=master&ver=1.0&sig=${signature}`);
  }

  #send(
    method: string,
    path: string,
    ask: Ask,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    const text = ask.body === undefined ? undefined : JSON.stringify(ask.body);
    const length = text === undefined ? 0 : Buffer.byteLength(text);
    return new Promise((resolve, reject) => {
      const outgoing = request({
        host: '127.0.0.1',
        port: this.#port,
        agent: this.#agent,
        method,
        path,
        headers: { ...headers, ...ask.headers, 'content-length': length },
      });
      outgoing.on('error', reject);
      outgoing.setTimeout(ANSWER_MS_MAX, () => {
        outgoing.destroy(new Error(`no answer to ${method} ${path}`));
      });
      outgoing.on('response', (incoming) => {
        const status = incoming.statusCode ?? 0;
        ask.onStatus?.(status);
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const body = Buffer.concat(parts).toString();
          const parsed: unknown = body === '' ? undefined : JSON.parse(body);
          resolve({ status, headers: incoming.headers, body: parsed });
        });
      });
      if (ask.beforeBody) outgoing.flushHeaders();
      Promise.resolve(ask.beforeBody?.()).then(() => outgoing.end(text), reject);
    });
  }
}

/** A partition key as its header wants it; a missing one is `[{}]`. */
export function partitionHeader(value: unknown): Readonly<Record<string, string>> {
  return { 'x-ms-documentdb-partitionkey': JSON.stringify([value === undefined ? {} : value]) };
}
