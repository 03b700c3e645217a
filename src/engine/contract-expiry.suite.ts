// The contract for expiry: what is dead leaves no engine, and a purge takes nothing that lives.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cosmosRules, dueAt } from '../time/expiry.js';
import { type Instant, instant, instantOfSeconds } from '../time/instant.js';
import { ALL, BUDGET, type Fixture, LATER, take } from './contract-fixture.suite.js';
import type { Change, Item, Resume } from './engine.js';

export function describeExpiry(f: Fixture): void {
  describe('expiry', () => {
    const rules = (defaultTtl: number | undefined) => {
      f.box = { ...f.box, expiry: cosmosRules(defaultTtl) };
      return f.engine.alterContainer(f.box);
    };
    test('T2: live one millisecond before, gone at the millisecond, for every way to look', async () => {
      await rules(-1);
      await f.put('1', ['a'], { ttl: 10 });
      for (const [ms, alive] of [
        [9_999, true],
        [10_000, false],
        [10_001, false],
      ] as const) {
        const at = LATER(ms);
        assert.equal((await f.read('1', ['a'], at)) !== undefined, alive);
        assert.equal((await f.engine.get(f.box, [1], at)).items[0] !== undefined, alive);
        const batches = await take(f.engine.plan(f.box, ALL).run(at, BUDGET), 1);
        assert.equal(batches[0]?.items.length, alive ? 1 : 0);
        let seen: Item | undefined;
        const look: Change = {
          kind: 'update',
          id: '1',
          decide: (current) => {
            seen = current;
            return { keep: true };
          },
        };
        await f.engine.commit(f.box, [{ partition: ['a'], changes: [look] }], at);
        assert.equal(seen !== undefined, alive);
      }
    });
    test('T7: changing the default acts on all items at once, in both directions', async () => {
      await f.put('1');
      await f.put('2', ['a'], { ttl: 1000 });
      const at = LATER(60_000);
      assert(await f.read('1', ['a'], at));
      await rules(60);
      assert.equal(await f.read('1', ['a'], at), undefined);
      assert(await f.read('2', ['a'], at));
      await rules(61);
      assert(await f.read('1', ['a'], at));
      await rules(undefined);
      assert(await f.read('2', ['a'], LATER(5_000_000)));
    });
    test('T10: a dead item makes room: insert succeeds with a new serial', async () => {
      await rules(5);
      await f.put('1');
      const [outcome] = await f.put('1', ['a'], { again: true }, LATER(5_000));
      assert(outcome && 'items' in outcome);
      assert.equal(outcome.items[0]?.serial, 2);
      assert.equal((await f.engine.stats(f.box)).items, 1);
    });
    test('T15: purge removes the oldest first, in bounded passes, and nothing that lives', async () => {
      await rules(100);
      for (let n = 0; n < 30; n++) await f.put(`${n}`, ['a'], n % 2 ? { ttl: 30 - n } : {});
      await f.put('keep', ['a'], { ttl: -1 });
      const at = LATER(20_000);
      const pass = await f.engine.purge(f.box, at, 5);
      assert.equal(pass.purged, 5);
      const due = (item: Item | undefined) => item && dueAt(item.fuses, f.box.expiry);
      for (const id of ['29', '27', '25', '23', '21']) {
        assert.equal(await f.engine.inspect(f.box, { partition: ['a'], id }), undefined);
      }
      assert.equal(pass.next, due(await f.engine.inspect(f.box, { partition: ['a'], id: '19' })));
      const rest = await f.engine.purge(f.box, at, 1000);
      assert.equal(rest.purged, 5);
      assert.equal(rest.next, LATER(21_000));
      assert.equal((await f.engine.stats(f.box)).items, 21);
      assert.equal(await f.engine.nextExpiry(f.box), rest.next);
      await f.engine.check();
    });
    test('T9, T17: with TTL off nothing is due, and it is due again when TTL returns', async () => {
      await f.put('1', ['a'], { ttl: 1 });
      assert.equal(await f.engine.nextExpiry(f.box), undefined);
      assert.equal((await f.engine.purge(f.box, LATER(1e9), 10)).purged, 0);
      await rules(-1);
      assert.equal(await f.engine.nextExpiry(f.box), LATER(1_000));
      assert.equal((await f.engine.purge(f.box, LATER(1_000), 10)).purged, 1);
    });
    test('a purge and a write that renews the item agree on one outcome', async () => {
      await rules(1);
      for (let n = 0; n < 50; n++) await f.put(`${n}`);
      const at = LATER(1_000);
      const renewals = Array.from({ length: 50 }, (_, n) => f.put(`${n}`, ['a'], { n: 2 }, at));
      const purges = [f.engine.purge(f.box, at, 20), f.engine.purge(f.box, at, 20)];
      await Promise.all([...renewals, ...purges]);
      for (let n = 0; n < 50; n++) assert(await f.read(`${n}`, ['a'], at), `item ${n} is there`);
      await f.engine.check();
    });
    test('expiries page through what is due, under the rules asked about', async () => {
      for (let n = 1; n <= 20; n++) await f.put(`${n}`, ['a'], n % 2 ? { ttl: n } : {});
      const scan = async (defaultTtl: number, until: Instant) => {
        const found = [];
        let after: Resume | undefined;
        do {
          const scan = { rules: cosmosRules(defaultTtl), until, after, rowsMax: 3 };
          const page = await f.engine.expiries(f.box, scan);
          found.push(...page.expiries);
          after = page.resume;
        } while (after !== undefined);
        return found;
      };
      assert.equal((await scan(-1, LATER(9_000))).length, 5);
      assert.equal((await scan(5, LATER(5_000))).length, 13);
      assert.equal((await scan(5, LATER(4_999))).length, 2);
      const [first] = await scan(-1, LATER(1_000));
      assert.deepEqual([first?.rule, first?.due], ['own', LATER(1_000)]);
      assert.equal((await f.engine.inspect(f.box, first?.serial ?? 0))?.key.id, '1');
      const later = { rules: cosmosRules(-1), since: LATER(1_000), until: LATER(5_000) };
      const page = await f.engine.expiries(f.box, { ...later, after: undefined, rowsMax: 9 });
      assert.deepEqual(
        page.expiries.map(({ due }) => due),
        [LATER(3_000), LATER(5_000)],
      );
    });
    test('T39: inspect shows a dead item that is not purged', async () => {
      await rules(1);
      await f.put('1');
      assert.equal(await f.read('1', ['a'], LATER(1_000)), undefined);
      assert((await f.engine.inspect(f.box, { partition: ['a'], id: '1' })) !== undefined);
    });
    test('T23: nothing wraps at the far end of time', async () => {
      await rules(-1);
      const far = instantOfSeconds(4_294_967_296);
      await f.put('1', ['a'], { ttl: 2_147_483_647 }, far);
      const due = instantOfSeconds(4_294_967_296 + 2_147_483_647);
      assert.equal(await f.engine.nextExpiry(f.box), due);
      assert(await f.read('1', ['a'], instant(due - 1)));
      assert.equal(await f.read('1', ['a'], due), undefined);
    });
  });
}
