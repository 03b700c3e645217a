// Logging in and out: saslStart and saslContinue, also as part of the handshake.
import {
  Binary,
  type Document,
  documentOf,
  int32,
  isDocument,
  type Value,
} from '../../value/bson/value.js';
import { type MongoError, mongoFailure } from '../../value/mongo-errors.js';
import { Conversation, MECHANISMS, type Mechanism, readClientFirst } from '../auth/scram.js';
import type { Call, Reply } from '../call.js';
import { asNumber } from '../fields.js';

const NONCE_BYTES = 24;
const PAYLOAD_BYTES_MAX = 8 * 1024;

export async function saslStart(call: Call): Promise<Reply> {
  const mechanism = call.command.get('mechanism');
  if (!isMechanism(mechanism)) {
    throw mongoFailure(
      'MechanismUnavailable',
      `Received authentication for mechanism ${String(mechanism)} which is not enabled`,
    );
  }
  const begun = await startLogin(call, call.command, call.database);
  if (!begun) throw failed();
  return begun;
}

/** Also for the login that a handshake tries ahead; undefined where it cannot even begin. */
export async function startLogin(
  { client, mongo }: Call,
  given: Document,
  database: string,
): Promise<Document | undefined> {
  const mechanism = given.get('mechanism');
  const payload = payloadOf(given.get('payload'));
  const first = payload === undefined ? undefined : readClientFirst(payload);
  if (!isMechanism(mechanism) || !first) return undefined;
  // Somebody who is known by the other mechanism alone is to use that one.
  const known = mongo.users.mechanismsOf(first.user, database);
  if (known && !known.includes(mechanism)) return undefined;
  const set = await mongo.users.credentialsOf(mechanism, first.user, database);
  const nonce = Buffer.from(mongo.entropy.bytes(NONCE_BYTES)).toString('base64');
  const conversation = new Conversation(mechanism, first, set, nonce);
  const options = given.get('options');
  const id = (client.conversation?.id ?? 0) + 1;
  const skipsEmptyExchange = isDocument(options) && options.get('skipEmptyExchange') === true;
  const { user } = first;
  const isSettled = false;
  client.conversation = { id, user, database, conversation, skipsEmptyExchange, isSettled };
  return step(id, false, conversation.serverFirst);
}

export function saslContinue({ client, command, mongo }: Call): Reply {
  const pending = client.conversation;
  const id = command.get('conversationId');
  if (!pending) throw mongoFailure('ProtocolError', 'No SASL session state found');
  if (id === undefined || asNumber(id) !== pending.id) {
    throw mongoFailure('ProtocolError', 'sasl: Mismatched conversation id');
  }
  if (pending.isSettled) {
    client.conversation = undefined;
    return step(pending.id, true, '');
  }
  const payload = payloadOf(command.get('payload'));
  const settled = payload === undefined ? undefined : pending.conversation.settle(payload);
  if (!settled) {
    client.conversation = undefined;
    throw failed();
  }
  const { user, database, skipsEmptyExchange } = pending;
  client.login = mongo.users.login(user, database, settled.password);
  if (skipsEmptyExchange) client.conversation = undefined;
  else pending.isSettled = true;
  return step(pending.id, skipsEmptyExchange, settled.proof);
}

export function logout({ client }: Call): Reply {
  client.login = undefined;
  client.conversation = undefined;
  return documentOf({});
}

function step(id: number, done: boolean, payload: string): Document {
  const bytes = Buffer.from(payload);
  return documentOf({ conversationId: int32(id), done, payload: new Binary(0, bytes) });
}

function failed(): MongoError {
  return mongoFailure('AuthenticationFailed', 'Authentication failed.');
}

function isMechanism(value: Value | undefined): value is Mechanism {
  return MECHANISMS.some((mechanism) => mechanism === value);
}

function payloadOf(value: Value | undefined): string | undefined {
  const text = value instanceof Binary ? Buffer.from(value.bytes).toString() : value;
  return typeof text === 'string' && text.length <= PAYLOAD_BYTES_MAX ? text : undefined;
}
