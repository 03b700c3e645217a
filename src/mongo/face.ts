// The MongoDB face, put together: a port, and what all its connections share.
import type { Catalog } from '../catalog/catalog.js';
import type { Documents } from '../documents/documents.js';
import type { Faults } from '../http/faults.js';
import type { Keys } from '../http/keys.js';
import type { Budgets } from '../throughput/budgets.js';
import { type Clock, every, stopwatch } from '../time/clock.js';
import type { Entropy } from '../time/entropy.js';
import { ObjectId } from '../value/bson/value.js';
import { Users } from './auth/users.js';
import type { Client, Mongo, Personality } from './call.js';
import { Cursors } from './cursors.js';
import { FailPoint } from './fail-point.js';
import { connectionWork, type ReportDefect } from './server.js';
import { SessionRecords } from './session-records.js';
import { Sessions } from './sessions.js';
import { type Listening, type ListenOptions, listen } from './wire/listen.js';

export interface MongoOptions extends Omit<ListenOptions, 'begin'> {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly budgets: Budgets;
  readonly keys: Keys;
  readonly version: string;
  readonly data: string;
  readonly personality: Personality;
  readonly faults: Faults;
  /** Whether clients may set fail points. */
  readonly testCommands: boolean;
  readonly report: ReportDefect;
  /** Told of each request: when it begins, and by the answer when it ends. */
  readonly busy: () => () => void;
}

const SWEEP_MS = 30_000;
const PROCESS_ID_BYTES = 12;

export async function serveMongo(options: MongoOptions): Promise<Listening> {
  const { clock, entropy, catalog, documents, budgets, keys, version, data, personality } = options;
  let port = 0;
  let stop: () => void = () => undefined;
  const stopping = new Promise<void>((resolve) => {
    stop = resolve;
  });
  let listening: Listening | undefined;
  const records = new SessionRecords(documents.engine, documents.purger);
  await records.open();
  const mongo: Mongo = {
    clock,
    entropy,
    catalog,
    documents,
    budgets,
    users: new Users(catalog.collections, entropy, keys),
    cursors: new Cursors(clock),
    sessions: new Sessions(clock, {
      purger: documents.purger,
      intents: new Map(),
      records,
      current: (collection) => catalog.collections.ofEngine(collection.engine.id) ?? collection,
    }),
    processId: new ObjectId(entropy.bytes(PROCESS_ID_BYTES)),
    startedAt: clock.wall(),
    version,
    data,
    personality,
    failPoint: options.testCommands ? new FailPoint() : undefined,
    faults: options.faults,
    counters: { since: stopwatch(), requests: 0, stamps: 0, operations: new Map() },
    stopping,
    address: () => ({ host: options.host, port }),
    connections: () => listening?.connections() ?? { current: 0, total: 0, max: 0 },
  };
  listening = await listen({
    ...options,
    begin: (id, remote) => connectionWork(mongo, newClient(id, remote), options),
  });
  port = listening.port;
  const sweeping = every(SWEEP_MS, () => {
    mongo.cursors.sweep();
    mongo.sessions.sweep();
  });
  return {
    port,
    connections: listening.connections,
    drain: async (deadline) => {
      sweeping.cancel();
      stop();
      await listening?.drain(deadline);
    },
  };
}

function newClient(id: number, remote: string): Client {
  return {
    id,
    remote,
    application: '',
    hasSaidHello: false,
    goesOn: false,
    done: () => undefined,
    login: undefined,
    conversation: undefined,
    last: undefined,
    charge: 0,
  };
}
