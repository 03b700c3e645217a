// What the catalog knows: databases, their containers, and the throughput provisioned for either.
import type { Container, Etag, Serial } from '../engine/engine.js';
import { cosmosRules } from '../time/expiry.js';
import { parsePath } from '../value/path.js';
import type { ContainerDefinition } from './definition/container-definition.js';
import { partitionHash, partitionPaths } from './definition/partition-key-definition.js';
import { indexingOf } from './index-rules.js';
import type { PartitionRange } from './ranges.js';
import type { Throughput } from './throughput.js';

/** Of an item's id, in UTF-8: a longer one names no item. */
export const ITEM_ID_BYTES_MAX = 1023;

export interface Resource {
  readonly serial: Serial;
  readonly etag: Etag;
  readonly writtenSeconds: number;
}
export interface Database extends Resource {
  readonly id: string;
}
export interface StoredContainer extends Resource {
  readonly database: Serial;
  readonly definition: ContainerDefinition;
  readonly ranges: readonly PartitionRange[];
  readonly indexVersion: number;
  /** The container as its engine sees it: replaced as a whole when the definition changes. */
  readonly engine: Container;
}
export interface Offer extends Resource {
  /** A database, or one of its containers. */
  readonly database: Serial;
  readonly container: Serial | undefined;
  readonly throughput: Throughput;
  readonly highestEver: number;
}

export function engineContainer(
  id: string,
  definition: ContainerDefinition,
  indexVersion: number,
): Container {
  const minutes = definition.changeFeedPolicy?.retentionDuration ?? 0;
  return {
    id,
    partitionPaths: partitionPaths(definition.partitionKey),
    partitionHash: partitionHash(definition.partitionKey),
    indexes: (definition.uniqueKeyPolicy?.uniqueKeys ?? []).map(({ paths }, index) => ({
      name: uniqueIndexName(index),
      paths: paths.map((path) => ({ path: parsePath(path) ?? [], descending: false })),
      unique: true,
    })),
    indexing: indexingOf(definition.indexingPolicy, indexVersion),
    expiry: cosmosRules(definition.defaultTtl),
    ...(minutes > 0 ? { retentionMs: minutes * 60_000 } : {}),
  };
}

/**
 * The paths of a unique key by the name of its index, for telling people which one was violated.
 */
export function uniqueKeyPaths(definition: ContainerDefinition, index: string): string {
  const keys = definition.uniqueKeyPolicy?.uniqueKeys ?? [];
  return keys.find((_, at) => uniqueIndexName(at) === index)?.paths.join(', ') ?? index;
}

const uniqueIndexName = (index: number): string => `unique-${index}`;
