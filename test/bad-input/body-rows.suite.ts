// Bad bodies of databases, items and queries: what is no JSON, what is too much, ids and ttls that
// cannot be.
import { CARTS, COLLS, DOCS, IN_A, ITEM, PK, type Row, row } from './support.suite.js';

const BODY_BYTES_MAX = 2 * 1024 * 1024;
const INVALID = 'The request payload is invalid.';
const IS_QUERY = { 'x-ms-documentdb-isquery': 'true', 'content-type': 'application/query+json' };
const UPSERT = { ...IN_A, 'x-ms-documentdb-is-upsert': 'True' };

const nested = (depth: number) =>
  `{"id":"new","pk":"a","deep":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

const unreadable: readonly (readonly [string | Buffer, string])[] = [
  ['', 'The body is empty.'],
  [' \r\n', ''],
  ['not json', 'not json'],
  ["{'id':'new'}", ''],
  ['{"id":"new","pk":"a"', ''],
  ['{"id":"new","pk":"a"}}', ''],
  ['{"id":"new","pk":"a",}', ''],
  ['{"id":"new","pk":NaN}', 'NaN'],
  ['\ufeff{"id":"new","pk":"a"}', ''],
  ['{"id":"new\n","pk":"a"}', ''],
  [Buffer.from('{"id":"n\xe9w","pk":"a"}', 'latin1'), 'not valid UTF-8'],
  [Buffer.from('{"id":"new","pk":"a"}', 'utf16le'), ''],
  [Buffer.of(0xff, 0xfe, 0x00), 'not valid UTF-8'],
  [Buffer.alloc(1000), ''],
  ['[]', 'The body must be a JSON object.'],
  ['[{"id":"new","pk":"a"}]', 'The body must be a JSON object.'],
  ['1', 'The body must be a JSON object.'],
  ['"new"', 'The body must be a JSON object.'],
  ['null', 'The body must be a JSON object.'],
  ['true', 'The body must be a JSON object.'],
];

const notJson: readonly Row[] = unreadable.flatMap(([body, why]) => [
  row('POST', '/dbs', 400, [INVALID, why], { body }),
  row('POST', COLLS, 400, [INVALID, why], { body }),
  row('PUT', CARTS, 400, [INVALID, why], { body }),
  row('POST', DOCS, 400, [INVALID, why], { headers: IN_A, body }),
  row('POST', DOCS, 400, [INVALID, why], { headers: UPSERT, body }),
  row('PUT', ITEM, 400, [INVALID, why], { headers: IN_A, body }),
]);

const tooMuch: readonly Row[] = [
  ...[129, 1000, 100_000].flatMap((depth) => [
    row('POST', DOCS, 400, 'nested deeper than the maximum of 128 levels', {
      headers: IN_A,
      body: nested(depth),
    }),
    row('POST', COLLS, 400, 'nested deeper than the maximum of 128 levels', {
      body: nested(depth),
    }),
  ]),
  ...[BODY_BYTES_MAX + 1, 3 * BODY_BYTES_MAX].map((bytes) =>
    row(
      'POST',
      DOCS,
      413,
      [`too large: ${bytes} bytes`, `the maximum is ${BODY_BYTES_MAX} bytes`],
      {
        headers: IN_A,
        body: Buffer.alloc(bytes, 'x'),
      },
    ),
  ),
  row('POST', DOCS, 413, [`too large: more than ${BODY_BYTES_MAX} bytes`], {
    headers: { ...IN_A, 'transfer-encoding': 'chunked' },
    body: chunked(Buffer.alloc(BODY_BYTES_MAX + 1, 'x')),
  }),
];

const MISSING = "the required properties - 'id; ' - are missing";
const notNames: readonly (readonly [unknown, string])[] = [
  [5, 'The id must be a string, not 5.'],
  [null, 'The id must be a string, not null.'],
  [true, 'The id must be a string, not true.'],
  [['new'], 'The id must be a string, not ["new"].'],
  [{ toString: 'new' }, 'The id must be a string, not {"toString":"new"}.'],
  ['', "The input name '' is invalid. Ensure to provide a unique non-empty string"],
  ['a/b', "invalid character '/'"],
  ['a\\b', "invalid character '\\'"],
  ['a#b', "invalid character '#'"],
  ['a\ud800', "invalid character '\ud800'"],
  ['\udc00\ud800', "invalid character '\udc00'"],
];

const names: readonly Row[] = [
  row('POST', '/dbs', 400, MISSING, { body: {} }),
  row('POST', '/dbs', 400, MISSING, { body: { ID: 'new' } }),
  row('POST', '/dbs', 400, MISSING, { body: '{"__proto__":{"id":"new"}}' }),
  row('POST', COLLS, 400, MISSING, { body: { partitionKey: { paths: ['/pk'] } } }),
  row('POST', DOCS, 400, MISSING, { headers: IN_A, body: { pk: 'a' } }),
  row('PUT', ITEM, 400, MISSING, { headers: IN_A, body: { pk: 'a' } }),
  ...[...notNames, ['a?b', "invalid character '?'"], ['new ', "can't end with space"]].flatMap(
    ([id, says]) => [
      row('POST', '/dbs', 400, says as string, { body: { id } }),
      row('POST', COLLS, 400, says as string, { body: { id, partitionKey: { paths: ['/pk'] } } }),
    ],
  ),
  ...notNames.flatMap(([id, says]) => [
    row('POST', DOCS, 400, says, { headers: IN_A, body: { id, pk: 'a' } }),
    row('POST', DOCS, 400, says, { headers: UPSERT, body: { id, pk: 'a' } }),
  ]),
  ...['x'.repeat(256), '漢'.repeat(256), 'x'.repeat(100_000)].map((id) =>
    row(
      'POST',
      '/dbs',
      400,
      [`The input name '${id.slice(0, 200)}`, "less than '256' characters"],
      {
        body: { id },
      },
    ),
  ),
  ...['x'.repeat(1024), '漢'.repeat(342), '😀'.repeat(256), 'x'.repeat(1_000_000)].map((id) =>
    row('POST', DOCS, 400, [`The input name '${id.slice(0, 200)}`, "less than '1024' characters"], {
      headers: IN_A,
      body: { id, pk: 'a' },
    }),
  ),
];

