// Bad paths: unknown ones, names of nothing, escapes that are none, and verbs in the wrong place.
import { CARTS, COLLS, DOCS, IN_A, ITEM, type Row, row, SHOP } from './support.suite.js';

const unknownPaths: readonly Row[] = [
  '/nothing',
  '/DBS',
  '/d%62s',
  '/dbs?x=1',
  '/addresses',
  '/media/x',
  `${SHOP}/what`,
  `${SHOP}/colls/carts/what/is/this`,
  `${CARTS}/docs/1/attachments`,
  `${CARTS}/docs/1/attachments/2`,
  `${CARTS}/pkranges/0`,
  `${CARTS}/docs/1/docs/2`,
  '/_mayfly',
  '/_Mayfly/health',
  '/http://localhost/dbs',
].map((path) => row('GET', path, 400, [`The request path ${path} is invalid.`]));

const LONG = 'x'.repeat(20_000);

const malformedPaths: readonly Row[] = [
  ...['/dbs/%', '/dbs/%zz', '/dbs/a%2', '/dbs/%ff', '/dbs/%c3', '/dbs/%ed%a0%80', `${DOCS}/%%`].map(
    (path) => row('GET', path, 400, `The request path ${path} is invalid.`),
  ),
  ...['/dbs//colls', '/dbs/shop/colls//docs', '/dbs//colls/x'].map((path) =>
    row('GET', path, 400, `The request path ${path} is invalid.`, { sign: 'unsigned' }),
  ),
  row('GET', '/a/b/c/d/e/f/g/h/i/j/k/l/m', 400, '/a/b/c/d/e/f/g/h/i/j/k/l/m is invalid'),
  row('GET', `/dbs${'/x'.repeat(5000)}`, 400, ['The request path /dbs/x/x', '(10004 characters)']),
  row('GET', `/dbs/shop${'/'.repeat(20_000)}x`, 400, ['/dbs/shop///', '(20010 characters)']),
  row('GET', `/${LONG}`, 400, ['The request path /xxx', '… (20001 characters) is invalid']),
  row('GET', `/dbs/${LONG}${LONG}`, 431, 'larger than the maximum of 32768 bytes', {
    sign: 'unsigned',
  }),
];

const namesOfNothing: readonly Row[] = [
  row('GET', '/dbs/none', 404, 'Resource Not Found'),
  row('GET', '/dbs/Shop', 404, 'Resource Not Found'),
  row('GET', '/dbs/shop%20', 404, 'Resource Not Found'),
  row('GET', '/dbs/shop%2Fcolls%2Fcarts', 404, 'Resource Not Found'),
  row('GET', '/dbs/__proto__', 404, 'Resource Not Found'),
  row('GET', `/dbs/${LONG}`, 404, 'Resource Not Found'),
  row('DELETE', '/dbs/none', 404, 'Resource Not Found'),
  row('GET', '/dbs/none/colls', 404, "Owner resource does not exist: 'none'", { sub: 1003 }),
  row('POST', '/dbs/none/colls', 404, "'none'", { sub: 1003, body: { id: 'c' } }),
  row('GET', '/dbs/none/colls/carts', 404, "'none'", { sub: 1003 }),
  row('GET', `${COLLS}/none`, 404, 'Resource Not Found'),
  row('GET', `${COLLS}/constructor`, 404, 'Resource Not Found'),
  row('PUT', `${COLLS}/none`, 404, 'Resource Not Found', { body: { id: 'none' } }),
  row('DELETE', `${COLLS}/none`, 404, 'Resource Not Found'),
  row('GET', `${COLLS}/none/docs`, 404, "Owner resource does not exist: 'none'", { sub: 1003 }),
  row('GET', `${COLLS}/none/pkranges`, 404, "'none'", { sub: 1003 }),
  row('GET', `${COLLS}/none/conflicts`, 404, "'none'", { sub: 1003 }),
  row('POST', `${COLLS}/none/docs`, 404, "'none'", { sub: 1003, headers: IN_A, body: { id: '1' } }),
  row('GET', `${COLLS}/none/docs/1`, 404, "'none'", { sub: 1003, headers: IN_A }),
  row('GET', `${DOCS}/none`, 404, 'Resource Not Found', { headers: IN_A }),
  row('GET', `${DOCS}/1%00`, 404, 'Resource Not Found', { headers: IN_A }),
  row('GET', `${DOCS}/%2e%2e%2f1`, 404, 'Resource Not Found', { headers: IN_A }),
  row('GET', `${DOCS}/${LONG}`, 404, 'Resource Not Found', { headers: IN_A }),
  row('DELETE', `${DOCS}/${LONG}`, 404, 'Resource Not Found', { headers: IN_A }),
  row('DELETE', `${DOCS}/none`, 404, 'Resource Not Found', { headers: IN_A }),
  row('PUT', `${DOCS}/none`, 404, 'Resource Not Found', {
    headers: IN_A,
    body: { id: 'none', pk: 'a' },
  }),
  // The same id in other logical partitions.
  row('GET', ITEM, 404, 'Resource Not Found', {
    headers: { 'x-ms-documentdb-partitionkey': '[1]' },
  }),
  row('DELETE', ITEM, 404, 'Resource Not Found', {
    headers: { 'x-ms-documentdb-partitionkey': '[{}]' },
  }),
  // Resource ids: of no database, and of a container where a database should be.
  row('GET', '/dbs/AAAAYw==', 404, 'Resource Not Found'),
  row('GET', '/dbs/AAAAAYAAAAE=', 404, 'Resource Not Found'),
  row('GET', '/offers/none', 404, 'Resource Not Found'),
  row('GET', '/offers/----', 404, 'Resource Not Found'),
  row('PUT', '/offers/AQAAAA==', 404, 'Resource Not Found', { body: {} }),
];

