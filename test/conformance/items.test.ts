// Items: the statuses, headers and bodies of every operation, over the wire and with the SDK.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Container } from '@azure/cosmos';
import {
  type Box,
  documents,
  type Headers,
  headerOf,
  type Json,
  keyHeader,
  NOON,
  NOON_SECONDS,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
let box: Box;

beforeEach(async () => {
  server.clock.set(NOON);
  box = await server.box();
});

test('create answers 201, and 409 while the item is there', async () => {
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  refused(await box.create({ id: '1', pk: 'p' }), 409, 0, 'already exists');
  ok(await box.create({ id: '1', pk: 'q' }), 201);
});

test('a body in binary JSON is read, with all its digits, and answered as text', async () => {
  // {"id":"1","pk":"p","n":9007199254740993}
  const hex = '80 ed 13 03 2c 8131 82706b 8170 816e cb0100000000002000';
  const headers = {
    ...keyHeader('p'),
    'x-ms-cosmos-supported-serialization-formats': 'CosmosBinary',
  };
  const body = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const reply = ok(await server.send('POST', `${box.path}/docs`, { body, headers }), 201);
  assert.match(reply.text, /^\{"id":"1","pk":"p","n":9007199254740993,"_rid"/);
  assert.equal(ok(await box.read('1'), 200).text, reply.text);
  const cut = body.subarray(0, -1);
  refused(
    await server.send('POST', `${box.path}/docs`, { body: cut, headers }),
    400,
    0,
    'binary JSON',
  );
});

test('read answers 200, and 404 where nothing is', async () => {
  const created = ok(await box.create({ id: '1', pk: 'p', n: 1 }), 201);
  assert.equal(ok(await box.read('1'), 200).text, created.text);
  refused(await box.read('2'), 404, 0, 'Resource Not Found');
  refused(await box.read('1', 'q'), 404, 0);
});

test('replace answers 200, and 404 where nothing is', async () => {
  refused(await box.replace({ id: '1', pk: 'p' }), 404, 0);
  const created = ok(await box.create({ id: '1', pk: 'p', n: 1 }), 201).json;
  server.clock.advance(2000);
  const replaced = ok(await box.replace({ id: '1', pk: 'p', m: 2 }), 200).json;
  assert.equal(replaced.n, undefined);
  assert.equal(replaced.m, 2);
  assert.equal(replaced._rid, created._rid);
  assert.notEqual(replaced._etag, created._etag);
  assert.equal(replaced._ts, Number(created._ts) + 2);
  assert.deepEqual(ok(await box.read('1'), 200).json, replaced);
});

test('upsert answers 201 for a new item and 200 for one that is there', async () => {
  const created = ok(await box.upsert({ id: '1', pk: 'p', n: 1 }), 201).json;
  const replaced = ok(await box.upsert({ id: '1', pk: 'p', m: 2 }), 200).json;
  assert.equal(replaced._rid, created._rid);
  assert.equal(replaced.n, undefined);
  assert.deepEqual(ok(await box.read('1'), 200).json, replaced);
});

test('flags are read in every spelling', async () => {
  for (const [index, value] of ['true', 'True', 'TRUE'].entries()) {
    const item = { id: `flag${index}`, pk: 'p' };
    ok(await box.create(item), 201);
    ok(await box.create(item, { 'x-ms-documentdb-is-upsert': value }), 200);
    refused(await box.create(item, { 'x-ms-documentdb-is-upsert': 'False' }), 409, 0);
  }
});

test('delete answers 204 without a body, and 404 where nothing is', async () => {
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  assert.equal(ok(await box.remove('1'), 204).text, '');
  refused(await box.remove('1'), 404, 0);
  refused(await box.read('1'), 404, 0);
  refused(await box.replace({ id: '1', pk: 'p' }), 404, 0);
});

test('an item created again has another _rid and another etag', async () => {
  const first = ok(await box.create({ id: '1', pk: 'p' }), 201).json;
  ok(await box.remove('1'), 204);
  const second = ok(await box.create({ id: '1', pk: 'p' }), 201).json;
  assert.notEqual(second._rid, first._rid);
  assert.notEqual(second._etag, first._etag);
});

test('every operation has the headers that the clients need', async () => {
  const { _rid: rid } = ok(await server.send('GET', box.path), 200).json;
  const item = { id: '1', pk: 'p' };
  const replies: readonly (readonly [string, Reply])[] = [
    ['create', ok(await box.create(item), 201)],
    ['read', ok(await box.read('1'), 200)],
    ['replace', ok(await box.replace(item), 200)],
    ['upsert', ok(await box.upsert(item), 200)],
    ['patch', ok(await box.patch('1', [{ op: 'set', path: '/n', value: 1 }]), 200)],
    ['list', ok(await box.list(), 200)],
    ['delete', ok(await box.remove('1'), 204)],
  ];
  for (const [what, { headers, json }] of replies) {
    assert.match(String(headers['x-ms-request-charge']), /^\d+(\.\d{1,2})?$/, what);
    assert.ok(Number(headers['x-ms-request-charge']) > 0, what);
    assert.match(String(headers['x-ms-activity-id']), /^[0-9a-f-]{36}$/, what);
    assert.match(String(headers['x-ms-session-token']), /^0:-?\d+#\d+(#\d+=\d+)*$/, what);
    assert.equal(headers['x-ms-content-path'], rid, what);
    assert.equal(Buffer.from(String(rid), 'base64').length, 8);
    assert.equal(headers['x-ms-alt-content-path'], `dbs/${box.database}/colls/c`, what);
    if (what !== 'delete') assert.equal(headers['content-type'], 'application/json', what);
    if (what !== 'delete' && what !== 'list') assert.equal(headers.etag, json._etag, what);
  }
});

test('a write moves the LSN on, a read does not, and the token shows it', async () => {
  const lsnOf = (reply: Reply) => {
    const lsn = Number(headerOf(reply, 'lsn'));
    assert.ok(Number.isInteger(lsn));
    const token = String(headerOf(reply, 'x-ms-session-token'));
    assert.equal(Number(token.split('#')[1]), lsn);
    return lsn;
  };
  const first = lsnOf(ok(await box.create({ id: '1', pk: 'p' }), 201));
  const second = lsnOf(ok(await box.create({ id: '2', pk: 'p' }), 201));
  assert.ok(second > first);
  assert.equal(lsnOf(ok(await box.read('1'), 200)), second);
  assert.equal(lsnOf(ok(await box.read('2'), 200)), second);
  assert.equal(lsnOf(ok(await box.list(), 200)), second);
  const third = lsnOf(ok(await box.replace({ id: '1', pk: 'p' }), 200));
  assert.ok(third > second);
  assert.ok(lsnOf(ok(await box.remove('2'), 204)) > third);
});

test('system properties are appended, and the body of the client comes first', async () => {
  const { text, json, headers } = ok(await box.create({ id: '1', pk: 'p', b: 1, a: 2 }), 201);
  assert.ok(text.startsWith('{"id":"1","pk":"p","b":1,"a":2,"'));
  const { _rid: rid, _self: self, _etag: etag, ...rest } = json;
  assert.deepEqual(rest, {
    id: '1',
    pk: 'p',
    b: 1,
    a: 2,
    _attachments: 'attachments/',
    _ts: NOON_SECONDS,
  });
  assert.equal(headers.etag, etag);
  assert.match(String(etag), /^"[0-9a-f]{8}-0000-[0-9a-f]{4}-0000-[0-9a-f]{12}"$/);
  const container = ok(await server.send('GET', box.path), 200).json;
  assert.equal(self, `${String(container._self)}docs/${String(rid)}/`);
  const bytes = Buffer.from(String(rid).replaceAll('-', '/'), 'base64');
  const parent = Buffer.from(String(container._rid).replaceAll('-', '/'), 'base64');
  assert.equal(bytes.length, 16);
  assert.deepEqual(bytes.subarray(0, 8), parent);
  assert.equal((bytes[15] ?? 0) >> 4, 0);
});

test('rids of items grow, little-endian', async () => {
  const numbers: bigint[] = [];
  for (const id of ['a', 'b', 'c']) {
    const { _rid: rid } = ok(await box.create({ id, pk: id }), 201).json;
    const bytes = Buffer.from(String(rid).replaceAll('-', '/'), 'base64');
    numbers.push(bytes.readBigUInt64LE(8));
  }
  assert.deepEqual(
    numbers,
    [...numbers].sort((a, b) => (a < b ? -1 : 1)),
  );
  assert.equal(new Set(numbers).size, 3);
});

test('the order of properties and the digits of numbers are kept', async () => {
  const body =
    '{"zeta":1.0,"id":"1","10":[1e3,1E-7,-0,12345678901234567890,0.10],"pk":"p","2":{"b":1,"a":2},"text":"\\u00e9\\/x"}';
  const created = ok(await box.create(body, keyHeader('p')), 201).text;
  assert.ok(created.startsWith(body.slice(0, -1)), created);
  assert.equal(ok(await box.read('1'), 200).text, created);
  assert.ok((await box.list()).text.includes(created));
});

test('blanks between the parts of a body change nothing', async () => {
  const body = '\n{ "id" : "1",\t"pk": "p", "text": " a  b ",\r\n "list": [ 1 , 2 ] }\n';
  const { json } = ok(await box.create(body, keyHeader('p')), 201);
  assert.equal(json.text, ' a  b ');
  assert.deepEqual(json.list, [1, 2]);
});

test('system properties in a body are overwritten, once each', async () => {
  const forged = {
    _rid: 'forged',
    _self: 'forged',
    id: '1',
    _etag: '"forged"',
    _attachments: 'forged',
    pk: 'p',
    _ts: 1,
  };
  const writes = [() => box.create(forged), () => box.upsert(forged), () => box.replace(forged)];
  for (const write of writes) {
    const { text, json } = await write();
    for (const name of ['_rid', '_self', '_etag', '_attachments', '_ts']) {
      assert.equal(text.split(`"${name}":`).length, 2, name);
    }
    assert.ok(!text.includes('forged'));
    assert.notEqual(json._ts, 1);
  }
});

test('an item that was read can be sent back as it is', async () => {
  const created = ok(await box.create({ id: '1', pk: 'p', deep: { a: [1] } }), 201).json;
  const { _etag: old, _ts: oldTs, ...rest } = created;
  const { _etag: fresh, _ts: freshTs, ...same } = ok(await box.replace(created), 200).json;
  assert.deepEqual(same, rest);
  assert.notEqual(fresh, old);
  assert.equal(freshTs, oldTs);
});

test('properties that only look like system properties stay', async () => {
  const item = { id: '1', pk: 'p', _own: 1, ts: 2, a: { _ts: 3, _etag: 'mine' } };
  const { json } = ok(await box.create(item), 201);
  assert.deepEqual([json._own, json.ts, json.a], [1, 2, { _ts: 3, _etag: 'mine' }]);
});

test('Prefer: return=minimal leaves the body out and keeps status and headers', async () => {
  const minimal = { prefer: 'return=minimal' };
  const item = { id: '1', pk: 'p' };
  for (const [write, status] of [
    [() => box.create(item, minimal), 201],
    [() => box.replace(item, minimal), 200],
    [() => box.upsert(item, minimal), 200],
  ] as const) {
    const { text, headers } = ok(await write(), status);
    assert.equal(text, '');
    assert.match(String(headers.etag), /^".+"$/);
    assert.ok(headers['x-ms-session-token']);
    const read = ok(await box.read('1'), 200);
    assert.equal(read.headers.etag, headers.etag);
  }
  assert.ok(ok(await box.read('1', 'p', minimal), 200).text !== '');
});

const BODIES_REFUSED: readonly (readonly [string, unknown, string])[] = [
  ['no JSON', '{"id":"1"', 'payload is invalid'],
  ['an array', '[{"id":"1"}]', 'payload is invalid'],
  ['a string', '"1"', 'payload is invalid'],
  ['null', 'null', 'payload is invalid'],
  ['nothing', '', 'payload is invalid'],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'payload is invalid'],
  ['no id', { pk: 'p' }, "required properties - 'id; '"],
  ['a number as id', { id: 1, pk: 'p' }, 'id'],
  ['null as id', { id: null, pk: 'p' }, 'id'],
];

for (const [what, body, text] of BODIES_REFUSED) {
  test(`a body with ${what} is refused, and nothing is written`, async () => {
    refused(await box.create(body, keyHeader('p')), 400, 0, text);
    refused(await box.upsert(body, keyHeader('p')), 400, 0, text);
    assert.deepEqual(documents(await box.list()), []);
  });
}

test('a replacement cannot change the id', async () => {
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  const options = { body: { id: '2', pk: 'p' }, headers: keyHeader('p') };
  refused(await server.send('PUT', `${box.path}/docs/1`, options), 400, 0);
  refused(await box.read('2'), 404, 0);
});

test('a container that was deleted and created again is noticed by its rid', async () => {
  const { _rid: rid } = ok(await server.send('GET', box.path), 200).json;
  const intended = { 'x-ms-cosmos-intended-collection-rid': String(rid) };
  ok(await box.create({ id: '1', pk: 'p' }, intended), 201);
  ok(await box.read('1', 'p', intended), 200);
  ok(await box.list(intended), 200);
  ok(await server.send('DELETE', box.path), 204);
  const colls = `/dbs/${box.database}/colls`;
  ok(await server.send('POST', colls, { body: box.definition }), 201);
  refused(await box.create({ id: '1', pk: 'p' }, intended), 400, 1024);
  refused(await box.read('1', 'p', intended), 400, 1024);
  refused(await box.list(intended), 400, 1024);
});

test('hints that change nothing here are accepted', async () => {
  const hints: readonly Headers[] = [
    { 'x-ms-indexing-directive': 'Include' },
    { 'x-ms-indexing-directive': 'default' },
    { 'x-ms-cosmos-allow-tentative-writes': 'true' },
    { 'x-ms-cosmos-priority-level': 'Low' },
    { 'x-ms-cosmos-throughput-bucket': '2' },
    { 'x-ms-dedicatedgateway-max-age': '1000' },
    { 'x-ms-cosmos-is-client-encrypted': 'true' },
    { 'x-ms-cosmos-sdk-supportedcapabilities': '1' },
    { 'x-ms-documentdb-responsecontinuationtokenlimitinkb': '1' },
  ];
  const item = { id: '1', pk: 'p' };
  ok(await box.create(item), 201);
  for (const hint of hints) {
    ok(await box.upsert(item, hint), 200);
    ok(await box.read('1', 'p', hint), 200);
    ok(await box.list(hint), 200);
  }
  refused(await box.upsert(item, { 'x-ms-indexing-directive': 'maybe' }), 400, 0, 'maybe');
});

test('wrong verbs are refused', async () => {
  refused(await server.send('PUT', `${box.path}/docs`, { body: {} }), 405, 0);
  refused(await server.send('DELETE', `${box.path}/docs`), 405, 0);
});

test('SDK: create, read, replace, upsert and delete', async () => {
  const container = containerOf(box);
  const created = await container.items.create({ id: '1', pk: 'p', n: 1 });
  assert.equal(created.statusCode, 201);
  assert.equal(created.etag, created.resource?._etag);
  assert.ok(created.requestCharge > 0);
  const item = container.item('1', 'p');
  const read = await item.read<Json>();
  assert.equal(read.statusCode, 200);
  assert.deepEqual(read.resource, created.resource);
  const replaced = await item.replace({ id: '1', pk: 'p', n: 2 });
  assert.equal(replaced.statusCode, 200);
  assert.equal((await container.items.upsert({ id: '1', pk: 'p', n: 3 })).statusCode, 200);
  assert.equal((await container.items.upsert({ id: '2', pk: 'p' })).statusCode, 201);
  await assert.rejects(container.items.create({ id: '1', pk: 'p' }), { code: 409 });
  assert.equal((await item.delete()).statusCode, 204);
  const missing = await item.read();
  assert.equal(missing.statusCode, 404);
  assert.equal(missing.resource, undefined);
  await assert.rejects(item.replace({ id: '1', pk: 'p' }), { code: 404 });
  await assert.rejects(item.delete(), { code: 404 });
});

test('SDK: an id is made by the client where none is given', async () => {
  const { resource } = await containerOf(box).items.create({ pk: 'p' });
  assert.match(String(resource?.id), /^[0-9a-f-]{36}$/);
});

test('SDK: readAll and the change of an item between two clients', async () => {
  const container = containerOf(box);
  for (let n = 0; n < 5; n++) await container.items.create({ id: `i${n}`, pk: `p${n}` });
  const { resources } = await container.items.readAll<Json>({ maxItemCount: 2 }).fetchAll();
  assert.deepEqual(
    resources.map(({ id }) => id),
    ['i0', 'i1', 'i2', 'i3', 'i4'],
  );
  const other = server.client().database(box.database).container('c');
  await other.item('i0', 'p0').replace({ id: 'i0', pk: 'p0', seen: true });
  assert.equal((await container.item('i0', 'p0').read<Json>()).resource?.seen, true);
});

function containerOf({ database }: Box): Container {
  return client.database(database).container('c');
}
