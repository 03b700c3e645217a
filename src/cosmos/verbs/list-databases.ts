// GET /dbs
import { catalogFeed } from '../feed.js';
import type { Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { databaseResource } from '../resources.js';

export async function listDatabases(request: CosmosRequest): Promise<Reply> {
  return catalogFeed(request, 'Databases', '', request.catalog.databases(), databaseResource);
}
