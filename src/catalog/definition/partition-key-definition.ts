// The partition key of a container, checked and given the kind and version that clients hash by.
import type { PartitionHash } from '../../value/partition-key.js';
import type { Path } from '../../value/path.js';
import {
  asArray,
  asBoolean,
  asChoice,
  asObject,
  asString,
  clip,
  type Fields,
  field,
  firstRepeated,
  invalid,
  present,
  refuse,
  refuseUnknown,
  sameForm,
} from './fields.js';
import { parsePropertyPath, propertyPathKey } from './property-path.js';

export type PartitionKeyKind = 'Hash' | 'MultiHash' | 'Range';
export type PartitionKeyVersion = 1 | 2;

export interface PartitionKeyDefinition {
  readonly paths: readonly string[];
  readonly kind: PartitionKeyKind;
  readonly version: PartitionKeyVersion;
  readonly systemKey?: boolean;
}

/**
 * A definition without a version gets 2: the SDK for JavaScript sends only paths, and with
 * version 1 keys would end at 101 bytes. It is safe because clients hash by the version we echo.
 */
const DEFAULTS = { kind: 'Hash', version: 2 } as const;
/** Of containers that were made without a partition key; items without the property are theirs. */
export const SYSTEM_PARTITION_KEY: PartitionKeyDefinition = {
  paths: ['/_partitionKey'],
  ...DEFAULTS,
  systemKey: true,
};
const KINDS = ['Hash', 'MultiHash', 'Range'] as const;
const LEVELS_MAX = 3;
/** Far more than any kind takes: the kind's own message is the helpful one. */
const PATHS_MAX = 100;

export function readPartitionKey(value: unknown): PartitionKeyDefinition {
  return read(value, DEFAULTS);
}

/** A replacement must repeat the partition key; what it leaves out counts as unchanged. */
export function keepPartitionKey(
  value: unknown,
  current: PartitionKeyDefinition,
): PartitionKeyDefinition {
  // Clients from before system keys do not know that there is one.
  if (value === undefined && current.systemKey) return current;
  const given = read(value, current);
  if (sameForm(comparable(given), comparable(current))) return current;
  throw refuse(
    'Document collection partition key cannot be changed. ' +
      `It is ${described(current)}, the replacement says ${described(given)}.`,
  );
}

export function partitionPaths(definition: PartitionKeyDefinition): readonly Path[] {
  return definition.paths.map(asPartitionPath);
}

export function partitionHash(definition: PartitionKeyDefinition): PartitionHash {
  if (definition.kind === 'MultiHash') return 'multi';
  return definition.version === 1 ? 'v1' : 'v2';
}

function read(value: unknown, defaults: Omit<PartitionKeyDefinition, 'paths'>) {
  const fields = asObject(value, 'partitionKey');
  const paths = readPaths(fields);
  const kind = readKind(fields, defaults.kind);
  const version = readVersion(fields, defaults.version);
  const systemKey = readSystemKey(fields, defaults.systemKey);
  checkShape(kind, version, paths);
  if (systemKey) checkSystemKey(kind, paths);
  refuseUnknown(fields, 'partitionKey', ['paths', 'kind', 'version', 'systemKey']);
  return present({ paths, kind, version, systemKey });
}

function readPaths(fields: Fields): readonly string[] {
  const where = 'partitionKey.paths';
  const entries = asArray(field(fields, 'paths'), where, PATHS_MAX);
  if (entries.length === 0) throw refuse(`'${where}' is empty: it must have at least one path.`);
  const paths = entries.map((entry, index) => asString(entry, `${where}[${index}]`));
  const repeated = firstRepeated(paths, (path) => propertyPathKey(asPartitionPath(path)));
  if (repeated === undefined) return paths;
  throw refuse(`The path '${clip(repeated)}' appears twice in '${where}'.`);
}

function asPartitionPath(text: string): Path {
  const path = parsePropertyPath(text);
  if (!('failedAt' in path)) return path;
  throw refuse(
    `The partition key component definition path '${clip(text)}' could not be accepted, ` +
      `failed near position '${path.failedAt}'. Partition key paths must contain only valid ` +
      'characters and not contain a trailing slash or wildcard character.',
  );
}

function readKind(fields: Fields, absent: PartitionKeyKind): PartitionKeyKind {
  const kind = field(fields, 'kind');
  return kind === undefined ? absent : asChoice(kind, 'partitionKey.kind', KINDS);
}

/** The SDK for Java writes a version by its name. */
const VERSIONS = new Map<unknown, PartitionKeyVersion>([
  [1, 1],
  [2, 2],
  ['V1', 1],
  ['V2', 2],
]);

function readVersion(fields: Fields, absent: PartitionKeyVersion): PartitionKeyVersion {
  const version = field(fields, 'version') ?? absent;
  const known = VERSIONS.get(version);
  if (known) return known;
  throw invalid('partitionKey.version', version, 'it must be 1 or 2.');
}

function readSystemKey(fields: Fields, absent: boolean | undefined): boolean | undefined {
  const systemKey = field(fields, 'systemKey');
  return systemKey === undefined ? absent : asBoolean(systemKey, 'partitionKey.systemKey');
}

function checkShape(
  kind: PartitionKeyKind,
  version: PartitionKeyVersion,
  paths: readonly string[],
): void {
  if (kind === 'MultiHash') {
    if (version !== 2) throw refuse('Subpartitioning is only supported for Hash V2.');
    if (paths.length <= LEVELS_MAX) return;
    throw refuse(
      `Subpartitioning is only supported for atmost ${LEVELS_MAX} partition paths, ` +
        `${paths.length} were given.`,
    );
  }
  if (paths.length === 1) return;
  throw refuse(
    `A partition key of kind '${kind}' has exactly one path, ${paths.length} were given. ` +
      "A hierarchical partition key has the kind 'MultiHash'.",
  );
}

/** Anywhere else it would have no effect: only this property may be missing without a word. */
function checkSystemKey(kind: PartitionKeyKind, paths: readonly string[]): void {
  const [path] = SYSTEM_PARTITION_KEY.paths;
  if (kind === 'Hash' && paths[0] === path) return;
  throw refuse(`A system key has the kind 'Hash' and the path '${path}'.`);
}

/** The spelling of a path does not make it another partition key, and no systemKey means false. */
function comparable(definition: PartitionKeyDefinition) {
  const { kind, version, systemKey = false } = definition;
  return { paths: partitionPaths(definition), kind, version, systemKey };
}

function described({ paths, kind, version }: PartitionKeyDefinition): string {
  return `${kind} version ${version} of ${clip(paths.join(', '))}`;
}
