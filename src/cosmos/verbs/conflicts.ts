// /dbs/{db}/colls/{coll}/conflicts: always empty. Conflicts come about between several regions that
// take writes, and there is one: the later of two writes sees the earlier and is refused or wins.
import { failure } from '../../value/errors.js';
import { catalogFeed } from '../feed.js';
import { ownerContainer } from '../find.js';
import { scopeOf } from '../partition-header.js';
import type { Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { containerRid } from '../rid.js';
import { queryResources } from './query-resources.js';

const NONE: readonly never[] = [];

export async function listConflicts(request: CosmosRequest): Promise<Reply> {
  const rid = containerRid(scopedContainer(request));
  return catalogFeed(request, 'Conflicts', rid, NONE, (each) => each);
}

export async function queryConflicts(request: CosmosRequest): Promise<Reply> {
  return queryResources(request, 'Conflicts', containerRid(scopedContainer(request)), NONE);
}

/** To read and to delete alike. */
export async function findConflict(request: CosmosRequest): Promise<Reply> {
  scopedContainer(request);
  throw failure('notFound');
}

/** A partition key that makes no sense is told so, though nothing is looked up by it. */
function scopedContainer(request: CosmosRequest) {
  const container = ownerContainer(request);
  scopeOf(request.headers, container);
  return container;
}
