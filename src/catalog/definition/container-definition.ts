// The definition of a container: what a client may ask for, checked in full, in the form that is
// stored and served back. System properties such as _rid are added elsewhere.
import { checkDefaultTtl, isTtl, TTL_MAX_SECONDS } from '../../time/expiry.js';
import { failure } from '../../value/errors.js';
import { type ChangeFeedPolicy, readChangeFeedPolicy } from './change-feed-policy.js';
import {
  type ClientEncryptionPolicy,
  keepClientEncryption,
  readClientEncryption,
} from './client-encryption.js';
import { type ComputedProperty, readComputedProperties } from './computed-properties.js';
import {
  type ConflictResolutionPolicy,
  keepConflictResolution,
  readConflictResolution,
} from './conflict-resolution.js';
import { asBody, clip, type Fields, field, present, refuse, shown } from './fields.js';
import { type FullTextPolicy, readFullTextPolicy } from './full-text.js';
import { type IndexingPolicy, readIndexingPolicy } from './indexing-policy.js';
import {
  keepPartitionKey,
  type PartitionKeyDefinition,
  readPartitionKey,
} from './partition-key-definition.js';
import { type GeospatialConfig, readGeospatialConfig } from './spatial-index.js';
import { keepUniqueKeys, readUniqueKeys, type UniqueKeyPolicy } from './unique-keys.js';
import {
  keepVectorEmbeddings,
  readVectorEmbeddings,
  type VectorEmbeddingPolicy,
} from './vector-embedding.js';
import { checkVectorIndexesKept } from './vector-index.js';

/** Exactly the JSON that is served, in this order of properties. */
export interface ContainerDefinition {
  readonly id: string;
  readonly indexingPolicy: IndexingPolicy;
  readonly partitionKey: PartitionKeyDefinition;
  readonly defaultTtl?: number;
  readonly uniqueKeyPolicy?: UniqueKeyPolicy;
  readonly conflictResolutionPolicy: ConflictResolutionPolicy;
  readonly geospatialConfig: GeospatialConfig;
  readonly analyticalStorageTtl?: number;
  readonly computedProperties?: readonly ComputedProperty[];
  readonly changeFeedPolicy?: ChangeFeedPolicy;
  readonly vectorEmbeddingPolicy?: VectorEmbeddingPolicy;
  readonly fullTextPolicy?: FullTextPolicy;
  readonly clientEncryptionPolicy?: ClientEncryptionPolicy;
}

/** A new container, from the body of a POST. The rules for its id are checked before. */
export function defineContainer(body: unknown): ContainerDefinition {
  const fields = asBody(body);
  const partitionKey = readPartitionKey(field(fields, 'partitionKey'));
  return settle(fields, {
    partitionKey,
    uniqueKeyPolicy: readUniqueKeys(field(fields, 'uniqueKeyPolicy')),
    conflictResolutionPolicy: readConflictResolution(field(fields, 'conflictResolutionPolicy')),
    geospatialConfig: readGeospatialConfig(field(fields, 'geospatialConfig')),
    analyticalStorageTtl: readAnalyticalTtl(field(fields, 'analyticalStorageTtl')),
    vectorEmbeddingPolicy: readVectorEmbeddings(field(fields, 'vectorEmbeddingPolicy')),
    clientEncryptionPolicy: readClientEncryption(
      field(fields, 'clientEncryptionPolicy'),
      partitionKey,
    ),
  });
}

/** A container after a PUT: what the body leaves out is reset, but for what must last. */
export function redefineContainer(
  body: unknown,
  current: ContainerDefinition,
): ContainerDefinition {
  const fields = asBody(body);
  const id = readId(fields);
  if (id !== current.id) throw failure('idChanged', { body: clip(id), address: current.id });
  const partitionKey = keepPartitionKey(field(fields, 'partitionKey'), current.partitionKey);
  const next = settle(fields, {
    partitionKey,
    uniqueKeyPolicy: keepUniqueKeys(field(fields, 'uniqueKeyPolicy'), current.uniqueKeyPolicy),
    conflictResolutionPolicy: keepConflictResolution(
      field(fields, 'conflictResolutionPolicy'),
      current.conflictResolutionPolicy,
    ),
    geospatialConfig: readGeospatialConfig(
      field(fields, 'geospatialConfig') ?? current.geospatialConfig,
    ),
    analyticalStorageTtl: Object.hasOwn(fields, 'analyticalStorageTtl')
      ? readAnalyticalTtl(field(fields, 'analyticalStorageTtl'))
      : current.analyticalStorageTtl,
    vectorEmbeddingPolicy: keepVectorEmbeddings(
      field(fields, 'vectorEmbeddingPolicy'),
      current.vectorEmbeddingPolicy,
    ),
    clientEncryptionPolicy: keepClientEncryption(
      field(fields, 'clientEncryptionPolicy'),
      partitionKey,
      current.clientEncryptionPolicy,
    ),
  });
  checkVectorIndexesKept(
    next.indexingPolicy.vectorIndexes ?? [],
    current.indexingPolicy.vectorIndexes ?? [],
  );
  return next;
}

