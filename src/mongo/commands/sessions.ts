// startSession, endSessions and their kin.
import { Binary, documentOf, int32, isDocument, type Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Call, Reply } from '../call.js';
import { arrayOf, checkFields } from '../fields.js';
import { SESSION_MINUTES } from '../session-records.js';
import { isCommitted, noSuch, type Transaction } from '../transaction.js';

const UUID_SUBTYPE = 4;

export function startSession(call: Call): Reply {
  checkFields(call, []);
  const bytes = Buffer.from(call.mongo.entropy.uuid().replaceAll('-', ''), 'hex');
  call.mongo.sessions.use(bytes.toString('hex'));
  const id = documentOf({ id: new Binary(UUID_SUBTYPE, bytes) });
  return documentOf({ id, timeoutMinutes: int32(SESSION_MINUTES) });
}

export function refreshSessions(call: Call): Reply {
  checkFields(call, []);
  for (const id of idsOf(call)) call.mongo.sessions.use(id);
  return documentOf({});
}

/** Ends their cursors, too. */
export function endSessions(call: Call): Reply {
  checkFields(call, []);
  for (const id of idsOf(call)) end(call, id);
  return documentOf({});
}

export function killAllSessions(call: Call): Reply {
  for (const id of call.mongo.sessions.ids()) end(call, id);
  return documentOf({});
}

export async function commitTransaction(call: Call): Promise<Reply> {
  checkFields(call, []);
  await transactionOf(call).commit(call.mongo.documents.engine, call.at);
  return documentOf({});
}

export function abortTransaction(call: Call): Reply {
  checkFields(call, []);
  const transaction = transactionOf(call);
  const { state, number } = transaction;
  if (state === 'committed') throw isCommitted(number);
  if (state === 'aborted') throw noSuch(number);
  transaction.abort();
  return documentOf({});
}

function transactionOf({ transaction, name }: Call): Transaction {
  if (transaction) return transaction;
  throw mongoFailure(
    'InvalidOptions',
    `${name} is part of a transaction: autocommit must be false`,
  );
}

function end({ mongo }: Call, id: string): void {
  mongo.cursors.killOfSession(id);
  mongo.sessions.end(id);
}

function idsOf(call: Call): readonly string[] {
  return (arrayOf(call, call.name) ?? []).flatMap((each: Value) => {
    const id = isDocument(each) ? each.get('id') : undefined;
    return id instanceof Binary ? [Buffer.from(id.bytes).toString('hex')] : [];
  });
}
