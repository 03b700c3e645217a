// Thousands of random requests against a server process. Whatever comes, it answers or closes in
// time, never with a 5xx, in JSON, keeps what it confirmed and nothing else, and stays well.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WELL_KNOWN_KEY } from '../../src/main.js';
import { fuzzed, seededRandom, seedFromEnvironment } from '../../src/value/random.suite.js';
import { ServerProcess } from './child.suite.js';
import { type Episode, randomEpisode } from './episodes.suite.js';
import { CONTAINERS, DATABASE, definition, keyOfItem, type World } from './mutants.suite.js';
import { Tally } from './tally.suite.js';
import { type Answer, bytesOf, type Headers, leave, signature, talk } from './wire.suite.js';

const REQUESTS = fuzzed(4000);
const AT_ONCE = 24;
const ITEMS_BEFORE = 40;
const RSS_GROWTH_MAX_BYTES = 200 * 1024 * 1024;
/** Bytes that may be an unfinished request are followed by the end of the connection this late. */
const END_AFTER_MS = 800;
const COMPLAINT_MS = 500;

const seed = seedFromEnvironment();
const server = new ServerProcess();
after(() => server.stop());
const port = await server.port;
const tally = new Tally(seed);

test('random requests', async (t) => {
  t.diagnostic(`SEED=${seed}`);
  const world = await prepare();
  const before = await server.inside();
  const first = await counts();
  await atOnce(plan(world), AT_ONCE).catch(async (reason: Error) => {
    // What the server says of it comes a little later.
    await sleep(COMPLAINT_MS);
    throw new Error(`${reason.message}\n${server.complaints.join('\n')}`, { cause: reason });
  });
  t.diagnostic(tally.summary());

  assert.deepEqual(server.complaints, []);
  assert.equal(server.isRunning, true);
  const inside = await server.inside();
  assert.equal(inside.pid, server.pid);
  assert.deepEqual(inside.pollution, []);
  const growth = inside.rssBytes - before.rssBytes;
  t.diagnostic(`resident memory grew by ${(growth / 1024 / 1024).toFixed(0)} MB`);
  assert.ok(growth < RSS_GROWTH_MAX_BYTES, `${growth} bytes`);

  tally.compare(first, await counts());
  const metrics = await ask('GET', '/_mayfly/metrics', bearer);
  assert.doesNotMatch(metrics.body.toString(), /status="5\d\d"/);
  assert.deepEqual(server.complaints, []);
});

test('and then it stops as it should', async () => {
  assert.equal(await server.stop(), 0);
  assert.deepEqual(server.complaints, []);
});

/** All of it before anything is sent, so that it depends on the seed alone. */
function plan(world: World): readonly (() => Promise<void>)[] {
  const random = seededRandom(seed);
  const episodes: (() => Promise<void>)[] = [];
  let planned = 0;
  while (planned < REQUESTS) {
    const episode = randomEpisode(random, world);
    planned += Math.max(1, episode.requests.length);
    episodes.push(() => perform(episode));
  }
  return episodes;
}

async function perform({ requests, bytes: make, ending }: Episode): Promise<void> {
  const bytes = make();
  if (ending === 'leave' || ending === 'reset') {
    await leave(port, bytes, ending === 'reset');
    tally.note('left');
    return;
  }
  // Answers to HEAD have no body whatever their headers say, which must be known beforehand.
  const isHead = requests.length === 1 && requests[0]?.method === 'HEAD';
  const patience =
    ending === 'wait' ? { answersMax: requests.length } : { endAfterMs: END_AFTER_MS };
  const { answers, outcome } = await talk(port, [bytes], { ...patience, isHead });
  if (outcome === 'timeout') {
    const shown = bytes.subarray(0, 2000).toString('latin1');
    assert.fail(`SEED=${seed} neither answered nor closed: ${shown}`);
  }
  answers.forEach((answer, index) => {
    tally.answered(requests[index], answer);
  });
  for (const request of requests.slice(answers.length)) tally.unanswered(request);
}

async function atOnce(work: readonly (() => Promise<void>)[], workers: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let each = work[next++]; each !== undefined; each = work[next++]) await each();
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

const bearer = { authorization: `Bearer ${WELL_KNOWN_KEY}` };

