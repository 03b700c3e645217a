// What the conformance tests share: one server per file, signed requests as they go over the wire,
// clients of the SDK, and a shorthand for a container and its items.
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { CosmosClient, type CosmosClientOptions } from '@azure/cosmos';
import { type Mayfly, type StartOptions, start, VirtualClock } from '../../src/main.js';
import { type Instant, instant } from '../../src/time/instant.js';

export type Headers = Readonly<Record<string, string>>;
export type Json = Readonly<Record<string, unknown>>;

/** An answer as it came; `json` is empty where there is no body. */
export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
  readonly json: Json;
}

export interface SendOptions {
  readonly headers?: Headers;
  /** Texts and bytes go out as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly key?: string;
  readonly date?: string;
  /** The last resource id in lower case, which signs a path of resource ids. */
  readonly link?: string;
  /** A certificate to trust: then the request goes by HTTPS. */
  readonly ca?: string;
  /** Where to connect, if not to the loopback address. */
  readonly host?: string;
}

/** A quarter of a second past the full one, so that a rounded `_ts` would be noticed. */
export const NOON = at('2030-06-01T12:00:00.250Z');
export const NOON_SECONDS = Math.floor(NOON / 1000);
export const DAY_MS = 86_400_000;

export function at(iso: string): Instant {
  const ms = Date.parse(iso);
  assert.ok(!Number.isNaN(ms), iso);
  return instant(ms);
}

/** Starts the server of a test file: at noon on a clock that stands still, the purge paused. */
export async function serve(options: StartOptions = {}): Promise<Server> {
  const clock = new VirtualClock();
  clock.freeze();
  clock.set(NOON);
  const server = new Server(await start({ clock, ...storeOf(options), ...options }), clock);
  after(() => server.close());
  const paused = await server.control('POST', 'purge/pause');
  assert.equal(paused.status, 200, paused.text);
  return server;
}

/** test/postgres runs these files again, on a database of which each server takes a schema. */
export function storeOf({ data, store }: StartOptions): StartOptions {
  const address = process.env.MAYFLY_TEST_STORE;
  if (!address || data !== undefined || store !== undefined) return {};
  const url = new URL(address);
  const schema = url.searchParams.get('schema') ?? 's';
  url.searchParams.set('schema', `${schema}_${randomUUID().slice(0, 8)}`);
  return { store: url.href };
}

/** A store that a second server opens when the first is closed. */
export function lastingStore(): StartOptions {
  const shared = storeOf({});
  if (shared.store) return shared;
  const data = mkdtempSync(join(tmpdir(), 'mayfly-lasting-'));
  after(() => rmSync(data, { recursive: true, force: true }));
  return { data };
}

export class Server {
  readonly mayfly: Mayfly;
  readonly clock: VirtualClock;
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #clients: CosmosClient[] = [];
  #boxes = 0;

  constructor(mayfly: Mayfly, clock: VirtualClock) {
    this.mayfly = mayfly;
    this.clock = clock;
  }

  get port(): number {
    return this.mayfly.port;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.dispose();
    this.#agent.destroy();
    await this.mayfly.close();
  }

  /** A request signed as the protocol wants it. The path starts with a slash and is encoded. */
  send(method: string, path: string, options: SendOptions = {}): Promise<Reply> {
    const { key = this.mayfly.key, date = new Date().toUTCString() } = options;
    const headers = {
      'x-ms-date': date,
      'x-ms-version': '2020-07-15',
      authorization: encodeURIComponent(signature(method, path, date, key, options.link)),
      ...options.headers,
    };
    return this.raw(method, path, { ...options, headers });
  }

