// Who may do what: signatures with the published vectors, the four keys, the window of dates, and
// the emulator's key, which everybody knows.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { before, test } from 'node:test';
import { parseAddress } from '../../src/cosmos/address.js';
import { authenticator } from '../../src/cosmos/auth.js';
import { start, WELL_KNOWN_KEY } from '../../src/main.js';
import { type Instant, instant } from '../../src/time/instant.js';
import { MayflyError } from '../../src/value/errors.js';
import {
  at,
  type Box,
  type Headers,
  type Json,
  keyHeader,
  listOf,
  ok,
  refused,
  serve,
  signature,
} from './support.suite.js';

const keyOf = (byte: number): string => Buffer.alloc(64, byte).toString('base64');
const KEYS = {
  key: keyOf(1),
  secondaryKey: keyOf(2),
  readOnlyKey: keyOf(3),
  secondaryReadOnlyKey: keyOf(4),
};
const server = await serve(KEYS);
const MINUTE_MS = 60_000;
let box: Box;
let offer: Json;

before(async () => {
  box = await server.box();
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  offer = listOf(ok(await server.send('GET', '/offers'), 200), 'Offers')[0] ?? {};
});

const DOCUMENTED =
  'dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==';
const NEW_YEAR = 'Thu, 01 Jan 2026 00:00:00 GMT';

const VECTORS: readonly (readonly [string, string, string, string, string])[] = [
  [
    DOCUMENTED,
    'GET',
    '/dbs/ToDoList',
    'Thu, 27 Apr 2017 00:51:12 GMT',
    'type%3Dmaster%26ver%3D1.0%26sig%3Dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D',
  ],
  [
    WELL_KNOWN_KEY,
    'GET',
    '/',
    NEW_YEAR,
    'type=master&ver=1.0&sig=PvSAkpCd8QmwlTkPJg3zttqzEEJwP1ep4++LW953aJU=',
  ],
  [
    WELL_KNOWN_KEY,
    'POST',
    '/dbs/d/colls/c/docs',
    NEW_YEAR,
    'type=master&ver=1.0&sig=0zP4vLC2NI1FYvljA4euasQrsiDhy0ywzeGor9zs0WY=',
  ],
];

for (const [primary, method, path, date, authorization] of VECTORS) {
  test(`the published signature of ${method} ${path} is accepted`, () => {
    const headers = { authorization, 'x-ms-date': date };
    assert.equal(judge(primary, method, path, headers, at(date)), 'all');
    assert.equal(judgeError(primary, 'PUT', path, headers, at(date)), 'signatureWrong');
    assert.equal(judgeError(primary, method, '/dbs/x', headers, at(date)), 'signatureWrong');
    assert.equal(judgeError(keyOf(9), method, path, headers, at(date)), 'signatureWrong');
  });
}

test('a date is good for 15 minutes before and after, to the millisecond', () => {
  const [primary, method, path, date, authorization] = VECTORS[1] ?? ['', '', '', '', ''];
  const headers = { authorization, 'x-ms-date': date };
  const judged = (ms: number) => judgeError(primary, method, path, headers, instant(at(date) + ms));
  for (const ms of [0, 15 * MINUTE_MS, -15 * MINUTE_MS]) assert.equal(judged(ms), undefined);
  for (const ms of [15 * MINUTE_MS + 1, -15 * MINUTE_MS - 1]) {
    assert.equal(judged(ms), 'dateOutsideWindow');
  }
});

test('without x-ms-date the header Date counts, in its own line', async () => {
  const date = new Date().toUTCString();
  const text = `get\ndbs\n\n\n${date.toLowerCase()}\n`;
  const authorization = encodeURIComponent(`type=master&ver=1.0&sig=${sign(text)}`);
  ok(await server.raw('GET', '/dbs', { headers: { authorization, date } }), 200);
});

test('with both dates x-ms-date counts', async () => {
  const date = 'Thu, 01 Jan 1970 00:00:00 GMT';
  ok(await server.send('GET', '/dbs', { headers: { date } }), 200);
});

const smallEscapes = (text: string): string =>
  encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase());

