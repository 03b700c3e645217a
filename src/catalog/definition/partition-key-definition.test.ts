// Partition keys: normal forms, refusals, and what a replacement may say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  keepPartitionKey,
  partitionHash,
  partitionPaths,
  readPartitionKey,
  SYSTEM_PARTITION_KEY,
} from './partition-key-definition.js';
import { refuses } from './refusal.suite.js';

const HASH = { paths: ['/pk'], kind: 'Hash', version: 2 } as const;
const MULTI = { paths: ['/a', '/b/c', '/d'], kind: 'MultiHash', version: 2 } as const;

const accepted: readonly (readonly [unknown, object])[] = [
  [{ paths: ['/pk'] }, HASH],
  [{ paths: ['/pk'], kind: null, version: null }, HASH],
  [{ paths: ['/pk'], version: 'V2' }, HASH],
  [{ paths: ['/pk'], kind: 'hash' }, HASH],
  [
    { version: 1, kind: 'Hash', paths: ['/pk'] },
    { ...HASH, version: 1 },
  ],
  [
    { paths: ['/pk'], kind: 'Range' },
    { ...HASH, kind: 'Range' },
  ],
  [
    { paths: ['/a'], kind: 'MultiHash' },
    { ...MULTI, paths: ['/a'] },
  ],
  [{ paths: ['/a', '/b/c', '/d'], kind: 'MultiHash', version: 2 }, MULTI],
  [
    { paths: ['/_partitionKey'], systemKey: true },
    { ...HASH, paths: ['/_partitionKey'], systemKey: true },
  ],
  [{ paths: ['/"my-key"/x'] }, { ...HASH, paths: ['/"my-key"/x'] }],
];

const badPath = (path: string, at: number) => [
  `The partition key component definition path '${path}' could not be accepted`,
  `failed near position '${at}'`,
  'Partition key paths must contain only valid characters and not contain a trailing slash or ' +
    'wildcard character',
];

const refused: readonly (readonly [unknown, readonly string[]])[] = [
  [undefined, ["'partitionKey' is missing"]],
  ['/pk', ['"/pk"', "'partitionKey'", 'an object']],
  [['/pk'], ['an array', "'partitionKey'"]],
  [{}, ["'partitionKey.paths' is missing"]],
  [{ paths: '/pk' }, ["'partitionKey.paths'", 'an array']],
  [{ paths: [] }, ["'partitionKey.paths' is empty"]],
  [{ paths: [1] }, ["1 of 'partitionKey.paths[0]'", 'a string']],
  [{ paths: [null] }, ["'partitionKey.paths[0]' is missing"]],
  [{ paths: ['id', '/id2'], kind: 'MultiHash', version: 2 }, badPath('id', 0)],
  [{ paths: ['/a/'] }, badPath('/a/', 3)],
  [{ paths: ['/a/*'] }, badPath('/a/*', 3)],
  [{ paths: ['/a/?'] }, badPath('/a/?', 3)],
  [{ paths: ['/asdw @#'] }, badPath('/asdw @#', 5)],
  [{ paths: [''] }, badPath('', 0)],
  [{ paths: ['/a', '/b'] }, ["kind 'Hash'", 'exactly one path, 2 were given']],
  [{ paths: ['/a', '/b'], kind: 'Range' }, ["kind 'Range'", 'exactly one path']],
  [
    { paths: ['/a', '/b'], kind: 'MultiHash', version: 1 },
    ['Subpartitioning is only supported for Hash V2.'],
  ],
  [
    { paths: ['/a', '/b', '/c', '/d'], kind: 'MultiHash' },
    ['Subpartitioning is only supported for atmost 3 partition paths'],
  ],
  [{ paths: ['/a', '/"a"'], kind: 'MultiHash' }, ['\'/"a"\' appears twice']],
  [{ paths: ['/a'], kind: 'Modulo' }, ['"Modulo"', 'Hash, MultiHash, Range']],
  [{ paths: ['/a'], kind: 1 }, ["1 of 'partitionKey.kind'"]],
  [{ paths: ['/a'], version: 3 }, ["3 of 'partitionKey.version'", '1 or 2']],
  [{ paths: ['/a'], version: '2' }, ['"2"', '1 or 2']],
  [{ paths: ['/a'], systemKey: 'yes' }, ['"yes"', 'true or false']],
  [{ paths: ['/a'], systemKey: true }, ["the path '/_partitionKey'"]],
  [{ ...MULTI, paths: ['/_partitionKey'], systemKey: true }, ["the kind 'Hash'"]],
  [{ paths: ['/a'], shards: 4 }, ["'shards' is not a property of 'partitionKey'"]],
];

test('normal forms', () => {
  for (const [value, form] of accepted) {
    assert.equal(JSON.stringify(readPartitionKey(value)), JSON.stringify(form));
  }
});

test('refusals', () => {
  for (const [value, words] of refused) refuses(() => readPartitionKey(value), words);
});

test('a replacement repeats the key; what it leaves out is unchanged', () => {
  const legacy = { ...HASH, version: 1 } as const;
  assert.equal(keepPartitionKey({ paths: ['/pk'] }, legacy), legacy);
  assert.equal(keepPartitionKey({ paths: ['/"pk"'], kind: 'Hash' }, legacy), legacy);
  assert.equal(keepPartitionKey({ paths: MULTI.paths }, MULTI), MULTI);
  assert.equal(keepPartitionKey(undefined, SYSTEM_PARTITION_KEY), SYSTEM_PARTITION_KEY);
  const { paths } = SYSTEM_PARTITION_KEY;
  assert.equal(keepPartitionKey({ paths }, SYSTEM_PARTITION_KEY), SYSTEM_PARTITION_KEY);
  for (const changed of [
    { paths: ['/key'] },
    { paths: ['/pk'], version: 2 },
    { paths: ['/pk'], kind: 'Range' },
  ]) {
    refuses(
      () => keepPartitionKey(changed, legacy),
      ['Document collection partition key cannot be changed.', 'version 1 of /pk'],
    );
  }
  refuses(() => keepPartitionKey({ paths: ['/b/c', '/a', '/d'] }, MULTI), ['cannot be changed']);
  refuses(() => keepPartitionKey(undefined, HASH), ["'partitionKey' is missing"]);
});

test('paths and hash for the engine', () => {
  assert.deepEqual(partitionPaths(MULTI), [['a'], ['b', 'c'], ['d']]);
  assert.equal(partitionHash(MULTI), 'multi');
  assert.equal(partitionHash(HASH), 'v2');
  assert.equal(partitionHash({ ...HASH, version: 1 }), 'v1');
  assert.equal(partitionHash({ ...HASH, kind: 'Range', version: 1 }), 'v1');
});
