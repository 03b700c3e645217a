// Bad headers: versions, pages, tokens, partition keys, ranges, booleans, throughput, conditions.
import {
  CARTS,
  COLLS,
  DOCS,
  IN_A,
  ITEM,
  PK,
  type Row,
  row,
  SHOP,
  type Target,
} from './support.suite.js';

const version: readonly Row[] = ['abc', '2019', '1999-01-01', '2020-7-15', '2020-07-15; x'].map(
  (value) =>
    row('GET', SHOP, 400, ['Ensure a valid x-ms-version header value', `Got '${value}'`], {
      headers: { 'x-ms-version': value },
    }),
);

const pages: readonly Row[] = ['0', '-2', '1.5', '1e3', 'abc', '2147483648', '+5', '5, 5'].flatMap(
  (value) =>
    ['/dbs', COLLS, DOCS, '/offers'].map((path) =>
      row('GET', path, 400, [`The input PageSize ${value} is invalid`, 'positive integer or -1'], {
        headers: { 'x-ms-max-item-count': value },
      }),
    ),
);

/** Tokens of other lists, and pieces of the right one, are as good as none. */
async function continuations(target: Target): Promise<readonly Row[]> {
  const tokenOf = async (path: string) => {
    const headers = { 'x-ms-max-item-count': '1' };
    return (await target.ask('GET', path, { headers })).headers.get('x-ms-continuation') ?? '';
  };
  const own = await tokenOf(DOCS);
  const others = [
    await tokenOf('/dbs'),
    await tokenOf(COLLS),
    await tokenOf(`${COLLS}/plain/docs`),
  ];
  const cut = [own.slice(0, 3), own.slice(0, 7), own.slice(1), `${own}A`, `${own}=`, `${own} x`];
  const junk = ['x', '*', '{}', '%%%', '+RID:~AAA#RT:1', 'A'.repeat(5000)];
  // The beginning is right, and what follows is longer than any key of the store.
  const start = Buffer.from(own, 'base64url').subarray(0, 6);
  junk.push(Buffer.concat([start, Buffer.alloc(9000, 1)]).toString('base64url'));
  const refused = (path: string, token: string) =>
    row('GET', path, 400, 'Invalid Continuation Token', {
      headers: { 'x-ms-continuation': token },
    });
  return [
    ...[...others, ...cut, ...junk].map((token) => refused(DOCS, token)),
    ...[own, ...junk].flatMap((token) => [refused('/dbs', token), refused(COLLS, token)]),
    row('GET', DOCS, 400, 'Invalid Continuation Token', {
      headers: { ...IN_A, 'x-ms-continuation': own },
    }),
  ];
}

const sessions: readonly Row[] = [
  ...['abc', '0:', ':1', '0:1:2', '0:-1#', '0:-1#5,', '0:-1#5,x', '0:-1#5#1', '0:1e3', '-1:5'],
  `0:${'9'.repeat(30)}`,
  '0:1,'.repeat(5000),
].flatMap((value) => {
  const says = [`The session token provided '${value.slice(0, 400)}`, 'is invalid.'];
  const headers = { ...IN_A, 'x-ms-session-token': value };
  return [row('GET', ITEM, 400, says, { headers }), row('GET', DOCS, 400, says, { headers })];
});

const future: readonly Row[] = ['0:999999', '0:-1#999999', '0:1#999999#3=7', '0:1,0:999999'].map(
  (value) =>
    row('GET', ITEM, 404, 'The read session is not available for the input session token.', {
      headers: { ...IN_A, 'x-ms-session-token': value },
      sub: 1002,
    }),
);

const consistency: readonly Row[] = [
  ...['Strong', 'strong', 'BoundedStaleness', 'Bounded'].map((value) =>
    row(
      'GET',
      ITEM,
      400,
      [
        `ConsistencyLevel ${value} specified in the request`,
        'configured with consistency level Session',
      ],
      { headers: { ...IN_A, 'x-ms-consistency-level': value } },
    ),
  ),
  ...['Weak', '0', 'Session, Session', 'constructor'].map((value) =>
    row('GET', SHOP, 400, [`Value '${value}'`, "'x-ms-consistency-level'", 'Eventual'], {
      headers: { 'x-ms-consistency-level': value },
    }),
  ),
];

