// One request as the verbs see it, and the reading of its headers.
import type { IncomingHttpHeaders } from 'node:http';
import type { Catalog } from '../catalog/catalog.js';
import type { Documents } from '../documents/documents.js';
import type { Scripts } from '../script/scripts.js';
import type { Budgets } from '../throughput/budgets.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import type { Permit } from './access.js';
import type { Address } from './address.js';
import type { ResourceTokens } from './resource-token.js';

export interface CosmosRequest {
  readonly address: Address;
  readonly headers: IncomingHttpHeaders;
  /** Read once, when the request came in; everything it does happens at this instant. */
  readonly at: Instant;
  readonly activityId: string;
  /** `http://host:port` as the client wrote it. */
  origin(): string;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly scripts: Scripts;
  readonly budgets: Budgets;
  readonly tokens: ResourceTokens;
  /** What a resource token allows; undefined for whoever signed with a key. */
  readonly permit: Permit | undefined;
  body(): Promise<Buffer>;
  /** True once the client has gone away, so that long work can stop. */
  abandoned(): boolean;
}

/** Request bodies and documents alike. */
export const BODY_BYTES_MAX = 2 * 1024 * 1024;
export const PAGE_ITEMS_DEFAULT = 100;
const PAGE_ITEMS_DYNAMIC = 1000;
export const PAGE_ITEMS_MAX = 100_000;

export function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Clients write true, True and TRUE. */
export function flag(headers: IncomingHttpHeaders, name: string): boolean {
  const value = header(headers, name);
  if (value === undefined) return false;
  const lower = value.toLowerCase();
  if (lower === 'true') return true;
  if (lower === 'false' || lower === '') return false;
  throw failure('invalidHeader', { header: name, value, why: 'It must be true or false.' });
}

export interface PageRequest {
  readonly itemsMax: number;
  readonly continuation: string | undefined;
  /** How long the token of the next page may be. */
  readonly tokenBytesMax: number;
}

export function pageOf(headers: IncomingHttpHeaders): PageRequest {
  const text = header(headers, 'x-ms-max-item-count');
  return {
    itemsMax: pageSize(text),
    continuation: header(headers, 'x-ms-continuation') || undefined,
    tokenBytesMax: tokenLimit(headers),
  };
}

const TOKEN_LIMIT = 'x-ms-documentdb-responsecontinuationtokenlimitinkb';

/** Tokens of lists are always shorter than the least that can be asked for. */
function tokenLimit(headers: IncomingHttpHeaders): number {
  const value = header(headers, TOKEN_LIMIT);
  if (value === undefined || value === '') return Number.POSITIVE_INFINITY;
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value) * 1024;
  const why = 'It must be a whole number of kilobytes from 1 to 999999.';
  throw failure('invalidHeader', { header: TOKEN_LIMIT, value, why });
}

function pageSize(text: string | undefined): number {
  if (text === undefined || text === '') return PAGE_ITEMS_DEFAULT;
  if (text === '-1') return PAGE_ITEMS_DYNAMIC;
  const size = Number(text);
  if (!/^\d+$/.test(text) || size < 1 || size > 2_147_483_647) {
    throw failure('invalidPageSize', { value: text });
  }
  return Math.min(size, PAGE_ITEMS_MAX);
}
