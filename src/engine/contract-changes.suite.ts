// The contract for changes: latest version only, in order, without gaps, nothing that is dead.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cosmosRules } from '../time/expiry.js';
import { effectivePartitionKey } from '../value/partition-hash.js';
import {
  ALL,
  BUDGET,
  type Fixture,
  insert,
  LATER,
  NOW,
  remove,
  replace,
} from './contract-fixture.suite.js';
import { BadResume, type Change, type ChangeScan, type Changes } from './engine.js';

const START: ChangeScan = { partition: undefined, span: undefined, after: 0 };

export function describeChanges(f: Fixture): void {
  const read = (scan: Partial<ChangeScan> = {}, at = NOW, budget = BUDGET): Promise<Changes> =>
    f.engine.changes(f.box, { ...START, ...scan }, at, budget);
  const commit = (...changes: readonly Change[]) =>
    f.engine.commit(f.box, [{ partition: ['a'], changes }], NOW);

  describe('changes', () => {
    test('a container without any has reached the beginning', async () => {
      const { items, upTo, isEnd } = await read();
      assert.deepEqual({ items, upTo, isEnd }, { items: [], upTo: 0, isEnd: true });
    });
    test('each item comes once, where it changed last; what is gone leaves no trace', async () => {
      for (const id of ['1', '2', '3', '4']) await f.put(id);
      await commit(replace('2', { n: 2 }));
      await commit(remove('3'));
      const page = await read();
      assert.deepEqual(idsOf(page), ['1', '4', '2']);
      assert.deepEqual(page.items[2]?.doc.value, { id: '2', n: 2 });
      assert.deepEqual([page.upTo, page.isEnd], [6, true]);
      assert.deepEqual(idsOf(await read({ after: 4 })), ['2']);
      assert.deepEqual(idsOf(await read({ after: 5 })), []);
    });
    test('from now on shows what comes, and a position not reached is refused', async () => {
      await f.put('1');
      const { items, upTo } = await read({ after: 'now' });
      assert.deepEqual({ items, upTo }, { items: [], upTo: 1 });
      await f.put('2');
      assert.deepEqual(idsOf(await read({ after: upTo })), ['2']);
      await assert.rejects(read({ after: 3 }), BadResume);
    });
    for (const rowsMax of [1, 2, 3, 100]) {
      test(`pages of ${rowsMax} divide no batch`, async () => {
        await f.put('1');
        await commit(insert('2'), insert('3'), insert('4'));
        await f.put('5');
        const budget = { ...BUDGET, rowsMax };
        const seen: string[] = [];
        for (let page = await read({}, NOW, budget); ; ) {
          seen.push(...idsOf(page));
          assert.notEqual(idsOf(page).at(-1), '2');
          assert.notEqual(idsOf(page).at(-1), '3');
          if (page.isEnd) break;
          page = await read({ after: page.upTo }, NOW, budget);
        }
        assert.deepEqual(seen, ['1', '2', '3', '4', '5']);
      });
    }
    test('a page ends where its bytes do', async () => {
      for (const id of ['1', '2', '3']) await f.put(id, ['a'], { filler: 'x'.repeat(100) });
      const page = await read({}, NOW, { rowsMax: 100, bytesMax: 150 });
      assert.deepEqual([idsOf(page), page.upTo, page.isEnd], [['1', '2'], 2, false]);
    });
    test('T10: what has expired is not shown, purged or not', async () => {
      await f.put('1', ['a'], { ttl: 10 });
      await f.put('2');
      f.box = { ...f.box, expiry: cosmosRules(-1) };
      assert.deepEqual(idsOf(await read({}, LATER(9_999))), ['1', '2']);
      assert.deepEqual(idsOf(await read({}, LATER(10_000))), ['2']);
      await f.engine.purge(f.box, LATER(10_000), 10);
      assert.deepEqual(idsOf(await read({}, LATER(10_000))), ['2']);
    });
    test('of one partition, or of a span; and the position goes on where nothing is', async () => {
      const keys = ['a', 'b', 'c', 'd'];
      for (const key of keys) await f.put(key, [key]);
      assert.deepEqual(idsOf(await read({ partition: ['b'] })), ['b']);
      const none = await read({ partition: ['none'] });
      assert.deepEqual([idsOf(none), none.upTo, none.isEnd], [[], 4, true]);
      const middle = effectivePartitionKey(['c'], 'v2');
      const low = idsOf(await read({ span: { from: '', to: middle } }));
      const high = idsOf(await read({ span: { from: middle, to: 'FF' } }));
      assert(high.includes('c') && !low.includes('c'));
      assert.deepEqual([...low, ...high].sort(), keys);
    });
    test('a long way without anything is gone step by step', async () => {
      const batches = Array.from({ length: 1500 }, (_, n) => ({
        partition: ['a'],
        changes: [insert(String(n))],
      }));
      await f.engine.commit(f.box, batches, NOW);
      await f.put('wanted', ['b']);
      const first = await read({ partition: ['b'] });
      assert.deepEqual([idsOf(first), first.upTo, first.isEnd], [[], 1000, false]);
      const second = await read({ partition: ['b'], after: first.upTo });
      assert.deepEqual([idsOf(second), second.upTo, second.isEnd], [['wanted'], 1501, true]);
    });
    test('no reader is told a position that is not reached yet', async () => {
      const puts = Array.from({ length: 40 }, (_, n) => f.put(`w${n}`));
      for (let turn = 0; turn < 40; turn++) {
        const { lsn } = await f.engine.get(f.box, [{ partition: ['a'], id: 'w0' }], NOW);
        await read({ after: lsn });
        const stats = await f.engine.stats(f.box);
        await read({ after: stats.lsn });
        for await (const batch of f.engine.plan(f.box, ALL).run(NOW, BUDGET)) {
          await read({ after: batch.lsn });
        }
        await Promise.resolve();
      }
      await Promise.all(puts);
      assert.equal((await f.engine.stats(f.box)).lsn, 40);
    });
    test('a reader beside writers misses nothing', async () => {
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let n = 0; n < 25; n++) await f.put(`${writer}-${n}`, [`p${writer}`]);
      });
      let isDone = false;
      const done = Promise.all(writers).then(() => {
        isDone = true;
      });
      const seen = new Set<string>();
      let after = 0;
      for (let last = false; !last; ) {
        last = isDone;
        const page = await read({ after }, NOW, { ...BUDGET, rowsMax: 7 });
        for (const id of idsOf(page)) seen.add(id);
        after = page.upTo;
        last &&= page.isEnd;
        await new Promise(setImmediate);
      }
      await done;
      assert.equal(seen.size, 200);
    });
  });
}

function idsOf({ items }: Changes): readonly string[] {
  return items.map(({ key }) => key.id);
}
