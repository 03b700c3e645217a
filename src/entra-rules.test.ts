// Keys that change while the server runs.
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import { signatureCheck } from './entra-rules.js';
import { parseJwt } from './http/jwt.js';
import { instant } from './time/instant.js';

const pairs = { a: pair(), b: pair() };
type Name = keyof typeof pairs;

function pair() {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

const set = (...names: readonly Name[]) =>
  JSON.stringify({
    keys: names.map((kid) => ({ ...pairs[kid].publicKey.export({ format: 'jwk' }), kid })),
  });

function token(kid: Name) {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode({ alg: 'RS256', kid })}.${encode({})}`;
  const signature = sign('sha256', Buffer.from(text), pairs[kid].privateKey);
  const jwt = parseJwt(`${text}.${signature.toString('base64url')}`);
  assert.ok(jwt);
  return jwt;
}

test('a key that is new is found within a minute, and a broken file changes nothing', () => {
  let content = set('a');
  let now = 0;
  let reads = 0;
  const logged: string[] = [];
  const isSigned = signatureCheck(
    () => {
      reads += 1;
      return content;
    },
    { wall: () => instant(now) },
    (_, event) => logged.push(event),
  );
  const isTaken = (kid: Name) => isSigned(token(kid));
  assert.deepEqual([isTaken('a'), isTaken('b'), reads], [true, false, 1]);
  content = set('a', 'b');
  now = 59_999;
  assert.deepEqual([isTaken('b'), reads], [false, 1]);
  now = 60_000;
  assert.deepEqual([isTaken('b'), isTaken('a'), reads], [true, true, 2]);
  content = set('a');
  now = 200_000;
  assert.deepEqual([isTaken('b'), reads], [true, 2], 'nothing was missing');
  const wall = () => instant(now);
  const other = signatureCheck(
    () => content,
    { wall },
    (_, event) => logged.push(event),
  );
  content = 'no keys';
  now = 300_000;
  assert.equal(other(token('b')), false);
  assert.deepEqual(logged, ['entra-keys-unreadable']);
  assert.equal(other(token('a')), true);
  assert.throws(() => signatureCheck(content, { wall }, () => undefined), /no RSA key/);
});
