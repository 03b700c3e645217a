// Bad requests to the control API: bodies, properties, times, partition keys.
import { type Row, row } from './support.suite.js';

const CLOCK = '/_mayfly/clock';
const FAULTS = '/_mayfly/faults';
const PREVIEW = '/_mayfly/dbs/shop/colls/carts/ttl/preview';
const EXPLAIN = '/_mayfly/dbs/shop/colls/carts/docs/1/ttl';

function refused(
  method: string,
  path: string,
  status: number,
  says: string | readonly string[],
  body?: unknown,
): Row {
  return row(method, path, status, says, { sign: 'bearer', body });
}

const NEEDS_KEY = 'The control API needs the header "Authorization: Bearer <account key>".';

const nobody: readonly Row[] = [
  ['GET', CLOCK],
  ['GET', '/_mayfly/metrics'],
  ['POST', '/_mayfly/purge'],
  ['POST', FAULTS],
  ['DELETE', FAULTS],
  ['GET', '/_mayfly/nothing'],
  ['GET', EXPLAIN],
].flatMap(([method = '', path = '']) => [
  row(method, path, 401, NEEDS_KEY, { sign: 'unsigned' }),
  row(method, path, 401, NEEDS_KEY, { sign: 'signed' }),
  ...['Bearer', 'Bearer x', 'Basic eDp5', 'Bearer null', 'bearer  '].map((authorization) =>
    row(method, path, 401, NEEDS_KEY, { sign: 'unsigned', headers: { authorization } }),
  ),
]);

const paths: readonly Row[] = [
  refused('GET', '/_mayfly/', 400, 'The request path /_mayfly/ is invalid.'),
  refused('GET', '/_mayfly/nothing', 400, 'The request path /_mayfly/nothing is invalid.'),
  refused('GET', '/_mayfly//health', 400, 'The request path /_mayfly//health is invalid.'),
  refused('GET', '/_mayfly/health/', 400, 'The request path /_mayfly/health/ is invalid.'),
  refused('GET', '/_mayfly/../health', 400, '/_mayfly/../health is invalid.'),
  refused('GET', '/_mayfly/dbs/%zz/colls/c/ttl', 400, '/_mayfly/dbs/%zz/colls/c/ttl is invalid'),
  refused('DELETE', CLOCK, 405, ['The method DELETE is not allowed on', 'Allowed: GET, POST.']),
  refused('POST', '/_mayfly/health', 405, ['The method POST', 'Allowed: GET.']),
  refused('GET', '/_mayfly/purge/pause', 405, ['The method GET', 'Allowed: POST.']),
  refused('PUT', PREVIEW, 405, ['The method PUT', 'Allowed: POST.'], {}),
  refused('GET', '/_mayfly/dbs/none/colls/carts/ttl', 404, "does not exist: 'none'"),
  refused('GET', '/_mayfly/dbs/shop/colls/none/ttl', 404, "does not exist: 'none'"),
  refused('GET', '/_mayfly/dbs//colls/carts/ttl', 404, "does not exist: ''"),
];

const notJson: readonly Row[] = [CLOCK, PREVIEW, FAULTS].flatMap((path) => [
  refused('POST', path, 400, 'The body is empty.'),
  refused('POST', path, 400, 'The request payload is invalid', 'freeze=true'),
  refused('POST', path, 400, 'The request payload is invalid', '{"freeze":true'),
  refused('POST', path, 400, 'not valid UTF-8', Buffer.of(0x22, 0xff, 0x22)),
  refused('POST', path, 400, 'nested deeper than the maximum of 128', '['.repeat(200)),
  ...['[]', 'null', '5', '"x"'].map((body) =>
    refused('POST', path, 400, 'The body must be a JSON object.', body),
  ),
  refused('POST', path, 413, 'the maximum is 65536 bytes', Buffer.alloc(70_000, ' ')),
  ...['warp', '__proto__', 'constructor', 'DefaultTtl', ''].map((name) =>
    refused(
      'POST',
      path,
      400,
      [`The property '${name}' is not known here. Known: `],
      `{"${name}":1}`,
    ),
  ),
]);

const clock: readonly Row[] = [
  refused('POST', CLOCK, 400, 'Give one of freeze, set or advance.', {}),
  ...[1, 'true', null, {}].map((freeze) =>
    refused('POST', CLOCK, 400, `freeze must be true or false, not ${JSON.stringify(freeze)}.`, {
      freeze,
    }),
  ),
  ...[5, 'yesterday', '', null, '1969-12-31T23:59:59Z', '+010000-01-01T00:00:00Z', []].map((set) =>
    refused('POST', CLOCK, 400, [`not ${JSON.stringify(set)}.`, 'an ISO time from 1970 to 9999'], {
      set,
    }),
  ),
  ...[-1, '-1s', '5 parsecs', '1e9', '', null, {}, true].map((advance) =>
    refused('POST', CLOCK, 400, [`not ${JSON.stringify(advance)}.`, '"90d"'], { advance }),
  ),
  ...[1e300, '999999999999d', 3e11].map((advance) =>
    refused('POST', CLOCK, 400, 'Time ends with the year 9999.', { advance }),
  ),
  // Everything is checked before anything moves.
  refused('POST', CLOCK, 400, 'set must be', { freeze: false, advance: '1d', set: 'x' }),
  refused('POST', CLOCK, 400, 'is not known here', { advance: '1d', warp: 9 }),
];

const preview: readonly Row[] = [
  refused('POST', PREVIEW, 400, "required properties - 'defaultTtl; ' - are missing", {}),
  ...[0, -2, 1.5, '60', 2_147_483_648, true, []].map((defaultTtl) =>
    refused(
      'POST',
      PREVIEW,
      400,
      `The input defaultTtl '${JSON.stringify(defaultTtl)}' is invalid`,
      {
        defaultTtl,
      },
    ),
  ),
];

const query = (value: string) => `${EXPLAIN}?partitionKey=${value}`;
const TOO_DEEP = `${'['.repeat(12_000)}${']'.repeat(12_000)}`;

const explain: readonly Row[] = [
  refused('GET', EXPLAIN, 400, 'PartitionKey value must be supplied'),
  refused('GET', `${EXPLAIN}?`, 400, 'PartitionKey value must be supplied'),
  refused('GET', `${EXPLAIN}?partitionkey=["a"]`, 400, 'PartitionKey value must be supplied'),
  ...['', 'a', '%22a%22', '{}', '%zz', '[', TOO_DEEP].map((value) =>
    refused('GET', query(value), 400, 'Cannot deserialize PartitionKey value'),
  ),
  refused('GET', query('[]'), 400, 'PartitionKey has fewer components'),
  refused('GET', query('["a","b"]'), 400, 'PartitionKey has more components'),
  refused('GET', query('[["a"]]'), 400, 'Unsupported PartitionKey value component \'["a"]\''),
  refused('GET', query('["b"]'), 404, 'Resource Not Found'),
  refused('GET', `${EXPLAIN.replace('/1/', '/none/')}?partitionKey=["a"]`, 404, 'Not Found'),
  refused(
    'GET',
    `${EXPLAIN.replace('/1/', `/${'x'.repeat(9000)}/`)}?partitionKey=["a"]`,
    404,
    'Not Found',
  ),
  refused(
    'GET',
    '/_mayfly/dbs/shop/colls/levels/docs/1/ttl?partitionKey=["t"]',
    400,
    'PartitionKey has fewer components',
  ),
];

export const controlRows = [...nobody, ...paths, ...notJson, ...clock, ...preview, ...explain];
