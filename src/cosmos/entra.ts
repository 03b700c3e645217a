// Entra tokens: `type=aad&ver=1.0&sig=<jwt>`. Either any well-formed one will do, for programs that
// run on the developer's own machine, or its signature, issuer, audience and times are checked. As
// at the service, they are for data: databases, containers and the like are managed with keys.
import { createHash } from 'node:crypto';
import { type Jwt, parseJwt } from '../http/jwt.js';
import type { Clock } from '../time/clock.js';
import { type Instant, secondsOf } from '../time/instant.js';
import { failure } from '../value/errors.js';
import type { Address } from './address.js';
import type { Token } from './auth.js';
import type { Route } from './routes.js';

export type Entra = 'off' | 'accept' | EntraRules;

export interface EntraRules {
  readonly isSigned: (jwt: Jwt) => boolean;
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  /** Who may read and write, and who may read, by any of their ids; `*` is everybody. */
  readonly contributors: readonly string[];
  readonly readers: readonly string[];
}

/** Somebody with an Entra token. */
export interface Principal {
  readonly kind: 'principal';
  readonly id: string;
  readonly role: 'contributor' | 'reader' | undefined;
}

/** Clocks differ, and the service's libraries allow as much. */
const LEEWAY_SECONDS = 300;
const KNOWN_MAX = 1000;

export function entraReader(entra: Entra, clock: Clock): (token: Token) => Principal {
  // By digest: looking up a token itself would take a time that depends on its letters.
  const known = new Map<string, { readonly jwt: Jwt; readonly principal: Principal }>();
  return ({ version, signature }) => {
    if (entra === 'off') throw failure('entraOff');
    if (version !== '1.0') throw failure('authorizationMalformed');
    if (entra === 'accept') return principalOf(wellFormed(signature), EVERYBODY);
    const name = createHash('sha256').update(signature).digest('base64');
    let seen = known.get(name);
    if (!seen) {
      const jwt = wellFormed(signature);
      checkOrigin(entra, jwt);
      seen = { jwt, principal: principalOf(jwt, entra) };
      if (known.size >= KNOWN_MAX) known.clear();
      known.set(name, seen);
    }
    // The world that makes the tokens has no virtual time.
    checkTimes(seen.jwt, clock.wall());
    return seen.principal;
  };
}

const CONTAINER = 'dbs/*/colls/*';

/** Throws unless the role allows the operation, and it is one of the data plane. */
export function checkPrincipal(
  { id, role }: Principal,
  { verb, operation, readOnly }: Route,
  { path, shape }: Address,
): void {
  const isExecution = shape === `${CONTAINER}/sprocs/*` && verb === 'POST';
  const isData = DATA.test(shape) || isExecution;
  const isManaged = shape.startsWith('offers') || shape.startsWith('dbs/*/users');
  if (isManaged || (!isData && !readOnly)) {
    throw failure('entraControlPlane', { operation, path: `/${path}` });
  }
  if (role === 'contributor' || (role === 'reader' && readOnly)) return;
  throw failure(isData ? 'entraDataDenied' : 'entraMetadataDenied', { principal: id, operation });
}

const DATA = /^dbs\/\*\/colls\/\*\/(docs|conflicts|operations)(\/|$)/;

const EVERYBODY = { contributors: ['*'], readers: [] };

function wellFormed(text: string): Jwt {
  const jwt = parseJwt(text);
  if (!jwt) throw failure('entraMalformed');
  return jwt;
}

function checkOrigin({ isSigned, issuers, audiences }: EntraRules, jwt: Jwt): void {
  if (!isSigned(jwt)) throw failure('entraSignature');
  const { iss, aud } = jwt.claims;
  if (!issuers.some((each) => each === iss)) throw failure('entraIssuer', { issuer: shown(iss) });
  const given: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  const bare = (url: unknown) => (typeof url === 'string' ? url.replace(/\/$/, '') : undefined);
  if (audiences.some((each) => given.some((one) => bare(one) === bare(each)))) return;
  throw failure('entraAudience', { audience: shown(aud) });
}

function checkTimes({ claims }: Jwt, wall: Instant): void {
  const { nbf = 0, exp } = claims;
  const now = secondsOf(wall);
  if (typeof exp !== 'number' || typeof nbf !== 'number') throw failure('entraMalformed');
  if (now < exp + LEEWAY_SECONDS && now >= nbf - LEEWAY_SECONDS) return;
  const text = (seconds: number) =>
    Math.abs(seconds) < SECONDS_MAX ? new Date(seconds * 1000).toUTCString() : String(seconds);
  throw failure('entraExpired', { start: text(nbf), expiry: text(exp), now: text(now) });
}

/** Beyond this a number is no date to JavaScript. */
const SECONDS_MAX = 8.64e12;

function principalOf(
  { claims }: Jwt,
  { contributors, readers }: Pick<EntraRules, 'contributors' | 'readers'>,
): Principal {
  // With a scope, somebody uses the application: the application itself is not who asks.
  const applications = claims.scp === undefined ? [claims.appid, claims.azp] : [];
  const ids = [claims.oid, claims.sub, ...applications].filter((each) => typeof each === 'string');
  const isIn = (list: readonly string[]) =>
    list.includes('*') || ids.some((id) => list.includes(id));
  const role = isIn(contributors) ? 'contributor' : isIn(readers) ? 'reader' : undefined;
  return { kind: 'principal', id: ids[0] ?? '', role };
}

const shown = (value: unknown): string => JSON.stringify(value) ?? 'none';
