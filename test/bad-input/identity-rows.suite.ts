// Requests of nobody, of the wrong one, or at the wrong time; and pages of foreign web sites.
import {
  CARTS,
  DOCS,
  IN_A,
  ITEM,
  READ_ONLY_KEY,
  type Row,
  row,
  SHOP,
  type Target,
} from './support.suite.js';
import { type Headers, signature, signatureOver } from './wire.suite.js';

const MAC = `${'A'.repeat(43)}=`;
const FOREIGN_KEY = Buffer.alloc(64, 7).toString('base64');

export function identityRows(target: Target): readonly Row[] {
  const { key } = target.server;
  const now = new Date();
  const date = now.toUTCString();
  const minutes = (count: number) => new Date(now.getTime() + count * 60_000).toUTCString();
  const good = signature('GET', SHOP, date, key);
  const ask = (headers: Headers, status: number, says: string, sub = 0) =>
    row('GET', SHOP, status, says, { headers, sign: 'unsigned', sub });
  const at = (when: string) => ({
    'x-ms-date': when,
    authorization: signature('GET', SHOP, when, key),
  });
  const malformed = "Authorization header doesn't confirm to the required format";
  const wrong = "The input authorization token can't serve the request";
  return [
    ask({}, 401, 'Required Header authorization is missing', 5000),
    ask({ authorization: '', 'x-ms-date': date }, 401, 'Required Header authorization', 5000),
    ...['x', `Bearer ${key}`, 'type=master', '%', '%zz', 'type=master&ver=1.0&sig=', key].map(
      (authorization) => ask({ authorization, 'x-ms-date': date }, 401, malformed),
    ),
    ...['type=master&ver=2.0', 'type=master&ver=1', 'ver=1.0&type=master'].map((start) =>
      ask({ authorization: `${start}&sig=${'A'.repeat(43)}=`, 'x-ms-date': date }, 401, malformed),
    ),
    ask({ authorization: 'type=master&ver=1.0&sig=AAAA', 'x-ms-date': date }, 401, malformed),
    ...['sas', 'constructor'].map((type) =>
      ask(
        { authorization: `type=${type}&ver=1.0&sig=x`, 'x-ms-date': date },
        401,
        `Authorization tokens of type '${type}' are not supported`,
      ),
    ),
    ask({ authorization: 'type=aad&ver=1.0&sig=x' }, 401, 'This server takes no Entra tokens'),
    ...['1&sig=x', '1&sig=x;y;', `1&sig=${'A'.repeat(44)};e30=;`, `2&sig=${MAC};e30=;`].map(
      (rest) => ask({ authorization: `type=resource&ver=${rest}` }, 401, malformed),
    ),
    ask({ authorization: `type=resource&ver=1&sig=${MAC};e30=;` }, 401, wrong),
    ask({ authorization: good }, 401, 'Authorization token mandates Date headers'),
    ...['yesterday', '2030-99-99', `${date}, ${date}`, '-'].map((when) =>
      ask(at(when), 401, 'The input date header is invalid format'),
    ),
    ...[-16, 16, 60 * 24 * 365].map((offset) =>
      ask(at(minutes(offset)), 403, 'The authorization token is not valid at the current time'),
    ),
    // A signature of another key, path, verb, kind, date or spelling.
    ...[
      signature('GET', SHOP, date, FOREIGN_KEY),
      signature('GET', '/dbs/shared', date, key),
      signature('DELETE', SHOP, date, key),
      signatureOver('GET', 'colls', 'dbs/shop', date, key),
      signatureOver('GET', 'dbs', 'dbs/SHOP', date, key),
      signature('GET', SHOP, minutes(-1), key),
      encodeURIComponent(`type=master&ver=1.0&sig=${'A'.repeat(43)}=`),
    ].map((authorization) =>
      row('GET', SHOP, 401, [wrong, "payload to sign: 'get\ndbs\ndbs/shop\n", date.toLowerCase()], {
        headers: { authorization, 'x-ms-date': date },
        sign: 'unsigned',
      }),
    ),
    ...readers,
    ...browsers,
  ];
}

const READ_ONLY = "A read-only key cannot be used for '";
const NEW = { id: 'new', pk: 'a', partitionKey: { paths: ['/pk'] } };

const READER = { sign: 'reader' } as const;

const readers: readonly Row[] = [
  row('POST', '/dbs', 403, `${READ_ONLY}CreateDatabase'`, { sign: 'reader', body: NEW }),
  row('DELETE', SHOP, 403, `${READ_ONLY}DeleteDatabase'`, { sign: 'reader' }),
  row('PUT', CARTS, 403, `${READ_ONLY}ReplaceContainer'`, { sign: 'reader', body: NEW }),
  row('POST', DOCS, 403, `${READ_ONLY}CreateItem'`, { sign: 'reader', headers: IN_A, body: NEW }),
  row('POST', DOCS, 403, `${READ_ONLY}UpsertItem'`, {
    sign: 'reader',
    headers: { ...IN_A, 'x-ms-documentdb-is-upsert': 'true' },
    body: NEW,
  }),
  row('DELETE', ITEM, 403, `${READ_ONLY}DeleteItem'`, { sign: 'reader', headers: IN_A }),
  // They come with tokens that may do more than read.
  row('GET', `${SHOP}/users/u/permissions`, 403, `${READ_ONLY}ListPermissions'`, READER),
  row('GET', `${SHOP}/users/u/permissions/p`, 403, `${READ_ONLY}ReadPermission'`, READER),
  row('POST', `${SHOP}/users/u/permissions`, 403, `${READ_ONLY}QueryPermissions'`, {
    sign: 'reader',
    headers: { 'x-ms-documentdb-isquery': 'true' },
    body: { query: 'SELECT * FROM p' },
  }),
  row('GET', '/_mayfly/clock', 401, 'The control API needs the header', {
    sign: 'unsigned',
    headers: { authorization: `Bearer ${READ_ONLY_KEY}` },
  }),
];

const ORIGIN = 'http://evil.test';

const browsers: readonly Row[] = [
  row('OPTIONS', SHOP, 403, `Requests from the origin '${ORIGIN}' are not answered`, {
    sign: 'unsigned',
    headers: { origin: ORIGIN, 'access-control-request-method': 'GET' },
  }),
  row('OPTIONS', '*', 403, "Requests from the origin ''", { sign: 'unsigned' }),
  row('GET', '/_mayfly/health', 403, `Requests from the origin '${ORIGIN}'`, {
    sign: 'bearer',
    headers: { origin: ORIGIN },
  }),
  row('GET', '/_mayfly/health', 403, "does not answer to the host name 'evil.test'", {
    sign: 'bearer',
    headers: { host: 'evil.test' },
  }),
  row('GET', '/_mayfly/health', 403, 'are not answered', {
    sign: 'bearer',
    headers: { 'sec-fetch-site': 'cross-site' },
  }),
];
