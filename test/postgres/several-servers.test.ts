// Three servers over one PostgreSQL: what one does the others see, and of what only one can have
// only one gets it.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MongoClient } from 'mongodb';
import { openCluster } from '../../src/engine/postgres/cluster.suite.js';
import { openPostgres } from '../../src/engine/postgres/postgres-engine.js';
import { start } from '../../src/main.js';
import { systemClock, VirtualClock } from '../../src/time/clock.js';
import { systemEntropy } from '../../src/time/entropy.js';
import { NOON, ok, Server } from '../conformance/support.suite.js';
import type { Any } from '../mongo/support.suite.js';

const SERVERS = 3;
const cluster = await openCluster();
const store = cluster.newStore();
const servers = await Promise.all(
  Array.from({ length: SERVERS }, async () => {
    const clock = new VirtualClock();
    clock.freeze();
    clock.set(NOON);
    return new Server(await start({ clock, store, mongoPort: 0 }), clock);
  }),
);
after(async () => {
  for (const client of clients) await client.close();
  for (const server of servers) await server.close();
  await cluster.stop();
});
const clients = servers.map(({ mayfly }) => new MongoClient(mayfly.mongo ?? ''));
const [first, second, third] = servers as [Server, Server, Server];

async function until(isSo: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await isSo())) {
    assert(Date.now() < deadline, `${what} did not come within 20 s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function everywhere(path: string): Promise<void> {
  for (const server of servers) {
    await until(async () => (await server.send('GET', path)).status === 200, path);
  }
}

async function newContainer(id: string, defaultTtl: number): Promise<string> {
  ok(await first.send('POST', '/dbs', { body: { id } }), 201);
  const definition = { id: 'c', partitionKey: { paths: ['/pk'], kind: 'Hash' }, defaultTtl };
  ok(await first.send('POST', `/dbs/${id}/colls`, { body: definition }), 201);
  await everywhere(`/dbs/${id}/colls/c`);
  return `/dbs/${id}/colls/c`;
}

const key = (value: string) => ({ 'x-ms-documentdb-partitionkey': JSON.stringify([value]) });

test('what one server creates, alters and deletes the others see', async () => {
  const path = await newContainer('seen', -1);
  const body = { id: '1', pk: 'a' };
  ok(await second.send('POST', `${path}/docs`, { body, headers: key('a') }), 201);
  ok(await third.send('GET', `${path}/docs/1`, { headers: key('a') }), 200);
  const again = await second.send('POST', '/dbs', { body: { id: 'seen' } });
  assert.equal(again.status, 409);
  ok(await third.send('DELETE', path), 204);
  const gone = async () => (await first.send('GET', path)).status === 404;
  await until(gone, 'the end of a container');
});

test('word of a change goes round at once, and again when a listener was cut off', async () => {
  const { uuid, fraction } = systemEntropy();
  const { wall } = systemClock();
  const url = cluster.newStore();
  const open = (server: string) => openPostgres({ url, server, fraction, wall });
  const [one, two] = await Promise.all([open('one'), open(uuid())]);
  let heard = 0;
  one.notices?.listen(() => {
    heard += 1;
  });
  await until(() => heard === 1, 'the listener');
  const schema = new URL(url).searchParams.get('schema');
  await cluster.query('select pg_notify($1, $2)', [schema, 'one']);
  two.notices?.tell();
  await until(() => heard > 1, 'word of another');
  assert.equal(heard, 2, 'what it said itself is no news');
  const { rowCount } = await cluster.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen "${schema}"'`,
  );
  assert.equal(rowCount, 1);
  await until(() => heard === 3, 'the listener, again');
  two.notices?.tell();
  await until(() => heard === 4, 'word of another, again');
  for (const { engine, notices } of [one, two]) {
    await notices?.close();
    await engine.close();
  }
});

test('servers whose listeners are cut off see what others do, too', async () => {
  const schema = new URL(store).searchParams.get('schema');
  const { rowCount } = await cluster.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen "${schema}"'`,
  );
  assert.equal(rowCount, SERVERS);
  await newContainer('unheard', -1);
});

