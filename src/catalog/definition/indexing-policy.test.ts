// Indexing policies: defaults, modes, path sets, composite and spatial indexes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { define, refuses } from './refusal.suite.js';

const ROOT = { path: '/*' };
const ETAG = { path: '/"_etag"/?' };
const DEFAULT = {
  indexingMode: 'consistent',
  automatic: true,
  includedPaths: [ROOT],
  excludedPaths: [ETAG],
};
const NONE = { indexingMode: 'none', automatic: false, includedPaths: [], excludedPaths: [] };
const A = { path: '/a/?' };
const pair = [{ path: '/a' }, { path: '/b', order: 'descending' }];
const pairForm = [
  { path: '/a', order: 'ascending' },
  { path: '/b', order: 'descending' },
];
const paths = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ path: `/p${index}/?` }));

const accepted: readonly (readonly [unknown, object])[] = [
  [undefined, DEFAULT],
  [null, DEFAULT],
  [{}, DEFAULT],
  [{ includedPaths: [], excludedPaths: [], compositeIndexes: [], spatialIndexes: [] }, DEFAULT],
  [{ indexingMode: 'Consistent', automatic: true }, DEFAULT],
  [{ indexingMode: 'LAZY' }, { ...DEFAULT, indexingMode: 'lazy' }],
  [{ includedPaths: [ROOT] }, DEFAULT],
  [{ excludedPaths: [ROOT] }, { ...DEFAULT, includedPaths: [], excludedPaths: [ROOT, ETAG] }],
  [
    { includedPaths: [A], excludedPaths: [ETAG, ROOT] },
    { ...DEFAULT, includedPaths: [A], excludedPaths: [ETAG, ROOT] },
  ],
  [
    { includedPaths: [ROOT], excludedPaths: [{ path: '/"systemMetadata"/*' }] },
    { ...DEFAULT, excludedPaths: [{ path: '/"systemMetadata"/*' }, ETAG] },
  ],
  [
    { includedPaths: [ROOT], excludedPaths: [{ path: '/_etag/?' }] },
    { ...DEFAULT, excludedPaths: [{ path: '/_etag/?' }] },
  ],
  [
    { includedPaths: [ROOT, { path: '/_etag/?' }] },
    { ...DEFAULT, includedPaths: [ROOT, { path: '/_etag/?' }], excludedPaths: [] },
  ],
  [{ includedPaths: [{ ...ROOT, indexes: [{ kind: 'Range', dataType: 'String' }] }] }, DEFAULT],
  [
    { includedPaths: [{ ...ROOT, indexes: [{ kind: 'hash', dataType: 'Number', precision: 3 }] }] },
    DEFAULT,
  ],
  [{ indexingMode: 'none' }, NONE],
  [{ indexingMode: 'None', automatic: false, includedPaths: [ROOT], excludedPaths: [ETAG] }, NONE],
  [{ indexingMode: 'none', includedPaths: [A], compositeIndexes: [] }, NONE],
  [{ compositeIndexes: [pair] }, { ...DEFAULT, compositeIndexes: [pairForm] }],
  [
    { compositeIndexes: [[{ path: '/a', order: 'Descending' }, { path: '/"b-c"/d' }], pair] },
    {
      ...DEFAULT,
      compositeIndexes: [
        [
          { path: '/a', order: 'descending' },
          { path: '/"b-c"/d', order: 'ascending' },
        ],
        pairForm,
      ],
    },
  ],
  [
    { includedPaths: [ROOT, ...paths(1499)] },
    { ...DEFAULT, includedPaths: [ROOT, ...paths(1499)] },
  ],
];

