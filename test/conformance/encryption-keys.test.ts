// Client encryption keys: the SDK encrypts with them end to end, and what is no key is refused.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  EncryptionAlgorithm,
  type EncryptionKeyResolver,
  type EncryptionKeyResolverName,
  EncryptionQueryBuilder,
  EncryptionType,
  KeyEncryptionAlgorithm,
} from '@azure/cosmos';
import { type Json, keyHeader, listOf, ok, refused, serve } from './support.suite.js';

const server = await serve();
const box = await server.box();
const feed = `/dbs/${box.database}/clientencryptionkeys`;

/** Turns keys around, which is all the secrecy a test needs. */
const resolver: EncryptionKeyResolver = {
  encryptionKeyResolverName: 'TURNING',
  wrapKey: async (_id, _algorithm, key) => new Uint8Array([...key].reverse()),
  unwrapKey: async (_id, _algorithm, key) => new Uint8Array([...key].reverse()),
};
const METADATA = {
  type: 'TURNING' as EncryptionKeyResolverName,
  name: 'master',
  value: 'https://vault.test/keys/master',
  algorithm: KeyEncryptionAlgorithm.RSA_OAEP,
};
const KEY = {
  id: 'k',
  encryptionAlgorithm: 'AEAD_AES_256_CBC_HMAC_SHA256',
  wrappedDataEncryptionKey: Buffer.alloc(48, 7).toString('base64'),
  keyWrapMetadata: METADATA,
};

test('the SDK encrypts, decrypts, queries and wraps keys anew', async () => {
  const client = server.client({ clientEncryptionOptions: { keyEncryptionKeyResolver: resolver } });
  const database = client.database(box.database);
  const algorithm = EncryptionAlgorithm.AEAD_AES_256_CBC_HMAC_SHA256;
  const made = await database.createClientEncryptionKey('sdk', algorithm, METADATA);
  assert.equal(made.resource?.id, 'sdk');
  const path = (name: string, encryptionType: EncryptionType) => ({
    path: `/${name}`,
    clientEncryptionKeyId: 'sdk',
    encryptionType,
    encryptionAlgorithm: algorithm,
  });
  await database.containers.create({
    id: 'secret',
    partitionKey: { paths: ['/pk'] },
    clientEncryptionPolicy: {
      policyFormatVersion: 2,
      includedPaths: [
        path('ssn', EncryptionType.DETERMINISTIC),
        path('pk', EncryptionType.DETERMINISTIC),
        path('diary', EncryptionType.RANDOMIZED),
      ],
    },
  });
  const container = database.container('secret');
  await container.initializeEncryption();
  const item = { id: '1', pk: 'p', ssn: '123', diary: { day: 1 }, plain: true };
  await container.items.create(item);
  const { resource } = await container.item('1', 'p').read();
  assert.deepEqual({ ssn: resource.ssn, diary: resource.diary }, { ssn: '123', diary: { day: 1 } });
  const query = new EncryptionQueryBuilder('SELECT * FROM c WHERE c.ssn = @ssn');
  query.addParameter('@ssn', '123', '/ssn');
  const iterator = await container.items.getEncryptionQueryIterator(query);
  const { resources } = await iterator.fetchAll();
  assert.deepEqual(
    resources.map(({ id, ssn }) => [id, ssn]),
    [['1', '123']],
  );
  const stored = listOf(
    ok(await server.send('GET', `/dbs/${box.database}/colls/secret/docs`), 200),
    'Documents',
  );
  assert.equal(stored[0]?.plain, true);
  assert.notEqual(stored[0]?.ssn, '123');
  assert.notEqual(stored[0]?.pk, 'p');
  const rewrapped = await database.rewrapClientEncryptionKey('sdk', { ...METADATA, name: 'next' });
  const { json: kept } = ok(await server.send('GET', `${feed}/sdk`), 200);
  assert.equal((kept.keyWrapMetadata as Json).name, 'next');
  assert.equal(rewrapped.resource?.id, 'sdk');
});