test('of several servers that create the same database, one does', async () => {
  for (let round = 0; round < 5; round++) {
    const body = { id: `race${round}` };
    const answers = await Promise.all(servers.map((each) => each.send('POST', '/dbs', { body })));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, 409, 409]);
  }
});

test('of several servers that create the same user one does, and tokens of one end on all', async () => {
  const path = await newContainer('tokens', -1);
  ok(
    await first.send('POST', `${path}/docs`, { body: { id: '1', pk: 'a' }, headers: key('a') }),
    201,
  );
  const users = '/dbs/tokens/users';
  const body = { id: 'ann' };
  const answers = await Promise.all(servers.map((each) => each.send('POST', users, { body })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
  await everywhere(`${users}/ann`);
  const permission = { id: 'p', permissionMode: 'Read', resource: path.slice(1) };
  const feed = `${users}/ann/permissions`;
  const made = ok(await second.send('POST', feed, { body: permission }), 201);
  const headers = { authorization: encodeURIComponent(String(made.json._token)), ...key('a') };
  const read = async (server: Server) =>
    (await server.raw('GET', `${path}/docs/1`, { headers })).status;
  for (const server of servers) await until(async () => (await read(server)) === 200, 'a token');
  ok(await third.send('DELETE', `${users}/ann`), 204);
  assert.equal(await read(third), 401);
  for (const server of servers) await until(async () => (await read(server)) === 401, 'its end');
});

test('T10: of those who create over an expired item, one wins each round', async () => {
  const path = await newContainer('expired', -1);
  for (let round = 0; round < 15; round++) {
    const attempts = Array.from({ length: 6 }, (_, n) => {
      const body = { id: 'x', pk: 'a', ttl: 5, by: n };
      const server = servers[n % SERVERS] as Server;
      return server.send('POST', `${path}/docs`, { body, headers: key('a') });
    });
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 201).length, 1, String(statuses));
    assert.equal(statuses.filter((status) => status === 409).length, 5, String(statuses));
    for (const { clock } of servers) clock.advance(5_000);
  }
});

test('a reader of the change feed misses nothing that any server writes', async () => {
  const path = await newContainer('feed', -1);
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    const server = servers[writer % SERVERS] as Server;
    for (let n = 0; n < 20; n++) {
      const body = { id: `${writer}-${n}`, pk: `p${writer}` };
      ok(await server.send('POST', `${path}/docs`, { body, headers: key(`p${writer}`) }), 201);
    }
  });
  let isDone = false;
  const done = Promise.all(writers).then(() => {
    isDone = true;
  });
  const seen: string[] = [];
  let etag = '';
  for (let isLast = false; !isLast; ) {
    const wasDone = isDone;
    const headers: Record<string, string> = {
      'a-im': 'Incremental feed',
      'x-ms-max-item-count': '7',
    };
    if (etag) headers['if-none-match'] = etag;
    const page = await third.send('GET', `${path}/docs`, { headers });
    etag = String(page.headers.etag);
    if (page.status === 200) {
      seen.push(...(page.json.Documents as { id: string }[]).map(({ id }) => id));
    }
    isLast = wasDone && page.status === 304;
  }
  await done;
  assert.equal(seen.length, 120);
  assert.equal(new Set(seen).size, 120);
});

