// Bad definitions of containers and offers: a selection, because the rules have tests of their own.
import { COLLS, type Row, row, type Target } from './support.suite.js';

const PATHS = { paths: ['/pk'] };
const HASH = { partitionKey: PATHS };

type Refused = readonly [parts: object, says: readonly string[]];

const partitionKeys: readonly Refused[] = [
  [{}, ["'partitionKey' is missing"]],
  [{ partitionKey: null }, ["'partitionKey' is missing"]],
  [{ partitionKey: '/pk' }, ['"/pk" of \'partitionKey\'', 'must be an object']],
  [{ partitionKey: {} }, ["'partitionKey.paths' is missing"]],
  [{ partitionKey: { paths: '/pk' } }, ["'partitionKey.paths'", 'must be an array']],
  [{ partitionKey: { paths: [] } }, ["'partitionKey.paths' is empty"]],
  [{ partitionKey: { paths: [5] } }, ["5 of 'partitionKey.paths[0]'", 'must be a string']],
  [{ partitionKey: { paths: ['pk'] } }, ["path 'pk' could not be accepted"]],
  [{ partitionKey: { paths: ['/pk/'] } }, ["path '/pk/' could not be accepted", 'trailing slash']],
  [{ partitionKey: { paths: ['/*'] } }, ["path '/*' could not be accepted", 'wildcard']],
  [{ partitionKey: { paths: ['/a', '/b'] } }, ['exactly one path, 2 were given']],
  [{ partitionKey: { paths: ['/a', '/a'], kind: 'MultiHash' } }, ["'/a' appears twice"]],
  [{ partitionKey: { ...PATHS, kind: 'Fun' } }, ['"Fun"', 'Hash, MultiHash, Range']],
  [{ partitionKey: { ...PATHS, version: 3 } }, ["3 of 'partitionKey.version'", '1 or 2']],
  [{ partitionKey: { ...PATHS, size: 1 } }, ["'size' is not a property of 'partitionKey'"]],
  [
    { partitionKey: { paths: ['/a', '/b'], kind: 'MultiHash', version: 1 } },
    ['Subpartitioning is only supported for Hash V2.'],
  ],
  [
    { partitionKey: { paths: ['/a', '/b', '/c', '/d'], kind: 'MultiHash' } },
    ['only supported for atmost 3 partition paths', '4 were given'],
  ],
];

/** T20 */
const ttls: readonly Refused[] = [0, -2, -10, 1.5, '60', 2_147_483_648, true, {}, []].map(
  (defaultTtl): Refused => [
    { ...HASH, defaultTtl },
    [`The input defaultTtl '${JSON.stringify(defaultTtl)}' is invalid`, "'2147483647', or '-1'"],
  ],
);

const NONE = { indexingMode: 'none' };
const NEEDS_INDEXING = "Indexing mode value cannot be 'none' when 'defaultTtl' is specified";

const policies: readonly Refused[] = [
  // T24
  [{ ...HASH, indexingPolicy: NONE, defaultTtl: 60 }, [NEEDS_INDEXING]],
  [{ ...HASH, indexingPolicy: NONE, defaultTtl: -1 }, [NEEDS_INDEXING]],
  [{ ...HASH, indexingPolicy: { ...NONE, automatic: true } }, ["automatic' cannot be true"]],
  [{ ...HASH, indexingPolicy: { indexingMode: 'eager' } }, ['"eager"', 'consistent, lazy, none']],
  [{ ...HASH, indexingPolicy: { automatic: 'yes' } }, ['"yes"', 'true or false']],
  [{ ...HASH, indexingPolicy: { includedPaths: [{ path: '/a/?' }] } }, ['mandatory indexing path']],
  [
    { ...HASH, indexingPolicy: { includedPaths: [{ path: '/*' }, { path: 'a' }] } },
    ["The indexing path 'a' could not be accepted"],
  ],
  [
    { ...HASH, indexingPolicy: { includedPaths: [{ path: '/*' }, { path: '/*' }] } },
    ["'/*' is given twice"],
  ],
  [
    {
      ...HASH,
      geospatialConfig: { type: 'Geometry' },
      indexingPolicy: { spatialIndexes: [{ path: '/loc/*', types: ['Point'] }] },
    },
    ['Geometry', 'boundingBox'],
  ],
  [
    { ...HASH, indexingPolicy: { vectorIndexes: [{ path: '/v', type: 'flat' }] } },
    ["/v not matching in Embedding's path"],
  ],
  [{ ...HASH, uniqueKeyPolicy: { uniqueKeys: [{ paths: [] }] } }, ["paths' is empty"]],
  [{ ...HASH, uniqueKeyPolicy: [] }, ["'uniqueKeyPolicy'", 'must be an object']],
  [{ ...HASH, conflictResolutionPolicy: { mode: 'Random' } }, ['"Random"', 'LastWriterWins']],
  [{ ...HASH, computedProperties: [{ name: 'id', query: 'SELECT VALUE 1 FROM c' }] }, ['"id"']],
  [{ ...HASH, analyticalStorageTtl: -2 }, ["analyticalStorageTtl '-2' is invalid"]],
  [{ ...HASH, ttl: 60 }, ["'ttl' is not a known setting of a container"]],
  [{ ...HASH, DefaultTtl: 60 }, ["'DefaultTtl' is not a known setting"]],
];