  /** A request with the headers given and no others. */
  raw(method: string, path: string, options: SendOptions = {}): Promise<Reply> {
    const { headers = {}, host = '127.0.0.1', ca } = options;
    const target = { method, path, headers: { ...headers }, host, port: this.port };
    const request =
      ca === undefined
        ? http.request({ ...target, agent: this.#agent })
        : https.request({ ...target, ca, rejectUnauthorized: true, agent: false });
    return exchange(request, options.body);
  }

  /** The control API, with the account key. */
  control(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Reply> {
    const authorization = `Bearer ${this.mayfly.key}`;
    return this.raw(method, `/_mayfly/${path}`, { headers: { authorization, ...headers }, body });
  }

  client(options: Partial<CosmosClientOptions> = {}): CosmosClient {
    const { cosmos: endpoint, key } = this.mayfly;
    const client = new CosmosClient({ endpoint, key, ...options });
    this.#clients.push(client);
    return client;
  }

  /** A new container in a new database, so that no test meets the items of another. */
  async box(definition: Json = {}, headers: Headers = {}): Promise<Box> {
    this.#boxes += 1;
    const database = `d${this.#boxes}`;
    ok(await this.send('POST', '/dbs', { body: { id: database } }), 201);
    const body = { id: 'c', partitionKey: PARTITION_KEY, ...definition };
    ok(await this.send('POST', `/dbs/${database}/colls`, { body, headers }), 201);
    return new Box(this, database, body);
  }

  /** The value of a metric, named with its labels; 0 while it has none. */
  async metric(name: string): Promise<number> {
    const { text } = ok(await this.control('GET', 'metrics'), 200);
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    return line === undefined ? 0 : Number(line.slice(name.length + 1));
  }
}

const PARTITION_KEY = { paths: ['/pk'], kind: 'Hash', version: 2 };

/** A container whose items have their partition key at `/pk`, unless a header says otherwise. */
export class Box {
  readonly server: Server;
  readonly database: string;
  readonly path: string;
  readonly definition: Json;

  constructor(server: Server, database: string, definition: Json) {
    this.server = server;
    this.database = database;
    this.path = `/dbs/${database}/colls/${String(definition.id)}`;
    this.definition = definition;
  }

  create(item: unknown, headers: Headers = {}): Promise<Reply> {
    return this.server.send('POST', `${this.path}/docs`, {
      body: item,
      headers: { ...keyOf(item), ...headers },
    });
  }

  upsert(item: unknown, headers: Headers = {}): Promise<Reply> {
    return this.create(item, { 'x-ms-documentdb-is-upsert': 'true', ...headers });
  }

  replace(item: Json, headers: Headers = {}): Promise<Reply> {
    return this.server.send('PUT', `${this.path}/docs/${encodeURIComponent(String(item.id))}`, {
      body: item,
      headers: { ...keyOf(item), ...headers },
    });
  }

  patch(id: string, body: unknown, pk: unknown = 'p', headers: Headers = {}): Promise<Reply> {
    return this.server.send('PATCH', `${this.path}/docs/${encodeURIComponent(id)}`, {
      body,
      headers: { ...keyHeader(pk), ...headers },
    });
  }

  read(id: string, pk: unknown = 'p', headers: Headers = {}): Promise<Reply> {
    return this.#one('GET', id, pk, headers);
  }

  remove(id: string, pk: unknown = 'p', headers: Headers = {}): Promise<Reply> {
    return this.#one('DELETE', id, pk, headers);
  }

  list(headers: Headers = {}): Promise<Reply> {
    return this.server.send('GET', `${this.path}/docs`, { headers });
  }

  /** The ids that a list shows, over all pages. */
  async ids(headers: Headers = {}): Promise<readonly string[]> {
    const pages = await this.pages(headers);
    return pages.flatMap((page) => documents(page).map(({ id }) => String(id)));
  }

  async pages(headers: Headers = {}): Promise<readonly Reply[]> {
    const pages: Reply[] = [];
    let continuation: string | undefined;
    do {
      const token = continuation === undefined ? {} : { 'x-ms-continuation': continuation };
      const page = ok(await this.list({ ...headers, ...token }), 200);
      pages.push(page);
      continuation = headerOf(page, 'x-ms-continuation');
    } while (continuation !== undefined && pages.length < PAGES_MAX);
    return pages;
  }

  /** Replaces the definition; undefined takes a setting away. */
  async redefine(changes: Json): Promise<Reply> {
    return this.server.send('PUT', this.path, { body: { ...this.definition, ...changes } });
  }

  /** How many items take space: those that expired too, until they are purged. */
  async stored(): Promise<number> {
    const headers = { 'x-ms-documentdb-populatequotainfo': 'true' };
    const reply = ok(await this.server.send('GET', this.path, { headers }), 200);
    const count = /documentsCount=(\d+);/.exec(String(reply.headers['x-ms-resource-usage']));
    return Number(count?.[1]);
  }

  /** Where time to live stands, from the control API. */
  async status(): Promise<Json> {
    return ok(await this.server.control('GET', `${this.path.slice(1)}/ttl`), 200).json;
  }

  #one(method: string, id: string, pk: unknown, headers: Headers): Promise<Reply> {
    return this.server.send(method, `${this.path}/docs/${encodeURIComponent(id)}`, {
      headers: { ...keyHeader(pk), ...headers },
    });
  }
}

const PAGES_MAX = 1000;

/** The partition-key header; `undefined` stands for a missing property, as `[{}]`. */
export function keyHeader(...components: readonly unknown[]): Headers {
  const json = JSON.stringify(components.map((each) => (each === undefined ? {} : each)));
  const ascii = json.replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return { 'x-ms-documentdb-partitionkey': ascii };
}

function keyOf(item: unknown): Headers {
  if (typeof item !== 'object' || item === null || !('pk' in item)) return keyHeader(undefined);
  return keyHeader(item.pk);
}

/** Gives the answer back if it has the status, and shows it if not. */
export function ok(reply: Reply, status: number): Reply {
  assert.equal(reply.status, status, reply.text);
  return reply;
}

/** An error as every client expects it: code, message, sub-status. */
export function refused(reply: Reply, status: number, subStatus: number, text?: string): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.json.code, CODES[status]);
  assert.equal(reply.headers['x-ms-substatus'], String(subStatus), reply.text);
  assert.equal(typeof reply.json.message, 'string');
  if (text !== undefined) {
    const message = plainMessage(reply);
    assert.ok(message.includes(text), `'${text}' is not in: ${message}`);
  }
}

