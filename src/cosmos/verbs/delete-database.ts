// DELETE /dbs/{db}: the database with all its containers.
import { DEFINITION_WRITE_CHARGE } from '../../throughput/charges.js';
import { checkMatch } from '../conditions.js';
import { findDatabase } from '../find.js';
import { emptyReply, type Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';

export async function deleteDatabase(request: CosmosRequest): Promise<Reply> {
  const database = findDatabase(request);
  checkMatch(request.headers, database.etag);
  await request.catalog.deleteDatabase(database, request.at);
  return emptyReply(204, DEFINITION_WRITE_CHARGE);
}
