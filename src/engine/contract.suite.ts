// The tests every engine passes. Each engine's own test file calls this with a way to open it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { cosmosFuses, cosmosRules, dueAt, type Fuse } from '../time/expiry.js';
import { type Instant, instant, instantOfSeconds } from '../time/instant.js';
import { docFromValue } from '../value/doc.js';
import { effectivePartitionKey } from '../value/partition-hash.js';
import type { PartitionKey } from '../value/partition-key.js';
import { withContract } from './contract.js';
import {
  BadResume,
  type Change,
  type Container,
  type Draft,
  type Engine,
  type Item,
  type Resume,
  type ScanRequest,
} from './engine.js';

const NOW = instantOfSeconds(1_700_000_000);
const LATER = (ms: number) => instant(NOW + ms);
const BUDGET = { rowsMax: 100, bytesMax: 4_000_000 };
const ALL: ScanRequest = {
  partition: undefined,
  span: undefined,
  filter: undefined,
  order: [],
  limit: undefined,
};

export function describeEngine(name: string, open: () => Promise<Engine>): void {
  describe(`engine contract: ${name}`, () => {
    let engine: Engine;
    let box: Container;
    let count = 0;
    before(async () => {
      engine = withContract(await open());
    });
    after(async () => {
      await engine.check();
      await engine.close();
    });
    beforeEach(async () => {
      box = containerNamed(`c${count++}`);
      await engine.createContainer(box);
    });
    const put = (id: string, partition: PartitionKey = ['a'], more: object = {}, at = NOW) =>
      engine.commit(box, [{ partition, changes: [insert(id, more, at)] }], at);
    const read = async (id: string, partition: PartitionKey = ['a'], at = NOW) =>
      (await engine.get(box, [{ partition, id }], at)).items[0];

    describe('writes', () => {
      test('an inserted item reads back by key and by serial', async () => {
        const outcome = await put('1', ['a'], { n: 1 });
        const item = await read('1');
        assert.deepEqual(item?.doc.value, { id: '1', n: 1 });
        const [written] = outcome;
        assert(written && 'items' in written && item);
        assert.deepEqual(facts(written.items[0]), facts(item));
        const bySerial = (await engine.get(box, [item?.serial ?? 0], NOW)).items[0];
        assert.deepEqual(bySerial?.key, { partition: ['a'], id: '1' });
      });
      test('serials and lsns grow, a replace keeps the serial, a new life gets another', async () => {
        await put('1');
        await put('2');
        const first = await read('1');
        await engine.commit(box, [{ partition: ['a'], changes: [replace('1', { n: 2 })] }], NOW);
        const second = await read('1');
        assert.equal(second?.serial, first?.serial);
        assert.equal(second?.lsn, 3);
        await engine.commit(box, [{ partition: ['a'], changes: [remove('1')] }], NOW);
        await put('1');
        assert.equal((await read('1'))?.serial, 3);
      });
      test('insert refuses a second time and writes nothing', async () => {
        await put('1', ['a'], { n: 1 });
        const [outcome] = await put('1', ['a'], { n: 2 });
        assert.deepEqual(outcome, { refused: 'conflict', index: 0, lsn: 1 });
        assert.deepEqual((await read('1'))?.doc.value, { id: '1', n: 1 });
      });
      test('put and delete obey the expected etag', async () => {
        await put('1');
        const etag = (await read('1'))?.etag;
        const draft = draftOf('1', { n: 2 }, NOW);
        const commit = async (change: Change) =>
          (await engine.commit(box, [{ partition: ['a'], changes: [change] }], NOW))[0];
        const refused = (outcome: unknown) => (outcome as { refused?: unknown }).refused;
        assert.equal(
          refused(await commit({ kind: 'put', item: draft, ifEtag: 'x' })),
          'preconditionFailed',
        );
        assert.equal(
          refused(await commit({ kind: 'put', item: { ...draft, id: 'no' }, ifEtag: etag })),
          'notFound',
        );
        assert.equal(refused(await commit({ kind: 'put', item: draft, ifEtag: etag })), undefined);
        assert.equal(
          refused(await commit({ kind: 'delete', id: '1', ifEtag: etag })),
          'preconditionFailed',
        );
        assert.equal(
          refused(await commit({ kind: 'delete', id: '1', ifEtag: draft.etag })),
          undefined,
        );
        assert.equal(await read('1'), undefined);
      });
      test('update decides on the item as it is, also with many writers at once', async () => {
        await put('n', ['a'], { n: 0 });
        const bump: Change = {
          kind: 'update',
          id: 'n',
          decide: (current) => {
            const n = (current?.doc.value as { n: number } | undefined)?.n ?? -1;
            return { put: draftOf('n', { n: n + 1 }, NOW) };
          },
        };
        await Promise.all(
          Array.from({ length: 200 }, () =>
            engine.commit(box, [{ partition: ['a'], changes: [bump] }], NOW),
          ),
        );
        assert.deepEqual((await read('n'))?.doc.value, { id: 'n', n: 200 });
        assert.equal((await engine.stats(box)).lsn, 201);
      });
      test('keep and delete of nothing change nothing, not even the lsn', async () => {
        await put('1');
        const keep: Change = { kind: 'update', id: '1', decide: () => ({ keep: true }) };
        await engine.commit(box, [{ partition: ['a'], changes: [keep, remove('none')] }], NOW);
        assert.equal((await engine.stats(box)).lsn, 1);
      });
      test('a batch is all or nothing and has one lsn; batches of a call are independent', async () => {
        await put('taken');
        const outcomes = await engine.commit(
          box,
          [
            { partition: ['a'], changes: [insert('1'), insert('2'), insert('taken')] },
            { partition: ['a'], changes: [insert('3'), insert('4'), remove('3')] },
          ],
          NOW,
        );
        assert.deepEqual(outcomes[0], { refused: 'conflict', index: 2, lsn: 1 });
        assert.equal(await read('1'), undefined);
        assert.equal(await read('3'), undefined);
        assert.equal((await read('4'))?.lsn, 2);
        assert.equal((await engine.stats(box)).items, 2);
      });
      test('what decide throws undoes its call and nobody else', async () => {
        const boom: Change = {
          kind: 'update',
          id: 'boom',
          decide: () => {
            throw new RangeError('boom');
          },
        };
        const results = await Promise.allSettled([
          put('before'),
          engine.commit(box, [{ partition: ['a'], changes: [insert('1'), boom] }], NOW),
          put('after'),
        ]);
        assert.deepEqual(
          results.map((result) => result.status),
          ['fulfilled', 'rejected', 'fulfilled'],
        );
        assert.equal(await read('1'), undefined);
        assert.equal((await engine.stats(box)).items, 2);
      });
      test('partition keys of every kind are different partitions', async () => {
        const keys = [['a'], [1], [0], [true], [false], [null], [undefined], [''], ['1'], ['null']];
        for (const key of keys) await put('same', key);
        assert.equal((await engine.stats(box)).items, keys.length);
        for (const key of keys) assert.deepEqual((await read('same', key))?.key.partition, key);
      });
      test('long and strange ids and keys are kept apart', async () => {
        const long = 'k'.repeat(2047);
        const ids = [
          'x'.repeat(1022),
          `${'x'.repeat(1022)}y`,
          '\u{1F41D}'.repeat(255),
          '\uD83D',
          '\uDC1D',
          'a\0b',
          'a\0',
        ];
        const keys: PartitionKey[] = [[`${long}a`], [`${long}b`], [long]];
        for (const key of keys) for (const id of ids) await put(id, key, { key, id_: id });
        for (const key of keys) {
          for (const id of ids) {
            const value = (await read(id, key))?.doc.value;
            assert.deepEqual(value, { id, key, id_: id });
          }
        }
      });
    });

    describe('unique indexes', () => {
      const unique = { name: 'u', paths: [{ path: ['mail'], descending: false }], unique: true };
      beforeEach(async () => {
        box = { ...containerNamed(`u${count++}`), indexes: [unique] };
        await engine.createContainer(box);
      });
      test('hold per partition, count a missing value as null, follow replaces and deletes', async () => {
        await put('1', ['a'], { mail: 'x' });
        assert.deepEqual((await put('2', ['a'], { mail: 'x' }))[0], {
          refused: { uniqueIndex: 'u' },
          index: 0,
          lsn: 1,
        });
        assert('items' in ((await put('2', ['b'], { mail: 'x' }))[0] ?? {}));
        await put('3', ['a']);
        assert('refused' in ((await put('4', ['a'], { mail: null }))[0] ?? {}));
        const change = replace('1', { mail: 'y' });
        await engine.commit(box, [{ partition: ['a'], changes: [change] }], NOW);
        assert('items' in ((await put('5', ['a'], { mail: 'x' }))[0] ?? {}));
        await engine.commit(box, [{ partition: ['a'], changes: [remove('1')] }], NOW);
        assert('items' in ((await put('6', ['a'], { mail: 'y' }))[0] ?? {}));
      });
      test('T11: an expired holder does not block, and is gone for good once replaced', async () => {
        box = { ...box, expiry: cosmosRules(-1) };
        await engine.alterContainer(box);
        await put('1', ['a'], { mail: 'x', ttl: 10 });
        const refused = await put('2', ['a'], { mail: 'x' }, LATER(9_999));
        assert('refused' in (refused[0] ?? {}));
        const taken = await put('2', ['a'], { mail: 'x' }, LATER(10_000));
        assert('items' in (taken[0] ?? {}));
        box = { ...box, expiry: cosmosRules(undefined) };
        assert.equal(await read('1'), undefined);
      });
    });

    describe('scans', () => {
      const ids = async (request: ScanRequest, budget = BUDGET, at = NOW) => {
        const found: string[] = [];
        for await (const batch of engine.plan(box, request).run(at, undefined, budget)) {
          found.push(...batch.items.map((item) => item.key.id));
        }
        return found;
      };
      test('all items come in order of creation, whatever the budget', async () => {
        for (let n = 0; n < 250; n++) await put(`${n}`, [n % 7]);
        const expected = Array.from({ length: 250 }, (_, n) => `${n}`);
        assert.deepEqual(await ids(ALL), expected);
        assert.deepEqual(await ids(ALL, { rowsMax: 1, bytesMax: 1e9 }), expected);
        assert.deepEqual(await ids(ALL, { rowsMax: 64, bytesMax: 1 }), expected);
      });
      test('one partition comes in order of creation and alone', async () => {
        for (let n = 0; n < 100; n++) await put(`${n}`, [n % 3]);
        const expected = Array.from({ length: 33 }, (_, n) => `${n * 3 + 1}`);
        assert.deepEqual(await ids({ ...ALL, partition: [1] }), expected);
        assert.deepEqual(await ids({ ...ALL, partition: ['1'] }), []);
      });
      test('spans of effective partition keys tile the container', async () => {
        for (let n = 0; n < 100; n++) await put(`${n}`, [n]);
        const middle = '1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF';
        const low = await ids({ ...ALL, span: { from: '', to: middle } });
        const high = await ids({ ...ALL, span: { from: middle, to: 'FF' } });
        assert.equal(new Set([...low, ...high]).size, 100);
        assert(low.length > 20 && high.length > 20);
        const epk = effectivePartitionKey([5], 'v2');
        const inside = { ...ALL, partition: [5], span: { from: epk, to: 'FF' } };
        assert.deepEqual(await ids(inside), ['5']);
        assert.deepEqual(await ids({ ...inside, span: { from: '', to: epk } }), []);
      });
      test('a prefix of a hierarchical key finds all below it', async () => {
        const paths = [['t'], ['u'], ['s']];
        box = { ...containerNamed(`h${count++}`), partitionPaths: paths, partitionHash: 'multi' };
        await engine.createContainer(box);
        await put('1', ['t1', 'u1', 's1']);
        await put('2', ['t1', 'u2', 's1']);
        await put('3', ['t2', 'u1', 's1']);
        assert.deepEqual((await ids({ ...ALL, partition: ['t1'] })).sort(), ['1', '2']);
        assert.deepEqual(await ids({ ...ALL, partition: ['t1', 'u2'] }), ['2']);
        assert.deepEqual(await ids({ ...ALL, partition: ['t1', 'u2', 's1'] }), ['2']);
      });
      test('resuming after writes neither repeats nor loses what was there', async () => {
        for (let n = 0; n < 10; n++) await put(`${n}`);
        const plan = engine.plan(box, ALL);
        const [first] = await take(plan.run(NOW, undefined, { ...BUDGET, rowsMax: 4 }), 1);
        await engine.commit(box, [{ partition: ['a'], changes: [remove('4'), remove('1')] }], NOW);
        await put('new');
        const rest = await take(plan.run(NOW, first?.resume, BUDGET), 9);
        const seen = rest.flatMap((batch) => batch.items.map((item) => item.key.id));
        assert.deepEqual(seen, ['5', '6', '7', '8', '9', 'new']);
      });
      test('a resume point from elsewhere is refused', async () => {
        await put('1');
        const junk = Buffer.from('junk') as unknown as Resume;
        await assert.rejects(take(engine.plan(box, ALL).run(NOW, junk, BUDGET), 1), BadResume);
      });
    });

    describe('expiry', () => {
      const rules = (defaultTtl: number | undefined) => {
        box = { ...box, expiry: cosmosRules(defaultTtl) };
        return engine.alterContainer(box);
      };
      test('T2: live one millisecond before, gone at the millisecond, for every way to look', async () => {
        await rules(-1);
        await put('1', ['a'], { ttl: 10 });
        for (const [ms, alive] of [
          [9_999, true],
          [10_000, false],
          [10_001, false],
        ] as const) {
          const at = LATER(ms);
          assert.equal((await read('1', ['a'], at)) !== undefined, alive);
          assert.equal((await engine.get(box, [1], at)).items[0] !== undefined, alive);
          const batches = await take(engine.plan(box, ALL).run(at, undefined, BUDGET), 1);
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
          await engine.commit(box, [{ partition: ['a'], changes: [look] }], at);
          assert.equal(seen !== undefined, alive);
        }
      });
      test('T7: changing the default acts on all items at once, in both directions', async () => {
        await put('1');
        await put('2', ['a'], { ttl: 1000 });
        const at = LATER(60_000);
        assert(await read('1', ['a'], at));
        await rules(60);
        assert.equal(await read('1', ['a'], at), undefined);
        assert(await read('2', ['a'], at));
        await rules(61);
        assert(await read('1', ['a'], at));
        await rules(undefined);
        assert(await read('2', ['a'], LATER(5_000_000)));
      });
      test('T10: a dead item makes room: insert succeeds with a new serial', async () => {
        await rules(5);
        await put('1');
        const [outcome] = await put('1', ['a'], { again: true }, LATER(5_000));
        assert(outcome && 'items' in outcome);
        assert.equal(outcome.items[0]?.serial, 2);
        assert.equal((await engine.stats(box)).items, 1);
      });
      test('T15: purge removes the oldest first, in bounded passes, and nothing that lives', async () => {
        await rules(100);
        for (let n = 0; n < 30; n++) await put(`${n}`, ['a'], n % 2 ? { ttl: 30 - n } : {});
        await put('keep', ['a'], { ttl: -1 });
        const at = LATER(20_000);
        const pass = await engine.purge(box, at, 5);
        assert.equal(pass.purged, 5);
        const due = (item: Item | undefined) => item && dueAt(item.fuses, box.expiry);
        for (const id of ['29', '27', '25', '23', '21']) {
          assert.equal(await engine.inspect(box, { partition: ['a'], id }), undefined);
        }
        assert.equal(pass.next, due(await engine.inspect(box, { partition: ['a'], id: '19' })));
        const rest = await engine.purge(box, at, 1000);
        assert.equal(rest.purged, 5);
        assert.equal(rest.next, LATER(21_000));
        assert.equal((await engine.stats(box)).items, 21);
        assert.equal(await engine.nextExpiry(box), rest.next);
        await engine.check();
      });
      test('T9, T17: with TTL off nothing is due, and it is due again when TTL returns', async () => {
        await put('1', ['a'], { ttl: 1 });
        assert.equal(await engine.nextExpiry(box), undefined);
        assert.equal((await engine.purge(box, LATER(1e9), 10)).purged, 0);
        await rules(-1);
        assert.equal(await engine.nextExpiry(box), LATER(1_000));
        assert.equal((await engine.purge(box, LATER(1_000), 10)).purged, 1);
      });
      test('a purge and a write that renews the item agree on one outcome', async () => {
        await rules(1);
        for (let n = 0; n < 50; n++) await put(`${n}`);
        const at = LATER(1_000);
        const renewals = Array.from({ length: 50 }, (_, n) => put(`${n}`, ['a'], { n: 2 }, at));
        const purges = [engine.purge(box, at, 20), engine.purge(box, at, 20)];
        await Promise.all([...renewals, ...purges]);
        for (let n = 0; n < 50; n++) assert(await read(`${n}`, ['a'], at), `item ${n} is there`);
        await engine.check();
      });
      test('expiries page through what is due, under the rules asked about', async () => {
        for (let n = 1; n <= 20; n++) await put(`${n}`, ['a'], n % 2 ? { ttl: n } : {});
        const scan = async (defaultTtl: number, until: Instant) => {
          const found = [];
          let after: Resume | undefined;
          do {
            const scan = { rules: cosmosRules(defaultTtl), until, after, rowsMax: 3 };
            const page = await engine.expiries(box, scan);
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
        assert.equal((await engine.inspect(box, first?.serial ?? 0))?.key.id, '1');
        const later = { rules: cosmosRules(-1), since: LATER(1_000), until: LATER(5_000) };
        const page = await engine.expiries(box, { ...later, after: undefined, rowsMax: 9 });
        assert.deepEqual(
          page.expiries.map(({ due }) => due),
          [LATER(3_000), LATER(5_000)],
        );
      });
      test('T39: inspect shows a dead item that is not purged', async () => {
        await rules(1);
        await put('1');
        assert.equal(await read('1', ['a'], LATER(1_000)), undefined);
        assert((await engine.inspect(box, { partition: ['a'], id: '1' })) !== undefined);
      });
      test('T23: nothing wraps at the far end of time', async () => {
        await rules(-1);
        const far = instantOfSeconds(4_294_967_296);
        await put('1', ['a'], { ttl: 2_147_483_647 }, far);
        const due = instantOfSeconds(4_294_967_296 + 2_147_483_647);
        assert.equal(await engine.nextExpiry(box), due);
        assert(await read('1', ['a'], instant(due - 1)));
        assert.equal(await read('1', ['a'], due), undefined);
      });
    });

    test('containers are listed, altered and dropped with all they hold', async () => {
      await put('1');
      assert((await engine.containers()).some((container) => container.id === box.id));
      await engine.dropContainer(box.id);
      assert(!(await engine.containers()).some((container) => container.id === box.id));
      await engine.createContainer(box);
      assert.equal(await read('1'), undefined);
      assert.equal((await engine.stats(box)).items, 0);
    });
  });
}

export function containerNamed(id: string): Container {
  return {
    id,
    partitionPaths: [['pk']],
    partitionHash: 'v2',
    indexes: [],
    expiry: cosmosRules(undefined),
  };
}

let etags = 0;

export function draftOf(id: string, more: object, at: Instant): Draft {
  const ttl = (more as { ttl?: unknown }).ttl;
  const fuses: readonly Fuse[] = cosmosFuses(ttl, at / 1000);
  return { id, etag: `"${etags++}"`, fuses, doc: docFromValue({ id, ...more }) };
}

function insert(id: string, more: object = {}, at = NOW): Change {
  return { kind: 'insert', item: draftOf(id, more, at) };
}

function replace(id: string, more: object): Change {
  return {
    kind: 'update',
    id,
    decide: (current) => (current ? { put: draftOf(id, more, NOW) } : { refuse: 'notFound' }),
  };
}

function remove(id: string): Change {
  return { kind: 'delete', id, ifEtag: undefined };
}

/** What a write answers is the item as a read would find it. */
function facts(item: Item | undefined): object {
  return { ...item, doc: item?.doc.value };
}

async function take<T>(from: AsyncIterable<T>, countMax: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const each of from) {
    taken.push(each);
    if (taken.length >= countMax) break;
  }
  return taken;
}
