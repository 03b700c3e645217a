// PATCH /dbs/{db}/colls/{coll}/docs/{id}
import { patchItem as patch } from '../../documents/patch.js';
import { conditionsOf } from '../conditions.js';
import { ownerContainer } from '../find.js';
import { itemPatch } from '../item-patch.js';
import { fullPartitionKey } from '../partition-header.js';
import { parsePatch } from '../patch-body.js';
import type { Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { refuseTriggers } from '../triggers.js';
import { itemId } from './replace-item.js';
import { refuseUnsupportedHeaders, writtenReply } from './write-item.js';

export async function patchItem(request: CosmosRequest): Promise<Reply> {
  const { documents, at } = request;
  refuseUnsupportedHeaders(request);
  refuseTriggers(request, 'A patch');
  const id = await itemId(request);
  const body = parsePatch(await request.body());
  // Looked up anew, because the container may have changed while a slow body came in.
  const container = ownerContainer(request);
  const partition = fullPartitionKey(request.headers, container);
  const context = { now: at, random: () => documents.entropy.fraction() };
  const written = await patch(
    documents,
    container,
    {
      key: { partition, id },
      conditions: conditionsOf(request.headers),
      ...itemPatch(container, partition, body, context),
    },
    at,
  );
  return writtenReply(request, container, written);
}
