// The client encryption policy: which properties clients encrypt before they send them. The server
// only keeps it, but it refuses policies under which items could not be found again.
import {
  asArray,
  asChoice,
  asObject,
  asString,
  clip,
  field,
  firstRepeated,
  invalid,
  refuse,
  refuseUnknown,
  sameForm,
} from './fields.js';
import { type PartitionKeyDefinition, partitionPaths } from './partition-key-definition.js';

export interface EncryptedPath {
  readonly path: string;
  readonly clientEncryptionKeyId: string;
  readonly encryptionType: 'Deterministic' | 'Randomized';
  readonly encryptionAlgorithm: 'AEAD_AES_256_CBC_HMAC_SHA256';
}
export interface ClientEncryptionPolicy {
  readonly policyFormatVersion: 1 | 2;
  readonly includedPaths: readonly EncryptedPath[];
}

const TYPES = ['Deterministic', 'Randomized'] as const;
const ALGORITHMS = ['AEAD_AES_256_CBC_HMAC_SHA256'] as const;
const WHERE = 'clientEncryptionPolicy';

export function readClientEncryption(
  value: unknown,
  partitionKey: PartitionKeyDefinition,
): ClientEncryptionPolicy | undefined {
  if (value === undefined) return undefined;
  const fields = asObject(value, WHERE);
  const policyFormatVersion = readVersion(field(fields, 'policyFormatVersion') ?? 1);
  const where = `${WHERE}.includedPaths`;
  const entries = asArray(field(fields, 'includedPaths'), where);
  const includedPaths = entries.map((entry, at) => readPath(entry, `${where}[${at}]`));
  refuseUnknown(fields, WHERE, ['policyFormatVersion', 'includedPaths']);
  const repeated = firstRepeated(includedPaths, ({ path }) => path);
  if (repeated !== undefined) {
    throw refuse(`Duplicate path found: ${clip(repeated.path)} in client encryption policy.`);
  }
  checkKeys(includedPaths, policyFormatVersion, partitionKey);
  return { policyFormatVersion, includedPaths };
}

/** Items already written are encrypted, or not, under the policy they were written with. */
export function keepClientEncryption(
  value: unknown,
  partitionKey: PartitionKeyDefinition,
  current: ClientEncryptionPolicy | undefined,
): ClientEncryptionPolicy | undefined {
  if (value === undefined) return current;
  if (sameForm(readClientEncryption(value, partitionKey), current)) return current;
  throw refuse(`'${WHERE}' cannot be changed: it must be absent or unchanged in a replacement.`);
}

function readVersion(value: unknown): 1 | 2 {
  if (value === 1 || value === 2) return value;
  throw invalid(`${WHERE}.policyFormatVersion`, value, 'it must be 1 or 2.');
}

function readPath(value: unknown, where: string): EncryptedPath {
  const fields = asObject(value, where);
  const path = asString(field(fields, 'path'), `${where}.path`);
  if (path.length < 2 || path.lastIndexOf('/') !== 0) {
    throw invalid(`${where}.path`, path, 'it must be "/" and the name of a top-level property.');
  }
  const keyId = field(fields, 'clientEncryptionKeyId');
  const clientEncryptionKeyId = asString(keyId, `${where}.clientEncryptionKeyId`);
  if (keyId === '') {
    throw invalid(`${where}.clientEncryptionKeyId`, keyId, 'it must not be empty.');
  }
  const encryptionType = asChoice(
    field(fields, 'encryptionType'),
    `${where}.encryptionType`,
    TYPES,
  );
  const encryptionAlgorithm = asChoice(
    field(fields, 'encryptionAlgorithm'),
    `${where}.encryptionAlgorithm`,
    ALGORITHMS,
  );
  const known = { path, clientEncryptionKeyId, encryptionType, encryptionAlgorithm };
  refuseUnknown(fields, where, Object.keys(known));
  return known;
}

/** The id and the partition key address the item: equal values must encrypt to equal texts. */
function checkKeys(
  paths: readonly EncryptedPath[],
  version: 1 | 2,
  partitionKey: PartitionKeyDefinition,
): void {
  const keys = ['/id', ...partitionPaths(partitionKey).map(([name]) => `/${name}`)];
  for (const { path, encryptionType } of paths) {
    if (!keys.includes(path)) continue;
    if (version === 1) {
      throw refuse(
        `The path '${clip(path)}' is the id or in the partition key, whose encryption is only ` +
          'supported with policy format version 2.',
      );
    }
    if (encryptionType === 'Deterministic') continue;
    throw refuse(
      `The path '${clip(path)}' is the id or in the partition key and has to be encrypted ` +
        'with Deterministic type Encryption.',
    );
  }
}
