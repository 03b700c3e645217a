// Lists of items: pages, continuations, scopes and what expires between two pages.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import {
  type Box,
  documents,
  type Headers,
  headerOf,
  type Json,
  keyHeader,
  NOON,
  ok,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
let box: Box;

beforeEach(async () => {
  server.clock.set(NOON);
  box = await server.box({ defaultTtl: -1 });
});

test('the list of an empty container is one empty page', async () => {
  const { _rid: rid } = ok(await server.send('GET', box.path), 200).json;
  const { json, headers } = ok(await box.list(), 200);
  assert.deepEqual(json, { _rid: rid, Documents: [], _count: 0 });
  assert.equal(headers['x-ms-item-count'], '0');
  assert.equal(headers['x-ms-continuation'], undefined);
});

test('items come whole and in order of creation', async () => {
  const created = await fill(5);
  const reply = ok(await box.list(), 200);
  assert.deepEqual(documents(reply), created);
  assert.equal(reply.headers['x-ms-item-count'], '5');
});

for (const size of [1, 2, 3, 7, 10, 11]) {
  test(`pages of ${size} hold each of 10 items once`, async () => {
    const created = await fill(10);
    const pages = await box.pages({ 'x-ms-max-item-count': String(size) });
    assert.deepEqual(pages.flatMap(documents), created);
    for (const page of pages) {
      assert.ok(documents(page).length <= size);
      const token = headerOf(page, 'x-ms-continuation');
      if (token !== undefined) assert.match(token, /^[\x21-\x7e]+$/);
    }
    assert.ok(pages.length <= Math.ceil(10 / size) + 1);
  });
}

test('a page has 100 items unless another size is asked for', async () => {
  await fill(101);
  const [first, second] = await box.pages();
  assert.equal(documents(first ?? (await box.list())).length, 100);
  assert.equal(documents(second ?? (await box.list())).length, 1);
  const dynamic = await box.pages({ 'x-ms-max-item-count': '-1' });
  assert.equal(dynamic.flatMap(documents).length, 101);
});

test('a page ends before it is larger than 4 MB', async () => {
  const filler = 'x'.repeat(1_500_000);
  for (let n = 0; n < 4; n++) ok(await box.create({ id: `i${n}`, pk: 'p', filler }), 201);
  const pages = await box.pages();
  assert.equal(pages.flatMap(documents).length, 4);
  assert.ok(pages.length > 1);
  for (const { text } of pages) assert.ok(text.length < 6 * 1024 * 1024);
});

test('page sizes that are none are refused', async () => {
  for (const size of ['0', '-2', '1.5', 'ten', '1e3', '2147483648']) {
    const reply = await box.list({ 'x-ms-max-item-count': size });
    refused(reply, 400, 0, `The input PageSize ${size} is invalid`);
  }
});

test('junk and foreign tokens are refused', async () => {
  await fill(4);
  const size = { 'x-ms-max-item-count': '2' };
  const token = String(headerOf(ok(await box.list(size), 200), 'x-ms-continuation'));
  const other = await server.box();
  const wrong: readonly (readonly [Box, Headers])[] = [
    [box, { 'x-ms-continuation': 'junk' }],
    [box, { 'x-ms-continuation': `${token}A` }],
    [box, { 'x-ms-continuation': token.slice(0, -3) }],
    [box, { 'x-ms-continuation': '{"token":"+RID:~abc","range":{"min":"","max":"FF"}}' }],
    [box, { 'x-ms-continuation': token, ...keyHeader('p1') }],
    [other, { 'x-ms-continuation': token }],
  ];
  for (const [where, headers] of wrong) {
    refused(await where.list(headers), 400, 0, 'Invalid Continuation Token');
  }
  ok(await box.list({ 'x-ms-continuation': token }), 200);
});

test('a token can be used again, with another page size', async () => {
  const created = await fill(6);
  const first = ok(await box.list({ 'x-ms-max-item-count': '2' }), 200);
  const token = { 'x-ms-continuation': String(headerOf(first, 'x-ms-continuation')) };
  for (const size of ['1', '3', '100']) {
    const page = ok(await box.list({ ...token, 'x-ms-max-item-count': size }), 200);
    assert.deepEqual(documents(page), created.slice(2, 2 + Number(size)));
  }
});

test('between two pages items may go and come, and none is shown twice', async () => {
  const created = await fill(6);
  const first = ok(await box.list({ 'x-ms-max-item-count': '2' }), 200);
  ok(await box.remove('i1', 'p1'), 204);
  ok(await box.remove('i3', 'p3'), 204);
  const late = ok(await box.create({ id: 'late', pk: 'p' }), 201).json;
  const token = { 'x-ms-continuation': String(headerOf(first, 'x-ms-continuation')) };
  const rest = documents(ok(await box.list(token), 200));
  assert.deepEqual(
    rest.map(({ id }) => id),
    [created[2]?.id, created[4]?.id, created[5]?.id, late.id],
  );
});

