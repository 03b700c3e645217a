// DELETE /dbs/{db}/colls/{coll}
import { DEFINITION_WRITE_CHARGE } from '../../throughput/charges.js';
import { checkMatch } from '../conditions.js';
import { findContainer } from '../find.js';
import { emptyReply, type Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';

export async function deleteContainer(request: CosmosRequest): Promise<Reply> {
  const container = findContainer(request);
  checkMatch(request.headers, container.etag);
  await request.catalog.deleteContainer(container, request.at);
  return emptyReply(204, DEFINITION_WRITE_CHARGE);
}
