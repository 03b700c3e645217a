// Time to live made visible and movable: the virtual clock (T37), the preview of a change (T38),
// and the explanation of one item (T39), all by the control API.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { instant } from '../../src/time/instant.js';
import {
  type Box,
  type Json,
  keyHeader,
  NOON,
  NOON_SECONDS,
  ok,
  type Reply,
  serve,
} from './support.suite.js';

const server = await serve();

beforeEach(() => server.clock.set(NOON));

test('T37: a time to live of 90 days is over at once', async () => {
  const box = await server.box({ defaultTtl: 90 * 86_400 });
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  ok(await server.control('POST', 'clock', { advance: '89d' }), 200);
  ok(await box.read('1'), 200);
  ok(await server.control('POST', 'clock', { advance: '1d' }), 200);
  ok(await box.read('1'), 404);
});

test('T37: _ts and etags follow the clock', async () => {
  const box = await server.box();
  ok(await server.control('POST', 'clock', { set: '2031-02-03T04:05:06Z' }), 200);
  const { json } = ok(await box.create({ id: '1', pk: 'p' }), 201);
  assert.equal(json._ts, Date.parse('2031-02-03T04:05:06Z') / 1000);
  assert.ok(String(json._etag).includes(Number(json._ts).toString(16)));
});

test('T37: the purge follows the clock', async () => {
  const box = await server.box({ defaultTtl: 10 });
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  ok(await server.control('POST', 'purge'), 200);
  assert.equal(await box.stored(), 1);
  ok(await server.control('POST', 'clock', { advance: 10 }), 200);
  ok(await server.control('POST', 'purge'), 200);
  assert.equal(await box.stored(), 0);
});

test('T37: back in time, what had expired and was not purged lives again', async () => {
  const box = await server.box({ defaultTtl: 10 });
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  server.clock.advance(60_000);
  ok(await box.read('1'), 404);
  ok(await server.control('POST', 'clock', { set: new Date(NOON).toISOString() }), 200);
  ok(await box.read('1'), 200);
});

interface Preview {
  readonly defaultTtl: number | null;
  readonly expireNow: number;
  readonly reappearNow: number;
  readonly neverExpire: number;
  readonly sample: readonly Json[];
  readonly histogram: readonly {
    readonly from: string;
    readonly to: string | null;
    readonly count: number;
  }[];
}

/** Ages in seconds: when a change comes, the items are so old. */
const AGES = [0, 10, 50, 100, 1000, 100_000, 1_000_000];

test('T38: the number of items that would expire at once is exact', async () => {
  const { box, now } = await grown({});
  for (const defaultTtl of [1, 10, 11, 50, 999, 1000, 1001, 2_000_000, 2_147_483_647]) {
    server.clock.set(now);
    const { expireNow, reappearNow, neverExpire } = await preview(box, defaultTtl);
    const expected = AGES.filter((age) => age >= defaultTtl).length;
    assert.deepEqual([expireNow, reappearNow, neverExpire], [expected, 0, 1], `${defaultTtl}`);
    ok(await box.redefine({ defaultTtl }), 200);
    assert.equal((await box.ids()).length, AGES.length + 1 - expected, `${defaultTtl}`);
    ok(await box.redefine({ defaultTtl: undefined }), 200);
  }
});

test('T38: at the exact millisecond an item is counted, and one before it is not', async () => {
  const box = await server.box();
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  server.clock.set(instant((NOON_SECONDS + 10) * 1000 - 1));
  assert.equal((await preview(box, 10)).expireNow, 0);
  server.clock.advance(1);
  assert.equal((await preview(box, 10)).expireNow, 1);
});

test('T38: a preview changes nothing', async () => {
  const { box } = await grown({});
  const before = ok(await server.send('GET', box.path), 200).text;
  const items = (await box.list()).text;
  for (const defaultTtl of [1, -1, null]) await preview(box, defaultTtl);
  assert.equal(ok(await server.send('GET', box.path), 200).text, before);
  assert.equal((await box.list()).text, items);
});