test('keys are created, read, listed, queried and replaced, but not deleted', async () => {
  const made = ok(await server.send('POST', feed, { body: KEY }), 201);
  for (const [name, value] of Object.entries(KEY)) assert.deepEqual(made.json[name], value);
  assert.equal(Buffer.from(String(made.json._rid), 'base64').length, 16);
  refused(await server.send('POST', feed, { body: KEY }), 409, 0);
  const headers = { 'x-ms-cosmos-allow-cachedreads': 'true', 'x-ms-cosmos-database-rid': 'x' };
  const read = ok(await server.send('GET', `${feed}/k`, { headers }), 200);
  assert.deepEqual(read.json, made.json);
  const current = { 'if-none-match': String(made.json._etag) };
  assert.equal((await server.send('GET', `${feed}/k`, { headers: current })).status, 304);
  const listed = listOf(ok(await server.send('GET', feed), 200), 'ClientEncryptionKeys');
  assert.ok(listed.some(({ id }) => id === 'k'));
  const query = { query: "SELECT VALUE k.keyWrapMetadata.name FROM k WHERE k.id = 'k'" };
  const asked = { body: query, headers: { 'x-ms-documentdb-isquery': 'true' } };
  const { json } = ok(await server.send('POST', feed, asked), 200);
  assert.deepEqual(json.ClientEncryptionKeys, ['master']);
  const body = { ...KEY, wrappedDataEncryptionKey: Buffer.alloc(48, 8).toString('base64') };
  const stale = { 'if-match': '"else"' };
  refused(await server.send('PUT', `${feed}/k`, { body, headers: stale }), 412, 0);
  ok(await server.send('PUT', `${feed}/k`, { body }), 200);
  refused(await server.send('PUT', `${feed}/k`, { body: { ...body, id: 'l' } }), 400, 0, "'l'");
  refused(await server.send('DELETE', `${feed}/k`), 405, 0, 'DELETE');
  refused(await server.send('GET', `${feed}/none`), 404, 0);
  refused(await server.send('GET', '/dbs/none/clientencryptionkeys'), 404, 1003);
  const self = String(made.json._self).replace(/\/$/, '');
  const byRid = { link: String(made.json._rid).toLowerCase() };
  assert.equal(ok(await server.send('GET', `/${self}`, byRid), 200).json.id, 'k');
});

test('a database has twenty of them', async () => {
  const full = await server.box();
  const path = `/dbs/${full.database}/clientencryptionkeys`;
  for (let at = 0; at < 20; at++) {
    ok(await server.send('POST', path, { body: { ...KEY, id: `k${at}` } }), 201);
  }
  refused(await server.send('POST', path, { body: KEY }), 403, 1005, 'already has 20');
  ok(await server.send('DELETE', `/dbs/${full.database}`), 204);
  ok(await server.send('POST', '/dbs', { body: { id: full.database } }), 201);
  assert.deepEqual(listOf(ok(await server.send('GET', path), 200), 'ClientEncryptionKeys'), []);
});

const metadata = (changes: Json) => ({ keyWrapMetadata: { ...METADATA, ...changes } });
const BAD_KEYS: readonly (readonly [Json, string])[] = [
  [{ id: undefined }, "'id; '"],
  [{ id: 'a/b' }, "invalid character '/'"],
  [{ encryptionAlgorithm: undefined }, "'encryptionAlgorithm' is missing"],
  [{ encryptionAlgorithm: 'ROT13' }, 'The value "ROT13" of \'encryptionAlgorithm\''],
  [{ wrappedDataEncryptionKey: undefined }, "'wrappedDataEncryptionKey' is missing"],
  [{ wrappedDataEncryptionKey: '' }, 'must be a base64 text'],
  [{ wrappedDataEncryptionKey: 'not base64' }, 'must be a base64 text'],
  [{ wrappedDataEncryptionKey: 5 }, "The value 5 of 'wrappedDataEncryptionKey'"],
  [{ keyWrapMetadata: undefined }, "'keyWrapMetadata' is missing"],
  [{ keyWrapMetadata: 'x' }, 'The value "x" of \'keyWrapMetadata\''],
  [metadata({ type: undefined }), "'keyWrapMetadata.type' is missing"],
  [metadata({ name: '' }), "'keyWrapMetadata.name' is invalid"],
  [metadata({ value: 5 }), "The value 5 of 'keyWrapMetadata.value'"],
  [metadata({ algorithm: undefined }), "'keyWrapMetadata.algorithm' is missing"],
  [metadata({ colour: 'red' }), "'colour' is not a property of keyWrapMetadata"],
  [{ expires: 5 }, "'expires' is not a property of a client encryption key"],
];

