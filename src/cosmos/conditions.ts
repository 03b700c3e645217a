// If-Match and If-None-Match, for items and for resources of the catalog alike.
import type { IncomingHttpHeaders } from 'node:http';
import type { Conditions } from '../documents/write.js';
import { instant, secondsOf } from '../time/instant.js';
import { failure } from '../value/errors.js';
import { header } from './request.js';

export function conditionsOf(headers: IncomingHttpHeaders): Conditions {
  return {
    ifMatch: header(headers, 'if-match') || undefined,
    ifNoneMatch: header(headers, 'if-none-match') || undefined,
  };
}

/**
 * True when the client's copy is current, so that a read answers 304. An etag outdoes a time, which
 * has but whole seconds.
 */
export function isCurrent(
  headers: IncomingHttpHeaders,
  etag: string,
  writtenSeconds: () => number,
): boolean {
  const known = header(headers, 'if-none-match');
  if (known) return known === etag;
  const since = modifiedSince(headers);
  return since !== undefined && writtenSeconds() <= since;
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The header If-Modified-Since, in seconds. */
export function modifiedSince(headers: IncomingHttpHeaders): number | undefined {
  const value = header(headers, 'if-modified-since');
  if (!value) return undefined;
  const ms = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(ms)) return Math.max(0, secondsOf(instant(ms)));
  const why = 'It must be a date such as Sat, 01 Jun 2030 12:00:00 GMT.';
  throw failure('invalidHeader', { header: 'if-modified-since', value, why });
}

export function checkMatch(headers: IncomingHttpHeaders, etag: string): void {
  const { ifMatch } = conditionsOf(headers);
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== etag) {
    throw failure('preconditionFailed');
  }
}
