// PUT /dbs/{db}/colls/{coll}: above all, how time to live is switched on, changed and switched off.
import { redefineContainer } from '../../catalog/definition/container-definition.js';
import { DEFINITION_WRITE_CHARGE } from '../../throughput/charges.js';
import { failure } from '../../value/errors.js';
import { parseObject } from '../../value/json.js';
import { conditionsOf } from '../conditions.js';
import { findContainer, ownerDatabase } from '../find.js';
import { shownContainer } from '../legacy.js';
import { checkName } from '../names.js';
import { checkComputedProperties } from '../query-hints.js';
import { type Reply, resourceReply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { databaseHeaders } from './read-container.js';

export async function replaceContainer(request: CosmosRequest): Promise<Reply> {
  const container = findContainer(request);
  const { value } = parseObject(await request.body(), new Set());
  const id = checkName(value);
  const address = container.definition.id;
  if (id !== address) throw failure('idChanged', { body: id, address });
  const replaced = await request.catalog.replaceContainer(
    container,
    (current) => {
      const definition = redefineContainer(value, current);
      checkComputedProperties(definition);
      return definition;
    },
    conditionsOf(request.headers).ifMatch,
    request.at,
  );
  return resourceReply(
    200,
    DEFINITION_WRITE_CHARGE,
    shownContainer(request.headers)(replaced),
    databaseHeaders(ownerDatabase(request)),
  );
}
