// Whole definitions: defaults, order of properties, time to live, replacement, hostile bodies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MayflyError } from '../../value/errors.js';
import {
  type Random,
  randomInteger,
  randomJson,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../value/random.suite.js';
import { defineContainer, redefineContainer } from './container-definition.js';
import { sameForm } from './fields.js';
import { define, MINIMAL, refuses } from './refusal.suite.js';

const FULL = {
  id: 'c',
  indexingPolicy: {
    indexingMode: 'lazy',
    automatic: true,
    includedPaths: [{ path: '/*' }, { path: '/events/[]/{name, place/city}/?' }],
    excludedPaths: [{ path: '/secret/*' }, { path: '/"_etag"/?' }],
    compositeIndexes: [
      [
        { path: '/a', order: 'ascending' },
        { path: '/b', order: 'descending' },
      ],
    ],
    spatialIndexes: [{ path: '/loc/*', types: ['Point', 'Polygon'] }],
    vectorIndexes: [{ path: '/v', type: 'diskANN', quantizationByteSize: 64 }],
    fullTextIndexes: [{ path: '/text' }],
  },
  partitionKey: { paths: ['/tenant', '/user'], kind: 'MultiHash', version: 2 },
  defaultTtl: 60,
  uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/email', '/a/b'] }] },
  conflictResolutionPolicy: {
    mode: 'LastWriterWins',
    conflictResolutionPath: '/rank',
    conflictResolutionProcedure: '',
  },
  geospatialConfig: { type: 'Geography' },
  analyticalStorageTtl: -1,
  computedProperties: [{ name: 'cp_x', query: 'SELECT VALUE LOWER(c.x) FROM c' }],
  changeFeedPolicy: { retentionDuration: 10 },
  vectorEmbeddingPolicy: {
    vectorEmbeddings: [
      { path: '/v', dataType: 'float32', dimensions: 1536, distanceFunction: 'cosine' },
    ],
  },
  fullTextPolicy: {
    defaultLanguage: 'en-US',
    fullTextPaths: [{ path: '/text', language: 'en-US' }],
  },
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
};

test('the smallest body gets the defaults, in the order that is served', () => {
  assert.equal(
    JSON.stringify(defineContainer(MINIMAL)),
    '{"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,' +
      '"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\\"_etag\\"/?"}]},' +
      '"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},' +
      '"conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts",' +
      '"conflictResolutionProcedure":""},"geospatialConfig":{"type":"Geography"}}',
  );
});

test('a full definition in normal form is stored as it is, whatever the order it came in', () => {
  const reversed = Object.fromEntries(Object.entries(FULL).reverse());
  assert.equal(JSON.stringify(defineContainer(reversed)), JSON.stringify(FULL));
});

test('a stored definition sent back changes nothing, system properties or not', () => {
  for (const body of [FULL, MINIMAL]) {
    const stored = defineContainer(body);
    const served = { ...stored, _rid: 'x', _ts: 1, _self: 's', _etag: 'e', _docs: 'docs/' };
    assert.equal(JSON.stringify(redefineContainer(served, stored)), JSON.stringify(stored));
  }
});

test('T20: defaultTtl is off when absent or null, and otherwise -1 or 1..2147483647', () => {
  const current = define({ defaultTtl: 60 });
  for (const defaultTtl of [undefined, null]) {
    assert.equal('defaultTtl' in define({ defaultTtl }), false);
    assert.equal('defaultTtl' in redefineContainer({ ...MINIMAL, defaultTtl }, current), false);
  }
  for (const defaultTtl of [-1, 1, 20.0, 2_147_483_647]) {
    assert.equal(define({ defaultTtl }).defaultTtl, defaultTtl);
    assert.equal(redefineContainer({ ...MINIMAL, defaultTtl }, current).defaultTtl, defaultTtl);
  }
  for (const defaultTtl of [0, -2, -10, 2_147_483_648, 1.5, '60', true, {}, []]) {
    const words = [`The input defaultTtl '${JSON.stringify(defaultTtl)}' is invalid.`];
    refuses(() => define({ defaultTtl }), words, 'defaultTtlInvalid');
    refuses(
      () => redefineContainer({ ...MINIMAL, defaultTtl }, current),
      words,
      'defaultTtlInvalid',
    );
  }
});

test('T24: defaultTtl needs indexing, on creation and in both directions of a replacement', () => {
  const words = ["Indexing mode value cannot be 'none' when 'defaultTtl' is specified"];
  const none = { indexingPolicy: { indexingMode: 'none' } };
  for (const defaultTtl of [-1, 60]) {
    const both = { ...MINIMAL, ...none, defaultTtl };
    refuses(() => defineContainer(both), words, 'ttlNeedsIndexing');
    refuses(() => redefineContainer(both, define(none)), words, 'ttlNeedsIndexing');
    refuses(() => redefineContainer(both, define({ defaultTtl })), words, 'ttlNeedsIndexing');
    const lazy = define({ indexingPolicy: { indexingMode: 'lazy' }, defaultTtl });
    assert.equal(lazy.defaultTtl, defaultTtl);
  }
  const off = redefineContainer(
    { ...MINIMAL, ...none, defaultTtl: null },
    define({ defaultTtl: 5 }),
  );
  assert.equal(off.indexingPolicy.indexingMode, 'none');
  assert.equal(off.defaultTtl, undefined);
});

test('T28: analyticalStorageTtl is its own setting, which a silent replacement keeps', () => {
  for (const off of [undefined, null, 0]) {
    assert.equal('analyticalStorageTtl' in define({ analyticalStorageTtl: off }), false);
  }
  const current = define({ analyticalStorageTtl: 100 });
  assert.equal(redefineContainer(MINIMAL, current).analyticalStorageTtl, 100);
  for (const [given, kept] of [
    [-1, -1],
    [2_147_483_647, 2_147_483_647],
    [0, undefined],
    [null, undefined],
  ] as const) {
    const next = redefineContainer({ ...MINIMAL, analyticalStorageTtl: given }, current);
    assert.equal(next.analyticalStorageTtl, kept);
  }
  for (const analyticalStorageTtl of [-2, 2_147_483_648, 1.5, '60', true]) {
    refuses(
      () => define({ analyticalStorageTtl }),
      [`analyticalStorageTtl '${JSON.stringify(analyticalStorageTtl)}' is invalid`],
    );
  }
});

test('names that a definition may carry without effect, and those that are refused', () => {
  const harmless = {
    _rid: 'x',
    _colls: 'colls/',
    _anything: {},
    ['__proto__']: { id: 'd' },
    statistics: [{}],
    partitionKeyDefinition: {},
    schema: {},
    backupPolicy: { type: 1 },
    documentsLink: 'docs',
    materializedViews: [],
    dataMaskingPolicy: null,
    materializedViewDefinition: null,
    whatever: null,
  };
  assert.deepEqual(define(harmless), define({}));
  for (const name of ['dataMaskingPolicy', 'materializedViewDefinition', 'constructor', 'x']) {
    refuses(() => define({ [name]: {} }), [`'${name}'`, 'not a known setting']);
    refuses(() => redefineContainer({ ...MINIMAL, [name]: 1 }, define({})), [`'${name}'`]);
  }
});

test('a replacement names the same id and partition key', () => {
  const current = define({});
  const replace = (body: unknown) => () => redefineContainer(body, current);
  refuses(replace({ ...MINIMAL, id: 'd' }), ["'d'", "'c'"], 'idChanged');
  refuses(replace({ partitionKey: MINIMAL.partitionKey }), ["'id; '"], 'missingProperty');
  refuses(replace({ ...MINIMAL, id: 5 }), ["'id; '"], 'missingProperty');
  refuses(replace({ id: 'c' }), ["'partitionKey' is missing"]);
  refuses(replace({ id: 'c', partitionKey: { paths: ['/x'] } }), ['cannot be changed']);
});

test('a replacement without an indexing policy returns to the default one', () => {
  const current = define({ indexingPolicy: { indexingMode: 'none' } });
  assert.deepEqual(redefineContainer(MINIMAL, current), define({}));
});

test('a body that is no object, or nested too deep, is refused', () => {
  for (const body of [undefined, null, 1, 'x', true, [], [MINIMAL]]) {
    refuses(() => defineContainer(body), ['a JSON object'], 'invalidJson');
    refuses(() => redefineContainer(body, define({})), ['a JSON object'], 'invalidJson');
  }
  const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  assert.deepEqual(define({ statistics: nested(127) }), define({}));
  for (const depth of [128, 100_000]) {
    refuses(() => define({ defaultTtl: nested(depth) }), ['128 levels'], 'nestingTooDeep');
  }
});

const HOSTILE = [
  null,
  -0,
  1e308,
  '',
  '/',
  '/*',
  '/a/?',
  '__proto__',
  'constructor',
  'x'.repeat(100_000),
  `/${'a/'.repeat(50_000)}`,
  [],
  [[]],
  {},
  { path: '/a' },
  { path: { path: '/a' } },
  { constructor: 1, toString: 2, hasOwnProperty: 3, length: 4 },
  Array(2000).fill({ path: '/a/?' }),
] as const;
const ROUNDS = 5_000;

test('whatever is put in place of any part, the answer is a definition or a refusal', (t) => {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  const current = defineContainer(FULL);
  let accepted = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const body = mutate(FULL, random);
    const message = () => `SEED=${seed} round ${round}: ${JSON.stringify(body).slice(0, 2000)}`;
    const defined = attempt(() => defineContainer(body), message);
    attempt(() => redefineContainer(body, current), message);
    if (defined === undefined) continue;
    accepted++;
    const again = redefineContainer(JSON.parse(JSON.stringify(defined)), defined);
    if (!sameForm(again, defined)) assert.fail(message());
  }
  assert.ok(accepted > 0 && accepted < ROUNDS, `SEED=${seed}: ${accepted} accepted`);
});

function attempt<T>(run: () => T, message: () => string): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof MayflyError && error.message.length < 1000) return undefined;
    return assert.fail(`${String(error)} at ${message()}`);
  }
}

/** A copy in which one part, chosen at random at any depth, is gone, doubled, or something else. */
function mutate(value: unknown, random: Random): unknown {
  const inner = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (inner.length === 0 || random() < 0.1) {
    return random() < 0.7 ? randomPick(random, HOSTILE) : randomJson(random);
  }
  const name = inner[randomInteger(random, inner.length)] ?? '';
  const part = (value as Record<string, unknown>)[name];
  if (Array.isArray(value)) {
    const changed = random() < 0.2 ? [part, part] : [mutate(part, random)];
    return value.toSpliced(Number(name), 1, ...changed);
  }
  const copy = { ...(value as Record<string, unknown>) };
  if (random() < 0.1) delete copy[name];
  else copy[name] = mutate(part, random);
  return copy;
}