const NEW = { id: 'new', pk: 'a' };
const LEVELS = '/dbs/shop/colls/levels/docs';
const TOO_DEEP = `[${'['.repeat(12_000)}${']'.repeat(12_000)}]`;

const malformedKeys: readonly Row[] = [
  ...['a', '"a"', 'null', '5', '{}', '{"a":1}', '[', '["a"', "['a']", '[a]', '["a"] ["b"]', '[,]'],
  ...['["a"],["a"]', 'undefined', '["\\x"]', TOO_DEEP],
].flatMap((value) => {
  const says = `Cannot deserialize PartitionKey value '${value.slice(0, 400)}`;
  const headers = { [PK]: value };
  return [
    row('GET', ITEM, 400, says, { headers }),
    row('GET', DOCS, 400, says, { headers }),
    row('POST', DOCS, 400, says, { headers, body: NEW }),
    row('DELETE', ITEM, 400, says, { headers }),
  ];
});

const unsupportedKeys: readonly Row[] = ['["a"]', '{"a":1}', '[]', '{"__proto__":1}'].flatMap(
  (value) => {
    const says = [`Unsupported PartitionKey value component '${value}'`, 'are the only supported'];
    const headers = { [PK]: `[${value}]` };
    return [
      row('GET', ITEM, 400, says, { headers }),
      row('POST', DOCS, 400, says, { headers, body: NEW }),
    ];
  },
);

const MISSING = 'PartitionKey value must be supplied for this operation.';
const FEWER = 'PartitionKey has fewer components than defined';
const MORE = 'PartitionKey has more components than defined';

const incompleteKeys: readonly Row[] = [
  row('GET', ITEM, 400, MISSING),
  row('GET', ITEM, 400, MISSING, { headers: { [PK]: '' } }),
  row('POST', DOCS, 400, MISSING, { body: NEW }),
  row('PUT', ITEM, 400, MISSING, { body: { id: '1', pk: 'a' } }),
  row('DELETE', ITEM, 400, MISSING),
  row('GET', ITEM, 400, FEWER, { headers: { [PK]: '[]' } }),
  row('GET', DOCS, 400, FEWER, { headers: { [PK]: '[]' } }),
  row('GET', ITEM, 400, MORE, { headers: { [PK]: '["a","b"]' } }),
  row('POST', DOCS, 400, MORE, { headers: { [PK]: '["a",{}]' }, body: NEW }),
  row('GET', `${LEVELS}/1`, 400, FEWER, { headers: { [PK]: '["t"]' } }),
  row('POST', LEVELS, 400, FEWER, { headers: { [PK]: '["t"]' }, body: { id: '1', tenant: 't' } }),
  row('GET', LEVELS, 400, MORE, { headers: { [PK]: '["t","u","s"]' } }),
];

const MISMATCH =
  "PartitionKey extracted from document doesn't match the one specified in the header";

const foreignKeys: readonly Row[] = [
  ['["b"]', { pk: 'a' }],
  ['["A"]', { pk: 'a' }],
  ['["1"]', { pk: 1 }],
  ['[1]', { pk: true }],
  ['[null]', {}],
  ['[{}]', { pk: null }],
  ['[""]', {}],
].flatMap(([value, item]) => {
  const extra = { headers: { [PK]: value as string }, sub: 1001 };
  return [
    row('POST', DOCS, 400, MISMATCH, { ...extra, body: { id: 'new', ...(item as object) } }),
    row('PUT', ITEM, 400, MISMATCH, { ...extra, body: { id: '1', ...(item as object) } }),
  ];
});

function tooLongKey(container: string, text: string, bytes: number, limit: number): Row {
  const path = `${COLLS}/${container}/docs`;
  const says = `Partition key has ${bytes} bytes; the maximum is ${limit} bytes`;
  const headers = { [PK]: JSON.stringify([text]).replace(/漢/g, '\\u6f22') };
  return row('POST', path, 400, says, { headers, body: { id: 'new', pk: text } });
}

