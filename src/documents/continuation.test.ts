// Continuation tokens: they come back whole, fit a header, and are refused when anything differs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MayflyError } from '../value/errors.js';
import {
  type Random,
  randomInteger,
  seededRandom,
  seedFromEnvironment,
} from '../value/random.suite.js';
import { decodeContinuation, encodeContinuation } from './continuation.js';

const ROUNDS = 2000;

test('a resume point comes back under the same tag', (t) => {
  repeat(t, (random, message) => {
    const resume = randomBytes(random, randomInteger(random, 80));
    const tag = `tag ${random()}`;
    const token = encodeContinuation(resume, tag);
    assert.match(token, /^[A-Za-z0-9_-]+$/);
    assert.ok(Buffer.from(decodeContinuation(token, tag)).equals(resume), message);
  });
});

test('the token is always the same, so that it works after a restart', () => {
  assert.equal(encodeContinuation(Buffer.of(1, 2, 3), 'tag'), 'ASoQc6YBAgM');
  assert.equal(encodeContinuation(Buffer.of(), 'tag'), 'ASoQc6Y');
});

test('a token of another request is refused', () => {
  const token = encodeContinuation(Buffer.of(1, 2, 3), '7 ["a"]');
  for (const tag of ['', '7', '7 ["A"]', '7 ["a"] ', '8 ["a"]']) refuses(token, tag);
});

test('a cut, changed or invented beginning is refused', (t) => {
  const whole = encodeContinuation(Buffer.alloc(20, 7), 'tag');
  for (let length = 0; length < 7; length++) refuses(whole.slice(0, length), 'tag');
  repeat(t, (random, message) => {
    const bytes = Buffer.from(whole, 'base64url');
    const at = randomInteger(random, 5);
    bytes[at] = (bytes[at] ?? 0) ^ (1 + randomInteger(random, 255));
    refuses(bytes.toString('base64url'), 'tag', message);
    refuses(randomBytes(random, randomInteger(random, 40)).toString('base64url'), 'tag', message);
  });
});

test('one token has one spelling', () => {
  const token = encodeContinuation(Buffer.of(0xff, 0xfe), 'tag');
  const other = [`${token}=`, `${token} `, ` ${token}`, `${token}\n`, `${token}!`, `"${token}"`];
  other.push(token.replaceAll('_', '/').replaceAll('-', '+').concat('=='));
  for (const text of other) refuses(text, 'tag');
  for (const junk of ['*', '{}', 'null', 'undefined', '+RID:~x#RT:1', '\0', '😀']) {
    refuses(junk, 'tag');
  }
});

function refuses(token: string, tag: string, message = JSON.stringify(token)): void {
  assert.throws(
    () => decodeContinuation(token, tag),
    (error) => error instanceof MayflyError && error.code === 'invalidContinuation',
    message,
  );
}

function repeat(
  t: { diagnostic(message: string): void },
  check: (random: Random, message: string) => void,
): void {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < ROUNDS; round++) check(random, `SEED=${seed} round ${round}`);
}

function randomBytes(random: Random, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => randomInteger(random, 256)));
}