const refused: readonly (readonly [unknown, readonly string[]])[] = [
  [[], ["'indexingPolicy'", 'an object']],
  ['consistent', ['"consistent"', 'an object']],
  [{ indexingMode: 'eager' }, ['"eager"', 'consistent, lazy, none']],
  [{ indexingMode: 1 }, ["1 of 'indexingPolicy.indexingMode'"]],
  [{ automatic: 'true' }, ['"true"', 'true or false']],
  [{ automatic: false }, ["'indexingPolicy.automatic' cannot be false", "'none'"]],
  [{ indexingMode: 'lazy', automatic: false }, ["'indexingPolicy.automatic' cannot be false"]],
  [{ indexingMode: 'none', automatic: true }, ["'indexingPolicy.automatic'", "'none'"]],
  [{ indexingMode: 'none', compositeIndexes: [pair] }, ["'indexingPolicy.compositeIndexes'"]],
  [{ includedPaths: {} }, ["'indexingPolicy.includedPaths'", 'an array']],
  [{ includedPaths: ['/*'] }, ["'indexingPolicy.includedPaths[0]'", 'an object']],
  [{ includedPaths: [{}] }, ["'indexingPolicy.includedPaths[0].path' is missing"]],
  [{ includedPaths: [{ path: '/a' }] }, ["The indexing path '/a'", "position '2'"]],
  [{ includedPaths: [{ path: '/*', why: 1 }] }, ["'why' is not a property"]],
  [{ includedPaths: [A] }, ['The special mandatory indexing path "/" is not provided']],
  [{ excludedPaths: [ETAG] }, ['The special mandatory indexing path "/" is not provided']],
  [{ includedPaths: [ROOT, A, { path: '/"a"/?' }] }, ['\'/"a"/?\' is given twice']],
  [{ includedPaths: [ROOT], excludedPaths: [ROOT] }, ["'/*' is given twice"]],
  [{ includedPaths: [ROOT, ...paths(1500)] }, ['1501 entries', 'the maximum is 1500']],
  [{ excludedPaths: [ROOT, ...paths(1600)] }, ['1601 entries', 'excludedPaths']],
  [{ includedPaths: [{ ...ROOT, indexes: 'Range' }] }, ['"Range"', 'an array']],
  [{ includedPaths: [{ ...ROOT, indexes: [{ kind: 'Tree' }] }] }, ['"Tree"', 'Range, Hash']],
  [{ compositeIndexes: [pair[0]] }, ["'indexingPolicy.compositeIndexes[0]'", 'an array']],
  [{ compositeIndexes: [[pair[0]]] }, ['has 1 paths', 'at least 2']],
  [{ compositeIndexes: [paths(9)] }, ['9 entries', 'the maximum is 8']],
  [{ compositeIndexes: Array(101).fill(pair) }, ['101 entries', 'the maximum is 100']],
  [{ compositeIndexes: [[{ path: '/a/?' }, { path: '/b' }]] }, ["'/a/?'", "position '3'"]],
  [{ compositeIndexes: [[{ path: '/a/*' }, { path: '/b' }]] }, ["'/a/*'", 'wildcards']],
  [{ compositeIndexes: [[{ path: '/a' }, { path: '/"a"' }]] }, ['\'/"a"\' appears twice']],
  [{ compositeIndexes: [pair, pair] }, ['/a ascending, /b descending', 'appears twice']],
  [{ compositeIndexes: [[{ path: '/a', order: 'up' }, { path: '/b' }]] }, ['"up"', 'ascending']],
  [{ flexible: true }, ["'flexible' is not a property of 'indexingPolicy'"]],
  [{ vectorIndex: [] }, ["'vectorIndex' is not a property of 'indexingPolicy'"]],
];

test('normal forms', () => {
  for (const [indexingPolicy, form] of accepted) {
    const { indexingPolicy: got } = define({ indexingPolicy });
    assert.equal(JSON.stringify(got), JSON.stringify(form));
  }
});

test('the path that is added does not count: 1500 excluded paths survive a round trip', () => {
  const { indexingPolicy } = define({ indexingPolicy: { excludedPaths: [ROOT, ...paths(1499)] } });
  assert.equal(indexingPolicy.excludedPaths.length, 1501);
  assert.deepEqual(define({ indexingPolicy }).indexingPolicy, indexingPolicy);
});

test('refusals', () => {
  for (const [indexingPolicy, words] of refused) refuses(() => define({ indexingPolicy }), words);
});
