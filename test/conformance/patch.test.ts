// Patches through the SDK: every operation, conditions, races, limits, and time to live.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { ItemDefinition, PatchOperation, PatchRequestBody } from '@azure/cosmos';
import {
  type Box,
  headerOf,
  type Json,
  keyHeader,
  NOON,
  NOON_SECONDS,
  ok,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
const ITEM = { id: '1', pk: 'p', n: 1, tags: ['a', 'b'], deep: { x: 1, list: [{ y: 1 }] } };
const BYTES_MAX = 2 * 1024 * 1024;
const SYSTEM = ['_rid', '_self', '_etag', '_attachments', '_ts'];
let box: Box;

beforeEach(async () => {
  server.clock.set(NOON);
  box = await server.box();
});

const sdkItem = (from = client) => from.database(box.database).container('c').item('1', 'p');

const DONE: readonly (readonly [PatchOperation[], Json])[] = [
  [[{ op: 'add', path: '/color', value: 'red' }], { color: 'red' }],
  [[{ op: 'add', path: '/n', value: { m: null } }], { n: { m: null } }],
  [[{ op: 'add', path: '/tags/1', value: 'x' }], { tags: ['a', 'x', 'b'] }],
  [[{ op: 'add', path: '/tags/2', value: 'x' }], { tags: ['a', 'b', 'x'] }],
  [[{ op: 'add', path: '/tags/-', value: 'x' }], { tags: ['a', 'b', 'x'] }],
  [[{ op: 'set', path: '/tags/1', value: 'x' }], { tags: ['a', 'x'] }],
  [[{ op: 'set', path: '/tags/2', value: 'x' }], { tags: ['a', 'b', 'x'] }],
  [[{ op: 'set', path: '/deep/list/0/z', value: 2 }], { deep: { x: 1, list: [{ y: 1, z: 2 }] } }],
  [[{ op: 'replace', path: '/deep/x', value: [] }], { deep: { x: [], list: [{ y: 1 }] } }],
  [[{ op: 'replace', path: '/tags/0', value: 'x' }], { tags: ['x', 'b'] }],
  [[{ op: 'remove', path: '/n' }], { n: undefined }],
  [[{ op: 'remove', path: '/tags/0' }], { tags: ['b'] }],
  [[{ op: 'incr', path: '/n', value: -0.5 }], { n: 0.5 }],
  [[{ op: 'incr', path: '/visits', value: 3 }], { visits: 3 }],
  [[{ op: 'set', path: '/a~1b~0c', value: 1 }], { 'a/b~c': 1 }],
  [[{ op: 'set', path: '/pk', value: 'p' }], {}],
  [
    [
      { op: 'add', path: '/a', value: {} },
      { op: 'incr', path: '/a/n', value: 1 },
      { op: 'incr', path: '/a/n', value: 1 },
      { op: 'remove', path: '/deep' },
    ],
    { a: { n: 2 }, deep: undefined },
  ],
];

for (const [operations, changes] of DONE) {
  test(`${JSON.stringify(operations)} gives ${JSON.stringify(changes)}`, async () => {
    const created = ok(await box.create(ITEM), 201);
    server.clock.advance(5000);
    const { resource, statusCode, etag } = await sdkItem().patch<ItemDefinition>(operations);
    assert.equal(statusCode, 200);
    assert.deepEqual(plain(resource), expected(changes));
    assert.equal(resource?._ts, NOON_SECONDS + 5, 'T4: a patch is a write');
    assert.notEqual(etag, created.json._etag);
    assert.equal(etag, resource?._etag);
    assert.equal(resource?._rid, created.json._rid);
    assert.deepEqual(ok(await box.read('1'), 200).json, resource);
  });
}

test('move takes a value from one place to another', async () => {
  const rows: readonly (readonly [string, string, Json])[] = [
    ['/n', '/m', { n: undefined, m: 1 }],
    ['/n', '/deep/x', { n: undefined, deep: { x: 1, list: [{ y: 1 }] } }],
    ['/n', '/tags/1', { n: undefined, tags: ['a', 1, 'b'] }],
    ['/tags/0', '/tags/1', { tags: ['b', 'a'] }],
    ['/deep/list', '/deep', { deep: [{ y: 1 }] }],
  ];
  for (const [from, path, changes] of rows) {
    ok(await box.create(ITEM), 201);
    const { json } = ok(await box.patch('1', [{ op: 'move', from, path }]), 200);
    ok(await box.remove('1'), 204);
    assert.deepEqual(plain(json), expected(changes), `${from} to ${path}`);
  }
});

test('what a patch does not touch keeps its digits and the order of its properties', async () => {
  const text = '{"id":"1","z":1.0,"10":1E+2,"2":12345678901234567890,"pk":"p","a":{"y":2.50}}';
  ok(await box.create(text, keyHeader('p')), 201);
  const patch = '[ {"op":"set","path":"/a/x","value": [ 3.0 ]} ]';
  const patched = ok(await box.patch('1', patch), 200);
  const whole = `${text.slice(0, -2)},"x":[3.0]},"_rid"`;
  assert.ok(patched.text.startsWith(whole), patched.text);
  assert.equal((await box.read('1')).text, patched.text);
});

test('all operations or none: a failing one leaves the item as it was', async () => {
  const created = ok(await box.create(ITEM), 201);
  const operations: PatchOperation[] = [
    { op: 'set', path: '/n', value: 2 },
    { op: 'remove', path: '/nothing' },
  ];
  await rejects(operations, 400, 'For Operation(2): Remove Operation');
  assert.deepEqual(ok(await box.read('1'), 200).json, created.json);
});

test('ten operations are taken, eleven are not', async () => {
  ok(await box.create(ITEM), 201);
  const many = (length: number): PatchOperation[] =>
    Array.from({ length }, () => ({ op: 'incr', path: '/n', value: 1 }));
  assert.equal((await sdkItem().patch<ItemDefinition>(many(10))).resource?.n, 11);
  await rejects(many(11), 400, "can't exceed '10'");
});

const CONDITIONS: readonly (readonly [string, boolean])[] = [
  ['from c where c.n = 1', true],
  ['FROM x WHERE x.n >= 1 AND x.deep.x = 1', true],
  ['from c', true],
  ["from c where ARRAY_CONTAINS(c.tags, 'b')", true],
  ["from c where exists(select value t from t in c.tags where t = 'a')", true],
  ["from c join t in c.tags where t = 'b'", true],
  [`from c where c._ts = ${NOON_SECONDS}`, true],
  ['from c where c.n = 2', false],
  ['from c where c.nothing = 1', false],
  ['from c where c.n', false],
  ["from c join t in c.tags where t = 'z'", false],
];

for (const [condition, holds] of CONDITIONS) {
  test(`the condition '${condition}' ${holds ? 'lets through' : 'is 412'}`, async () => {
    ok(await box.create(ITEM), 201);
    const patch: PatchRequestBody = {
      condition,
      operations: [{ op: 'incr', path: '/n', value: 1 }],
    };
    if (holds) await sdkItem().patch(patch);
    else await rejects(patch, 412, 'precondition is not met');
    assert.equal(ok(await box.read('1'), 200).json.n, holds ? 2 : 1);
  });
}

test('a condition is about the item before the patch', async () => {
  ok(await box.create(ITEM), 201);
  const patch = {
    condition: 'from c where c.n < 3',
    operations: [{ op: 'incr', path: '/n', value: 1 }],
  };
  for (const status of [200, 200, 412, 412]) ok(await box.patch('1', patch), status);
  assert.equal(ok(await box.read('1'), 200).json.n, 3);
});

test('patches of one item at the same time all act', async () => {
  ok(await box.create(ITEM), 201);
  const other = server.client();
  const patches = Array.from({ length: 40 }, (_, index) =>
    sdkItem(index % 2 === 0 ? client : other).patch([
      { op: 'incr', path: '/n', value: 1 },
      { op: 'add', path: '/tags/-', value: index },
    ]),
  );
  await Promise.all(patches);
  const { json } = ok(await box.read('1'), 200);
  assert.equal(json.n, 41);
  assert.equal(new Set(json.tags as unknown[]).size, 42);
});

test('of two patches with the same etag one acts and the other is 412', async () => {
  const { _etag: condition } = ok(await box.create(ITEM), 201).json;
  const accessCondition = { type: 'IfMatch', condition: String(condition) };
  const codes = await Promise.all(
    [client, server.client()].map((each) =>
      sdkItem(each)
        .patch([{ op: 'incr', path: '/n', value: 1 }], { accessCondition })
        .then(({ statusCode }) => statusCode)
        .catch((error: { code: number }) => error.code),
    ),
  );
  assert.deepEqual(codes.sort(), [200, 412]);
  assert.equal(ok(await box.read('1'), 200).json.n, 2);
});

test('content types make no difference, and Prefer: return=minimal leaves the body out', async () => {
  ok(await box.create(ITEM), 201);
  const types = ['application/json-patch+json', 'application/json_patch+json', 'application/json'];
  for (const type of types) {
    const patch = [{ op: 'incr', path: '/n', value: 1 }];
    const minimal = { 'content-type': type, prefer: 'return=minimal' };
    const reply = ok(await box.patch('1', patch, 'p', minimal), 200);
    assert.equal(reply.text, '');
    assert.equal(headerOf(reply, 'etag'), (await box.read('1')).json._etag);
  }
  assert.equal(ok(await box.read('1'), 200).json.n, 4);
});

test('unique keys hold for patches', async () => {
  box = await server.box({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/email'] }] } });
  ok(await box.create({ ...ITEM, email: 'a@x' }), 201);
  ok(await box.create({ id: '2', pk: 'p', email: 'b@x' }), 201);
  await rejects([{ op: 'set', path: '/email', value: 'b@x' }], 409, 'Unique index constraint');
  await sdkItem().patch([{ op: 'set', path: '/email', value: 'c@x' }]);
  ok(await box.create({ id: '3', pk: 'p', email: 'a@x' }), 201);
});

test('queries find what a patch wrote, and no more what it overwrote', async () => {
  ok(await box.create(ITEM), 201);
  await sdkItem().patch([{ op: 'set', path: '/n', value: 7 }]);
  const { items } = client.database(box.database).container('c');
  for (const [n, count] of [
    [1, 0],
    [7, 1],
  ] as const) {
    const found = await items.query(`SELECT * FROM c WHERE c.n = ${n}`).fetchAll();
    assert.equal(found.resources.length, count);
  }
});

test('a hierarchical and a missing partition key cannot be changed, all else can', async () => {
  const paths = ['/tenant', '/user/id'];
  box = await server.box({ partitionKey: { paths, kind: 'MultiHash', version: 2 } });
  ok(await box.create({ id: '1', tenant: 't' }, keyHeader('t', undefined)), 201);
  const patch = (operation: Json) =>
    box.patch('1', [operation], 'ignored', keyHeader('t', undefined));
  ok(await patch({ op: 'set', path: '/user', value: { name: 'u' } }), 200);
  const why = "Cannot change the partition key '/tenant, /user/id'";
  refused(await patch({ op: 'set', path: '/user/id', value: 1 }), 400, 0, why);
  refused(await patch({ op: 'set', path: '/user', value: { id: null } }), 400, 0, why);
  refused(await patch({ op: 'move', from: '/tenant', path: '/t' }), 400, 0, why);
  refused(await patch({ op: 'set', path: '/tenant', value: ['t'] }), 400, 0, why);
});

test('a patched item may be as large and as deep as a written one, and no more', async () => {
  ok(await box.create(ITEM), 201);
  const half = 'x'.repeat(BYTES_MAX / 2);
  ok(await box.patch('1', [{ op: 'set', path: '/a', value: half }]), 200);
  const room = BYTES_MAX - JSON.stringify({ ...ITEM, a: half, b: '' }).length;
  const fill = (bytes: number) => [{ op: 'set', path: '/b', value: 'x'.repeat(bytes) }];
  const text = `too large: ${BYTES_MAX + 1} bytes, the maximum is ${BYTES_MAX} bytes`;
  refused(await box.patch('1', fill(room + 1)), 413, 0, text);
  ok(await box.patch('1', fill(room)), 200);
  ok(await box.patch('1', [{ op: 'remove', path: '/b' }]), 200);
  const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  ok(await box.patch('1', [{ op: 'set', path: '/c', value: nested(120) }]), 200);
  const deeper = [{ op: 'set', path: `/c${'/0'.repeat(119)}/-`, value: nested(10) }];
  refused(await box.patch('1', deeper), 400, 0, 'nested deeper');
});

test('an item is patched by its resource id, too', async () => {
  const { _self: self, _rid: rid } = ok(await box.create(ITEM), 201).json;
  const path = `/${String(self)}`.replace(/\/$/, '');
  const body = [{ op: 'incr', path: '/n', value: 1 }];
  const link = String(rid).toLowerCase();
  const reply = await server.send('PATCH', path, { body, headers: keyHeader('p'), link });
  assert.equal(ok(reply, 200).json.n, 2);
});

test('T4: every patch restarts the countdown', async () => {
  await box.redefine({ defaultTtl: 10 });
  ok(await box.create(ITEM), 201);
  for (let round = 0; round < 3; round++) {
    server.clock.advance(9000);
    await sdkItem().patch([{ op: 'incr', path: '/n', value: 1 }]);
  }
  server.clock.advance(9749);
  ok(await box.read('1'), 200);
  server.clock.advance(1);
  refused(await box.read('1'), 404, 0);
});

test('T1 T8: a patched ttl acts, and a removed one inherits again', async () => {
  await box.redefine({ defaultTtl: 10 });
  ok(await box.create(ITEM), 201);
  const lives: readonly (readonly [PatchOperation, number | undefined])[] = [
    [{ op: 'set', path: '/ttl', value: 3 }, 3],
    [{ op: 'incr', path: '/ttl', value: 2 }, 5],
    [{ op: 'replace', path: '/ttl', value: -1 }, undefined],
    [{ op: 'remove', path: '/ttl' }, 10],
  ];
  for (const [operation, seconds] of lives) {
    server.clock.set(NOON);
    await sdkItem().patch([operation]);
    const path = `${box.path.slice(1)}/docs/1/ttl?partitionKey=["p"]`;
    const { due } = ok(await server.control('GET', path), 200).json;
    const expectedDue =
      seconds === undefined ? null : new Date((NOON_SECONDS + seconds) * 1000).toISOString();
    assert.equal(due, expectedDue, JSON.stringify(operation));
  }
});

test('T21: a ttl that makes no sense is refused, however it came about', async () => {
  await box.redefine({ defaultTtl: -1 });
  const created = ok(await box.create({ ...ITEM, ttl: 5, zero: 0 }), 201);
  const rows: readonly (readonly [Json, string])[] = [
    ...[0, -2, 1.5, '60', null, 2_147_483_648, true].map(
      (value) => [{ op: 'set', path: '/ttl', value }, JSON.stringify(value)] as const,
    ),
    [{ op: 'incr', path: '/ttl', value: -5 }, '0'],
    [{ op: 'incr', path: '/ttl', value: 2_147_483_647 }, '2147483652'],
    [{ op: 'move', from: '/zero', path: '/ttl' }, '0'],
  ];
  for (const [operation, shown] of rows) {
    refused(await box.patch('1', [operation]), 400, 0, `The input ttl '${shown}' is invalid`);
  }
  assert.deepEqual(ok(await box.read('1'), 200).json, created.json);
});

test('T22: while TTL is off a patched ttl is data', async () => {
  ok(await box.create(ITEM), 201);
  const { json } = ok(await box.patch('1', [{ op: 'set', path: '/ttl', value: 'soon' }]), 200);
  assert.equal(json.ttl, 'soon');
});

test('T10: an expired item is 404, whatever the condition says, and is not revived', async () => {
  await box.redefine({ defaultTtl: 10 });
  ok(await box.create(ITEM), 201);
  server.clock.advance(9750);
  for (const condition of ['from c', 'from c where false']) {
    const patch: PatchRequestBody = {
      condition,
      operations: [{ op: 'set', path: '/ttl', value: -1 }],
    };
    await rejects(patch, 404, 'Resource Not Found');
  }
  refused(await box.read('1'), 404, 0);
});

/** The item with changes, where undefined takes a property away. */
function expected(changes: Json): Json {
  return JSON.parse(JSON.stringify({ ...ITEM, ...changes })) as Json;
}

function plain(item: Json | undefined): Json {
  return Object.fromEntries(Object.entries(item ?? {}).filter(([name]) => !SYSTEM.includes(name)));
}

async function rejects(patch: PatchRequestBody, code: number, text: string): Promise<void> {
  await assert.rejects(sdkItem().patch(patch), (error: { code: number; message: string }) => {
    assert.equal(error.code, code, error.message);
    assert.ok(error.message.includes(text), error.message);
    return true;
  });
}
