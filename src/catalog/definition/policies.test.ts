// The smaller policies: unique keys, conflicts, computed properties, change feed, encryption.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ContainerDefinition, redefineContainer } from './container-definition.js';
import { define, MINIMAL, refuses } from './refusal.suite.js';

type Row = readonly [unknown, unknown];

function forms(name: keyof ContainerDefinition, rows: readonly Row[]): void {
  for (const [given, form] of rows) {
    assert.equal(JSON.stringify(define({ [name]: given })[name]), JSON.stringify(form));
  }
}

function refusals(name: string, rows: readonly (readonly [unknown, readonly string[]])[]): void {
  for (const [given, words] of rows) refuses(() => define({ [name]: given }), words);
}

test('uniqueKeyPolicy', () => {
  const keys = (...uniqueKeys: unknown[]) => ({ uniqueKeys });
  const many = (count: number) => Array.from({ length: count }, (_, index) => `/p${index}`);
  const ten = keys(...many(10).map((path) => ({ paths: [path] })));
  forms('uniqueKeyPolicy', [
    [undefined, undefined],
    [{}, undefined],
    [keys(), undefined],
    [keys({ paths: ['/email', '/a/b'] }), keys({ paths: ['/email', '/a/b'] })],
    [ten, ten],
    [keys({ paths: many(16) }), keys({ paths: many(16) })],
  ]);
  refusals('uniqueKeyPolicy', [
    [[], ["'uniqueKeyPolicy'", 'an object']],
    [{ uniqueKeys: {} }, ["'uniqueKeyPolicy.uniqueKeys'", 'an array']],
    [keys({}), ["uniqueKeys[0].paths' is missing"]],
    [keys({ paths: [] }), ["uniqueKeys[0].paths' is empty"]],
    [keys({ paths: '/a' }), ['"/a"', 'an array']],
    [keys({ paths: [5] }), ["5 of 'uniqueKeyPolicy.uniqueKeys[0].paths[0]'"]],
    [keys({ paths: ['/a/*'] }), ["'/a/*'", 'wildcards']],
    [keys({ paths: ['/a/?'] }), ["'/a/?'", "position '3'"]],
    [keys({ paths: ['/a', '/"a"'] }), ['["a"] appears twice']],
    [keys({ paths: ['/a', '/b'] }, { paths: ['/b', '/a'] }), ['/b, /a appears twice']],
    [keys({ paths: many(17) }), ['17 entries', 'the maximum is 16']],
    [keys(...many(11).map((path) => ({ paths: [path] }))), ['11 entries', 'the maximum is 10']],
    [keys({ paths: ['/a'], filter: 'x' }), ["'filter' is not a property"]],
    [{ keys: [] }, ["'keys' is not a property of 'uniqueKeyPolicy'"]],
  ]);
});

test('conflictResolutionPolicy', () => {
  const form = (mode: string, conflictResolutionPath: string, procedure = '') => ({
    mode,
    conflictResolutionPath,
    conflictResolutionProcedure: procedure,
  });
  const sproc = 'dbs/d/colls/c/sprocs/resolve';
  forms('conflictResolutionPolicy', [
    [undefined, form('LastWriterWins', '/_ts')],
    [{}, form('LastWriterWins', '/_ts')],
    [{ mode: 'lastwriterwins', conflictResolutionPath: '' }, form('LastWriterWins', '/_ts')],
    [{ conflictResolutionPath: '/rank/n' }, form('LastWriterWins', '/rank/n')],
    [{ mode: 'Custom' }, form('Custom', '')],
    [{ mode: 'Custom', conflictResolutionProcedure: sproc }, form('Custom', '', sproc)],
  ]);
  refusals('conflictResolutionPolicy', [
    ['Custom', ["'conflictResolutionPolicy'", 'an object']],
    [{ mode: 'Random' }, ['"Random"', 'LastWriterWins, Custom']],
    [{ conflictResolutionPath: 'rank' }, ["'rank'", "position '0'"]],
    [{ conflictResolutionPath: 1 }, ["1 of 'conflictResolutionPolicy.conflictResolutionPath'"]],
    [{ conflictResolutionProcedure: sproc }, ["conflictResolutionProcedure'", 'LastWriterWins']],
    [{ mode: 'Custom', conflictResolutionPath: '/a' }, ["conflictResolutionPath'", 'Custom']],
    [{ winner: 'first' }, ["'winner' is not a property"]],
  ]);
});

