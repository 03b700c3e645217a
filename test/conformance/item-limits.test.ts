// Limits of items: 2 MB, 128 levels of nesting; and unique keys, which are limits too.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documents, type Json, keyHeader, ok, refused, serve } from './support.suite.js';

const server = await serve();
const MEGABYTES_2 = 2 * 1024 * 1024;

test('a body of just 2 MB is taken and comes back whole', async () => {
  const box = await server.box();
  const body = bodyOf(MEGABYTES_2);
  assert.equal(Buffer.byteLength(body), MEGABYTES_2);
  ok(await box.create(body, keyHeader('p')), 201);
  const { text } = ok(await box.read('big'), 200);
  assert.ok(text.startsWith(body.slice(0, -1)));
  ok(await box.upsert(body, keyHeader('p')), 200);
  assert.equal(documents(await box.list()).length, 1);
});

test('a body of one byte more is 413 with a JSON body, and nothing is written', async () => {
  const box = await server.box();
  const body = bodyOf(MEGABYTES_2 + 1);
  refused(await box.create(body, keyHeader('p')), 413, 0, 'Request size is too large');
  refused(await box.upsert(body, keyHeader('p')), 413, 0, 'Request size is too large');
  ok(await box.create({ id: 'big', pk: 'p' }), 201);
  const options = { body, headers: keyHeader('p') };
  refused(await server.send('PUT', `${box.path}/docs/big`, options), 413, 0);
  assert.equal(ok(await box.read('big'), 200).json.filler, undefined);
});

test('the limit counts bytes, not characters', async () => {
  const box = await server.box();
  const filler = 'é'.repeat(MEGABYTES_2 / 2);
  refused(await box.create({ id: 'big', pk: 'p', filler }), 413, 0);
  ok(await box.create({ id: 'half', pk: 'p', filler: 'é'.repeat(MEGABYTES_2 / 4) }), 201);
});

test('SDK: an item that is too large is an error with code 413', async () => {
  const { database } = await server.box();
  const container = server.client().database(database).container('c');
  const filler = 'x'.repeat(MEGABYTES_2);
  await assert.rejects(container.items.create({ id: 'big', pk: 'p', filler }), { code: 413 });
});

test('128 levels of nesting are taken, 129 are not', async () => {
  const box = await server.box();
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const deep = (levels: number) =>
      `{"id":"deep","pk":"p","v":${open.repeat(levels - 1)}1${close.repeat(levels - 1)}}`;
    refused(await box.upsert(deep(129), keyHeader('p')), 400, 0, '128');
    const written = await box.upsert(deep(128), keyHeader('p'));
    assert.ok(written.status === 201 || written.status === 200, written.text);
    assert.ok(ok(await box.read('deep'), 200).text.startsWith(deep(128).slice(0, -1)));
  }
});

test('brackets inside strings are no nesting', async () => {
  const box = await server.box();
  const text = `${'[{'.repeat(500)}\\"\\\\${'[{'.repeat(500)}`;
  const body = `{"id":"text","pk":"p","v":"${text}"}`;
  ok(await box.create(body, keyHeader('p')), 201);
});

const EMAIL = { uniqueKeys: [{ paths: ['/email'] }] };

test('a unique key refuses a second item with the same value', async () => {
  const box = await server.box({ uniqueKeyPolicy: EMAIL });
  ok(await box.create({ id: '1', pk: 'p', email: 'a@x' }), 201);
  const text = 'Unique index constraint violation.';
  refused(await box.create({ id: '2', pk: 'p', email: 'a@x' }), 409, 0, text);
  refused(await box.upsert({ id: '2', pk: 'p', email: 'a@x' }), 409, 0, text);
  ok(await box.create({ id: '2', pk: 'p', email: 'A@x' }), 201);
  refused(await box.replace({ id: '2', pk: 'p', email: 'a@x' }), 409, 0, text);
  refused(await box.upsert({ id: '2', pk: 'p', email: 'a@x' }), 409, 0, text);
  assert.equal(ok(await box.read('2'), 200).json.email, 'A@x');
});

test('an item may keep or change its own unique value', async () => {
  const box = await server.box({ uniqueKeyPolicy: EMAIL });
  ok(await box.create({ id: '1', pk: 'p', email: 'a@x' }), 201);
  ok(await box.replace({ id: '1', pk: 'p', email: 'a@x', n: 1 }), 200);
  ok(await box.upsert({ id: '1', pk: 'p', email: 'b@x' }), 200);
  ok(await box.create({ id: '2', pk: 'p', email: 'a@x' }), 201);
});

test('uniqueness holds in each logical partition for itself', async () => {
  const box = await server.box({ uniqueKeyPolicy: EMAIL });
  ok(await box.create({ id: '1', pk: 'p', email: 'a@x' }), 201);
  ok(await box.create({ id: '1', pk: 'q', email: 'a@x' }), 201);
});

