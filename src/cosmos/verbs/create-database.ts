// POST /dbs
import { DEFINITION_WRITE_CHARGE } from '../../throughput/charges.js';
import { parseObject } from '../../value/json.js';
import { checkName } from '../names.js';
import { type Reply, resourceReply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { databaseResource } from '../resources.js';
import { throughputOf } from '../throughput-headers.js';

export async function createDatabase(request: CosmosRequest): Promise<Reply> {
  const { value } = parseObject(await request.body(), new Set());
  const id = checkName(value);
  const throughput = throughputOf(request.headers);
  const database = await request.catalog.createDatabase(id, throughput, request.at);
  return resourceReply(201, DEFINITION_WRITE_CHARGE, databaseResource(database));
}
