// GET /dbs/{db}/colls/{coll}/conflicts: always empty, because conflicts only arise between several
// write regions.
import { DEFINITION_READ_CHARGE } from '../../throughput/charges.js';
import { ownerContainer } from '../find.js';
import { lowerQuery, parseQueryBody } from '../query-request.js';
import { feedReply, type Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { containerRid } from '../rid.js';

export async function listConflicts(request: CosmosRequest): Promise<Reply> {
  const container = ownerContainer(request);
  return feedReply('Conflicts', containerRid(container), [], DEFINITION_READ_CHARGE, undefined);
}

/** A query that makes no sense is still told so. */
export async function queryConflicts(request: CosmosRequest): Promise<Reply> {
  lowerQuery(parseQueryBody(await request.body()));
  return listConflicts(request);
}
