// What a pipeline reaches beyond its input: other collections, `$out`, `$merge`, and statistics.
import type { StoredCollection } from '../catalog/collections.js';
import { type EditAt, idOf, idText } from '../documents/collection-write.js';
import { compileFilter } from '../mql/filter/filter.js';
import { leadingMatch } from '../mql/pipeline/leading.js';
import { compilePipeline } from '../mql/pipeline/pipeline.js';
import type { Merge, Namespace, PipelineHost } from '../mql/pipeline/stage.js';
import type { Instant } from '../time/instant.js';
import { decodeDocument } from '../value/bson/read.js';
import {
  type Bytes,
  DateTime,
  type Document,
  documentOf,
  int32,
  isDocument,
  type Value,
} from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';
import { mongoFailure } from '../value/mongo-errors.js';
import { authorize } from './authorize.js';
import type { Call } from './call.js';
import { hostOf, storageStats } from './commands/diagnostics.js';
import { indexSpecs, makeIndexes } from './commands/indexes.js';
import { insertAll } from './commands/insert.js';
import { checked, prepared } from './documents-in.js';
import {
  checkCollectionName,
  collectionFor,
  createCollection,
  currentOf,
  findCollection,
} from './namespace.js';
import { documentsOf } from './pipeline-input.js';
import { languageOf } from './question.js';
import { accessOf, matching } from './rows.js';
import { shapeOf } from './shape.js';
import { editInOrder } from './storage.js';
import { seenBy } from './view.js';
import { errorOf } from './write-errors.js';

export function pipelineHost(
  call: Call,
  collection: StoredCollection | undefined,
  now: { readonly at: Instant },
): PipelineHost {
  return {
    read: (namespace, filter) => {
      const other = placed(call, namespace, 'read');
      const { collection: name } = namespace;
      const { collection: found, stages } = seenBy(other, other.database, name);
      if (stages.length === 0) {
        return documentsOf(other, { collection: found, name, filter }, now);
      }
      return seenDocuments(other, name, filter ? [documentOf({ $match: filter })] : [], now);
    },
    replace: async (namespace, documents) => {
      checkOutside(call, '$out');
      await replaceAll(placed(call, namespace, 'write'), namespace, documents);
    },
    merge: async (merge, documents) => {
      checkOutside(call, '$merge');
      await mergeAll(placed(call, merge.into, 'write'), merge, documents);
    },
    statistics: (stage, operand) => statistics(call, collection, stage, operand),
    geoPath: () => geoPath(collection),
  };
}

/** What is seen under a name, be it a collection's or a view's, behind further stages. */
export async function* seenDocuments(
  call: Call,
  name: string,
  more: readonly Value[],
  now: { readonly at: Instant },
): AsyncGenerator<readonly Bytes[]> {
  const seen = seenBy(call, call.database, name);
  const stages = [...seen.stages, ...more];
  const language = languageOf(call, seen.collection, call.command);
  const pipeline = compilePipeline(stages, language, pipelineHost(call, seen.collection, now));
  const { collection } = seen;
  const wanted = { collection, name: seen.name, filter: leadingMatch(stages) };
  const input = documentsOf(call, wanted, now);
  for await (const batch of pipeline.run(input)) yield batch.map((row) => row.bytes);
}

function checkOutside({ transaction }: Call, stage: string): void {
  if (!transaction) return;
  throw mongoFailure(
    'OperationNotSupportedInTransaction',
    `${stage} cannot be used in a transaction`,
  );
}

/** The same call, as if it were given to that database; its hint is for its own collection. */
function placed(call: Call, { database }: Namespace, action: 'read' | 'write'): Call {
  const there = database ?? call.database;
  authorize(call, action, there);
  const command = new Map(call.command);
  command.delete('hint');
  return { ...call, database: there, command };
}

/** `$out`: a new collection with the indexes of the old one takes its place when it is complete. */
async function replaceAll(
  call: Call,
  { collection: name }: Namespace,
  documents: AsyncIterable<readonly Bytes[]>,
): Promise<void> {
  checkCollectionName(call.database, name);
  const { collections } = call.mongo.catalog;
  const target = findCollection(call, call.database, name);
  const options = target ? shapeOf(target).options : new Map();
  const temporary = `tmp.agg_out.${call.mongo.entropy.uuid()}`;
  const { collection } = await createCollection(call, call.database, temporary, options);
  try {
    if (target) await makeIndexes(call, collection, target.definition.indexes, false);
    for await (const batch of documents) {
      const how = { ordered: true, bypass: false };
      const { errors } = await insertAll(call, collection, batch, how);
      if (errors[0]) throw errors[0].error;
    }
    const old = findCollection(call, call.database, name);
    if (old) await collections.drop(old, call.at);
    await collections.redefine(collection, (current) => ({ ...current, id: name }), call.at);
  } catch (error) {
    await collections.drop(collection, call.at);
    throw error;
  }
}

