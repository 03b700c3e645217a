// What a verb answers: status, headers, body. Headers are a flat list of names and values, as
// node:http takes them.
import type { IncomingHttpHeaders } from 'node:http';
import type { StoredContainer } from '../catalog/resources.js';
import type { Lsn } from '../engine/engine.js';
import { header } from './request.js';
import { containerRid } from './rid.js';
import { sessionToken } from './session.js';

export interface Reply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Uint8Array | string | undefined;
  /** Of the body, where it is not JSON. */
  readonly type?: string;
}

export function jsonReply(
  status: number,
  charge: number,
  body: unknown,
  headers: readonly string[] = [],
): Reply {
  return {
    status,
    headers: ['x-ms-request-charge', chargeText(charge), ...headers],
    body: JSON.stringify(body),
  };
}

export function emptyReply(status: number, charge: number, headers: readonly string[] = []): Reply {
  return {
    status,
    headers: ['x-ms-request-charge', chargeText(charge), ...headers],
    body: undefined,
  };
}

/** A resource of the catalog: its etag is a header and a property. */
export function resourceReply(
  status: number,
  charge: number,
  resource: { readonly _etag: string },
  headers: readonly string[] = [],
): Reply {
  return jsonReply(status, charge, resource, ['etag', resource._etag, ...headers]);
}

export function feedReply(
  envelope: string,
  rid: string,
  resources: readonly unknown[],
  charge: number,
  continuation: string | undefined,
  headers: readonly string[] = [],
): Reply {
  const body = { _rid: rid, [envelope]: resources, _count: resources.length };
  return jsonReply(200, charge, body, [
    'x-ms-item-count',
    String(resources.length),
    ...(continuation === undefined ? [] : ['x-ms-continuation', continuation]),
    ...headers,
  ]);
}

/** Whether a client wants no bodies of what it writes. */
export function isMinimal(headers: IncomingHttpHeaders): boolean {
  return header(headers, 'prefer')?.toLowerCase() === 'return=minimal';
}

/** The headers of every operation on items: where they live and which moment the answer shows. */
export function itemHeaders(
  container: StoredContainer,
  path: string,
  ranges: number | readonly number[],
  lsn: Lsn,
  charge: number,
): string[] {
  return ['x-ms-request-charge', chargeText(charge), ...placeHeaders(container, path, ranges, lsn)];
}

/** The same headers without a charge, for refusals, which have their own. */
export function placeHeaders(
  container: StoredContainer,
  path: string,
  ranges: number | readonly number[],
  lsn: Lsn,
): readonly string[] {
  const position = String(lsn);
  const ids = typeof ranges === 'number' ? [ranges] : ranges;
  return [
    'x-ms-session-token',
    sessionToken(ids, lsn),
    'lsn',
    position,
    'x-ms-global-committed-lsn',
    position,
    'x-ms-documentdb-partitionkeyrangeid',
    ids.join(),
    'x-ms-content-path',
    containerRid(container),
    'x-ms-alt-content-path',
    path,
  ];
}

/** A feed strung together from JSON texts and stored bytes, without parsing any. */
export function rowsBody(
  rid: string,
  envelope: string,
  rows: readonly (string | Uint8Array)[],
): Buffer {
  const start = `{"_rid":"${rid}","${envelope}":[`;
  const end = `],"_count":${rows.length}}`;
  let length = start.length + end.length + Math.max(0, rows.length - 1);
  for (const row of rows) length += typeof row === 'string' ? Buffer.byteLength(row) : row.length;
  const body = Buffer.allocUnsafe(length);
  let at = body.write(start, 'latin1');
  for (const [index, row] of rows.entries()) {
    if (index > 0) body[at++] = COMMA;
    if (typeof row === 'string') at += body.write(row, at);
    else {
      body.set(row, at);
      at += row.length;
    }
  }
  body.write(end, at, 'latin1');
  return body;
}

const COMMA = 0x2c;

export function chargeText(charge: number): string {
  return Number.isInteger(charge) ? String(charge) : charge.toFixed(2);
}
