// T16: a container of 400 request units per second at twice its load, with a backlog of expired
// items. Requests get the same as without the backlog, the purge nothing until they stop.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Box, documents, type Headers, ok, type Reply, serve } from './support.suite.js';

const EXPIRED = Number(process.env.EXPIRED ?? 50_000);
const PER_SECOND = 400;
const SECONDS = 6;
const STEP_MS = 100;
const TTL_SECONDS = 1_000_000;
const BULK = 100;
const PROBED_EVERY = 20;

const server = await serve({ throughput: 'enforce' });

test('T16, T10: the purge lives on leftovers alone, and nobody sees what it has not done', async () => {
  const [behind, clean] = [await server.box(TTL_ON), await server.box(TTL_ON)];
  await fill(behind);
  server.clock.advance(TTL_SECONDS * 1000);
  assert.equal((await behind.status()).expired, EXPIRED);

  const loads = { behind: newLoad(behind), clean: newLoad(clean) };
  for (const load of Object.values(loads)) while (load.refusals === 0) await press(load, 0);
  ok(await server.control('POST', 'purge/resume'), 200);
  for (let step = 0; step < (SECONDS * 1000) / STEP_MS; step++) {
    for (const load of Object.values(loads)) {
      if (step % PROBED_EVERY === 0) await probe(load, step);
      await press(load, step);
    }
    server.clock.advance(STEP_MS);
    await turns();
  }
  assert.equal(await purgeUnits(behind), 0, 'while requests are refused, the purge spends nothing');
  assert.equal((await behind.status()).expired, EXPIRED);
  for (const { refusals, probes } of Object.values(loads)) {
    assert.ok(refusals > 100 && probes >= SECONDS / 2, `${refusals} refusals, ${probes} probes`);
  }
  const ratio = loads.behind.spent / loads.clean.spent;
  assert.ok(Math.abs(ratio - 1) < 0.03, `${loads.behind.spent} to ${loads.clean.spent}`);
  assert.ok(loads.clean.spent > PER_SECOND * SECONDS, String(loads.clean.spent));

  const seconds = await untilPurged(behind);
  const least = EXPIRED / PER_SECOND;
  assert.ok(seconds >= least - 1 && seconds < least * 1.3 + 5, `${seconds} s for ${EXPIRED} items`);
  assert.equal(Math.round(await purgeUnits(behind)), EXPIRED);
  assert.equal(await behind.stored(), loads.behind.items.size);
  assert.equal(await units(behind), round(loads.behind.spent + FILL.spent));
});

const TTL_ON = {
  defaultTtl: -1,
  indexingPolicy: { includedPaths: [{ path: '/ttl/?' }], excludedPaths: [{ path: '/*' }] },
};
const FILL = { spent: 0 };
const charge = ({ headers }: Reply) => Number(headers['x-ms-request-charge']);
const round = (sum: number) => Math.round(sum * 100) / 100;

/** Items of one second, in bulk; the clock pays for them. */
async function fill(box: Box): Promise<void> {
  const headers: Headers = {
    'x-ms-cosmos-is-batch-request': 'true',
    'x-ms-cosmos-batch-atomic': 'true',
    'x-ms-documentdb-partitionkey': '["old"]',
    prefer: 'return=minimal',
  };
  for (let first = 0; first < EXPIRED; first += BULK) {
    const body = Array.from({ length: Math.min(BULK, EXPIRED - first) }, (_, index) => ({
      operationType: 'Create',
      resourceBody: { id: `${first + index}`, pk: 'old', ttl: TTL_SECONDS },
    }));
    const reply = ok(await box.server.send('POST', `${box.path}/docs`, { body, headers }), 200);
    FILL.spent += charge(reply);
    server.clock.advance(Math.ceil((charge(reply) * 1000) / PER_SECOND));
  }
}

interface Load {
  readonly box: Box;
  readonly items: Set<string>;
  spent: number;
  refusals: number;
  probes: number;
}

function newLoad(box: Box): Load {
  return { box, items: new Set(), spent: 0, refusals: 0, probes: 0 };
}

/** Twice what there is, in upserts of items that live. */
async function press(load: Load, step: number): Promise<void> {
  const wanted = (2 * PER_SECOND * STEP_MS) / 1000;
  for (let asked = 0; asked < wanted; asked += 8.4) {
    const id = `${step % 5}-${Math.round(asked)}`;
    const reply = await load.box.upsert({ id, pk: 'live' });
    if (count(load, reply)) load.items.add(id);
  }
}

/** Looks for what has expired in every way that might show it. */
async function probe(load: Load, step: number): Promise<void> {
  const { box } = load;
  const id = String(step % EXPIRED);
  const body = { query: 'SELECT VALUE COUNT(1) FROM c WHERE c.ttl > 0', parameters: [] };
  const headers = {
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'true',
    'x-ms-documentdb-query-enablecrosspartition': 'true',
  };
  const counted = await box.server.send('POST', `${box.path}/docs`, { body, headers });
  if (count(load, counted)) assert.deepEqual(documents(counted), [0]);
  const read = await box.read(id, 'old');
  if (count(load, read)) assert.equal(read.status, 404);
  const listed = await box.list({ 'x-ms-documentdb-partitionkey': '["old"]' });
  if (count(load, listed)) assert.deepEqual(documents(listed), []);
}

function count(load: Load, reply: Reply): boolean {
  if (reply.status === 429) {
    load.refusals += 1;
    return false;
  }
  load.spent += charge(reply);
  if (reply.status !== 201) load.probes += 1;
  return true;
}

/** Seconds of the server's clock until nothing is left of the backlog. */
async function untilPurged(box: Box): Promise<number> {
  const started = server.clock.now();
  // What is left over at the end of a second counts if somebody looks there.
  server.clock.advance(1000 - (started % 1000));
  for (let purged = 0; purged < EXPIRED; purged = await settled()) {
    server.clock.advance(5 * STEP_MS);
    await turns();
  }
  assert.equal((await box.status()).expired, 0);
  return (server.clock.now() - started) / 1000;
}

/** How much is purged when nothing more happens without the clock. */
async function settled(): Promise<number> {
  let [before, purged] = [-1, 0];
  while (purged !== before) {
    before = purged;
    await turns();
    purged = Number((await server.control('GET', 'purge')).json.purgedTotal);
  }
  return purged;
}

/** Lets the alarms ring that the clock has passed, and the passes end that they begin. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
}

function purgeUnits(box: Box): Promise<number> {
  return server.metric(
    `mayfly_purge_request_units_total{database="${box.database}",container="c"}`,
  );
}

function units(box: Box): Promise<number> {
  return server.metric(`mayfly_request_units_total{database="${box.database}",container="c"}`);
}
