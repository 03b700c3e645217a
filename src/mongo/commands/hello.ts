// hello and isMaster: who this server is, and what it can do. Clients choose their ways by it.
import { rest } from '../../time/clock.js';
import {
  DateTime,
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  ObjectId,
  Timestamp,
  type Value,
} from '../../value/bson/value.js';
import { atRest, type Call, type Personality, type Reply } from '../call.js';
import { asNumber } from '../fields.js';
import { SESSION_MINUTES } from '../session-records.js';
import { COMPRESSORS } from '../wire/compression.js';
import { DOCUMENT_BYTES_MAX, MESSAGE_BYTES_MAX } from '../wire/message.js';
import { startLogin } from './authenticate.js';

/** That of 8.0, because of bulkWrite; later ones would promise more than there is. */
export const WIRE_VERSION_MAX = 25;
export const WRITE_BATCH_MAX = 100_000;
export const SET_NAME = 'globaldb';
const ELECTION = ObjectId.fromHex('7fffffff0000000000000001');
/** How long an answer may be held back until something changes, which it never does. */
const AWAIT_MS_MAX = 10_000;

export async function hello(call: Call): Promise<Reply> {
  const { command, client, mongo, name } = call;
  noteClient(call);
  await awaitChange(call);
  const personality = personalityOf(call);
  const reply: Document = new Map<string, Value>();
  reply.set(name === 'hello' ? 'isWritablePrimary' : 'ismaster', true);
  if (command.get('helloOk') === true) reply.set('helloOk', true);
  reply.set('topologyVersion', documentOf({ processId: mongo.processId, counter: 0n }));
  if (personality === 'replset') addReplicaSet(call, reply);
  if (personality === 'mongos') reply.set('msg', 'isdbgrid');
  const fixed: Readonly<Record<string, Value>> = {
    maxBsonObjectSize: int32(DOCUMENT_BYTES_MAX),
    maxMessageSizeBytes: int32(MESSAGE_BYTES_MAX),
    maxWriteBatchSize: int32(WRITE_BATCH_MAX),
    localTime: new DateTime(call.at),
    logicalSessionTimeoutMinutes: int32(SESSION_MINUTES),
    connectionId: int32(client.id),
    minWireVersion: int32(0),
    maxWireVersion: int32(WIRE_VERSION_MAX),
    readOnly: false,
  };
  for (const [field, value] of Object.entries(fixed)) reply.set(field, value);
  addCompression(command.get('compression'), reply);
  addMechanisms(call, reply);
  const speculated = command.get('speculativeAuthenticate');
  if (isDocument(speculated)) {
    const begun = await startLogin(call, speculated, textOr(speculated.get('db'), 'admin'));
    if (begun) reply.set('speculativeAuthenticate', begun);
  }
  return reply;
}

/** Constant for all connections of a client: it goes by what only the client says. */
export function personalityOf({ client, mongo }: Call): Personality {
  // Connection strings of the service have the account's name like this, and name a replica set.
  return /^@.+@$/.test(client.application) ? 'replset' : mongo.personality;
}

function noteClient({ client, command }: Call): void {
  const given = command.get('client');
  if (client.hasSaidHello || !isDocument(given)) return;
  client.hasSaidHello = true;
  const application = given.get('application');
  if (isDocument(application)) client.application = textOr(application.get('name'), '');
}

/** A monitor that knows how things stand is answered when its time is up. */
async function awaitChange({ command, mongo, client }: Call): Promise<void> {
  const known = command.get('topologyVersion');
  const wait = command.get('maxAwaitTimeMS');
  if (!isDocument(known) || wait === undefined) return;
  const id = known.get('processId');
  if (!(id instanceof ObjectId) || id.toString() !== mongo.processId.toString()) return;
  client.goesOn = true;
  atRest(client);
  await Promise.race([rest(Math.min(asNumber(wait), AWAIT_MS_MAX)), mongo.stopping]);
}

function addReplicaSet({ mongo, at }: Call, reply: Document): void {
  const { host, port } = mongo.address();
  const me = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const written = documentOf({ ts: new Timestamp(Math.floor(at / 1000), 1), t: 1n });
  const members: Readonly<Record<string, Value>> = {
    hosts: [me],
    setName: SET_NAME,
    setVersion: int32(1),
    secondary: false,
    primary: me,
    me,
    electionId: ELECTION,
    lastWrite: documentOf({
      opTime: written,
      lastWriteDate: new DateTime(at),
      majorityOpTime: written,
      majorityWriteDate: new DateTime(at),
    }),
    tags: documentOf({}),
  };
  for (const [field, value] of Object.entries(members)) reply.set(field, value);
}

function addCompression(wanted: Value | undefined, reply: Document): void {
  if (!isArray(wanted)) return;
  const both = wanted.filter((name) => COMPRESSORS.some((each) => each.name === name));
  if (both.length > 0) reply.set('compression', both);
}

/** Of an unknown user nothing is said. */
function addMechanisms({ command, mongo }: Call, reply: Document): void {
  const asked = command.get('saslSupportedMechs');
  if (typeof asked !== 'string') return;
  const dot = asked.indexOf('.');
  const mechanisms = mongo.users.mechanismsOf(asked.slice(dot + 1), asked.slice(0, dot));
  if (mechanisms) reply.set('saslSupportedMechs', mechanisms);
}

function textOr(value: Value | undefined, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
