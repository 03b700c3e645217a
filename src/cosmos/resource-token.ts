// Resource tokens: what a permission gives its user to show. Whoever has one needs no key.
//
//   type=resource&ver=1&sig=<base64 of the MAC>;<base64 of the content>;
//   content = [permission number, etag of the permission, etag of its user, from, until]
//
// The MAC is by a key that is derived from the account's, so tokens last over restarts and end with
// the account key. They also end when the permission or its user is written again or deleted,
// because the etags differ then. Times are seconds of our own clock, for we wrote them.
import type { IncomingHttpHeaders } from 'node:http';
import type { Belonging } from '../catalog/belongings.js';
import type { Catalog } from '../catalog/catalog.js';
import { DIGEST_WORDS, type Digest, Hmac, isSameDigest } from '../http/hmac.js';
import type { Keys } from '../http/keys.js';
import { type Instant, secondsOf } from '../time/instant.js';
import { failure } from '../value/errors.js';
import type { Permit } from './access.js';
import type { Token } from './auth.js';
import { header } from './request.js';

const EXPIRY_HEADER = 'x-ms-documentdb-expiry-seconds';
const SECONDS = { min: 10, default: 3600, max: 86_400 };
const DERIVATION = 'mayfly resource tokens 1';
const CONTENT_CHARACTERS_MAX = 1024;

export class ResourceTokens {
  readonly #catalog: Catalog;
  readonly #signer: Hmac;
  readonly #verifiers: readonly Hmac[];

  constructor(catalog: Catalog, keys: Keys) {
    this.#catalog = catalog;
    this.#signer = derived(keys.primary);
    this.#verifiers = [keys.primary, keys.secondary].flatMap((key) =>
      key === undefined ? [] : [derived(key)],
    );
  }

  mint(permission: Belonging<'permission'>, at: Instant, seconds: number): string {
    const user = this.#catalog.belongings.numbered('user', permission.owner);
    const from = secondsOf(at);
    const content = [permission.serial, permission.etag, user?.etag ?? '', from, from + seconds];
    const text = Buffer.from(JSON.stringify(content)).toString('base64');
    const mac = bytesOf(this.#signer.digest(text)).toString('base64');
    return `type=resource&ver=1&sig=${mac};${text};`;
  }

  /** What the permission allows that the token was made for, as it is now. */
  read({ version, signature }: Token, now: Instant): Permit {
    if (version !== '1' && version !== '1.0') throw failure('authorizationMalformed');
    const match = /^([A-Za-z0-9+/=]{44});([A-Za-z0-9+/=]+);?$/.exec(signature);
    const [, mac = '', text = ''] = match ?? [];
    if (!match || text.length > CONTENT_CHARACTERS_MAX) throw failure('authorizationMalformed');
    const bytes = Buffer.from(mac, 'base64');
    const given = wordsOf(bytes);
    // The last letter has bits that mean nothing, and so a MAC could be written in four ways.
    if (!given || bytes.toString('base64') !== mac) throw failure('authorizationMalformed');
    const matches = this.#verifiers.map((hmac) => isSameDigest(hmac.digest(text), given));
    if (!matches.includes(true)) throw failure('tokenWrong');
    const content = JSON.parse(Buffer.from(text, 'base64').toString()) as Content;
    const { permissionMode: mode, scope } = this.#permissionIn(content, now).body;
    return { kind: 'permit', mode, scope };
  }

  #permissionIn([serial, etag, userEtag, from, until]: Content, now: Instant) {
    const { belongings } = this.#catalog;
    const permission = belongings.numbered('permission', serial);
    const user = permission && belongings.numbered('user', permission.owner);
    if (permission?.etag !== etag || user?.etag !== userEtag) throw failure('tokenRevoked');
    const seconds = secondsOf(now);
    if (seconds >= from && seconds < until) return permission;
    const text = (each: number) => new Date(each * 1000).toUTCString();
    throw failure('dateOutsideWindow', {
      start: text(from),
      expiry: text(until),
      now: text(seconds),
    });
  }
}

type Content = readonly [number, string, string, number, number];

/** How long a token shall be good. */
export function tokenSeconds(headers: IncomingHttpHeaders): number {
  const value = header(headers, EXPIRY_HEADER);
  if (value === undefined || value === '') return SECONDS.default;
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (seconds >= SECONDS.min && seconds <= SECONDS.max) return seconds;
  const why = `It must be a whole number of seconds from ${SECONDS.min} to ${SECONDS.max}.`;
  throw failure('invalidHeader', { header: EXPIRY_HEADER, value, why });
}

function derived(key: string): Hmac {
  return new Hmac(bytesOf(new Hmac(Buffer.from(key, 'base64')).digest(DERIVATION)));
}

function bytesOf(digest: Digest): Buffer {
  const bytes = Buffer.alloc(4 * DIGEST_WORDS);
  for (let at = 0; at < DIGEST_WORDS; at++) bytes.writeInt32BE(digest[at] as number, 4 * at);
  return bytes;
}

function wordsOf(bytes: Buffer): Digest | undefined {
  if (bytes.length !== 4 * DIGEST_WORDS) return undefined;
  return Int32Array.from({ length: DIGEST_WORDS }, (_, at) => bytes.readInt32BE(4 * at));
}
