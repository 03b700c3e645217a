// GET /: what a client learns about the account, and that it is led back to the address it used,
// by HTTP and by HTTPS on the same port.
import assert from 'node:assert/strict';
import https from 'node:https';
import { connect } from 'node:net';
import { test } from 'node:test';
import { at, type Json, ok, type Reply, refused, serve, signature } from './support.suite.js';

/** Names by which other machines may know this one; the certificate must name them too. */
const server = await serve({ tlsNames: ['mayfly', 'cosmos.internal'] });
const certificate = ok(await server.raw('GET', '/_mayfly/certificate.pem'), 200).text;

test('the account document has what the clients look for', async () => {
  const reply = ok(await server.send('GET', '/'), 200);
  const { json: account } = reply;
  assert.notEqual(account.id, 'localhost', 'the SDK would then read the account again and again');
  assert.equal(typeof account.id, 'string');
  assert.equal(account.enableMultipleWriteLocations, false);
  assert.deepEqual(account.userConsistencyPolicy, { defaultConsistencyLevel: 'Session' });
  for (const policy of ['userReplicationPolicy', 'systemReplicationPolicy', 'readPolicy']) {
    assert.equal(typeof account[policy], 'object', policy);
  }
  assert.equal(account._dbs, '//dbs/');
  assert.equal(account.media, '//media/');
  assert.equal(account.addresses, '//addresses/');
  assert.equal(account._etag, undefined);
  const engine = JSON.parse(String(account.queryEngineConfiguration)) as Json;
  assert.equal(engine.maxSqlQueryInputLength, 524_288);
  assert.equal(engine.maxJoinsPerSqlQuery, 10);
  assert.equal(engine.maxInExpressionItemsCount, 16_000);
});

test('the account has a name and an endpoint per location', async () => {
  const { json: account } = ok(await server.send('GET', '/'), 200);
  assert.deepEqual(account.writableLocations, account.readableLocations);
  const [location] = account.writableLocations as Json[];
  assert.equal(typeof location?.name, 'string');
  assert.equal(location?.databaseAccountEndpoint, `http://127.0.0.1:${server.port}/`);
});

test('every answer has an activity id of its own and a charge', async () => {
  const replies = [
    await server.send('GET', '/'),
    await server.send('GET', '/'),
    await server.send('GET', '/dbs'),
    await server.send('GET', '/dbs/nobody'),
    await server.raw('GET', '/'),
  ];
  const ids = replies.map((reply) => String(reply.headers['x-ms-activity-id']));
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.equal(new Set(ids).size, replies.length);
  for (const { headers } of replies) assert.ok(Number(headers['x-ms-request-charge']) > 0);
});

test('an activity id that is given comes back', async () => {
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const good = await server.send('GET', '/', { headers: { 'x-ms-activity-id': id } });
  assert.equal(good.headers['x-ms-activity-id'], id);
  const bad = await server.send('GET', '/dbs/none', { headers: { 'x-ms-activity-id': id } });
  assert.equal(bad.headers['x-ms-activity-id'], id);
  assert.ok(String(bad.json.message).includes(`ActivityId: ${id}`));
});

const HOSTS = [
  'localhost:8081',
  'LOCALHOST:8081',
  '127.0.0.1:49153',
  'mayfly',
  'cosmos.internal:443',
  '[::1]:8081',
];

for (const host of HOSTS) {
  test(`the endpoint echoes the host '${host}', by HTTP and by HTTPS`, async () => {
    const plain = await server.send('GET', '/', { headers: { host } });
    assert.deepEqual(endpoints(plain), [`http://${host}/`, `http://${host}/`]);
    const secure = await server.send('GET', '/', { headers: { host }, ca: certificate });
    assert.deepEqual(endpoints(secure), [`https://${host}/`, `https://${host}/`]);
  });
}

