// What tools ask to show how the server is doing.

import { cpus, hostname, type as osType, release, totalmem } from 'node:os';
import { ID_INDEX } from '../../catalog/collection-definition.js';
import type { StoredCollection } from '../../catalog/collections.js';
import { DateTime, type Document, documentOf, int32, type Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Call, Reply } from '../call.js';
import { asNumber, checkFields, collectionOf, textOf } from '../fields.js';
import { findCollection } from '../namespace.js';
import { namespaceOf } from '../question.js';
import { countMatching } from './count.js';
import { personalityOf, SET_NAME } from './hello.js';
import { SERVER_VERSION } from './server-info.js';
import { questionOfStatement } from './update.js';

const MB = 2 ** 20;

export function hostInfo({ at }: Call): Reply {
  const memory = Math.floor(totalmem() / MB);
  return documentOf({
    system: documentOf({
      currentTime: new DateTime(at),
      hostname: hostname(),
      cpuAddrSize: int32(64),
      memSizeMB: BigInt(memory),
      memLimitMB: BigInt(memory),
      numCores: int32(cpus().length),
      cpuArch: process.arch,
      numaEnabled: false,
    }),
    os: documentOf({ type: osType(), name: osType(), version: release() }),
    extra: documentOf({}),
  });
}

export function getCmdLineOpts({ mongo }: Call): Reply {
  const parsed = documentOf({ storage: documentOf({ dbPath: mongo.data }) });
  return documentOf({ argv: ['mayfly', 'start'], parsed });
}

export function getLog(call: Call): Reply {
  const name = call.command.get('getLog');
  if (name === '*') return documentOf({ names: ['global', 'startupWarnings'] });
  if (name === 'global' || name === 'startupWarnings') {
    return documentOf({ totalLinesWritten: int32(0), log: [] });
  }
  throw mongoFailure('OperationFailed', `No log named '${String(name)}'`);
}

export function getParameter(call: Call): Reply {
  const parameters: Readonly<Record<string, Value>> = {
    featureCompatibilityVersion: documentOf({ version: '7.0' }),
    ttlMonitorEnabled: true,
    ttlMonitorSleepSecs: int32(0),
    logComponentVerbosity: documentOf({ verbosity: int32(0) }),
    authenticationMechanisms: ['SCRAM-SHA-1', 'SCRAM-SHA-256'],
    transactionLifetimeLimitSeconds: int32(60),
  };
  const asked = call.command.get('getParameter');
  const names = [...call.command.keys()].filter((name) => Object.hasOwn(parameters, name));
  const wanted = asked === '*' ? Object.keys(parameters) : names;
  if (wanted.length === 0) throw mongoFailure('InvalidOptions', 'no option found to get');
  return documentOf(Object.fromEntries(wanted.map((name) => [name, parameters[name] as Value])));
}

export function serverStatus(call: Call): Reply {
  const { mongo, at } = call;
  const { counters } = mongo;
  const connections = mongo.connections();
  const personality = personalityOf(call);
  const uptime = Math.floor(counters.since());
  const { purgedTotal } = mongo.documents.purger.status();
  const done = (...names: readonly string[]) =>
    BigInt(names.reduce((sum, name) => sum + (counters.operations.get(name) ?? 0), 0));
  const queue = documentOf({ total: int32(0), readers: int32(0), writers: int32(0) });
  const memory = process.memoryUsage();
  return documentOf({
    host: hostOf(call),
    version: SERVER_VERSION,
    process: personality === 'mongos' ? 'mongos' : 'mongod',
    pid: BigInt(process.pid),
    uptime: Math.floor(uptime / 1000),
    uptimeMillis: BigInt(uptime),
    uptimeEstimate: BigInt(Math.floor(uptime / 1000)),
    localTime: new DateTime(at),
    connections: documentOf({
      current: int32(connections.current),
      available: int32(connections.max - connections.current),
      totalCreated: int32(connections.total),
    }),
    globalLock: documentOf({
      totalTime: BigInt(uptime) * 1000n,
      currentQueue: queue,
      activeClients: queue,
    }),
    network: documentOf({ bytesIn: 0n, bytesOut: 0n, numRequests: BigInt(counters.requests) }),
    opcounters: documentOf({
      insert: done('insert'),
      query: done('find'),
      update: done('update', 'findAndModify'),
      delete: done('delete'),
      getmore: done('getMore'),
      command: BigInt(counters.requests),
    }),
    mem: documentOf({
      bits: int32(64),
      resident: int32(Math.floor(memory.rss / MB)),
      virtual: int32(Math.floor(memory.rss / MB)),
      supported: true,
    }),
    storageEngine: documentOf({
      name: 'mayfly',
      supportsCommittedReads: true,
      persistent: mongo.data !== ':memory:',
    }),
    metrics: documentOf({
      cursor: documentOf({ open: documentOf({ total: BigInt(mongo.cursors.size) }) }),
      ttl: documentOf({
        deletedDocuments: BigInt(purgedTotal),
        passes: 0n,
        subPasses: 0n,
        invalidTTLIndexSkips: 0n,
      }),
    }),
    logicalSessionRecordCache: documentOf({ activeSessionsCount: int32(mongo.sessions.size) }),
  });
}

export function hostOf({ mongo }: Call): string {
  const { host, port } = mongo.address();
  return `${host}:${port}`;
}

export interface CollectionSizes {
  readonly count: number;
  readonly bytes: number;
  readonly indexes: number;
}

