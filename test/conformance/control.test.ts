// The control API: who may use it, the clock, the purge, the metrics. What it tells about time to
// live is in ttl-insight.test.ts.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { start } from '../../src/main.js';
import { VERSION } from '../../src/version.js';
import {
  DAY_MS,
  type Headers,
  type Json,
  NOON,
  ok,
  type Reply,
  Server,
  serve,
} from './support.suite.js';

const KEYS = {
  key: Buffer.alloc(64, 1).toString('base64'),
  secondaryKey: Buffer.alloc(64, 2).toString('base64'),
  readOnlyKey: Buffer.alloc(64, 3).toString('base64'),
};
const server = await serve({ ...KEYS, allowedHosts: ['mayfly.test'] });

beforeEach(async () => {
  server.clock.freeze();
  server.clock.set(NOON);
  ok(await server.control('POST', 'purge/pause'), 200);
});

const PROTECTED: readonly (readonly [string, string])[] = [
  ['GET', 'metrics'],
  ['GET', 'clock'],
  ['POST', 'clock'],
  ['GET', 'purge'],
  ['POST', 'purge'],
  ['POST', 'purge/pause'],
  ['POST', 'purge/resume'],
  ['GET', 'dbs/d/colls/c/ttl'],
  ['POST', 'dbs/d/colls/c/ttl/preview'],
  ['GET', 'dbs/d/colls/c/docs/1/ttl'],
  ['GET', 'nothing'],
  ['DELETE', 'clock'],
];

test('health is open to everybody', async () => {
  const { json, headers } = ok(await server.raw('GET', '/_mayfly/health'), 200);
  assert.deepEqual(json, { status: 'ok', version: VERSION });
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['access-control-allow-origin'], undefined);
});

for (const [method, path] of PROTECTED) {
  test(`${method} ${path} needs the account key`, async () => {
    const send = (headers: Headers) =>
      server.raw(method, `/_mayfly/${path}`, {
        headers,
        body: method === 'POST' ? '{}' : undefined,
      });
    const strangers: readonly Headers[] = [
      {},
      { authorization: '' },
      { authorization: KEYS.key },
      { authorization: 'Bearer' },
      { authorization: `Bearer ${KEYS.key}x` },
      { authorization: `Bearer ${KEYS.readOnlyKey}` },
      { authorization: `Basic ${KEYS.key}` },
    ];
    for (const headers of strangers) {
      const reply = ok(await send(headers), 401);
      assert.equal(reply.json.code, 'Unauthorized');
      assert.ok(String(reply.json.message).includes('Authorization: Bearer'));
    }
  });
}

test('both account keys open it, and the scheme may be written small', async () => {
  for (const authorization of [
    `Bearer ${KEYS.key}`,
    `bearer ${KEYS.key}`,
    `Bearer ${KEYS.secondaryKey}`,
  ]) {
    ok(await server.raw('GET', '/_mayfly/clock', { headers: { authorization } }), 200);
  }
});

test('unknown paths are 400 and wrong verbs 405 for those who have the key', async () => {
  ok(await server.control('GET', 'nothing'), 400);
  const wrong = ok(await server.control('DELETE', 'clock'), 405);
  assert.ok(String(wrong.json.message).includes('GET, POST'));
  assert.equal(wrong.headers.allow, 'GET, POST');
});

const HOSTS_REFUSED = ['evil.example', 'mayfly', '127.0.0.1.evil.example', 'user@localhost', ':80'];

for (const host of HOSTS_REFUSED) {
  test(`a request to the host '${host}' is refused, with the key and without`, async () => {
    ok(await server.control('GET', 'clock', undefined, { host }), 403);
    ok(await server.raw('GET', '/_mayfly/health', { headers: { host } }), 403);
  });
}

for (const host of [
  'localhost',
  'LocalHost:1234',
  '127.0.0.1',
  '[::1]:8081',
  '10.1.2.3:80',
  'mayfly.test',
]) {
  test(`a request to the host '${host}' is answered`, async () => {
    ok(await server.control('GET', 'clock', undefined, { host }), 200);
  });
}

test('pages of other origins are refused, the own origin is not', async () => {
  const own = `http://127.0.0.1:${server.port}`;
  ok(await server.control('GET', 'clock', undefined, { origin: own }), 200);
  for (const origin of ['http://evil.example', 'null', `${own}1`, 'http://127.0.0.1']) {
    ok(await server.control('GET', 'clock', undefined, { origin }), 403);
    ok(await server.raw('GET', '/_mayfly/health', { headers: { origin } }), 403);
  }
  for (const site of ['cross-site', 'same-site']) {
    ok(await server.control('GET', 'clock', undefined, { 'sec-fetch-site': site }), 403);
  }
});

test('a refused request to the control API has no effect', async () => {
  const body = { advance: '1d' };
  ok(await server.control('POST', 'clock', body, { origin: 'http://evil.example' }), 403);
  ok(await server.raw('POST', '/_mayfly/clock', { body }), 401);
  assert.equal(server.clock.now(), NOON);
});

