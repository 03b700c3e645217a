// The body of a permission: mode, resource and partition key, and what they amount to.
//
//   {"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c","resourcePartitionKey":["x"]}
import {
  PERMITTED_KINDS,
  type Permission,
  type PermissionMode,
  type PermittedKind,
  type Scope,
} from '../catalog/definition/permission.js';
import type { StoredContainer } from '../catalog/resources.js';
import { readItem } from '../documents/read.js';
import { failure } from '../value/errors.js';
import { ownerDatabase } from './find.js';
import { refuseOthers } from './names.js';
import { fullPartitionKeyOf } from './partition-header.js';
import type { CosmosRequest } from './request.js';
import { containerRid, databaseRid, parseRid, scriptRid } from './rid.js';

const RESOURCE_CHARACTERS_MAX = 4096;

export async function readPermission(
  request: CosmosRequest,
  body: Readonly<Record<string, unknown>>,
): Promise<Permission> {
  const permissionMode = readMode(body.permissionMode);
  const { resource } = body;
  if (resource === undefined) throw failure('missingProperty', { name: 'resource' });
  if (typeof resource !== 'string') throw invalidResource(resource);
  const resourcePartitionKey = readKey(body.resourcePartitionKey);
  refuseOthers(body, 'a permission', [
    ...['id', 'permissionMode', 'resource', 'resourcePartitionKey'],
  ]);
  const scope = await scopeOf(request, resource, resourcePartitionKey);
  return {
    permissionMode,
    resource,
    ...(resourcePartitionKey ? { resourcePartitionKey } : {}),
    scope,
  };
}

function readMode(mode: unknown): PermissionMode {
  if (mode === undefined) throw failure('missingProperty', { name: 'permissionMode' });
  const text = typeof mode === 'string' ? mode.toLowerCase() : '';
  if (text === 'read') return 'Read';
  if (text === 'all') return 'All';
  const why = `The permissionMode must be Read or All, not ${JSON.stringify(mode)}.`;
  throw failure('invalidInput', { why });
}

/** Some clients write the only component without brackets. */
function readKey(key: unknown): readonly unknown[] | undefined {
  if (key === undefined || key === null) return undefined;
  if (Array.isArray(key)) return key;
  if (typeof key === 'string') return [key];
  const why = `The resourcePartitionKey must be an array, not ${JSON.stringify(key)}.`;
  throw failure('invalidInput', { why });
}

async function scopeOf(
  request: CosmosRequest,
  resource: string,
  key: readonly unknown[] | undefined,
): Promise<Scope> {
  const segments = resource.replace(/^\/|\/$/g, '').split('/');
  const [dbs, database = '', colls, name = '', kind, id] = segments;
  const isWhole = segments.length === 4 || segments.length === 6;
  const isLong = resource.length > RESOURCE_CHARACTERS_MAX;
  if (isLong || !isWhole || dbs !== 'dbs' || colls !== 'colls') throw invalidResource(resource);
  const container = containerAt(request, database, name);
  if (kind === undefined || id === undefined) {
    return { container: container.serial, ...partitionOf(container, key) };
  }
  const permitted = PERMITTED_KINDS.find((each) => each === kind);
  if (!permitted || id === '') throw invalidResource(resource);
  refuseKey(permitted, key);
  const partition = partitionOf(container, key);
  const named = await idOf(request, container, permitted, id);
  return { container: container.serial, kind: permitted, id: named, ...partition };
}

/** By names or by resource ids. It is in the database of the user, or it is not found. */
function containerAt(request: CosmosRequest, database: string, name: string): StoredContainer {
  const own = ownerDatabase(request);
  const containers = request.catalog.containers(own);
  const found =
    database === databaseRid(own.serial)
      ? containers.find((each) => containerRid(each) === name)
      : undefined;
  if (found) return found;
  const isOwn = [database, decoded(database)].includes(own.id);
  const { catalog } = request;
  const named = catalog.container(own, name) ?? catalog.container(own, decoded(name));
  if (isOwn && named) return named;
  throw failure('permissionTargetMissing', { resource: `dbs/${database}/colls/${name}` });
}

/** How the kinds of scripts are called in the catalog. */
export const SCRIPT_KINDS = { sprocs: 'procedure', triggers: 'trigger', udfs: 'function' } as const;

/** Items and scripts that are there may be named by resource ids, too. */
async function idOf(
  request: CosmosRequest,
  container: StoredContainer,
  kind: PermittedKind,
  name: string,
): Promise<string> {
  if (kind !== 'docs') {
    const scripts = request.catalog.belongings.of(SCRIPT_KINDS[kind], container.serial);
    return scripts.find((script) => scriptRid(script) === name)?.id ?? decoded(name);
  }
  const rid = parseRid(name);
  const isInside = rid?.database === container.database && rid.container === container.serial;
  if (rid?.item === undefined || !isInside) return decoded(name);
  const { item } = await readItem(request.documents, container, rid.item, request.at);
  return item?.key.id ?? decoded(name);
}

function partitionOf(
  container: StoredContainer,
  key: readonly unknown[] | undefined,
): Pick<Scope, 'partition'> {
  if (key === undefined) return {};
  const components = fullPartitionKeyOf(JSON.stringify(key), container);
  return { partition: components.map((each) => (each === undefined ? {} : each)) };
}

/** Triggers and functions are the same for all partitions. */
function refuseKey(kind: PermittedKind, key: readonly unknown[] | undefined): void {
  if (key === undefined || kind === 'docs' || kind === 'sprocs') return;
  const why = `A resourcePartitionKey has no meaning for ${kind}; leave it out.`;
  throw failure('invalidInput', { why });
}

function invalidResource(resource: unknown) {
  const why =
    'The resource of a permission must be dbs/{db}/colls/{coll}, or one of ' +
    `${PERMITTED_KINDS.join(', ')} in it, not ${JSON.stringify(resource)}.`;
  return failure('invalidInput', { why });
}

/** Some clients write names as they are in URLs. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
