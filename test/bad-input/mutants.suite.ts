// Random requests: valid ones of every operation, changed here and there in path, headers and body.
// They depend on the seed alone.
import {
  type Random,
  randomInteger,
  randomJson,
  randomPick,
  randomText,
} from '../../src/value/random.suite.js';
import { type Headers, signature, type WireRequest } from './wire.suite.js';

/** Containers that the fuzz test makes first: one with time to live on, one with it off. */
export const DATABASE = '/dbs/fuzz';
export const CONTAINERS = ['/dbs/fuzz/colls/on', '/dbs/fuzz/colls/off'] as const;

/** What is only known once the server runs. */
export interface World {
  readonly key: string;
  readonly tokens: readonly [string, ...string[]];
  /** Values of the header Authorization that are no signatures. */
  readonly permits: readonly [string, ...string[]];
  readonly offer: string;
}

interface Template {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

const INJECTION = 'a\r\nx-injected: 1';

/** The partition of the item `i0`, `i1` and so on. */
export function keyOfItem(index: number): string {
  return ['a', 'b', 'c'][index % 3] ?? 'a';
}

/** Nothing that is deleted or replaced here takes items with it. */
export function randomRequest(random: Random, world: World): WireRequest {
  const template = randomTemplate(random, world);
  const path = chance(random, 0.3) ? changedPath(random, template.path) : template.path;
  const method = safeMethod(random, template.method, path);
  const headers = chance(random, 0.4)
    ? changedHeaders(random, template.headers, world)
    : template.headers;
  const body = template.body === undefined ? undefined : randomBody(random, template.body);
  return { method, path, headers: { ...identity(random, method, path, world), ...headers }, body };
}

export function chance(random: Random, share: number): boolean {
  return random() < share;
}

/** Deleting a database or container would take items along that nobody counts. */
function safeMethod(random: Random, given: string, path: string): string {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'MKCOL'] as const;
  const method = chance(random, 0.08) ? randomPick(random, methods) : given;
  const segments = path.split('/').filter((segment) => segment !== '');
  return method === 'DELETE' && segments.length !== 6 ? 'GET' : method;
}

function identity(random: Random, method: string, path: string, world: World): Headers {
  const { key } = world;
  const host = 'localhost';
  if (path.startsWith('/_mayfly/')) {
    return chance(random, 0.9) ? { host, authorization: `Bearer ${key}` } : { host };
  }
  if (chance(random, 0.05)) return { host };
  if (chance(random, 0.05)) return { host, authorization: randomPick(random, world.permits) };
  const date = new Date().toUTCString();
  const signed = { host, 'x-ms-date': date, authorization: signature(method, path, date, key) };
  return chance(random, 0.03) ? { ...signed, authorization: randomAscii(random, 90) } : signed;
}

