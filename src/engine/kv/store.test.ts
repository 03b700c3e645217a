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

const NEW = Buffer.from('new');
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

for (const [name, store] of stores) {
  test(`${name}: a snapshot stays as it was, until it is released`, async () => {
    await store.write(writes());
    const snapshot = store.snapshot();
    const bounds = [key(0), key(9999)] as const;
    const first = snapshot.get(key(0));
    for (let turn = 0; turn < 3; turn++) {
      const change: Write[] = writes().map(([each]) => [each, Buffer.of(9)]);
      await store.write([...change.slice(10), [key(0), undefined], [key(1 + 2 * turn), NEW]]);
      assert.deepEqual(snapshot.get(key(0)), first);
      assert.equal(snapshot.get(key(200))?.[0], 100);
      assert.equal(snapshot.getInto(new Slab(), key(1)), undefined);
      assert.equal(snapshot.count(...bounds), KEYS);
      assert.equal(snapshot.keyAt(...bounds, KEYS - 1)?.toString(), String(key(2 * KEYS - 2)));
      assert.equal(snapshot.keys(...bounds, 2)[1]?.toString(), String(key(2)));
      assert.equal(snapshot.keysDown(...bounds, 2)[0]?.toString(), String(key(2 * KEYS - 2)));
      assert.equal(snapshot.range(...bounds, 1)[0]?.[0].toString(), String(key(0)));
    }
    snapshot.release();
    snapshot.release();
    assert.equal(store.count(...bounds), KEYS + 2);
    assert.equal(store.get(key(200))?.[0], 9);
  });
}

test('a slab takes values of any size', () => {
  const slab = new Slab();
  const sizes = [10, 65_536, 100_000, 0, 30_000, 40_000];
  const values = sizes.map((size, index) => Buffer.alloc(size, index + 1));
  const copies = values.map((value) => slab.copy(value, value.length));
  assert.deepEqual(copies, values);
});
