// GET /dbs/{db}/colls/{coll}
import type { Database, StoredContainer } from '../../catalog/resources.js';
import type { Stats } from '../../engine/engine.js';
import { DEFINITION_READ_CHARGE } from '../../throughput/charges.js';
import { isCurrent } from '../conditions.js';
import { findContainer, ownerDatabase } from '../find.js';
import { shownContainer } from '../legacy.js';
import { emptyReply, type Reply, resourceReply } from '../reply.js';
import { type CosmosRequest, flag } from '../request.js';
import { databaseRid } from '../rid.js';

const QUOTA =
  'functions=50;storedProcedures=100;triggers=25;documentSize=10240;documentsSize=10485760;documentsCount=-1;collectionSize=10485760;';

export async function readContainer(request: CosmosRequest): Promise<Reply> {
  const container = findContainer(request);
  if (isCurrent(request.headers, container.etag, () => container.writtenSeconds)) {
    return emptyReply(304, DEFINITION_READ_CHARGE, ['etag', container.etag]);
  }
  const stats = await request.documents.engine.stats(container.engine);
  const wantsQuota = flag(request.headers, 'x-ms-documentdb-populatequotainfo');
  return resourceReply(200, DEFINITION_READ_CHARGE, shownContainer(request.headers)(container), [
    'x-ms-documentdb-collection-index-transformation-progress',
    String(stats.indexProgress),
    ...databaseHeaders(ownerDatabase(request)),
    ...(wantsQuota ? quotaHeaders(request, container, stats) : []),
  ]);
}

/** Containers live in a database; its resource id and name path tell clients which. */
export function databaseHeaders(database: Database): readonly string[] {
  return [
    'x-ms-content-path',
    databaseRid(database.serial),
    'x-ms-alt-content-path',
    encodeURI(`dbs/${database.id}`),
  ];
}

/** Sizes are in KB. What expired counts until it is purged, as it still takes space. */
function quotaHeaders(
  { catalog }: CosmosRequest,
  { serial }: StoredContainer,
  { items, bytes }: Stats,
): readonly string[] {
  const kilobytes = Math.ceil(bytes / 1024);
  const count = (kind: 'function' | 'procedure' | 'trigger') =>
    catalog.belongings.of(kind, serial).length;
  const scripts = `functions=${count('function')};storedProcedures=${count('procedure')};triggers=${count('trigger')};`;
  const usage = `${scripts}documentSize=${kilobytes};documentsSize=${kilobytes};documentsCount=${items};collectionSize=${kilobytes};`;
  return ['x-ms-resource-quota', QUOTA, 'x-ms-resource-usage', usage];
}