export async function sizesOf(call: Call, collection: StoredCollection): Promise<CollectionSizes> {
  const { bytes } = await call.mongo.documents.engine.stats(collection.engine);
  const statement = { filter: new Map(), own: new Map(), hint: undefined };
  const question = questionOfStatement(call, collection.definition.id, collection, statement);
  const count = await countMatching(call, question);
  return { count, bytes, indexes: collection.definition.indexes.length + 1 };
}

export async function dbStats(call: Call): Promise<Reply> {
  checkFields(call, ['scale', 'freeStorage']);
  const { catalog } = call.mongo;
  const scale = scaleOf(call);
  const database = catalog.database(call.database);
  const all = database ? catalog.collections.in(database) : [];
  const collections = all.filter(({ definition }) => definition.view === undefined);
  const sizes = await Promise.all(collections.map((each) => sizesOf(call, each)));
  const sum = (pick: (size: CollectionSizes) => number) =>
    sizes.reduce((total, size) => total + pick(size), 0);
  const [objects, bytes, indexes] = [
    sum(({ count }) => count),
    sum((size) => size.bytes),
    sum((size) => size.indexes),
  ];
  return documentOf({
    db: call.database,
    collections: BigInt(collections.length),
    views: BigInt(all.length - collections.length),
    objects: BigInt(objects),
    avgObjSize: objects === 0 ? 0 : bytes / objects,
    dataSize: bytes / scale,
    storageSize: bytes / scale,
    indexes: BigInt(indexes),
    indexSize: 0,
    totalSize: bytes / scale,
    scaleFactor: BigInt(scale),
    fsUsedSize: 0,
    fsTotalSize: 0,
  });
}

export async function collStats(call: Call): Promise<Reply> {
  checkFields(call, ['scale']);
  const name = collectionOf(call);
  const collection = findCollection(call, call.database, name);
  const reply = await storageStats(call, collection, scaleOf(call));
  return new Map<string, Value>([['ns', namespaceOf(call, name)], ...reply]);
}

export async function storageStats(
  call: Call,
  collection: StoredCollection | undefined,
  scale: number,
): Promise<Document> {
  const sizes = collection && (await sizesOf(call, collection));
  const { count, bytes, indexes } = sizes ?? { count: 0, bytes: 0, indexes: 0 };
  const names = [ID_INDEX, ...(collection?.definition.indexes ?? []).map((index) => index.name)];
  return documentOf({
    size: bytes / scale,
    count: int32(count),
    avgObjSize: count === 0 ? 0 : Math.round(bytes / count),
    numOrphanDocs: 0,
    storageSize: bytes / scale,
    freeStorageSize: 0,
    capped: false,
    nindexes: int32(indexes),
    indexBuilds: [],
    totalIndexSize: 0,
    totalSize: bytes / scale,
    indexSizes: documentOf(Object.fromEntries(collection ? names.map((each) => [each, 0]) : [])),
    scaleFactor: int32(scale),
  });
}

function scaleOf(call: Call): number {
  const scale = call.command.get('scale');
  return scale === undefined ? 1 : Math.max(1, Math.trunc(asNumber(scale)));
}

export async function dataSize(call: Call): Promise<Reply> {
  const namespace = textOf(call, 'dataSize') ?? '';
  const dot = namespace.indexOf('.');
  const collection = findCollection(call, namespace.slice(0, dot), namespace.slice(dot + 1));
  const sizes = collection && (await sizesOf(call, collection));
  return documentOf({
    size: BigInt(sizes?.bytes ?? 0),
    numObjects: BigInt(sizes?.count ?? 0),
    millis: 0n,
    estimate: false,
  });
}

export async function validate(call: Call): Promise<Reply> {
  const name = collectionOf(call);
  const collection = findCollection(call, call.database, name);
  const ns = namespaceOf(call, name);
  if (!collection)
    throw mongoFailure('NamespaceNotFound', `Collection '${ns}' does not exist to validate.`);
  const { count, indexes } = await sizesOf(call, collection);
  const names = [ID_INDEX, ...collection.definition.indexes.map((index) => index.name)];
  return documentOf({
    ns,
    nInvalidDocuments: 0n,
    nrecords: int32(count),
    nIndexes: int32(indexes),
    keysPerIndex: documentOf({}),
    indexDetails: documentOf(
      Object.fromEntries(names.map((each) => [each, documentOf({ valid: true })])),
    ),
    valid: true,
    repaired: false,
    warnings: [],
    errors: [],
    extraIndexEntries: [],
    missingIndexEntries: [],
  });
}

export function currentOp(): Reply {
  return documentOf({ inprog: [] });
}

export function killOp(): Reply {
  return documentOf({ info: 'attempting to kill op' });
}

export function top(): Reply {
  return documentOf({ totals: documentOf({ note: 'all times in microseconds' }) });
}

export function getDefaultRWConcern(): Reply {
  return documentOf({
    defaultReadConcern: documentOf({ level: 'local' }),
    defaultWriteConcern: documentOf({ w: 'majority', wtimeout: int32(0) }),
    defaultReadConcernSource: 'implicit',
    defaultWriteConcernSource: 'implicit',
  });
}

export function replSetGetStatus(call: Call): Reply {
  if (personalityOf(call) !== 'replset') {
    throw mongoFailure('NoReplicationEnabled', 'not running with --replSet');
  }
  const uptime = Math.floor(call.mongo.counters.since() / 1000);
  const member = documentOf({
    _id: int32(0),
    name: hostOf(call),
    health: 1,
    state: int32(1),
    stateStr: 'PRIMARY',
    uptime: int32(uptime),
    self: true,
  });
  return documentOf({
    set: SET_NAME,
    date: new DateTime(call.at),
    myState: int32(1),
    term: 1n,
    members: [member],
  });
}
