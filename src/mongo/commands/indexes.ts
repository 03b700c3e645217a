// createIndexes, listIndexes, dropIndexes, and the part of collMod that is about indexes.
import {
  type CollectionDefinition,
  type CollectionIndex,
  WRITTEN_FIELD,
} from '../../catalog/collection-definition.js';
import type { StoredCollection } from '../../catalog/collections.js';
import { rest } from '../../time/clock.js';
import { showValue } from '../../value/bson/show.js';
import {
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  type Value,
} from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Call, Reply } from '../call.js';
import { arrayOf, checkFields, collectionOf, documentOfField, missingField } from '../fields.js';
import { indexChecks } from '../index-checks.js';
import { base64, readIndex, sameIndex } from '../index-spec.js';
import { listSource } from '../list-source.js';
import { collectionFor, findCollection, ID_INDEX_SPEC } from '../namespace.js';
import { namespaceOf } from '../question.js';
import { cursorReply } from '../reply.js';
import { checkAll, rewriteAll } from '../rewrite.js';
import { readBase64 } from '../shape.js';

const INDEXES_MAX = 64;
const BUILD_POLL_MS = 5;
/** Engines know unique and TTL indexes by one byte, which is never given twice. */
const NUMBERED_MAX = 250;

export async function createIndexes(call: Call): Promise<Reply> {
  checkFields(call, ['indexes', 'commitQuorum', 'ignoreUnknownIndexOptions']);
  const name = collectionOf(call);
  const specs = (arrayOf(call, 'indexes') ?? []).map((spec) => {
    if (isDocument(spec)) return readIndex(spec);
    throw mongoFailure('TypeMismatch', 'The elements of the indexes array must be objects');
  });
  if (specs.length === 0) {
    throw mongoFailure('BadValue', 'Must specify at least one index to create');
  }
  const there = findCollection(call, call.database, name);
  if (call.transaction && there) await refuseInTransaction(call, there, specs);
  const collection = there ?? (await collectionFor(call, call.database, name));
  return makeIndexes(call, collection, specs, there === undefined);
}

/** In a transaction only an empty collection gets indexes. */
async function refuseInTransaction(
  { mongo, database }: Call,
  { definition, engine }: StoredCollection,
  specs: Parameters<typeof withIndexes>[1],
): Promise<void> {
  if (withIndexes(definition, specs).indexes.length === definition.indexes.length) return;
  if ((await mongo.documents.engine.stats(engine)).items === 0) return;
  throw mongoFailure(
    'OperationNotSupportedInTransaction',
    `Cannot create new indexes on existing collection ${database}.${definition.id} in a multi-document transaction.`,
  );
}

export async function makeIndexes(
  call: Call,
  collection: StoredCollection,
  specs: readonly Omit<CollectionIndex, 'number'>[],
  isNewCollection: boolean,
): Promise<Reply> {
  const before = collection.definition.indexes.length + 1;
  let made: readonly CollectionIndex[] = [];
  const changed = await call.mongo.catalog.collections.redefine(
    collection,
    (current) => {
      const next = withIndexes(current, specs);
      made = next.indexes.slice(current.indexes.length);
      return made.length === 0 ? current : next;
    },
    call.at,
    () => tidingsOf('createIndexes', made),
  );
  await fill(call, changed, made);
  if (made.length > 0) await built(call, changed);
  const reply: Document = new Map();
  if (isNewCollection) reply.set('createdCollectionAutomatically', true);
  reply.set('numIndexesBefore', int32(before));
  reply.set('numIndexesAfter', int32(changed.definition.indexes.length + 1));
  if (made.length === 0) reply.set('note', 'all indexes already exist');
  return reply;
}

/** The client is answered when the index can be used. */
async function built({ mongo }: Call, { engine }: StoredCollection): Promise<void> {
  while (mongo.catalog.collections.ofEngine(engine.id)) {
    const { indexProgress } = await mongo.documents.engine.stats(engine);
    if (indexProgress >= 100) return;
    const stopped = await Promise.race([rest(BUILD_POLL_MS), mongo.stopping.then(() => true)]);
    if (stopped === true) return;
  }
}

