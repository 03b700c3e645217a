// The requests as bytes: the items that every subject stores, signatures, and HTTP/1.1 by hand.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { WELL_KNOWN_KEY } from '../../src/http/keys.js';
import type { Asked } from './questions.js';

export const HOST = '127.0.0.1';
export const DATABASE = 'bench';
export const CONTAINER = 'items';
export const CONTAINER_LINK = `dbs/${DATABASE}/colls/${CONTAINER}`;
export const PARTITIONS = 1000;

export interface ItemName {
  readonly id: string;
  readonly pk: string;
}

/** The same item for the same number, everywhere; neighbours in number are none in key order. */
export function itemName(index: number): ItemName {
  const mixed = Math.imul(index + 1, 0x9e3779b1) >>> 0;
  return { id: `${mixed.toString(16).padStart(8, '0')}-${index}`, pk: `p${mixed % PARTITIONS}` };
}

export interface ItemExtras {
  readonly ttl?: number | undefined;
  readonly fields?: number | undefined;
  /** `k` says which of so many groups it belongs to. */
  readonly groups?: number | undefined;
}

/** A JSON text of about this many bytes, with the kinds of values that documents have. */
export function itemText(
  index: number,
  version: number,
  bytes: number,
  { ttl, fields = 0, groups }: ItemExtras = {},
): string {
  const item = {
    ...itemName(index),
    ...(ttl === undefined ? {} : { ttl }),
    ...(groups === undefined ? {} : { k: index % groups }),
    ...fieldsOf(index, fields),
    version,
    state: ['new', 'paid', 'sent', 'done'][index % 4],
    price: (index % 10_000) / 100,
    tags: ['red', 'blue'],
    note: '',
  };
  const missing = Math.max(0, bytes - JSON.stringify(item).length);
  const filler = 'the quick brown fox jumps over the lazy dog, and then it rests. ';
  item.note = filler.repeat(Math.ceil(missing / filler.length)).slice(0, missing);
  return JSON.stringify(item);
}

export const fieldName = (number: number): string => `field${number}`;

/** As many more properties, whose values are in no order. */
function fieldsOf(index: number, count: number): Record<string, string> {
  const field = (_: unknown, number: number) => {
    const mixed = Math.imul(index + 1, 0x9e3779b1 + 2 * number) >>> 0;
    return [fieldName(number), mixed.toString(36)];
  };
  return Object.fromEntries(Array.from({ length: count }, field));
}

/** Work on single items. */
export type ItemWork =
  /** Reads of `count` items spread evenly over the first `among`. */
  | { readonly kind: 'read'; readonly count: number; readonly among: number }
  /** The same, but each has a number in it raised by one. */
  | { readonly kind: 'change'; readonly count: number; readonly among: number }
  /** Writes the items from `from` on for the first time. */
  | {
      readonly kind: 'fill';
      readonly from: number;
      readonly count: number;
      readonly bytes: number;
      readonly fields?: number;
      readonly groups?: number;
    }
  /** Every other one is a new item from `from` on, the rest replace some of the first `among`. */
  | {
      readonly kind: 'upsert';
      readonly from: number;
      readonly among: number;
      readonly count: number;
      readonly bytes: number;
    };
/** What a load consists of. */
export type Work =
  | ItemWork
  | BatchWork
  | { readonly kind: 'query'; readonly asked: readonly Asked[] };

/** New items from `from` on, a hundred in one request: all or none in one partition, or bulk. */
export interface BatchWork {
  readonly kind: 'batch';
  readonly from: number;
  readonly count: number;
  readonly bytes: number;
  readonly atomic: boolean;
}
export const OPERATIONS_PER_BATCH = 100;

const SCATTER = 7919;

/** Which item each request of a load is about. */
export function indexesOf(work: ItemWork): readonly number[] {
  return Array.from({ length: work.count }, (_, number) => {
    if (work.kind === 'read' || work.kind === 'change') {
      return Math.floor((number * work.among) / work.count);
    }
    if (work.kind === 'fill') return work.from + number;
    return number % 2 === 0 ? work.from + number / 2 : (number * SCATTER) % work.among;
  });
}

/** What the n-th request of a load writes. */
export function writtenText(
  work: Exclude<ItemWork, { kind: 'read' | 'change' }>,
  index: number,
  number: number,
): string {
  const { fields, groups } = work.kind === 'fill' ? work : {};
  return itemText(index, number, work.bytes, { fields, groups });
}

