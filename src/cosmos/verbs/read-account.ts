// GET /: the account, with the address the client itself used, so that mapped ports and containers
// work.
import { DEFINITION_READ_CHARGE } from '../../throughput/charges.js';
import { jsonReply, type Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { ACCOUNT_CONSISTENCY } from '../session.js';

/** Not "localhost": the JavaScript SDK would then read the account twice before every request. */
const ACCOUNT_ID = 'mayfly';

/** What clients may expect of the query language; .NET parses this text. */
const QUERY_ENGINE = JSON.stringify({
  maxSqlQueryInputLength: 524_288,
  maxJoinsPerSqlQuery: 10,
  maxLogicalAndPerSqlQuery: 2000,
  maxLogicalOrPerSqlQuery: 2000,
  maxUdfRefPerSqlQuery: 10,
  maxInExpressionItemsCount: 16_000,
  queryMaxGroupByTableCellCount: 500_000,
  queryMaxInMemorySortDocumentCount: 500,
  maxQueryRequestTimeoutFraction: 0.9,
  sqlAllowNonFiniteNumbers: false,
  sqlAllowAggregateFunctions: true,
  sqlAllowSubQuery: true,
  sqlAllowScalarSubQuery: true,
  allowNewKeywords: true,
  sqlAllowLike: true,
  sqlAllowGroupByClause: true,
  maxSpatialQueryCells: 12,
  spatialMaxGeometryPointCount: 256,
  sqlDisableOptimizationFlags: 0,
  sqlAllowTop: true,
  enableSpatialIndexing: true,
});

export async function readAccount(request: CosmosRequest): Promise<Reply> {
  const locations = [{ name: 'Local', databaseAccountEndpoint: `${request.origin()}/` }];
  return jsonReply(200, DEFINITION_READ_CHARGE, {
    _self: '',
    id: ACCOUNT_ID,
    _rid: `${ACCOUNT_ID}.documents.azure.com`,
    media: '//media/',
    addresses: '//addresses/',
    _dbs: '//dbs/',
    writableLocations: locations,
    readableLocations: locations,
    enableMultipleWriteLocations: false,
    continuousBackupEnabled: false,
    enablePerPartitionFailoverBehavior: false,
    userReplicationPolicy: { asyncReplication: false, minReplicaSetSize: 1, maxReplicasetSize: 1 },
    userConsistencyPolicy: { defaultConsistencyLevel: ACCOUNT_CONSISTENCY },
    systemReplicationPolicy: { minReplicaSetSize: 1, maxReplicasetSize: 1 },
    readPolicy: { primaryReadCoefficient: 1, secondaryReadCoefficient: 1 },
    queryEngineConfiguration: QUERY_ENGINE,
  });
}