test('computedProperties', () => {
  const lower = { name: 'cp_lower', query: 'SELECT VALUE LOWER(c.name) FROM c' };
  const twenty = Array.from({ length: 20 }, (_, index) => ({ ...lower, name: `cp_${index}` }));
  forms('computedProperties', [
    [undefined, undefined],
    [[], undefined],
    [[lower], [lower]],
    [
      [{ ...lower, query: ' select\nvalue{a: c.b}from root c' }],
      [{ ...lower, query: ' select\nvalue{a: c.b}from root c' }],
    ],
    [[{ ...lower, name: 'constructor' }], [{ ...lower, name: 'constructor' }]],
    [twenty, twenty],
  ]);
  refusals('computedProperties', [
    [lower, ["'computedProperties'", 'an array']],
    [[null], ["'computedProperties[0]' is missing"]],
    [[{ query: lower.query }], ["computedProperties[0].name' is missing"]],
    [[{ ...lower, name: '' }], ['must not be empty']],
    [[{ ...lower, name: 'id' }], ['"id"', 'a system property']],
    [[{ ...lower, name: '_ts' }], ['"_ts"', 'a system property']],
    [[{ ...lower, name: 'n'.repeat(256) }], ['256 characters', 'the maximum is 255']],
    [[lower, lower], ["'cp_lower' appears twice"]],
    [
      [...twenty, lower],
      ['21 entries', 'the maximum is 20'],
    ],
    [[{ ...lower, query: 5 }], ["5 of 'computedProperties[0].query'", 'a string']],
    [[{ ...lower, query: 'SELECT c.name FROM c' }], ['SELECT VALUE <expression> FROM']],
    [[{ ...lower, query: 'SELECT VALUE c.name' }], ['SELECT VALUE <expression> FROM']],
    [[{ ...lower, query: 'x'.repeat(600_000) }], ['600000 characters']],
    [[{ ...lower, type: 'string' }], ["'type' is not a property"]],
  ]);
});

test('changeFeedPolicy', () => {
  forms('changeFeedPolicy', [
    [undefined, undefined],
    [{}, { retentionDuration: 0 }],
    [{ retentionDuration: 0 }, { retentionDuration: 0 }],
    [{ retentionDuration: 10 }, { retentionDuration: 10 }],
  ]);
  refusals('changeFeedPolicy', [
    [10, ["10 of 'changeFeedPolicy'", 'an object']],
    [{ retentionDuration: -1 }, ["-1 of 'changeFeedPolicy.retentionDuration'"]],
    [{ retentionDuration: 1.5 }, ['1.5', 'whole minutes']],
    [{ retentionDuration: '10' }, ['"10"', 'whole minutes']],
    [{ retentionDuration: 2 ** 31 }, ['2147483648', '2147483647']],
    [{ retention: 5 }, ["'retention' is not a property"]],
  ]);
});

const ENCRYPTED = {
  path: '/ssn',
  clientEncryptionKeyId: 'k',
  encryptionType: 'Randomized',
  encryptionAlgorithm: 'AEAD_AES_256_CBC_HMAC_SHA256',
};
const encryption = (path: object, policyFormatVersion?: unknown) => ({
  policyFormatVersion,
  includedPaths: [{ ...ENCRYPTED, ...path }],
});

