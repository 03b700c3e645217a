// If-Match and If-None-Match, for items and for resources of the catalog alike.
import type { IncomingHttpHeaders } from 'node:http';
import type { Conditions } from '../documents/write.js';
import { failure } from '../value/errors.js';
import { header } from './request.js';

export function conditionsOf(headers: IncomingHttpHeaders): Conditions {
  return {
    ifMatch: header(headers, 'if-match') || undefined,
    ifNoneMatch: header(headers, 'if-none-match') || undefined,
  };
}

/** True when the client's copy is current, so that a read answers 304. */
export function isCurrent(headers: IncomingHttpHeaders, etag: string): boolean {
  return header(headers, 'if-none-match') === etag;
}

export function checkMatch(headers: IncomingHttpHeaders, etag: string): void {
  const { ifMatch } = conditionsOf(headers);
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== etag) {
    throw failure('preconditionFailed');
  }
}
