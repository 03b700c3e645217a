// The server's side of SCRAM (RFC 5802, RFC 7677) in its two variants. A user may have several
// passwords, as the account has several keys: they share a salt, and the proof tells which one the
// client knows.
import { createHash, createHmac, pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

export const MECHANISMS = ['SCRAM-SHA-1', 'SCRAM-SHA-256'] as const;
export type Mechanism = (typeof MECHANISMS)[number];

const VARIANTS = {
  'SCRAM-SHA-1': { hash: 'sha1', bytes: 20, saltBytes: 16, iterations: 10_000 },
  'SCRAM-SHA-256': { hash: 'sha256', bytes: 32, saltBytes: 28, iterations: 15_000 },
} as const;

/** What the server keeps of a password: it proves a login and allows none. */
export interface Credential {
  readonly storedKey: string;
  readonly serverKey: string;
}
export interface CredentialSet {
  readonly salt: string;
  readonly iterations: number;
  readonly credentials: readonly Credential[];
}

const derive = promisify(pbkdf2);

export const saltBytesOf = (mechanism: Mechanism): number => VARIANTS[mechanism].saltBytes;

export async function makeCredentials(
  mechanism: Mechanism,
  user: string,
  passwords: readonly string[],
  salt: Uint8Array,
): Promise<CredentialSet> {
  const { hash, bytes, iterations } = VARIANTS[mechanism];
  const credentials: Credential[] = [];
  for (const password of passwords) {
    const prepared = prepare(mechanism, user, password);
    const salted = await derive(prepared, salt, iterations, bytes, hash);
    const clientKey = hmac(hash, salted, 'Client Key');
    credentials.push({
      storedKey: createHash(hash).update(clientKey).digest('base64'),
      serverKey: hmac(hash, salted, 'Server Key').toString('base64'),
    });
  }
  return { salt: Buffer.from(salt).toString('base64'), iterations, credentials };
}

/** Made up for a user that is not there, always the same: nobody learns who is. */
export function fakeCredentials(
  mechanism: Mechanism,
  user: string,
  secret: Uint8Array,
): CredentialSet {
  const { saltBytes, iterations } = VARIANTS[mechanism];
  const salt = hmac('sha256', secret, `${mechanism} ${user}`).subarray(0, saltBytes);
  return { salt: salt.toString('base64'), iterations, credentials: [] };
}

export interface ClientFirst {
  readonly user: string;
  readonly nonce: string;
  readonly bare: string;
}

/** `n,,n=<user>,r=<nonce>`; undefined where the text is no such thing. */
export function readClientFirst(payload: string): ClientFirst | undefined {
  const found = /^[ny],(?:a=[^,]*)?,(n=([^,]*),r=([^,]+)(?:,.*)?)$/s.exec(payload);
  const [, bare, name, nonce] = found ?? [];
  if (bare === undefined || name === undefined || nonce === undefined) return undefined;
  const user = name.replaceAll('=2C', ',').replaceAll('=3D', '=');
  return { user, nonce, bare };
}

/** One login: made by the first message of a client, settled by the second. */
export class Conversation {
  readonly #mechanism: Mechanism;
  readonly #client: ClientFirst;
  readonly #set: CredentialSet;
  readonly #nonce: string;
  readonly #serverFirst: string;

  constructor(mechanism: Mechanism, client: ClientFirst, set: CredentialSet, nonce: string) {
    this.#mechanism = mechanism;
    this.#client = client;
    this.#set = set;
    this.#nonce = client.nonce + nonce;
    this.#serverFirst = `r=${this.#nonce},s=${set.salt},i=${set.iterations}`;
  }

  get serverFirst(): string {
    return this.#serverFirst;
  }

  /** Which of the passwords the client has proved to know, and the server's own proof. */
  settle(payload: string): { readonly password: number; readonly proof: string } | undefined {
    const found = /^(c=([^,]*),r=([^,]*)),p=([A-Za-z0-9+/=]+)$/.exec(payload);
    const [, bare, binding, nonce, proof] = found ?? [];
    if (bare === undefined || proof === undefined) return undefined;
    if (nonce !== this.#nonce || (binding !== 'biws' && binding !== 'eSws')) return undefined;
    const { hash, bytes } = VARIANTS[this.#mechanism];
    const presented = Buffer.from(proof, 'base64');
    if (presented.length !== bytes) return undefined;
    const message = `${this.#client.bare},${this.#serverFirst},${bare}`;
    let known = -1;
    // All of them are tried, so that the time tells nothing.
    this.#set.credentials.forEach(({ storedKey }, index) => {
      const stored = Buffer.from(storedKey, 'base64');
      const signature = hmac(hash, stored, message);
      const clientKey = Buffer.from(presented.map((byte, at) => byte ^ (signature[at] ?? 0)));
      const isProved = timingSafeEqual(createHash(hash).update(clientKey).digest(), stored);
      if (isProved && known < 0) known = index;
    });
    const credential = this.#set.credentials[known];
    if (!credential) return undefined;
    const signature = hmac(hash, Buffer.from(credential.serverKey, 'base64'), message);
    return { password: known, proof: `v=${signature.toString('base64')}` };
  }
}

function hmac(hash: string, key: Uint8Array, text: string): Buffer {
  return createHmac(hash, key).update(text).digest();
}

/** SHA-1 hashes the password in a way of its own; SASLprep is NFKC for nearly all texts. */
function prepare(mechanism: Mechanism, user: string, password: string): string {
  if (mechanism === 'SCRAM-SHA-256') return password.normalize('NFKC');
  return createHash('md5').update(`${user}:mongo:${password}`).digest('hex');
}
