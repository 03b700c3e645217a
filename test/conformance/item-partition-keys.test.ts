// The partition-key header in all its forms, against what is in the item.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  documents,
  type Headers,
  type Json,
  keyHeader,
  ok,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const single = await server.box();
const multi = await server.box({
  partitionKey: { paths: ['/t', '/u', '/s'], kind: 'MultiHash', version: 2 },
});
const NAME = 'x-ms-documentdb-partitionkey';

const VALUES: readonly (readonly [string, Json, unknown])[] = [
  ['a string', { pk: 'a' }, 'a'],
  ['an empty string', { pk: '' }, ''],
  ['a string that looks like a number', { pk: '1' }, '1'],
  ['a string outside ASCII', { pk: 'é北🦋' }, 'é北🦋'],
  ['a string with control characters', { pk: 'a\n"\\' }, 'a\n"\\'],
  ['a number', { pk: 1 }, 1],
  ['zero', { pk: 0 }, 0],
  ['a negative number', { pk: -1.5 }, -1.5],
  ['a large number', { pk: 1e300 }, 1e300],
  ['true', { pk: true }, true],
  ['false', { pk: false }, false],
  ['null', { pk: null }, null],
  ['a missing property', {}, undefined],
];

for (const [what, item, value] of VALUES) {
  test(`${what} is a partition of its own`, async () => {
    const key = keyHeader(value);
    const id = 'same id everywhere';
    ok(await single.create({ id, what, ...item }, key), 201);
    const options = { headers: key };
    const path = `${single.path}/docs/${encodeURIComponent(id)}`;
    assert.equal(ok(await server.send('GET', path, options), 200).json.what, what);
    const listed = documents(await single.list(key));
    assert.deepEqual(
      listed.map((each) => each.what),
      [what],
    );
    const body = { id, what, ...item, n: 2 };
    ok(await server.send('PUT', path, { ...options, body }), 200);
    for (const [other, , different] of VALUES) {
      if (other === what) continue;
      const wrong = await single.create({ id: 'other', ...item }, keyHeader(different));
      refused(wrong, 400, 1001, "doesn't match the one specified in the header");
    }
  });
}

test('numbers are one key however they are written', async () => {
  const item = { id: 'number', pk: 100 };
  ok(await single.create(item, { [NAME]: '[1e2]' }), 201);
  ok(await single.read('number', 100), 200);
  const headers = { [NAME]: '[100.0]' };
  ok(await server.send('GET', `${single.path}/docs/number`, { headers }), 200);
  ok(await single.create({ id: 'zero', pk: 0 }, { [NAME]: '[-0.0]' }), 201);
  ok(await single.read('zero', 0), 200);
});

test('the header may be escaped or plain JSON with blanks', async () => {
  const headers = { [NAME]: ' [ "\\u0065" ] ' };
  ok(await single.create({ id: 'spelled', pk: 'e' }, headers), 201);
  ok(await single.read('spelled', 'e'), 200);
});

const WRONG: readonly (readonly [string, string, string])[] = [
  ['no JSON', 'a', "Cannot deserialize PartitionKey value 'a'"],
  ['no array', '"a"', 'Cannot deserialize PartitionKey value'],
  ['an object', '{}', 'Cannot deserialize PartitionKey value'],
  ['an object inside', '[{"a":1}]', 'Unsupported PartitionKey value component'],
  ['an array inside', '[["a"]]', 'Unsupported PartitionKey value component'],
  ['two components', '["p","q"]', 'PartitionKey has more components'],
  ['no component', '[]', 'PartitionKey has fewer components'],
];

for (const [what, text, message] of WRONG) {
  test(`a header with ${what} is refused by every operation`, async () => {
    const headers = { [NAME]: text };
    const item = { id: '1', pk: 'p' };
    refused(await single.create(item, headers), 400, 0, message);
    refused(await single.upsert(item, headers), 400, 0, message);
    refused(await single.replace(item, headers), 400, 0, message);
    refused(await single.read('1', 'p', headers), 400, 0, message);
    refused(await single.remove('1', 'p', headers), 400, 0, message);
  });
}

test('without the header no operation on one item is possible', async () => {
  const path = `${single.path}/docs`;
  const body = { id: '1', pk: 'p' };
  const message = 'PartitionKey value must be supplied for this operation.';
  refused(await server.send('POST', path, { body }), 400, 0, message);
  refused(await server.send('GET', `${path}/1`), 400, 0, message);
  refused(await server.send('PUT', `${path}/1`, { body }), 400, 0, message);
  refused(await server.send('DELETE', `${path}/1`), 400, 0, message);
  ok(await server.send('GET', path), 200);
});

const UNSUPPORTED: readonly unknown[] = [{}, { a: 1 }, [], ['p']];

for (const pk of UNSUPPORTED) {
  test(`an item cannot have the key ${JSON.stringify(pk)}`, async () => {
    for (const header of [keyHeader('p'), keyHeader(undefined)]) {
      const reply = await single.create({ id: 'unsupported', pk }, header);
      assert.equal(reply.status, 400, reply.text);
    }
  });
}