for (const [changes, text] of BAD_KEYS) {
  test(`no key: ${JSON.stringify(changes)}`, async () => {
    const body = { ...KEY, id: 'bad', ...changes };
    refused(await server.send('POST', feed, { body }), 400, 0, text);
  });
}

const PATH = {
  path: '/ssn',
  clientEncryptionKeyId: 'k',
  encryptionType: 'Deterministic',
  encryptionAlgorithm: 'AEAD_AES_256_CBC_HMAC_SHA256',
};
const policy = (version: unknown, ...paths: readonly Json[]) => ({
  policyFormatVersion: version,
  includedPaths: paths.map((path) => ({ ...PATH, ...path })),
});

describe('a policy', () => {
  const colls = `/dbs/${box.database}/colls`;
  const create = (clientEncryptionPolicy: unknown, id = 'bad') =>
    server.send('POST', colls, {
      body: { id, partitionKey: { paths: ['/tenant/id'] }, clientEncryptionPolicy },
    });

  for (const [given, text] of [
    [5, "'clientEncryptionPolicy'"],
    [{}, "'clientEncryptionPolicy.includedPaths' is missing"],
    [policy(0, {}), 'it must be 1 or 2'],
    [policy(3, {}), 'it must be 1 or 2'],
    [policy('2', {}), 'it must be 1 or 2'],
    [policy(1, { path: 'ssn' }), 'top-level property'],
    [policy(1, { path: '/' }), 'top-level property'],
    [policy(1, { path: '/a/b' }), 'top-level property'],
    [policy(1, { path: undefined }), '.path'],
    [policy(1, { clientEncryptionKeyId: '' }), 'must not be empty'],
    [policy(1, { clientEncryptionKeyId: undefined }), 'clientEncryptionKeyId'],
    [policy(1, { encryptionType: 'Double' }), 'Deterministic, Randomized'],
    [policy(1, { encryptionType: undefined }), 'Deterministic, Randomized'],
    [policy(1, { encryptionAlgorithm: 'ROT13' }), 'AEAD_AES_256_CBC_HMAC_SHA256'],
    [policy(1, {}, {}), 'Duplicate path found: /ssn'],
    [policy(1, { path: '/id' }), 'only supported with policy format version 2'],
    [policy(1, { path: '/tenant' }), 'only supported with policy format version 2'],
    [policy(2, { path: '/id', encryptionType: 'Randomized' }), 'with Deterministic type'],
    [policy(2, { path: '/tenant', encryptionType: 'Randomized' }), 'with Deterministic type'],
    [policy(1, { colour: 'red' }), "'colour'"],
    [{ ...policy(1, {}), colour: 'red' }, "'colour'"],
  ] as const) {
    test(`is refused: ${JSON.stringify(given)}`, async () => {
      refused(await create(given), 400, 0, text);
    });
  }

  test('is kept, in either format, and cannot be changed', async () => {
    ok(await create(policy(1, {}, { path: '/b', encryptionType: 'Randomized' }), 'one'), 201);
    const second = policy(2, { path: '/id' }, { path: '/tenant' });
    assert.deepEqual(ok(await create(second, 'two'), 201).json.clientEncryptionPolicy, second);
    const replace = (clientEncryptionPolicy: unknown) =>
      server.send('PUT', `${colls}/two`, {
        body: { id: 'two', partitionKey: { paths: ['/tenant/id'] }, clientEncryptionPolicy },
      });
    assert.deepEqual(ok(await replace(undefined), 200).json.clientEncryptionPolicy, second);
    ok(await replace(second), 200);
    refused(await replace(policy(2, { path: '/id' })), 400, 0, 'cannot be changed');
    const headers = { ...keyHeader('a'), 'x-ms-cosmos-is-client-encrypted': 'true' };
    const item = { id: '1', tenant: { id: 'a' } };
    ok(await server.send('POST', `${colls}/two/docs`, { body: item, headers }), 201);
  });
});