test('a deleted item frees its unique value', async () => {
  const box = await server.box({ uniqueKeyPolicy: EMAIL });
  ok(await box.create({ id: '1', pk: 'p', email: 'a@x' }), 201);
  ok(await box.remove('1'), 204);
  ok(await box.create({ id: '2', pk: 'p', email: 'a@x' }), 201);
});

test('a missing value counts as null, so one item may lack it', async () => {
  const box = await server.box({ uniqueKeyPolicy: EMAIL });
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  refused(await box.create({ id: '2', pk: 'p' }), 409, 0);
  refused(await box.create({ id: '3', pk: 'p', email: null }), 409, 0);
  ok(await box.create({ id: '4', pk: 'p', email: '' }), 201);
});

test('the values of several paths are unique together', async () => {
  const box = await server.box({
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/first', '/name/last'] }] },
  });
  const item = (id: string, first: unknown, last: unknown): Json => ({
    id,
    pk: 'p',
    first,
    name: { last },
  });
  ok(await box.create(item('1', 'Ada', 'Byron')), 201);
  ok(await box.create(item('2', 'Ada', 'King')), 201);
  ok(await box.create(item('3', 'Anne', 'Byron')), 201);
  ok(await box.create(item('4', 'AdaB', 'yron')), 201);
  refused(await box.create(item('5', 'Ada', 'King')), 409, 0);
});

test('several unique keys each refuse for themselves', async () => {
  const box = await server.box({
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/a'] }, { paths: ['/b'] }] },
  });
  ok(await box.create({ id: '1', pk: 'p', a: 1, b: 1 }), 201);
  refused(await box.create({ id: '2', pk: 'p', a: 1, b: 2 }), 409, 0, '/a');
  refused(await box.create({ id: '2', pk: 'p', a: 2, b: 1 }), 409, 0, '/b');
  ok(await box.create({ id: '2', pk: 'p', a: 2, b: 2 }), 201);
});

test('values of different types are different', async () => {
  const box = await server.box({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/v'] }] } });
  const values = [null, true, false, 0, 1, '1', '', 'true', [1], ['1'], { a: 1 }, { b: 1 }, {}, []];
  for (const [index, v] of values.entries())
    ok(await box.create({ id: `${index}`, pk: 'p', v }), 201);
  for (const v of values) refused(await box.create({ id: 'again', pk: 'p', v }), 409, 0);
});

test('long values are compared whole', async () => {
  const box = await server.box({ uniqueKeyPolicy: EMAIL });
  const long = 'x'.repeat(5000);
  ok(await box.create({ id: '1', pk: 'p', email: `${long}1` }), 201);
  ok(await box.create({ id: '2', pk: 'p', email: `${long}2` }), 201);
  refused(await box.create({ id: '3', pk: 'p', email: `${long}1` }), 409, 0);
});

for (const purged of [false, true]) {
  const when = purged ? 'after its purge' : 'before its purge';
  test(`T11: an expired item does not hold a unique value or an id, ${when}`, async () => {
    const box = await server.box({ uniqueKeyPolicy: EMAIL, defaultTtl: 60 });
    ok(await box.create({ id: '1', pk: 'p', email: 'a@x' }), 201);
    ok(await box.create({ id: '2', pk: 'p', email: 'b@x', ttl: -1 }), 201);
    refused(await box.create({ id: '3', pk: 'p', email: 'a@x' }), 409, 0);
    server.clock.advance(60_000);
    if (purged) await server.mayfly.purge();
    ok(await box.create({ id: '3', pk: 'p', email: 'a@x' }), 201);
    ok(await box.create({ id: '1', pk: 'p', email: 'c@x' }), 201);
    refused(await box.create({ id: '4', pk: 'p', email: 'a@x' }), 409, 0);
    refused(await box.replace({ id: '1', pk: 'p', email: 'b@x' }), 409, 0);
    await server.mayfly.purge();
    refused(await box.create({ id: '4', pk: 'p', email: 'a@x' }), 409, 0);
  });
}

test('T11: an item that is replaced may take over what an expired one held', async () => {
  const box = await server.box({ uniqueKeyPolicy: EMAIL, defaultTtl: -1 });
  ok(await box.create({ id: '1', pk: 'p', email: 'a@x', ttl: 5 }), 201);
  ok(await box.create({ id: '2', pk: 'p', email: 'b@x' }), 201);
  server.clock.advance(5000);
  ok(await box.replace({ id: '2', pk: 'p', email: 'a@x' }), 200);
  await server.mayfly.purge();
  refused(await box.create({ id: '3', pk: 'p', email: 'a@x' }), 409, 0);
  ok(await box.create({ id: '3', pk: 'p', email: 'b@x' }), 201);
});

/** An item of exactly this many bytes. */
function bodyOf(bytes: number): string {
  const frame = '{"id":"big","pk":"p","filler":""}';
  return `${frame.slice(0, -2)}${'x'.repeat(bytes - frame.length)}"}`;
}