test('T38: off and -1 let nothing inherit; own values count for -1 alone', async () => {
  const box = await server.box();
  ok(await box.create({ id: 'silent', pk: 'p' }), 201);
  ok(await box.create({ id: 'short', pk: 'p', ttl: 5 }), 201);
  ok(await box.create({ id: 'long', pk: 'p', ttl: 500 }), 201);
  ok(await box.create({ id: 'eternal', pk: 'p', ttl: -1 }), 201);
  server.clock.advance(10_000);
  const off = await preview(box, null);
  assert.deepEqual([off.defaultTtl, off.expireNow, off.neverExpire], [null, 0, 4]);
  const without = await preview(box, -1);
  assert.deepEqual([without.defaultTtl, without.expireNow, without.neverExpire], [-1, 1, 2]);
  const minute = await preview(box, 60);
  assert.deepEqual([minute.defaultTtl, minute.expireNow, minute.neverExpire], [60, 1, 1]);
  assert.equal(countOf(minute), 2);
});

test('T38: what would come back is counted too, until it is purged', async () => {
  const { box } = await grown({ defaultTtl: 100 });
  assert.equal((await box.ids()).length, 4);
  const longer = await preview(box, 2000);
  assert.deepEqual([longer.expireNow, longer.reappearNow], [0, 2]);
  const off = await preview(box, null);
  assert.deepEqual([off.expireNow, off.reappearNow], [0, 4]);
  const shorter = await preview(box, 50);
  assert.deepEqual([shorter.expireNow, shorter.reappearNow], [1, 0]);
  await server.mayfly.purge();
  assert.equal((await preview(box, null)).reappearNow, 0);
});

test('T38: the sample names the first to go, oldest first, ten at the most', async () => {
  const box = await server.box();
  for (let n = 0; n < 15; n++) {
    ok(await box.create({ id: `i${n}`, pk: 'p' }), 201);
    server.clock.advance(1000);
  }
  server.clock.advance(60_000);
  const { expireNow, sample } = await preview(box, 60);
  assert.equal(expireNow, 15);
  assert.deepEqual(
    sample.map(({ id }) => id),
    Array.from({ length: 10 }, (_, n) => `i${n}`),
  );
  const [first] = sample;
  assert.deepEqual(first?.partitionKey, ['p']);
  assert.equal(first?.due, new Date((NOON_SECONDS + 60) * 1000).toISOString());
  assert.ok(Number(first?.bytes) > 0);
  assert.deepEqual((await preview(box, 3600)).sample, []);
});

test('T38: the histogram counts every item that will go, from now on without gaps', async () => {
  const { box, now } = await grown({});
  const { histogram, expireNow, neverExpire } = await preview(box, 2000);
  assert.equal(expireNow, 2);
  assert.equal(neverExpire, 1);
  assert.equal(countOf({ histogram }), 5);
  assert.equal(histogram[0]?.from, new Date(now).toISOString());
  assert.equal(histogram.at(-1)?.to, null);
  for (const [index, bucket] of histogram.slice(1).entries()) {
    assert.equal(bucket.from, histogram[index]?.to);
  }
  const dues = AGES.map((age) => now - (now % 1000) - age * 1000 + 2_000_000);
  for (const { from, to, count } of histogram) {
    const end = to === null ? Number.POSITIVE_INFINITY : Date.parse(to);
    const inside = dues.filter((due) => due > Date.parse(from) && due <= end);
    assert.equal(count, inside.length, `${from} to ${to}`);
  }
});

test('T38: nothing is lost at the end of time', async () => {
  server.clock.set(instant(Date.parse('9999-12-31T23:59:00Z')));
  const box = await server.box({ defaultTtl: -1 });
  ok(await box.create({ id: 'soon', pk: 'p', ttl: 5 }), 201);
  ok(await box.create({ id: 'beyond', pk: 'p', ttl: 1_000_000 }), 201);
  ok(await box.create({ id: 'never', pk: 'p' }), 201);
  const last = await preview(box, -1);
  assert.equal(last.neverExpire, 1);
  assert.equal(countOf(last), 2);
});

