// What changes a life: writes of the item (T3 to T5, T8), and changes of the container's default in
// every direction (T6, T7, T9).
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { instant } from '../../src/time/instant.js';
import {
  at,
  type Box,
  documents,
  headerOf,
  type Json,
  NOON,
  NOON_SECONDS,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();

beforeEach(() => server.clock.set(NOON));

for (const [iso, seconds] of [
  ['2030-01-01T00:00:00.000Z', 1_893_456_000],
  ['2030-01-01T00:00:00.001Z', 1_893_456_000],
  ['2030-01-01T00:00:00.999Z', 1_893_456_000],
  ['2030-01-01T00:00:01.000Z', 1_893_456_001],
  ['1970-01-01T00:00:00.999Z', 0],
] as const) {
  test(`T3: what is written at ${iso} has the _ts ${seconds}`, async () => {
    const box = await server.box();
    server.clock.set(at(iso));
    const item = { id: '1', pk: 'p' };
    assert.equal(ok(await box.create(item), 201).json._ts, seconds);
    assert.equal(ok(await box.replace(item), 200).json._ts, seconds);
    assert.equal(ok(await box.upsert(item), 200).json._ts, seconds);
    assert.equal(ok(await box.read('1'), 200).json._ts, seconds);
    assert.equal(documents(await box.list())[0]?._ts, seconds);
    assert.equal(ok(await box.redefine({}), 200).json._ts, seconds);
  });
}

test('T3: a lifetime is counted from the full second', async () => {
  const box = await server.box({ defaultTtl: 10 });
  server.clock.set(instant((NOON_SECONDS + 1) * 1000 - 1));
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  wait(10, -1);
  ok(await box.read('1'), 200);
  wait(10);
  refused(await box.read('1'), 404, 0);
});

const ITEM = { id: '1', pk: 'p' };

const WRITES: readonly (readonly [string, (box: Box) => Promise<Reply>])[] = [
  ['a replacement', (box) => box.replace({ ...ITEM, n: 2 })],
  ['a replacement with the same body', (box) => box.replace(ITEM)],
  ['an upsert', (box) => box.upsert({ ...ITEM, n: 2 })],
  ['a replacement with a condition', (box) => box.replace(ITEM, { 'if-match': '*' })],
  ['a write with a minimal answer', (box) => box.upsert(ITEM, { prefer: 'return=minimal' })],
];

for (const [what, write] of WRITES) {
  test(`T4: ${what} restarts the countdown`, async () => {
    const box = await server.box({ defaultTtl: 10 });
    ok(await box.create(ITEM), 201);
    wait(6);
    ok(await write(box), 200);
    assert.equal(ok(await box.read('1'), 200).json._ts, NOON_SECONDS + 6);
    wait(10);
    ok(await box.read('1'), 200);
    wait(16, -1);
    ok(await box.read('1'), 200);
    wait(16);
    refused(await box.read('1'), 404, 0);
  });
}

test('T4: a new item begins its own countdown after a delete', async () => {
  const box = await server.box({ defaultTtl: 10 });
  ok(await box.create(ITEM), 201);
  wait(6);
  ok(await box.remove('1'), 204);
  ok(await box.create(ITEM), 201);
  wait(16, -1);
  ok(await box.read('1'), 200);
  wait(16);
  refused(await box.read('1'), 404, 0);
});

const LOOKS: readonly (readonly [string, number, (box: Box, etag: string) => Promise<Reply>])[] = [
  ['a read', 200, (box) => box.read('1')],
  ['a list', 200, (box) => box.list()],
  ['an unchanged read', 304, (box, etag) => box.read('1', 'p', { 'if-none-match': etag })],
  ['a refused create', 409, (box) => box.create(ITEM)],
  ['a refused condition', 412, (box) => box.replace(ITEM, { 'if-match': '"other"' })],
  ['a refused ttl', 400, (box) => box.replace({ ...ITEM, ttl: 0 })],
  ['a refused partition key', 400, (box) => box.upsert(ITEM, keyOf('q'))],
];

for (const [what, status, look] of LOOKS) {
  test(`T4: ${what} does not restart the countdown`, async () => {
    const box = await server.box({ defaultTtl: 10 });
    const { _etag: etag } = ok(await box.create(ITEM), 201).json;
    wait(6);
    ok(await look(box, String(etag)), status);
    const read = ok(await box.read('1'), 200).json;
    assert.deepEqual([read._etag, read._ts], [etag, NOON_SECONDS]);
    wait(10);
    refused(await box.read('1'), 404, 0);
  });
}

test('T5: a default is never copied into items', async () => {
  const box = await server.box({ defaultTtl: 3600 });
  const replies = [
    ok(await box.create(ITEM), 201),
    ok(await box.read('1'), 200),
    ok(await box.replace(ITEM), 200),
    ok(await box.upsert(ITEM), 200),
    ok(await box.list(), 200),
  ];
  for (const { text } of replies) assert.ok(!text.includes('ttl'), text);
});

test('T5: the ttl of an item is returned as it was written', async () => {
  const box = await server.box({ defaultTtl: 3600 });
  const body = '{"id":"1","pk":"p","ttl":20.0}';
  const { text } = ok(await box.create(body, keyOf('p')), 201);
  assert.ok(text.startsWith(body.slice(0, -1)), text);
  assert.equal(ok(await box.read('1'), 200).text, text);
});

test('T6: a new container has TTL off', async () => {
  const box = await server.box();
  assert.ok(!('defaultTtl' in ok(await server.send('GET', box.path), 200).json));
  ok(await box.create({ ...ITEM, ttl: 1 }), 201);
  wait(100);
  ok(await box.read('1'), 200);
});

/** Items by what they say themselves. Their ids tell it. */
const OWN: Readonly<Record<string, number | undefined>> = {
  silent: undefined,
  eternal: -1,
  short: 45,
  long: 75,
};
const DEFAULTS = [undefined, -1, 30, 60, 90];

/** T1 as a function: the seconds an item has. */
function lifetime(ttl: number | undefined, defaultTtl: number | undefined): number {
  if (defaultTtl === undefined || ttl === -1) return Number.POSITIVE_INFINITY;
  if (ttl !== undefined) return ttl;
  return defaultTtl === -1 ? Number.POSITIVE_INFINITY : defaultTtl;
}

function living(defaultTtl: number | undefined, seconds: number, purged: ReadonlySet<string>) {
  return Object.keys(OWN).filter(
    (id) => lifetime(OWN[id], defaultTtl) > seconds && !purged.has(id),
  );
}

for (const from of DEFAULTS) {
  for (const to of DEFAULTS.filter((each) => each !== from)) {
    for (const purging of [false, true]) {
      const title = `T7: defaultTtl ${from ?? 'off'} → ${to ?? 'off'} → ${from ?? 'off'}`;
      test(`${title}, ${purging ? 'with' : 'without'} a purge before`, async () => {
        await changeThereAndBack(from, to, purging);
      });
    }
  }
}

/** At 50 s and at 80 s there are items on both sides of each of the defaults. */
async function changeThereAndBack(
  from: number | undefined,
  to: number | undefined,
  purging: boolean,
): Promise<void> {
  const box = await server.box(from === undefined ? {} : { defaultTtl: from });
  for (const [id, ttl] of Object.entries(OWN)) {
    ok(await box.create({ id, pk: id, ...(ttl === undefined ? {} : { ttl }) }), 201);
  }
  const purged = new Set<string>();
  const check = async (defaultTtl: number | undefined, seconds: number) => {
    const expected = living(defaultTtl, seconds, purged);
    assert.deepEqual(await box.ids(), expected);
    for (const id of Object.keys(OWN)) {
      const { status } = await box.read(id, id);
      assert.equal(status, expected.includes(id) ? 200 : 404, `${id} at ${seconds} s`);
    }
  };
  wait(50);
  await check(from, 50);
  if (purging) {
    const alive = living(from, 50, purged);
    await server.mayfly.purge();
    for (const id of Object.keys(OWN)) if (!alive.includes(id)) purged.add(id);
    assert.equal(await box.stored(), alive.length);
    await check(from, 50);
  }
  const changed = ok(await box.redefine({ defaultTtl: to }), 200).json;
  assert.equal(changed.defaultTtl, to);
  await check(to, 50);
  wait(80);
  await check(to, 80);
  ok(await box.redefine({ defaultTtl: from }), 200);
  await check(from, 80);
  if (!purging) {
    ok(await box.redefine({ defaultTtl: undefined }), 200);
    assert.deepEqual(await box.ids(), Object.keys(OWN), 'nothing was purged, so all come back');
  }
}

test('T7: a change rewrites no item', async () => {
  const box = await server.box();
  for (let n = 0; n < 5; n++) ok(await box.create({ id: `i${n}`, pk: 'p' }), 201);
  const before = ok(await box.list(), 200);
  wait(5);
  for (const defaultTtl of [100, -1, 50, undefined]) {
    ok(await box.redefine({ defaultTtl }), 200);
    const after = ok(await box.list(), 200);
    assert.equal(after.text, before.text);
    assert.equal(headerOf(after, 'lsn'), headerOf(before, 'lsn'));
  }
});

test('T7: an item written while TTL was off follows a default that comes later', async () => {
  const box = await server.box();
  ok(await box.create(ITEM), 201);
  wait(1000);
  ok(await box.redefine({ defaultTtl: 1001 }), 200);
  wait(1001, -1);
  ok(await box.read('1'), 200);
  wait(1001);
  refused(await box.read('1'), 404, 0);
});

test('T8: taking ttl away makes an item inherit again', async () => {
  const box = await server.box({ defaultTtl: 60 });
  ok(await box.create({ ...ITEM, ttl: 10 }), 201);
  ok(await box.replace(ITEM), 200);
  wait(60, -1);
  ok(await box.read('1'), 200);
  wait(60);
  refused(await box.read('1'), 404, 0);
});

test('T8: ttl -1 makes an item live for ever, and back', async () => {
  const box = await server.box({ defaultTtl: 60 });
  ok(await box.create(ITEM), 201);
  ok(await box.replace({ ...ITEM, ttl: -1 }), 200);
  wait(1_000_000);
  ok(await box.read('1'), 200);
  ok(await box.upsert({ ...ITEM, ttl: 5 }), 200);
  wait(1_000_005);
  refused(await box.read('1'), 404, 0);
});

test('T8: in a container without a default an item without ttl stays', async () => {
  const box = await server.box({ defaultTtl: -1 });
  ok(await box.create({ ...ITEM, ttl: 10 }), 201);
  ok(await box.replace(ITEM), 200);
  wait(1_000_000);
  ok(await box.read('1'), 200);
});

for (const off of [{}, { defaultTtl: null }] as const) {
  test(`T9: a definition with ${JSON.stringify(off)} switches TTL off, unlike -1`, async () => {
    const box = await server.box({ defaultTtl: 30 });
    const { id, partitionKey } = box.definition as { id: string; partitionKey: Json };
    ok(await box.create({ ...ITEM, ttl: 10 }), 201);
    const body = { id, partitionKey, ...off };
    const replaced = ok(await server.send('PUT', box.path, { body }), 200).json;
    assert.ok(!('defaultTtl' in replaced));
    wait(1000);
    ok(await box.read('1'), 200);
    await server.mayfly.purge();
    assert.equal(await box.stored(), 1, 'the purge does not look at this container');
    ok(await box.read('1'), 200);
    ok(await box.redefine({ defaultTtl: -1 }), 200);
    refused(await box.read('1'), 404, 0);
    assert.equal(await box.stored(), 1);
    await server.mayfly.purge();
    assert.equal(await box.stored(), 0, 'and now it does again');
    ok(await box.redefine({ defaultTtl: undefined }), 200);
    refused(await box.read('1'), 404, 0);
  });
}

test('T9: the ttl of items stays stored while TTL is off', async () => {
  const box = await server.box({ defaultTtl: -1 });
  ok(await box.create({ ...ITEM, ttl: 40 }), 201);
  ok(await box.redefine({ defaultTtl: undefined }), 200);
  assert.equal(ok(await box.read('1'), 200).json.ttl, 40);
  ok(await box.redefine({ defaultTtl: 5 }), 200);
  wait(40, -1);
  ok(await box.read('1'), 200);
  wait(40);
  refused(await box.read('1'), 404, 0);
});

/** Moves the clock to so many seconds after the full second of noon. */
function wait(seconds: number, ms = 0): void {
  server.clock.set(instant((NOON_SECONDS + seconds) * 1000 + ms));
}

function keyOf(pk: string) {
  return { 'x-ms-documentdb-partitionkey': JSON.stringify([pk]) };
}