for (const [what, encode] of [
  ['encoded', encodeURIComponent],
  ['encoded with small letters', smallEscapes],
  ['not encoded', (text: string) => text],
] as const) {
  test(`the header may be ${what}`, async () => {
    for (let n = 0; n < 8; n++) {
      const date = new Date().toUTCString();
      const path = `${box.path}/docs/${n}`;
      const authorization = encode(signature('GET', path, date, KEYS.key));
      const headers = { authorization, 'x-ms-date': date, ...keyHeader('p') };
      const { status } = await server.raw('GET', path, { headers });
      assert.equal(status, n === 1 ? 200 : 404);
    }
  });
}

test('a missing header is 401', async () => {
  const date = new Date().toUTCString();
  const reply = await server.raw('GET', '/dbs', { headers: { 'x-ms-date': date } });
  assert.equal(reply.status, 401);
  assert.equal(reply.json.code, 'Unauthorized');
  assert.ok(String(reply.json.message).includes('Required Header authorization is missing.'));
});

const MALFORMED = [
  'Bearer abc',
  'type=master',
  'type=master&ver=1.0',
  'type=master&ver=1.0&sig=',
  'type=master&ver=1.0&sig=abc',
  'type=master&ver=2.0&sig=PvSAkpCd8QmwlTkPJg3zttqzEEJwP1ep4++LW953aJU=',
  'sig=PvSAkpCd8QmwlTkPJg3zttqzEEJwP1ep4++LW953aJU=',
  'type%3Dmaster%26ver%3D1.0%26sig%3D%',
  KEYS.key,
];

for (const authorization of MALFORMED) {
  test(`the header '${authorization.slice(0, 36)}' is 401`, async () => {
    const reply = await server.send('GET', '/dbs', { headers: { authorization } });
    refused(reply, 401, 0, "Authorization header doesn't confirm to the required format.");
  });
}

test('other kinds of tokens are 401', async () => {
  for (const type of ['aad', 'resource', 'sas']) {
    const authorization = `type=${type}&ver=1.0&sig=${sign('x')}`;
    refused(await server.send('GET', '/dbs', { headers: { authorization } }), 401, 0);
  }
});

test('a wrong key is 401, and the answer tells what was signed', async () => {
  const date = new Date().toUTCString();
  const reply = await server.send('GET', '/dbs', { key: keyOf(9), date });
  refused(reply, 401, 0, "The input authorization token can't serve the request.");
  const payload = `get\ndbs\n\n${date.toLowerCase()}\n\n`;
  assert.ok(String(reply.json.message).includes(`payload to sign: '${payload}'`));
});

test('a signature is for one verb, one path and one date', async () => {
  const date = new Date().toUTCString();
  const path = `/dbs/${box.database}`;
  const headers = { authorization: signature('GET', path, date, KEYS.key), 'x-ms-date': date };
  ok(await server.raw('GET', path, { headers }), 200);
  refused(await server.raw('DELETE', path, { headers }), 401, 0);
  refused(await server.raw('GET', `${path}/colls`, { headers }), 401, 0);
  refused(await server.raw('GET', '/dbs/other', { headers }), 401, 0);
  const later = new Date(Date.now() + 1000).toUTCString();
  refused(await server.raw('GET', path, { headers: { ...headers, 'x-ms-date': later } }), 401, 0);
});

test('names are signed with their case', async () => {
  ok(await server.send('POST', '/dbs', { body: { id: 'Upper' } }), 201);
  ok(await server.send('GET', '/dbs/Upper'), 200);
  refused(await server.send('GET', '/dbs/Upper', { link: 'dbs/upper' }), 401, 0);
});

test('a refused write has not happened', async () => {
  const options = { body: { id: 'intruder' }, key: keyOf(9) };
  refused(await server.send('POST', '/dbs', options), 401, 0);
  refused(await server.send('GET', '/dbs/intruder'), 404, 0);
});

test('a missing date is 401', async () => {
  const date = new Date().toUTCString();
  const headers = { authorization: signature('GET', '/dbs', date, KEYS.key) };
  const reply = await server.raw('GET', '/dbs', { headers });
  refused(reply, 401, 0, 'Authorization token mandates Date headers.');
});

