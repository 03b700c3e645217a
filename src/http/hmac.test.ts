// Our HMAC against the system's.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import {
  randomInteger,
  randomText,
  seededRandom,
  seedFromEnvironment,
} from '../value/random.suite.js';
import { type Digest, Hmac, isSameDigest } from './hmac.js';

function bytesOf(digest: Digest): Buffer {
  const bytes = Buffer.alloc(32);
  for (const [at, word] of digest.entries()) bytes.writeInt32BE(word, at * 4);
  return bytes;
}

test('every length of text around the blocks, and keys shorter and longer than one', () => {
  for (const keyBytes of [0, 1, 32, 63, 64, 65, 200]) {
    const key = Buffer.alloc(keyBytes, 0xa5);
    const hmac = new Hmac(key);
    for (let length = 0; length < 300; length++) {
      const text = 'q'.repeat(length);
      const expected = createHmac('sha256', key).update(text).digest();
      assert.deepEqual(bytesOf(hmac.digest(text)), expected, `${keyBytes} ${length}`);
    }
  }
});

test('random keys and texts of any characters', () => {
  const random = seededRandom(seedFromEnvironment());
  for (let round = 0; round < 2000; round++) {
    const key = Buffer.from(Array.from({ length: 64 }, () => randomInteger(random, 256)));
    const text = randomText(random, 2000);
    const expected = createHmac('sha256', key).update(text).digest();
    assert.deepEqual(bytesOf(new Hmac(key).digest(text)), expected);
  }
});

test('the same text again, and after another one, has the same digest', () => {
  const hmac = new Hmac(Buffer.from('key'));
  const first = bytesOf(hmac.digest('one'));
  assert.deepEqual(bytesOf(hmac.digest('one')), first);
  assert.notDeepEqual(bytesOf(hmac.digest('two')), first);
  assert.deepEqual(bytesOf(hmac.digest('one')), first);
});

test('the test case 2 of RFC 4231', () => {
  const digest = new Hmac(Buffer.from('Jefe')).digest('what do ya want for nothing?');
  const expected = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
  assert.equal(bytesOf(digest).toString('hex'), expected);
});

test('digests differ when any bit does', () => {
  const one = Int32Array.from([1, 2, 3, 4, 5, 6, 7, 8]);
  assert(isSameDigest(one, one.slice()));
  for (let bit = 0; bit < 256; bit++) {
    const other = one.slice();
    other[bit >> 5] = (other[bit >> 5] ?? 0) ^ (1 << (bit & 31));
    assert(!isSameDigest(one, other));
  }
});
