// GET /dbs/{db}/colls/{coll}/docs/{id}: the stored bytes, unparsed.
import { readItem as read } from '../../documents/read.js';
import { itemReadCharge } from '../../throughput/charges.js';
import type { Doc } from '../../value/doc.js';
import { failure } from '../../value/errors.js';
import { samePartitionKey } from '../../value/partition-key.js';
import { isCurrent } from '../conditions.js';
import { itemLocator, namePath, ownerContainer, rangeOf } from '../find.js';
import { fullPartitionKey } from '../partition-header.js';
import { itemHeaders, type Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { checkSession } from '../session.js';

export async function readItem(request: CosmosRequest): Promise<Reply> {
  const container = ownerContainer(request);
  const partition = fullPartitionKey(request.headers, container);
  const locator = itemLocator(request, container, partition);
  const { item, lsn } = await read(request.documents, container, locator, request.at);
  checkSession(request.headers, container, lsn);
  if (!item || !samePartitionKey(item.key.partition, partition)) {
    throw failure('notFound').seenAt(lsn);
  }
  const current = isCurrent(request.headers, item.etag, () => writtenSeconds(item.doc));
  const charge = itemReadCharge(item, current);
  const path = namePath(request, container);
  const headers = itemHeaders(container, path, rangeOf(container, partition), lsn, charge);
  headers.push('etag', item.etag, 'x-ms-item-lsn', String(item.lsn));
  return { status: current ? 304 : 200, headers, body: current ? undefined : item.doc.bytes };
}

function writtenSeconds(doc: Doc): number {
  return (doc.value as { readonly _ts: number })._ts;
}
