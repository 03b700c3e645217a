// The times of Entra tokens, to the second, also for those that were seen before.
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import { KeySet } from '../http/jwt.js';
import { VirtualClock } from '../time/clock.js';
import { type Instant, instant } from '../time/instant.js';
import { MayflyError } from '../value/errors.js';
import { entraReader } from './entra.js';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const NBF = 1_900_000_000;
const EXP = NBF + 3600;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = { iss: 'i', aud: 'a', oid: 'o', nbf: NBF, exp: EXP };
const text = `${encode({ alg: 'RS256' })}.${encode(claims)}`;
const signature = `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;

class WallClock extends VirtualClock {
  at = instant(0);
  override wall(): Instant {
    return this.at;
  }
}

test('a token is good from five minutes before to five minutes behind its times', () => {
  const clock = new WallClock();
  const keys = new KeySet(publicKey.export({ type: 'spki', format: 'pem' }).toString());
  const read = entraReader(
    {
      isSigned: (jwt) => keys.isSigned(jwt),
      issuers: ['i'],
      audiences: ['a'],
      contributors: ['o'],
      readers: [],
    },
    clock,
  );
  const judged = (seconds: number): unknown => {
    clock.at = instant(seconds * 1000);
    try {
      return read({ type: 'aad', version: '1.0', signature }).role;
    } catch (error) {
      assert.ok(error instanceof MayflyError);
      return error.code;
    }
  };
  for (let round = 0; round < 2; round++) {
    assert.equal(judged(NBF - 301), 'entraExpired');
    assert.equal(judged(NBF - 300), 'contributor');
    assert.equal(judged(EXP + 299), 'contributor');
    assert.equal(judged(EXP + 300), 'entraExpired');
  }
  assert.throws(() => read({ type: 'aad', version: '2.0', signature }), MayflyError);
});
