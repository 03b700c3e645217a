// Snappy by itself: what it packs it opens again, and so what others packed; what is no package is
// refused, whatever it says of itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzed, seededRandom, seedFromEnvironment } from '../../value/random.suite.js';
import { BadSnappy, snappyOpen, snappyPack } from './snappy.js';

const seed = seedFromEnvironment();
const random = seededRandom(seed);
const below = (limit: number) => Math.floor(random() * limit);

/** With repetitions near and far, and parts that have none. */
function randomText(): Buffer {
  const parts: Buffer[] = [];
  for (let left = below(12); left > 0; left--) {
    const noise = Buffer.from(Array.from({ length: below(300) }, () => below(256)));
    const again = parts[below(parts.length)] ?? noise;
    parts.push([noise, again, Buffer.alloc(below(90_000), below(256))][below(3)] as Buffer);
  }
  return Buffer.concat(parts);
}

test('what is packed can be opened', () => {
  for (let round = fuzzed(300); round > 0; round--) {
    const text = randomText();
    const packed = snappyPack(text);
    assert.ok(snappyOpen(packed, text.length).equals(text), `SEED=${seed}`);
    assert.throws(() => snappyOpen(packed, text.length + 1), BadSnappy);
  }
  assert.ok(snappyPack(Buffer.alloc(100_000)).length < 6000);
});

test('packages of all kinds of tags', () => {
  const rows: readonly (readonly [hex: string, text: string])[] = [
    ['00', ''],
    ['060461620102', 'ababab'],
    ['0a0061220100', 'a'.repeat(10)],
    ['0700611701000000', 'a'.repeat(7)],
    [`46f045${'78'.repeat(70)}`, 'x'.repeat(70)],
  ];
  for (const [hex, text] of rows) {
    assert.equal(snappyOpen(Buffer.from(hex, 'hex'), text.length).toString(), text, hex);
  }
});

test('what is no package is refused, and a changed one never does harm', () => {
  for (const hex of ['', '80', 'ffffffffff', '05', '0104', '02006105', '0300610502', '0461']) {
    assert.throws(() => snappyOpen(Buffer.from(hex, 'hex'), 5), BadSnappy, hex);
  }
  const text = Buffer.from('one two one two three one two three four '.repeat(50));
  const packed = snappyPack(text);
  for (let round = fuzzed(3000); round > 0; round--) {
    const changed = Buffer.from(packed.subarray(0, 1 + below(packed.length)));
    changed[below(changed.length)] = below(256);
    try {
      assert.equal(snappyOpen(changed, text.length).length, text.length, `SEED=${seed}`);
    } catch (error) {
      assert.ok(error instanceof BadSnappy, `SEED=${seed} ${String(error)}`);
    }
  }
});