test('clientEncryptionPolicy', () => {
  const exact = (path: string) => ({ path, encryptionType: 'Deterministic' });
  forms('clientEncryptionPolicy', [
    [undefined, undefined],
    [encryption({}), encryption({}, 1)],
    [encryption({ path: '/my-ssn' }, 2), encryption({ path: '/my-ssn' }, 2)],
    [encryption(exact('/id'), 2), encryption(exact('/id'), 2)],
    [encryption(exact('/pk'), 2), encryption(exact('/pk'), 2)],
  ]);
  refusals('clientEncryptionPolicy', [
    [[], ["'clientEncryptionPolicy'", 'an object']],
    [{}, ["includedPaths' is missing"]],
    [encryption({}, 3), ['3', '1 or 2']],
    [encryption({ path: '/' }), ['"/"', 'top-level']],
    [encryption({ path: 'ssn' }), ['"ssn"', 'top-level']],
    [encryption({ path: '/a/b' }), ['"/a/b"', 'top-level']],
    [encryption({ path: 9 }), ["9 of 'clientEncryptionPolicy.includedPaths[0].path'"]],
    [encryption({ clientEncryptionKeyId: '' }), ["clientEncryptionKeyId'", 'not be empty']],
    [encryption({ clientEncryptionKeyId: null }), ["clientEncryptionKeyId' is missing"]],
    [encryption({ encryptionType: 'Rot13' }), ['"Rot13"', 'Deterministic, Randomized']],
    [encryption({ encryptionAlgorithm: 'DES' }), ['"DES"', 'AEAD_AES_256_CBC_HMAC_SHA256']],
    [encryption(exact('/id'), 1), ["'/id'", 'policy format version 2']],
    [encryption({ path: '/pk' }, 2), ["'/pk'", 'Deterministic']],
    [{ includedPaths: [ENCRYPTED, ENCRYPTED] }, ['Duplicate path found: /ssn']],
    [encryption({ salt: 1 }), ["'salt' is not a property"]],
  ]);
});

test('what a replacement may say about them', () => {
  const uniqueKeyPolicy = { uniqueKeys: [{ paths: ['/a'] }] };
  const computedProperties = [{ name: 'x', query: 'SELECT VALUE 1 FROM c' }];
  const current = define({
    uniqueKeyPolicy,
    computedProperties,
    conflictResolutionPolicy: { mode: 'Custom', conflictResolutionProcedure: 's' },
    changeFeedPolicy: { retentionDuration: 5 },
    clientEncryptionPolicy: encryption({}),
    geospatialConfig: { type: 'Geometry' },
  });
  const replace = (parts: object) => redefineContainer({ ...MINIMAL, ...parts }, current);

  const silent = replace({});
  assert.deepEqual(silent.uniqueKeyPolicy, uniqueKeyPolicy);
  assert.deepEqual(silent.conflictResolutionPolicy, current.conflictResolutionPolicy);
  assert.deepEqual(silent.clientEncryptionPolicy, current.clientEncryptionPolicy);
  assert.deepEqual(silent.geospatialConfig, { type: 'Geometry' });
  assert.equal(silent.computedProperties, undefined);
  assert.equal(silent.changeFeedPolicy, undefined);

  const other = replace({
    uniqueKeyPolicy,
    clientEncryptionPolicy: encryption({}),
    conflictResolutionPolicy: { mode: null, conflictResolutionProcedure: 't' },
    geospatialConfig: { type: 'Geography' },
  });
  assert.equal(other.conflictResolutionPolicy.conflictResolutionProcedure, 't');
  assert.equal(other.geospatialConfig.type, 'Geography');

  refuses(
    () => replace({ uniqueKeyPolicy: {} }),
    ['The unique index cannot be modified.', 'remove the collection and re-create a new one'],
  );
  refuses(
    () => replace({ conflictResolutionPolicy: { mode: 'LastWriterWins' } }),
    ['cannot be changed', 'it is Custom', 'says LastWriterWins'],
  );
  refuses(
    () => replace({ clientEncryptionPolicy: encryption({ clientEncryptionKeyId: 'k2' }) }),
    ["'clientEncryptionPolicy' cannot be changed"],
  );
  const plain = define({});
  refuses(
    () => redefineContainer({ ...MINIMAL, uniqueKeyPolicy }, plain),
    ['The unique index cannot be modified.'],
  );
  refuses(
    () => redefineContainer({ ...MINIMAL, clientEncryptionPolicy: encryption({}) }, plain),
    ["'clientEncryptionPolicy' cannot be changed"],
  );
});
