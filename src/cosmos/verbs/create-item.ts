// POST /dbs/{db}/colls/{coll}/docs, without and with `x-ms-documentdb-is-upsert`.
import type { Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { writeItem } from './write-item.js';

export function createItem(request: CosmosRequest): Promise<Reply> {
  return writeItem(request, 'create', () => undefined);
}

export function upsertItem(request: CosmosRequest): Promise<Reply> {
  return writeItem(request, 'upsert', () => undefined);
}
