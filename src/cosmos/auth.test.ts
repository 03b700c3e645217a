// Signatures in every way clients write them, and none that is not right.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { WELL_KNOWN_KEY } from '../http/keys.js';
import { instant } from '../time/instant.js';
import {
  randomInteger,
  randomText,
  seededRandom,
  seedFromEnvironment,
} from '../value/random.suite.js';
import { parseAddress } from './address.js';
import { type Access, authenticator } from './auth.js';

const DATE = 'Thu, 15 Jan 2026 12:00:00 GMT';
const WALL = instant(Date.parse(DATE));
const authenticate = authenticator({
  primary: WELL_KNOWN_KEY,
  primaryReadOnly: 'c2Vjb25kIGtleSE=',
});

function signed(link: string, key = WELL_KNOWN_KEY): string {
  const payload = `get\ndocs\n${link}\n${DATE.toLowerCase()}\n\n`;
  return createHmac('sha256', Buffer.from(key, 'base64')).update(payload).digest('base64');
}

function ask(link: string, authorization: string): Access {
  const path = link.split('/').map(encodeURIComponent).join('/');
  const headers = { authorization, 'x-ms-date': DATE };
  return authenticate('GET', parseAddress(`/${path}`), () => undefined, headers, WALL);
}

const lower = (text: string) => text.replaceAll(/%../g, (code) => code.toLowerCase());
const ways: Readonly<Record<string, (signature: string) => string>> = {
  encoded: (signature) => encodeURIComponent(`type=master&ver=1.0&sig=${signature}`),
  'encoded in lower case': (signature) =>
    lower(encodeURIComponent(`type=master&ver=1.0&sig=${signature}`)),
  plain: (signature) => `type=master&ver=1.0&sig=${signature}`,
  'the signature alone in lower case': (signature) =>
    `${encodeURIComponent('type=master&ver=1.0&sig=')}${lower(encodeURIComponent(signature))}`,
  'the signature alone plain': (signature) =>
    `${encodeURIComponent('type=master&ver=1.0&sig=')}${signature}`,
};

for (const [name, write] of Object.entries(ways)) {
  test(`${name}: what is right passes, and with one bit turned it does not`, () => {
    const random = seededRandom(seedFromEnvironment());
    for (let round = 0; round < 500; round++) {
      const id = randomText(random, 20).replaceAll(/[/\ud800-\udfff]/g, '_') || 'x';
      const link = `dbs/d/colls/c/docs/${id}`;
      const signature = signed(link);
      assert.equal(ask(link, write(signature)), 'all', link);
      const bytes = Buffer.from(signature, 'base64');
      const bit = randomInteger(random, 256);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => ask(link, write(bytes.toString('base64'))), /authorization|signature/i);
    }
  });
}

test('a read-only key gives less', () => {
  assert.equal(
    ask(
      'dbs/d/colls/c/docs/x',
      ways.encoded?.(signed('dbs/d/colls/c/docs/x', 'c2Vjb25kIGtleSE=')) ?? '',
    ),
    'read',
  );
});

test('more or less than a signature is none', () => {
  const link = 'dbs/d/colls/c/docs/x';
  const start = encodeURIComponent('type=master&ver=1.0&sig=');
  const digits = signed(link).slice(0, -1);
  for (const text of [
    '',
    digits.slice(0, -2),
    digits.slice(0, 20),
    `${digits}AAAA`,
    `A${digits}`,
  ]) {
    assert.throws(() => ask(link, start + encodeURIComponent(`${text}=`)), /./, text);
  }
});
