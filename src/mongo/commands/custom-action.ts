// The commands of the service itself: databases and collections by its own names.

import type { CollectionDefinition } from '../../catalog/collection-definition.js';
import type { Database } from '../../catalog/resources.js';
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
import { tokenFor } from '../stream/open.js';
import { notSupported } from './find.js';
import { makeIndexes, required } from './indexes.js';
import {
  addThroughput,
  changeThroughput,
  checkShards,
  THROUGHPUT_FIELDS,
  throughputIn,
} from './throughput.js';

type Action = (call: Call) => Promise<Reply>;

const ACTIONS: Readonly<Record<string, Action>> = {
  CreateDatabase: createDatabase,
  UpdateDatabase: updateDatabase,
  GetDatabase: getDatabase,
  CreateCollection: create,
  UpdateCollection: updateCollection,
  GetCollection: getCollection,
  GetChangeStreamTokens: getChangeStreamTokens,
};

export async function customAction(call: Call): Promise<Reply> {
  const name = textOf(call, 'customAction') ?? '';
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) throw notSupported(`customAction: ${name}`);
  return action(call);
}

async function createDatabase(call: Call): Promise<Reply> {
  checkFields(call, THROUGHPUT_FIELDS);
  checkDatabaseName(call.database);
  if (call.mongo.catalog.database(call.database)) {
    throw mongoFailure('NamespaceExists', `the database ${call.database} exists already`);
  }
  await call.mongo.catalog.createDatabase(call.database, throughputIn(call), call.at);
  return documentOf({});
}

async function updateDatabase(call: Call): Promise<Reply> {
  checkFields(call, THROUGHPUT_FIELDS);
  const throughput = throughputIn(call);
  const database = databaseOf(call);
  if (throughput) await changeThroughput(call, database, undefined, throughput);
  return documentOf({});
}

async function getDatabase(call: Call): Promise<Reply> {
  checkFields(call, []);
  const reply = documentOf({ database: call.database });
  addThroughput(reply, call, databaseOf(call));
  return reply;
}

function databaseOf({ mongo, database }: Call): Database {
  const found = mongo.catalog.database(database);
  if (found) return found;
  throw mongoFailure('NamespaceNotFound', `database ${database} not found`);
}

async function create(call: Call): Promise<Reply> {
  checkFields(call, ['collection', 'shardKey', 'indexes', ...THROUGHPUT_FIELDS]);
  const name = textOf(call, 'collection');
  if (name === undefined) throw missingField('customAction.collection');
  const shardKey = textOf(call, 'shardKey');
  const indexes = readIndexes(call);
  if (findCollection(call, call.database, name)) {
    throw mongoFailure('NamespaceExists', `${namespaceOf(call, name)} exists already`);
  }
  const keys = shardKey === undefined ? [] : [shardKey];
  const throughput = throughputIn(call);
  if (throughput) checkShards(throughput, keys);
  const { collection } = await createCollection(call, call.database, name, new Map(), keys);
  if (throughput) await call.mongo.catalog.provisionCollection(collection, throughput, call.at);
  if (indexes && indexes.length > 0) await makeIndexes(call, collection, indexes, false);
  return documentOf({});
}

/** The indexes that are given replace those that are there. */
async function updateCollection(call: Call): Promise<Reply> {
  checkFields(call, ['collection', 'indexes', ...THROUGHPUT_FIELDS]);
  const name = textOf(call, 'collection');
  if (name === undefined) throw missingField('customAction.collection');
  const collection = required(call, name);
  const indexes = readIndexes(call);
  const throughput = throughputIn(call);
  if (throughput) await changeThroughput(call, databaseOf(call), collection, throughput);
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
  const collection = required(call, name);
  const { definition } = collection;
  const reply: Document = documentOf({ database: call.database, collection: name });
  if (definition.shardKey.length > 0) {
    const keys = definition.shardKey.map((path) => [path, 'hashed'] as const);
    reply.set('shardKeyDefinition', documentOf(Object.fromEntries(keys)));
  }
  addThroughput(reply, call, databaseOf(call), collection);
  return reply;
}

/** One for each physical partition, of which a collection has one. */
async function getChangeStreamTokens(call: Call): Promise<Reply> {
  checkFields(call, ['collection', 'startAtOperationTime']);
  const name = textOf(call, 'collection');
  if (name === undefined) throw missingField('customAction.collection');
  required(call, name);
  const since = call.command.get('startAtOperationTime');
  const token = await tokenFor(call, name, since);
  return documentOf({ resumeAfterTokens: [documentOf({ _data: token })] });
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
