// Continuation tokens: a resume point and a tag of what it continues, as one opaque word that fits
// a header. They hold no server state, so they survive restarts and work from another client.
//
//   1 version   4 check of the tag   rest: resume point          … in base64url
import { createHash } from 'node:crypto';
import { failure } from '../value/errors.js';

const VERSION = 1;
const CHECK_BYTES = 4;

/** `tag` names the request that is continued; a token is only good for one of the same name. */
export function encodeContinuation(resume: Uint8Array, tag: string): string {
  return Buffer.concat([Buffer.of(VERSION), checkOf(tag), resume]).toString('base64url');
}

export function decodeContinuation(token: string, ...tags: readonly string[]): Uint8Array {
  const bytes = Buffer.from(token, 'base64url');
  const genuine =
    bytes.toString('base64url') === token &&
    bytes.length > CHECK_BYTES &&
    bytes[0] === VERSION &&
    tags.some((tag) => bytes.subarray(1, 1 + CHECK_BYTES).equals(checkOf(tag)));
  if (!genuine) throw failure('invalidContinuation');
  return bytes.subarray(1 + CHECK_BYTES);
}

function checkOf(tag: string): Buffer {
  return createHash('sha256').update(tag).digest().subarray(0, CHECK_BYTES);
}
