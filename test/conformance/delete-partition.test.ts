// Deleting all items of a partition key, through the SDK.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PartitionKey } from '@azure/cosmos';
import { type Box, keyHeader, NOON, NOON_SECONDS, ok, serve } from './support.suite.js';

const READ_ONLY_KEY = Buffer.alloc(64, 7).toString('base64');
const server = await serve({ readOnlyKey: READ_ONLY_KEY });
const sdk = server.client();

function deleteAll(box: Box, key: PartitionKey, client = sdk) {
  return client.database(box.database).container('c').deleteAllItemsForPartitionKey(key);
}

async function fill(box: Box, count: number): Promise<void> {
  for (let n = 0; n < count; n += 100) {
    const body = Array.from({ length: Math.min(100, count - n) }, (_, each) => ({
      operationType: 'Create',
      resourceBody: { id: String(n + each), pk: 'p' },
    }));
    const headers = {
      ...keyHeader('p'),
      'x-ms-cosmos-is-batch-request': 'true',
      'x-ms-cosmos-batch-atomic': 'true',
    };
    ok(await server.send('POST', `${box.path}/docs`, { body, headers }), 200);
  }
}

test('all items of the key are gone, over several commits, and no others', async () => {
  const box = await server.box();
  await fill(box, 250);
  ok(await box.create({ id: 'other', pk: 'q' }), 201);
  const { statusCode, headers } = await deleteAll(box, 'p');
  assert.equal(statusCode, 200);
  assert.deepEqual(await box.ids(), ['other']);
  assert.equal(await box.stored(), 1);
  const next = ok(await box.create({ id: '0', pk: 'p' }), 201);
  assert.equal(Number(next.headers.lsn), Number(headers.lsn) + 1);
});

test('what is written after it began stays', async () => {
  const box = await server.box();
  await fill(box, 3000);
  const deleted = deleteAll(box, 'p');
  while ((await box.read('0')).status !== 404);
  // Mostly it is still there; where it is deleted already, it is created anew.
  const late = await box.upsert({ id: '2999', pk: 'p' });
  assert.ok(late.status === 200 || late.status === 201, late.text);
  await deleted;
  assert.deepEqual(await box.ids(), ['2999']);
});

test('a key without items is 200, too; a missing one is no other', async () => {
  const box = await server.box();
  ok(await box.create({ id: '1' }), 201);
  ok(await box.create({ id: '1', pk: null }), 201);
  assert.equal((await deleteAll(box, 'p')).statusCode, 200);
  assert.equal((await deleteAll(box, null)).statusCode, 200);
  assert.equal(await box.stored(), 1);
  ok(await box.read('1', undefined, keyHeader(undefined)), 200);
});

test('T10: what has expired is left to the purge', async () => {
  const box = await server.box({ defaultTtl: 5 });
  await fill(box, 1);
  server.clock.set((NOON_SECONDS * 1000 + 5000) as typeof NOON);
  ok(await box.create({ id: 'live', pk: 'p' }), 201);
  await deleteAll(box, 'p');
  assert.equal(await box.stored(), 1);
  server.clock.set(NOON);
});

test('a hierarchical key must be whole', async () => {
  const partitionKey = { paths: ['/a', '/b'], kind: 'MultiHash', version: 2 };
  const box = await server.box({ partitionKey });
  ok(await box.create({ id: '1', a: 'x', b: 'y' }, keyHeader('x', 'y')), 201);
  await assert.rejects(deleteAll(box, ['x']), { code: 400 });
  assert.equal(await box.stored(), 1);
  await deleteAll(box, ['x', 'y']);
  assert.equal(await box.stored(), 0);
});

test('a read-only key may not, and a container must be there', async () => {
  const box = await server.box();
  await fill(box, 1);
  const reader = server.client({ key: READ_ONLY_KEY });
  await assert.rejects(deleteAll(box, 'p', reader), { code: 403 });
  assert.equal(await box.stored(), 1);
  ok(await server.send('DELETE', box.path), 204);
  await assert.rejects(deleteAll(box, 'p'), { code: 404 });
});
