// Writes that are sent twice with the same session and number, as a driver does after a lost
// answer: to the same server or to another, before and after a restart.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Binary, Long, type MongoClient } from 'mongodb';
import type { Any } from './support.suite.js';

export type SessionId = Binary;

export function newSession(): SessionId {
  return new Binary(randomBytes(16), Binary.SUBTYPE_UUID);
}

/** Under a session and number of our own; answers failures as well. */
export async function sendAs(
  client: MongoClient,
  session: SessionId,
  number: number,
  command: Any,
  database = 'app',
): Promise<Any> {
  const own = client.startSession();
  Object.assign((own as Any).serverSession, { id: { id: session }, txnNumber: number });
  try {
    const numbered = { ...command, txnNumber: Long.fromNumber(number) };
    const { ok, ...answer } = await client.db(database).command(numbered, { session: own });
    assert.equal(ok, 1);
    // What the driver itself asks to be told.
    for (const name of ['$clusterTime', 'operationTime']) delete answer[name];
    return answer;
  } catch (error) {
    const { code, errorLabels } = error as Any;
    return { code, errorLabels: errorLabels ?? [] };
  }
}

const counter = { _id: 'counter' };
/** Each of them has a different answer, or does more, when it is done twice. */
export const WRITES: readonly Any[] = [
  { insert: 'c', documents: [1, 2, 3].map((_id) => ({ _id })) },
  { insert: 'c', documents: [4, 1, 5].map((_id) => ({ _id })), ordered: false },
  { insert: 'c', documents: Array.from({ length: 150 }, (_, n) => ({ _id: 1000 + n })) },
  { update: 'c', updates: [{ q: counter, u: { $inc: { n: 1 } } }] },
  { update: 'c', updates: [{ q: { _id: 'new' }, u: { $inc: { n: 1 } }, upsert: true }] },
  { update: 'c', updates: [{ q: { made: 1 }, u: { $inc: { n: 1 } }, upsert: true }] },
  {
    update: 'c',
    updates: [
      { q: counter, u: { $inc: { n: 1 } } },
      { q: { _id: 'nobody' }, u: { $set: { n: 1 } } },
      { q: { n: { $gte: 1 } }, u: { $inc: { n: 1 } } },
    ],
  },
  { delete: 'c', deletes: [{ q: { _id: 'victim' }, limit: 1 }] },
  { delete: 'c', deletes: [{ q: { kind: 'victim' }, limit: 1 }] },
  { findAndModify: 'c', query: counter, update: { $inc: { n: 1 } } },
  { findAndModify: 'c', query: counter, update: { $inc: { n: 1 } }, new: true, fields: { n: 1 } },
  { findAndModify: 'c', query: { kind: 'victim' }, sort: { _id: 1 }, remove: true },
  {
    ...{ findAndModify: 'c', query: { _id: 'u' }, update: { $inc: { n: 1 } } },
    ...{ upsert: true, new: true },
  },
];
export const BULK = {
  bulkWrite: 1,
  nsInfo: [{ ns: 'app.c' }, { ns: 'app.other' }],
  ops: [
    { insert: 0, document: { _id: 'bulk' } },
    { update: 0, filter: counter, updateMods: { $inc: { n: 1 } } },
    { update: 1, filter: { _id: 'far' }, updateMods: { $inc: { n: 1 } }, upsert: true },
    { delete: 0, filter: { kind: 'victim' } },
  ],
};

/** All of them, each under a session of its own. */
export function sendAll(client: MongoClient, sessions: readonly SessionId[]): Promise<Any[]> {
  return [...WRITES, BULK].reduce<Promise<Any[]>>(async (before, command, index) => {
    const answers = await before;
    const database = command === BULK ? 'admin' : 'app';
    const session = sessions[index] as SessionId;
    return [...answers, await sendAs(client, session, 1, command, database)];
  }, Promise.resolve([]));
}

export async function fill(client: MongoClient): Promise<void> {
  const c = client.db('app').collection<Any>('c');
  const victims = ['victim', 'v1', 'v2', 'v3', 'v4'].map((_id) => ({ _id, kind: 'victim' }));
  await c.insertMany([{ _id: 'counter', n: 0 }, ...victims]);
}

/** All there is, to be compared. */
export async function everything(client: MongoClient): Promise<Any[]> {
  const of = (name: string) => client.db('app').collection(name).find().sort({ _id: 1 }).toArray();
  return [await of('c'), await of('other')];
}
