// GET /dbs/{db}/colls/{coll}/docs: all items, or those of a partition key or range, page by page.
import { listItems as list } from '../../documents/list.js';
import { bytesOf, pageCharge } from '../../throughput/charges.js';
import { failure } from '../../value/errors.js';
import { namePath, ownerContainer, rangesIn } from '../find.js';
import { scopeOf } from '../partition-header.js';
import { itemHeaders, type Reply, rowsBody } from '../reply.js';
import { type CosmosRequest, header, pageOf } from '../request.js';
import { containerRid } from '../rid.js';
import { checkSession } from '../session.js';
import { readFeed } from './read-feed.js';

/** More than any token of a list has, and less than the keys they hold may have. */
const CONTINUATION_CHARACTERS_MAX = 1024;

export async function listItems(request: CosmosRequest): Promise<Reply> {
  if (header(request.headers, 'a-im')) return readFeed(request);
  const container = ownerContainer(request);
  const scope = scopeOf(request.headers, container);
  const wanted = pageOf(request.headers);
  if (wanted.continuation && wanted.continuation.length > CONTINUATION_CHARACTERS_MAX) {
    throw failure('invalidContinuation');
  }
  const page = await list(request.documents, container, scope, wanted, request.at);
  checkSession(request.headers, container, page.lsn);
  const bytes = bytesOf(page.items);
  const ranges = rangesIn(container, scope);
  const charge = pageCharge(
    {
      documents: page.items.length,
      documentBytes: bytes,
      answerBytes: bytes,
      ranges: ranges.length,
    },
    wanted.continuation === undefined,
  );
  const path = namePath(request, container);
  const headers = itemHeaders(container, path, ranges, page.lsn, charge);
  headers.push('x-ms-item-count', String(page.items.length));
  if (page.continuation !== undefined) headers.push('x-ms-continuation', page.continuation);
  const rows = page.items.map((item) => item.doc.bytes);
  return { status: 200, headers, body: rowsBody(containerRid(container), 'Documents', rows) };
}
