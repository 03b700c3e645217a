// GET /dbs/{db}/colls/{coll}/pkranges: how the container is divided. Clients poll until they see
// 304.
import type { StoredContainer } from '../../catalog/resources.js';
import { DEFINITION_READ_CHARGE } from '../../throughput/charges.js';
import { ownerContainer } from '../find.js';
import { emptyReply, feedReply, type Reply } from '../reply.js';
import { type CosmosRequest, header } from '../request.js';
import { rangeResource } from '../resources.js';
import { containerRid } from '../rid.js';

export async function listRanges(request: CosmosRequest): Promise<Reply> {
  const { headers } = request;
  const container = ownerContainer(request);
  const ids = container.ranges.map((range) => range.id);
  const etag = `"${container.serial}-${ids.join('.')}"`;
  if (header(headers, 'if-none-match') === etag) {
    return emptyReply(304, DEFINITION_READ_CHARGE, ['etag', etag]);
  }
  const known = knownIds(request, container);
  const ranges = container.ranges
    .filter((range) => !known.has(range.id))
    .map((range) => rangeResource(container, range));
  const rid = containerRid(container);
  return feedReply('PartitionKeyRanges', rid, ranges, DEFINITION_READ_CHARGE, undefined, [
    'etag',
    etag,
  ]);
}

/** With A-IM it is a feed of changes: who has seen some ranges is shown those that came since. */
function knownIds({ headers }: CosmosRequest, { serial }: StoredContainer): ReadonlySet<number> {
  if (!header(headers, 'a-im')) return new Set();
  const seen = ETAG.exec(header(headers, 'if-none-match') ?? '');
  if (seen?.[1] !== String(serial)) return new Set();
  return new Set((seen[2] ?? '').split('.').map(Number));
}

const ETAG = /^"(\d{1,15})-([\d.]{1,1000})"$/;
