// POST /dbs/{db}/colls
import { defineContainer } from '../../catalog/definition/container-definition.js';
import { DEFINITION_WRITE_CHARGE } from '../../throughput/charges.js';
import { parseObject } from '../../value/json.js';
import { ownerDatabase } from '../find.js';
import { checkName } from '../names.js';
import { checkComputedProperties } from '../query-hints.js';
import { type Reply, resourceReply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { containerResource } from '../resources.js';
import { throughputOf } from '../throughput-headers.js';
import { databaseHeaders } from './read-container.js';

export async function createContainer(request: CosmosRequest): Promise<Reply> {
  const database = ownerDatabase(request);
  const { value } = parseObject(await request.body(), new Set());
  checkName(value);
  const definition = defineContainer(value);
  checkComputedProperties(definition);
  const throughput = throughputOf(request.headers);
  const { catalog, at } = request;
  const container = await catalog.createContainer(database, definition, throughput, at);
  return resourceReply(
    201,
    DEFINITION_WRITE_CHARGE,
    containerResource(container),
    databaseHeaders(database),
  );
}