test('a replacement or an upsert cannot move an item to another partition', async () => {
  ok(await single.create({ id: 'moving', pk: 'from' }), 201);
  const item = { id: 'moving', pk: 'to' };
  refused(await single.replace(item, keyHeader('from')), 400, 1001);
  refused(await single.upsert(item, keyHeader('from')), 400, 1001);
  refused(await single.replace(item), 404, 0);
  assert.equal(ok(await single.read('moving', 'from'), 200).json.pk, 'from');
});

test('a key has up to 2048 bytes, and 101 with version 1', async () => {
  const old = await server.box({ partitionKey: { paths: ['/pk'], kind: 'Hash', version: 1 } });
  for (const [box, limit] of [
    [single, 2048],
    [old, 101],
  ] as const) {
    ok(await box.create({ id: 'long', pk: 'k'.repeat(limit) }), 201);
    ok(await box.read('long', 'k'.repeat(limit)), 200);
    refused(await box.create({ id: 'long', pk: 'k'.repeat(limit + 1) }), 400, 0, String(limit));
    refused(await box.create({ id: 'long', pk: 'é'.repeat(limit / 2 + 1) }), 400, 0);
  }
});

const FULL = keyHeader('t1', 'u1', 's1');

test('a hierarchical key needs all its levels for one item', async () => {
  const item = { id: '1', t: 't1', u: 'u1', s: 's1' };
  ok(await multi.create(item, FULL), 201);
  const read = (headers: Headers) => server.send('GET', `${multi.path}/docs/1`, { headers });
  ok(await read(FULL), 200);
  for (const prefix of [keyHeader('t1'), keyHeader('t1', 'u1')]) {
    refused(await multi.create(item, prefix), 400, 0, 'PartitionKey has fewer components');
    refused(await read(prefix), 400, 0, 'PartitionKey has fewer components');
  }
  const long = keyHeader('t1', 'u1', 's1', 'x');
  refused(await multi.create(item, long), 400, 0, 'PartitionKey has more components');
  refused(await multi.create(item, keyHeader('t1', 'u1', 'other')), 400, 1001);
  refused(await read(keyHeader('t1', 'u1', 'other')), 404, 0);
});

test('missing levels are written as {}, each in its place', async () => {
  const items: readonly (readonly [Json, Headers])[] = [
    [{ id: 'none' }, keyHeader(undefined, undefined, undefined)],
    [{ id: 'first', t: 'x' }, keyHeader('x', undefined, undefined)],
    [{ id: 'outer', t: 'x', s: 'z' }, keyHeader('x', undefined, 'z')],
    [{ id: 'null', t: 'x', u: null, s: 'z' }, keyHeader('x', null, 'z')],
  ];
  for (const [item, headers] of items) {
    ok(await multi.create(item, headers), 201);
    const path = `${multi.path}/docs/${String(item.id)}`;
    assert.equal(ok(await server.send('GET', path, { headers }), 200).json.id, item.id);
  }
  const wrong = keyHeader('x', 'z', undefined);
  refused(await multi.create({ id: 'shifted', t: 'x', s: 'z' }, wrong), 400, 1001);
});

test('lists take a prefix of a hierarchical key', async () => {
  const box = await server.box({
    partitionKey: { paths: ['/t', '/u', '/s'], kind: 'MultiHash', version: 2 },
  });
  for (const [t, u, s] of [
    ['a', 'b', 'c'],
    ['a', 'b', 'd'],
    ['a', 'x', 'c'],
    ['ab', 'b', 'c'],
    ['b', 'b', 'c'],
  ] as const) {
    ok(await box.create({ id: `${t}${u}${s}`, t, u, s }, keyHeader(t, u, s)), 201);
  }
  const ids = async (...components: readonly string[]) =>
    [...(await box.ids(keyHeader(...components)))].sort();
  assert.deepEqual(await ids('a'), ['abc', 'abd', 'axc']);
  assert.deepEqual(await ids('a', 'b'), ['abc', 'abd']);
  assert.deepEqual(await ids('a', 'b', 'd'), ['abd']);
  assert.deepEqual(await ids('ab'), ['abbc']);
  assert.deepEqual(await ids('z'), []);
  const long = keyHeader('a', 'b', 'c', 'd');
  refused(await box.list(long), 400, 0, 'PartitionKey has more components');
});

test('SDK: every kind of value, extracted from the item and found again', async () => {
  const { database } = await server.box();
  const container = server.client().database(database).container('c');
  const values = ['text', '', 7, 0, true, false, null, 'é北🦋'];
  for (const [index, pk] of values.entries()) {
    const created = await container.items.create({ id: `i${index}`, pk });
    assert.equal(created.statusCode, 201);
    const { resource } = await container.item(`i${index}`, pk).read<Json>();
    assert.equal(resource?.pk, pk);
  }
  await container.items.create({ id: 'missing' });
  const { resource } = await container.item('missing', undefined).read<Json>();
  assert.equal(resource?.id, 'missing');
});

test('SDK: a key that is not in the item is an error with its sub-status', async () => {
  const { database } = await server.box();
  const container = server.client().database(database).container('c');
  await container.items.create({ id: '1', pk: 'p' });
  const moving = container.item('1', 'p').replace({ id: '1', pk: 'q' });
  await assert.rejects(moving, { code: 400, substatus: 1001 });
});