/** What documents that are there already need for the new indexes; if that fails, they go again. */
async function fill(
  call: Call,
  collection: StoredCollection,
  made: readonly CollectionIndex[],
): Promise<void> {
  const mayRefuse = made.some((index) => indexChecks(index).length > 0);
  if (!mayRefuse && !made.some(needsRewrite)) return;
  try {
    if (made.some(needsRewrite)) await rewriteAll(call, collection);
    else await checkAll(call, collection);
  } catch (error) {
    await dropNamed(call, collection, new Set(made.map((index) => index.name)));
    throw error;
  }
}

export function needsRewrite(index: Omit<CollectionIndex, 'number'>): boolean {
  const isDate = index.expireAfterSeconds !== undefined && index.keys[0]?.path !== WRITTEN_FIELD;
  return index.unique || isDate;
}

function withIndexes(
  current: CollectionDefinition,
  specs: readonly Omit<CollectionIndex, 'number'>[],
): CollectionDefinition {
  const indexes = [...current.indexes];
  let { indexesMade } = current;
  for (const spec of specs) {
    if (isSameAsKnown(indexes, spec)) continue;
    if (indexes.length + 1 >= INDEXES_MAX) {
      throw mongoFailure(
        'CannotCreateIndex',
        `add index fails, too many indexes for ${current.id} key:${showValue(readBase64(spec.spec))}`,
      );
    }
    const isWhole = current.shardKey.every((path) => spec.keys.some((key) => key.path === path));
    if (spec.unique && !isWhole) {
      throw mongoFailure(
        'CannotCreateIndex',
        `cannot create unique index over ${spec.name} without the shard key ${current.shardKey.join()}`,
      );
    }
    const isNumbered = needsRewrite(spec);
    if (isNumbered && indexesMade >= NUMBERED_MAX) {
      throw mongoFailure(
        'CannotCreateIndex',
        `${current.id} has had ${NUMBERED_MAX} unique and TTL indexes, which is the maximum; copy it to a new collection`,
      );
    }
    if (isNumbered) indexesMade += 1;
    indexes.push({ ...spec, number: isNumbered ? indexesMade : 0 });
  }
  return { ...current, indexes, indexesMade };
}

/** An index that is there already is no news; one that is there in another way is a conflict. */
function isSameAsKnown(
  indexes: readonly CollectionIndex[],
  spec: Omit<CollectionIndex, 'number'>,
): boolean {
  if (spec.name === '_id_') return true;
  const named = indexes.find(({ name }) => name === spec.name);
  const [asked, shown] = [showSpec(spec), named && showSpec(named)];
  if (named && !sameIndex.signature(named, spec)) {
    throw mongoFailure(
      'IndexKeySpecsConflict',
      `An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. Requested index: ${asked}, existing index: ${shown}`,
    );
  }
  const twin = named ?? indexes.find((index) => sameIndex.signature(index, spec));
  if (!twin) return false;
  if (!sameIndex.options(twin, spec)) {
    const how = named ? 'the same name but different options' : 'a different name and options';
    throw mongoFailure(
      'IndexOptionsConflict',
      `An equivalent index already exists with ${how}. Requested index: ${asked}, existing index: ${showSpec(twin)}`,
    );
  }
  if (twin.name === spec.name) return true;
  throw mongoFailure(
    'IndexOptionsConflict',
    `Index already exists with a different name: ${twin.name}`,
  );
}

function showSpec({ spec }: Pick<CollectionIndex, 'spec'>): string {
  return showValue(readBase64(spec));
}

