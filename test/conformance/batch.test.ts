// Transactional batches and bulk, through the SDK: all or none, a result for each operation, and
// time to live inside.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type {
  Container,
  JSONObject,
  OperationInput,
  OperationResponse,
  PatchOperation,
} from '@azure/cosmos';
import {
  type Box,
  type Json,
  keyHeader,
  NOON,
  NOON_SECONDS,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const READ_ONLY_KEY = Buffer.alloc(64, 7).toString('base64');
const server = await serve({ readOnlyKey: READ_ONLY_KEY });
const sdk = server.client();
const OTHER = '"00000000-0000-0000-0000-000000000000"';
let box: Box;
let container: Container;

beforeEach(async () => {
  server.clock.set(NOON);
  await use(await server.box({ defaultTtl: -1 }));
});

async function use(next: Box): Promise<void> {
  box = next;
  container = sdk.database(box.database).container('c');
}

const create = (id: string, more: JSONObject = {}): OperationInput => ({
  operationType: 'Create',
  resourceBody: { id, pk: 'p', ...more },
});
const upsert = (id: string, more: JSONObject = {}): OperationInput => ({
  operationType: 'Upsert',
  resourceBody: { id, pk: 'p', ...more },
});
const replace = (id: string, more: JSONObject = {}, ifMatch?: string): OperationInput => ({
  operationType: 'Replace',
  id,
  resourceBody: { id, pk: 'p', ...more },
  ...(ifMatch === undefined ? {} : { ifMatch }),
});
const patch = (id: string, op: PatchOperation, condition?: string): OperationInput => ({
  operationType: 'Patch',
  id,
  resourceBody: { operations: [op], ...(condition === undefined ? {} : { condition }) },
});
const incr = (value: number): PatchOperation => ({ op: 'incr', path: '/n', value });
const read = (id: string): OperationInput => ({ operationType: 'Read', id });
const remove = (id: string): OperationInput => ({ operationType: 'Delete', id });

async function batch(operations: readonly OperationInput[]) {
  const { code, result, headers } = await container.items.batch([...operations], 'p');
  assert.ok(result);
  return { code, result, headers, codes: codesOf(result) };
}

const codesOf = (result: readonly OperationResponse[]) => result.map((each) => each.statusCode);

/** As other clients send it, for what the SDK would not let out. */
function send(body: unknown, headers: Readonly<Record<string, string>> = {}, key?: string) {
  const batchHeaders = {
    ...keyHeader('p'),
    'x-ms-cosmos-is-batch-request': 'True',
    'x-ms-cosmos-batch-atomic': 'True',
    'x-ms-cosmos-batch-ordered': 'True',
    ...headers,
  };
  const options = { body, headers: batchHeaders, ...(key === undefined ? {} : { key }) };
  return server.send('POST', `${box.path}/docs`, options);
}

const BULK = {
  'x-ms-cosmos-batch-atomic': 'False',
  'x-ms-cosmos-batch-continue-on-error': 'True',
  'x-ms-documentdb-partitionkey': '',
};

const resultsOf = (reply: Reply) => JSON.parse(reply.text) as readonly Json[];

test('a batch of every kind: codes, etags, bodies, one charge, one position', async () => {
  ok(await box.create({ id: 'old', pk: 'p' }), 201);
  ok(await box.create({ id: 'gone', pk: 'p' }), 201);
  const { code, result, headers, codes } = await batch([
    create('new', { n: 1 }),
    upsert('up'),
    upsert('old', { n: 2 }),
    replace('new', { n: 3 }),
    read('new'),
    remove('gone'),
  ]);
  assert.equal(code, 200);
  assert.deepEqual(codes, [201, 201, 200, 200, 200, 204]);
  assert.equal(result[4]?.resourceBody?.n, 3, 'a read sees what was written before it');
  assert.equal(result[4]?.eTag, result[3]?.eTag);
  assert.equal(result[0]?.resourceBody?._etag, result[0]?.eTag);
  assert.equal(result[0]?.resourceBody?._ts, NOON_SECONDS);
  assert.equal(result[5]?.resourceBody, undefined);
  const sum = result.reduce((total, each) => total + each.requestCharge, 0);
  assert.equal(Number(headers?.['x-ms-request-charge']).toFixed(2), sum.toFixed(2));
  const stored = ok(await box.read('new'), 200);
  assert.equal(stored.headers.etag, result[3]?.eTag);
  assert.equal(stored.headers['x-ms-item-lsn'], headers?.lsn);
  assert.deepEqual([...(await box.ids())].sort(), ['new', 'old', 'up']);
});

const FAILURES: readonly (readonly [string, number, OperationInput])[] = [
  ['a create of what is there', 409, create('old')],
  ['a replace of what is not', 404, replace('none')],
  ['a read of what is not', 404, read('none')],
  ['a delete of what is not', 404, remove('none')],
  ['a replace with another etag', 412, replace('old', {}, OTHER)],
  ['an upsert with another etag', 412, { ...upsert('old'), ifMatch: OTHER } as OperationInput],
  ['a delete with another etag', 412, { ...remove('old'), ifMatch: OTHER } as OperationInput],
  ['T21: a ttl of 0', 400, create('x', { ttl: 0 })],
  ['T21: a ttl of null', 400, upsert('x', { ttl: null })],
  ['T21: a ttl of -10', 400, replace('old', { ttl: -10 })],
  ['a body of another id', 400, { ...replace('old'), id: 'other' } as OperationInput],
  ['a body of another partition', 400, create('x', { pk: 'q' })],
  ['an operation that is none', 400, { operationType: 'Truncate' } as unknown as OperationInput],
  ['an operation without an id', 400, { operationType: 'Read' } as OperationInput],
  ['a patch of what is not', 404, patch('none', incr(1))],
  ['a patch whose condition fails', 412, patch('old', incr(1), 'from c where c.n = 1')],
  ['a patch of nothing there', 400, patch('old', { op: 'remove', path: '/none' })],
  ['a patch of the id', 400, patch('old', { op: 'set', path: '/id', value: 'x' })],
  ['T21: a patch to a ttl of 0', 400, patch('old', { op: 'set', path: '/ttl', value: 0 })],
  ['a misspelt condition', 400, { ...remove('old'), ...{ ifmatch: OTHER } }],
];

for (const [what, status, operation] of FAILURES) {
  test(`a batch with ${what}: ${status}, 424 for the others, nothing is written`, async () => {
    ok(await box.create({ id: 'old', pk: 'p' }), 201);
    ok(await box.create({ id: 'kept', pk: 'p' }), 201);
    const before = ok(await box.list(), 200).text;
    const changes = [create('a'), replace('kept', { n: 9 }), operation, remove('kept')];
    const { code, codes, result } = await batch(changes);
    assert.equal(code, 207);
    assert.deepEqual(codes, [424, 424, status, 424]);
    assert.equal(result[0]?.requestCharge, 0);
    assert.equal(typeof (result[2] as unknown as Json).message, 'string');
    assert.equal(ok(await box.list(), 200).text, before);
    assert.equal(await box.stored(), 2);
  });
}

test('of two operations that fail, the first one is the one that is told', async () => {
  ok(await box.create({ id: 'old', pk: 'p' }), 201);
  assert.deepEqual((await batch([create('old'), create('x', { ttl: 0 })])).codes, [409, 424]);
  assert.deepEqual((await batch([create('x', { ttl: 0 }), create('old')])).codes, [400, 424]);
  assert.deepEqual((await batch([create('x'), create('x')])).codes, [424, 409]);
});

test('a refused batch leaves serials and the change order as they were', async () => {
  const first = ok(await box.create({ id: '1', pk: 'p' }), 201);
  await batch([create('2'), create('3'), create('1')]);
  const next = ok(await box.create({ id: '2', pk: 'p' }), 201);
  assert.equal(Number(next.headers.lsn), Number(first.headers.lsn) + 1);
});

test('If-Match with the current etag is let through, per operation', async () => {
  const etag = String(ok(await box.create({ id: '1', pk: 'p' }), 201).headers.etag);
  assert.deepEqual((await batch([replace('1', { n: 1 }, etag)])).codes, [200]);
  const chained = await batch([replace('1', { n: 2 }, etag), create('2')]);
  assert.deepEqual(chained.codes, [412, 424]);
  assert.equal(ok(await box.read('1'), 200).json.n, 1);
});

test('patches inside a batch and bulk see what was written before them', async () => {
  const { codes, result } = await batch([
    create('1', { n: 1 }),
    patch('1', incr(2), 'from c where c.n = 1'),
    patch('1', incr(3)),
  ]);
  assert.deepEqual(codes, [201, 200, 200]);
  assert.equal(result[2]?.resourceBody?.n, 6);
  assert.equal(ok(await box.read('1'), 200).headers.etag, result[2]?.eTag);
  const bulk = await container.items.bulk(
    [
      create('2'),
      patch('1', { op: 'remove', path: '/none' }),
      patch('1', incr(4)),
      create('3'),
    ].map((each) => inPartition('p', each)),
  );
  assert.deepEqual(codesOf(bulk), [201, 400, 200, 201]);
  assert.equal(bulk[2]?.resourceBody?.n, 10);
  assert.equal(await box.stored(), 3);
});

test('a unique key holds inside a batch, too', async () => {
  await use(await server.box({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/u'] }] } }));
  assert.deepEqual((await batch([create('1', { u: 1 }), create('2', { u: 1 })])).codes, [424, 409]);
  assert.equal(await box.stored(), 0);
  assert.deepEqual((await batch([create('1', { u: 1 }), create('2', { u: 2 })])).codes, [201, 201]);
});

test('T10: in a batch an expired item is 404 for all but its successor', async () => {
  const etag = String(ok(await box.create({ id: '1', pk: 'p', ttl: 5 }), 201).headers.etag);
  const due = NOON_SECONDS * 1000 + 5000;
  server.clock.set((due - 1) as typeof NOON);
  assert.deepEqual((await batch([read('1')])).codes, [200]);
  server.clock.set(due as typeof NOON);
  const late = [read('1'), remove('1'), replace('1'), replace('1', {}, etag), patch('1', incr(1))];
  for (const operation of late) {
    const { code, codes } = await batch([create('2'), operation]);
    assert.equal(code, 207);
    assert.deepEqual(codes, [424, 404]);
  }
  const again = await batch([create('1', { ttl: 7 }), read('1')]);
  assert.deepEqual(again.codes, [201, 200]);
  assert.equal(again.result[1]?.resourceBody?._ts, due / 1000);
});

test('T11: an expired holder of a unique key does not block a batch', async () => {
  const uniqueKeyPolicy = { uniqueKeys: [{ paths: ['/u'] }] };
  await use(await server.box({ defaultTtl: 5, uniqueKeyPolicy }));
  ok(await box.create({ id: '1', pk: 'p', u: 1 }), 201);
  assert.deepEqual((await batch([create('2', { u: 1 })])).codes, [409]);
  server.clock.set((NOON_SECONDS * 1000 + 5000) as typeof NOON);
  assert.deepEqual((await batch([create('2', { u: 1 })])).codes, [201]);
});

test('T4: a batch restarts the countdown of what it writes, not of what it reads', async () => {
  await use(await server.box({ defaultTtl: 10 }));
  assert.deepEqual((await batch([create('w'), create('r')])).codes, [201, 201]);
  server.clock.set((NOON_SECONDS * 1000 + 8000) as typeof NOON);
  assert.deepEqual((await batch([replace('w'), read('r')])).codes, [200, 200]);
  server.clock.set((NOON_SECONDS * 1000 + 10_000) as typeof NOON);
  assert.deepEqual(await box.ids(), ['w']);
});

test('of clients that race with the same etag or id exactly one wins', async () => {
  const etag = String(ok(await box.create({ id: '1', pk: 'p', n: -1 }), 201).headers.etag);
  const other = server.client().database(box.database).container('c');
  const race = (operationsOf: (n: number) => OperationInput[]) =>
    Promise.all(
      [container, other, container, other].map(async (each, n) =>
        codesOf((await each.items.batch(operationsOf(n), 'p')).result ?? []),
      ),
    );
  const replaced = await race((n) => [create(`r${n}`), replace('1', { n }, etag)]);
  assert.equal(replaced.filter((codes) => codes.join() === '201,200').length, 1);
  assert.equal(replaced.filter((codes) => codes.join() === '424,412').length, 3);
  const winner = replaced.findIndex((codes) => codes[0] === 201);
  assert.equal(ok(await box.read('1'), 200).json.n, winner);
  const created = await race((n) => [create(`c${n}`), create('same')]);
  assert.equal(created.filter((codes) => codes.join() === '201,201').length, 1);
  assert.equal(await box.stored(), 1 + 1 + 2);
});

test('100 operations are taken, 101 and none are refused', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => create(String(n)));
  refused(await send(many(101)), 400, 0, 'more operations than what is supported');
  refused(await send([]), 400, 0, 'at least one operation');
  assert.equal(await box.stored(), 0);
  assert.equal((await batch(many(100))).code, 200);
  assert.equal(await box.stored(), 100);
});

test('a body of more than 2 MB is 413; an answer of more than 4 MB is, too', async () => {
  const text = 'x'.repeat(1_500_000);
  refused(await send([create('1', { text }), create('2', { text })]), 413, 0);
  for (const id of ['1', '2', '3']) ok(await box.create({ id, pk: 'p', text }), 201);
  assert.deepEqual((await batch([read('1'), read('2')])).codes, [200, 200]);
  const { codes, result } = await batch([create('4'), read('1'), read('2'), read('3')]);
  assert.deepEqual(codes, [424, 424, 424, 413]);
  assert.equal((result[3] as unknown as Json).subStatusCode, 3402);
  ok(await box.read('4'), 404);
  const patched = await batch([patch('1', incr(1)), patch('1', incr(1)), patch('1', incr(1))]);
  assert.deepEqual(patched.codes, [424, 424, 413]);
  assert.equal(ok(await box.read('1'), 200).json.n, undefined);
});

const MALFORMED: readonly (readonly [string, unknown, Readonly<Record<string, string>>, string])[] =
  [
    ['no array', { operationType: 'Read' }, {}, 'JSON array'],
    ['no JSON', '[{', {}, 'payload is invalid'],
    ['no object in it', [1], {}, 'must be a JSON object'],
    ['HybridRow', Buffer.from([0x81, 0, 0, 0]), {}, 'HybridRow'],
    ['no partition key', [read('1')], { 'x-ms-documentdb-partitionkey': '' }, 'PartitionKey'],
    ['no flag', [read('1')], { 'x-ms-cosmos-batch-atomic': 'maybe' }, 'true or false'],
    ['no order', [read('1')], { 'x-ms-cosmos-batch-ordered': 'maybe' }, 'true or false'],
    ['both', [read('1')], { 'x-ms-cosmos-batch-continue-on-error': 'true' }, 'atomic batch'],
  ];

for (const [what, body, headers, text] of MALFORMED) {
  test(`a request that is no batch as a whole (${what}) is 400`, async () => {
    refused(await send(body, headers), 400, 0, text);
  });
}

test('a range that is not there is 410, a container that is not there 404', async () => {
  const range = { 'x-ms-documentdb-partitionkeyrangeid': '99' };
  refused(await send([create('1')], { ...BULK, ...range }), 410, 1002);
  ok(await server.send('DELETE', box.path), 204);
  refused(await send([create('1')]), 404, 1003);
});

test('a read-only key may not batch', async () => {
  refused(await send([create('1')], {}, READ_ONLY_KEY), 403, 0);
  assert.equal(await box.stored(), 0);
});

test('numbers and the order of properties are stored as they were sent', async () => {
  const item = '{"pk":"p","z":1.0,"id":"1","a":12345678901234567890, "b":[1,{"c":"]}"}]}';
  const text = `[ {"resourceBody":{"id":"0"},"operationType":"Create" , "resourceBody": ${item}} ]`;
  ok(await send(text), 200);
  const stored = ok(await box.read('1'), 200).text;
  const compact = '{"pk":"p","z":1.0,"id":"1","a":12345678901234567890,"b":[1,{"c":"]}"}],"_rid"';
  assert.ok(stored.startsWith(compact), stored);
});

test('an item in a batch may be nested as deep as one alone', async () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const body = (levels: number) =>
    `[{"operationType":"Create","resourceBody":{"id":"1","pk":"p","a":${nested(levels)}}}]`;
  assert.deepEqual(resultsOf(ok(await send(body(128)), 207))[0]?.statusCode, 400);
  ok(await send(body(127)), 200);
});

test('without content in answers, writes have none and reads have', async () => {
  const options = { contentResponseOnWriteEnabled: false };
  const { result } = await container.items.batch([create('1'), read('1')], 'p', options);
  assert.equal(result?.[0]?.resourceBody, undefined);
  assert.equal(typeof result?.[0]?.eTag, 'string');
  assert.equal(result?.[1]?.resourceBody?.id, '1');
});

const inPartition = (pk: string, operation: OperationInput) =>
  ({
    ...operation,
    partitionKey: pk,
    ...('resourceBody' in operation && operation.operationType !== 'Patch'
      ? { resourceBody: { ...(operation.resourceBody as JSONObject), pk } }
      : {}),
  }) as OperationInput;

test('bulk over partitions and ranges: each operation has its own result', async () => {
  await use(await server.box({}, { 'x-ms-offer-throughput': '30000' }));
  const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
  const created = await container.items.bulk(keys.map((pk) => inPartition(pk, create('1'))));
  assert.deepEqual(new Set(codesOf(created)), new Set([201]));
  const mixed = await container.items.bulk([
    inPartition('k0', create('1')),
    inPartition('k1', read('1')),
    inPartition('k2', remove('1')),
    inPartition('k3', replace('none')),
    inPartition('k4', upsert('1', { n: 4 })),
    inPartition('new', create('2')),
  ]);
  assert.deepEqual(codesOf(mixed), [409, 200, 204, 404, 200, 201]);
  assert.equal(mixed[1]?.resourceBody?.pk, 'k1');
  assert.equal(mixed[4]?.resourceBody?._etag, mixed[4]?.eTag);
  assert.equal(await box.stored(), 20);
});

test('executeBulkOperations: results and errors of single operations', async () => {
  ok(await box.create({ id: 'old', pk: 'a' }), 201);
  const results = await container.items.executeBulkOperations([
    inPartition('a', create('old')),
    inPartition('b', create('new', { ttl: 60 })),
    inPartition('c', create('bad', { ttl: 0 })),
  ]);
  assert.deepEqual(
    results.map(({ response, error }) => response?.statusCode ?? error?.code),
    [409, 201, 400],
  );
  assert.deepEqual([...(await box.ids())].sort(), ['new', 'old']);
});

test('bulk without going on: what follows the first error is 424 and not written', async () => {
  const operations = [create('1'), create('1'), create('2'), remove('1')];
  const stopped = await container.items.bulk(
    operations.map((each) => inPartition('p', each)),
    { continueOnError: false },
  );
  assert.deepEqual(codesOf(stopped), [201, 409, 424, 424]);
  assert.deepEqual(await box.ids(), ['1']);
});

test('bulk takes the key of the request where an operation has none, and misses it', async () => {
  const reply = await send([create('1')], { ...BULK, ...keyHeader('p') });
  assert.equal(resultsOf(ok(reply, 200))[0]?.statusCode, 201);
  const [missing] = resultsOf(ok(await send([create('2')], BULK), 207));
  assert.equal(missing?.statusCode, 400);
  assert.match(String(missing?.message), /PartitionKey value must be supplied/);
});

test('a token from the future stops a batch that reads before it writes', async () => {
  const token = { 'x-ms-session-token': '0:-1#999999' };
  refused(await send([create('1'), read('1')], token), 404, 1002);
  assert.equal(await box.stored(), 0);
});

test('a container with a system key takes batches and bulk without a key', async () => {
  const partitionKey = { paths: ['/_partitionKey'], kind: 'Hash', systemKey: true };
  await use(await server.box({ partitionKey }));
  const operations: readonly Json[] = [
    { operationType: 'Create', resourceBody: { id: '1' } },
    { operationType: 'Read', id: '1' },
  ];
  ok(await send(operations, { 'x-ms-documentdb-partitionkey': '[]' }), 200);
  const bulk = ['[]', '[{}]'].map((key) => ({ ...operations[1], partitionKey: key }));
  const results = resultsOf(ok(await send(bulk, BULK), 200));
  assert.deepEqual(
    results.map(({ statusCode }) => statusCode),
    [200, 200],
  );
});
