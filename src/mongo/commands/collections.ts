// create, drop, dropDatabase, renameCollection, collMod, listCollections, listDatabases.
import {
  type CollectionDefinition,
  type CollectionIndex,
  ID_INDEX,
  isTtlOfCollection,
} from '../../catalog/collection-definition.js';
import type { StoredCollection } from '../../catalog/collections.js';
import { compileFilter } from '../../mql/filter/filter.js';
import { toDouble } from '../../value/bson/numbers.js';
import { showValue } from '../../value/bson/show.js';
import {
  Binary,
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  isNumber,
  type Value,
} from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { mayDo, maySee, maySeeAll } from '../auth/roles.js';
import { authorize, rolesOf, unauthorized } from '../authorize.js';
import type { Call, Reply } from '../call.js';
import {
  asTruth,
  checkFields,
  collectionOf,
  documentOfField,
  missingField,
  textOf,
  truthOf,
  unknownField,
} from '../fields.js';
import { base64, checkSeconds, withHidden, withSeconds } from '../index-spec.js';
import { listSource } from '../list-source.js';
import {
  checkCollectionName,
  createCollection,
  findAny,
  findCollection,
  ID_INDEX_SPEC,
  IMAGES,
} from '../namespace.js';
import { namespaceOf } from '../question.js';
import { cursorReply } from '../reply.js';
import { rewriteAll } from '../rewrite.js';
import { PLAIN_LANGUAGE, readBase64 } from '../shape.js';
import { notSupported } from './find.js';
import { needsRewrite, required } from './indexes.js';
import { changeView, VIEW_OPTIONS, viewIn } from './views.js';

/** Kept with the collection and listed. */
const CREATE_OPTIONS: readonly string[] = [
  ...['validator', 'validationLevel', 'validationAction', IMAGES],
];
/** Without effect on a current server, too. */
const CREATE_SILENT: readonly string[] = [
  ...['storageEngine', 'indexOptionDefaults', 'autoIndexId', 'idIndex', 'flags', 'encryptedFields'],
];
const CREATE_REFUSED: readonly string[] = [
  ...['capped', 'size', 'max', 'timeseries', 'clusteredIndex', 'collation'],
  'expireAfterSeconds',
];

export async function create(call: Call): Promise<Reply> {
  checkFields(call, [...CREATE_OPTIONS, ...CREATE_SILENT, ...CREATE_REFUSED, ...VIEW_OPTIONS]);
  const name = collectionOf(call);
  for (const option of CREATE_REFUSED) {
    const value = call.command.get(option);
    if (value === undefined || value === false) continue;
    if (option === 'expireAfterSeconds') {
      throw mongoFailure(
        'InvalidOptions',
        "'expireAfterSeconds' is only for time-series and clustered collections; use an index",
      );
    }
    throw notSupported(`create.${option}`);
  }
  const options = viewIn(call, name, CREATE_OPTIONS) ?? givenOptions(call);
  if (!imagesIn(options)) options.delete(IMAGES);
  const { collection, created } = await createCollection(call, call.database, name, options);
  if (!created && base64(options) !== collection.definition.options) {
    throw mongoFailure(
      'NamespaceExists',
      `namespace ${namespaceOf(call, name)} already exists, but with different options`,
    );
  }
  return documentOf({});
}

function givenOptions(call: Call): Document {
  const options: Document = new Map();
  const validator = documentOfField(call, 'validator');
  if (validator) {
    checkValidator(validator);
    compileFilter(validator, PLAIN_LANGUAGE);
    options.set('validator', validator);
  }
  choose(call, options, 'validationLevel', ['strict', 'moderate', 'off']);
  choose(call, options, 'validationAction', ['error', 'warn']);
  const images = documentOfField(call, IMAGES);
  if (images) {
    for (const name of images.keys()) {
      if (name !== 'enabled') throw unknownField(`${call.name}.${IMAGES}.${name}`);
    }
    const enabled = asTruth(images.get('enabled'), `${call.name}.${IMAGES}.enabled`);
    if (enabled === undefined) throw missingField(`${call.name}.${IMAGES}.enabled`);
    options.set(IMAGES, documentOf({ enabled }));
  }
  return options;
}

/** They sort or search, which a single document cannot answer. */
const NOT_IN_VALIDATORS: readonly string[] = [
  ...['$near', '$nearSphere', '$geoNear', '$text', '$where'],
];