export interface Call {
  readonly verb: string;
  readonly path: string;
  readonly type: string;
  readonly link: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const secret: KeyObject = createSecretKey(Buffer.from(WELL_KNOWN_KEY, 'base64'));

export function signature(call: Call, date: string): string {
  const { verb, type, link } = call;
  const payload = `${verb.toLowerCase()}\n${type}\n${link}\n${date.toLowerCase()}\n\n`;
  const digest = createHmac('sha256', secret).update(payload).digest('base64');
  return encodeURIComponent(`type=master&ver=1.0&sig=${digest}`);
}

export function signedHeaders(call: Call, date: string): Record<string, string> {
  return {
    accept: 'application/json',
    'x-ms-version': '2018-12-31',
    'x-ms-date': date,
    authorization: signature(call, date),
    ...call.headers,
  };
}

/** All requests of a load, ready to be sent: signed now, so good for a quarter of an hour. */
export function requestBytes(work: Work, port: number): readonly Buffer[] {
  const date = new Date().toUTCString();
  if (work.kind === 'query') {
    return work.asked.map((asked) => toBytes(queryCall(asked), date, port));
  }
  if (work.kind === 'batch') {
    const first = Array.from({ length: work.count / OPERATIONS_PER_BATCH }, (_, number) => number);
    return first.map((number) => toBytes(batchCall(work, number), date, port));
  }
  if (work.kind === 'read') {
    return indexesOf(work).map((index) => toBytes(readCall(index), date, port));
  }
  if (work.kind === 'change') {
    return indexesOf(work).map((index) => toBytes(changeCall(index), date, port));
  }
  // All writes go to one link, so they share one signature.
  const shared = signedHeaders(upsertCall(0, ''), date);
  return indexesOf(work).map((index, number) => {
    const call = upsertCall(index, writtenText(work, index, number));
    return encode(call, { ...shared, ...call.headers }, port);
  });
}

export function readCall(index: number): Call {
  const { id, pk } = itemName(index);
  const link = `${CONTAINER_LINK}/docs/${id}`;
  return { verb: 'GET', path: `/${link}`, type: 'docs', link, headers: partitionHeader(pk) };
}

function changeCall(index: number): Call {
  const { headers, ...call } = readCall(index);
  const body = JSON.stringify({ operations: [{ op: 'incr', path: '/version', value: 1 }] });
  return {
    ...call,
    verb: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json_patch+json' },
    body,
  };
}

/** Rows on one page: more than any answer has. */
const PAGE_ROWS = 1000;

export function queryCall(asked: Omit<Asked, 'postgres'>): Call {
  const { sql, parameters, values, partition } = asked;
  const scope: Record<string, string> =
    partition === undefined
      ? { 'x-ms-documentdb-query-enablecrosspartition': 'true' }
      : partitionHeader(partition);
  const headers = {
    ...scope,
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'true',
    'x-ms-max-item-count': String(PAGE_ROWS),
  };
  const named = parameters.map((name, index) => ({ name, value: values[index] }));
  const body = JSON.stringify({ query: sql, parameters: named });
  const path = `/${CONTAINER_LINK}/docs`;
  return { verb: 'POST', path, type: 'docs', link: CONTAINER_LINK, headers, body };
}

function upsertCall(index: number, body: string): Call {
  const headers = {
    ...partitionHeader(itemName(index).pk),
    'content-type': 'application/json',
    'x-ms-documentdb-is-upsert': 'true',
  };
  const path = `/${CONTAINER_LINK}/docs`;
  return { verb: 'POST', path, type: 'docs', link: CONTAINER_LINK, headers, body };
}

function batchCall({ from, bytes, atomic }: BatchWork, number: number): Call {
  const first = from + number * OPERATIONS_PER_BATCH;
  const pk = `batch${first}`;
  const operations = Array.from({ length: OPERATIONS_PER_BATCH }, (_, index) => {
    const item = JSON.parse(itemText(first + index, number, bytes)) as ItemName;
    return atomic
      ? { operationType: 'Create', resourceBody: { ...item, pk } }
      : {
          operationType: 'Create',
          partitionKey: JSON.stringify([item.pk]),
          resourceBody: item,
        };
  });
  const headers = {
    ...(atomic ? partitionHeader(pk) : { 'x-ms-documentdb-partitionkeyrangeid': '0' }),
    'content-type': 'application/json',
    'x-ms-cosmos-is-batch-request': 'true',
    'x-ms-cosmos-batch-atomic': String(atomic),
    ...(atomic ? {} : { 'x-ms-cosmos-batch-continue-on-error': 'true' }),
  };
  const path = `/${CONTAINER_LINK}/docs`;
  const body = JSON.stringify(operations);
  return { verb: 'POST', path, type: 'docs', link: CONTAINER_LINK, headers, body };
}

function partitionHeader(pk: string): Record<string, string> {
  return { 'x-ms-documentdb-partitionkey': JSON.stringify([pk]) };
}

function toBytes(call: Call, date: string, port: number): Buffer {
  return encode(call, signedHeaders(call, date), port);
}

function encode(call: Call, headers: Readonly<Record<string, string>>, port: number): Buffer {
  const lines = [`${call.verb} ${call.path} HTTP/1.1`, `host: ${HOST}:${port}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (call.body !== undefined) lines.push(`content-length: ${Buffer.byteLength(call.body)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${call.body ?? ''}`);
}
