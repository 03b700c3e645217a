// The load of MongoDB clients, a process of its own: logged-in connections on bare sockets, with
// messages built ahead; of each reply only its length is looked at, and that it is no failure.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { type Document, deserialize, serialize } from 'bson';
import { WELL_KNOWN_KEY } from '../../src/http/keys.js';
import { answerCalls } from './child.js';
import type { LoadResult } from './load.js';
import { HOST } from './wire.js';

export interface MongoWork {
  readonly kind: 'fill' | 'read' | 'insert' | 'update' | 'find';
  readonly from: number;
  readonly count: number;
  readonly bytes: number;
  /** By how many values of `k` documents are found. */
  readonly groups: number;
}
export interface MongoLoadPlan {
  readonly port: number;
  readonly connections: number;
  readonly work: MongoWork;
  /** The floor knows no logins. */
  readonly logsIn: boolean;
}

const HEADER_BYTES = 16;
const OP_MSG = 2013;
const USER = 'mayfly';

let lanes: readonly Lane[] = [];
let messages: readonly Buffer[] = [];

answerCalls({ prepare, run, ask });

async function prepare({ port, connections, work, logsIn }: MongoLoadPlan): Promise<void> {
  for (const lane of lanes) lane.close();
  messages = Array.from({ length: work.count }, (_, at) => messageOf(commandOf(work, at)));
  const opening = Array.from({ length: connections }, async () => {
    const lane = new Lane(port);
    if (logsIn) await logIn(lane);
    return lane;
  });
  lanes = await Promise.all(opening);
}

async function run({ count }: { readonly count: number }): Promise<LoadResult> {
  const start = performance.now();
  let sent = 0;
  const keepSending = async (lane: Lane) => {
    while (sent < count) {
      const message = messages[sent % messages.length];
      sent += 1;
      if (message) check(await lane.ask(message));
    }
  };
  await Promise.all(lanes.map(keepSending));
  return { requests: sent, ms: performance.now() - start };
}

/** One command on a connection of its own; the reply as bytes, for the floor, in base64. */
async function ask(asked: { readonly port: number; readonly command: Document }): Promise<string> {
  const lane = new Lane(asked.port);
  await logIn(lane);
  const reply = await lane.ask(messageOf(asked.command));
  lane.close();
  check(reply);
  return reply.toString('base64');
}

function commandOf({ kind, from, bytes, groups }: MongoWork, at: number): Document {
  const _id = `item-${from + at}`;
  const database = { $db: 'mongo' };
  switch (kind) {
    case 'fill':
    case 'insert': {
      const text = randomBytes(Math.floor(bytes / 2) - 40).toString('hex');
      return { insert: 'c', documents: [{ _id, k: at % groups, n: at, text }], ...database };
    }
    case 'read':
      return { find: 'c', filter: { _id }, limit: 1, singleBatch: true, ...database };
    case 'find':
      return { find: 'c', filter: { k: at % groups }, limit: 100, batchSize: 100, ...database };
    case 'update':
      return { update: 'c', updates: [{ q: { _id }, u: { $inc: { n: 1 } } }], ...database };
  }
}

function messageOf(command: Document): Buffer {
  const body = serialize(command);
  const message = Buffer.alloc(HEADER_BYTES + 5 + body.length);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(1, 4);
  message.writeInt32LE(OP_MSG, 12);
  message.set(body, HEADER_BYTES + 5);
  return message;
}

const OK = Buffer.from('\x01ok\0');

function check(reply: Buffer): void {
  const at = reply.lastIndexOf(OK);
  if (at >= 0 && reply.readDoubleLE(at + OK.length) === 1 && !reply.includes('writeErrors')) return;
  throw new Error(`a failure: ${JSON.stringify(bodyOf(reply))}`);
}

function bodyOf(reply: Buffer): Document {
  return deserialize(reply.subarray(HEADER_BYTES + 5));
}

async function logIn(lane: Lane): Promise<void> {
  const nonce = randomBytes(18).toString('base64');
  const bare = `n=${USER},r=${nonce}`;
  const first = await lane.command({
    saslStart: 1,
    mechanism: 'SCRAM-SHA-256',
    payload: Buffer.from(`n,,${bare}`),
    options: { skipEmptyExchange: true },
    $db: 'admin',
  });
  const challenge = first.payload.toString() as string;
  const [, r = '', s = '', i = ''] = /^r=([^,]*),s=([^,]*),i=(\d+)/.exec(challenge) ?? [];
  const salted = pbkdf2Sync(WELL_KNOWN_KEY, Buffer.from(s, 'base64'), Number(i), 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest();
  const final = `c=biws,r=${r}`;
  const signed = `${bare},${challenge},${final}`;
  const signature = createHmac('sha256', storedKey).update(signed).digest();
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)));
  const payload = Buffer.from(`${final},p=${proof.toString('base64')}`);
  await lane.command({ saslContinue: 1, conversationId: 1, payload, $db: 'admin' });
}

class Lane {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #waiting: { resolve(reply: Buffer): void; reject(error: Error): void } | undefined;

  constructor(port: number) {
    this.#socket = connect(port, HOST).setNoDelay(true);
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')));
  }

  ask(message: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(message);
    });
  }

  async command(command: Document): Promise<Document> {
    const reply = bodyOf(await this.ask(messageOf(command)));
    if (reply.ok !== 1) throw new Error(JSON.stringify(reply));
    return deserialize(serialize(reply), { promoteBuffers: true });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const all = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#bytes);
    if (all.length < 4 || all.length < all.readInt32LE(0)) return;
    this.#chunks = [];
    this.#bytes = 0;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(all);
  }
}