function randomTemplate(random: Random, world: World): Template {
  const container = randomPick(random, CONTAINERS);
  const docs = `${container}/docs`;
  const index = randomInteger(random, 60);
  const key = keyOfItem(index);
  const id = `i${index}`;
  const item = { id, pk: key, ttl: 3600, name: 'x', list: [1, { deep: true }] };
  const pk = { 'x-ms-documentdb-partitionkey': JSON.stringify([key]) };
  const reads: readonly [Template, ...Template[]] = [
    get('/'),
    get('/dbs'),
    get(DATABASE),
    get(`${DATABASE}/colls`),
    get(container, { 'x-ms-documentdb-populatequotainfo': 'true' }),
    get(`${container}/pkranges`),
    get(`${container}/conflicts`),
    get(`${container}/conflicts/x`),
    ...['', '/u', '/u/permissions', '/u/permissions/p'].map((path) =>
      get(`${DATABASE}/users${path}`, { 'x-ms-documentdb-expiry-seconds': '60' }),
    ),
    get(`${DATABASE}/clientencryptionkeys/k`),
    get(docs, {
      'x-ms-max-item-count': '2',
      'x-ms-continuation': randomPick(random, world.tokens),
    }),
    get(docs, pk),
    get(docs, { 'x-ms-start-epk': '00', 'x-ms-end-epk': '3F' }),
    get(`${docs}/${id}`, pk),
    get('/offers'),
    get(`/offers/${world.offer}`),
    ...['clock', 'metrics', 'purge', 'health', 'nothing'].map((name) => get(`/_mayfly/${name}`)),
    get(`/_mayfly${container}/ttl`),
    get(`/_mayfly${docs}/${id}/ttl?partitionKey=["${key}"]`),
  ];
  const writes: readonly [Template, ...Template[]] = [
    send('POST', docs, pk, item),
    send('POST', docs, pk, { ...item, id: `new ${random()}` }),
    send('POST', docs, { ...pk, 'x-ms-documentdb-is-upsert': 'true' }, item),
    send('PUT', `${docs}/${id}`, pk, item),
    send('DELETE', `${docs}/${id}`, pk, undefined),
    send('PATCH', `${docs}/${id}`, pk, { operations: [{ op: 'set', path: '/n', value: 1 }] }),
    ...batches(docs, pk, item),
    ...belongings(container, key),
    ...queries(random, docs, pk),
    send('PUT', container, {}, definition(container.slice(container.lastIndexOf('/') + 1))),
    send('PUT', `/offers/${world.offer}`, {}, { content: { offerThroughput: 400 } }),
    send('POST', `${container}/sprocs`, {}, { id: 's', body: 'function () {}' }),
    send('POST', '/_mayfly/purge', {}, {}),
    send('POST', `/_mayfly${container}/ttl/preview`, {}, { defaultTtl: 60 }),
  ];
  if (chance(random, 0.02)) return rareTemplate(random);
  return chance(random, 0.4) ? randomPick(random, reads) : randomPick(random, writes);
}

/** Every one of them would make the catalog larger, so they are few. */
function rareTemplate(random: Random): Template {
  const id = randomPick(random, [INJECTION, `db ${random()}`, randomText(random), '__proto__']);
  const throughput = { 'x-ms-offer-throughput': '400' };
  return chance(random, 0.5)
    ? send('POST', '/dbs', throughput, { id })
    : send('POST', `${DATABASE}/colls`, {}, definition(id));
}

/** Users, what they may do, and keys; written again and again, so that there are few of them. */
function belongings(container: string, key: string): readonly Template[] {
  const upsert = { 'x-ms-documentdb-is-upsert': 'true' };
  const permission = {
    id: 'p',
    permissionMode: 'Read',
    resource: container,
    resourcePartitionKey: [key],
  };
  const encryptionKey = {
    id: 'k',
    encryptionAlgorithm: 'AEAD_AES_256_CBC_HMAC_SHA256',
    wrappedDataEncryptionKey: 'AAAA',
    keyWrapMetadata: { type: 't', name: 'n', value: 'v', algorithm: 'RSA-OAEP' },
  };
  return [
    send('POST', `${DATABASE}/users`, upsert, { id: 'u' }),
    send('POST', `${DATABASE}/users/u/permissions`, upsert, permission),
    send('PUT', `${DATABASE}/users/u/permissions/p`, {}, permission),
    send('POST', `${DATABASE}/clientencryptionkeys`, {}, encryptionKey),
    send('PUT', `${DATABASE}/clientencryptionkeys/k`, {}, encryptionKey),
  ];
}

function batches(docs: string, pk: Record<string, string>, item: { id: string; pk: string }) {
  const partitionKey = JSON.stringify([item.pk]);
  const patch = { operations: [{ op: 'incr', path: '/n', value: 1 }], condition: 'from c' };
  const operations = [
    { operationType: 'Create', resourceBody: { ...item, id: 'batched' }, partitionKey },
    { operationType: 'Upsert', resourceBody: item, ifNoneMatch: '"1"', partitionKey },
    { operationType: 'Replace', id: item.id, resourceBody: item, ifMatch: '*', partitionKey },
    { operationType: 'Patch', id: item.id, resourceBody: patch, partitionKey },
    { operationType: 'Read', id: item.id, partitionKey },
    { operationType: 'Delete', id: 'batched', partitionKey },
  ];
  return ['true', 'false'].map((atomic) => {
    const flags = { 'x-ms-cosmos-is-batch-request': 'true', 'x-ms-cosmos-batch-atomic': atomic };
    return send('POST', docs, { ...pk, ...flags }, operations);
  });
}