test('a request of HTTP 1.0 without a host is led to the address it came to', async () => {
  const text = await new Promise<string>((resolve, reject) => {
    const date = new Date().toUTCString();
    const socket = connect(server.port, '127.0.0.1');
    socket.setEncoding('utf8').on('error', reject);
    let answer = '';
    socket.on('data', (piece) => {
      answer += String(piece);
    });
    socket.on('end', () => resolve(answer));
    const head = ['GET / HTTP/1.0', `x-ms-date: ${date}`, `authorization: ${signed(date)}`];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
  });
  assert.match(text, /^HTTP\/1\.1 200 /);
  const account = JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as Json;
  const [location] = account.readableLocations as Json[];
  assert.equal(location?.databaseAccountEndpoint, `http://127.0.0.1:${server.port}/`);
});

test('the certificate is the one to trust for localhost and for 127.0.0.1', async () => {
  assert.match(certificate, /^-----BEGIN CERTIFICATE-----\n/);
  for (const host of ['localhost', '127.0.0.1']) {
    const reply = await server.send('GET', '/', { host, ca: certificate });
    assert.deepEqual(endpoints(ok(reply, 200))[0], `https://${host}:${server.port}/`);
  }
});

test('the certificate is also where the official emulator has it', async () => {
  const plain = ok(await server.raw('GET', '/_explorer/emulator.pem'), 200);
  assert.equal(plain.text, certificate);
  const secure = await server.raw('GET', '/_explorer/emulator.pem', { ca: certificate });
  assert.equal(ok(secure, 200).text, certificate);
});

test('another path under /_explorer/ is no certificate', async () => {
  assert.notEqual((await server.raw('GET', '/_explorer/other.pem')).status, 200);
});

test('the SDK reads the account once per client, whatever it does then', async () => {
  const reads = () => server.metric('mayfly_requests_total{operation="ReadAccount",status="200"}');
  const before = await reads();
  const client = server.client();
  const { database } = await client.databases.create({ id: 'once' });
  const { container } = await database.containers.create({ id: 'c', partitionKey: '/pk' });
  await container.items.create({ id: '1', pk: 'a' });
  await container.item('1', 'a').read();
  await container.items.readAll().fetchAll();
  await database.delete();
  assert.equal((await reads()) - before, 1);
  await server.client().getDatabaseAccount();
  assert.ok((await reads()) - before >= 2, 'another client reads it for itself');
});

test('the SDK works over HTTPS with the certificate as its only authority', async () => {
  const agent = new https.Agent({ ca: certificate, rejectUnauthorized: true, keepAlive: true });
  const endpoint = `https://localhost:${server.port}/`;
  const client = server.client({ endpoint, agent });
  const { resource: account } = await client.getDatabaseAccount();
  assert.equal(account?.writableLocations[0]?.databaseAccountEndpoint, endpoint);
  assert.equal(account?.consistencyPolicy, 'Session');
  const { database } = await client.databases.create({ id: 'secure' });
  const { container } = await database.containers.create({ id: 'c', partitionKey: '/pk' });
  const { statusCode } = await container.items.create({ id: '1', pk: 'a' });
  assert.equal(statusCode, 201);
  agent.destroy();
});

test('the account of a virtual server is the same in every year', async () => {
  const now = server.clock.now();
  const before = ok(await server.send('GET', '/'), 200).text;
  server.clock.set(at('2150-01-01T00:00:00Z'));
  assert.equal(ok(await server.send('GET', '/'), 200).text, before);
  server.clock.set(now);
});

test('other verbs and paths are refused', async () => {
  refused(await server.send('DELETE', '/'), 405, 0);
  refused(await server.send('GET', '/nothing'), 400, 0, '/nothing is invalid');
  refused(await server.send('GET', '/dbs/d/nothing'), 400, 0, 'is invalid');
});

test('a version that is none is refused; all versions of the last years are taken', async () => {
  const version = (value: string) =>
    server.send('GET', '/', { headers: { 'x-ms-version': value } });
  for (const known of ['2016-07-11', '2018-12-31', '2020-07-15', '2024-01-01']) {
    ok(await version(known), 200);
  }
  refused(await version('latest'), 400, 0, 'Invalid API version');
});

function endpoints(reply: Reply): readonly unknown[] {
  const { writableLocations, readableLocations } = ok(reply, 200).json;
  return [writableLocations, readableLocations].map(
    (list) => (list as Json[])[0]?.databaseAccountEndpoint,
  );
}

function signed(date: string): string {
  return encodeURIComponent(signature('GET', '/', date, server.mayfly.key));
}
