// The policies of a container: each is checked, completed and served back as it acts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, keyHeader, ok, refused, serve } from './support.suite.js';

const server = await serve();
ok(await server.send('POST', '/dbs', { body: { id: 'd' } }), 201);
const KEY = { paths: ['/pk'], kind: 'Hash', version: 2 };
let containers = 0;

const ECHOED: readonly (readonly [string, Json])[] = [
  ['default TTL', { defaultTtl: 3600 }],
  ['default TTL without a default', { defaultTtl: -1 }],
  ['analytical TTL', { analyticalStorageTtl: -1 }],
  ['unique keys', { uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/email', '/a/b'] }] } }],
  [
    'conflict resolution by a path',
    {
      conflictResolutionPolicy: {
        mode: 'LastWriterWins',
        conflictResolutionPath: '/version',
        conflictResolutionProcedure: '',
      },
    },
  ],
  [
    'conflict resolution by a procedure',
    {
      conflictResolutionPolicy: {
        mode: 'Custom',
        conflictResolutionPath: '',
        conflictResolutionProcedure: 'dbs/d/colls/c/sprocs/resolve',
      },
    },
  ],
  ['geometry', { geospatialConfig: { type: 'Geometry' } }],
  [
    'computed properties',
    { computedProperties: [{ name: 'cp_x', query: 'SELECT VALUE LOWER(c.x) FROM c' }] },
  ],
  ['change feed retention', { changeFeedPolicy: { retentionDuration: 10 } }],
  [
    'vectors',
    {
      vectorEmbeddingPolicy: {
        vectorEmbeddings: [
          { path: '/v', dataType: 'float32', dimensions: 3, distanceFunction: 'cosine' },
        ],
      },
    },
  ],
  [
    'full text',
    {
      fullTextPolicy: {
        defaultLanguage: 'en-US',
        fullTextPaths: [{ path: '/text', language: 'en-US' }],
      },
    },
  ],
  [
    'client encryption',
    {
      clientEncryptionPolicy: {
        policyFormatVersion: 1,
        includedPaths: [
          {
            path: '/ssn',
            clientEncryptionKeyId: 'k',
            encryptionType: 'Deterministic',
            encryptionAlgorithm: 'AEAD_AES_256_CBC_HMAC_SHA256',
          },
        ],
      },
    },
  ],
];

for (const [what, policy] of ECHOED) {
  test(`${what}: echoed by create, read and replace`, async () => {
    const path = await create(policy);
    for (const reply of [await server.send('GET', path), await replace(path, policy)]) {
      for (const [name, value] of Object.entries(policy)) {
        assert.deepEqual(ok(reply, 200).json[name], value, name);
      }
    }
  });
}

const ETAG = { path: '/"_etag"/?' };
const CONSISTENT = { indexingMode: 'consistent', automatic: true };
const NONE = { indexingMode: 'none', automatic: false, includedPaths: [], excludedPaths: [] };

const INDEXING: readonly (readonly [string, Json | undefined, Json])[] = [
  ['absent', undefined, { ...CONSISTENT, includedPaths: [{ path: '/*' }], excludedPaths: [ETAG] }],
  ['empty', {}, { ...CONSISTENT, includedPaths: [{ path: '/*' }], excludedPaths: [ETAG] }],
  [
    'capital letters',
    { indexingMode: 'Consistent' },
    { ...CONSISTENT, includedPaths: [{ path: '/*' }], excludedPaths: [ETAG] },
  ],
  [
    'excluded paths without the etag',
    { includedPaths: [{ path: '/*' }], excludedPaths: [{ path: '/big/*' }] },
    {
      ...CONSISTENT,
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/big/*' }, ETAG],
    },
  ],
  [
    'excluded paths with the etag',
    { includedPaths: [{ path: '/*' }], excludedPaths: [ETAG] },
    { ...CONSISTENT, includedPaths: [{ path: '/*' }], excludedPaths: [ETAG] },
  ],
  [
    'the root excluded',
    { includedPaths: [{ path: '/a/?' }], excludedPaths: [{ path: '/*' }] },
    { ...CONSISTENT, includedPaths: [{ path: '/a/?' }], excludedPaths: [{ path: '/*' }, ETAG] },
  ],
  [
    'quoted labels, arrays and tuples',
    {
      includedPaths: [
        { path: '/*' },
        { path: '/"my-prop"/?' },
        { path: '/tags/[]/?' },
        { path: '/arr/[]/{a, b/c}/?' },
      ],
      excludedPaths: [ETAG],
    },
    {
      ...CONSISTENT,
      includedPaths: [
        { path: '/*' },
        { path: '/"my-prop"/?' },
        { path: '/tags/[]/?' },
        { path: '/arr/[]/{a, b/c}/?' },
      ],
      excludedPaths: [ETAG],
    },
  ],
  [
    'legacy kinds and precisions',
    {
      includedPaths: [
        { path: '/*', indexes: [{ kind: 'Range', dataType: 'Number', precision: -1 }] },
      ],
    },
    { ...CONSISTENT, includedPaths: [{ path: '/*' }], excludedPaths: [ETAG] },
  ],
  [
    'lazy',
    { indexingMode: 'lazy' },
    {
      indexingMode: 'lazy',
      automatic: true,
      includedPaths: [{ path: '/*' }],
      excludedPaths: [ETAG],
    },
  ],
  ['none', { indexingMode: 'none' }, NONE],
  ['none, not automatic', { indexingMode: 'None', automatic: false }, NONE],
];

for (const [what, given, served] of INDEXING) {
  test(`indexing policy, ${what}: served back completed`, async () => {
    const path = await create(given === undefined ? {} : { indexingPolicy: given });
    assert.deepEqual(ok(await server.send('GET', path), 200).json.indexingPolicy, served);
  });
}

test('composite, spatial, vector and full-text indexes are echoed', async () => {
  const box = { xmin: 0, ymin: 0, xmax: 10, ymax: 10 };
  const special = {
    compositeIndexes: [
      [
        { path: '/a', order: 'ascending' },
        { path: '/b', order: 'descending' },
      ],
    ],
    spatialIndexes: [{ path: '/loc/*', types: ['Point', 'Polygon'], boundingBox: box }],
    vectorIndexes: [{ path: '/v', type: 'flat' }],
    fullTextIndexes: [{ path: '/text' }],
  };
  const path = await create({
    geospatialConfig: { type: 'Geometry' },
    vectorEmbeddingPolicy: {
      vectorEmbeddings: [
        { path: '/v', dataType: 'float32', dimensions: 3, distanceFunction: 'euclidean' },
      ],
    },
    fullTextPolicy: { defaultLanguage: 'en-US', fullTextPaths: [{ path: '/text' }] },
    indexingPolicy: special,
  });
  const served = ok(await server.send('GET', path), 200).json.indexingPolicy as Json;
  for (const [name, value] of Object.entries(special)) assert.deepEqual(served[name], value, name);
});

const flat = { vectorIndexes: [{ path: '/vector2', type: 'flat' }] };
const spatial = (boundingBox?: Json) => ({
  spatialIndexes: [{ path: '/loc/*', types: ['Point'], boundingBox }],
});
const KEYS_REFUSED: readonly (readonly [string, Json, readonly string[]])[] = [
  ['mode none, automatic', { indexingPolicy: { ...NONE, automatic: true } }, ['none']],
  ['an unknown mode', { indexingPolicy: { indexingMode: 'eager' } }, ['eager']],
  [
    'no root path',
    { indexingPolicy: { includedPaths: [{ path: '/a/?' }] } },
    ['mandatory indexing path'],
  ],
  ['a path that is none', { indexingPolicy: { includedPaths: [{ path: 'a' }] } }, ["'a'"]],
  [
    'geometry without a bounding box',
    { geospatialConfig: { type: 'Geometry' }, indexingPolicy: spatial() },
    ['boundingBox', 'Geometry'],
  ],
  [
    'geography with a bounding box',
    { indexingPolicy: spatial({ xmin: 0, ymin: 0, xmax: 1, ymax: 1 }) },
    ['boundingBox', 'Geography'],
  ],
  [
    'a vector index without vectors',
    { indexingPolicy: flat },
    ["not matching in Embedding's path"],
  ],
  [
    'a vector index on another path',
    {
      indexingPolicy: flat,
      vectorEmbeddingPolicy: {
        vectorEmbeddings: [
          { path: '/vector1', dataType: 'float32', dimensions: 3, distanceFunction: 'cosine' },
        ],
      },
    },
    ["vector2 not matching in Embedding's path"],
  ],
  ['no partition key', { partitionKey: undefined }, ['partitionKey']],
  ['paths that are no array', { partitionKey: { paths: '/pk' } }, ['paths']],
  ['no paths', { partitionKey: { paths: [] } }, ['paths']],
  [
    'a path without a slash',
    { partitionKey: { paths: ['id'] } },
    ["The partition key component definition path 'id' could not be accepted"],
  ],
  ['a wildcard', { partitionKey: { paths: ['/a/*'] } }, ['trailing slash or wildcard character']],
  ['a slash at the end', { partitionKey: { paths: ['/a/'] } }, ['trailing slash']],
  ['a path to a value', { partitionKey: { paths: ['/a/?'] } }, ['valid characters']],
  ['two paths of kind Hash', { partitionKey: { paths: ['/a', '/b'] } }, ['Hash']],
  [
    'a hierarchy of version 1',
    { partitionKey: { paths: ['/a', '/b'], kind: 'MultiHash', version: 1 } },
    ['Subpartitioning is only supported for Hash V2.'],
  ],
  [
    'four levels',
    { partitionKey: { paths: ['/a', '/b', '/c', '/d'], kind: 'MultiHash' } },
    ['Subpartitioning is only supported for atmost 3 partition paths'],
  ],
  ['version 3', { partitionKey: { paths: ['/a'], version: 3 } }, ['version']],
];

for (const [what, definition, texts] of KEYS_REFUSED) {
  test(`${what}: refused, and nothing is created`, async () => {
    const id = `refused ${what}`;
    const body = { id, partitionKey: KEY, ...definition };
    const reply = await server.send('POST', '/dbs/d/colls', { body });
    for (const text of texts) refused(reply, 400, 0, text);
    refused(await server.send('GET', `/dbs/d/colls/${encodeURIComponent(id)}`), 404, 0);
  });
}

const KEYS_ECHOED: readonly Json[] = [
  { paths: ['/pk'], kind: 'Hash', version: 1 },
  { paths: ['/pk'], kind: 'Hash', version: 2 },
  { paths: ['/a/b/c'], kind: 'Hash', version: 2 },
  { paths: ['/"a b"/"c-d"'], kind: 'Hash', version: 2 },
  { paths: ['/t'], kind: 'MultiHash', version: 2 },
  { paths: ['/t', '/u'], kind: 'MultiHash', version: 2 },
  { paths: ['/t', '/u/v', '/s'], kind: 'MultiHash', version: 2 },
];

for (const partitionKey of KEYS_ECHOED) {
  test(`the partition key ${JSON.stringify(partitionKey)} is echoed`, async () => {
    const path = await create({ partitionKey });
    assert.deepEqual(ok(await server.send('GET', path), 200).json.partitionKey, partitionKey);
    assert.deepEqual(
      ok(await replace(path, { partitionKey }), 200).json.partitionKey,
      partitionKey,
    );
  });
}

test('kind and version are filled in, because clients hash by what they are told', async () => {
  const path = await create({ partitionKey: { paths: ['/pk'] } });
  const key = ok(await server.send('GET', path), 200).json.partitionKey as Json;
  assert.equal(key.kind, 'Hash');
  assert.ok(key.version === 1 || key.version === 2);
});

test('a nested key is found in the item, also behind a quoted label', async () => {
  for (const paths of [['/a/b'], ['/"a"/"b"']]) {
    const path = await create({ partitionKey: { ...KEY, paths } });
    const item = { body: { id: '1', a: { b: 'x' } }, headers: keyHeader('x') };
    ok(await server.send('POST', `${path}/docs`, item), 201);
    ok(await server.send('GET', `${path}/docs/1`, { headers: keyHeader('x') }), 200);
  }
});

test('SDK: a container without a partition key gets the key of the system', async () => {
  const database = server.client().database('d');
  const { container, resource } = await database.containers.create({ id: 'keyless' });
  assert.deepEqual(resource?.partitionKey?.paths, ['/_partitionKey']);
  const { statusCode } = await container.items.create({ id: '1' });
  assert.equal(statusCode, 201);
  const { resource: item } = await container.item('1', undefined).read();
  assert.equal(item?.id, '1');
});

test('SDK: hierarchical and nested keys are extracted and found again', async () => {
  const database = server.client().database('d');
  const definition = { paths: ['/t', '/u/v'], kind: 'MultiHash', version: 2 };
  const { container } = await database.containers.create({
    id: 'hierarchy',
    partitionKey: definition as { paths: string[] },
  });
  await container.items.create({ id: '1', t: 'a', u: { v: 7 } });
  const { resource } = await container.item('1', ['a', 7]).read();
  assert.deepEqual([resource.t, resource.u], ['a', { v: 7 }]);
});

async function create(definition: Json): Promise<string> {
  containers += 1;
  const id = `c${containers}`;
  const body = { id, partitionKey: KEY, ...definition };
  const created = ok(await server.send('POST', '/dbs/d/colls', { body }), 201);
  for (const [name, value] of Object.entries(definition)) {
    if (name !== 'indexingPolicy' && name !== 'partitionKey') {
      assert.deepEqual(created.json[name], value, name);
    }
  }
  return `/dbs/d/colls/${id}`;
}

function replace(path: string, changes: Json) {
  const id = path.split('/').at(-1);
  return server.send('PUT', path, { body: { id, partitionKey: KEY, ...changes } });
}
