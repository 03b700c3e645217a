// POST /dbs/{db}/colls
import { defineContainer } from '../../catalog/definition/container-definition.js';
import { SYSTEM_PARTITION_KEY } from '../../catalog/definition/partition-key-definition.js';
import { PER_RANGE_MAX, rangesFor } from '../../catalog/throughput.js';
import { DEFINITION_WRITE_CHARGE } from '../../throughput/charges.js';
import { failure } from '../../value/errors.js';
import { parseObject } from '../../value/json.js';
import { ownerDatabase } from '../find.js';
import { isBeforeSystemKeys, shownContainer } from '../legacy.js';
import { checkName } from '../names.js';
import { checkComputedProperties } from '../query-hints.js';
import { type Reply, resourceReply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { throughputOf } from '../throughput-headers.js';
import { databaseHeaders } from './read-container.js';

export async function createContainer(request: CosmosRequest): Promise<Reply> {
  const database = ownerDatabase(request);
  const { value } = parseObject(await request.body(), new Set());
  checkName(value);
  const isKeyless =
    (value.partitionKey ?? undefined) === undefined && isBeforeSystemKeys(request.headers);
  const definition = defineContainer(
    isKeyless ? { ...value, partitionKey: SYSTEM_PARTITION_KEY } : value,
  );
  checkComputedProperties(definition);
  const throughput = throughputOf(request.headers);
  if (isKeyless && throughput && rangesFor(throughput) > 1) {
    const why = `A container without a partition key has at most ${PER_RANGE_MAX} request units per second.`;
    throw failure('invalidInput', { why });
  }
  const { catalog, at } = request;
  const container = await catalog.createContainer(database, definition, throughput, at);
  return resourceReply(
    201,
    DEFINITION_WRITE_CHARGE,
    shownContainer(request.headers)(container),
    databaseHeaders(database),
  );
}