test('a list is limited to a partition key', async () => {
  for (let n = 0; n < 9; n++) ok(await box.create({ id: `i${n}`, pk: `p${n % 3}` }), 201);
  const pages = await box.pages({ ...keyHeader('p1'), 'x-ms-max-item-count': '2' });
  const ids = pages.flatMap(documents).map(({ id }) => id);
  assert.deepEqual(ids, ['i1', 'i4', 'i7']);
  assert.deepEqual(await box.ids(keyHeader('p9')), []);
  assert.deepEqual(await box.ids(keyHeader(undefined)), []);
});

test('a list costs the same in one page as in many, within a tenth', async () => {
  await fill(60);
  const charge = async (size: string) => {
    const pages = await box.pages({ 'x-ms-max-item-count': size });
    return pages.reduce((sum, { headers }) => sum + Number(headers['x-ms-request-charge']), 0);
  };
  const [whole, paged] = [await charge('100'), await charge('6')];
  assert.ok(Math.abs(paged - whole) <= whole / 10, `${paged} against ${whole}`);
});

test('T13: each page is evaluated at its own time', async () => {
  for (let n = 0; n < 6; n++)
    ok(await box.create({ id: `i${n}`, pk: 'p', ttl: 10 * (n + 1) }), 201);
  const size = { 'x-ms-max-item-count': '2' };
  const first = ok(await box.list(size), 200);
  assert.deepEqual(idsOf(documents(first)), ['i0', 'i1']);
  server.clock.set(NOON);
  server.clock.advance(40_000 - 250);
  const token = { 'x-ms-continuation': String(headerOf(first, 'x-ms-continuation')) };
  assert.deepEqual(idsOf(documents(ok(await box.list(token), 200))), ['i4', 'i5']);
});

test('T10: a list over many expired items ends, and shows the living', async () => {
  for (let n = 0; n < 150; n++) ok(await box.create({ id: `i${n}`, pk: 'p', ttl: 1 }), 201);
  ok(await box.create({ id: 'alive', pk: 'p' }), 201);
  server.clock.advance(1000);
  for (const size of ['1', '10', '-1']) {
    const pages = await box.pages({ 'x-ms-max-item-count': size });
    assert.deepEqual(idsOf(pages.flatMap(documents)), ['alive']);
  }
});

test('SELECT * FROM c as a query is the same list', async () => {
  const created = await fill(5);
  const headers: Headers = {
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'true',
    'x-ms-documentdb-query-enablecrosspartition': 'true',
    'x-ms-max-item-count': '3',
  };
  const body = { query: 'SELECT * from c' };
  const send = (more: Headers) =>
    server.send('POST', `${box.path}/docs`, { body, headers: { ...headers, ...more } });
  const first = ok(await send({}), 200);
  assert.deepEqual(documents(first), created.slice(0, 3));
  assert.equal(first.headers['x-ms-item-count'], '3');
  const token = { 'x-ms-continuation': String(headerOf(first, 'x-ms-continuation')) };
  const second = ok(await send(token), 200);
  assert.deepEqual(documents(second), created.slice(3));
  assert.equal(headerOf(second, 'x-ms-continuation'), undefined);
  refused(await send({ 'x-ms-continuation': 'junk' }), 400, 0, 'Invalid Continuation Token');
});

test('an error to a query echoes the id that correlates its requests', async () => {
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const headers = {
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'true',
    'x-ms-cosmos-correlated-activityid': id,
    'x-ms-continuation': 'junk',
  };
  const body = { query: 'SELECT * FROM c' };
  const reply = await server.send('POST', `${box.path}/docs`, { body, headers });
  refused(reply, 400, 0);
  assert.equal(reply.headers['x-ms-cosmos-correlated-activityid'], id);
});

test('SDK: readAll drains pages of every size, and resumes in another client', async () => {
  const created = await fill(7);
  const container = client.database(box.database).container('c');
  for (const maxItemCount of [1, 3, 100]) {
    const { resources } = await container.items.readAll<Json>({ maxItemCount }).fetchAll();
    assert.deepEqual(resources, created);
  }
  const first = await container.items.readAll<Json>({ maxItemCount: 3 }).fetchNext();
  assert.deepEqual(first.resources, created.slice(0, 3));
  const { continuationToken } = first;
  const elsewhere = server.client().database(box.database).container('c');
  const rest = await elsewhere.items.readAll<Json>({ continuationToken }).fetchAll();
  assert.deepEqual(rest.resources, created.slice(3));
});

test('SDK: readAll of one partition', async () => {
  await fill(4);
  const container = client.database(box.database).container('c');
  const { resources } = await container.items.readAll<Json>({ partitionKey: 'p2' }).fetchAll();
  assert.deepEqual(idsOf(resources), ['i2']);
});

test('SDK: a junk continuation is an error with code 400', async () => {
  const container = client.database(box.database).container('c');
  const junk = container.items.readAll({ continuationToken: 'junk' }).fetchNext();
  await assert.rejects(junk, { code: 400 });
});

async function fill(count: number): Promise<readonly Json[]> {
  const created: Json[] = [];
  for (let n = 0; n < count; n++) {
    created.push(ok(await box.create({ id: `i${n}`, pk: `p${n}` }), 201).json);
  }
  return created;
}

function idsOf(items: readonly Json[]): readonly unknown[] {
  return items.map(({ id }) => id);
}
