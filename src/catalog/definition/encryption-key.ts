// A client encryption key: wrapped by a key that only clients have. The server keeps it and checks
// that clients will be able to make sense of it.
import {
  asBody,
  asChoice,
  asObject,
  asString,
  clip,
  type Fields,
  field,
  invalid,
  refuse,
} from './fields.js';

export interface EncryptionKey {
  readonly encryptionAlgorithm: 'AEAD_AES_256_CBC_HMAC_SHA256';
  /** Base64. */
  readonly wrappedDataEncryptionKey: string;
  readonly keyWrapMetadata: {
    readonly type: string;
    readonly name: string;
    readonly value: string;
    readonly algorithm: string;
  };
}

const ALGORITHMS = ['AEAD_AES_256_CBC_HMAC_SHA256'] as const;
const METADATA = ['type', 'name', 'value', 'algorithm'] as const;
const KNOWN = ['id', 'encryptionAlgorithm', 'wrappedDataEncryptionKey', 'keyWrapMetadata'];

export function readEncryptionKey(body: unknown): EncryptionKey {
  const fields = asBody(body);
  const encryptionAlgorithm = asChoice(
    field(fields, 'encryptionAlgorithm'),
    'encryptionAlgorithm',
    ALGORITHMS,
  );
  const wrappedDataEncryptionKey = readWrapped(fields);
  const metadata = asObject(field(fields, 'keyWrapMetadata'), 'keyWrapMetadata');
  const text = (name: (typeof METADATA)[number]) => readText(metadata, name);
  const keyWrapMetadata = {
    type: text('type'),
    name: text('name'),
    value: text('value'),
    algorithm: text('algorithm'),
  };
  checkNames(metadata, 'keyWrapMetadata', METADATA);
  checkNames(fields, 'a client encryption key', KNOWN);
  return { encryptionAlgorithm, wrappedDataEncryptionKey, keyWrapMetadata };
}

function readText(metadata: Fields, name: (typeof METADATA)[number]): string {
  const where = `keyWrapMetadata.${name}`;
  const text = asString(field(metadata, name), where);
  if (text === '') throw invalid(where, text, 'it must not be empty.');
  return text;
}

function readWrapped(fields: Fields): string {
  const where = 'wrappedDataEncryptionKey';
  const text = asString(field(fields, where), where);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > 0 && bytes.toString('base64') === text) return text;
  throw invalid(where, text, 'it must be a base64 text of at least one byte.');
}

/** System properties come back with what was read; anything else would have no effect. */
function checkNames(fields: Fields, where: string, known: readonly string[]): void {
  const unknown = Object.keys(fields).find(
    (name) => !known.includes(name) && !name.startsWith('_') && field(fields, name) !== undefined,
  );
  if (unknown === undefined) return;
  throw refuse(`'${clip(unknown)}' is not a property of ${where}. Known: ${known.join(', ')}.`);
}
