// Two servers of the API for MongoDB over one PostgreSQL: a write that is sent to both is done by
// one, a commit is known to both, and transactions of both over the same collections end.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { openCluster } from '../../src/engine/postgres/cluster.suite.js';
import { start } from '../../src/main.js';
import { everything, fill, newSession, sendAll, sendAs, WRITES } from '../mongo/retried.suite.js';
import type { Any } from '../mongo/support.suite.js';

const cluster = await openCluster();
const store = cluster.newStore();
const servers = await Promise.all([0, 1].map(() => start({ store, mongoPort: 0 })));
const clients = servers.map(({ mongo }) => new MongoClient(mongo ?? ''));
after(async () => {
  for (const client of clients) await client.close();
  for (const server of servers) await server.close();
  await cluster.stop();
});
const [one, other] = clients as [MongoClient, MongoClient];

/** Collections are known to both before they are used. */
async function make(...names: readonly string[]): Promise<void> {
  for (const name of names) await one.db('app').createCollection(name);
  const deadline = Date.now() + 10_000;
  for (;;) {
    const there = await other.db('app').listCollections().toArray();
    if (names.every((name) => there.some((each) => each.name === name))) return;
    assert(Date.now() < deadline, 'collections do not come to the other server');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('what is sent to one and then to the other is done once, and answered alike', async () => {
  await make('c', 'other', 'race');
  await fill(one);
  const sessions = Array.from({ length: WRITES.length + 1 }, newSession);
  const answers = await sendAll(one, sessions);
  const there = await everything(one);
  assert.deepEqual(await sendAll(other, sessions), answers);
  assert.deepEqual(await everything(other), there);
});

test('what is sent to both at once is done by one', async () => {
  await one.db('app').collection<Any>('race').insertOne({ _id: 1, n: 0 });
  const command = { update: 'race', updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }] };
  const rounds = 10;
  const session = newSession();
  for (let round = 1; round <= rounds; round++) {
    const both = await Promise.all(clients.map((each) => sendAs(each, session, round, command)));
    assert.deepEqual(both, [
      { n: 1, nModified: 1 },
      { n: 1, nModified: 1 },
    ]);
  }
  assert.equal((await one.db('app').collection<Any>('race').findOne({ _id: 1 })).n, rounds);
});

test('a commit is known to the other server, or can never come any more', async () => {
  await make('tx');
  const part = { autocommit: false };
  const commit = { commitTransaction: 1, ...part };
  const begin = async (_id: number) => {
    const session = newSession();
    const insert = { insert: 'tx', documents: [{ _id }], startTransaction: true, ...part };
    assert.equal((await sendAs(one, session, 1, insert)).n, 1);
    return session;
  };
  const done = await begin(1);
  assert.deepEqual(await sendAs(one, done, 1, commit, 'admin'), {});
  assert.deepEqual(await sendAs(other, done, 1, commit, 'admin'), {});
  const late = await begin(2);
  const refused = { code: 251, errorLabels: ['TransientTransactionError'] };
  assert.deepEqual(await sendAs(other, late, 1, commit, 'admin'), refused);
  assert.deepEqual(await sendAs(one, late, 1, commit, 'admin'), refused);
  assert.equal(await one.db('app').collection('tx').countDocuments(), 1);
});

test('transfers between two collections, by both servers and in both directions', async () => {
  const names = ['left', 'right'];
  await make(...names);
  const start = { _id: 1, money: 100 };
  for (const name of names) await one.db('app').collection<Any>(name).insertOne(start);
  const transfer = (client: MongoClient, [from, to]: readonly string[]) =>
    client.withSession((session) =>
      session.withTransaction(async () => {
        const add = (name: string, amount: number) =>
          client
            .db('app')
            .collection<Any>(name)
            .updateOne({ _id: 1 }, { $inc: { money: amount } }, { session });
        await add(from as string, -1);
        await add(to as string, 1);
      }),
    );
  const both = [names, [...names].reverse()];
  await Promise.all(
    [0, 1, 2, 3].flatMap((turn) =>
      clients.map((client) => transfer(client, both[turn % 2] as readonly string[])),
    ),
  );
  const left = await Promise.all(
    names.map((name) => other.db('app').collection<Any>(name).findOne({ _id: 1 })),
  );
  assert.deepEqual(
    left.map(({ money }) => money),
    [100, 100],
  );
});
