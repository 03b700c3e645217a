// What clients of different languages sign: the kind and the link of every resource, by name and by
// resource id, and the one operation that two of them sign differently.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { keyHeader, listOf, ok, serve } from './support.suite.js';

const server = await serve();
const database = 'Große Datenbank';
const encoded = encodeURIComponent(database);
const send = (method: string, path: string, body: unknown, headers = {}) =>
  server.send(method, path, { body, headers });
ok(await send('POST', '/dbs', { id: database }), 201);
const colls = `/dbs/${encoded}/colls`;
ok(await send('POST', colls, { id: 'Carts', partitionKey: { paths: ['/pk'] } }), 201);
ok(await send('POST', `${colls}/Carts/docs`, { id: 'A b', pk: 'p' }, keyHeader('p')), 201);
ok(await send('POST', `/dbs/${encoded}/users`, { id: 'Ann' }), 201);
const { json: item } = ok(
  await server.send('GET', `${colls}/Carts/docs/A%20b`, { headers: keyHeader('p') }),
  200,
);
const [, dbRid = '', , collRid = '', , docRid = ''] = String(item._self).split('/');
const [offer] = listOf(ok(await server.send('GET', '/offers'), 200), 'Offers');
const offerRid = String(offer?._rid);
const byRid = `/dbs/${dbRid}/colls/${collRid}`;
const byName = `dbs/${database}/colls/Carts`;
const QUERY = { 'x-ms-documentdb-isquery': 'true' };
const deletion = `${colls}/Carts/operations/partitionkeydelete`;
const small = (rid: string): string => rid.toLowerCase();

/** Method, path, what is signed as kind and link, further headers. */
const SIGNED: readonly (readonly [string, string, string, string, Record<string, string>?])[] = [
  ['GET', '/', '', ''],
  ['GET', '/dbs', 'dbs', ''],
  ['GET', '/dbs/', 'dbs', ''],
  ['POST', '/dbs', 'dbs', '', QUERY],
  ['GET', `/dbs/${encoded}`, 'dbs', `dbs/${database}`],
  ['GET', `/dbs/${dbRid}`, 'dbs', small(dbRid)],
  ['GET', colls, 'colls', `dbs/${database}`],
  ['GET', `/dbs/${dbRid}/colls`, 'colls', small(dbRid)],
  ['GET', `${colls}/Carts`, 'colls', byName],
  ['GET', `${colls}/Carts`, 'COLLS', byName],
  ['GET', byRid, 'colls', small(collRid)],
  ['GET', `${colls}/Carts/pkranges`, 'pkranges', byName],
  ['GET', `${byRid}/pkranges`, 'pkranges', small(collRid)],
  ['GET', `${colls}/Carts/conflicts`, 'conflicts', byName],
  ['GET', `${colls}/Carts/docs`, 'docs', byName],
  ['POST', `${byRid}/docs`, 'docs', small(collRid), QUERY],
  ['GET', `${colls}/Carts/docs/A%20b`, 'docs', `${byName}/docs/A b`, keyHeader('p')],
  ['GET', `${byRid}/docs/${docRid}`, 'docs', small(docRid), keyHeader('p')],
  ['GET', `/dbs/${encoded}/users`, 'users', `dbs/${database}`],
  ['GET', `/dbs/${encoded}/users/Ann`, 'users', `dbs/${database}/users/Ann`],
  ['GET', `/dbs/${encoded}/users/Ann/permissions`, 'permissions', `dbs/${database}/users/Ann`],
  ['GET', `/dbs/${encoded}/clientencryptionkeys`, 'clientencryptionkeys', `dbs/${database}`],
  ['GET', '/offers', 'offers', ''],
  ['GET', `/offers/${offerRid}`, 'offers', small(offerRid)],
  ['POST', deletion, 'colls', byName, keyHeader('none')],
  ['POST', deletion, 'partitionkey', byName, keyHeader('none')],
  ['POST', `${byRid}/operations/partitionkeydelete`, 'colls', small(collRid), keyHeader('none')],
  [
    ...(['POST', `${byRid}/operations/partitionkeydelete`, 'partitionkey'] as const),
    small(collRid),
    keyHeader('none'),
  ],
];

function request(
  [method, path, kind, link, extra = {}]: (typeof SIGNED)[number],
  dateName: 'x-ms-date' | 'date',
) {
  const date = new Date().toUTCString();
  const dates = dateName === 'x-ms-date' ? [date.toLowerCase(), ''] : ['', date.toLowerCase()];
  const text = `${[method.toLowerCase(), kind.toLowerCase(), link, ...dates].join('\n')}\n`;
  const key = Buffer.from(server.mayfly.key, 'base64');
  const hash = createHmac('sha256', key).update(text).digest('base64');
  const authorization = encodeURIComponent(`type=master&ver=1.0&sig=${hash}`);
  const headers = { authorization, [dateName]: date, ...extra };
  const body = extra === QUERY ? { query: 'SELECT * FROM c' } : undefined;
  return server.raw(method, path, { headers, body });
}

for (const row of SIGNED) {
  const [method, path, kind, link] = row;
  test(`${method} ${path} is signed as ${kind} ${link}`, async () => {
    ok(await request(row, 'x-ms-date'), 200);
    ok(await request(row, 'date'), 200);
    const elsewhere = await request([method, path, kind, `${link}x`, row[4] ?? {}], 'date');
    assert.equal(elsewhere.status, 401);
    const otherwise = await request([method, path, `${kind}x`, link, row[4] ?? {}], 'date');
    assert.equal(otherwise.status, 401);
  });
}

test('only the deletion of a partition is signed as one', async () => {
  const row = ['GET', `${colls}/Carts`, 'partitionkey', byName] as const;
  assert.equal((await request(row, 'x-ms-date')).status, 401);
});