const created: readonly Row[] = [...partitionKeys, ...ttls, ...policies].map(([parts, says]) =>
  row('POST', COLLS, 400, says, { body: { id: 'new', ...parts } }),
);

function replaced(container: string, parts: object, says: readonly string[]): Row {
  return row('PUT', `${COLLS}/${container}`, 400, says, { body: { id: container, ...parts } });
}

const replacements: readonly Row[] = [
  replaced('carts', {}, ["'partitionKey' is missing"]),
  replaced('carts', { ...HASH, id: 'other' }, ["in the body is 'other'", "addresses 'carts'"]),
  replaced('carts', { partitionKey: { paths: ['/id'] } }, [
    'partition key cannot be changed',
    '/id',
  ]),
  replaced('old', { partitionKey: { ...PATHS, version: 2 } }, ['partition key cannot be changed']),
  replaced('unique', { ...HASH, uniqueKeyPolicy: {} }, ['The unique index cannot be modified']),
  replaced('carts', { ...HASH, indexingPolicy: NONE, defaultTtl: -1 }, [NEEDS_INDEXING]),
  replaced('bare', { ...HASH, indexingPolicy: NONE, defaultTtl: 60 }, [NEEDS_INDEXING]),
  ...ttls.map(([parts, says]) => replaced('carts', parts, says)),
];

async function offers(target: Target): Promise<readonly Row[]> {
  const { Offers } = (await target.json('GET', '/offers')) as { Offers: { _rid: string }[] };
  const [{ _rid: rid } = { _rid: '' }, { _rid: other } = { _rid: '' }] = Offers;
  const put = (says: readonly string[], body: unknown, headers = {}, status = 400) =>
    row('PUT', `/offers/${rid}`, status, says, { body, headers });
  const amount = ['offer throughput specified is invalid', 'between 400'];
  return [
    put(['The required field Content is missing in Offer version v2.'], {}),
    put(['The required field Content is missing'], { content: 'x' }),
    put(amount, { content: {} }),
    ...[0, 399, 450, '400', null, 1_000_100, { toString: 1 }].map((offerThroughput) =>
      put(amount, { content: { offerThroughput } }),
    ),
    put(['The id in the body is \'"x"\'', `addresses '${rid}'`], { id: 'x', content: {} }),
    put([`"${other}"`, `addresses '${rid}'`], { _rid: other, content: { offerThroughput: 500 } }),
    put(['migrate-offer-to-autopilot: true'], {
      content: { offerAutopilotSettings: { maxThroughput: 4000 } },
    }),
    put(['incrementPercent must be a whole number', '{"toString":1}'], {
      content: {
        offerAutopilotSettings: {
          maxThroughput: 4000,
          autoUpgradePolicy: { throughputPolicy: { incrementPercent: { toString: 1 } } },
        },
      },
    }),
    put(
      ["'maybe'", "'x-ms-cosmos-migrate-offer-to-autopilot'", 'true or false'],
      {},
      {
        'x-ms-cosmos-migrate-offer-to-autopilot': 'maybe',
      },
    ),
    put(
      ['one of the specified precondition is not met'],
      { content: { offerThroughput: 500 } },
      { 'if-match': '"stale"' },
      412,
    ),
    put(['The request payload is invalid', 'JSON object'], []),
  ];
}

export async function definitionRows(target: Target): Promise<readonly Row[]> {
  return [...created, ...replacements, ...(await offers(target))];
}