const CODES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'RequestEntityTooLarge',
};

/** The text of an error, taken out of the wrapping that messages of the storage layer have. */
export function plainMessage(reply: Reply): string {
  const message = String(reply.json.message);
  const wrapped = /^Message: (\{.*\})\r\n/s.exec(message)?.[1];
  if (wrapped === undefined) return message;
  return (JSON.parse(wrapped) as { Errors: string[] }).Errors.join('\n');
}

export function headerOf(reply: Reply, name: string): string | undefined {
  const value = reply.headers[name];
  return Array.isArray(value) ? value.join() : value;
}

export function documents(reply: Reply): readonly Json[] {
  return listOf(reply, 'Documents');
}

export function listOf(reply: Reply, envelope: string): readonly Json[] {
  const list = reply.json[envelope];
  assert.ok(Array.isArray(list), reply.text);
  assert.equal(reply.json._count, list.length);
  return list as Json[];
}

/** `type=master&ver=1.0&sig=…` over the path, or over a resource id. */
export function signature(
  method: string,
  path: string,
  date: string,
  key: string,
  ridLink?: string,
): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  const isFeed = segments.length % 2 === 1;
  const type = segments.at(isFeed ? -1 : -2) ?? '';
  const names = isFeed ? segments.slice(0, -1) : segments;
  const link = ridLink ?? names.map(decodeURIComponent).join('/');
  const text = `${method.toLowerCase()}\n${type}\n${link}\n${date.toLowerCase()}\n\n`;
  const hash = createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
  return `type=master&ver=1.0&sig=${hash}`;
}

async function exchange(request: http.ClientRequest, body: unknown): Promise<Reply> {
  const sent = bodyBytes(body);
  if (sent !== undefined) request.setHeader('content-length', sent.length);
  request.end(sent);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  const text = bytes.toString();
  const isJson = response.headers['content-type']?.startsWith('application/json') === true;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    bytes,
    json: isJson && text !== '' ? (JSON.parse(text) as Json) : {},
  };
}

function bodyBytes(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
