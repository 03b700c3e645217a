// POST /dbs/{db}/colls/{coll}/docs as a question: how would a client run this query over all
// partitions?
import { type Distribution, distribute } from '../../sql/distribute.js';
import { distributeRank, type HybridSearch } from '../../sql/hybrid.js';
import { pinnedKeys } from '../../sql/pinned-keys.js';
import { LOOKUP_CHARGE } from '../../throughput/charges.js';
import { failure } from '../../value/errors.js';
import { ownerContainer } from '../find.js';
import { languageOf } from '../query-functions.js';
import {
  hybridSearchFeatures,
  hybridSearchInfo,
  neededFeatures,
  queryInfo,
} from '../query-info.js';
import { isOnePoint, queryRanges } from '../query-ranges.js';
import { lowerQuery, parseQuery, parseQueryBody } from '../query-request.js';
import { jsonReply, type Reply } from '../reply.js';
import { type CosmosRequest, header } from '../request.js';

const PLAN_VERSION = 2;

export async function planQuery(request: CosmosRequest): Promise<Reply> {
  const container = ownerContainer(request);
  const body = parseQueryBody(await request.body());
  const query = parseQuery(body);
  // Lowering comes first, because it finds the errors.
  const lowered = lowerQuery(body, languageOf(request, container).hints);
  const { partitionPaths, partitionHash } = container.engine;
  const keys = pinnedKeys(query, partitionPaths, body.parameters);
  const ranges = queryRanges(keys, partitionPaths.length, partitionHash);
  // Neither ranks nor rows derived from all others can be merged; with a single range they need not
  // be.
  const isInseparable = query.rank !== undefined || lowered.derived !== undefined;
  const isWhole = isOnePoint(ranges) || (isInseparable && container.ranges.length === 1);
  const plan = {
    partitionedQueryExecutionInfoVersion: PLAN_VERSION,
    ...(query.rank && !isWhole
      ? rankInfo(request, distributeRank(query, lowered))
      : plainInfo(request, distribute(query, lowered, isWhole))),
    queryRanges: ranges,
  };
  const correlated = header(request.headers, 'x-ms-cosmos-correlated-activityid');
  const headers = correlated ? ['x-ms-cosmos-correlated-activityid', correlated] : [];
  return jsonReply(200, LOOKUP_CHARGE, plan, headers);
}

function plainInfo(request: CosmosRequest, distribution: Distribution): object {
  checkFeatures(request, neededFeatures(distribution));
  return { queryInfo: queryInfo(distribution) };
}

function rankInfo(request: CosmosRequest, search: HybridSearch): object {
  checkFeatures(request, hybridSearchFeatures(search));
  return { hybridSearchQueryInfo: hybridSearchInfo(search) };
}

/** A client that lists no features at all leaves it to us. */
function checkFeatures(request: CosmosRequest, needed: readonly string[]): void {
  const listed = header(request.headers, 'x-ms-cosmos-supported-query-features');
  if (!listed) return;
  const supported = new Set(listed.split(',').map((name) => name.trim()));
  const missing = needed.filter((name) => !supported.has(name));
  if (missing.length > 0) throw failure('queryFeaturesMissing', { features: missing.join(', ') });
}
