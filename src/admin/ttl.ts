// /_mayfly/dbs/{db}/colls/{coll}/…: where time to live stands, what a change would do, why an item
// lives or not.
import { ITEM_ID_BYTES_MAX, type StoredContainer } from '../catalog/resources.js';
import * as ttl from '../documents/ttl.js';
import { checkDefaultTtl } from '../time/expiry.js';
import { failure } from '../value/errors.js';
import { isTooDeep } from '../value/json.js';
import { type PartitionKey, parsePartitionKey } from '../value/partition-key.js';
import { fieldsOf } from './fields.js';
import { findContainer } from './find.js';
import type { AdminRequest } from './server.js';

export function readTtl(request: AdminRequest): Promise<object> {
  return ttl.ttlStatus(request.documents, findContainer(request), request.at);
}

export async function previewTtl(request: AdminRequest): Promise<object> {
  const container = findContainer(request);
  const { defaultTtl } = fieldsOf(await request.body(), ['defaultTtl']);
  if (defaultTtl === undefined) throw failure('missingProperty', { name: 'defaultTtl' });
  const wanted = checkDefaultTtl(defaultTtl);
  return ttl.previewTtl(request.documents, container, wanted, request.at);
}

export async function explainTtl(request: AdminRequest): Promise<object> {
  const container = findContainer(request);
  const partition = partitionOf(request, container);
  const key = { partition, id: request.names[2] ?? '' };
  if (Buffer.byteLength(key.id) > ITEM_ID_BYTES_MAX) throw failure('notFound');
  const explanation = await ttl.explainItem(request.documents, container, key, request.at);
  if (!explanation) throw failure('notFound');
  return explanation;
}

/** The same form as the partition-key header of the REST API. */
function partitionOf({ query }: AdminRequest, container: StoredContainer): PartitionKey {
  const text = query.get('partitionKey');
  if (text === null) throw failure('partitionKeyMissing');
  if (isTooDeep(text)) throw failure('partitionKeyMalformed', { value: text });
  const levels = container.engine.partitionPaths.length;
  const key = parsePartitionKey(text, levels);
  if (key.length < levels) throw failure('partitionKeyTooFew');
  return key;
}