function notAllowed(
  method: string,
  path: string,
  allowed: string,
  headers: Readonly<Record<string, string>> = {},
  verb = method,
): Row {
  const says = [`The method ${verb} is not allowed on ${path}.`, `Allowed: ${allowed}.`];
  const body = method === 'POST' || method === 'PUT' || method === 'PATCH' ? '{}' : undefined;
  return row(method, path, 405, says, { headers, body });
}

const UPSERT = { 'x-ms-documentdb-is-upsert': 'true' };
const BATCH = { 'x-ms-cosmos-is-batch-request': 'True' };
const QUERY = { 'x-ms-documentdb-isquery': 'TRUE' };

const wrongVerbs: readonly Row[] = [
  notAllowed('POST', '/', 'GET'),
  notAllowed('DELETE', '/', 'GET'),
  notAllowed('PUT', '/dbs', 'GET, POST, QUERY'),
  notAllowed('DELETE', '/dbs', 'GET, POST, QUERY'),
  notAllowed('POST', '/dbs', 'GET, POST, QUERY', UPSERT, 'UPSERT'),
  notAllowed('PUT', SHOP, 'GET, DELETE'),
  notAllowed('PATCH', SHOP, 'GET, DELETE'),
  notAllowed('POST', SHOP, 'GET, DELETE'),
  notAllowed('POST', COLLS, 'GET, POST, QUERY', UPSERT, 'UPSERT'),
  notAllowed('POST', COLLS, 'GET, POST, QUERY', BATCH, 'BATCH'),
  notAllowed('PATCH', CARTS, 'GET, PUT, DELETE'),
  notAllowed('POST', CARTS, 'GET, PUT, DELETE'),
  notAllowed('PUT', DOCS, 'GET, POST, UPSERT, QUERY'),
  notAllowed('DELETE', DOCS, 'GET, POST, UPSERT, QUERY'),
  notAllowed('POST', ITEM, 'GET, PUT, PATCH, DELETE', IN_A as Record<string, string>),
  notAllowed('POST', `${CARTS}/pkranges`, 'GET'),
  notAllowed('POST', `${CARTS}/pkranges`, 'GET', QUERY, 'QUERY'),
  notAllowed('DELETE', `${CARTS}/conflicts`, 'GET, QUERY'),
  notAllowed('GET', `${CARTS}/operations/partitionkeydelete`, 'POST'),
  notAllowed('POST', '/offers', 'GET, QUERY'),
  notAllowed('DELETE', '/offers/AQAA', 'GET, PUT'),
  notAllowed('MKCOL', '/dbs', 'GET, POST, QUERY'),
  notAllowed('TRACE', '/dbs', 'GET, POST, QUERY'),
  notAllowed('HEAD', '/dbs', 'GET, POST, QUERY'),
].map((each) =>
  // Lists of verbs may grow, as long as they name these.
  each.path === DOCS ? { ...each, says: [each.says[0] ?? '', 'Allowed: GET, POST, UPSERT'] } : each,
);

export const pathRows = [...unknownPaths, ...malformedPaths, ...namesOfNothing, ...wrongVerbs];