test('T37: the clock is read', async () => {
  const { json } = ok(await server.control('GET', 'clock'), 200);
  assert.deepEqual(json, { mode: 'virtual', now: new Date(NOON).toISOString(), frozen: true });
});

const ADVANCES: readonly (readonly [unknown, number])[] = [
  ['90d', 90 * DAY_MS],
  ['12h', DAY_MS / 2],
  ['30m', 1_800_000],
  ['45s', 45_000],
  ['500ms', 500],
  ['2w', 14 * DAY_MS],
  ['1.5s', 1500],
  ['10', 10_000],
  [60, 60_000],
  [0.001, 1],
  [0, 0],
];

for (const [advance, ms] of ADVANCES) {
  test(`T37: the clock is advanced by ${JSON.stringify(advance)}`, async () => {
    const { json } = ok(await server.control('POST', 'clock', { advance }), 200);
    assert.equal(json.now, new Date(NOON + ms).toISOString());
    assert.equal(server.clock.now(), NOON + ms);
  });
}

test('T37: the clock is set, forward and back, and set and advanced at once', async () => {
  const set = async (body: Json) => ok(await server.control('POST', 'clock', body), 200).json.now;
  assert.equal(await set({ set: '2050-01-01T00:00:00Z' }), '2050-01-01T00:00:00.000Z');
  assert.equal(await set({ set: '2001-09-09T01:46:40.123Z' }), '2001-09-09T01:46:40.123Z');
  assert.equal(await set({ set: '2030-01-01T01:00:00+01:00' }), '2030-01-01T00:00:00.000Z');
  const both = { set: '2030-01-01T00:00:00Z', advance: '1d' };
  assert.equal(await set(both), '2030-01-02T00:00:00.000Z');
});

test('T37: the clock is frozen and let go', async () => {
  const thawed = ok(await server.control('POST', 'clock', { freeze: false }), 200).json;
  assert.equal(thawed.frozen, false);
  assert.ok(Date.parse(String(thawed.now)) >= NOON);
  const frozen = ok(await server.control('POST', 'clock', { freeze: true }), 200).json;
  assert.equal(frozen.frozen, true);
  const later = ok(await server.control('GET', 'clock'), 200).json;
  assert.equal(later.now, frozen.now);
  const exact = { freeze: true, set: '2040-01-01T00:00:00Z' };
  const { json } = ok(await server.control('POST', 'clock', exact), 200);
  assert.deepEqual(json, { mode: 'virtual', now: '2040-01-01T00:00:00.000Z', frozen: true });
});

const CLOCKS_REFUSED: readonly unknown[] = [
  {},
  { advance: -1 },
  { advance: '-1d' },
  { advance: '1y' },
  { advance: 'soon' },
  { advance: '' },
  { advance: null },
  { advance: true },
  { set: 'tomorrow' },
  { set: '' },
  { set: 1_900_000_000 },
  { set: null },
  { set: '1969-12-31T23:59:59Z' },
  { set: '+010000-01-01T00:00:00Z' },
  { set: '9999-12-31T23:59:59Z', advance: '1s' },
  { freeze: 'yes' },
  { freeze: 1 },
  { freeze: null },
  { rewind: 5 },
  { freeze: true, rewind: 5 },
  { advance: '1d', set: 'tomorrow' },
  [],
  'junk',
  '"1d"',
  'null',
  '',
];

for (const body of CLOCKS_REFUSED) {
  test(`T37: the clock does not take ${JSON.stringify(body)}`, async () => {
    const reply = ok(await server.control('POST', 'clock', body), 400);
    assert.equal(reply.json.code, 'BadRequest');
    const { json } = ok(await server.control('GET', 'clock'), 200);
    assert.deepEqual(json, { mode: 'virtual', now: new Date(NOON).toISOString(), frozen: true });
  });
}

test('T37: the system clock is read, and cannot be moved', async () => {
  const real = new Server(await start({ ...KEYS, clock: 'system' }), server.clock);
  try {
    const { json } = ok(await real.control('GET', 'clock'), 200);
    assert.deepEqual([json.mode, json.frozen], ['system', false]);
    for (const body of [{ advance: '1d' }, { freeze: true }, { set: '2050-01-01T00:00:00Z' }]) {
      const reply = ok(await real.control('POST', 'clock', body), 409);
      assert.ok(String(reply.json.message).includes('--clock virtual'));
    }
  } finally {
    await real.close();
  }
});

test('T19: the purge is run on demand, also while it is paused', async () => {
  const box = await server.box({ defaultTtl: 10 });
  await server.control('POST', 'purge');
  for (let n = 0; n < 5; n++) ok(await box.create({ id: `i${n}`, pk: 'p' }), 201);
  assert.deepEqual(ok(await server.control('POST', 'purge'), 200).json, { purged: 0 });
  server.clock.advance(10_000);
  const before = await purgeStatus();
  assert.equal(before.paused, true);
  assert.deepEqual(ok(await server.control('POST', 'purge'), 200).json, { purged: 5 });
  const after = await purgeStatus();
  assert.equal(after.purgedTotal, Number(before.purgedTotal) + 5);
  assert.ok(Number(after.bytesTotal) > Number(before.bytesTotal));
  assert.equal(after.lastRun, new Date(NOON + 10_000).toISOString());
  assert.deepEqual(ok(await server.control('POST', 'purge'), 200).json, { purged: 0 });
});

