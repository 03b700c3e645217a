// Counting from composite indexes, in both directions, against counting by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cosmosRules } from '../../time/expiry.js';
import { ALL, containerNamed, insert, LATER, NOW } from '../contract-fixture.suite.js';
import type { Container, Filter, Plan, ScanRequest } from '../engine.js';
import { openKvEngine } from './kv-engine.js';
import { MemoryStore } from './memory.js';

const ITEMS = 900;
const DEAD = LATER(5_000);
const up = (name: string) => ({ path: [name], descending: false });
const down = (name: string) => ({ path: [name], descending: true });
const A: Filter = { op: '=', path: ['a'], value: 1 };
const B: Filter = { op: '=', path: ['b'], value: 'b2' };
const both = (...all: Filter[]): Filter => ({ op: 'and', all });

interface Row {
  readonly a: number;
  readonly b?: string | number;
  readonly c: number;
  readonly ttl?: number;
}
const rows = Array.from({ length: ITEMS }, (_, n): Row => {
  const b = n % 7 === 0 ? {} : { b: n % 5 === 0 ? n % 3 : `b${n % 4}` };
  return { a: n % 3, ...b, c: n % 11, ...(n % 6 === 0 ? { ttl: 5 } : {}) };
});
const living = rows.filter(({ ttl }) => ttl === undefined);

async function engineWith(composites: Container['indexing']['composites']) {
  const engine = await openKvEngine(new MemoryStore());
  const plain = containerNamed('c');
  const rules = [{ path: [], below: true, include: false }];
  const indexing = { ...plain.indexing, rules, composites };
  const box: Container = { ...plain, indexing, expiry: cosmosRules(-1) };
  await engine.createContainer(box);
  const changes = rows.map((row, n) => insert(String(n), row));
  await engine.commit(box, [{ partition: ['p'], changes }], NOW);
  return (request: Partial<ScanRequest>): Plan => engine.plan(box, { ...ALL, ...request });
}

const composites = [
  [up('a'), up('b'), up('c')],
  [down('a'), up('b'), down('c')],
  [up('a'), down('b'), up('c')],
];
for (const composite of composites) {
  const shown = composite.map(({ path, descending }) => `${path}${descending ? ' desc' : ''}`);
  test(`${shown}: values behind equalities are counted`, async () => {
    const planOf = await engineWith([composite]);
    const byHand = new Map<unknown, number>();
    for (const { a, b } of living) if (a === 1) byHand.set(b, (byHand.get(b) ?? 0) + 1);
    const found = await planOf({ filter: A }).countBy(['b'], DEAD);
    assert.deepEqual(new Map(found?.values.map(({ value, items }) => [value, items])), byHand);
    const last = await planOf({ filter: both(B, A) }).countBy(['c'], DEAD);
    const cs = living.filter(({ a, b }) => a === 1 && b === 'b2').map(({ c }) => c);
    assert.deepEqual(new Set(last?.values.map(({ value }) => value)), new Set(cs));
    assert.equal(await planOf({ filter: B }).countBy(['c'], DEAD), undefined);
    assert.equal(await planOf({ filter: A }).countBy(['c'], DEAD), undefined);
  });

  test(`${shown}: equalities on the first paths are a range, with one more condition`, async () => {
    const planOf = await engineWith([composite]);
    const more: Filter = { op: '>', path: ['c'], value: 4 };
    const count = async (filter: Filter) => (await planOf({ filter }).count(DEAD))?.items;
    const matches = living.filter(({ a, b }) => a === 1 && b === 'b2');
    assert.equal(await count(both(A, B)), matches.length);
    const plan = planOf({ filter: both(A, B, more) });
    // Of a path that descends only the equality is taken.
    assert.equal(plan.exact, composite[2]?.descending === composite[0]?.descending);
    if (plan.exact) {
      assert.equal(await count(both(A, B, more)), matches.filter(({ c }) => c > 4).length);
    }
    assert.equal(planOf({ filter: B }).exact, false);
  });
}

test('what follows the equalities comes in order, without the items that lack it', async () => {
  const planOf = await engineWith([[up('a'), up('b')]]);
  for (const descending of [false, true]) {
    const plan = planOf({ filter: A, order: [{ path: ['b'], descending }] });
    assert(plan.exact && plan.ordered);
    const found: unknown[] = [];
    for await (const { items } of plan.run(DEAD, { rowsMax: 50, bytesMax: 1e6 })) {
      found.push(...items.map(({ doc }) => (doc.value as Row).b));
    }
    const values = living.flatMap(({ a, b }) => (a === 1 && b !== undefined ? [b] : []));
    const wanted = values.sort((x, y) =>
      typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === 'number' ? -1 : 1,
    );
    assert.deepEqual(found, descending ? wanted.reverse() : wanted);
  }
});
