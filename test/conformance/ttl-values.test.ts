// Values of defaultTtl and ttl: what is taken, what is refused with its name and without a trace
// (T20 to T22), arithmetic beyond 32 bits (T23), indexing modes (T24, T25), and the SDK (T26).
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { instant } from '../../src/time/instant.js';
import {
  at,
  type Box,
  documents,
  type Json,
  keyHeader,
  NOON,
  ok,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
const MAX = 2_147_483_647;
const RULE =
  "is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire.";

beforeEach(() => server.clock.set(NOON));

/** As JSON texts, because 20.0 is not the same text as 20. */
const DEFAULTS_TAKEN: readonly (readonly [string, number | undefined])[] = [
  ['null', undefined],
  ['-1', -1],
  ['1', 1],
  ['60', 60],
  ['60.0', 60],
  ['6e1', 60],
  ['2147483647', MAX],
];
const REFUSED_NUMBERS = ['0', '-2', '-10', '1.5', '-1.5', '2147483648', '-2147483648', '1e300'];
const REFUSED_OTHERS = ['"60"', '""', '"-1"', 'true', 'false', '{}', '[]', '[60]'];

for (const [text, served] of DEFAULTS_TAKEN) {
  test(`T20: defaultTtl ${text} is taken at creation and in a replacement`, async () => {
    const fresh = await server.box();
    const body = definition('c2', text);
    const created = await server.send('POST', `/dbs/${fresh.database}/colls`, { body });
    assert.equal(ok(created, 201).json.defaultTtl, served);
    const path = `/dbs/${fresh.database}/colls/c2`;
    assert.equal(ok(await server.send('GET', path), 200).json.defaultTtl, served);
    const replaced = await server.send('PUT', fresh.path, { body: definition('c', text) });
    assert.equal(ok(replaced, 200).json.defaultTtl, served);
    assert.equal('defaultTtl' in replaced.json, served !== undefined);
  });
}

for (const text of [...REFUSED_NUMBERS, ...REFUSED_OTHERS]) {
  test(`T20: defaultTtl ${text} is a 400 that names it, and nothing is changed`, async () => {
    const box = await server.box({ defaultTtl: 77 });
    const message = `The input defaultTtl '${shown(text)}' ${RULE}`;
    const colls = `/dbs/${box.database}/colls`;
    refused(await server.send('POST', colls, { body: definition('c2', text) }), 400, 0, message);
    refused(await server.send('GET', `${colls}/c2`), 404, 0);
    refused(await server.send('PUT', box.path, { body: definition('c', text) }), 400, 0, message);
    assert.equal(ok(await server.send('GET', box.path), 200).json.defaultTtl, 77);
  });
}

const TAKEN: readonly (readonly [string, number])[] = [
  ['-1', Number.POSITIVE_INFINITY],
  ['1', 1],
  ['20.0', 20],
  ['2e1', 20],
  ['2147483647', MAX],
];

for (const [text, seconds] of TAKEN) {
  for (const defaultTtl of [-1, 60]) {
    test(`T21: ttl ${text} is taken where defaultTtl is ${defaultTtl}`, async () => {
      const box = await server.box({ defaultTtl });
      const body = itemBody('1', text);
      ok(await box.create(body, keyHeader('p')), 201);
      ok(await box.upsert(body, keyHeader('p')), 200);
      ok(await sendReplace(box, body), 200);
      const { text: stored } = ok(await box.read('1'), 200);
      assert.ok(stored.startsWith(body.slice(0, -1)), stored);
      const last = Math.min(seconds, 1e9);
      moveTo(last * 1000 - 1);
      ok(await box.read('1'), 200);
      moveTo(last * 1000);
      assert.equal((await box.read('1')).status, last === seconds ? 404 : 200);
    });
  }
}

for (const [index, text] of ['null', ...REFUSED_NUMBERS, ...REFUSED_OTHERS].entries()) {
  const defaultTtl = index % 2 === 0 ? -1 : 60;
  test(`T21: ttl ${text} is a 400 that names it, and nothing is written`, async () => {
    const box = await server.box({ defaultTtl });
    const before = ok(await box.create({ id: 'there', pk: 'p', ttl: 50 }), 201);
    const message = `The input ttl '${shown(text)}' ${RULE}`;
    const fresh = itemBody('fresh', text);
    refused(await box.create(fresh, keyHeader('p')), 400, 0, message);
    refused(await box.upsert(fresh, keyHeader('p')), 400, 0, message);
    const there = itemBody('there', text);
    refused(await box.upsert(there, keyHeader('p')), 400, 0, message);
    refused(await sendReplace(box, there), 400, 0, message);
    assert.deepEqual(documents(await box.list()), [before.json]);
    assert.equal(await box.stored(), 1);
  });
}

test('T21: the refusal has the form that clients know', async () => {
  const box = await server.box({ defaultTtl: -1 });
  const reply = await box.create({ id: '1', pk: 'p', ttl: 0 });
  refused(reply, 400, 0);
  const envelope = JSON.stringify({ Errors: [`The input ttl '0' ${RULE}`] });
  assert.ok(String(reply.json.message).startsWith(`Message: ${envelope}\r\nActivityId: `));
});

test('T21: only ttl at the root of the item counts', async () => {
  const box = await server.box({ defaultTtl: -1 });
  ok(await box.create({ id: '1', pk: 'p', a: { ttl: 0 }, TTL: 1, Ttl: 'x' }), 201);
  moveTo(1_000_000);
  ok(await box.read('1'), 200);
});

for (const text of ['null', '-1', '20', '20.0', ...REFUSED_NUMBERS, ...REFUSED_OTHERS]) {
  test(`T22: with TTL off, ttl ${text} is stored and returned as it is`, async () => {
    const box = await server.box();
    const body = itemBody('1', text);
    const created = ok(await box.create(body, keyHeader('p')), 201).text;
    assert.ok(created.startsWith(body.slice(0, -1)), created);
    ok(await box.upsert(body, keyHeader('p')), 200);
    ok(await sendReplace(box, body), 200);
    assert.ok(ok(await box.read('1'), 200).text.startsWith(body.slice(0, -1)));
    moveTo(MAX * 1000);
    ok(await box.read('1'), 200);
  });
}

for (const text of ['null', ...REFUSED_NUMBERS, ...REFUSED_OTHERS]) {
  test(`T22: ttl ${text} counts as absent when TTL is switched on`, async () => {
    const box = await server.box();
    ok(await box.create(itemBody('1', text), keyHeader('p')), 201);
    ok(await box.redefine({ defaultTtl: -1 }), 200);
    moveTo(100_000);
    ok(await box.read('1'), 200);
    ok(await box.redefine({ defaultTtl: 200 }), 200);
    moveTo(200_000 - 1);
    ok(await box.read('1'), 200);
    moveTo(200_000);
    refused(await box.read('1'), 404, 0);
  });
}

const FAR_TIMES: readonly (readonly [string, string, number])[] = [
  ['the last second of 31 bits', '2038-01-19T03:14:07.000Z', 2_147_483_647],
  ['the first second beyond 31 bits', '2038-01-19T03:14:08.000Z', 2_147_483_648],
  ['the last second of 32 bits', '2106-02-07T06:28:15.000Z', 4_294_967_295],
  ['the first second beyond 32 bits', '2106-02-07T06:28:16.000Z', 4_294_967_296],
];

for (const [what, iso, seconds] of FAR_TIMES) {
  test(`T23: the longest time to live is exact from ${what}`, async () => {
    server.clock.set(at(iso));
    const box = await server.box({ defaultTtl: MAX });
    assert.equal(ok(await box.create({ id: 'default', pk: 'p' }), 201).json._ts, seconds);
    ok(await box.create({ id: 'own', pk: 'p', ttl: MAX }), 201);
    ok(await box.create({ id: 'short', pk: 'p', ttl: 1 }), 201);
    const due = instant((seconds + MAX) * 1000);
    for (const id of ['default', 'own']) {
      assert.equal((await explain(box, id)).due, new Date(due).toISOString());
    }
    server.clock.set(instant((seconds + 1) * 1000 - 1));
    assert.deepEqual(await box.ids(), ['default', 'own', 'short']);
    server.clock.set(instant((seconds + 1) * 1000));
    await server.mayfly.purge();
    assert.deepEqual(await box.ids(), ['default', 'own']);
    server.clock.set(instant(due - 1));
    await server.mayfly.purge();
    assert.deepEqual(await box.ids(), ['default', 'own']);
    server.clock.set(due);
    assert.deepEqual(await box.ids(), []);
    await server.mayfly.purge();
    assert.equal(await box.stored(), 0);
  });
}

test('T23: in the last minute of the year 9999 items still live and die', async () => {
  server.clock.set(at('9999-12-31T23:59:00.000Z'));
  const box = await server.box({ defaultTtl: 30 });
  const { json } = ok(await box.create({ id: 'default', pk: 'p' }), 201);
  assert.equal(json._ts, 253_402_300_740);
  ok(await box.create({ id: 'longest', pk: 'p', ttl: MAX }), 201);
  ok(await box.create({ id: 'eternal', pk: 'p', ttl: -1 }), 201);
  server.clock.set(at('9999-12-31T23:59:29.999Z'));
  assert.deepEqual(await box.ids(), ['default', 'longest', 'eternal']);
  server.clock.set(at('9999-12-31T23:59:30.000Z'));
  assert.deepEqual(await box.ids(), ['longest', 'eternal']);
  server.clock.set(at('9999-12-31T23:59:59.999Z'));
  await server.mayfly.purge();
  assert.deepEqual(await box.ids(), ['longest', 'eternal']);
  assert.equal(await box.stored(), 2);
});

const TTL_NEEDS_INDEX =
  "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection";
const NONE = { indexingMode: 'none' };

for (const defaultTtl of [-1, 60]) {
  test(`T24: defaultTtl ${defaultTtl} and mode none together are refused`, async () => {
    const { database } = await server.box();
    const body = { ...base('c2'), defaultTtl, indexingPolicy: NONE };
    const reply = await server.send('POST', `/dbs/${database}/colls`, { body });
    refused(reply, 400, 0, TTL_NEEDS_INDEX);
    refused(await server.send('GET', `/dbs/${database}/colls/c2`), 404, 0);
  });

  test(`T24: defaultTtl ${defaultTtl} cannot be set on a container of mode none`, async () => {
    const box = await server.box({ indexingPolicy: NONE });
    const before = ok(await server.send('GET', box.path), 200).json;
    refused(await box.redefine({ defaultTtl }), 400, 0, TTL_NEEDS_INDEX);
    assert.deepEqual(ok(await server.send('GET', box.path), 200).json, before);
    const both = { defaultTtl, indexingPolicy: { indexingMode: 'consistent' } };
    ok(await box.redefine(both), 200);
  });

  test(`T24: a container with defaultTtl ${defaultTtl} cannot be switched to none`, async () => {
    const box = await server.box({ defaultTtl });
    const before = ok(await server.send('GET', box.path), 200).json;
    refused(await box.redefine({ indexingPolicy: NONE }), 400, 0, TTL_NEEDS_INDEX);
    assert.deepEqual(ok(await server.send('GET', box.path), 200).json, before);
    ok(await box.redefine({ indexingPolicy: NONE, defaultTtl: undefined }), 200);
  });
}

for (const indexingMode of ['consistent', 'lazy']) {
  test(`T24 T25: mode ${indexingMode} takes changes of TTL, and lists stay complete`, async () => {
    const box = await server.box({ indexingPolicy: { indexingMode } });
    for (let n = 0; n < 20; n++) ok(await box.create({ id: `i${n}`, pk: `p${n}` }), 201);
    const everything = await box.ids();
    assert.equal(everything.length, 20);
    for (const defaultTtl of [100, -1, 50, undefined, 100]) {
      ok(await box.redefine({ defaultTtl }), 200);
      assert.deepEqual(await box.ids(), everything);
    }
    moveTo(100_000);
    assert.deepEqual(await box.ids(), []);
    ok(await box.redefine({ defaultTtl: -1 }), 200);
    assert.deepEqual(await box.ids(), everything);
  });
}

test('T26: SDK, defaultTtl of a container and ttl of items', async () => {
  const { database } = await client.databases.create({ id: 'sdk' });
  const partitionKey = { paths: ['/pk'] };
  const { container, resource } = await database.containers.create({
    id: 'c',
    partitionKey,
    defaultTtl: 60,
  });
  assert.equal(resource?.defaultTtl, 60);
  await container.items.create({ id: 'default', pk: 'p' });
  const { resource: own } = await container.items.create({ id: 'own', pk: 'p', ttl: 10 });
  assert.equal(own?.ttl, 10);
  await container.items.create({ id: 'never', pk: 'p', ttl: -1 });
  await assert.rejects(container.items.create({ id: 'zero', pk: 'p', ttl: 0 }), { code: 400 });
  const ids = async () => {
    const { resources } = await container.items.readAll<Json>().fetchAll();
    return resources.map(({ id }) => id);
  };
  moveTo(10_000);
  assert.deepEqual(await ids(), ['default', 'never']);
  moveTo(60_000);
  assert.deepEqual(await ids(), ['never']);
  const off = await container.replace({ id: 'c', partitionKey });
  assert.equal(off.resource?.defaultTtl, undefined);
  assert.deepEqual(await ids(), ['default', 'own', 'never']);
  const invalid = container.replace({ id: 'c', partitionKey, defaultTtl: 0 });
  await assert.rejects(invalid, { code: 400 });
});

function base(id: string): Json {
  return { id, partitionKey: { paths: ['/pk'] } };
}

function definition(id: string, defaultTtl: string): string {
  return `{"id":"${id}","partitionKey":{"paths":["/pk"]},"defaultTtl":${defaultTtl}}`;
}

function itemBody(id: string, ttl: string): string {
  return `{"id":"${id}","pk":"p","ttl":${ttl}}`;
}

function sendReplace(box: Box, body: string) {
  const { id } = JSON.parse(body) as { id: string };
  return server.send('PUT', `${box.path}/docs/${id}`, { body, headers: keyHeader('p') });
}

/** How a message names a value: as JSON, in which numbers have one spelling. */
function shown(text: string): string {
  return JSON.stringify(JSON.parse(text));
}

/** So many milliseconds after the full second of noon. */
function moveTo(ms: number): void {
  server.clock.set(instant(Math.floor(NOON / 1000) * 1000 + ms));
}

async function explain(box: Box, id: string): Promise<Json> {
  const path = `${box.path.slice(1)}/docs/${id}/ttl?partitionKey=${encodeURIComponent('["p"]')}`;
  return ok(await server.control('GET', path), 200).json;
}