/** The parts that a replacement treats differently from a creation. */
interface Lasting {
  readonly partitionKey: PartitionKeyDefinition;
  readonly uniqueKeyPolicy: UniqueKeyPolicy | undefined;
  readonly conflictResolutionPolicy: ConflictResolutionPolicy;
  readonly geospatialConfig: GeospatialConfig;
  readonly analyticalStorageTtl: number | undefined;
  readonly vectorEmbeddingPolicy: VectorEmbeddingPolicy | undefined;
  readonly clientEncryptionPolicy: ClientEncryptionPolicy | undefined;
}

function settle(fields: Fields, lasting: Lasting): ContainerDefinition {
  const fullTextPolicy = readFullTextPolicy(field(fields, 'fullTextPolicy'));
  const indexingPolicy = readIndexingPolicy(field(fields, 'indexingPolicy'), {
    geospatial: lasting.geospatialConfig.type,
    vectors: lasting.vectorEmbeddingPolicy,
    fullText: fullTextPolicy,
  });
  const defaultTtl = checkDefaultTtl(field(fields, 'defaultTtl'));
  // T24: the service finds expired items through the index, so its clients count on this refusal.
  if (defaultTtl !== undefined && indexingPolicy.indexingMode === 'none') {
    throw failure('ttlNeedsIndexing');
  }
  const settled = {
    id: readId(fields),
    indexingPolicy,
    partitionKey: lasting.partitionKey,
    defaultTtl,
    uniqueKeyPolicy: lasting.uniqueKeyPolicy,
    conflictResolutionPolicy: lasting.conflictResolutionPolicy,
    geospatialConfig: lasting.geospatialConfig,
    analyticalStorageTtl: lasting.analyticalStorageTtl,
    computedProperties: readComputedProperties(field(fields, 'computedProperties')),
    changeFeedPolicy: readChangeFeedPolicy(field(fields, 'changeFeedPolicy')),
    vectorEmbeddingPolicy: lasting.vectorEmbeddingPolicy,
    fullTextPolicy,
    clientEncryptionPolicy: lasting.clientEncryptionPolicy,
  };
  checkNames(fields, Object.keys(settled));
  return present(settled);
}

function readId(fields: Fields): string {
  const id = field(fields, 'id');
  if (typeof id === 'string') return id;
  throw failure('missingProperty', { name: 'id' });
}

/** T28: null and 0 are off; the values that are on have the range of every other time to live. */
function readAnalyticalTtl(value: unknown): number | undefined {
  if (value === undefined || value === 0) return undefined;
  if (isTtl(value)) return value;
  throw refuse(
    `The input analyticalStorageTtl '${shown(value)}' is invalid. Ensure to provide 0 or null ` +
      `for off, a nonzero positive integer less than or equal to '${TTL_MAX_SECONDS}', or '-1' ` +
      'which means never expire.',
  );
}

/** What servers add to the definitions they serve, and clients send back. It asks for nothing. */
const SERVED_NAMES = [
  'statistics',
  'partitionKeyDefinition',
  'schema',
  'backupPolicy',
  'documentsLink',
  'materializedViews',
];

function checkNames(fields: Fields, known: readonly string[]): void {
  for (const name of Object.keys(fields)) {
    if (name.startsWith('_') || known.includes(name) || SERVED_NAMES.includes(name)) continue;
    if (field(fields, name) === undefined) continue;
    throw refuse(
      `The property '${clip(name)}' is not a known setting of a container. It was refused ` +
        'because it would have no effect; leave it out.',
    );
  }
}
