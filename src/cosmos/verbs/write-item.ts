// What creating, upserting and replacing an item have in common.
import type { StoredContainer } from '../../catalog/resources.js';
import { type WriteKind, type Written, writeItem as write } from '../../documents/write.js';
import { failure } from '../../value/errors.js';
import { conditionsOf } from '../conditions.js';
import { namePath, ownerContainer, rangeOf } from '../find.js';
import { composeItem, parseItem } from '../item-body.js';
import { checkItemId } from '../names.js';
import { checkedPartitionKey } from '../partition-header.js';
import { isMinimal, itemHeaders, type Reply } from '../reply.js';
import { type CosmosRequest, header } from '../request.js';
import { namesTriggers, withTriggers } from '../triggers.js';

export async function writeItem(
  request: CosmosRequest,
  kind: WriteKind,
  checkId: (id: string) => void,
): Promise<Reply> {
  refuseUnsupportedHeaders(request);
  ownerContainer(request);
  const write = (inner: CosmosRequest) => writeBody(inner, kind, checkId);
  return namesTriggers(request) ? withTriggers(request, OPERATIONS[kind], write) : write(request);
}

const OPERATIONS = { create: 'Create', upsert: 'Upsert', replace: 'Replace' } as const;

async function writeBody(
  request: CosmosRequest,
  kind: WriteKind,
  checkId: (id: string) => void,
): Promise<Reply> {
  const body = parseItem(await request.body());
  const { value } = body;
  // Looked up anew, because the container may have changed while a slow body came in.
  const container = ownerContainer(request);
  const id = checkItemId(value);
  checkId(id);
  const partition = checkedPartitionKey(request.headers, container, value);
  const written = await write(
    request.documents,
    container,
    {
      kind,
      key: { partition, id },
      ttl: Object.hasOwn(value, 'ttl') ? value.ttl : undefined,
      compose: (serial, etag, seconds) => composeItem(container, body, serial, etag, seconds),
      conditions: conditionsOf(request.headers),
    },
    request.at,
  );
  return writtenReply(request, container, written);
}

export function writtenReply(
  request: CosmosRequest,
  container: StoredContainer,
  { item, created, lsn, charge }: Written,
): Reply {
  const path = namePath(request, container);
  const range = rangeOf(container, item.key.partition);
  const headers = itemHeaders(container, path, range, lsn, charge);
  headers.push('etag', item.etag);
  const body = isMinimal(request.headers) ? undefined : item.doc.bytes;
  return { status: created ? 201 : 200, headers, body };
}

/** Accepting what does nothing would mislead, so these are refused until they act. */
export function refuseUnsupportedHeaders({ headers }: CosmosRequest): void {
  const directive = header(headers, 'x-ms-indexing-directive');
  switch (directive?.toLowerCase()) {
    case undefined:
    case '':
    case 'include':
    case 'default':
      return;
    case 'exclude':
      throw failure('notSupported', { what: 'The indexing directive Exclude', hint: '' });
    default:
      throw failure('invalidHeader', {
        header: 'x-ms-indexing-directive',
        value: directive ?? '',
        why: 'It must be Include, Exclude or Default.',
      });
  }
}
