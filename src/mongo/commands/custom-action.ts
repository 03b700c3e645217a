// The commands of the service itself: databases and collections by its own names.

import type { CollectionDefinition } from '../../catalog/collection-definition.js';
import { type Document, documentOf, isDocument } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Call, Reply } from '../call.js';
import {
  arrayOf,
  checkFields,
  collectionOf,
  documentOfField,
  missingField,
  textOf,
} from '../fields.js';
import { base64, readIndex } from '../index-spec.js';
import { checkDatabaseName, createCollection, findCollection } from '../namespace.js';
import { namespaceOf } from '../question.js';
import { notSupported } from './find.js';
import { makeIndexes, required } from './indexes.js';

type Action = (call: Call) => Promise<Reply>;

const ACTIONS: Readonly<Record<string, Action>> = {
  CreateDatabase: createDatabase,
  GetDatabase: getDatabase,
  CreateCollection: create,
  UpdateCollection: updateCollection,
  GetCollection: getCollection,
};

export async function customAction(call: Call): Promise<Reply> {
  const name = textOf(call, 'customAction') ?? '';
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) throw notSupported(`customAction: ${name}`);
  // Throughput is provisioned by offers of the other API; here it would be accepted and ignored.
  for (const option of ['offerThroughput', 'autoScaleSettings']) {
    if (call.command.has(option)) throw notSupported(`${name}.${option}`);
  }
  return action(call);
}

async function createDatabase(call: Call): Promise<Reply> {
  checkFields(call, []);
  checkDatabaseName(call.database);
  if (call.mongo.catalog.database(call.database)) {
    throw mongoFailure('NamespaceExists', `the database ${call.database} exists already`);
  }
  await call.mongo.catalog.createDatabase(call.database, undefined, call.at);
  return documentOf({});
}

async function getDatabase(call: Call): Promise<Reply> {
  checkFields(call, []);
  if (call.mongo.catalog.database(call.database)) return documentOf({ database: call.database });
  throw mongoFailure('NamespaceNotFound', `database ${call.database} not found`);
}

async function create(call: Call): Promise<Reply> {
  checkFields(call, ['collection', 'shardKey', 'indexes']);
  const name = textOf(call, 'collection');
  if (name === undefined) throw missingField('customAction.collection');
  const shardKey = textOf(call, 'shardKey');
  const indexes = readIndexes(call);
  if (findCollection(call, call.database, name)) {
    throw mongoFailure('NamespaceExists', `${namespaceOf(call, name)} exists already`);
  }
  const keys = shardKey === undefined ? [] : [shardKey];
  const { collection } = await createCollection(call, call.database, name, new Map(), keys);
  if (indexes && indexes.length > 0) await makeIndexes(call, collection, indexes, false);
  return documentOf({});
}

/** The indexes that are given replace those that are there. */
async function updateCollection(call: Call): Promise<Reply> {
  checkFields(call, ['collection', 'indexes']);
  const name = textOf(call, 'collection');
  if (name === undefined) throw missingField('customAction.collection');
  const collection = required(call, name);
  const indexes = readIndexes(call);
  if (!indexes) return documentOf({});
  const kept = new Set(indexes.map((index) => index.spec));
  const without = (current: CollectionDefinition): CollectionDefinition => ({
    ...current,
    indexes: current.indexes.filter(({ spec }) => kept.has(spec)),
  });
  const changed = await call.mongo.catalog.collections.redefine(collection, without, call.at);
  await makeIndexes(call, changed, indexes, false);
  return documentOf({});
}

async function getCollection(call: Call): Promise<Reply> {
  checkFields(call, ['collection']);
  const name = textOf(call, 'collection') ?? '';
  const { definition } = required(call, name);
  const reply: Document = documentOf({ database: call.database, collection: name });
  if (definition.shardKey.length > 0) {
    const keys = definition.shardKey.map((path) => [path, 'hashed'] as const);
    reply.set('shardKeyDefinition', documentOf(Object.fromEntries(keys)));
  }
  return reply;
}

function readIndexes(call: Call) {
  const given = arrayOf(call, 'indexes');
  if (!given) return undefined;
  const specs = given.map((each) => {
    if (isDocument(each)) return readIndex(each);
    throw mongoFailure('TypeMismatch', 'the elements of indexes must be documents');
  });
  if (!specs.some(({ name }) => name === '_id_')) {
    throw mongoFailure('BadValue', 'The indexes must include one over _id');
  }
  return specs.filter(({ name }) => name !== '_id_');
}

/** A collection that is there is sharded only while it is empty; a new one is made so. */
export async function shardCollection(call: Call): Promise<Reply> {
  checkFields(call, ['key', 'unique', 'numInitialChunks', 'options']);
  const namespace = collectionOf(call);
  const dot = namespace.indexOf('.');
  const place = { ...call, database: namespace.slice(0, dot) };
  const key = documentOfField(call, 'key');
  if (!key || key.size === 0) throw missingField('shardCollection.key');
  if (call.command.get('unique') === true) throw notSupported('shardCollection.unique');
  const name = namespace.slice(dot + 1);
  const shardKey = [...key.keys()];
  const there = findCollection(place, place.database, name);
  if (there) {
    const { items } = await call.mongo.documents.engine.stats(there.engine);
    if (items > 0) {
      throw mongoFailure(
        'IllegalOperation',
        `${namespace} has documents; shard it while it is empty`,
      );
    }
    const sharded = (current: CollectionDefinition) => ({ ...current, shardKey });
    await call.mongo.catalog.collections.redefine(there, sharded, call.at, () => {
      return { kind: 'shardCollection', description: base64(documentOf({ shardKey: key })) };
    });
  } else await createCollection(place, place.database, name, new Map(), shardKey);
  return documentOf({ collectionsharded: namespace });
}