/** Time stands still, so that nothing expires and numbers can be compared. */
async function prepare(): Promise<World> {
  await ask('POST', '/_mayfly/clock', bearer, { freeze: true });
  await ask('POST', '/dbs', {}, { id: 'fuzz' });
  const tokens: string[] = [];
  for (const path of CONTAINERS) {
    await ask('POST', `${DATABASE}/colls`, {}, definition(path.slice(path.lastIndexOf('/') + 1)));
    for (let index = 0; index < ITEMS_BEFORE; index++) {
      const pk = keyOfItem(index);
      const headers = { 'x-ms-documentdb-partitionkey': JSON.stringify([pk]) };
      await ask('POST', `${path}/docs`, headers, { id: `i${index}`, pk });
    }
    for (const size of ['1', '5']) {
      const page = await ask('GET', `${path}/docs`, { 'x-ms-max-item-count': size });
      tokens.push(page.headers.get('x-ms-continuation') ?? '');
    }
  }
  const permits = await preparePermits();
  const offers = await ask('GET', '/offers', {});
  const { Offers } = JSON.parse(offers.body.toString()) as { Offers: { _rid: string }[] };
  const [token = '', ...more] = tokens;
  return { key: WELL_KNOWN_KEY, tokens: [token, ...more], permits, offer: Offers[0]?._rid ?? '' };
}

/** Resource tokens of all widths, good and not so good, and other kinds of tokens. */
async function preparePermits(): Promise<World['permits']> {
  const users = `${DATABASE}/users`;
  await ask('POST', users, {}, { id: 'holder' });
  const tokens: string[] = [];
  for (const [index, resource] of CONTAINERS.entries()) {
    for (const parts of [{}, { resourcePartitionKey: [keyOfItem(1)] }]) {
      const body = {
        id: `p${tokens.length}`,
        permissionMode: index ? 'All' : 'Read',
        resource,
        ...parts,
      };
      const made = await ask('POST', `${users}/holder/permissions`, {}, body);
      tokens.push((JSON.parse(made.body.toString()) as { _token: string })._token);
    }
  }
  const [first = ''] = tokens;
  const broken = [first.slice(0, -9), first.replace(';', ''), 'type=resource&ver=1&sig=;;'];
  const others = ['type=aad&ver=1.0&sig=a.b.c', 'type=sas&ver=1.0&sig=x', 'type=&ver=&sig='];
  return [encodeURIComponent(first), ...tokens, ...broken, ...others];
}

/** Through the lists, page by page, and checked against what the control API says. */
async function counts() {
  const databases = await listAll('/dbs', 'Databases');
  const found = { databases: databases.length, containers: 0, items: 0 };
  for (const database of databases) {
    const path = `/dbs/${encodeURIComponent(database.id)}/colls`;
    const containers = await listAll(path, 'DocumentCollections');
    found.containers += containers.length;
    for (const container of containers) {
      const below = `${path}/${encodeURIComponent(container.id)}`;
      const items = await listAll(`${below}/docs`, 'Documents');
      const status = await ask('GET', `/_mayfly${below}/ttl`, bearer);
      const { live } = JSON.parse(status.body.toString()) as { live: number };
      assert.equal(items.length, live, below);
      found.items += items.length;
    }
  }
  return found;
}

async function listAll(
  path: string,
  envelope: string,
): Promise<readonly { readonly id: string }[]> {
  const all: { id: string }[] = [];
  let headers: Headers = { 'x-ms-max-item-count': '500' };
  while (true) {
    const page = await ask('GET', path, headers);
    const body = JSON.parse(page.body.toString()) as Record<string, { id: string }[]>;
    all.push(...(body[envelope] ?? []));
    const continuation = page.headers.get('x-ms-continuation');
    if (continuation === undefined) return all;
    headers = { ...headers, 'x-ms-continuation': continuation };
  }
}

/** A good request, which must succeed. */
async function ask(
  method: string,
  path: string,
  headers: Headers,
  body?: unknown,
): Promise<Answer> {
  const date = new Date().toUTCString();
  const authorization = signature(method, path, date, WELL_KNOWN_KEY);
  const all = { host: 'localhost', 'x-ms-date': date, authorization, ...headers };
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const request = bytesOf({ method, path, headers: all, body: bytes });
  const { answers } = await talk(port, [request], { answersMax: 1 });
  const [answer] = answers;
  assert.ok(answer !== undefined && answer.status < 300, `${method} ${path} ${answer?.body}`);
  return answer;
}
