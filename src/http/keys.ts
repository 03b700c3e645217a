// Account keys: what they look like, and which of them a presented one is.
import { createHash, timingSafeEqual } from 'node:crypto';

export interface Keys {
  readonly primary: string;
  readonly secondary?: string | undefined;
  readonly primaryReadOnly?: string | undefined;
  readonly secondaryReadOnly?: string | undefined;
}

/** The public key of the official emulator. It protects nothing, so it is for loopback only. */
export const WELL_KNOWN_KEY =
  'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==';

const KEY_BYTES_MIN = 16;

/**
 * Whether the text is one of the keys that allow everything. Digests make lengths equal and times
 * the same.
 */
export function isAccountKey(keys: Keys, presented: string): boolean {
  const given = digest(presented);
  const matches = [keys.primary, keys.secondary].map(
    (key) => key !== undefined && timingSafeEqual(digest(key), given),
  );
  return matches.includes(true);
}

/** Keys are base64 of at least 16 bytes; the service's have 64. */
export function isWellFormedKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length >= KEY_BYTES_MIN && bytes.toString('base64') === text;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
