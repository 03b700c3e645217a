// What the tests of the MongoDB face share: one server per file, real drivers, a clock that stands.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { type Collection, type Db, MongoClient, type MongoClientOptions } from 'mongodb';
import { type Mayfly, type StartOptions, start, VirtualClock } from '../../src/main.js';
import { type Instant, instant } from '../../src/time/instant.js';
import { storeOf } from '../conformance/support.suite.js';

/** A full second, so that lives are counted from where the clock stands. */
export const NOON = instant(Date.parse('2030-06-01T12:00:00.000Z'));

export class MongoServer {
  readonly mayfly: Mayfly;
  readonly clock: VirtualClock;
  readonly client: MongoClient;
  readonly #clients: MongoClient[] = [];
  #databases = 0;

  constructor(mayfly: Mayfly, clock: VirtualClock) {
    this.mayfly = mayfly;
    this.clock = clock;
    this.client = this.connect();
  }

  get url(): string {
    return this.mayfly.mongo ?? '';
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  connect(options: MongoClientOptions = {}): MongoClient {
    const client = new MongoClient(this.url, { serverSelectionTimeoutMS: 5000, ...options });
    this.#clients.push(client);
    return client;
  }

  /** A new database, so that no test meets the documents of another. */
  database(): Db {
    this.#databases += 1;
    return this.client.db(`d${this.#databases}`);
  }

  collection(): Collection<Any> {
    return this.database().collection<Any>('c');
  }

  at(ms: number): void {
    this.clock.set((NOON + ms) as Instant);
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.mayfly.close();
  }
}

// biome-ignore lint/suspicious/noExplicitAny: documents of a schemaless database.
export type Any = any;

export async function serveMongo(options: StartOptions = {}): Promise<MongoServer> {
  const clock = new VirtualClock();
  clock.freeze();
  clock.set(NOON);
  const server = new MongoServer(
    await start({ clock, mongoPort: 0, ...storeOf(options), ...options }),
    clock,
  );
  after(() => server.close());
  return server;
}

/** The code of the error that a promise is rejected with. */
export async function codeOf(promise: Promise<unknown>): Promise<number> {
  const error = await failureOf(promise);
  assert.equal(typeof error.code, 'number', String(error));
  return error.code;
}

export async function failureOf(promise: Promise<unknown>): Promise<Any> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: 'it was expected to fail' });
}

export async function ids(collection: Collection<Any>, filter: Any = {}): Promise<unknown[]> {
  const found = await collection.find(filter).toArray();
  return found.map(({ _id }) => _id);
}
