// Session tokens and consistency levels. There is one replica, so every read is strong; tokens are
// still checked, because a token from the future means a client that talks to the wrong server or
// to one restored from a backup.
//
//   token = rangeId ":" [version "#"] lsn { "#" region "=" lsn }        several joined by ","
import type { IncomingHttpHeaders } from 'node:http';
import type { StoredContainer } from '../catalog/resources.js';
import type { Lsn } from '../engine/engine.js';
import { failure } from '../value/errors.js';
import { header } from './request.js';

const PART = /^(\d{1,9}):(?:(-?\d{1,18})#)?(-?\d{1,18})((?:#\d{1,9}=-?\d{1,18})*)$/;
const TOKEN_CHARACTERS_MAX = 8192;

export const ACCOUNT_CONSISTENCY = 'Session';
/** From strong to weak. */
const LEVELS = ['strong', 'boundedstaleness', 'session', 'consistentprefix', 'eventual'];

export function sessionToken(rangeIds: readonly number[], lsn: Lsn): string {
  return rangeIds.map((id) => `${id}:-1#${lsn}`).join(',');
}

/**
 * A read may ask for what it or another client has written; a position not reached yet is not
 * available. Parts about ranges that the container never had say nothing.
 */
export function checkSession(
  headers: IncomingHttpHeaders,
  { ranges }: StoredContainer,
  reached: Lsn,
): void {
  const token = header(headers, 'x-ms-session-token');
  if (!token) return;
  if (token.length > TOKEN_CHARACTERS_MAX) throw failure('invalidSessionToken', { value: token });
  for (const part of token.split(',')) {
    const match = PART.exec(part.trim());
    if (!match) throw failure('invalidSessionToken', { value: token });
    const id = Number(match[1]);
    // A range that was split lives on in its children, which have come at least as far.
    const known = ranges.some((range) => range.id === id || range.parents.includes(id));
    if (known && Number(match[3]) > reached) throw failure('sessionNotAvailable');
  }
}

export function checkConsistency(headers: IncomingHttpHeaders): void {
  const asked = header(headers, 'x-ms-consistency-level');
  if (!asked) return;
  const name = asked.toLowerCase() === 'bounded' ? 'boundedstaleness' : asked.toLowerCase();
  const level = LEVELS.indexOf(name);
  if (level < 0) {
    const why = 'Known levels: Strong, BoundedStaleness, Session, ConsistentPrefix, Eventual.';
    throw failure('invalidHeader', { header: 'x-ms-consistency-level', value: asked, why });
  }
  if (level < LEVELS.indexOf(ACCOUNT_CONSISTENCY.toLowerCase())) {
    throw failure('consistencyTooStrong', { asked, configured: ACCOUNT_CONSISTENCY });
  }
}