const PREVIEWS_REFUSED: readonly (readonly [unknown, string])[] = [
  [{ defaultTtl: 0 }, "The input defaultTtl '0' is invalid"],
  [{ defaultTtl: -2 }, "The input defaultTtl '-2' is invalid"],
  [{ defaultTtl: 1.5 }, "The input defaultTtl '1.5' is invalid"],
  [{ defaultTtl: '60' }, `The input defaultTtl '"60"' is invalid`],
  [{ defaultTtl: 2_147_483_648 }, "The input defaultTtl '2147483648' is invalid"],
  [{}, 'defaultTtl'],
  [{ ttl: 5 }, "'ttl' is not known"],
  ['junk', 'payload is invalid'],
  ['', 'payload is invalid'],
];

for (const [body, text] of PREVIEWS_REFUSED) {
  test(`T38: a preview of ${JSON.stringify(body)} is refused`, async () => {
    const box = await server.box();
    const reply = await server.control('POST', `${box.path.slice(1)}/ttl/preview`, body);
    assert.equal(reply.status, 400, reply.text);
    assert.ok(String(reply.json.message).includes(text), reply.text);
  });
}

/** Container, item, seconds after the write; then due, state and the reason in a sentence. */
const EXPLAINED: readonly (readonly [
  number | undefined,
  unknown,
  number,
  number | null,
  'live' | 'expired',
  string,
])[] = [
  [undefined, undefined, 99, null, 'live', 'It never expires, because time to live is off'],
  [undefined, -1, 99, null, 'live', 'Its own ttl of -1 is stored but has no effect.'],
  [undefined, 20, 99, null, 'live', 'Its own ttl of 20 is stored but has no effect.'],
  [undefined, 'x', 99, null, 'live', 'Its own ttl of "x" is stored but has no effect.'],
  [-1, undefined, 99, null, 'live', "the container's default is -1 and it has no ttl of its own"],
  [-1, -1, 99, null, 'live', 'It never expires, because its own ttl is -1.'],
  [-1, 20, 19, 20, 'live', '20 s after its last write, by its own ttl.'],
  [-1, 20, 20, 20, 'expired', '20 s after its last write, by its own ttl.'],
  [60, undefined, 59, 60, 'live', "60 s after its last write, by the container's default."],
  [60, undefined, 60, 60, 'expired', "60 s after its last write, by the container's default."],
  [60, -1, 99, null, 'live', 'It never expires, because its own ttl is -1.'],
  [60, 20, 19, 20, 'live', '20 s after its last write, by its own ttl.'],
  [60, 20, 21, 20, 'expired', '20 s after its last write, by its own ttl.'],
];

for (const [defaultTtl, ttl, seconds, due, state, reason] of EXPLAINED) {
  const title = `defaultTtl ${defaultTtl ?? 'off'}, ttl ${JSON.stringify(ttl) ?? 'absent'}`;
  test(`T39: ${title}, after ${seconds} s: ${state}`, async () => {
    const box = await server.box(defaultTtl === undefined ? {} : { defaultTtl });
    ok(await box.create({ id: '1', pk: 'p', ttl }), 201);
    server.clock.set(instant((NOON_SECONDS + seconds) * 1000));
    const { reason: told, ...rest } = ok(await explain(box, '1', '["p"]'), 200).json;
    const iso = due === null ? null : new Date((NOON_SECONDS + due) * 1000).toISOString();
    assert.deepEqual(rest, {
      id: '1',
      partitionKey: ['p'],
      defaultTtl: defaultTtl ?? null,
      ttl: ttl ?? null,
      _ts: NOON_SECONDS,
      due: iso,
      state,
    });
    assert.ok(String(told).includes(reason), String(told));
    if (iso !== null) {
      const verb = state === 'live' ? 'expires' : 'expired';
      assert.ok(String(told).startsWith(`It ${verb} at ${iso}`), String(told));
    }
  });
}

