// One command on its way through the face: what it says, who says it, and what it may use.
import type { Catalog } from '../catalog/catalog.js';
import type { Documents } from '../documents/documents.js';
import type { Faults } from '../http/faults.js';
import type { Budgets } from '../throughput/budgets.js';
import type { Clock } from '../time/clock.js';
import type { Entropy } from '../time/entropy.js';
import type { Instant } from '../time/instant.js';
import type { Bytes, Document, ObjectId } from '../value/bson/value.js';
import type { Conversation } from './auth/scram.js';
import type { Login, Users } from './auth/users.js';
import type { Cursors } from './cursors.js';
import type { FailPoint } from './fail-point.js';
import type { RetriedStatement } from './retries.js';
import type { Sessions } from './sessions.js';
import type { Transaction } from './transaction.js';

export type Personality = 'mongos' | 'replset' | 'standalone';

/** What all connections of a server share. */
export interface Mongo {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly budgets: Budgets;
  readonly users: Users;
  readonly cursors: Cursors;
  readonly sessions: Sessions;
  /** How servers are told apart that answer at one address, one after the other. */
  readonly processId: ObjectId;
  readonly startedAt: Instant;
  readonly version: string;
  readonly personality: Personality;
  readonly data: string;
  readonly counters: Counters;
  /** Only on servers that were started for tests. */
  readonly failPoint: FailPoint | undefined;
  readonly faults: Faults;
  /** Settled when the server winds down. */
  readonly stopping: Promise<unknown>;
  /** Where the server listens. */
  address(): { readonly host: string; readonly port: number };
  connections(): { readonly current: number; readonly total: number; readonly max: number };
}
export interface Counters {
  readonly since: () => number;
  requests: number;
  /** Timestamps that were given to documents. */
  stamps: number;
  readonly operations: Map<string, number>;
}

/** One connection. */
export interface Client {
  readonly id: number;
  readonly remote: string;
  application: string;
  hasSaidHello: boolean;
  /** Whether the last command was a question for how things stand, to be answered ever again. */
  goesOn: boolean;
  /** To be called when the server is done with the command, or has nothing to do for it. */
  done: () => void;
  login: Login | undefined;
  conversation: PendingLogin | undefined;
  last: LastRequest | undefined;
  /** What the command that runs has cost so far, in request units. */
  charge: number;
}
/** What waits for something that may never come keeps nobody busy, nor the purge small. */
export function atRest(client: Client): void {
  client.done();
  client.done = () => undefined;
}

export interface PendingLogin {
  readonly id: number;
  readonly user: string;
  readonly database: string;
  readonly conversation: Conversation;
  readonly skipsEmptyExchange: boolean;
  /** The proof was good, and the client still has to say that it heard so. */
  isSettled: boolean;
}
export interface LastRequest {
  readonly command: string;
  readonly charge: number;
  readonly ms: number;
}

/** How long a command may take; cursors that it leaves are not bound by it. */
export interface TimeLimit {
  /** Throws when it has taken longer than its client wants. */
  check(): void;
  stop(): void;
}

export interface Call {
  readonly mongo: Mongo;
  readonly client: Client;
  readonly name: string;
  readonly database: string;
  /** Its fields, but for the arrays of documents, which `documents` has as they came. */
  readonly command: Document;
  readonly at: Instant;
  readonly transaction: Transaction | undefined;
  /** Of a retryable write. */
  readonly retried: RetriedStatement | undefined;
  readonly time: TimeLimit;
  documents(field: string): readonly Bytes[] | undefined;
}

/** A reply as its fields, to which `ok` is added, or finished bytes. */
export type Reply = Document | Bytes;
