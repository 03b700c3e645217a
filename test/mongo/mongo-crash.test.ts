// A server that is killed: transactions over several collections are there or not, and what is
// sent again to the next server is answered and not done again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient } from 'mongodb';
import { newFolder, startServer } from '../crash/child.suite.js';
import { checkFolder } from '../crash/whole.suite.js';
import { everything, fill, newSession, sendAll, sendAs, WRITES } from './retried.suite.js';
import type { Any } from './support.suite.js';

const ROUNDS = 2;
const WRITERS = 4;
const LIFE = 20;

async function serve(folder: string) {
  const server = await startServer(folder);
  const client = new MongoClient(server.mongo, { serverSelectionTimeoutMS: 2000 });
  const kill = async () => {
    await server.kill();
    await client.close(true);
  };
  return { client, kill };
}

test('transactions over three collections are whole after every kill', async () => {
  const folder = newFolder();
  const acknowledged = new Set<string>();
  for (let round = 0; round <= ROUNDS; round++) {
    const { client, kill } = await serve(folder);
    const [a, b, sums] = ['a', 'b', 'sums'].map((name) => client.db('app').collection<Any>(name));
    assert(a && b && sums);
    const [inA, inB] = await Promise.all(
      [a, b].map(async (each) => (await each.find().toArray()).map(({ _id }) => _id).sort()),
    );
    assert.deepEqual(inA, inB, 'one in each');
    for (const id of acknowledged) assert(inA?.includes(id), `${id} was acknowledged`);
    const counted = await sums.find().toArray();
    assert.equal(
      counted.reduce((sum, { n }) => sum + n, 0),
      inA?.length,
    );
    if (round === ROUNDS) {
      await kill();
      break;
    }
    let left = LIFE;
    let enough: () => void = () => undefined;
    const lived = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const write = async (writer: number) => {
      for (let n = 0; n < 1000; n++) {
        const _id = `${round}-${writer}-${n}`;
        await client.withSession((session) =>
          session.withTransaction(async () => {
            await a.insertOne({ _id }, { session });
            await sums.updateOne({ _id: n % 2 }, { $inc: { n: 1 } }, { session, upsert: true });
            await b.insertOne({ _id }, { session });
          }),
        );
        acknowledged.add(_id);
        left -= 1;
        if (left <= 0) enough();
      }
    };
    const writers = Promise.allSettled(Array.from({ length: WRITERS }, (_, n) => write(n)));
    await lived;
    await kill();
    await writers;
  }
  await checkFolder(folder);
});

test('writes that are sent again after a kill are answered as before, and done once', async () => {
  const folder = newFolder();
  const sessions = Array.from({ length: WRITES.length + 1 }, newSession);
  const first = await serve(folder);
  await fill(first.client);
  const answers = await sendAll(first.client, sessions);
  const there = await everything(first.client);
  // Half of one: another server has done the first two documents, and was killed.
  const half = newSession();
  const three = { insert: 'half', documents: [1, 2, 3].map((_id) => ({ _id })) };
  await sendAs(first.client, half, 7, { ...three, documents: three.documents.slice(0, 2) });
  await first.kill();
  const second = await serve(folder);
  assert.deepEqual(await sendAll(second.client, sessions), answers);
  assert.deepEqual(await everything(second.client), there);
  assert.equal((await sendAs(second.client, half, 7, three)).n, 3);
  assert.equal((await sendAs(second.client, half, 6, three)).code, 225);
  assert.equal(await second.client.db('app').collection('half').countDocuments(), 3);
  await second.kill();
  await checkFolder(folder);
});

test('a commit that is sent again after a kill says whether it was', async () => {
  const folder = newFolder();
  const [done, open, never] = [newSession(), newSession(), newSession()];
  const first = await serve(folder);
  const part = { autocommit: false };
  const insert = (name: string) => ({ insert: name, documents: [{ _id: 1 }], ...part });
  for (const session of [done, open]) {
    const into = session === done ? 'done' : 'open';
    await sendAs(first.client, session, 1, { ...insert(into), startTransaction: true });
    await sendAs(first.client, session, 1, insert(`${into}-too`));
  }
  const commit = { commitTransaction: 1, ...part };
  assert.deepEqual(await sendAs(first.client, done, 1, commit, 'admin'), {});
  await first.kill();
  const { client, kill } = await serve(folder);
  assert.deepEqual(await sendAs(client, done, 1, commit, 'admin'), {});
  const lost = { code: 251, errorLabels: ['TransientTransactionError'] };
  for (const session of [open, never, open]) {
    assert.deepEqual(await sendAs(client, session, 1, commit, 'admin'), lost);
  }
  const counts = ['done', 'done-too', 'open', 'open-too'].map((name) =>
    client.db('app').collection(name).countDocuments(),
  );
  assert.deepEqual(await Promise.all(counts), [1, 1, 0, 0]);
  await kill();
});