const DATES_REFUSED: readonly string[] = [
  'yesterday',
  '0',
  new Date().toISOString(),
  String(Date.now()),
  new Date().toUTCString().replace('GMT', '+0000'),
  new Date().toUTCString().slice(5),
];

for (const [index, date] of DATES_REFUSED.entries()) {
  test(`a date that is not of RFC 1123 is 401 (${index})`, async () => {
    const reply = await server.send('GET', '/dbs', { date });
    refused(reply, 401, 0, 'The input date header is invalid format.');
  });
}

test('a date in small letters is one of RFC 1123 too', async () => {
  ok(await server.send('GET', '/dbs', { date: new Date().toUTCString().toLowerCase() }), 200);
});

test('a date more than 15 minutes away is 403, one of 14 minutes is not', async () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS).toUTCString();
  for (const minutes of [16, -16, 24 * 60]) {
    const reply = await server.send('GET', '/dbs', { date: ago(minutes) });
    refused(reply, 403, 0, 'The authorization token is not valid at the current time.');
  }
  for (const minutes of [14, -14])
    ok(await server.send('GET', '/dbs', { date: ago(minutes) }), 200);
});

test('T37: dates are judged by the real time, also while the clock shows 2050', async () => {
  const now = server.clock.now();
  server.clock.set(at('2050-01-01T00:00:00Z'));
  ok(await server.send('GET', '/dbs'), 200);
  const virtual = new Date(server.clock.now()).toUTCString();
  refused(await server.send('GET', '/dbs', { date: virtual }), 403, 0);
  const written = ok(await box.upsert({ id: 'in 2050', pk: 'p' }), 201);
  assert.equal(written.json._ts, at('2050-01-01T00:00:00Z') / 1000);
  server.clock.set(now);
});

for (const key of [KEYS.key, KEYS.secondaryKey]) {
  test(`the ${key === KEYS.key ? 'primary' : 'secondary'} key may do everything`, async () => {
    const item = { id: 'by key', pk: 'p' };
    const docs = `${box.path}/docs`;
    const headers = keyHeader('p');
    ok(await server.send('POST', docs, { body: item, headers, key }), 201);
    ok(await server.send('PUT', `${docs}/by%20key`, { body: item, headers, key }), 200);
    ok(await server.send('GET', `${docs}/by%20key`, { headers, key }), 200);
    ok(await server.send('DELETE', `${docs}/by%20key`, { headers, key }), 204);
  });
}

const QUERY: Headers = {
  'content-type': 'application/query+json',
  'x-ms-documentdb-isquery': 'true',
};

for (const key of [KEYS.readOnlyKey, KEYS.secondaryReadOnlyKey]) {
  const which = key === KEYS.readOnlyKey ? 'first' : 'second';

  test(`the ${which} read-only key may read and query`, async () => {
    const home = `/dbs/${box.database}`;
    const feeds = ['/', '/dbs', home, `${home}/colls`, box.path, `${box.path}/pkranges`, '/offers'];
    for (const path of feeds) ok(await server.send('GET', path, { key }), 200);
    ok(await server.send('GET', `${box.path}/docs`, { key }), 200);
    ok(await server.send('GET', `${box.path}/docs/1`, { key, headers: keyHeader('p') }), 200);
    const query = { body: { query: 'SELECT * FROM c' }, headers: QUERY, key };
    ok(await server.send('POST', `${box.path}/docs`, query), 200);
    const offers = { ...query, body: { query: 'SELECT * FROM root' } };
    ok(await server.send('POST', '/offers', offers), 200);
  });

  test(`the ${which} read-only key may not write`, async () => {
    const item = { id: '1', pk: 'p', stolen: true };
    const headers = keyHeader('p');
    const upsert = { ...headers, 'x-ms-documentdb-is-upsert': 'true' };
    const docs = `${box.path}/docs`;
    const rid = String(offer.id);
    const replies = [
      await server.send('POST', '/dbs', { key, body: { id: 'stolen' } }),
      await server.send('DELETE', `/dbs/${box.database}`, { key }),
      await server.send('POST', `/dbs/${box.database}/colls`, { key, body: box.definition }),
      await server.send('PUT', box.path, { key, body: box.definition }),
      await server.send('DELETE', box.path, { key }),
      await server.send('POST', docs, { key, body: { id: '2', pk: 'p' }, headers }),
      await server.send('POST', docs, { key, body: item, headers: upsert }),
      await server.send('PUT', `${docs}/1`, { key, body: item, headers }),
      await server.send('DELETE', `${docs}/1`, { key, headers }),
      await server.send('PUT', `/offers/${rid}`, { key, body: offer, link: rid.toLowerCase() }),
    ];
    for (const reply of replies) refused(reply, 403, 0, 'sufficient permissions');
    assert.equal(ok(await box.read('1'), 200).json.stolen, undefined);
    refused(await box.read('2'), 404, 0);
  });
}