function checkValidator(value: Value): void {
  if (isArray(value)) for (const element of value) checkValidator(element);
  if (!isDocument(value)) return;
  for (const [name, inner] of value) {
    if (NOT_IN_VALIDATORS.includes(name)) {
      throw mongoFailure('BadValue', `${name} is not allowed in this context`);
    }
    checkValidator(inner);
  }
}

function imagesIn(options: Document): boolean {
  const images = options.get(IMAGES);
  return isDocument(images) && images.get('enabled') === true;
}

function choose(call: Call, options: Document, name: string, choices: readonly string[]): void {
  const value = textOf(call, name);
  if (value === undefined) return;
  if (!choices.includes(value)) {
    throw mongoFailure(
      'BadValue',
      `Enumeration value '${value}' for field '${call.name}.${name}' is not a valid value.`,
    );
  }
  options.set(name, value);
}

export async function drop(call: Call): Promise<Reply> {
  checkFields(call, []);
  const name = collectionOf(call);
  const collection = findAny(call, call.database, name);
  if (!collection) return documentOf({});
  const ns = namespaceOf(call, name);
  await call.mongo.catalog.collections.drop(collection, call.at);
  call.mongo.cursors.killOfNamespace(ns);
  if (collection.definition.view !== undefined) return documentOf({ ns });
  return documentOf({ nIndexesWas: int32(collection.definition.indexes.length + 1), ns });
}

/** The database itself goes when no container of the other API is left in it. */
export async function dropDatabase(call: Call): Promise<Reply> {
  checkFields(call, []);
  const { catalog } = call.mongo;
  const database = catalog.database(call.database);
  if (!database) return documentOf({});
  const collections = catalog.collections.in(database);
  if (catalog.containers(database).length === 0) await catalog.deleteDatabase(database, call.at);
  else {
    for (const each of collections) await catalog.collections.drop(each, call.at);
    await catalog.collections.tellDropped(database, call.at);
  }
  for (const { definition } of collections) {
    call.mongo.cursors.killOfNamespace(namespaceOf(call, definition.id));
  }
  return documentOf({ dropped: call.database });
}

export async function renameCollection(call: Call): Promise<Reply> {
  checkFields(call, ['to', 'dropTarget']);
  const [fromDatabase, from] = splitNamespace(collectionOf(call));
  const [toDatabase, to] = splitNamespace(textOf(call, 'to') ?? '');
  authorize(call, 'schema', fromDatabase);
  authorize(call, 'schema', toDatabase);
  const source = findCollection(call, fromDatabase, from);
  if (!source) {
    throw mongoFailure(
      'NamespaceNotFound',
      `Source collection ${fromDatabase}.${from} does not exist`,
    );
  }
  if (fromDatabase !== toDatabase) {
    throw mongoFailure('IllegalOperation', 'A collection cannot be renamed to another database.');
  }
  if (from === to) throw mongoFailure('IllegalOperation', "Can't rename a collection to itself");
  checkCollectionName(toDatabase, to);
  const target = findCollection(call, toDatabase, to);
  if (target && !truthOf(call, 'dropTarget')) {
    throw mongoFailure('NamespaceExists', 'target namespace exists');
  }
  if (target) await call.mongo.catalog.collections.drop(target, call.at);
  const renamed = (current: CollectionDefinition) => ({ ...current, id: to });
  await call.mongo.catalog.collections.redefine(source, renamed, call.at);
  call.mongo.cursors.killOfNamespace(`${fromDatabase}.${from}`);
  return documentOf({});
}

function splitNamespace(namespace: string): readonly [database: string, name: string] {
  const dot = namespace.indexOf('.');
  if (dot > 0 && dot < namespace.length - 1) {
    return [namespace.slice(0, dot), namespace.slice(dot + 1)];
  }
  throw mongoFailure('InvalidNamespace', `Invalid namespace specified '${namespace}'`);
}

const UNSUPPORTED_CHANGES = ['cappedSize', 'cappedMax', 'expireAfterSeconds', 'dryRun'];

