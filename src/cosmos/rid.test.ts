// Resource ids: the published examples, and ids that are none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Offer, StoredContainer } from '../catalog/resources.js';
import { randomInteger, seededRandom, seedFromEnvironment } from '../value/random.suite.js';
import {
  containerRid,
  containerSelf,
  databaseRid,
  databaseSelf,
  itemRid,
  offerRid,
  parseOfferRid,
  parseRid,
  rangeRid,
} from './rid.js';

const container = (database: number, serial: number) => ({ database, serial }) as StoredContainer;
const offer = (serial: number) => ({ serial }) as Offer;
const RANDOM_RIDS = 2000;

test('the examples', () => {
  assert.equal(databaseRid(1), 'AAAAAQ==');
  assert.equal(containerRid(container(1, 1)), 'AAAAAYAAAAE=');
  assert.equal(itemRid(container(1, 1), 1), 'AAAAAYAAAAEBAAAAAAAAAA==');
  assert.equal(itemRid(container(1, 1), 2), 'AAAAAYAAAAECAAAAAAAAAA==');
  assert.equal(rangeRid(container(1, 1), 1), 'AAAAAYAAAAECAAAAAAAAUA==');
  assert.equal(offerRid(offer(1)), 'AQAA');
  assert.equal(databaseSelf({ serial: 1 }), 'dbs/AAAAAQ==/');
  assert.equal(containerSelf(container(1, 1)), 'dbs/AAAAAQ==/colls/AAAAAYAAAAE=/');
});

test('and back', () => {
  const absent = { container: undefined, item: undefined };
  assert.deepEqual(parseRid('AAAAAQ=='), { database: 1, ...absent });
  assert.deepEqual(parseRid('AAAAAYAAAAE='), { database: 1, container: 1, item: undefined });
  assert.deepEqual(parseRid('AAAAAYAAAAECAAAAAAAAAA=='), { database: 1, container: 1, item: 2 });
  assert.deepEqual(parseRid('ruJjAM9UnAA='), {
    database: 0xaee26300,
    container: 0xcf549c00 - 0x80000000,
    item: undefined,
  });
  assert.equal(parseOfferRid('AQAA'), 1);
  assert.equal(parseOfferRid('AAAB'), 0x010000);
});

test('a hyphen stands for the slash', () => {
  assert.equal(databaseRid(0xffffffff), '-----w==');
  assert.equal(parseRid('-----w==')?.database, 0xffffffff);
});

test('a child starts with its parent, and later items sort behind earlier ones', () => {
  const bytes = (rid: string) => Buffer.from(rid.replaceAll('-', '/'), 'base64');
  const parent = container(7, 9);
  for (const child of [itemRid(parent, 3), rangeRid(parent, 0)]) {
    assert.ok(
      bytes(child)
        .subarray(0, 8)
        .equals(bytes(containerRid(parent))),
    );
    assert.equal(bytes(child).length, 16);
  }
  assert.ok(
    bytes(containerRid(parent))
      .subarray(0, 4)
      .equals(bytes(databaseRid(7))),
  );
  const places = [1, 255, 256, 65_536, 2 ** 40].map((serial) =>
    bytes(itemRid(parent, serial)).readBigUInt64LE(8),
  );
  assert.deepEqual(
    places,
    places.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

test('what is no id of a database, container or item', () => {
  const wrong = [
    '',
    'shop',
    'AAAAAQ',
    'AAAAAQ=',
    ' AAAAAQ==',
    'AAAAAQ==\n',
    'AAAAAR==',
    'AAAA',
    'AAAAAQA=',
    // A user: the top bit of the second number is clear.
    'AAAAAQAAAAE=',
    // A range and a stored procedure: the high nibble of the last byte tells.
    'AAAAAYAAAAECAAAAAAAAUA==',
    'AAAAAYAAAAEBAAAAAAAAgA==',
    'AAAAAYAAAAECAAAAAAAAAAA=',
    'ÄAAAAQ==',
    'A'.repeat(10_000),
  ];
  for (const text of wrong) assert.equal(parseRid(text), undefined, text);
  for (const text of ['', 'AQA=', 'AQAAAA==', 'AQA', '????', 'constructor']) {
    assert.equal(parseOfferRid(text), undefined, text);
  }
});

test('random numbers come back', (t) => {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < RANDOM_RIDS; round++) {
    const database = randomInteger(random, 2 ** 32);
    const serial = randomInteger(random, 2 ** 31);
    const item = randomInteger(random, 2 ** 48);
    const rid = itemRid(container(database, serial), item);
    assert.match(rid, /^[A-Za-z0-9+=-]+$/);
    assert.deepEqual(parseRid(rid), { database, container: serial, item }, `SEED=${seed}`);
    const offerSerial = randomInteger(random, 2 ** 24);
    assert.equal(parseOfferRid(offerRid(offer(offerSerial))), offerSerial, `SEED=${seed}`);
  }
});
