// From the body of a patch to what is done with an item, for single patches and those of a batch.
import type { StoredContainer } from '../catalog/resources.js';
import type { ItemPatch } from '../documents/patch.js';
import type { CallContext } from '../query/function.js';
import { compileMatch } from '../query/match.js';
import type { Doc } from '../value/doc.js';
import { failure } from '../value/errors.js';
import {
  extractPartitionKey,
  type PartitionKey,
  samePartitionKey,
} from '../value/partition-key.js';
import { applyPatch } from '../value/patch.js';
import { composeItem, parseItem } from './item-body.js';
import type { PatchBody } from './patch-body.js';
import { hintsOf } from './query-hints.js';
import { lowerCondition } from './query-request.js';
import { BODY_BYTES_MAX } from './request.js';

export function itemPatch(
  container: StoredContainer,
  partition: PartitionKey,
  { operations, condition }: PatchBody,
  context: CallContext,
): Pick<ItemPatch, 'holds' | 'change'> {
  const matches =
    condition === undefined
      ? () => true
      : compileMatch(lowerCondition(condition, hintsOf(container.definition)), context);
  return {
    holds: ({ doc, serial }) => matches(doc.value, serial),
    change: (current) => {
      const item = parseItem(Buffer.from(applyPatch(textOf(current), operations)));
      checkSize(item.members);
      checkPartition(container, partition, item.value);
      return {
        ttl: Object.hasOwn(item.value, 'ttl') ? item.value.ttl : undefined,
        compose: (serial, etag, seconds) => composeItem(container, item, serial, etag, seconds),
      };
    },
  };
}

function textOf({ bytes }: Doc): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

/** The limit of a document that comes whole, which has no system properties yet. */
function checkSize(members: string): void {
  const bytes = Buffer.byteLength(members) + '{}'.length;
  if (bytes > BODY_BYTES_MAX) throw failure('tooLarge', { bytes, limit: BODY_BYTES_MAX });
}

/** An item cannot leave its logical partition, by whatever way the value would change. */
function checkPartition(
  container: StoredContainer,
  partition: PartitionKey,
  value: Readonly<Record<string, unknown>>,
): void {
  const { partitionPaths } = container.engine;
  const found = extractPartitionKey(value, partitionPaths);
  if ('key' in found && samePartitionKey(found.key, partition)) return;
  const paths = container.definition.partitionKey.paths.join(', ');
  throw failure('patchPartitionKey', { paths });
}