export async function collMod(call: Call): Promise<Reply> {
  checkFields(call, [...CREATE_OPTIONS, 'index', ...UNSUPPORTED_CHANGES, ...VIEW_OPTIONS]);
  for (const name of UNSUPPORTED_CHANGES) {
    if (call.command.has(name)) throw notSupported(`collMod.${name}`);
  }
  const name = collectionOf(call);
  const view = findAny(call, call.database, name);
  const options = viewIn(call, name, [...CREATE_OPTIONS, 'index']);
  if (options && view) {
    if (view.definition.view === undefined) {
      throw mongoFailure('InvalidOptions', `${namespaceOf(call, name)} is not a view`);
    }
    await changeView(call, view, options);
    return documentOf({});
  }
  const collection = required(call, name);
  const change = documentOfField(call, 'index');
  const reply: Document = new Map();
  if (change) await changeIndex(call, collection, change, reply);
  const given = givenOptions(call);
  if (given.size > 0) {
    const isToWatch = imagesIn(given);
    const changed = (current: CollectionDefinition): CollectionDefinition => {
      const next = new Map([...readBase64(current.options), ...given]);
      if (!imagesIn(next)) next.delete(IMAGES);
      const watch = isToWatch && !current.watched ? { watched: true, watchedSince: call.at } : {};
      return { ...current, ...watch, options: base64(next) };
    };
    await call.mongo.catalog.collections.redefine(collection, changed, call.at, () => {
      return { kind: 'modify', description: base64(given) };
    });
  }
  return reply;
}

async function changeIndex(
  call: Call,
  collection: StoredCollection,
  change: Document,
  reply: Document,
): Promise<void> {
  for (const name of change.keys()) {
    if (!['name', 'keyPattern', 'expireAfterSeconds', 'hidden'].includes(name)) {
      throw notSupported(`collMod.index.${name}`);
    }
  }
  const index = indexFor(call, collection, change);
  if (!change.has('expireAfterSeconds') && !change.has('hidden')) {
    throw mongoFailure('InvalidOptions', 'no expireAfterSeconds or hidden field');
  }
  let next: CollectionIndex = index;
  const seconds = change.get('expireAfterSeconds');
  if (seconds !== undefined) {
    next = withSeconds(index, newSeconds(index, seconds));
    if (index.expireAfterSeconds !== undefined) {
      reply.set('expireAfterSeconds_old', BigInt(index.expireAfterSeconds));
    }
    reply.set('expireAfterSeconds_new', BigInt(next.expireAfterSeconds ?? 0));
  }
  const hidden = asTruth(change.get('hidden'), 'collMod.index.hidden');
  if (hidden !== undefined) {
    reply.set('hidden_old', readBase64(index.spec).get('hidden') === true);
    reply.set('hidden_new', hidden);
    next = withHidden(next, hidden);
  }
  const becomesTtl = index.expireAfterSeconds === undefined && seconds !== undefined;
  const changed = (current: CollectionDefinition): CollectionDefinition => {
    const indexesMade = current.indexesMade + (becomesTtl && next.number === 0 ? 1 : 0);
    const numbered = becomesTtl && next.number === 0 ? { ...next, number: indexesMade } : next;
    const indexes = current.indexes.map((each) => (each.name === index.name ? numbered : each));
    return { ...current, indexes, indexesMade };
  };
  const replaced = await call.mongo.catalog.collections.redefine(
    collection,
    changed,
    call.at,
    () => ({ kind: 'modify', description: base64(documentOf({ index: change })) }),
  );
  if (becomesTtl && needsRewrite(next)) await rewriteAll(call, replaced);
}

function newSeconds(index: CollectionIndex, value: Value): number {
  if (!isNumber(value)) {
    throw mongoFailure('TypeMismatch', "'expireAfterSeconds' of collMod must be a number");
  }
  if (index.keys.length > 1) {
    throw mongoFailure('InvalidOptions', 'compound indexes do not support TTL');
  }
  const isOfWrites = isTtlOfCollection(index);
  const seconds = Math.min(toDouble(value), 2_147_483_647);
  if (seconds < 0 && !(isOfWrites && seconds === -1)) {
    throw mongoFailure('InvalidOptions', "'expireAfterSeconds' cannot be less than 0");
  }
  return checkSeconds(seconds, isOfWrites, readBase64(index.spec));
}

