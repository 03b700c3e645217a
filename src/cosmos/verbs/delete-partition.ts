// POST /dbs/{db}/colls/{coll}/operations/partitionkeydelete: all items of the key in the header.
import { deletePartition as remove } from '../../documents/delete-partition.js';
import { namePath, ownerContainer, rangeOf } from '../find.js';
import { fullPartitionKey } from '../partition-header.js';
import { itemHeaders, type Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';

export async function deletePartition(request: CosmosRequest): Promise<Reply> {
  const container = ownerContainer(request);
  const partition = fullPartitionKey(request.headers, container);
  const { charge, lsn } = await remove(request.documents, container, partition, request.at);
  const path = namePath(request, container);
  const headers = itemHeaders(container, path, rangeOf(container, partition), lsn, charge);
  return { status: 200, headers, body: undefined };
}
