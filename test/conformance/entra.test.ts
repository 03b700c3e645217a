// Entra tokens: programs with a credential instead of a key, any token on loopback, or tokens whose
// signature, issuer, audience, times and roles are checked.
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import https from 'node:https';
import { describe, test } from 'node:test';
import { CosmosClient } from '@azure/cosmos';
import { start } from '../../src/main.js';
import { type Json, keyHeader, ok, refused, type Server, serve } from './support.suite.js';

const ISSUER = 'https://sts.test/tenant/';
const ANN = 'ann-object-id';
const ROB = 'rob-object-id';
const APP = 'app-client-id';

const good = generateKeyPairSync('rsa', { modulusLength: 2048 });
const second = generateKeyPairSync('rsa', { modulusLength: 2048 });
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
const JWKS = JSON.stringify({
  keys: [
    { kty: 'EC', crv: 'P-256', x: 'a', y: 'b', kid: 'curve' },
    { ...good.publicKey.export({ format: 'jwk' }), kid: 'first', use: 'sig' },
    { ...second.publicKey.export({ format: 'jwk' }), kid: 'second' },
  ],
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function jwt(claims: Json, header: Json = {}, key: KeyObject = good.privateKey): string {
  const now = Math.floor(Date.now() / 1000);
  const whole = {
    iss: ISSUER,
    aud: 'https://cosmos.azure.com',
    oid: ANN,
    nbf: now,
    exp: now + 3600,
    ...claims,
  };
  const head = { alg: 'RS256', kid: 'first', typ: 'JWT', ...header };
  const text = `${encode(head)}.${encode(whole)}`;
  const digest = String(head.alg).replace('RS', 'sha');
  return `${text}.${sign(digest, Buffer.from(text), key).toString('base64url')}`;
}

function show(server: Server, token: string, method: string, path: string, extra: Json = {}) {
  const { headers, body } = extra as { headers?: Record<string, string>; body?: unknown };
  const authorization = `type=aad&ver=1.0&sig=${token}`;
  return server.raw(method, path, { headers: { authorization, ...headers }, body });
}

/** A client as programs with DefaultAzureCredential have it, over HTTPS as its library demands. */
async function clientOf(server: Server, token: () => string) {
  const { text: ca } = await server.raw('GET', '/_mayfly/certificate.pem', {
    headers: { authorization: `Bearer ${server.mayfly.key}` },
  });
  const scopes: string[] = [];
  const client = new CosmosClient({
    endpoint: `https://localhost:${server.port}/`,
    aadCredentials: {
      getToken: async (scope) => {
        scopes.push(String(scope));
        return { token: token(), expiresOnTimestamp: Date.now() + 3_600_000 };
      },
    },
    agent: new https.Agent({ ca }),
  });
  return { client, scopes };
}

const accepting = await serve({ entra: 'accept' });
const verifying = await serve({
  entra: {
    keys: JWKS,
    issuers: ['https://other.test/', ISSUER],
    audiences: ['https://cosmos.azure.com', 'https://localhost'],
    contributors: [ANN, APP],
    readers: [ROB],
  },
});

for (const [mode, server] of Object.entries({ accepting, verifying })) {
  test(`${mode}: the SDK reads and writes items with a credential`, async () => {
    const box = await server.box();
    const { client, scopes } = await clientOf(server, () => jwt({}));
    try {
      const container = client.database(box.database).container('c');
      assert.equal((await container.items.create({ id: '1', pk: 'p' })).statusCode, 201);
      assert.equal((await container.item('1', 'p').read()).resource.id, '1');
      const { resources } = await container.items.query('SELECT * FROM c').fetchAll();
      assert.equal(resources.length, 1);
      assert.equal((await container.item('1', 'p').delete()).statusCode, 204);
      assert.equal((await container.read()).statusCode, 200);
      assert.equal((await client.databases.readAll().fetchAll()).resources.length, 1);
      await assert.rejects(() => client.databases.create({ id: 'new' }), { code: 403 });
      await assert.rejects(() => container.delete(), { code: 403 });
      assert.ok(scopes.every((scope) => scope.includes('localhost')));
    } finally {
      client.dispose();
    }
  });
}

const ACCOUNT = ['GET', '/'] as const;

describe('accepting', () => {
  test('any well-formed token will do, encoded or not', async () => {
    const none = `${encode({ alg: 'none' })}.${encode({})}.`;
    for (const token of [jwt({}), jwt({ exp: 1 }, {}, foreign.privateKey), none]) {
      ok(await show(accepting, token, ...ACCOUNT), 200);
      const authorization = encodeURIComponent(`type=aad&ver=1.0&sig=${token}`);
      ok(await accepting.raw(...ACCOUNT, { headers: { authorization } }), 200);
    }
  });

  for (const token of ['x', 'x.y', 'x.y.z', `${encode(1)}.${encode({})}.x`, `${encode({})}..x`]) {
    test(`'${token}' is no token`, async () => {
      refused(await show(accepting, token, ...ACCOUNT), 401, 5003, 'not well-formed');
    });
  }

  test('is for loopback only', async () => {
    const key = Buffer.alloc(64, 5).toString('base64');
    await assert.rejects(start({ host: '0.0.0.0', key, entra: 'accept' }), /for loopback only/);
  });

  test('is off unless asked for', async () => {
    const plain = await serve();
    refused(await show(plain, jwt({}), ...ACCOUNT), 401, 0, 'This server takes no Entra tokens');
  });
});

test('what is managed with keys is not managed with Entra tokens', async () => {
  const box = await accepting.box();
  const users = `/dbs/${box.database}/users`;
  ok(await accepting.send('POST', users, { body: { id: 'u' } }), 201);
  const token = jwt({});
  for (const [method, path, body] of [
    ['POST', '/dbs', { id: 'new' }],
    ['DELETE', `/dbs/${box.database}`],
    ['POST', `/dbs/${box.database}/colls`, { id: 'new', partitionKey: { paths: ['/pk'] } }],
    ['PUT', box.path, box.definition],
    ['DELETE', box.path],
    ['GET', '/offers'],
    ['GET', users],
    ['GET', `${users}/u`],
    ['GET', `${users}/u/permissions`],
    ['POST', users, { id: 'new' }],
    ['POST', `/dbs/${box.database}/clientencryptionkeys`, {}],
    ['POST', `${box.path}/triggers`, { id: 'new' }],
    ['POST', `${box.path}/sprocs`, { id: 'new', body: 'function () {}' }],
    ['DELETE', `${box.path}/udfs/f`],
  ] as const) {
    const reply = await show(accepting, token, method, path, { body });
    refused(reply, 403, 5300, 'cannot be authorized by AAD token in data plane');
  }
  for (const path of ['/dbs', `/dbs/${box.database}`, box.path, `${box.path}/pkranges`]) {
    ok(await show(accepting, token, 'GET', path), 200);
  }
  ok(await show(accepting, token, 'GET', `/dbs/${box.database}/clientencryptionkeys`), 200);
});

describe('verifying', async () => {
  const now = Math.floor(Date.now() / 1000);
  const REFUSED: Readonly<Record<string, readonly [string, number, string]>> = {
    'another key': [jwt({}, {}, foreign.privateKey), 5004, 'not signed by a key'],
    'the key of another id': [jwt({}, { kid: 'second' }), 5004, 'not signed by a key'],
    'an unknown id': [jwt({}, { kid: 'third' }), 5004, 'not signed by a key'],
    'no signature': [`${encode({ alg: 'none' })}.${encode({})}.`, 5004, 'not signed'],
    'another kind of signature': [jwt({}).replace(/^[^.]+/, encode({ alg: 'HS256' })), 5004, 'not'],
    'an inherited kind': [jwt({}).replace(/^[^.]+/, encode({ alg: 'toString' })), 5004, 'not'],
    'changed claims': [
      jwt({}).replace(/\.[^.]+\./, `.${encode({ oid: 'x' })}.`),
      5004,
      'not signed',
    ],
    'another issuer': [jwt({ iss: 'https://evil.test/' }), 5007, 'https://evil.test/'],
    'no issuer': [jwt({ iss: undefined }), 5007, 'none'],
    'another audience': [jwt({ aud: 'https://vault.test' }), 5008, 'https://vault.test'],
    'no audience': [jwt({ aud: undefined }), 5008, 'none'],
    'a time gone by': [jwt({ exp: now - 301 }), 5006, 'not valid at the current time'],
    'a time to come': [jwt({ nbf: now + 330 }), 5006, 'not valid at the current time'],
    'no time': [jwt({ exp: undefined }), 5003, 'an expiry'],
    'a text for a time': [jwt({ exp: '2100' }), 5003, 'an expiry'],
    'an endless time before': [jwt({ nbf: 1e300 }), 5006, '1e+300'],
  };
  for (const [what, [token, subStatus, text]] of Object.entries(REFUSED)) {
    test(`refuses ${what}`, async () => {
      refused(await show(verifying, token, ...ACCOUNT), 401, subStatus, text);
      refused(await show(verifying, token, ...ACCOUNT), 401, subStatus, text);
    });
  }

  const TAKEN: Readonly<Record<string, string>> = {
    'the second key': jwt({}, { kid: 'second' }, second.privateKey),
    'no key id': jwt({}, { kid: undefined }),
    RS384: jwt({}, { alg: 'RS384' }),
    RS512: jwt({}, { alg: 'RS512' }),
    'an audience with a slash': jwt({ aud: 'https://localhost/' }),
    'one of several audiences': jwt({ aud: ['x', 'https://cosmos.azure.com'] }),
    'clocks that differ': jwt({ nbf: now + 240, exp: now - 240 }),
    'an application': jwt({ oid: 'x', appid: APP }),
    'an application by its newer claim': jwt({ oid: undefined, azp: APP }),
  };
  for (const [what, token] of Object.entries(TAKEN)) {
    test(`takes ${what}`, async () => {
      ok(await show(verifying, token, ...ACCOUNT), 200);
    });
  }

  test('readers read, strangers do nothing', async () => {
    const box = await verifying.box();
    ok(await box.create({ id: '1', pk: 'p' }), 201);
    const headers = keyHeader('p');
    const item = { headers, body: { id: '2', pk: 'p' } };
    const rob = jwt({ oid: ROB });
    ok(await show(verifying, rob, 'GET', `${box.path}/docs/1`, { headers }), 200);
    refused(await show(verifying, rob, 'POST', `${box.path}/docs`, item), 403, 5302, ROB);
    const script = { id: 's', body: 'function () {}' };
    ok(await verifying.send('POST', `${box.path}/sprocs`, { body: script }), 201);
    const run = { headers, body: [] };
    ok(await show(verifying, jwt({}), 'POST', `${box.path}/sprocs/s`, run), 200);
    refused(await show(verifying, rob, 'POST', `${box.path}/sprocs/s`, run), 403, 5302, ROB);
    ok(await show(verifying, rob, 'GET', `${box.path}/sprocs/s`), 200);
    const user = jwt({ oid: 'user', appid: APP, azp: APP, scp: 'user_impersonation' });
    refused(await show(verifying, user, ...ACCOUNT), 403, 5301, '[user]');
    const stranger = jwt({ oid: 'stranger' });
    refused(await show(verifying, stranger, ...ACCOUNT), 403, 5301, '[stranger]');
    const read = await show(verifying, stranger, 'GET', `${box.path}/docs/1`, { headers });
    refused(read, 403, 5302, '[stranger] does not have required RBAC permissions');
  });
});

const rules = { keys: JWKS, issuers: [ISSUER], contributors: ['*'] };

test('keys in PEM, and everybody', async () => {
  const keys = [foreign, good].map((pair) =>
    pair.publicKey.export({ type: 'spki', format: 'pem' }),
  );
  const server = await serve({ entra: { ...rules, keys: keys.join('\n') } });
  ok(await show(server, jwt({ oid: 'anybody' }), ...ACCOUNT), 200);
  refused(await show(server, jwt({}, {}, second.privateKey), ...ACCOUNT), 401, 5004);
});

test('rules that verify nothing are refused at the start', async () => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  const pem = { type: 'spki', format: 'pem' } as const;
  for (const [changes, text] of [
    [{ issuers: [] }, /--entra-issuer/],
    [{ contributors: [] }, /--entra-contributor or --entra-reader/],
    [{ keys: '' }, /no RSA key/],
    [{ keys: '{}' }, /no list "keys"/],
    [{ keys: '{"keys":[]}' }, /no RSA key/],
    [{ keys: '{' }, /cannot be used/],
    [{ keys: weak.export(pem).toString() }, /1024 bits/],
    [{ keys: curve.export(pem).toString() }, /no RSA key/],
  ] as const) {
    await assert.rejects(start({ entra: { ...rules, ...changes } }), text);
  }
});