test('T19: the purge is paused and resumed, and tells which', async () => {
  assert.deepEqual(ok(await server.control('POST', 'purge/resume'), 200).json, { paused: false });
  assert.equal((await purgeStatus()).paused, false);
  assert.equal(await server.metric('mayfly_purge_paused'), 0);
  assert.deepEqual(ok(await server.control('POST', 'purge/pause'), 200).json, { paused: true });
  assert.equal((await purgeStatus()).paused, true);
  assert.equal(await server.metric('mayfly_purge_paused'), 1);
});

const METRICS: readonly (readonly [string, string])[] = [
  ['mayfly_requests_total', 'counter'],
  ['mayfly_request_duration_seconds', 'histogram'],
  ['mayfly_items', 'gauge'],
  ['mayfly_expired_items', 'gauge'],
  ['mayfly_purge_lag_seconds', 'gauge'],
  ['mayfly_purged_items_total', 'counter'],
  ['mayfly_purged_bytes_total', 'counter'],
  ['mayfly_purge_paused', 'gauge'],
  ['mayfly_store_bytes', 'gauge'],
];

test('each metric has a type, a help text and samples that Prometheus can read', async () => {
  const box = await server.box({ defaultTtl: 10 });
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  const { text, headers } = ok(await server.control('GET', 'metrics'), 200);
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
  for (const [name, type] of METRICS) {
    assert.ok(text.includes(`# TYPE ${name} ${type}\n`), name);
    assert.match(text, new RegExp(`# HELP ${name} .+\n`));
    assert.match(text, new RegExp(`\n${name}(_bucket|_sum|_count)?({[^}]*})? [0-9.e+-]+\n`));
  }
  assert.ok(text.endsWith('\n'));
  const sample = /^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9][0-9.e+-]*$/;
  for (const line of text.trimEnd().split('\n')) {
    if (!line.startsWith('#')) assert.match(line, sample);
  }
});

test('the metrics move with what happens', async () => {
  const box = await server.box({ defaultTtl: 10 });
  const labels = `{database="${box.database}",container="c"}`;
  const gauges = () =>
    Promise.all(
      ['mayfly_items', 'mayfly_expired_items', 'mayfly_purge_lag_seconds'].map((name) =>
        server.metric(`${name}${labels}`),
      ),
    );
  const created = 'mayfly_requests_total{operation="CreateItem",status="201"}';
  const timed = 'mayfly_request_duration_seconds_count{operation="CreateItem"}';
  const [before, timedBefore] = [await server.metric(created), await server.metric(timed)];
  const purgedBefore = await server.metric('mayfly_purged_items_total');
  const bytesBefore = await server.metric('mayfly_purged_bytes_total');
  assert.deepEqual(await gauges(), [0, 0, 0]);
  for (let n = 0; n < 3; n++) ok(await box.create({ id: `i${n}`, pk: 'p' }), 201);
  ok(await box.create({ id: 'eternal', pk: 'p', ttl: -1 }), 201);
  assert.equal(await server.metric(created), before + 4);
  assert.equal(await server.metric(timed), timedBefore + 4);
  assert.deepEqual(await gauges(), [4, 0, 0]);
  server.clock.set(NOON);
  server.clock.advance(17_750);
  assert.deepEqual(await gauges(), [1, 3, 8]);
  await server.mayfly.purge();
  assert.deepEqual(await gauges(), [1, 0, 0]);
  assert.ok((await server.metric('mayfly_purged_items_total')) >= purgedBefore + 3);
  assert.ok((await server.metric('mayfly_purged_bytes_total')) > bytesBefore);
  assert.ok((await server.metric('mayfly_store_bytes')) > 0);
});

test('the metrics count refusals by status', async () => {
  const missing = 'mayfly_requests_total{operation="ReadDatabase",status="404"}';
  const before = await server.metric(missing);
  ok(await server.send('GET', '/dbs/none'), 404);
  assert.equal(await server.metric(missing), before + 1);
});

test('names in the metrics are escaped', async () => {
  const id = 'quote " and \u00e9';
  ok(await server.send('POST', '/dbs', { body: { id } }), 201);
  const body = { id: 'c', partitionKey: { paths: ['/pk'] } };
  const path = `/dbs/${encodeURIComponent(id)}`;
  ok(await server.send('POST', `${path}/colls`, { body }), 201);
  const { text } = ok(await server.control('GET', 'metrics'), 200);
  assert.ok(text.includes('mayfly_items{database="quote \\" and \u00e9",container="c"} 0'));
  ok(await server.send('DELETE', path), 204);
});

test('the paths of the control API are no database of the account', async () => {
  const reply: Reply = await server.send('GET', '/_mayfly/health');
  assert.equal(reply.json.status, 'ok');
  ok(await server.raw('GET', '/_mayfly/'), 401);
});

async function purgeStatus(): Promise<Json> {
  return ok(await server.control('GET', 'purge'), 200).json;
}