async function mergeAll(
  call: Call,
  merge: Merge,
  documents: AsyncIterable<readonly Bytes[]>,
): Promise<void> {
  const name = merge.into.collection;
  checkCollectionName(call.database, name);
  const collection = await collectionFor(call, call.database, name);
  if (!hasUniqueOver(collection, merge.on)) {
    throw mongoFailure(
      'IndexNotFound',
      "Cannot find index to verify that join fields will be unique; $merge needs one over its 'on' fields",
    );
  }
  for await (const batch of documents) {
    for (const incoming of batch) await mergeOne(call, collection, merge, incoming);
  }
}

function hasUniqueOver({ definition }: StoredCollection, fields: readonly string[]): boolean {
  if (fields.length === 1 && fields[0] === '_id') return true;
  const wanted = [...fields].sort().join();
  return definition.indexes.some(
    ({ unique, keys }) =>
      unique &&
      keys
        .map(({ path }) => path)
        .sort()
        .join() === wanted,
  );
}

async function mergeOne(
  call: Call,
  collection: StoredCollection,
  merge: Merge,
  given: Bytes,
): Promise<void> {
  const incoming = prepared(given, call);
  const shape = () => shapeOf(currentOf(call.mongo, collection));
  const there = await matchFor(call, collection, merge.on, incoming);
  const id = idOf(incoming);
  if (id === undefined) throw new Error('a prepared document has an _id');
  const edit: EditAt = {
    partition: there?.partition ?? shape().partitionOf(incoming),
    id: there?.id ?? idText(id),
    edit: (current) => {
      const next = merge.decide(current, incoming);
      if (next === undefined || next === current) return { keep: true };
      return { put: checked(next) };
    },
  };
  const [outcome] = await editInOrder(call, collection, [edit]);
  const namespace = `${call.database}.${collection.definition.id}`;
  const error = outcome && errorOf(outcome, namespace, collection, incoming);
  if (error) throw error;
}

/** Where the document is that has the same values of these fields. */
async function matchFor(
  call: Call,
  collection: StoredCollection,
  fields: readonly string[],
  incoming: Bytes,
) {
  if (fields.length === 1 && fields[0] === '_id') return undefined;
  const values = decodeDocument(incoming);
  const wanted: Document = new Map();
  for (const field of fields) {
    let value: Value | undefined = values;
    for (const step of field.split('.')) value = isDocument(value) ? value.get(step) : undefined;
    wanted.set(field, documentOf({ $eq: value ?? null }));
  }
  const language = languageOf(call, collection, new Map());
  const filter = compileFilter(wanted, language);
  const question = {
    name: collection.definition.id,
    collection,
    language,
    filter,
    hint: undefined,
  };
  const access = await accessOf(call, question);
  for await (const items of matching(call, collection, question, access)) {
    if (items[0]) return items[0].key;
  }
  return undefined;
}

function statistics(
  call: Call,
  collection: StoredCollection | undefined,
  stage: string,
  operand: Value,
): AsyncIterable<readonly Bytes[]> | undefined {
  switch (stage) {
    case '$collStats':
      return rowsOf(async () => [await collectionStatistics(call, collection, operand)]);
    case '$indexStats':
      return rowsOf(async () => indexStatistics(call, collection));
    case '$currentOp':
    case '$listLocalSessions':
    case '$listSessions':
    case '$planCacheStats':
      return rowsOf(async () => []);
    default:
      return undefined;
  }
}

async function* rowsOf(make: () => Promise<readonly Document[]>) {
  yield (await make()).map((document) => encodeDocument(document));
}

async function collectionStatistics(
  call: Call,
  collection: StoredCollection | undefined,
  operand: Value,
): Promise<Document> {
  const asked: Document = isDocument(operand) ? operand : new Map();
  const storage = await storageStats(call, collection, 1);
  const ns = `${call.database}.${collection?.definition.id ?? String(call.command.get('aggregate'))}`;
  const latency = documentOf({ latency: 0n, ops: 0n });
  return documentOf({
    ns,
    host: hostOf(call),
    localTime: new DateTime(call.at),
    ...(asked.has('latencyStats')
      ? { latencyStats: documentOf({ reads: latency, writes: latency, commands: latency }) }
      : {}),
    ...(asked.has('storageStats') ? { storageStats: storage } : {}),
    ...(asked.has('count') ? { count: storage.get('count') ?? int32(0) } : {}),
  });
}

function indexStatistics(
  call: Call,
  collection: StoredCollection | undefined,
): readonly Document[] {
  if (!collection) return [];
  return indexSpecs(collection).map((spec) =>
    documentOf({
      name: spec.get('name') as Value,
      key: spec.get('key') as Value,
      host: hostOf(call),
      accesses: documentOf({ ops: 0n, since: new DateTime(call.mongo.startedAt) }),
      spec,
    }),
  );
}

function geoPath(collection: StoredCollection | undefined): string | undefined {
  const keys = collection?.definition.indexes.flatMap((index) => index.keys) ?? [];
  return keys.find(({ kind }) => kind === '2dsphere' || kind === '2d')?.path;
}
