// Who is asking: master-key signatures. Comparisons take the same time whatever differs.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Keys } from '../http/keys.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import type { Address } from './address.js';

export type Access = 'all' | 'read';

const SKEW_MS = 15 * 60 * 1000;
const SIGNATURE_BYTES = 32;
/** `Thu, 01 Jan 2026 00:00:00 GMT`. Other forms would work here and fail at the service. */
const RFC_1123 = /^[a-z]{3}, \d{1,2} [a-z]{3} \d{4} \d\d:\d\d:\d\d GMT$/i;

/** Answers what a request may do, or throws why not. */
export type Authenticate = (
  method: string,
  address: Address,
  ridLink: () => string | undefined,
  headers: IncomingHttpHeaders,
  wall: Instant,
) => Access;

export function authenticator(keys: Keys): Authenticate {
  const known = knownKeys(keys);
  let lastDate = '';
  let lastDateMs = Number.NaN;
  return (method, address, ridLink, headers, wall) => {
    const signature = signatureOf(headers.authorization);
    const msDate = headers['x-ms-date'];
    const date = typeof msDate === 'string' ? msDate : headers.date;
    if (!date) throw failure('dateMissing');
    // Clients send many requests in one second, with the same date.
    if (date !== lastDate) {
      lastDate = date;
      lastDateMs = RFC_1123.test(date) ? Date.parse(date) : Number.NaN;
    }
    checkDate(lastDateMs, wall);
    const dates = `${typeof msDate === 'string' ? `${msDate.toLowerCase()}\n` : `\n${date.toLowerCase()}`}\n`;
    const payload = (link: string) =>
      `${method.toLowerCase()}\n${address.type.toLowerCase()}\n${link}\n${dates}`;
    const byName = payload(address.link);
    const access = accessOf(known, byName, signature);
    if (access) return access;
    const rid = ridLink();
    const byRid = rid === undefined ? undefined : accessOf(known, payload(rid), signature);
    if (byRid) return byRid;
    throw failure('signatureWrong', { payload: byName });
  };
}

interface KnownKey {
  readonly key: KeyObject;
  readonly access: Access;
}

function knownKeys(keys: Keys): readonly KnownKey[] {
  const list: readonly (readonly [string | undefined, Access])[] = [
    [keys.primary, 'all'],
    [keys.secondary, 'all'],
    [keys.primaryReadOnly, 'read'],
    [keys.secondaryReadOnly, 'read'],
  ];
  return list.flatMap(([text, access]) =>
    text === undefined ? [] : [{ key: createSecretKey(Buffer.from(text, 'base64')), access }],
  );
}

function accessOf(
  known: readonly KnownKey[],
  payload: string,
  signature: Buffer,
): Access | undefined {
  for (const { key, access } of known) {
    if (timingSafeEqual(createHmac('sha256', key).update(payload).digest(), signature)) {
      return access;
    }
  }
  return undefined;
}

/** `type=master&ver=1.0&sig=…`, percent-encoded by most clients and plain from others. */
function signatureOf(header: string | undefined): Buffer {
  if (!header) throw failure('authorizationMissing');
  // What nearly all clients send, to the letter: only the signature is left to decode.
  if (header.startsWith(USUAL_PREFIX))
    return checkedSignature(decoded(header.slice(USUAL_PREFIX.length)));
  const match = /^type=([a-z]+)&ver=([\d.]+)&sig=(.+)$/is.exec(decoded(header));
  const [, type = '', version, text = ''] = match ?? [];
  if (!match) throw failure('authorizationMalformed');
  if (type.toLowerCase() !== 'master') throw failure('authorizationUnsupported', { type });
  if (version !== '1.0') throw failure('authorizationMalformed');
  return checkedSignature(text);
}

const USUAL_PREFIX = 'type%3Dmaster%26ver%3D1.0%26sig%3D';

function checkedSignature(text: string): Buffer {
  const signature = Buffer.from(text, 'base64');
  if (signature.length !== SIGNATURE_BYTES) throw failure('authorizationMalformed');
  return signature;
}

function decoded(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    throw failure('authorizationMalformed');
  }
}

/** T37's virtual time does not count here: clients sign with the time of the real world. */
function checkDate(dateMs: number, wall: Instant): void {
  if (Number.isNaN(dateMs)) throw failure('dateMalformed');
  if (Math.abs(wall - dateMs) <= SKEW_MS) return;
  const text = (ms: number) => new Date(ms).toUTCString();
  throw failure('dateOutsideWindow', {
    start: text(dateMs - SKEW_MS),
    expiry: text(dateMs + SKEW_MS),
    now: text(wall),
  });
}