const RANGE = 'x-ms-documentdb-partitionkeyrangeid';

const ranges: readonly Row[] = [
  ...['x', '-1', '1.5', '0x0', '9999999999', ',', '0,', '0, 0', 'a,b,0'].map((value) =>
    row('GET', DOCS, 400, `${RANGE} header contains invalid value '${value}'.`, {
      headers: { [RANGE]: value },
    }),
  ),
  ...['1', '7', 'AAAAAYAAAAM=,7', '999999999'].map((value) =>
    row('GET', DOCS, 410, ['PartitionKeyRange with id', "in collection '", "doesn't exist"], {
      headers: { [RANGE]: value },
      sub: 1002,
    }),
  ),
  ...['x', '0', 'GG', '0x00', '-1', '00 00', 'F'.repeat(322)].flatMap((value) =>
    ['x-ms-start-epk', 'x-ms-end-epk'].map((name) =>
      row('GET', DOCS, 400, [`Value '${value}'`, `the header '${name}'`, 'hexadecimal'], {
        headers: { [name]: value },
      }),
    ),
  ),
];

const booleans: readonly Row[] = ['maybe', '1', 'yes', 'true, true', 'truefalse'].flatMap(
  (value) => {
    const says = (name: string) => [
      `Value '${value}' specified for the header '${name}'`,
      'true or false',
    ];
    const headers = (name: string) => ({ ...IN_A, [name]: value });
    return [
      ...[
        'x-ms-documentdb-is-upsert',
        'x-ms-documentdb-isquery',
        'x-ms-documentdb-query',
        'x-ms-cosmos-is-batch-request',
        'x-ms-cosmos-is-query-plan-request',
      ].map((name) => row('POST', DOCS, 400, says(name), { headers: headers(name), body: NEW })),
      row('GET', CARTS, 400, says('x-ms-documentdb-populatequotainfo'), {
        headers: headers('x-ms-documentdb-populatequotainfo'),
      }),
    ];
  },
);

const TOKEN_LIMIT = 'x-ms-documentdb-responsecontinuationtokenlimitinkb';

const tokenLimits: readonly Row[] = ['0', '-1', '1.5', 'one', '1 KB', '9999999'].flatMap((value) =>
  ['/dbs', DOCS].map((path) =>
    row('GET', path, 400, [`Value '${value}'`, TOKEN_LIMIT, 'whole number of kilobytes'], {
      headers: { ...IN_A, [TOKEN_LIMIT]: value },
    }),
  ),
);

const AMOUNT = 'x-ms-offer-throughput';
const AUTOPILOT = 'x-ms-cosmos-offer-autopilot-settings';

const amounts: readonly Row[] = [
  ...['0', '399', '450', '-400', '1000100', '99999999999999999999'].map((value) => [value, value]),
  ...['abc', '4e2', '400.0', '400, 400', '0x190'].map((value) => [value, `"${value}"`]),
].flatMap(([value = '', shown = '']) =>
  ['/dbs', COLLS].map((path) =>
    row(
      'POST',
      path,
      400,
      ['offer throughput specified is invalid', 'between 400 and 1000000', 'of 100'],
      {
        headers: { [AMOUNT]: value },
        body: {
          id: `new ${shown}`.replaceAll('"', '').replaceAll('.', ''),
          partitionKey: { paths: ['/pk'] },
        },
      },
    ),
  ),
);

const autopilot: readonly Row[] = [
  ...['x', '4000', '"4000"', 'null', '{', `{"maxThroughput":${TOO_DEEP}}`].map((value) =>
    row(
      'POST',
      '/dbs',
      400,
      [`Value '${value.slice(0, 300)}`, `'${AUTOPILOT}'`, '{"maxThroughput":4000}'],
      {
        headers: { [AUTOPILOT]: value },
        body: { id: 'new' },
      },
    ),
  ),
  ...[
    '{}',
    '[]',
    '{"maxThroughput":"4000"}',
    '{"maxThroughput":1500}',
    '{"maxThroughput":null}',
  ].map((value) =>
    row('POST', '/dbs', 400, ['between 1000 and 1000000', 'increments of 1000'], {
      headers: { [AUTOPILOT]: value },
      body: { id: 'new' },
    }),
  ),
  ...['101', '-1', '0.5', '"10"', 'null', '[10]', '{"toString":1}', '{"valueOf":1}'].map((value) =>
    row('POST', '/dbs', 400, ['incrementPercent must be a whole number from 0 to 100', value], {
      headers: {
        [AUTOPILOT]: `{"maxThroughput":4000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":${value}}}}`,
      },
      body: { id: 'new' },
    }),
  ),
  row('POST', '/dbs', 400, 'Offer throughput and autopilot settings cannot both be specified.', {
    headers: { [AMOUNT]: '400', [AUTOPILOT]: '{"maxThroughput":4000}' },
    body: { id: 'new' },
  }),
];