const taken: readonly Row[] = [
  row('POST', '/dbs', 409, 'Resource with specified id, name, or unique index already exists.', {
    body: { id: 'shop' },
  }),
  row('POST', COLLS, 409, 'Resource with specified id, name, or unique index already exists.', {
    body: { id: 'carts', partitionKey: { paths: ['/other'] } },
  }),
  row('POST', DOCS, 409, 'Entity with the specified id already exists in the system.', {
    headers: IN_A,
    body: { id: '1', pk: 'a' },
  }),
  // The last of two ids counts, also when one is written with escapes.
  row('POST', DOCS, 409, 'already exists', {
    headers: IN_A,
    body: '{"id":"new","pk":"a","id":"1"}',
  }),
  row('POST', DOCS, 409, 'already exists', {
    headers: IN_A,
    body: '{"id":"new","pk":"a","\\u0069d":"1"}',
  }),
  row('POST', `${COLLS}/unique/docs`, 409, ['Unique index constraint violation', '/email'], {
    headers: IN_A,
    body: { id: 'new', pk: 'a', email: 'a@a.test' },
  }),
];

const partitionKeys: readonly Row[] = [
  ['{}', '{}'],
  ['["a"]', '["a"]'],
  ['{"a":{"b":1}}', '{"a":{"b":1}}'],
].flatMap(([pk, shown]) =>
  ['["a"]', '[{}]'].map((value) =>
    row('POST', DOCS, 400, [`Unsupported PartitionKey value component '${shown}'`], {
      headers: { [PK]: value },
      body: `{"id":"new","pk":${pk}}`,
    }),
  ),
);