function queries(random: Random, docs: string, pk: Record<string, string>): readonly Template[] {
  const headers = { ...pk, 'x-ms-documentdb-isquery': 'true' };
  const query = randomPick(random, [
    'SELECT * FROM c',
    'SELECT c.id FROM c WHERE c.pk = @p ORDER BY c.id',
    "SELECT VALUE COUNT(1) FROM c WHERE c.name LIKE '%x%'",
    `SELECT * FROM c${' '.repeat(20_000)}x y`,
    `SELECT ${'('.repeat(500)}1${')'.repeat(500)}`,
    `SELECT * FROM c WHERE ${'c.a = 1 AND '.repeat(200)}true`,
    randomAscii(random, 60),
  ]);
  const body = { query, parameters: [{ name: '@p', value: randomJson(random) }] };
  const users = `${DATABASE}/users`;
  return [docs, '/dbs', '/offers', users, `${users}/u/permissions`].map((path) =>
    send('POST', path, headers, body),
  );
}

const get = (path: string, headers: Record<string, string> = {}): Template => ({
  method: 'GET',
  path,
  headers,
  body: undefined,
});
const send = (
  method: string,
  path: string,
  headers: Record<string, string>,
  body: unknown,
): Template => ({ method, path, headers, body });

export function definition(id: string): object {
  const ttl = id === 'on' ? { defaultTtl: 1000 } : {};
  return { id, partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 }, ...ttl };
}

const SEGMENTS = [
  '',
  '.',
  '..',
  '%00',
  '%2F',
  '%2e%2e%2f',
  '%zz',
  '%',
  '%c3',
  '%0d%0ax-injected:%201',
  'caf%C3%A9',
  '__proto__',
  'constructor',
  'AAAAAQ==',
  'AAAAAYAAAAE=',
  '?',
  '#',
  '*',
  'dbs',
  'colls',
  'docs',
  'x'.repeat(300),
  'x'.repeat(9000),
] as const;

function changedPath(random: Random, path: string): string {
  const segments = path.split('/');
  const at = 1 + randomInteger(random, segments.length);
  switch (randomInteger(random, 8)) {
    case 0:
      segments[at] = randomPick(random, SEGMENTS);
      break;
    case 1:
      segments.splice(at, 0, randomPick(random, SEGMENTS));
      break;
    case 2:
      segments.splice(at, 1);
      break;
    case 3:
      segments.push(...segments);
      break;
    case 4:
      return `${path}${'/'.repeat(randomInteger(random, 50))}`;
    case 5:
      return `${path}${randomAscii(random, 12)}`;
    case 6:
      return `/${randomAscii(random, 40)}`;
    default:
      return path.slice(0, 1 + randomInteger(random, path.length));
  }
  return segments.join('/') || '/';
}

const VALUES = [
  '',
  '0',
  '-1',
  '1e999',
  '99999999999999999999',
  'true',
  'maybe',
  'null',
  '[]',
  '[{}]',
  '["a"]',
  '[["a"]]',
  '{"toString":1}',
  '{"maxThroughput":4000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":{"toString":1}}}}',
  '0:-1#1',
  '0:-1#99999999',
  '*',
  '"x"',
  '"1"',
  'Incremental Feed',
  'GET',
  '%0d%0ax-injected: 1',
  '[[['.repeat(3000),
  'x'.repeat(3000),
] as const;