test('T7: a new default acts on all servers at one instant, and is answered after it', async () => {
  const path = await newContainer('switch', 100);
  ok(
    await first.send('POST', `${path}/docs`, { body: { id: '1', pk: 'a' }, headers: key('a') }),
    201,
  );
  for (const { clock } of servers) clock.advance(60_000);
  const definition = { id: 'c', partitionKey: { paths: ['/pk'], kind: 'Hash' }, defaultTtl: 30 };
  const observed: { readonly server: number; readonly at: number; readonly alive: boolean }[] = [];
  let isOver = false;
  const watching = servers.map(async (server, index) => {
    while (!isOver) {
      const at = Date.now();
      const { status } = await server.send('GET', `${path}/docs/1`, { headers: key('a') });
      observed.push({ server: index, at, alive: status === 200 });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  ok(await second.send('PUT', path, { body: definition }), 200);
  for (const server of servers) {
    const read = await server.send('GET', `${path}/docs/1`, { headers: key('a') });
    assert.equal(read.status, 404, 'answered before every server went by it');
  }
  isOver = true;
  await Promise.all(watching);
  // Requests that begin after the first that saw the new rule see it, too, but for the way there.
  const firstDead = Math.min(...observed.filter(({ alive }) => !alive).map(({ at }) => at));
  const lastAlive = Math.max(...observed.filter(({ alive }) => alive).map(({ at }) => at));
  assert(lastAlive - firstDead < 200, `${lastAlive - firstDead} ms apart`);
  assert(
    observed.some(({ alive }) => alive),
    'seen before',
  );
});

test('T15: one server purges a container at a time, and another takes over', async () => {
  const schema = new URL(store).searchParams.get('schema');
  const known = await cluster.query(`select id from ${schema}.container`);
  const path = await newContainer('purge', -1);
  for (const server of servers) ok(await server.control('POST', 'purge/pause'), 200);
  for (let n = 0; n < 10; n++) {
    const body = { id: `${n}`, pk: 'a', ttl: 1 };
    ok(await second.send('POST', `${path}/docs`, { body, headers: key('a') }), 201);
  }
  for (const { clock } of servers) clock.advance(1_000);
  const made = await cluster.query(`select id from ${schema}.container where id <> all($1)`, [
    known.rows.map(({ id }) => id),
  ]);
  const id = String(made.rows[0]?.id);
  const left = async () => {
    const { rows } = await cluster.query(
      `select items::int as n from ${schema}.head where id = $1`,
      [id],
    );
    return Number(rows[0]?.n);
  };
  const lease = (owner: string, inMs: number) =>
    cluster.query(
      `insert into ${schema}.lease(bucket, id, kind, owner, until)
       select bucket, id, 'purge', $2, $3 from ${schema}.container where id = $1
       on conflict (bucket, id, kind) do update set owner = excluded.owner, until = excluded.until`,
      [id, owner, Date.now() + inMs],
    );
  await lease('another', 60_000);
  for (const { mayfly } of servers) await mayfly.purge();
  assert.equal(await left(), 10, 'it is the work of another');
  await lease('another', -1);
  await Promise.all(servers.map(({ mayfly }) => mayfly.purge()));
  assert.equal(await left(), 0, 'the other was silent for too long');
  const { rows } = await cluster.query(`select owner from ${schema}.lease where id = $1`, [id]);
  assert.equal(rows.length, 1);
  assert.notEqual(rows[0]?.owner, 'another');
});

test('MongoDB clients of several servers: one has a unique key, and a stream misses nothing', async () => {
  const [watched, ...writers] = clients.map((client) => client.db('app').collection<Any>('things'));
  assert(watched && writers[0]);
  await writers[0].createIndex({ mail: 1 }, { unique: true });
  const isSeen = async () => (await watched.indexes().catch(() => [])).length === 2;
  await until(isSeen, 'the index');
  const stream = watched.watch([], { maxAwaitTimeMS: 50 });
  await stream.tryNext();
  const rounds = Array.from({ length: 15 }, (_, round) => round);
  for (const round of rounds) {
    const tries = writers.map((things, _id) =>
      things.insertOne({ _id: `${round} ${_id}`, mail: round }).then(
        () => 'done',
        ({ code }: Any) => code,
      ),
    );
    assert.deepEqual((await Promise.all(tries)).sort(), [11000, 'done']);
    await writers[round % 2]?.updateOne({ mail: round }, { $set: { seen: true } });
  }
  const seen: string[] = [];
  await until(async () => {
    const event = (await stream.tryNext()) as Any;
    if (event) seen.push(`${event.operationType} ${event.documentKey._id.split(' ')[0]}`);
    return seen.length === 2 * rounds.length;
  }, 'all events');
  assert.deepEqual(
    seen,
    rounds.flatMap((round) => [`insert ${round}`, `update ${round}`]),
  );
  await stream.close();
});
