// GET /dbs/{db}/colls/{coll}/pkranges: how the container is divided. Clients poll until they see
// 304.
import { DEFINITION_READ_CHARGE } from '../../throughput/charges.js';
import { isCurrent } from '../conditions.js';
import { ownerContainer } from '../find.js';
import { emptyReply, feedReply, type Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { rangeResource } from '../resources.js';
import { containerRid } from '../rid.js';

export async function listRanges(request: CosmosRequest): Promise<Reply> {
  const container = ownerContainer(request);
  const etag = `"${container.serial}-${container.ranges.map((range) => range.id).join('.')}"`;
  if (isCurrent(request.headers, etag)) {
    return emptyReply(304, DEFINITION_READ_CHARGE, ['etag', etag]);
  }
  const ranges = container.ranges.map((range) => rangeResource(container, range));
  const rid = containerRid(container);
  return feedReply('PartitionKeyRanges', rid, ranges, DEFINITION_READ_CHARGE, undefined, [
    'etag',
    etag,
  ]);
}
