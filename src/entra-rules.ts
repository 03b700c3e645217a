// From the options about Entra to the rules the REST face goes by; refuses what would open a door.
import type { Entra } from './cosmos/entra.js';
import { KeySet } from './http/jwt.js';
import { type EntraOptions, isLoopback } from './options.js';

const AUDIENCE = 'https://cosmos.azure.com';

export function entraOf(entra: 'off' | 'accept' | EntraOptions, host: string): Entra {
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
    keys: keysIn(entra.keys),
    issuers,
    audiences: entra.audiences?.length ? entra.audiences : [AUDIENCE],
    contributors,
    readers,
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
