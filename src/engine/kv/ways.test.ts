// Which ways there are for a request, and which of them is taken.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerNamed } from '../contract-fixture.suite.js';
import type { Filter, ScanRequest } from '../engine.js';
import type { IndexPath } from '../indexing.js';
import type { Place } from './entries.js';
import { Head } from './head.js';
import { MemoryStore } from './memory.js';
import { pathEntries } from './path-index.js';
import { bestWay, type Way, waysFor } from './ways.js';

const indexing = {
  version: 1,
  rules: [
    { path: [], below: true, include: true },
    { path: ['not'], below: true, include: false },
  ],
  composites: [],
  words: [],
  points: [],
  lazy: false,
};
const place: Place = { head: new Head(1, [], []), container: { ...containerNamed('c'), indexing } };
const request = (filter?: Filter, order: ScanRequest['order'] = []): ScanRequest => ({
  partition: undefined,
  span: undefined,
  filter,
  order,
  limit: undefined,
  after: undefined,
});
const compare = (path: IndexPath, op: '=' | '<' | '<=' | '>' | '>=', value: string | number) =>
  ({ op, path, value }) satisfies Filter;
const A = ['a'];

/** Whether a document with this value of `a` lies on the way. */
function leadsTo(way: Way | undefined, a: unknown): boolean {
  const keys = pathEntries(1, indexing, { a }, 1);
  return keys.some((key) =>
    way?.ranges.some(([from, to]) => Buffer.compare(from, key) <= 0 && Buffer.compare(key, to) < 0),
  );
}

const long = (end: string) => 'x'.repeat(1480) + end;
const rows: readonly [string, Filter, boolean, readonly unknown[], readonly unknown[]][] = [
  ['=', compare(A, '=', 1), true, [1], [2, '1', null]],
  ['<', compare(A, '<', 5), true, [-9, 4.9], [5, 6, null, 'a', true]],
  ['<=', compare(A, '<=', 5), true, [5], [5.1]],
  ['>', compare(A, '>', 'b'), true, ['ba', 'c'], ['b', 'a', 9, []]],
  ['>=', compare(A, '>=', 'b'), true, ['b'], ['a']],
  [
    '= with a long text',
    compare(A, '=', long('yz'.repeat(99))),
    true,
    [long('yz'.repeat(99))],
    [long('y')],
  ],
  [
    '> with a long text',
    compare(A, '>', long('b')),
    false,
    ['y', long('c'), long('c'.repeat(99))],
    ['w', 9],
  ],
  ['< with a long text', compare(A, '<', long('b')), false, ['a', long('a'.repeat(99))], []],
  ['prefix', { op: 'prefix', path: A, value: 'ab' }, true, ['ab', 'abc'], ['a', 'b']],
  ['prefix of none', { op: 'prefix', path: A, value: '' }, true, ['', 'a'], [1, null]],
  [
    'a long prefix',
    { op: 'prefix', path: A, value: long('') },
    false,
    [long('a'), long('a'.repeat(99))],
    ['x'],
  ],
  ['defined', { op: 'defined', path: A }, true, [null, 1, [], {}], []],
  ['in', { op: 'in', path: A, values: [1, 'x', 1] }, true, [1, 'x'], [2]],
  [
    'between',
    { op: 'and', all: [compare(A, '>=', 2), compare(A, '<=', 4)] },
    true,
    [2, 3, 4],
    [1, 5],
  ],
  ['never', { op: 'and', all: [compare(A, '>', 4), compare(A, '<', 2)] }, true, [], [1, 3, 5]],
];
for (const [name, filter, exact, inside, outside] of rows) {
  test(`a way by ${name}`, () => {
    const [, way, ...more] = waysFor(place, request(filter), true);
    assert.equal(more.length, 0);
    assert.equal(way?.exact, exact);
    for (const value of inside) assert(leadsTo(way, value), `finds ${String(value).slice(0, 20)}`);
    for (const value of outside) assert(!leadsTo(way, value), `passes by ${String(value)}`);
  });
}

test('several conditions on elements of an array may be met by several elements', () => {
  const element = ['a', null];
  const all = [compare(element, '=', 1), compare(element, '=', 2)];
  const [, ...ways] = waysFor(place, request({ op: 'and', all }), true);
  assert.equal(ways.length, 2);
  for (const way of ways) {
    assert(leadsTo(way, [1, 2]));
    assert.equal(way.exact, false);
  }
});

test('without an index there is the whole only', () => {
  const asked = request(compare(A, '=', 1));
  assert.equal(waysFor(place, asked, false).length, 1);
  assert.equal(waysFor(place, request(compare(['not'], '=', 1)), true).length, 1);
  assert.equal(waysFor(place, request(compare(['a', null], '<', 1)), true).length, 1);
});

test('the way with the fewest keys is taken', async () => {
  const store = new MemoryStore();
  const documents = Array.from({ length: 30 }, (_, at) => ({ a: at, b: at % 2 }));
  const entries = documents.flatMap((document, at) => pathEntries(1, indexing, document, at + 1));
  await store.write(entries.map((key) => [key, Buffer.of()] as const));
  const all = [compare(['b'], '=', 1), compare(A, '=', 3)];
  const asked = request({ op: 'and', all });
  const [whole, ...ways] = waysFor(place, asked, true);
  assert(whole);
  assert.equal(bestWay(store, ways, asked).explain, '/a =');
});

test('an order is a way of its own, in both directions', () => {
  for (const descending of [false, true]) {
    const [whole, sorted] = waysFor(place, request(undefined, [{ path: A, descending }]), true);
    assert.equal(whole?.ordered, false);
    assert.deepEqual([sorted?.ordered, sorted?.descending], [true, descending]);
  }
});
