// What both stores promise about ranges of keys.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openLmdb } from './lmdb.js';
import { MemoryStore } from './memory.js';
import { countKeys, Slab, type Store, type Write } from './store.js';

const KEYS = 1500;
const folder = mkdtempSync(join(tmpdir(), 'mayfly-store-'));
const stores: readonly (readonly [string, Store])[] = [
  ['memory', new MemoryStore()],
  ['lmdb', openLmdb(join(folder, 'data'))],
];
after(async () => {
  for (const [, store] of stores) await store.close();
  rmSync(folder, { recursive: true });
});

const key = (number: number) => Buffer.from(`k${String(number).padStart(6, '0')}`);
const writes = (): Write[] => Array.from({ length: KEYS }, (_, n) => [key(2 * n), Buffer.of(n)]);
const ranges = [
  [0, 2 * KEYS],
  [1, 1000],
  [998, 1001],
  [2400, 9999],
  [7, 7],
  [8, 3],
  [5000, 6000],
] as const;

for (const [name, store] of stores) {
  test(`${name}: counts and places agree with the keys themselves`, async () => {
    await store.write(writes());
    for (const [from, to] of ranges) {
      const bounds = [key(from), key(to)] as const;
      const all = from < to ? store.keys(...bounds, KEYS) : [];
      assert.equal(store.count(...bounds), all.length);
      assert.equal(await countKeys(store, ...bounds), all.length);
      for (const places of [0, 1, all.length - 1, all.length, all.length + 600]) {
        if (places < 0) continue;
        const expected = all[places]?.toString();
        assert.equal(store.keyAt(...bounds, places)?.toString(), expected);
      }
    }
  });

  test(`${name}: values of a slab stay as they are while others are read`, () => {
    const slab = new Slab();
    const values = [3, 4, 700].map((number) => store.getInto(slab, key(2 * number)));
    assert.deepEqual(
      values.map((value) => value?.[0]),
      [3, 4, 700 % 256],
    );
    assert.equal(store.getInto(slab, key(1)), undefined);
  });
}

test('a slab takes values of any size', () => {
  const slab = new Slab();
  const sizes = [10, 65_536, 100_000, 0, 30_000, 40_000];
  const values = sizes.map((size, index) => Buffer.alloc(size, index + 1));
  const copies = values.map((value) => slab.copy(value, value.length));
  assert.deepEqual(copies, values);
});
