// The contract for scans: order of creation, partitions and spans, filters, orders, resuming.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { cosmosRules } from '../time/expiry.js';
import { compareValues } from '../value/compare.js';
import { effectivePartitionKey } from '../value/partition-hash.js';
import {
  ALL,
  BUDGET,
  containerNamed,
  type Fixture,
  LATER,
  NOW,
  remove,
  replace,
  take,
} from './contract-fixture.suite.js';
import { BadResume, type Filter, type Resume, type ScanRequest } from './engine.js';

export function describeScans(f: Fixture): void {
  describe('scans', () => {
    const ids = async (request: ScanRequest, budget = BUDGET, at = NOW) => {
      const found: string[] = [];
      for await (const batch of f.engine.plan(f.box, request).run(at, budget)) {
        found.push(...batch.items.map((item) => item.key.id));
      }
      return found;
    };
    test('all items come in order of creation, whatever the budget', async () => {
      for (let n = 0; n < 250; n++) await f.put(`${n}`, [n % 7]);
      const expected = Array.from({ length: 250 }, (_, n) => `${n}`);
      assert.deepEqual(await ids(ALL), expected);
      assert.deepEqual(await ids(ALL, { rowsMax: 1, bytesMax: 1e9 }), expected);
      assert.deepEqual(await ids(ALL, { rowsMax: 64, bytesMax: 1 }), expected);
    });
    test('one partition comes in order of creation and alone', async () => {
      for (let n = 0; n < 100; n++) await f.put(`${n}`, [n % 3]);
      const expected = Array.from({ length: 33 }, (_, n) => `${n * 3 + 1}`);
      assert.deepEqual(await ids({ ...ALL, partition: [1] }), expected);
      assert.deepEqual(await ids({ ...ALL, partition: ['1'] }), []);
    });
    test('spans of effective partition keys tile the container', async () => {
      for (let n = 0; n < 100; n++) await f.put(`${n}`, [n]);
      const middle = '1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF';
      const low = await ids({ ...ALL, span: { from: '', to: middle } });
      const high = await ids({ ...ALL, span: { from: middle, to: 'FF' } });
      assert.equal(new Set([...low, ...high]).size, 100);
      assert(low.length > 20 && high.length > 20);
      const epk = effectivePartitionKey([5], 'v2');
      const inside = { ...ALL, partition: [5], span: { from: epk, to: 'FF' } };
      assert.deepEqual(await ids(inside), ['5']);
      assert.deepEqual(await ids({ ...inside, span: { from: '', to: epk } }), []);
      const all = { ...ALL, partition: undefined };
      assert.deepEqual(await ids({ ...all, span: { from: epk, to: `${epk}00` } }), ['5']);
      assert(!(await ids({ ...all, span: { from: `${epk}00`, to: 'FF' } })).includes('5'));
    });
    for (const [what, wide, bounds] of [
      ['of everything', { from: '', to: 'FF' }, ['', '10', '1F', 'FF']],
      ['of a span', { from: '08', to: '30' }, ['08', '10', '1FFF', '30']],
    ] as const) {
      for (const more of [
        {},
        { filter: { op: '>=', path: ['n'], value: 20 } },
        { order: [{ path: ['n'], descending: true }] },
      ] satisfies Partial<ScanRequest>[]) {
        test(`a resume point ${what} leads on in its parts: ${JSON.stringify(more)}`, async () => {
          for (let n = 0; n < 100; n++) await f.put(`${n}`, [n], { n });
          const request = { ...ALL, ...more, span: wide };
          const few = { ...BUDGET, rowsMax: 9 };
          const batches = f.engine.plan(f.box, request).run(NOW, few);
          const [first] = await take(batches, 1);
          assert(first?.resume);
          const seen = first.items.map((item) => item.key.id);
          for (const [index, from] of bounds.slice(0, -1).entries()) {
            const span = { from, to: bounds[index + 1] ?? '' };
            seen.push(...(await ids({ ...request, span, after: first.resume }, few)));
          }
          assert.deepEqual(seen.sort(), (await ids(request)).sort());
        });
      }
    }
    test('a prefix of a hierarchical key finds all below it', async () => {
      const paths = [['t'], ['u'], ['s']];
      f.box = { ...containerNamed(f.newName('h')), partitionPaths: paths, partitionHash: 'multi' };
      await f.engine.createContainer(f.box);
      await f.put('1', ['t1', 'u1', 's1']);
      await f.put('2', ['t1', 'u2', 's1']);
      await f.put('3', ['t2', 'u1', 's1']);
      assert.deepEqual((await ids({ ...ALL, partition: ['t1'] })).sort(), ['1', '2']);
      assert.deepEqual(await ids({ ...ALL, partition: ['t1', 'u2'] }), ['2']);
      assert.deepEqual(await ids({ ...ALL, partition: ['t1', 'u2', 's1'] }), ['2']);
    });
    test('resuming after writes neither repeats nor loses what was there', async () => {
      for (let n = 0; n < 10; n++) await f.put(`${n}`);
      const first = (
        await take(f.engine.plan(f.box, ALL).run(NOW, { ...BUDGET, rowsMax: 4 }), 1)
      )[0];
      await f.engine.commit(
        f.box,
        [{ partition: ['a'], changes: [remove('4'), remove('1')] }],
        NOW,
      );
      await f.put('new');
      const next = f.engine.plan(f.box, { ...ALL, after: first?.resume });
      const rest = await take(next.run(NOW, BUDGET), 9);
      const seen = rest.flatMap((batch) => batch.items.map((item) => item.key.id));
      assert.deepEqual(seen, ['5', '6', '7', '8', '9', 'new']);
    });
    test('a resume point from elsewhere is refused', async () => {
      await f.put('1');
      const junk = Buffer.from('junk') as unknown as Resume;
      assert.throws(() => f.engine.plan(f.box, { ...ALL, after: junk }), BadResume);
    });
  });

  describe('filters and orders', () => {
    const find = async (request: Partial<ScanRequest>, budget = BUDGET, at = NOW) => {
      const found: string[] = [];
      let after: Resume | undefined;
      do {
        // A new plan for every batch, as a client that comes back with a token has it.
        const plan = f.engine.plan(f.box, { ...ALL, ...request, after });
        const [batch] = await take(plan.run(at, budget), 1);
        found.push(...(batch?.items.map((item) => item.key.id) ?? []));
        after = batch?.resume;
      } while (after !== undefined);
      return found;
    };
    const values: readonly [string, unknown][] = [
      ...(['null', 'false', 'true'] as const).map(
        (id) => [id, JSON.parse(id)] as [string, unknown],
      ),
      ...[-1.5, 0, 1, 2, 10].map((n) => [`n${n}`, n] as [string, unknown]),
      ...['', 'a', 'ab', 'abc', 'b', '\u{1F41D}'].map((t) => [`t${t}`, t] as [string, unknown]),
      ['array', [1, 'x', 1]],
      ['object', { y: 1 }],
      ['long', 'z'.repeat(3000)],
    ];
    beforeEach(async () => {
      for (const [id, v] of values) await f.put(id, [id.length % 3], { v });
      await f.put('none', ['x']);
    });
    test('every kind of filter finds at least what it says, and says when that is all', async () => {
      const two = { op: '=', path: ['v'], value: 2 } as const;
      const beginsWithB = { op: 'prefix', path: ['v'], value: 'b' } as const;
      const cases: readonly [Filter, readonly string[]][] = [
        [{ op: '=', path: ['v'], value: 2 }, ['n2']],
        [{ op: '=', path: ['v'], value: null }, ['null']],
        [{ op: '=', path: ['v'], value: 'z'.repeat(3000) }, ['long']],
        [{ op: '<', path: ['v'], value: 1 }, ['n-1.5', 'n0']],
        [{ op: '<=', path: ['v'], value: 1 }, ['n-1.5', 'n0', 'n1']],
        [{ op: '>', path: ['v'], value: 'ab' }, ['tabc', 'tb', 'long', 't\u{1F41D}']],
        [{ op: '>=', path: ['v'], value: true }, ['true']],
        [{ op: 'prefix', path: ['v'], value: 'a' }, ['ta', 'tab', 'tabc']],
        [{ op: 'in', path: ['v'], values: ['b', 2, 2, 'none'] }, ['n2', 'tb']],
        [{ op: 'defined', path: ['v'] }, values.map(([id]) => id)],
        [{ op: '=', path: ['v', null], value: 1 }, ['array']],
        [{ op: '=', path: ['v', 'y'], value: 1 }, ['object']],
        [{ op: '=', path: ['w'], value: 1 }, []],
        [{ op: 'missing', path: ['v'] }, ['none']],
        [{ op: 'any', path: ['v'], of: [two, beginsWithB] }, ['n2', 'tb']],
        [{ op: 'any', path: ['v'], of: [{ op: 'missing', path: ['v'] }, two] }, ['none', 'n2']],
        [{ op: 'every', path: ['v'], of: [two, { op: '>', path: ['v'], value: 1 }] }, ['n2']],
        [{ op: 'every', path: ['v'], of: [two, beginsWithB] }, []],
      ];
      for (const [filter, expected] of cases) {
        const plan = f.engine.plan(f.box, { ...ALL, filter });
        const found = await find({ filter });
        const wanted = [...expected].sort();
        const missing = wanted.filter((id) => !found.includes(id));
        assert.deepEqual(missing, [], `${JSON.stringify(filter)} by ${plan.explain}`);
        if (plan.exact) assert.deepEqual([...found].sort(), wanted, JSON.stringify(filter));
        assert.deepEqual(found, await find({ filter }, { rowsMax: 1, bytesMax: 1 }));
      }
    });
    test('items may come again for each element, and none is left out', async () => {
      const path = ['v', null];
      const cases: readonly [Filter, readonly string[]][] = [
        [{ op: '>=', path, value: 0 }, ['array']],
        [{ op: 'in', path, values: [1, 'x'] }, ['array']],
        [{ op: 'prefix', path, value: 'x' }, ['array']],
        [{ op: 'defined', path }, ['array']],
      ];
      for (const [filter, expected] of cases) {
        const found = await find({ filter, repeats: true });
        assert.deepEqual([...new Set(found)].sort(), expected, JSON.stringify(filter));
      }
    });
    test('an order that is promised is kept, up and down, with every size of batch', async () => {
      for (const descending of [false, true]) {
        const order = [{ path: ['v'], descending }];
        if (!f.engine.plan(f.box, { ...ALL, order }).ordered) continue;
        const found = await find({ order });
        const sorted = [...values].sort((a, b) => compareValues(a[1], b[1])).map(([id]) => id);
        assert.deepEqual(found, descending ? sorted.reverse() : sorted);
        assert.deepEqual(await find({ order }, { rowsMax: 2, bytesMax: 1e9 }), found);
      }
    });
    test('filters stay within their partition', async () => {
      const filter: Filter = { op: '>=', path: ['v'], value: '' };
      const [found, all] = [await find({ filter, partition: [2] }), await find({ partition: [2] })];
      assert.deepEqual([...found].sort(), all.filter((id) => id.startsWith('t')).sort());
    });
    test('replacing and deleting items takes their old values out of every answer', async () => {
      const key = { partition: [2], changes: [replace('n1', { v: 'new' }), remove('n2')] };
      await f.engine.commit(f.box, [key], NOW);
      assert.deepEqual(await find({ filter: { op: '=', path: ['v'], value: 1 } }), []);
      assert.deepEqual(await find({ filter: { op: '=', path: ['v'], value: 2 } }), []);
      assert.deepEqual(await find({ filter: { op: '=', path: ['v'], value: 'new' } }), ['n1']);
      await f.engine.check();
    });
    for (const descending of [false, true]) {
      const name = `thousands of values, ${descending ? 'downwards' : 'upwards'}`;
      test(`${name}: batches end in between, and each can be resumed`, async () => {
        const values = Array.from({ length: 3500 }, (_, n) => n - 500);
        const filter: Filter = { op: 'in', path: ['v'], values };
        const order = [{ path: ['v'], descending }];
        const expected = descending ? ['n2', 'n1', 'n0'] : ['n0', 'n1', 'n2'];
        let after: Resume | undefined;
        const found: string[] = [];
        do {
          const plan = f.engine.plan(f.box, { ...ALL, filter, order, after });
          const [batch] = await take(plan.run(NOW, BUDGET), 1);
          const items = batch?.items ?? [];
          found.push(...items.map((item) => item.key.id));
          after = batch?.resume;
        } while (after !== undefined);
        assert.deepEqual(
          found.filter((id) => expected.includes(id)),
          expected,
        );
      });
    }
    describe('counts agree with what is found, also with dead items about', () => {
      const filters: readonly (Filter | undefined)[] = [
        undefined,
        { op: 'defined', path: ['v'] },
        { op: '=', path: ['v'], value: 1 },
        { op: '>=', path: ['v'], value: 2 },
        { op: 'in', path: ['v'], values: [1, 3, 't'] },
        { op: 'prefix', path: ['v'], value: 't' },
      ];
      beforeEach(async () => {
        f.box = { ...f.box, expiry: cosmosRules(-1) };
        await f.engine.alterContainer(f.box);
        for (const [id, v] of Object.entries({ x1: 1, x2: 2, x3: 't', x4: undefined })) {
          await f.put(id, ['x'], v === undefined ? { ttl: 5 } : { v, ttl: 5 });
        }
      });
      for (const filter of filters) {
        for (const partition of [undefined, ['x']]) {
          test(`${JSON.stringify({ filter, partition })}`, async () => {
            for (const at of [LATER(4_999), LATER(5_000)]) {
              const request = { ...ALL, filter, partition };
              const plan = f.engine.plan(f.box, request);
              const found = (await find(request, BUDGET, at)).length;
              const count = await plan.count(at);
              if (count && plan.exact) assert.equal(count.items, found);
              const by = await plan.countBy(['v'], at);
              const sum = by?.values.reduce((all, { items }) => all + items, 0);
              if (plan.exact) assert.equal(sum ?? found, found);
              for (const { value, items } of by?.values ?? []) assert(items > 0, String(value));
            }
          });
        }
      }
      test('T2: values are counted without the dead, those that only the dead have not at all', async () => {
        const rows = [null, true, 7, 7, -2, 'a', 'ab', 'ab', 'a'];
        for (const [index, w] of rows.entries()) await f.put(`w${index}`, ['x'], { w });
        for (const w of ['only dead', 7, 'ab']) await f.put(`dead ${w}`, ['x'], { w, ttl: 5 });
        const counts = async (at: typeof NOW, filter?: Filter) => {
          const plan = f.engine.plan(f.box, { ...ALL, filter });
          const found = await plan.countBy(['w'], at);
          return found?.values.map(({ value, items }) => [value, items]) ?? ABSENT;
        };
        const [alive, dead] = [LATER(4_999), LATER(5_000)];
        const others = (await find({}, BUDGET, dead)).length - rows.length;
        const expected = [
          [undefined, others],
          ...[
            [null, 1],
            [true, 1],
            [-2, 1],
            [7, 2],
            ['a', 2],
            ['ab', 2],
          ],
        ];
        const filter: Filter = { op: '>=', path: ['w'], value: 'ab' };
        for (const [at, wanted, narrowed] of [
          [dead, expected, [['ab', 2]]],
          [
            alive,
            undefined,
            [
              ['ab', 3],
              ['only dead', 1],
            ],
          ],
        ] as const) {
          const found = await counts(at);
          if (wanted && found !== ABSENT) assert.deepEqual(found, wanted);
          const some = await counts(at, filter);
          if (some !== ABSENT) assert.deepEqual(some, narrowed);
        }
      });
    });
  });
}

/** An engine may leave counting to others. */
const ABSENT = 'absent';
