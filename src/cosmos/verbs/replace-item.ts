// PUT /dbs/{db}/colls/{coll}/docs/{id}
import { readItem } from '../../documents/read.js';
import { failure } from '../../value/errors.js';
import { samePartitionKey } from '../../value/partition-key.js';
import { itemLocator, ownerContainer } from '../find.js';
import { fullPartitionKey } from '../partition-header.js';
import type { Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { writeItem } from './write-item.js';

export async function replaceItem(request: CosmosRequest): Promise<Reply> {
  const address = await itemId(request);
  return writeItem(request, 'replace', (id) => {
    if (id !== address) throw failure('idChanged', { body: id, address });
  });
}

/** The id of the addressed item, which a path of resource ids does not hold. */
export async function itemId(request: CosmosRequest): Promise<string> {
  const container = ownerContainer(request);
  const partition = fullPartitionKey(request.headers, container);
  const locator = itemLocator(request, container, partition);
  if (typeof locator === 'object') return locator.id;
  const { item, lsn } = await readItem(request.documents, container, locator, request.at);
  if (!item || !samePartitionKey(item.key.partition, partition)) {
    throw failure('notFound').seenAt(lsn);
  }
  return item.key.id;
}
