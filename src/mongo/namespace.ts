// Databases and collections by their names: finding them, and making them where a write needs them.
import { type CollectionDefinition, ID_INDEX } from '../catalog/collection-definition.js';
import type { StoredCollection } from '../catalog/collections.js';
import type { Database } from '../catalog/resources.js';
import { type Document, documentOf, int32 } from '../value/bson/value.js';
import { MayflyError } from '../value/errors.js';
import { MongoError, mongoCodes, mongoFailure } from '../value/mongo-errors.js';
import type { Call, Mongo } from './call.js';
import { base64 } from './index-spec.js';

/** Kept with the collection where it is on. */
export const IMAGES = 'changeStreamPreAndPostImages';
export const ID_INDEX_SPEC: Document = documentOf({
  v: int32(2),
  key: documentOf({ _id: int32(1) }),
  name: ID_INDEX,
});
const DATABASE_BYTES_MAX = 63;
const NAMESPACE_BYTES_MAX = 255;

export function checkDatabaseName(name: string): void {
  const bytes = Buffer.byteLength(name);
  if (bytes > 0 && bytes <= DATABASE_BYTES_MAX && !/[/\\. "$*<>:|?\0]/.test(name)) return;
  throw mongoFailure('InvalidNamespace', `Invalid database name: '${name.slice(0, 100)}'`);
}

export function checkCollectionName(database: string, name: string): void {
  const isTooLong = Buffer.byteLength(`${database}.${name}`) > NAMESPACE_BYTES_MAX;
  if (name === '' || isTooLong || name.includes('\0') || name.includes('$')) {
    throw mongoFailure(
      'InvalidNamespace',
      `Invalid namespace specified '${database}.${name.slice(0, 300)}'`,
    );
  }
  if (name.startsWith('.') || name.endsWith('.')) {
    throw mongoFailure(
      'InvalidNamespace',
      `Collection names cannot start or end with '.': ${name}`,
    );
  }
}

/** A view, where a command is for collections only. */
export class OnView extends MongoError {
  readonly view: string;

  constructor(database: string, view: string) {
    const text = `Namespace ${database}.${view} is a view, not a collection`;
    super(mongoCodes.CommandNotSupportedOnView, 'CommandNotSupportedOnView', text);
    this.view = view;
  }
}

export function findCollection(
  call: Call,
  database: string,
  name: string,
): StoredCollection | undefined {
  const found = findAny(call, database, name);
  if (found?.definition.view === undefined) return found;
  throw new OnView(database, name);
}

/** A collection or a view. */
export function findAny(
  { mongo }: Call,
  database: string,
  name: string,
): StoredCollection | undefined {
  const found = mongo.catalog.database(database);
  if (!found) return undefined;
  const collection = mongo.catalog.collections.find(found, name);
  if (!collection && mongo.catalog.container(found, name)) throw ofOtherApi(database, name);
  return collection;
}

/** The collection as it is now, which others may have changed meanwhile. */
export function currentOf(mongo: Mongo, collection: StoredCollection): StoredCollection {
  return mongo.catalog.collections.ofEngine(collection.engine.id) ?? collection;
}

export async function collectionFor(
  call: Call,
  database: string,
  name: string,
): Promise<StoredCollection> {
  const found = findCollection(call, database, name);
  if (found) return found;
  const { collection } = await createCollection(call, database, name, new Map());
  return collection;
}

export async function createCollection(
  call: Call,
  database: string,
  name: string,
  options: Document,
  shardKey: readonly string[] = [],
): Promise<{ readonly collection: StoredCollection; readonly created: boolean }> {
  checkDatabaseName(database);
  checkCollectionName(database, name);
  if (name.startsWith('system.') && name !== 'system.js') {
    throw mongoFailure('InvalidNamespace', `Invalid system namespace: ${database}.${name}`);
  }
  const { mongo, at } = call;
  const home = await databaseFor(call, database);
  const viewOn = options.get('viewOn');
  const definition: CollectionDefinition = {
    id: name,
    uuid: mongo.entropy.uuid(),
    options: base64(options),
    indexes: [],
    indexesMade: 0,
    shardKey,
    // Images are of use from the first document on.
    ...(options.has(IMAGES) ? { watched: true } : {}),
    ...(typeof viewOn === 'string' ? { view: viewOn } : {}),
  };
  if (mongo.catalog.container(home, name)) throw ofOtherApi(database, name);
  const described = new Map([['idIndex', ID_INDEX_SPEC], ...options]);
  return mongo.catalog.collections.create(home, definition, at, base64(described));
}

async function databaseFor({ mongo, at }: Call, name: string): Promise<Database> {
  const { catalog } = mongo;
  const there = catalog.database(name);
  if (there) return there;
  const twin = catalog.databases().find(({ id }) => id.toLowerCase() === name.toLowerCase());
  if (twin) {
    throw mongoFailure(
      'DatabaseDifferCase',
      `db already exists with different case already have: [${twin.id}] trying to create [${name}]`,
    );
  }
  try {
    return await catalog.createDatabase(name, undefined, at);
  } catch (error) {
    const made = catalog.database(name);
    // Somebody else was faster.
    if (made && error instanceof MayflyError && error.code === 'resourceConflict') return made;
    throw error;
  }
}

function ofOtherApi(database: string, name: string) {
  return mongoFailure(
    'CommandNotSupported',
    `${database}.${name} is a container of the API for NoSQL: the API is fixed at creation, use a client of that API`,
  );
}
