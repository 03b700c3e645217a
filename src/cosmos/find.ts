// From an address to what it names: by name, or by resource id where no database has that name.
import type { Catalog } from '../catalog/catalog.js';
import type { PartitionRange } from '../catalog/ranges.js';
import {
  type Database,
  ITEM_ID_BYTES_MAX,
  type Offer,
  type StoredContainer,
} from '../catalog/resources.js';
import type { Scope } from '../documents/list.js';
import type { ItemKey, Serial } from '../engine/engine.js';
import { failure } from '../value/errors.js';
import { effectivePartitionKey } from '../value/partition-hash.js';
import type { PartitionKey } from '../value/partition-key.js';
import type { Address } from './address.js';
import { type CosmosRequest, header } from './request.js';
import { containerRid, parseOfferRid, parseRid, type RidParts } from './rid.js';

export function findDatabase(request: CosmosRequest): Database {
  const database = databaseOf(request.catalog, request.address);
  if (!database) throw failure('notFound');
  return database;
}

/** The database a request works in, for feeds below it. */
export function ownerDatabase(request: CosmosRequest): Database {
  const database = databaseOf(request.catalog, request.address);
  if (!database) throw failure('ownerNotFound', { owner: request.address.names[0] ?? '' });
  return database;
}

export function findContainer(request: CosmosRequest): StoredContainer {
  const database = ownerDatabase(request);
  const container = containerOf(request, database);
  if (container) return container;
  refuseCollection(request, database);
  throw failure('notFound');
}

/** A name belongs to one API, fixed at creation. */
function refuseCollection({ catalog, address }: CosmosRequest, database: Database): void {
  const name = address.names[1] ?? '';
  if (catalog.collections.find(database, name)) throw failure('collectionOfMongo', { name });
}

/** The container a request works in, for items and feeds below it. */
export function ownerContainer(request: CosmosRequest): StoredContainer {
  const database = ownerDatabase(request);
  const container = containerOf(request, database);
  if (!container) {
    refuseCollection(request, database);
    throw failure('ownerNotFound', { owner: request.address.names[1] ?? '' });
  }
  const intended = header(request.headers, 'x-ms-cosmos-intended-collection-rid');
  if (intended && intended !== containerRid(container)) {
    throw failure('wrongContainerRid', { actual: containerRid(container), intended });
  }
  return container;
}

export function findOffer(request: CosmosRequest): Offer {
  const serial = parseOfferRid(request.address.names[0] ?? '');
  const offer = request.catalog.offers().find((each) => each.serial === serial);
  if (!offer) throw failure('notFound');
  return offer;
}

/** In a path of resource ids the item is named by its serial. */
export function itemLocator(
  request: CosmosRequest,
  container: StoredContainer,
  partition: PartitionKey,
): ItemKey | Serial {
  const id = request.address.names[2] ?? '';
  if (Buffer.byteLength(id) > ITEM_ID_BYTES_MAX) throw failure('notFound');
  if (!isRidAddressed(request.catalog, request.address)) return { partition, id };
  const parts = ridParts(id);
  const inside = parts.database === container.database && parts.container === container.serial;
  if (parts.item === undefined || !inside) throw failure('notFound');
  return parts.item;
}

/** Signatures over paths of resource ids cover the last one alone, in lower case. */
export function ridLink(catalog: Catalog, address: Address): string | undefined {
  const isOffer = address.type === 'offers' && address.names.length > 0;
  if (!isOffer && !isRidAddressed(catalog, address)) return undefined;
  return address.names.at(-1)?.toLowerCase();
}

/**
 * The name path of a container, as clients store it beside session tokens. Header values are ASCII.
 */
export function namePath(request: CosmosRequest, container: StoredContainer): string {
  const known = namePaths.get(container);
  if (known !== undefined) return known;
  const database = ownerDatabase(request);
  const path = encodeURI(`dbs/${database.id}/colls/${container.definition.id}`);
  namePaths.set(container, path);
  return path;
}

const namePaths = new WeakMap<StoredContainer, string>();

export function rangeOf(container: StoredContainer, partition: PartitionKey | undefined): number {
  const [first] = container.ranges;
  if (partition === undefined || container.ranges.length === 1) return first?.id ?? 0;
  const epk = effectivePartitionKey(partition, container.engine.partitionHash);
  const holds = (range: PartitionRange) => range.from <= epk && epk < range.to;
  return container.ranges.find(holds)?.id ?? 0;
}

/** The ranges that a feed of this scope reads from. */
export function rangesIn(container: StoredContainer, { partition, span }: Scope): number[] {
  if (container.ranges.length === 1) return container.ranges.map(({ id }) => id);
  const epk = partition && effectivePartitionKey(partition, container.engine.partitionHash);
  const spans = [span, epk === undefined ? undefined : { from: epk, to: `${epk}FF` }];
  const meets = (range: PartitionRange) =>
    spans.every((each) => !each || (range.from < each.to && each.from < range.to));
  const ids = container.ranges.filter(meets).map((range) => range.id);
  return ids.length > 0 ? ids : [rangeOf(container, partition)];
}

function databaseOf(catalog: Catalog, address: Address): Database | undefined {
  const name = address.names[0] ?? '';
  const byName = catalog.database(name);
  if (byName) return byName;
  const parts = parseRid(name);
  if (!parts || parts.container !== undefined) return undefined;
  return catalog.databases().find((database) => database.serial === parts.database);
}

/** A body may come in slowly, and a token opens no other container of the same name. */
function containerOf(request: CosmosRequest, database: Database): StoredContainer | undefined {
  const container = addressedContainer(request, database);
  const { permit } = request;
  if (!permit || container?.serial === permit.scope.container) return container;
  throw failure('permissionOutside');
}

function addressedContainer(
  { address, catalog }: CosmosRequest,
  database: Database,
): StoredContainer | undefined {
  const name = address.names[1] ?? '';
  if (!isRidAddressed(catalog, address)) return catalog.container(database, name);
  const parts = ridParts(name);
  if (parts.item !== undefined || parts.database !== database.serial) return undefined;
  return catalog.containers(database).find((container) => container.serial === parts.container);
}

/** Below a database that was found by its rid, nothing but rids can follow. */
function ridParts(text: string): RidParts {
  const parts = parseRid(text);
  if (!parts) throw failure('invalidRid', { value: text });
  return parts;
}

export function isRidAddressed(catalog: Catalog, address: Address): boolean {
  const name = address.names[0] ?? '';
  return catalog.database(name) === undefined && databaseOf(catalog, address) !== undefined;
}
