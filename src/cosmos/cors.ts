// Browsers: no page may talk to the account unless its origin was allowed at the start. Everybody
// knows the emulator's key, so an open door here would let any web page read a developer's data.
import type { IncomingHttpHeaders } from 'node:http';
import { failure } from '../value/errors.js';
import type { Reply } from './reply.js';

const MAX_AGE_SECONDS = '600';

export function preflight(headers: IncomingHttpHeaders, allowed: readonly string[]): Reply {
  const origin = headers.origin ?? '';
  if (!isAllowed(origin, allowed)) throw failure('foreignOrigin', { origin });
  const asked = headers['access-control-request-headers'];
  return {
    status: 204,
    headers: [
      ...corsHeaders(headers, allowed),
      'access-control-allow-methods',
      'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers',
      String(asked ?? '*'),
      'access-control-max-age',
      MAX_AGE_SECONDS,
    ],
    body: undefined,
  };
}

export function corsHeaders(
  headers: IncomingHttpHeaders,
  allowed: readonly string[],
): readonly string[] {
  const origin = headers.origin ?? '';
  if (!isAllowed(origin, allowed)) return [];
  return [
    'access-control-allow-origin',
    origin,
    'vary',
    'origin',
    'access-control-expose-headers',
    EXPOSED,
  ];
}

const EXPOSED = [
  'etag',
  'lsn',
  'x-ms-activity-id',
  'x-ms-alt-content-path',
  'x-ms-content-path',
  'x-ms-continuation',
  'x-ms-cosmos-correlated-activityid',
  'x-ms-cosmos-index-utilization',
  'x-ms-documentdb-collection-index-transformation-progress',
  'x-ms-documentdb-query-metrics',
  'x-ms-item-count',
  'x-ms-request-charge',
  'x-ms-resource-quota',
  'x-ms-resource-usage',
  'x-ms-session-token',
  'x-ms-substatus',
].join(', ');

function isAllowed(origin: string, allowed: readonly string[]): boolean {
  return origin !== '' && (allowed.includes(origin) || allowed.includes('*'));
}
