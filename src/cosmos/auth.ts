// Who is asking: whoever signs with an account key, or shows a token. Comparisons take the same
// time whatever differs.
import type { IncomingHttpHeaders } from 'node:http';
import { DIGEST_WORDS, type Digest, Hmac, isSameDigest } from '../http/hmac.js';
import type { Keys } from '../http/keys.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import type { Permit } from './access.js';
import type { Address } from './address.js';
import type { Principal } from './entra.js';

export type Access = 'all' | 'read' | Permit | Principal;

/** By the type of a token: what it allows, or throws why nothing. */
export type TokenReaders = Readonly<Record<string, (token: Token) => Access>>;
export interface Token {
  readonly type: string;
  readonly version: string;
  readonly signature: string;
}

const SKEW_MS = 15 * 60 * 1000;
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

export function authenticator(keys: Keys, readers: TokenReaders = {}): Authenticate {
  const known = knownKeys(keys);
  let lastDate = '';
  let lastDateLower = '';
  let lastDateMs = Number.NaN;
  return (method, address, ridLink, headers, wall) => {
    const header = headers.authorization;
    if (!header) throw failure('authorizationMissing');
    let signature: Digest;
    // What nearly all clients send, to the letter: only the signature is left to decode.
    if (header.startsWith(USUAL_PREFIX)) signature = usualSignature(header);
    else {
      const token = tokenOf(header);
      const read = Object.hasOwn(readers, token.type) ? readers[token.type] : undefined;
      if (read) return read(token);
      signature = masterSignature(token);
    }
    const msDate = headers['x-ms-date'];
    const date = typeof msDate === 'string' ? msDate : headers.date;
    if (!date) throw failure('dateMissing');
    // Clients send many requests in one second, with the same date.
    if (date !== lastDate) {
      lastDate = date;
      lastDateLower = date.toLowerCase();
      lastDateMs = RFC_1123.test(date) ? Date.parse(date) : Number.NaN;
    }
    checkDate(lastDateMs, wall);
    const start = `${method.toLowerCase()}\n${address.type.toLowerCase()}\n`;
    const end = date === msDate ? `\n${lastDateLower}\n\n` : `\n\n${lastDateLower}\n`;
    const byName = start + address.link + end;
    const access = accessOf(known, byName, signature);
    if (access) return access;
    for (const other of otherTexts(method, address, ridLink())) {
      const found = accessOf(known, other + end, signature);
      if (found) return found;
    }
    throw failure('signatureWrong', { payload: byName });
  };
}

/** Further ways to sign a request, without its date. */
function otherTexts(method: string, address: Address, rid: string | undefined): readonly string[] {
  const { type, otherType, link } = address;
  const start = (kind: string) => `${method.toLowerCase()}\n${kind.toLowerCase()}\n`;
  const texts = rid === undefined ? [] : [start(type) + rid];
  if (otherType === undefined) return texts;
  texts.push(start(otherType) + link);
  if (rid !== undefined) texts.push(start(otherType) + rid);
  return texts;
}

interface KnownKey {
  readonly hmac: Hmac;
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
    text === undefined ? [] : [{ hmac: new Hmac(Buffer.from(text, 'base64')), access }],
  );
}

function accessOf(
  known: readonly KnownKey[],
  payload: string,
  signature: Digest,
): Access | undefined {
  for (const { hmac, access } of known) {
    if (isSameDigest(hmac.digest(payload), signature)) return access;
  }
  return undefined;
}

/** `type=…&ver=…&sig=…`, percent-encoded by most clients and plain from others. */
function tokenOf(header: string): Token {
  const match = /^type=([a-z]+)&ver=([\d.]+)&sig=(.+)$/is.exec(decoded(header));
  const [, type = '', version = '', signature = ''] = match ?? [];
  if (!match) throw failure('authorizationMalformed');
  return { type: type.toLowerCase(), version, signature };
}

function masterSignature({ type, version, signature }: Token): Digest {
  if (type !== 'master') throw failure('authorizationUnsupported', { type });
  if (version !== '1.0') throw failure('authorizationMalformed');
  return checkedSignature(signature);
}

const USUAL_PREFIX = 'type%3Dmaster%26ver%3D1.0%26sig%3D';

function usualSignature(header: string): Digest {
  const text = header.slice(USUAL_PREFIX.length);
  return wellFormed(text) ?? checkedSignature(decoded(text));
}

function checkedSignature(text: string): Digest {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== 4 * DIGEST_WORDS) throw failure('authorizationMalformed');
  return Int32Array.from({ length: DIGEST_WORDS }, (_, at) => bytes.readInt32BE(4 * at));
}

/** 32 bytes in base64 are 43 digits and a `=`. */
const DIGITS = 43;
const PERCENT = 0x25;
/** The value of every base64 digit by its code, and -1 for what is none. */
const DIGIT_VALUES = Int8Array.from({ length: 128 }, (_, code) =>
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.indexOf(
    String.fromCharCode(code),
  ),
);
const given = new Int32Array(DIGEST_WORDS);

/**
 * Decodes percent signs and base64 in one go, because every request comes through here. Undefined
 * for whatever is written in another way. The next call overwrites the digest.
 */
function wellFormed(text: string): Digest | undefined {
  let at = 0;
  let bits = 0;
  let held = 0;
  let word = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    let code = text.charCodeAt(at++);
    if (code === PERCENT) {
      if (text.startsWith('2B', at)) code = PLUS;
      else if (text.startsWith('2F', at)) code = SLASH;
      else return undefined;
      at += 2;
    }
    const value = DIGIT_VALUES[code] ?? -1;
    if (value < 0) return undefined;
    // Of the last digit, four bits complete the last word, and two are padding.
    if (bits + 6 < 32) {
      held = (held << 6) | value;
      bits += 6;
    } else {
      const rest = bits + 6 - 32;
      given[word++] = (held << (6 - rest)) | (value >> rest);
      held = value & ((1 << rest) - 1);
      bits = rest;
    }
  }
  const tail = text.slice(at);
  return word === DIGEST_WORDS && held === 0 && (tail === '%3D' || tail === '=')
    ? given
    : undefined;
}

const PLUS = 0x2b;
const SLASH = 0x2f;

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
