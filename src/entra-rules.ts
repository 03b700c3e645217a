// From the options about Entra to the rules the REST face goes by; refuses what would open a door.
import type { Entra } from './cosmos/entra.js';
import { type Jwt, KeySet } from './http/jwt.js';
import { type EntraOptions, isLoopback, type Log } from './options.js';
import type { Clock } from './time/clock.js';

const AUDIENCE = 'https://cosmos.azure.com';

export function entraOf(
  entra: 'off' | 'accept' | EntraOptions,
  host: string,
  clock: Clock,
  log: Log,
): Entra {
  if (entra === 'accept' && !isLoopback(host)) {
    throw new Error(
      `With --entra accept every token opens the account, so it is for loopback only, and --host ${host} is not. ` +
        'Use --entra verify with --entra-keys and --entra-issuer, or an account key.',
    );
  }
  if (typeof entra === 'string') return entra;
  const { issuers, contributors = [], readers = [] } = entra;
  if (issuers.length === 0) throw new Error('Verifying Entra tokens needs an --entra-issuer.');
  if (contributors.length + readers.length === 0) {
    throw new Error(
      'Verifying Entra tokens needs an --entra-contributor or --entra-reader, or nobody could do anything: ' +
        'the id of a user or application (oid, sub, appid or azp), or * for everybody whom the issuer knows.',
    );
  }
  return {
    isSigned: signatureCheck(entra.keys, clock, log),
    issuers,
    audiences: entra.audiences?.length ? entra.audiences : [AUDIENCE],
    contributors,
    readers,
  };
}

const READ_AGAIN_MS = 60_000;

/** Issuers change their keys every few weeks, and a server should not have to be restarted then. */
export function signatureCheck(
  given: EntraOptions['keys'],
  clock: Pick<Clock, 'wall'>,
  log: Log,
): (jwt: Jwt) => boolean {
  const read = () => keysIn(typeof given === 'string' ? given : given());
  let keys = read();
  let readAt = clock.wall();
  return (jwt) => {
    if (keys.isSigned(jwt)) return true;
    const isDue = Math.abs(clock.wall() - readAt) >= READ_AGAIN_MS;
    if (typeof given === 'string' || !isDue) return false;
    readAt = clock.wall();
    try {
      keys = read();
    } catch (error) {
      log('warn', 'entra-keys-unreadable', { error });
    }
    return keys.isSigned(jwt);
  };
}

function keysIn(text: string): KeySet {
  try {
    return new KeySet(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The keys for Entra tokens cannot be used: ${why}.`);
  }
}