function indexFor(call: Call, { definition }: StoredCollection, change: Document): CollectionIndex {
  const name = change.get('name');
  const pattern = change.get('keyPattern');
  if ((name === undefined) === (pattern === undefined)) {
    throw mongoFailure(
      'InvalidOptions',
      name === undefined
        ? 'must specify either index name or key pattern'
        : 'cannot specify both key pattern and name',
    );
  }
  if (name === ID_INDEX) {
    throw mongoFailure('InvalidOptions', 'the _id field does not support TTL indexes');
  }
  const found = definition.indexes.find((index) => {
    if (typeof name === 'string') return index.name === name;
    if (!isDocument(pattern)) return false;
    const keys = [...pattern].map(
      ([path, kind]) => `${path} ${isNumber(kind) ? toDouble(kind) : kind}`,
    );
    return keys.join() === index.keys.map(({ path, kind }) => `${path} ${kind}`).join();
  });
  if (found) return found;
  throw mongoFailure(
    'IndexNotFound',
    `cannot find index ${typeof name === 'string' ? name : showValue(pattern)} for ns ${namespaceOf(call, definition.id)}`,
  );
}

export async function listCollections(call: Call): Promise<Reply> {
  checkFields(call, ['filter', 'nameOnly', 'authorizedCollections', 'cursor']);
  const seesAll = mayDo(rolesOf(call), 'look', call.database);
  const asksForOwn = truthOf(call, 'authorizedCollections') && truthOf(call, 'nameOnly');
  if (!seesAll && !asksForOwn) throw unauthorized(call);
  const { catalog, cursors } = call.mongo;
  const database = catalog.database(call.database);
  const filter = documentOfField(call, 'filter');
  const matches = filter ? compileFilter(filter, PLAIN_LANGUAGE).matches : () => true;
  const nameOnly = truthOf(call, 'nameOnly');
  const rows = (database && seesAll ? catalog.collections.in(database) : [])
    .map(described)
    .filter((row) => matches(encodeDocument(row)))
    .map((row) => encodeDocument(nameOnly ? withoutDetails(row) : row));
  const namespace = `${call.database}.$cmd.listCollections`;
  const source = listSource(rows);
  const owner = call.client.login?.user ?? '';
  const opened = {
    namespace,
    owner,
    session: undefined,
    source,
    neverTimesOut: false,
    command: 'listCollections',
  };
  const batch = await cursors.begin(opened, call.at, undefined, false);
  return cursorReply(batch, namespace, 'firstBatch');
}

function described({ definition }: StoredCollection): Document {
  if (definition.view !== undefined) {
    return documentOf({
      name: definition.id,
      type: 'view',
      options: readBase64(definition.options),
      info: documentOf({ readOnly: true }),
    });
  }
  const uuid = Buffer.from(definition.uuid.replaceAll('-', ''), 'hex');
  return documentOf({
    name: definition.id,
    type: 'collection',
    options: readBase64(definition.options),
    info: documentOf({ readOnly: false, uuid: new Binary(4, uuid) }),
    idIndex: ID_INDEX_SPEC,
  });
}

function withoutDetails(row: Document): Document {
  return new Map([...row].filter(([name]) => name === 'name' || name === 'type'));
}

export async function listDatabases(call: Call): Promise<Reply> {
  checkFields(call, ['nameOnly', 'filter', 'authorizedDatabases']);
  const roles = rolesOf(call);
  if (!truthOf(call, 'authorizedDatabases', true) && !maySeeAll(roles)) throw unauthorized(call);
  const { catalog, documents } = call.mongo;
  const filter = documentOfField(call, 'filter');
  const matches = filter ? compileFilter(filter, PLAIN_LANGUAGE).matches : () => true;
  const databases: Document[] = [];
  let total = 0;
  for (const database of catalog.databases()) {
    const collections = catalog.collections.in(database);
    if (collections.length === 0 || !maySee(roles, database.id)) continue;
    let bytes = 0;
    for (const { engine } of collections) bytes += (await documents.engine.stats(engine)).bytes;
    const row = documentOf({ name: database.id, sizeOnDisk: BigInt(bytes), empty: bytes === 0 });
    if (!matches(encodeDocument(row))) continue;
    total += bytes;
    databases.push(truthOf(call, 'nameOnly') ? documentOf({ name: database.id }) : row);
  }
  databases.sort((a, b) => String(a.get('name')).localeCompare(String(b.get('name'))));
  if (truthOf(call, 'nameOnly')) return documentOf({ databases });
  const totalSizeMb = BigInt(Math.floor(total / 2 ** 20));
  return documentOf({ databases, totalSize: BigInt(total), totalSizeMb });
}
