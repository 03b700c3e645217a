// JSON web tokens (RFC 7515, 7519): three base64url texts with dots between. Only signatures by RSA
// keys are checked, and only those named here: a token cannot choose a weaker kind.
import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';

export interface Jwt {
  readonly algorithm: unknown;
  readonly keyId: unknown;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signed: string;
  readonly signature: Buffer;
}

const FORM = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/;

/** Undefined for what is no token. */
export function parseJwt(text: string): Jwt | undefined {
  const [, head = '', body = '', signature = ''] = FORM.exec(text) ?? [];
  const header = objectIn(head);
  const claims = objectIn(body);
  if (!header || !claims) return undefined;
  return {
    algorithm: header.alg,
    keyId: header.kid,
    claims,
    signed: `${head}.${body}`,
    signature: Buffer.from(signature, 'base64url'),
  };
}

interface PublicKey {
  readonly id: string | undefined;
  readonly key: KeyObject;
}

const DIGESTS: Readonly<Record<string, string>> = {
  RS256: 'sha256',
  RS384: 'sha384',
  RS512: 'sha512',
};
const MODULUS_BITS_MIN = 2048;
const KEYS_MAX = 100;

export class KeySet {
  readonly #keys: readonly PublicKey[];

  /** From a JSON Web Key Set, or from PEM texts of public keys or certificates. */
  constructor(text: string) {
    this.#keys = text.trimStart().startsWith('{') ? keysInSet(text) : keysInPem(text);
    if (this.#keys.length === 0) throw new Error('there is no RSA key in it');
    if (this.#keys.length > KEYS_MAX) throw new Error(`it has more than ${KEYS_MAX} keys`);
    for (const { id = '', key } of this.#keys) {
      const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
      if (bits < MODULUS_BITS_MIN)
        throw new Error(`the key ${id} has ${bits} bits, which is too few`);
    }
  }

  isSigned({ algorithm, keyId, signed, signature }: Jwt): boolean {
    const digest = typeof algorithm === 'string' ? DIGESTS[algorithm] : undefined;
    if (digest === undefined || !Object.hasOwn(DIGESTS, String(algorithm))) return false;
    const text = Buffer.from(signed);
    return this.#keys.some(
      ({ id, key }) =>
        (id === undefined || keyId === undefined || id === keyId) &&
        verify(digest, text, key, signature),
    );
  }
}

function keysInSet(text: string): readonly PublicKey[] {
  const { keys } = JSON.parse(text) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('it has no list "keys"');
  return keys.flatMap((each: JsonWebKey & { readonly kid?: unknown; readonly use?: unknown }) => {
    if (each.kty !== 'RSA' || (each.use !== undefined && each.use !== 'sig')) return [];
    const id = typeof each.kid === 'string' ? each.kid : undefined;
    return [{ id, key: createPublicKey({ key: each, format: 'jwk' }) }];
  });
}

const PEM = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

function keysInPem(text: string): readonly PublicKey[] {
  return [...text.matchAll(PEM)].flatMap(([pem]) => {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'rsa' ? [{ id: undefined, key }] : [];
  });
}

function objectIn(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
