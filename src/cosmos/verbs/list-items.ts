// GET /dbs/{db}/colls/{coll}/docs: all items, or those of a partition key or range, page by page.
import type { StoredContainer } from '../../catalog/resources.js';
import { listItems as list, type Page } from '../../documents/list.js';
import { pageCharge } from '../../throughput/charges.js';
import { failure } from '../../value/errors.js';
import { namePath, ownerContainer, rangeOf } from '../find.js';
import { scopeOf } from '../partition-header.js';
import { itemHeaders, type Reply } from '../reply.js';
import { type CosmosRequest, header, pageOf } from '../request.js';
import { containerRid } from '../rid.js';
import { checkSession } from '../session.js';

export async function listItems(request: CosmosRequest): Promise<Reply> {
  const feed = header(request.headers, 'a-im');
  if (feed) throw failure('notSupported', { what: `The change feed (A-IM: ${feed})`, hint: '' });
  const container = ownerContainer(request);
  const scope = scopeOf(request.headers, container);
  const wanted = pageOf(request.headers);
  const page = await list(request.documents, container, scope, wanted, request.at);
  checkSession(request.headers, page.lsn);
  const bytes = page.items.reduce((sum, item) => sum + item.doc.bytes.length, 0);
  const charge = pageCharge(page.items.length, bytes, wanted.continuation === undefined);
  const path = namePath(request, container);
  const rangeId = rangeOf(container, undefined);
  const headers = itemHeaders(container, path, rangeId, page.lsn, charge);
  headers.push('x-ms-item-count', String(page.items.length));
  if (page.continuation !== undefined) headers.push('x-ms-continuation', page.continuation);
  return { status: 200, headers, body: feedBody(container, page) };
}

/** The stored bytes of the items, strung together without parsing any. */
function feedBody(container: StoredContainer, page: Page): Buffer {
  const parts: Uint8Array[] = [Buffer.from(`{"_rid":"${containerRid(container)}","Documents":[`)];
  const comma = Buffer.from(',');
  page.items.forEach((item, index) => {
    if (index > 0) parts.push(comma);
    parts.push(item.doc.bytes);
  });
  parts.push(Buffer.from(`],"_count":${page.items.length}}`));
  return Buffer.concat(parts);
}