for (const [defaultTtl, due] of [
  [-1, null],
  [60, NOON_SECONDS + 60],
] as const) {
  test(`T22 T39: an ignored ttl is told, defaultTtl ${defaultTtl}`, async () => {
    const box = await server.box();
    ok(await box.create({ id: '1', pk: 'p', ttl: 'x' }), 201);
    ok(await box.redefine({ defaultTtl }), 200);
    const { reason, due: told } = ok(await explain(box, '1', '["p"]'), 200).json;
    assert.ok(String(reason).includes('Its own ttl of "x"'), String(reason));
    assert.ok(String(reason).includes('counts as absent'), String(reason));
    assert.equal(told, due === null ? null : new Date(due * 1000).toISOString());
  });
}

test('T39: a write moves the due instant, and a purge ends the explanation', async () => {
  const box = await server.box({ defaultTtl: 10 });
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  server.clock.advance(5000);
  ok(await box.replace({ id: '1', pk: 'p' }), 200);
  const { due, _ts: ts } = ok(await explain(box, '1', '["p"]'), 200).json;
  assert.equal(ts, NOON_SECONDS + 5);
  assert.equal(due, new Date((NOON_SECONDS + 15) * 1000).toISOString());
  server.clock.advance(10_000);
  assert.equal(ok(await explain(box, '1', '["p"]'), 200).json.state, 'expired');
  await server.mayfly.purge();
  ok(await explain(box, '1', '["p"]'), 404);
});

test('T39: items are found by keys of every form and ids of every kind', async () => {
  const box = await server.box({
    partitionKey: { paths: ['/pk', '/u'], kind: 'MultiHash', version: 2 },
  });
  const id = 'a b?%20';
  ok(await box.create({ id, pk: 'é' }, keyHeader('é', undefined)), 201);
  const { json } = ok(await explain(box, id, '["é",{}]'), 200);
  assert.equal(json.id, id);
  ok(await explain(box, id, '["é",null]'), 404);
  ok(await explain(box, id, '["é"]'), 400);
  ok(await explain(box, id, '["é",{},1]'), 400);
  ok(await explain(box, id, 'é'), 400);
  const path = `${box.path.slice(1)}/docs/${encodeURIComponent(id)}/ttl`;
  ok(await server.control('GET', path), 400);
});

test('T38 T39: what is not there is 404', async () => {
  const box = await server.box();
  ok(await explain(box, 'missing', '["p"]'), 404);
  for (const path of ['dbs/none/colls/c', `dbs/${box.database}/colls/none`]) {
    ok(await server.control('GET', `${path}/ttl`), 404);
    ok(await server.control('POST', `${path}/ttl/preview`, { defaultTtl: 1 }), 404);
    ok(await server.control('GET', `${path}/docs/1/ttl?partitionKey=%5B%22p%22%5D`), 404);
  }
});

/** Items of all ages, and one that never dies, in a container that is as old as the oldest. */
async function grown(definition: Json): Promise<{ box: Box; now: typeof NOON }> {
  const box = await server.box(definition);
  for (const age of AGES) {
    server.clock.set(instant(NOON - age * 1000));
    ok(await box.create({ id: `age ${age}`, pk: 'p' }), 201);
  }
  ok(await box.create({ id: 'eternal', pk: 'p', ttl: -1 }), 201);
  server.clock.set(NOON);
  return { box, now: NOON };
}

async function preview(box: Box, defaultTtl: number | null): Promise<Preview> {
  const path = `${box.path.slice(1)}/ttl/preview`;
  const reply = await server.control('POST', path, { defaultTtl });
  return ok(reply, 200).json as unknown as Preview;
}

function countOf({ histogram }: Pick<Preview, 'histogram'>): number {
  return histogram.reduce((sum, { count }) => sum + count, 0);
}

function explain(box: Box, id: string, key: string): Promise<Reply> {
  const item = `${box.path.slice(1)}/docs/${encodeURIComponent(id)}`;
  return server.control('GET', `${item}/ttl?partitionKey=${encodeURIComponent(key)}`);
}
