// If-Match, If-None-Match, session tokens and consistency levels.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ConsistencyLevel } from '@azure/cosmos';
import {
  type Box,
  type Headers,
  headerOf,
  type Json,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const OTHER = '"00000000-0000-0000-0000-000000000000"';
const ITEM = { id: '1', pk: 'p', n: 1 };
const CHANGED = { id: '1', pk: 'p', n: 2 };
const INCREMENT = [{ op: 'incr', path: '/n', value: 1 }];
const ifMatch = (etag: string): Headers => ({ 'if-match': etag });
const ifNoneMatch = (etag: string): Headers => ({ 'if-none-match': etag });
let box: Box;

beforeEach(async () => {
  box = await server.box();
});

const WRITES: readonly (readonly [string, number, (headers: Headers) => Promise<Reply>])[] = [
  ['replace', 200, (headers) => box.replace(CHANGED, headers)],
  ['upsert', 200, (headers) => box.upsert(CHANGED, headers)],
  ['patch', 200, (headers) => box.patch('1', INCREMENT, 'p', headers)],
  ['delete', 204, (headers) => box.remove('1', 'p', headers)],
];

for (const [what, status, write] of WRITES) {
  test(`If-Match, ${what}: the current etag is let through`, async () => {
    ok(await write(ifMatch(await written())), status);
  });

  test(`If-Match, ${what}: * is let through`, async () => {
    await written();
    ok(await write(ifMatch('*')), status);
  });

  test(`If-Match, ${what}: another etag is 412, and nothing changes`, async () => {
    const etag = await written();
    const text = 'one of the specified precondition is not met';
    refused(await write(ifMatch(OTHER)), 412, 0, text);
    refused(await write(ifMatch(etag.slice(1, -1))), 412, 0, text);
    const read = ok(await box.read('1'), 200);
    assert.equal(read.json.n, 1);
    assert.equal(read.headers.etag, etag);
  });

  test(`If-Match, ${what}: the etag of an earlier version is 412`, async () => {
    const etag = await written();
    ok(await box.replace(ITEM), 200);
    refused(await write(ifMatch(etag)), 412, 0);
  });

  test(`If-Match, ${what}: without the header nothing is checked`, async () => {
    await written();
    ok(await write({}), status);
  });
}

test('If-Match on an item that is not there: 404 for replace, patch and delete, never 412', async () => {
  for (const etag of [OTHER, '*']) {
    refused(await box.replace(ITEM, ifMatch(etag)), 404, 0);
    refused(await box.patch('1', INCREMENT, 'p', ifMatch(etag)), 404, 0);
    refused(await box.remove('1', 'p', ifMatch(etag)), 404, 0);
  }
});

test('If-Match on an upsert is checked only if the item is there', async () => {
  ok(await box.upsert(ITEM, ifMatch(OTHER)), 201);
  refused(await box.upsert(ITEM, ifMatch(OTHER)), 412, 0);
});

test('If-None-Match on a read: 304 without a body for the current etag', async () => {
  const etag = await written();
  const current = ok(await box.read('1', 'p', ifNoneMatch(etag)), 304);
  assert.equal(current.text, '');
  assert.equal(current.headers.etag, etag);
  assert.ok(Number(current.headers['x-ms-request-charge']) > 0);
  assert.ok(current.headers['x-ms-session-token']);
  ok(await box.read('1', 'p', ifNoneMatch(OTHER)), 200);
  ok(await box.replace(CHANGED), 200);
  ok(await box.read('1', 'p', ifNoneMatch(etag)), 200);
});

test('If-None-Match decides alone, whatever If-Modified-Since says', async () => {
  const etag = await written();
  for (const date of ['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT']) {
    const since = { 'if-modified-since': date };
    ok(await box.read('1', 'p', { ...since, ...ifNoneMatch(OTHER) }), 200);
    ok(await box.read('1', 'p', { ...since, ...ifNoneMatch(etag) }), 304);
  }
});

test('If-Modified-Since alone: 304 unless written in a later second', async () => {
  await written();
  const read = (seconds: number) =>
    box.read('1', 'p', { 'if-modified-since': new Date(seconds * 1000).toUTCString() });
  const { _ts } = ok(await box.read('1'), 200).json as { _ts: number };
  ok(await read(_ts - 1), 200);
  for (const seconds of [_ts, _ts + 1]) {
    const { text, headers } = ok(await read(seconds), 304);
    assert.equal(text, '');
    assert.ok(headers.etag);
  }
  refused(await box.read('1', 'p', { 'if-modified-since': 'soon' }), 400, 0, "Value 'soon'");
  const since = { headers: { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' } };
  ok(await server.send('GET', box.path, since), 304);
  ok(await server.send('GET', `/dbs/${box.database}`, since), 304);
});

test('If-None-Match on a read of nothing is 404', async () => {
  refused(await box.read('1', 'p', ifNoneMatch(OTHER)), 404, 0);
});

test('If-None-Match: * on create and upsert: only if absent', async () => {
  ok(await box.create(ITEM, ifNoneMatch('*')), 201);
  refused(await box.create(ITEM, ifNoneMatch('*')), 412, 0);
  refused(await box.upsert(CHANGED, ifNoneMatch('*')), 412, 0);
  assert.equal(ok(await box.read('1'), 200).json.n, 1);
  ok(await box.upsert({ id: '2', pk: 'p' }, ifNoneMatch('*')), 201);
});

test('T10: with an expired item, If-None-Match: * finds it absent', async () => {
  const dying = await server.box({ defaultTtl: 1 });
  ok(await dying.create(ITEM), 201);
  server.clock.advance(1000);
  ok(await dying.create(ITEM, ifNoneMatch('*')), 201);
  server.clock.advance(1000);
  ok(await dying.upsert(ITEM, ifNoneMatch('*')), 201);
});

test('of many replacements with the same etag exactly one succeeds', async () => {
  const etag = await written();
  const tries = Array.from({ length: 20 }, (_, n) =>
    box.replace({ id: '1', pk: 'p', n }, ifMatch(etag)),
  );
  const statuses = (await Promise.all(tries)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 1);
  assert.equal(statuses.filter((status) => status === 412).length, 19);
});

test('of many creates of one item exactly one succeeds', async () => {
  const replies = await Promise.all(Array.from({ length: 20 }, () => box.create(ITEM)));
  const statuses = replies.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 201).length, 1);
  assert.equal(statuses.filter((status) => status === 409).length, 19);
});

test('a session token that was given out is good for reads and lists', async () => {
  const token = tokenOf(ok(await box.create(ITEM), 201));
  const session = { 'x-ms-session-token': token };
  ok(await box.read('1', 'p', session), 200);
  ok(await box.list(session), 200);
  refused(await box.read('2', 'p', session), 404, 0);
});

test('refusals carry the token of the moment they are about', async () => {
  const token = tokenOf(ok(await box.create(ITEM), 201));
  const stale = { 'if-match': OTHER };
  for (const refusal of [
    await box.read('missing'),
    await box.create(ITEM),
    await box.replace(CHANGED, stale),
    await box.replace({ ...ITEM, id: 'missing' }),
    await box.patch('missing', [{ op: 'set', path: '/n', value: 2 }]),
    await box.remove('missing'),
    await box.remove('1', 'p', stale),
  ]) {
    assert.ok([404, 409, 412].includes(refusal.status), refusal.text);
    assert.equal(tokenOf(refusal), token, refusal.text);
    assert.equal(headerOf(refusal, 'x-ms-alt-content-path'), box.path.slice(1));
    assert.ok(headerOf(refusal, 'x-ms-content-path'));
  }
});

for (const query of [
  'SELECT * FROM c',
  'SELECT TOP 0 * FROM c',
  'SELECT * FROM c WHERE false',
  'SELECT VALUE 1',
  'SELECT VALUE COUNT(1) FROM c',
  'SELECT VALUE MAX(c.none) FROM c',
  'SELECT VALUE MIN(c.n) FROM c WHERE c.n > 100',
  'SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n',
  'SELECT * FROM (SELECT c.n FROM c) s',
]) {
  test(`the token of ${query} is the one of the moment`, async () => {
    const token = tokenOf(ok(await box.create(ITEM), 201));
    const headers = { 'x-ms-documentdb-isquery': 'true', 'x-ms-session-token': token };
    const answer = await server.send('POST', `${box.path}/docs`, { body: { query }, headers });
    assert.equal(tokenOf(ok(answer, 200)), token);
  });
}

test('tokens are taken in every form of the grammar', async () => {
  const token = tokenOf(ok(await box.create(ITEM), 201));
  const lsn = token.split('#')[1];
  for (const form of [`0:${lsn}`, `0:-1#${lsn}`, `0:-1#${lsn}#3=7`, `0:-1#${lsn}#3=7#4=0`, '0:0']) {
    ok(await box.read('1', 'p', { 'x-ms-session-token': form }), 200);
  }
  ok(await box.read('1', 'p', { 'x-ms-session-token': `${token},1:-1#1` }), 200);
});

test('a token of the future is 404 with sub-status 1002', async () => {
  const token = tokenOf(ok(await box.create(ITEM), 201));
  const lsn = Number(token.split('#')[1]) + 1;
  const text = 'The read session is not available for the input session token.';
  for (const future of [`0:-1#${lsn}`, `0:${lsn}`, `0:-1#${lsn}#1=0`]) {
    const session = { 'x-ms-session-token': future };
    refused(await box.read('1', 'p', session), 404, 1002, text);
    refused(await box.list(session), 404, 1002, text);
  }
  ok(await box.replace(CHANGED), 200);
  ok(await box.read('1', 'p', { 'x-ms-session-token': `0:-1#${lsn}` }), 200);
});

test('a token of a range that the container does not have is fine', async () => {
  ok(await box.create(ITEM), 201);
  const session = { 'x-ms-session-token': '99:-1#1000000' };
  ok(await box.read('1', 'p', session), 200);
  ok(await box.list(session), 200);
});

const TOKENS_REFUSED = ['junk', '0', '0:', ':-1#1', '0:a#b', '0:-1#1#', '0:1:2', '0:-1#1;1:-1#1'];

for (const token of TOKENS_REFUSED) {
  test(`the session token '${token}' is refused`, async () => {
    ok(await box.create(ITEM), 201);
    const session = { 'x-ms-session-token': token };
    const text = `The session token provided '${token}' is invalid.`;
    refused(await box.read('1', 'p', session), 400, 0, text);
    refused(await box.list(session), 400, 0, text);
  });
}

test('consistency can be asked for as weak as one likes', async () => {
  ok(await box.create(ITEM), 201);
  for (const level of ['Session', 'ConsistentPrefix', 'Eventual', 'eventual', 'SESSION']) {
    ok(await box.read('1', 'p', { 'x-ms-consistency-level': level }), 200);
  }
});

test('stronger consistency than the account has is refused', async () => {
  ok(await box.create(ITEM), 201);
  for (const level of ['Strong', 'BoundedStaleness', 'Bounded']) {
    const reply = await box.read('1', 'p', { 'x-ms-consistency-level': level });
    refused(reply, 400, 0, `ConsistencyLevel ${level} specified in the request is invalid`);
  }
  const junk = await box.read('1', 'p', { 'x-ms-consistency-level': 'Perfect' });
  refused(junk, 400, 0, 'Perfect');
});

test('SDK: conditions of reads and writes', async () => {
  const container = server.client().database(box.database).container('c');
  const { resource } = await container.items.create(ITEM);
  const item = container.item('1', 'p');
  const etag = resource?._etag ?? '';
  const unchanged = { accessCondition: { type: 'IfNoneMatch', condition: etag } } as const;
  assert.equal((await item.read(unchanged)).statusCode, 304);
  const wrong = { accessCondition: { type: 'IfMatch', condition: OTHER } } as const;
  await assert.rejects(item.replace(CHANGED, wrong), { code: 412 });
  await assert.rejects(item.delete(wrong), { code: 412 });
  await assert.rejects(container.items.upsert(CHANGED, wrong), { code: 412 });
  const right = { accessCondition: { type: 'IfMatch', condition: etag } } as const;
  assert.equal((await item.replace(CHANGED, right)).statusCode, 200);
  assert.equal((await item.read(unchanged)).statusCode, 200);
});

test('SDK: a client of session consistency reads what it wrote, and sends its token', async () => {
  const client = server.client({ consistencyLevel: ConsistencyLevel.Session });
  const container = client.database(box.database).container('c');
  const created = await container.items.create(ITEM);
  const token = created.headers['x-ms-session-token'];
  const item = container.item('1', 'p');
  const read = await item.read<Json>();
  assert.equal(read.resource?.n, 1);
  assert.equal(read.headers['x-ms-session-token'], token);
  const refusals = 'mayfly_requests_total{operation="ReadItem",status="404"}';
  const before = await server.metric(refusals);
  const future = await item.read({ sessionToken: '0:-1#999999' });
  assert.equal(future.statusCode, 200, 'the SDK forgets the token and tries again');
  assert.equal(await server.metric(refusals), before + 1);
});

test('SDK: consistency cannot be raised above the account', async () => {
  const client = server.client({ consistencyLevel: ConsistencyLevel.Strong });
  const item = client.database(box.database).container('c').item('1', 'p');
  await assert.rejects(item.read(), { code: 400 });
});

async function written(): Promise<string> {
  return String(ok(await box.create(ITEM), 201).headers.etag);
}

function tokenOf(reply: Reply): string {
  return String(headerOf(reply, 'x-ms-session-token'));
}