export async function listIndexes(call: Call): Promise<Reply> {
  checkFields(call, ['cursor', 'includeBuildUUIDs', 'includeIndexBuildInfo']);
  const name = collectionOf(call);
  const namespace = namespaceOf(call, name);
  const collection = findCollection(call, call.database, name);
  if (!collection) {
    throw mongoFailure('NamespaceNotFound', `ns does not exist: ${namespace}`);
  }
  const rows = indexSpecs(collection).map((spec) => encodeDocument(spec));
  const opened = {
    namespace,
    owner: call.client.login?.user ?? '',
    session: undefined,
    source: listSource(rows),
    neverTimesOut: false,
    command: 'listIndexes',
  };
  const batch = await call.mongo.cursors.begin(opened, call.at, undefined, false);
  return cursorReply(batch, namespace, 'firstBatch');
}

export function indexSpecs({ definition }: StoredCollection): readonly Document[] {
  return [ID_INDEX_SPEC, ...definition.indexes.map(({ spec }) => readBase64(spec))];
}

export async function dropIndexes(call: Call): Promise<Reply> {
  checkFields(call, ['index']);
  const collection = required(call, collectionOf(call));
  const { indexes } = collection.definition;
  const given = call.command.get('index');
  if (given === undefined) throw missingField('dropIndexes.index');
  const nIndexesWas = int32(indexes.length + 1);
  if (given === '*') {
    await dropNamed(call, collection, new Set(indexes.map(({ name }) => name)));
    return documentOf({ nIndexesWas, msg: 'non-_id indexes dropped for collection' });
  }
  const names = (isArray(given) ? given : [given]).map((each) => indexNamed(collection, each));
  await dropNamed(call, collection, new Set(names));
  return documentOf({ nIndexesWas });
}

function indexNamed({ definition }: StoredCollection, given: Value | undefined): string {
  if (typeof given === 'string') {
    if (given === '_id_') throw mongoFailure('InvalidOptions', 'cannot drop _id index');
    if (definition.indexes.some(({ name }) => name === given)) return given;
    throw mongoFailure('IndexNotFound', `index not found with name [${given}]`);
  }
  if (!isDocument(given)) {
    throw mongoFailure('TypeMismatch', "'index' must be a name, a list of names, or a key pattern");
  }
  const asked = readIndex(documentOf({ key: given, name: 'x' }));
  if (asked.name === '_id_') throw mongoFailure('InvalidOptions', 'cannot drop _id index');
  const [found, other] = definition.indexes.filter((index) => sameIndex.keys(index, asked));
  if (found && other) {
    const pair = `${showSpec(found)}, ${showSpec(other)}`;
    throw mongoFailure(
      'AmbiguousIndexKeyPattern',
      `2 indexes found for key: ${showValue(given)}, identify by name instead. Conflicting indexes: ${pair}`,
    );
  }
  if (found) return found.name;
  throw mongoFailure('IndexNotFound', `can't find index with key: ${showValue(given)}`);
}

async function dropNamed(
  call: Call,
  collection: StoredCollection,
  names: ReadonlySet<string>,
): Promise<void> {
  if (names.size === 0) return;
  const without = (current: CollectionDefinition): CollectionDefinition => ({
    ...current,
    indexes: current.indexes.filter(({ name }) => !names.has(name)),
  });
  const gone = collection.definition.indexes.filter(({ name }) => names.has(name));
  await call.mongo.catalog.collections.redefine(collection, without, call.at, () =>
    tidingsOf('dropIndexes', gone),
  );
}

function tidingsOf(kind: 'createIndexes' | 'dropIndexes', indexes: readonly CollectionIndex[]) {
  const specs = indexes.map(({ spec }) => readBase64(spec));
  return { kind, description: base64(documentOf({ indexes: specs })) };
}

export function required(call: Call, name: string): StoredCollection {
  const collection = findCollection(call, call.database, name);
  if (collection) return collection;
  throw mongoFailure('NamespaceNotFound', `ns not found ${namespaceOf(call, name)}`);
}

export function filterOf(call: Call): Document | undefined {
  return documentOfField(call, 'filter');
}