const CONDITION = 'one of the specified precondition is not met';
const STALE = { 'if-match': '"stale"' };

const conditions: readonly Row[] = [
  row('PUT', ITEM, 412, CONDITION, { headers: { ...IN_A, ...STALE }, body: { id: '1', pk: 'a' } }),
  row('PUT', ITEM, 412, CONDITION, {
    headers: { ...IN_A, 'if-match': 'W/"x", *' },
    body: { id: '1', pk: 'a' },
  }),
  row('DELETE', ITEM, 412, CONDITION, { headers: { ...IN_A, ...STALE } }),
  row('POST', DOCS, 412, CONDITION, {
    headers: { ...IN_A, ...STALE, 'x-ms-documentdb-is-upsert': 'true' },
    body: { id: '1', pk: 'a' },
  }),
  row('POST', DOCS, 412, CONDITION, {
    headers: { ...IN_A, 'if-none-match': '*', 'x-ms-documentdb-is-upsert': 'true' },
    body: { id: '1', pk: 'a' },
  }),
  row('PUT', `${DOCS}/none`, 404, 'Resource Not Found', {
    headers: { ...IN_A, ...STALE },
    body: { id: 'none', pk: 'a' },
  }),
  row('PUT', CARTS, 412, CONDITION, {
    headers: STALE,
    body: { id: 'carts', partitionKey: { paths: ['/pk'] } },
  }),
  row('DELETE', CARTS, 412, CONDITION, { headers: STALE }),
  row('DELETE', SHOP, 412, CONDITION, { headers: STALE }),
];

const INTENDED = 'x-ms-cosmos-intended-collection-rid';

const others: readonly Row[] = [
  ...['AAAAAYAAAGM=', 'x'].map((value) =>
    row('GET', DOCS, 400, [`not '${value}' as the request intended`], {
      headers: { [INTENDED]: value },
      sub: 1024,
    }),
  ),
  ...['gzip', 'br', 'deflate, identity', 'aes128gcm'].map((value) =>
    row('POST', DOCS, 400, [`Value '${value}'`, "'content-encoding'", 'without compression'], {
      headers: { ...IN_A, 'content-encoding': value },
      body: NEW,
    }),
  ),
  row('POST', DOCS, 400, ["Value 'Sometimes'", "'x-ms-indexing-directive'", 'Include, Exclude'], {
    headers: { ...IN_A, 'x-ms-indexing-directive': 'Sometimes' },
    body: NEW,
  }),
  row('GET', '/dbs', 431, 'The request headers are larger than the maximum of 32768 bytes.', {
    headers: { 'x-long': 'x'.repeat(40_000) },
  }),
];

export async function headerRows(target: Target): Promise<readonly Row[]> {
  return [
    ...version,
    ...pages,
    ...(await continuations(target)),
    ...sessions,
    ...future,
    ...consistency,
    ...malformedKeys,
    ...unsupportedKeys,
    ...incompleteKeys,
    ...foreignKeys,
    tooLongKey('carts', 'x'.repeat(2049), 2049, 2048),
    tooLongKey('carts', '漢'.repeat(683), 2049, 2048),
    tooLongKey('old', 'x'.repeat(102), 102, 101),
    tooLongKey('old', '漢'.repeat(34), 102, 101),
    ...ranges,
    ...booleans,
    ...tokenLimits,
    ...amounts,
    ...autopilot,
    ...conditions,
    ...others,
  ];
}