const ttls: readonly Row[] = [
  'null',
  '0',
  '-2',
  '1.5',
  '"60"',
  '2147483648',
  'true',
  '{}',
  '[]',
].flatMap((ttl) => {
  const says = [`The input ttl '${ttl}' is invalid`, "less than or equal to '2147483647', or '-1'"];
  return [
    row('POST', DOCS, 400, says, { headers: IN_A, body: `{"id":"new","pk":"a","ttl":${ttl}}` }),
    row('POST', DOCS, 400, says, { headers: UPSERT, body: `{"id":"1","pk":"a","ttl":${ttl}}` }),
    row('PUT', ITEM, 400, says, { headers: IN_A, body: `{"id":"1","pk":"a","ttl":${ttl}}` }),
  ];
});

const replaced: readonly Row[] = [
  row('PUT', ITEM, 400, ["The id in the body is '2'", "addresses '1'", 'cannot change its id'], {
    headers: IN_A,
    body: { id: '2', pk: 'a' },
  }),
  row('PUT', `${DOCS}/a%2Fb`, 400, "invalid character '/'", {
    headers: IN_A,
    body: { id: 'a/b', pk: 'a' },
  }),
];

const queries: readonly Row[] = [
  ...unreadable
    .slice(0, 14)
    .map(([body, why]) => row('POST', DOCS, 400, [INVALID, why], { headers: IS_QUERY, body })),
  ...['[]', '1', '"SELECT"', 'null', '{}', '{"Query":"SELECT * FROM c"}'].map((body) =>
    row('POST', DOCS, 400, "the required properties - 'query; ' - are missing", {
      headers: IS_QUERY,
      body,
    }),
  ),
  ...['/dbs', COLLS, '/offers'].map((path) =>
    row('POST', path, 400, "the required properties - 'query; ' - are missing", {
      headers: IS_QUERY,
      body: '{}',
    }),
  ),
  row('POST', DOCS, 400, 'nested deeper than the maximum of 128 levels', {
    headers: IS_QUERY,
    body: nested(200),
  }),
  ...[5, null, [], {}, true].map((query) =>
    row('POST', DOCS, 400, `The query must be a text, not ${JSON.stringify(query)}.`, {
      headers: IS_QUERY,
      body: { query },
    }),
  ),
  ...[5, 'x', {}].map((parameters) =>
    row('POST', DOCS, 400, 'The parameters must be an array', {
      headers: IS_QUERY,
      body: { query: 'SELECT VALUE 1', parameters },
    }),
  ),
  ...[5, null, {}, { name: 5 }, { name: 'p' }, []].map((parameter) =>
    row('POST', DOCS, 400, ['must begin with @', JSON.stringify(parameter)], {
      headers: IS_QUERY,
      body: { query: 'SELECT VALUE @p', parameters: [parameter] },
    }),
  ),
  ...['', 'SELECT', 'SELECT * FROM', 'DELETE FROM c', `SELECT ${'('.repeat(100_000)}`].map(
    (query) => row('POST', DOCS, 400, ['SC1001'], { headers: IS_QUERY, body: { query } }),
  ),
  row('POST', DOCS, 400, ['SC2001', "'x'"], {
    headers: IS_QUERY,
    body: { query: 'SELECT x.id FROM c' },
  }),
];

export const bodyRows = [
  ...notJson,
  ...tooMuch,
  ...names,
  ...taken,
  ...partitionKeys,
  ...ttls,
  ...replaced,
  ...queries,
];

function chunked(body: Buffer): Buffer {
  const head = Buffer.from(`${body.length.toString(16)}\r\n`);
  return Buffer.concat([head, body, Buffer.from('\r\n0\r\n\r\n')]);
}