const NAMES = [
  'x-ms-version',
  'x-ms-date',
  'x-ms-documentdb-partitionkey',
  'x-ms-documentdb-partitionkeyrangeid',
  'x-ms-start-epk',
  'x-ms-end-epk',
  'x-ms-max-item-count',
  'x-ms-continuation',
  'x-ms-session-token',
  'x-ms-consistency-level',
  'x-ms-activity-id',
  'x-ms-cosmos-correlated-activityid',
  'x-ms-documentdb-is-upsert',
  'x-ms-documentdb-isquery',
  'x-ms-cosmos-is-query-plan-request',
  'x-ms-cosmos-is-batch-request',
  'x-ms-cosmos-batch-atomic',
  'x-ms-cosmos-batch-continue-on-error',
  'x-ms-offer-throughput',
  'x-ms-documentdb-expiry-seconds',
  'x-ms-version',
  'x-ms-cosmos-offer-autopilot-settings',
  'x-ms-indexing-directive',
  'x-ms-cosmos-intended-collection-rid',
  'x-ms-cosmos-migrate-offer-to-autopilot',
  'content-type',
  'content-encoding',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'a-im',
  'prefer',
  'origin',
  'host',
  'expect',
  'upgrade',
  '__proto__',
] as const;

function changedHeaders(random: Random, given: Record<string, string>, world: World): Headers {
  const headers: Record<string, string | readonly string[]> = { ...given };
  const names = Object.keys(given);
  for (let left = 1 + randomInteger(random, 3); left > 0; left--) {
    const known = names[randomInteger(random, names.length)];
    const name = known !== undefined && chance(random, 0.4) ? known : randomPick(random, NAMES);
    const value = chance(random, 0.7) ? randomPick(random, VALUES) : randomAscii(random, 40);
    if (chance(random, 0.1)) delete headers[name];
    else if (chance(random, 0.15)) headers[name] = [value, value];
    else headers[name] = value;
  }
  if (chance(random, 0.1)) headers['x-ms-continuation'] = changedToken(random, world);
  // An "__proto__" in a literal or an assignment would set the prototype here, not a header.
  return Object.fromEntries(Object.entries(headers));
}

function changedToken(random: Random, { tokens }: World): string {
  const bytes = Buffer.from(randomPick(random, tokens), 'base64url');
  const at = randomInteger(random, bytes.length);
  bytes[at] = randomInteger(random, 256);
  const cut = chance(random, 0.3) ? bytes.subarray(0, at) : bytes;
  return cut.toString('base64url');
}

export function randomBody(random: Random, value: unknown): Buffer {
  const text = Buffer.from(
    JSON.stringify(chance(random, 0.4) ? changedJson(random, value) : value),
  );
  if (chance(random, 0.8)) return text;
  switch (randomInteger(random, 7)) {
    case 0:
      return text.subarray(0, randomInteger(random, text.length));
    case 1:
      return randomBytes(random, randomInteger(random, 200));
    case 2:
      text[randomInteger(random, text.length)] = randomInteger(random, 256);
      return text;
    case 3:
      return Buffer.concat([text, text]);
    case 4:
      return Buffer.from(JSON.stringify(randomJson(random, 6)));
    case 5:
      return Buffer.from(`${'{"a":'.repeat(randomInteger(random, 3000))}${text}`);
    default:
      return Buffer.from(text.toString().replace('{', `{"__proto__":${JSON.stringify(value)},`));
  }
}

/** The value with one part of it replaced. */
function changedJson(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || chance(random, 0.2)) {
    return chance(random, 0.1) ? INJECTION : randomJson(random);
  }
  if (Array.isArray(value))
    return value.map((each) => (chance(random, 0.5) ? changedJson(random, each) : each));
  const entries: (readonly [string, unknown])[] = Object.entries(value);
  const at = randomInteger(random, entries.length);
  const changed = entries.map(([name, inner], index) =>
    index === at ? ([name, changedJson(random, inner)] as const) : ([name, inner] as const),
  );
  if (chance(random, 0.1)) changed.splice(at, 1);
  return Object.fromEntries(changed);
}

export function randomBytes(random: Random, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => randomInteger(random, 256)));
}

/** Printable characters but for the blank: what a path or a header may hold. */
function randomAscii(random: Random, lengthMax: number): string {
  const codes = Array.from(
    { length: randomInteger(random, lengthMax + 1) },
    () => 33 + randomInteger(random, 94),
  );
  return String.fromCharCode(...codes);
}
