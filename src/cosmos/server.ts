// The REST face: takes an HTTP request, finds out who asks and for what, and writes the answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Catalog } from '../catalog/catalog.js';
import type { Documents } from '../documents/documents.js';
import { hasLeft, readBody } from '../http/body.js';
import { codeOf } from '../http/codes.js';
import type { Keys } from '../http/keys.js';
import type { Metrics } from '../http/metrics.js';
import { LOOKUP_CHARGE, REFUSAL_CHARGE } from '../throughput/charges.js';
import { type Clock, stopwatch } from '../time/clock.js';
import { failure, MayflyError } from '../value/errors.js';
import { type Address, parseAddress } from './address.js';
import { type Authenticate, authenticator } from './auth.js';
import { corsHeaders, preflight } from './cors.js';
import { ridLink } from './find.js';
import { chargeText, type Reply } from './reply.js';
import { BODY_BYTES_MAX, type CosmosRequest, header } from './request.js';
import { routeOf } from './routes.js';
import { checkConsistency } from './session.js';

export interface CosmosFace {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly keys: Keys;
  readonly metrics: Metrics;
  readonly corsOrigins: readonly string[];
  readonly version: string;
  /** Told about defects: errors nobody expected. */
  report(error: unknown, activityId: string): void;
}

const JOINED_BYTES_MAX = 16 * 1024;
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const VERSION = /^20\d\d-\d\d-\d\d(\.\w+)?$/;

export function cosmosHandler(face: CosmosFace) {
  const authenticate = authenticator(face.keys);
  return async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const took = stopwatch();
    const activityId = activityIdOf(incoming, face);
    const trail: Trail = { operation: 'Unknown' };
    let reply: Reply;
    try {
      if (incoming.method === 'OPTIONS') reply = preflight(incoming.headers, face.corsOrigins);
      else reply = await answer(face, authenticate, incoming, activityId, trail);
    } catch (error) {
      // That is no defect, no failure to count, and nobody reads the answer.
      if (hasLeft(incoming)) return;
      reply = errorReply(face, incoming, error, activityId);
    }
    send(face, incoming, response, reply, activityId);
    face.metrics.observe(trail.operation, reply.status, took());
  };
}

/** What is known of a request when it ends, for the metrics. */
interface Trail {
  operation: string;
}

async function answer(
  face: CosmosFace,
  authenticate: Authenticate,
  incoming: IncomingMessage,
  activityId: string,
  trail: Trail,
): Promise<Reply> {
  const { headers, method = 'GET' } = incoming;
  const address = parseAddress(incoming.url ?? '/');
  const access = authenticate(
    method,
    address,
    () => ridLink(face.catalog, address),
    headers,
    face.clock.wall(),
  );
  const route = routeOf(method, address, headers);
  trail.operation = route.operation;
  if (access === 'read' && !route.readOnly) {
    throw failure('readOnlyKey', { operation: route.operation });
  }
  checkVersion(header(headers, 'x-ms-version'));
  checkConsistency(headers);
  return route.handle(requestOf(face, incoming, address, activityId));
}

function requestOf(
  face: CosmosFace,
  incoming: IncomingMessage,
  address: Address,
  activityId: string,
): CosmosRequest {
  return {
    address,
    headers: incoming.headers,
    at: face.clock.now(),
    activityId,
    origin: () => originOf(incoming),
    catalog: face.catalog,
    documents: face.documents,
    body: () => readBody(incoming, BODY_BYTES_MAX),
    abandoned: () => incoming.socket.destroyed,
  };
}

/** The address the client used, so that mapped ports and container names lead back here. */
function originOf(incoming: IncomingMessage): string {
  const scheme = (incoming.socket as TLSSocket).encrypted ? 'https' : 'http';
  const { localAddress, localPort } = incoming.socket;
  return `${scheme}://${incoming.headers.host ?? `${localAddress}:${localPort}`}`;
}

function activityIdOf(incoming: IncomingMessage, face: CosmosFace): string {
  const given = header(incoming.headers, 'x-ms-activity-id');
  return given && GUID.test(given) ? given : face.documents.entropy.uuid();
}

function checkVersion(version: string | undefined): void {
  if (version !== undefined && !VERSION.test(version)) {
    throw failure('invalidVersion', { value: version });
  }
}

/** Every error has a JSON body with code and message, because clients parse it without looking. */
function errorReply(
  face: CosmosFace,
  incoming: IncomingMessage,
  error: unknown,
  activityId: string,
): Reply {
  const known = error instanceof MayflyError ? error : failure('internal');
  if (known !== error) face.report(error, activityId);
  const { status, subStatus, wrapped } = known.kind;
  const trailer = `ActivityId: ${activityId}, Mayfly/${face.version}`;
  const text = wrapped ? `Message: ${JSON.stringify({ Errors: [known.message] })}` : known.message;
  const correlated = header(incoming.headers, 'x-ms-cosmos-correlated-activityid');
  return {
    status,
    headers: [
      'x-ms-request-charge',
      chargeText(status === 404 ? LOOKUP_CHARGE : REFUSAL_CHARGE),
      'x-ms-substatus',
      String(subStatus),
      ...(correlated ? ['x-ms-cosmos-correlated-activityid', correlated] : []),
    ],
    body: JSON.stringify({ code: codeOf(status), message: `${text}\r\n${trailer}` }),
  };
}

function send(
  face: CosmosFace,
  incoming: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  activityId: string,
): void {
  const { body } = reply;
  const headers = [
    ...reply.headers,
    'x-ms-activity-id',
    activityId,
    'x-ms-serviceversion',
    `version=${face.version}`,
    'cache-control',
    'no-store, no-cache',
  ];
  if (incoming.headers.origin) headers.push(...corsHeaders(incoming.headers, face.corsOrigins));
  if (body !== undefined) {
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    headers.push('content-type', 'application/json', 'content-length', String(bytes));
  } else if (reply.status !== 204 && reply.status !== 304) {
    headers.push('content-length', '0');
  }
  response.writeHead(reply.status, headers);
  // Small bodies travel as text of single bytes: node:http then joins them with the headers to one
  // write, where a buffer would be a second one.
  if (body instanceof Uint8Array && body.length <= JOINED_BYTES_MAX) {
    response.end(
      Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'),
      'latin1',
    );
  } else response.end(body);
}
