// A page of a change feed as an answer: 304 where there is nothing new, and always the etag to go
// on from.
import type { StoredContainer } from '../catalog/resources.js';
import type { Scope } from '../documents/list.js';
import type { Lsn } from '../engine/engine.js';
import { feedCharge } from '../throughput/charges.js';
import { namePath, rangesIn } from './find.js';
import { itemHeaders, type Reply, rowsBody } from './reply.js';
import type { CosmosRequest } from './request.js';
import { containerRid } from './rid.js';
import { checkSession } from './session.js';

export interface ChangePage {
  readonly rows: readonly (string | Uint8Array)[];
  /** What was loaded for them. */
  readonly bytes: number;
  readonly etag: string;
  /** Whether there is nothing more for now. */
  readonly isEnd: boolean;
  readonly lsn: Lsn;
}

export function changeReply(
  request: CosmosRequest,
  container: StoredContainer,
  scope: Scope,
  { rows, bytes, etag, isEnd, lsn }: ChangePage,
): Reply {
  checkSession(request.headers, container, lsn);
  const charge = feedCharge(rows.length, bytes);
  const path = namePath(request, container);
  const headers = itemHeaders(container, path, rangesIn(container, scope), lsn, charge);
  headers.push('etag', etag, 'x-ms-item-count', String(rows.length));
  if (rows.length === 0 && isEnd) return { status: 304, headers, body: undefined };
  headers.push('x-ms-continuation', etag);
  return { status: 200, headers, body: rowsBody(containerRid(container), 'Documents', rows) };
}
