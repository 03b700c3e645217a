// GET /dbs/{db}/colls
import { catalogFeed } from '../feed.js';
import { ownerDatabase } from '../find.js';
import { shownContainer } from '../legacy.js';
import type { Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { databaseRid } from '../rid.js';

export async function listContainers(request: CosmosRequest): Promise<Reply> {
  const database = ownerDatabase(request);
  return catalogFeed(
    request,
    'DocumentCollections',
    databaseRid(database.serial),
    request.catalog.containers(database),
    shownContainer(request.headers),
  );
}
