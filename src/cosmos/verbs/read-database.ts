// GET /dbs/{db}
import { DEFINITION_READ_CHARGE } from '../../throughput/charges.js';
import { isCurrent } from '../conditions.js';
import { findDatabase } from '../find.js';
import { emptyReply, type Reply, resourceReply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { databaseResource } from '../resources.js';

export async function readDatabase(request: CosmosRequest): Promise<Reply> {
  const database = findDatabase(request);
  if (isCurrent(request.headers, database.etag, () => database.writtenSeconds)) {
    return emptyReply(304, DEFINITION_READ_CHARGE, ['etag', database.etag]);
  }
  return resourceReply(200, DEFINITION_READ_CHARGE, databaseResource(database));
}
