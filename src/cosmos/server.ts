// The REST face: takes an HTTP request, finds out who asks and for what, and writes the answer.
import type { Catalog } from '../catalog/catalog.js';
import type { Documents } from '../documents/documents.js';
import { codeOf } from '../http/codes.js';
import type { Exchange } from '../http/exchange.js';
import type { Faults, Target } from '../http/faults.js';
import type { Keys } from '../http/keys.js';
import type { Metrics } from '../http/metrics.js';
import type { Scripts } from '../script/scripts.js';
import type { Budgets } from '../throughput/budgets.js';
import { refusalCharge } from '../throughput/charges.js';
import { retryAfterMs } from '../throughput/throttled.js';
import { type Clock, stopwatch } from '../time/clock.js';
import { failure, MayflyError } from '../value/errors.js';
import { checkPermit, type Permit } from './access.js';
import { type Address, parseAddress } from './address.js';
import { type Authenticate, authenticator } from './auth.js';
import { jsonText } from './binary-json/decode.js';
import { corsHeaders, preflight } from './cors.js';
import { checkPrincipal, type Entra, entraReader } from './entra.js';
import { Dropped, late, struck } from './fault.js';
import { ridLink } from './find.js';
import { metered } from './meter.js';
import { refusalPlace } from './refusal-place.js';
import { chargeText, type Reply } from './reply.js';
import { BODY_BYTES_MAX, type CosmosRequest, header } from './request.js';
import { ResourceTokens } from './resource-token.js';
import { allowedMethods, type Route, routeOf } from './routes.js';
import { checkConsistency } from './session.js';
import { checkThroughputHints } from './throughput-headers.js';

export interface CosmosFace {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly scripts: Scripts;
  readonly budgets: Budgets;
  readonly faults: Faults;
  readonly keys: Keys;
  readonly entra: Entra;
  readonly metrics: Metrics;
  readonly corsOrigins: readonly string[];
  readonly version: string;
  /** Told about defects: errors nobody expected. */
  report(error: unknown, activityId: string): void;
}

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const VERSION = /^20\d\d-\d\d-\d\d(\.\w+)?$/;

export function cosmosHandler(face: CosmosFace) {
  const tokens = new ResourceTokens(face.catalog, face.keys);
  const authenticate = authenticator(face.keys, {
    resource: (token) => tokens.read(token, face.clock.now()),
    aad: entraReader(face.entra, face.clock),
  });
  return async (exchange: Exchange): Promise<void> => {
    const took = stopwatch();
    const activityId = activityIdOf(exchange, face);
    const trail: Trail = { operation: 'Unknown', place: [] };
    let reply: Reply;
    try {
      if (exchange.method === 'OPTIONS') reply = preflight(exchange.headers, face.corsOrigins);
      else reply = await answer(face, authenticate, tokens, exchange, activityId, trail);
    } catch (error) {
      // Work that stopped because its client went away is no defect: nothing is logged, counted or
      // answered, also where the client has only closed its own side and still reads.
      const isAbandoned = !(error instanceof MayflyError) && exchange.abandoned();
      if (error instanceof Dropped || isAbandoned) return exchange.drop();
      reply = errorReply(face, exchange, error, activityId, trail);
    }
    send(face, exchange, reply, activityId);
    face.metrics.observe(trail.operation, reply.status, took());
  };
}

/** What is known of a request when it ends, for the metrics and for refusals. */
interface Trail {
  operation: string;
  place: readonly string[];
}

async function answer(
  face: CosmosFace,
  authenticate: Authenticate,
  tokens: ResourceTokens,
  exchange: Exchange,
  activityId: string,
  trail: Trail,
): Promise<Reply> {
  const { headers, method } = exchange;
  const address = parseAddress(exchange.target);
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
  checkThroughputHints(headers);
  const fault = face.faults.isIdle ? undefined : face.faults.strike(targetOf(route, address));
  // A request that is late begins when it arrives.
  if (fault) await late(fault);
  const token = typeof access === 'object' ? access : undefined;
  if (token?.kind === 'principal') checkPrincipal(token, route, address);
  const permit = token?.kind === 'permit' ? token : undefined;
  const request = requestOf(face, exchange, address, activityId, tokens, permit);
  if (permit) await checkPermit(permit, route, request);
  const run = () => (route.metered ? metered(request, route.handle) : route.handle(request));
  try {
    return await (fault ? struck(fault, run) : run());
  } catch (error) {
    trail.place = refusalPlace(request, error);
    throw error;
  }
}

function targetOf({ operation }: Route, { type, names }: Address): Target {
  return { operation, resource: type, names };
}

function requestOf(
  face: CosmosFace,
  exchange: Exchange,
  address: Address,
  activityId: string,
  tokens: ResourceTokens,
  permit: Permit | undefined,
): CosmosRequest {
  return {
    address,
    headers: exchange.headers,
    at: face.clock.now(),
    activityId,
    origin: () => exchange.origin(),
    catalog: face.catalog,
    documents: face.documents,
    scripts: face.scripts,
    budgets: face.budgets,
    tokens,
    permit,
    body: () => bodyOf(exchange),
    abandoned: () => exchange.abandoned(),
  };
}

async function bodyOf(exchange: Exchange): Promise<Buffer> {
  return jsonText(await exchange.body(BODY_BYTES_MAX));
}

function activityIdOf(exchange: Exchange, face: CosmosFace): string {
  const given = header(exchange.headers, 'x-ms-activity-id');
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
  exchange: Exchange,
  error: unknown,
  activityId: string,
  { place }: Trail,
): Reply {
  const known = error instanceof MayflyError ? error : failure('internal');
  if (known !== error) face.report(error, activityId);
  const { status, subStatus, wrapped } = known.kind;
  const waitMs = retryAfterMs(known);
  const trailer = `ActivityId: ${activityId}, Mayfly/${face.version}`;
  const text = wrapped ? `Message: ${JSON.stringify({ Errors: [known.message] })}` : known.message;
  const correlated = header(exchange.headers, 'x-ms-cosmos-correlated-activityid');
  return {
    status,
    headers: [
      'x-ms-request-charge',
      chargeText(refusalCharge(known)),
      'x-ms-substatus',
      String(subStatus),
      ...(waitMs === undefined ? [] : ['x-ms-retry-after-ms', String(waitMs)]),
      ...(correlated ? ['x-ms-cosmos-correlated-activityid', correlated] : []),
      ...place,
      ...(status === 405 ? ['allow', allowedMethods(parseAddress(exchange.target))] : []),
    ],
    body: JSON.stringify({ code: codeOf(status), message: `${text}\r\n${trailer}` }),
  };
}

function send(face: CosmosFace, exchange: Exchange, reply: Reply, activityId: string): void {
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body;
  const headers = [
    ...reply.headers,
    'x-ms-activity-id',
    activityId,
    'x-ms-serviceversion',
    `version=${face.version}`,
    'cache-control',
    'no-store, no-cache',
  ];
  if (exchange.headers.origin) headers.push(...corsHeaders(exchange.headers, face.corsOrigins));
  if (body !== undefined) {
    headers.push(
      'content-type',
      reply.type ?? 'application/json',
      'content-length',
      String(body.length),
    );
  } else if (reply.status !== 204 && reply.status !== 304) {
    headers.push('content-length', '0');
  }
  exchange.answer(reply.status, headers, body);
}
