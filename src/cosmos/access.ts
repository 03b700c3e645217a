// What may be done by those who did not sign with an account key that allows everything.
import {
  type PermissionMode,
  type PermittedKind,
  type Scope,
  scopedPartition,
} from '../catalog/definition/permission.js';
import type { StoredContainer } from '../catalog/resources.js';
import { failure, MayflyError } from '../value/errors.js';
import { type PartitionKey, samePartitionKey } from '../value/partition-key.js';
import { findBelonging } from './belonging-verbs.js';
import { isRidAddressed, ownerContainer } from './find.js';
import { fullPartitionKey, scopeOf } from './partition-header.js';
import { SCRIPT_KINDS } from './permission-body.js';
import type { CosmosRequest } from './request.js';
import type { Route } from './routes.js';
import { itemId } from './verbs/replace-item.js';

/** What the holder of a resource token may do. */
export interface Permit {
  readonly kind: 'permit';
  readonly mode: PermissionMode;
  readonly scope: Scope;
}

const CONTAINER = 'dbs/*/colls/*';
/** What every client has to know of a container, whatever it may do in it. */
const METADATA = [CONTAINER, `${CONTAINER}/pkranges`];

/** Throws unless the request is in the scope of the permit and of a kind that its mode allows. */
export async function checkPermit(
  { mode, scope }: Permit,
  route: Route,
  request: CosmosRequest,
): Promise<void> {
  if (request.address.shape === '') return;
  const container = containerIn(request);
  const isMetadata = METADATA.includes(request.address.shape) && route.verb === 'GET';
  if (!isMetadata) await checkTarget(scope, route, request, container);
  if (mode === 'Read' && !route.readOnly) throw failure('permissionModeTooLow');
}

/** A container that is not there tells nothing else than one that is closed. */
function containerIn(request: CosmosRequest): StoredContainer {
  const { shape } = request.address;
  if (shape !== CONTAINER && !shape.startsWith(`${CONTAINER}/`)) throw outside();
  try {
    return ownerContainer(request);
  } catch (error) {
    throw error instanceof MayflyError && error.kind.status === 404 ? outside() : error;
  }
}

async function checkTarget(
  scope: Scope,
  route: Route,
  request: CosmosRequest,
  container: StoredContainer,
): Promise<void> {
  const { shape } = request.address;
  const { kind, id } = scope;
  if (kind !== undefined) {
    if (shape !== `${CONTAINER}/${kind}/*`) throw outside();
    if ((await addressedId(request, kind, container)) !== id) throw outside();
  }
  const partition = scopedPartition(scope);
  if (partition) checkPartition(partition, route, request, container);
}

/** The id of the addressed item or script, which a path of resource ids does not hold. */
async function addressedId(
  request: CosmosRequest,
  kind: PermittedKind,
  { serial }: StoredContainer,
): Promise<string | undefined> {
  const name = request.address.names[2] ?? '';
  if (!isRidAddressed(request.catalog, request.address)) return name;
  if (kind === 'docs') return itemId(request);
  return findBelonging(request, SCRIPT_KINDS[kind], serial, name)?.id;
}

/** In one logical partition, nothing that is of all of them. */
function checkPartition(
  partition: PartitionKey,
  route: Route,
  request: CosmosRequest,
  container: StoredContainer,
): void {
  const { shape } = request.address;
  // A plan says how a query would be run, and reads no item.
  if (route.verb === 'PLAN') return;
  const isExecution = shape === `${CONTAINER}/sprocs/*` && route.verb === 'POST';
  const isInside = /^dbs\/\*\/colls\/\*\/(docs|operations)(\/|$)/.test(shape) || isExecution;
  if (!isInside) throw outside();
  const isPoint = shape.endsWith('/*');
  const given = isPoint
    ? fullPartitionKey(request.headers, container)
    : scopeOf(request.headers, container).partition;
  // The operations of a batch may have their keys with them, where batchItems looks.
  if (given === undefined && route.verb === 'BATCH') return;
  if (!given || !samePartitionKey(given, partition)) throw outside();
}

/** For operations that have their partition keys in the body. */
export function checkOpenPartition(request: CosmosRequest, partition: PartitionKey): void {
  const { permit } = request;
  const only = permit && scopedPartition(permit.scope);
  if (only && !samePartitionKey(only, partition)) throw outside();
}

const outside = () => failure('permissionOutside');
