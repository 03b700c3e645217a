// The contract for all versions: every one, in order, without gaps, with what expired, for as long
// as the container keeps them. An engine that keeps none skips it.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { cosmosRules } from '../time/expiry.js';
import { effectivePartitionKey } from '../value/partition-hash.js';
import {
  BUDGET,
  containerNamed,
  type Fixture,
  insert,
  LATER,
  NOW,
  remove,
  replace,
} from './contract-fixture.suite.js';
import {
  BadResume,
  type Change,
  type ChangeScan,
  type Container,
  type Version,
  type Versions,
  VersionsForgotten,
} from './engine.js';

const START: ChangeScan = { partition: undefined, span: undefined, after: 0 };
const RETENTION_MS = 60_000;
const ROWS_MAX = 4;

export function describeVersions(f: Fixture): void {
  const read = (scan: Partial<ChangeScan> = {}, at = NOW, budget = BUDGET): Promise<Versions> => {
    assert(f.engine.versions);
    return f.engine.versions(f.box, { ...START, ...scan }, at, budget);
  };
  const seen = async (scan: Partial<ChangeScan> = {}, at = NOW) =>
    (await read(scan, at)).versions.map(shown);
  const commit = (...changes: readonly Change[]) =>
    f.engine.commit(f.box, [{ partition: ['a'], changes }], NOW);
  const open = async (container: Container) => {
    f.box = container;
    await f.engine.createContainer(f.box);
  };
  const alter = async (change: Partial<Container>) => {
    const { retentionMs: _, ...rest } = f.box;
    f.box = { ...rest, ...change };
    await f.engine.alterContainer(f.box);
  };
  /** Passes until nothing is due, and how much they forgot. */
  const trim = async (at = NOW): Promise<number> => {
    let trimmed = 0;
    for (let next: number | undefined = 0; next !== undefined && next <= at; ) {
      const pass = await f.engine.purge(f.box, at, ROWS_MAX);
      trimmed += pass.trimmed ?? 0;
      next = pass.next;
    }
    return trimmed;
  };

  describe('versions', () => {
    const check = (name: string, body: () => Promise<void>) =>
      test(name, (t) => (f.engine.versions ? body() : t.skip('the engine keeps none')));
    beforeEach(async () => {
      await open({
        ...containerNamed(f.newName('v')),
        expiry: cosmosRules(-1),
        retentionMs: RETENTION_MS,
      });
    });
    check('every one is kept, with what came before', async () => {
      await f.put('1', ['a'], { n: 1 });
      await commit(replace('1', { n: 2 }));
      await commit(replace('1', { n: 3 }), remove('1'), insert('1', { n: 4 }));
      assert.deepEqual(await seen(), [
        '1 create 1',
        '2 replace 2 before: 1 at 1',
        '3 replace 3 before: 2 at 2',
        '3 delete before: 3 at 3',
        '3 create 4',
      ]);
      assert.deepEqual(await seen({ after: 2 }), (await seen()).slice(2));
      const { versions, upTo, isEnd } = await read({ after: 'now' });
      assert.deepEqual({ versions, upTo, isEnd }, { versions: [], upTo: 3, isEnd: true });
      await assert.rejects(read({ after: 4 }), BadResume);
    });
    check('what was refused or kept leaves no trace', async () => {
      await f.put('1');
      await f.put('1');
      await commit(insert('2'), insert('1'));
      await commit(remove('none'));
      assert.deepEqual(await seen(), ['1 create undefined']);
    });
    check('T18: what is purged is deleted then, because it expired', async () => {
      await f.put('1', ['a'], { ttl: 10, n: 1 });
      await f.put('2', ['a'], { ttl: 20, n: 2 });
      assert.deepEqual(await seen({ after: 2 }, LATER(15_000)), []);
      await f.engine.purge(f.box, LATER(15_000), ROWS_MAX);
      const page = await read({ after: 2 }, LATER(15_000));
      assert.deepEqual(page.versions.map(shown), ['3 delete before: 1 at 1 expired']);
      assert.deepEqual(page.versions[0]?.key, { partition: ['a'], id: '1' });
      assert.equal(page.versions[0]?.at, LATER(15_000));
    });
    check('a new item in the place of an expired one follows its end', async () => {
      await f.put('1', ['a'], { ttl: 10, n: 1 });
      await f.put('1', ['a'], { n: 2 }, LATER(10_000));
      const expected = ['1 create 1', '2 delete before: 1 at 1 expired', '2 create 2'];
      assert.deepEqual(await seen({}, LATER(10_000)), expected);
      const unique = { name: 'u', paths: [{ path: ['n'], descending: false }], unique: true };
      await open({ ...f.box, id: f.newName('v'), indexes: [unique] });
      await f.put('1', ['a'], { ttl: 10, n: 1 });
      await f.put('2', ['a'], { n: 1 }, LATER(10_000));
      const cleared = ['1 create 1', '2 delete before: 1 at 1 expired', '2 create 1'];
      assert.deepEqual(await seen({}, LATER(10_000)), cleared);
    });
    for (const rowsMax of [1, 2, 3, 100]) {
      check(`pages of ${rowsMax} divide no batch`, async () => {
        await f.put('1', ['a'], { n: 1 });
        await commit(insert('2', { n: 2 }), replace('2', { n: 3 }), remove('2'));
        await f.put('5', ['a'], { n: 5 });
        const all: string[] = [];
        for (let after: number | undefined = 0; after !== undefined; ) {
          const page: Versions = await read({ after }, NOW, { ...BUDGET, rowsMax });
          all.push(...page.versions.map(shown));
          assert(!/^2 (create|replace)/.test(all.at(-1) ?? ''));
          after = page.isEnd ? undefined : page.upTo;
        }
        assert.deepEqual(all, await seen());
      });
    }
    check('of one partition, or of a span; and the position goes on where nothing is', async () => {
      const keys = ['a', 'b', 'c', 'd'];
      for (const key of keys) await f.put(key, [key]);
      const ids = async (scan: Partial<ChangeScan>) =>
        (await read(scan)).versions.map(({ key }) => key.id);
      assert.deepEqual(await ids({ partition: ['b'] }), ['b']);
      const none = await read({ partition: ['none'] });
      assert.deepEqual([none.versions, none.upTo, none.isEnd], [[], 4, true]);
      const middle = effectivePartitionKey(['c'], 'v2');
      const low = await ids({ span: { from: '', to: middle } });
      const high = await ids({ span: { from: middle, to: 'FF' } });
      assert(high.includes('c') && !low.includes('c'));
      assert.deepEqual([...low, ...high].sort(), keys);
    });
    check('they stay for the retention and no longer, trimmed or not', async () => {
      await f.put('1', ['a'], { n: 1 });
      await f.put('2', ['a'], { n: 2 }, LATER(10));
      assert.equal((await seen({}, LATER(RETENTION_MS - 1))).length, 2);
      assert.equal(await f.engine.nextExpiry(f.box), LATER(RETENTION_MS));
      for (const isTrimmed of [false, true]) {
        if (isTrimmed) assert.equal(await trim(LATER(RETENTION_MS)), 1);
        await assert.rejects(read({}, LATER(RETENTION_MS)), VersionsForgotten);
        assert.deepEqual(await seen({ after: 1 }, LATER(RETENTION_MS)), ['2 create 2']);
      }
      assert.equal(await trim(LATER(RETENTION_MS + 9)), 0);
      assert.equal(await trim(LATER(RETENTION_MS + 10)), 1);
      assert.deepEqual(await seen({ after: 2 }, LATER(RETENTION_MS + 10)), []);
      assert.equal(await f.engine.nextExpiry(f.box), undefined);
      assert((await f.read('1')) && (await f.read('2')), 'the items stay');
    });
    check('the version before is shown as long as it is kept itself', async () => {
      await f.put('1', ['a'], { n: 1 });
      const change = { partition: ['a'], changes: [replace('1', { n: 2 })] };
      await f.engine.commit(f.box, [change], LATER(10));
      const at = LATER(RETENTION_MS);
      assert.deepEqual(await seen({ after: 1 }, at), ['2 replace 2 before: unknown at 1']);
    });
    check('without a retention there are none; with one, from then on', async () => {
      await open(containerNamed(f.newName('v')));
      await f.put('1', ['a'], { n: 1 });
      await assert.rejects(read(), VersionsForgotten);
      await alter({ retentionMs: RETENTION_MS });
      await commit(remove('1'));
      await assert.rejects(read(), VersionsForgotten);
      assert.deepEqual(await seen({ after: 1 }), ['2 delete before: 1 at 1']);
      await alter({});
      await assert.rejects(read({ after: 1 }), VersionsForgotten);
      assert.equal(await trim(), 1);
      await f.put('2', ['a'], { n: 2 });
      await alter({ retentionMs: RETENTION_MS });
      await assert.rejects(read({ after: 1 }), VersionsForgotten);
      await f.put('3', ['a'], { n: 3 });
      assert.deepEqual(await seen({ after: 3 }), ['4 create 3']);
    });
    check('what an earlier retention left is not taken for complete', async () => {
      await f.put('1', ['a'], { n: 1 });
      await alter({});
      await f.put('2', ['a'], { n: 2 });
      await alter({ retentionMs: RETENTION_MS });
      await assert.rejects(read({ after: 0 }), VersionsForgotten);
      assert.equal(await trim(), 1);
      assert.deepEqual(await seen({ after: 2 }), []);
    });
    check('a reader beside writers and purges misses nothing', async () => {
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let n = 0; n < 15; n++) {
          await f.put(`${writer}-${n}`, [`p${writer}`], { n, ttl: 1 });
          if (writer === 0) await f.engine.purge(f.box, LATER(1000), ROWS_MAX);
        }
      });
      let isDone = false;
      const done = Promise.all(writers).then(() => {
        isDone = true;
      });
      const events: Version[] = [];
      for (let [after, last] = [0, false]; !last; ) {
        last = isDone;
        const page = await read({ after }, NOW, { ...BUDGET, rowsMax: 7 });
        events.push(...page.versions);
        after = page.upTo;
        last &&= page.isEnd;
        await new Promise(setImmediate);
      }
      await done;
      assert.equal(events.filter(({ kind }) => kind === 'create').length, 120);
      const left = (await f.engine.stats(f.box)).items;
      assert.equal(events.filter(({ expired }) => expired).length, 120 - left);
      assert.deepEqual(
        events.map(({ lsn }) => lsn),
        events.map(({ lsn }) => lsn).sort((a, b) => a - b),
      );
    });
  });
}

function shown({ kind, lsn, doc, previous, expired }: Version): string {
  const n = (of: typeof doc) => (of ? String((of.value as { n?: number }).n) : 'unknown');
  const before = previous && `before: ${n(previous.doc)} at ${previous.lsn}`;
  const parts = [String(lsn), kind, doc && n(doc), before, expired ? 'expired' : undefined];
  return parts.filter((part) => part !== undefined).join(' ');
}