test('SDK: a wrong key and a read-only key are errors with their codes', async () => {
  const wrong = server.client({ key: keyOf(9) });
  await assert.rejects(wrong.database(box.database).read(), { code: 401 });
  const reader = server.client({ key: KEYS.readOnlyKey }).database(box.database).container('c');
  assert.equal((await reader.item('1', 'p').read()).statusCode, 200);
  assert.ok((await reader.items.readAll().fetchAll()).resources.length > 0);
  await assert.rejects(reader.items.create({ id: '2', pk: 'p' }), { code: 403 });
});

test('SDK: a connection string is enough', async () => {
  const { connectionString } = server.mayfly;
  assert.equal(connectionString, `AccountEndpoint=${server.mayfly.cosmos};AccountKey=${KEYS.key};`);
  const parts = new Map(
    connectionString.split(';').map((part) => {
      const [name = '', ...value] = part.split('=');
      return [name, value.join('=')];
    }),
  );
  const endpoint = parts.get('AccountEndpoint') ?? '';
  const client = server.client({ endpoint, key: parts.get('AccountKey') ?? '' });
  assert.equal((await client.database(box.database).read()).statusCode, 200);
});

test('the well-known key is refused beyond loopback', async () => {
  await assert.rejects(start({ host: '0.0.0.0' }), /--allow-well-known-key/);
  const own = { host: '0.0.0.0', key: KEYS.key };
  await assert.rejects(start({ ...own, secondaryKey: WELL_KNOWN_KEY }), /loopback/);
  await assert.rejects(start({ ...own, readOnlyKey: WELL_KNOWN_KEY }), /loopback/);
});

test('the well-known key is accepted beyond loopback by those who insist', async () => {
  const open = await start({ host: '0.0.0.0', allowWellKnownKey: true, clock: 'virtual' });
  try {
    assert.equal(open.key, WELL_KNOWN_KEY);
    const client = server.client({ endpoint: `http://127.0.0.1:${open.port}/`, key: open.key });
    assert.equal((await client.databases.create({ id: 'd' })).statusCode, 201);
  } finally {
    await open.close();
  }
});

test('beside a key of one’s own the well-known one is wrong', async () => {
  const own = await start({ host: '0.0.0.0', key: KEYS.key, clock: 'virtual' });
  try {
    const endpoint = `http://127.0.0.1:${own.port}/`;
    const client = server.client({ endpoint, key: KEYS.key });
    assert.equal((await client.databases.create({ id: 'd' })).statusCode, 201);
    const intruder = server.client({ endpoint, key: WELL_KNOWN_KEY });
    await assert.rejects(intruder.databases.create({ id: 'e' }), { code: 401 });
  } finally {
    await own.close();
  }
});

test('keys that are none are refused at the start', async () => {
  for (const key of ['', 'short', 'not base64 at all, but long enough', 'AAAA']) {
    await assert.rejects(start({ key }), /key/);
    await assert.rejects(start({ readOnlyKey: key }), /key/);
  }
});

function judge(
  primary: string,
  method: string,
  path: string,
  headers: Headers,
  wall: Instant,
): unknown {
  return authenticator({ primary })(method, parseAddress(path), () => undefined, headers, wall);
}

function judgeError(...given: Parameters<typeof judge>): string | undefined {
  try {
    judge(...given);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof MayflyError);
    return error.code;
  }
}

function sign(text: string): string {
  return createHmac('sha256', Buffer.from(KEYS.key, 'base64')).update(text).digest('base64');
}
