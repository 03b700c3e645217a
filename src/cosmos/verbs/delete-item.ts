// DELETE /dbs/{db}/colls/{coll}/docs/{id}
import { deleteItem as remove } from '../../documents/write.js';
import { conditionsOf } from '../conditions.js';
import { namePath, ownerContainer, rangeOf } from '../find.js';
import { fullPartitionKey } from '../partition-header.js';
import { itemHeaders, type Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { namesTriggers, withTriggers } from '../triggers.js';
import { itemId } from './replace-item.js';
import { refuseUnsupportedHeaders } from './write-item.js';

export async function deleteItem(request: CosmosRequest): Promise<Reply> {
  refuseUnsupportedHeaders(request);
  ownerContainer(request);
  return namesTriggers(request) ? withTriggers(request, 'Delete', removeItem) : removeItem(request);
}

async function removeItem(request: CosmosRequest): Promise<Reply> {
  const container = ownerContainer(request);
  const partition = fullPartitionKey(request.headers, container);
  const key = { partition, id: await itemId(request) };
  const conditions = conditionsOf(request.headers);
  const { lsn, charge } = await remove(request.documents, container, key, conditions, request.at);
  const path = namePath(request, container);
  const headers = itemHeaders(container, path, rangeOf(container, partition), lsn, charge);
  return { status: 204, headers, body: undefined };
}
