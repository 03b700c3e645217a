// What the tables of bad requests share: a server with something to lose, its state as text, and
// rows of requests with the refusals they deserve.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Mayfly, start, VirtualClock } from '../../src/main.js';
import { instant } from '../../src/time/instant.js';
import { type Answer, bytesOf, type Headers, signature, talk } from './wire.suite.js';

export const SHOP = '/dbs/shop';
export const COLLS = '/dbs/shop/colls';
export const CARTS = '/dbs/shop/colls/carts';
export const DOCS = '/dbs/shop/colls/carts/docs';
export const ITEM = '/dbs/shop/colls/carts/docs/1';

export const PK = 'x-ms-documentdb-partitionkey';
export const IN_A: Headers = { [PK]: '["a"]' };
export const READ_ONLY_KEY = keyOf('reader');

/** How a request says who asks: the rest is taken care of, or left out, or wrong. */
export type Sign = 'signed' | 'unsigned' | 'bearer' | 'reader';

export interface Row {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Buffer | undefined;
  readonly sign: Sign;
  readonly status: number;
  readonly subStatus: number;
  /** Parts of the message: the offending value and the rule. */
  readonly says: readonly string[];
}
interface Extra {
  readonly headers?: Headers;
  /** Texts and bytes go out as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly sign?: Sign;
  readonly sub?: number;
}

export function row(
  method: string,
  path: string,
  status: number,
  says: string | readonly string[],
  extra: Extra = {},
): Row {
  const { headers = {}, sign = 'signed', sub = 0 } = extra;
  const body = bodyOf(extra.body);
  const shown = [path, JSON.stringify(headers), body?.toString() ?? ''].map(clip);
  return {
    name: `${method} ${shown.join(' ')}`,
    method,
    path,
    headers,
    body,
    sign,
    status,
    subStatus: sub,
    says: typeof says === 'string' ? [says] : says,
  };
}

/** The code word of every status that a refusal may have. */
export const CODES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'RequestEntityTooLarge',
  431: 'RequestHeaderFieldsTooLarge',
};

/**
 * A server at a standing virtual noon, with something of everything in it. It keeps it on disk,
 * because that store has limits of its own.
 */
export class Target {
  readonly defects: string[] = [];
  readonly #data = mkdtempSync(join(tmpdir(), 'mayfly-bad-input-'));
  #server: Mayfly | undefined;

  async start(): Promise<void> {
    const clock = new VirtualClock();
    clock.freeze();
    clock.set(instant(Date.UTC(2030, 5, 1, 12)));
    this.#server = await start({
      clock,
      data: this.#data,
      readOnlyKey: READ_ONLY_KEY,
      log: (level, event, fields) => {
        if (level === 'error') this.defects.push(`${event} ${String(fields?.error)}`);
      },
    });
    await this.ask('POST', '/_mayfly/purge/pause', { sign: 'bearer' });
    await this.#fill();
  }

  async close(): Promise<void> {
    await this.#server?.close();
    rmSync(this.#data, { recursive: true, force: true });
  }

  get server(): Mayfly {
    assert.ok(this.#server !== undefined);
    return this.#server;
  }

  async ask(method: string, path: string, extra: Omit<Extra, 'sub'> = {}): Promise<Answer> {
    const { headers = {}, sign = 'signed' } = extra;
    const all = { ...this.#identity(method, path, sign), ...headers };
    const bytes = bytesOf({ method, path, headers: all, body: bodyOf(extra.body) });
    const isHead = method === 'HEAD';
    const { answers, outcome } = await talk(this.server.port, [bytes], { answersMax: 1, isHead });
    const [answer] = answers;
    assert.ok(answer !== undefined, `no answer: ${outcome}`);
    return answer;
  }

  async json(method: string, path: string, extra: Omit<Extra, 'sub'> = {}) {
    const { status, body } = await this.ask(method, path, extra);
    assert.ok(status < 300, `${method} ${path} answered ${status} ${body}`);
    return JSON.parse(body.toString()) as Record<string, unknown>;
  }

  /** Every byte a client can read of databases, containers, items and offers. */
  async state(): Promise<string> {
    const parts: string[] = [];
    const list = async (path: string) => {
      const { body, headers } = await this.ask('GET', path, {
        headers: { 'x-ms-max-item-count': '-1' },
      });
      assert.equal(headers.has('x-ms-continuation'), false);
      parts.push(`${path} ${body}`);
      return JSON.parse(body.toString()) as Record<string, readonly { id: string }[]>;
    };
    for (const { id } of (await list('/dbs')).Databases ?? []) {
      const containers = (await list(`/dbs/${id}/colls`)).DocumentCollections ?? [];
      for (const container of containers) await list(`/dbs/${id}/colls/${container.id}/docs`);
    }
    await list('/offers');
    parts.push((await this.ask('GET', '/_mayfly/clock', { sign: 'bearer' })).body.toString());
    return parts.join('\n');
  }

  #identity(method: string, path: string, sign: Sign): Headers {
    const { key } = this.server;
    const host = 'localhost';
    if (sign === 'unsigned') return { host };
    if (sign === 'bearer') return { host, authorization: `Bearer ${key}` };
    const date = new Date().toUTCString();
    const by = sign === 'reader' ? READ_ONLY_KEY : key;
    return { host, 'x-ms-date': date, authorization: signature(method, path, date, by) };
  }

  async #fill(): Promise<void> {
    const partitionKey = { paths: ['/pk'] };
    await this.json('POST', '/dbs', { body: { id: 'shop' } });
    const headers = { 'x-ms-offer-throughput': '500' };
    await this.json('POST', '/dbs', { body: { id: 'shared' }, headers });
    for (const [id, parts] of Object.entries({
      carts: { defaultTtl: -1 },
      plain: {},
      bare: { indexingPolicy: { indexingMode: 'none' } },
      old: { partitionKey: { paths: ['/pk'], kind: 'Hash', version: 1 } },
      levels: { partitionKey: { paths: ['/tenant', '/user'], kind: 'MultiHash' } },
      unique: { uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/email'] }] } },
    })) {
      await this.json('POST', COLLS, { body: { id, partitionKey, ...parts } });
    }
    for (const id of ['1', '2', '3', '4', '5']) {
      for (const container of ['carts', 'plain']) {
        const body = { id, pk: 'a', email: `${id}@a.test` };
        await this.json('POST', `${COLLS}/${container}/docs`, { headers: IN_A, body });
      }
    }
    const body = { id: '1', pk: 'a', email: 'a@a.test' };
    await this.json('POST', `${COLLS}/unique/docs`, { headers: IN_A, body });
  }
}

function bodyOf(body: unknown): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function keyOf(name: string): string {
  return createHash('sha512').update(name).digest('base64');
}

const SHOWN_CHARACTERS_MAX = 120;

function clip(text: string): string {
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`;
}
