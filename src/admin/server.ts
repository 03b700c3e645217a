// The control face under /_mayfly/: watching and steering a server. Only for the holder of the
// account key, and never for web pages of other origins.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Catalog } from '../catalog/catalog.js';
import type { Documents } from '../documents/documents.js';
import { hasLeft, readBody } from '../http/body.js';
import { codeOf } from '../http/codes.js';
import type { Faults } from '../http/faults.js';
import { checkHost } from '../http/host-guard.js';
import { isAccountKey, type Keys } from '../http/keys.js';
import type { Metrics } from '../http/metrics.js';
import type { Budgets } from '../throughput/budgets.js';
import type { Clock } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import type { Purger } from '../time/purger.js';
import { failure, MayflyError } from '../value/errors.js';
import { readClock, setClock } from './clock.js';
import { addFault, clearFaults, listFaults, readFault, removeFault } from './faults.js';
import { readMetrics } from './metrics.js';
import { pausePurge, purgeNow, readPurge, resumePurge } from './purge.js';
import { splitRanges } from './split.js';
import { explainTtl, previewTtl, readTtl } from './ttl.js';

export interface AdminFace {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly budgets: Budgets;
  readonly faults: Faults;
  readonly purger: Purger;
  readonly metrics: Metrics;
  readonly keys: Keys;
  readonly allowedHosts: readonly string[];
  readonly version: string;
  /** The certificate clients should trust; undefined when the server speaks no TLS. */
  certificate(): string | undefined;
  report(error: unknown): void;
}
export interface AdminRequest extends AdminFace {
  readonly at: Instant;
  readonly names: readonly string[];
  readonly query: URLSearchParams;
  body(): Promise<Buffer>;
}
/** A string is sent as it is, anything else as JSON. */
export type AdminAnswer = { readonly text: string; readonly type: string } | object;

type Handler = (request: AdminRequest) => Promise<AdminAnswer> | AdminAnswer;

// biome-ignore format: a table is read in columns
const routes: readonly (readonly [string, string, 'open' | 'key', Handler])[] = [
  ['GET',  'health',                      'open', ({ version }) => ({ status: 'ok', version })],
  ['GET',  'certificate.pem',             'open', readCertificate],
  ['GET',  'metrics',                     'key',  readMetrics],
  ['GET',  'clock',                       'key',  readClock],
  ['POST', 'clock',                       'key',  setClock],
  ['GET',  'purge',                       'key',  readPurge],
  ['POST', 'purge',                       'key',  purgeNow],
  ['POST', 'purge/pause',                 'key',  pausePurge],
  ['POST', 'purge/resume',                'key',  resumePurge],
  ['GET',  'faults',                      'key',  listFaults],
  ['POST', 'faults',                      'key',  addFault],
  ['DELETE', 'faults',                    'key',  clearFaults],
  ['GET',  'faults/*',                    'key',  readFault],
  ['DELETE', 'faults/*',                  'key',  removeFault],
  ['POST', 'dbs/*/colls/*/split',         'key',  splitRanges],
  ['GET',  'dbs/*/colls/*/ttl',           'key',  readTtl],
  ['POST', 'dbs/*/colls/*/ttl/preview',   'key',  previewTtl],
  ['GET',  'dbs/*/colls/*/docs/*/ttl',    'key',  explainTtl],
];

export const ADMIN_PREFIX = '/_mayfly/';
const BODY_BYTES_MAX = 64 * 1024;

export function adminHandler(face: AdminFace) {
  return async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      checkHost(incoming.headers, face.allowedHosts);
      const answer = await dispatch(face, incoming);
      const isText = 'text' in answer && 'type' in answer;
      const text = isText ? String(answer.text) : JSON.stringify(answer);
      send(response, 200, isText ? String(answer.type) : 'application/json', text);
    } catch (error) {
      const known = error instanceof MayflyError ? error : failure('internal');
      if (known !== error && !hasLeft(incoming)) face.report(error);
      const { status } = known.kind;
      const body = { code: codeOf(status), message: known.message };
      if (status === 405) response.setHeader('allow', allowedIn(pathOf(incoming)));
      send(response, status, 'application/json', JSON.stringify(body));
    }
  };
}

async function dispatch(face: AdminFace, incoming: IncomingMessage): Promise<AdminAnswer> {
  const path = pathOf(incoming);
  const query = incoming.url?.slice(path.length + 1) ?? '';
  const method = incoming.method ?? 'GET';
  const segments = segmentsOf(path);
  const fitting = routesAt(segments);
  const route = fitting.find(([verb]) => verb === method);
  const needsKey = route?.[2] !== 'open';
  if (needsKey) checkBearer(incoming.headers.authorization, face.keys);
  if (!route) {
    if (fitting.length === 0) throw failure('invalidPath', { path });
    throw failure('methodNotAllowed', { method, path, allowed: allowedIn(path) });
  }
  const [, shape, , handle] = route;
  const names = shape
    .split('/')
    .flatMap((part, index) => (part === '*' ? [decode(segments[index] ?? '', path)] : []));
  return handle({
    ...face,
    at: face.clock.now(),
    names,
    query: new URLSearchParams(query),
    body: () => readBody(incoming, BODY_BYTES_MAX),
  });
}

function fits(shape: readonly string[], segments: readonly string[]): boolean {
  return (
    shape.length === segments.length &&
    shape.every((part, index) => part === '*' || part === segments[index])
  );
}

function pathOf({ url = '' }: IncomingMessage): string {
  const at = url.indexOf('?');
  return at < 0 ? url : url.slice(0, at);
}

function segmentsOf(path: string): readonly string[] {
  return path.slice(ADMIN_PREFIX.length).split('/');
}

function routesAt(segments: readonly string[]) {
  return routes.filter(([, shape]) => fits(shape.split('/'), segments));
}

function allowedIn(path: string): string {
  return routesAt(segmentsOf(path))
    .map(([verb]) => verb)
    .join(', ');
}

function decode(segment: string, path: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw failure('invalidPath', { path });
  }
}

function checkBearer(header: string | undefined, keys: Keys): void {
  const presented = /^bearer (.+)$/i.exec(header ?? '')?.[1];
  if (presented === undefined || !isAccountKey(keys, presented.trim()))
    throw failure('bearerWrong');
}

function readCertificate(request: AdminRequest): AdminAnswer {
  const text = request.certificate();
  if (text === undefined) throw failure('notFound');
  return { text, type: 'application/x-pem-file' };
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
