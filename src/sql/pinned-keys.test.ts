// What filters tell about partition keys.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PartitionKey } from '../value/partition-key.js';
import type { Path } from '../value/path.js';
import { parseSql } from './parser.js';
import { pinnedKeys } from './pinned-keys.js';

const ONE = [['pk']];
const TWO = [['tenant'], ['user', 'id']];
const PARAMETERS = new Map<string, unknown>([
  ['@p', 'x'],
  ['@list', [1]],
]);
const EVERY: readonly PartitionKey[] = [[]];
const MANY = Array.from({ length: 1001 }, (_, index) => index);

const ROWS: readonly (readonly [readonly Path[], string, readonly PartitionKey[]])[] = [
  [ONE, 'c.pk = "a"', [['a']]],
  [ONE, '"a" = c["pk"]', [['a']]],
  [ONE, 'c.pk = @p', [['x']]],
  [ONE, 'c.pk = -1.5', [[-1.5]]],
  [ONE, 'c.pk = null', [[null]]],
  [ONE, 'c.pk = true AND c.x > 3', [[true]]],
  [ONE, 'c.pk IN ("a", 2, @p)', [['a'], [2], ['x']]],
  [ONE, 'c.pk = "a" OR c.pk = "b"', [['a'], ['b']]],
  [ONE, '(c.pk = "a" OR c.pk = "b") AND c.pk IN ("b", "c")', [['b']]],
  [ONE, 'c.pk = "a" AND c.pk = "b"', []],
  [ONE, 'false', []],
  [ONE, 'true', EVERY],
  [ONE, 'c.pk = "a" OR c.x = 1', EVERY],
  [ONE, 'c.pk > "a"', EVERY],
  [ONE, 'c.pk != "a"', EVERY],
  [ONE, 'NOT (c.pk = "a")', EVERY],
  [ONE, 'c.pk NOT IN ("a")', EVERY],
  [ONE, 'c.pk = @list', EVERY],
  [ONE, 'c.pk IN ("a", c.x)', EVERY],
  [ONE, 'c.pk.deep = 1', EVERY],
  [ONE, 'c.x.pk = 1', EVERY],
  [ONE, 'EXISTS(SELECT VALUE 1 FROM x IN c.list WHERE c.pk = 1)', EVERY],
  [ONE, `c.pk IN (${MANY})`, EVERY],
  [ONE, `c.pk IN (${MANY}) AND c.pk = 1`, [[1]]],
  [TWO, 'c.tenant = "t" AND c.user.id = 1', [['t', 1]]],
  [
    TWO,
    'c.user.id IN (1, 2) AND c.tenant = "t"',
    [
      ['t', 1],
      ['t', 2],
    ],
  ],
  [TWO, 'c.tenant = "t"', [['t']]],
  [TWO, 'c.tenant IN ("t", "u") AND c.x', [['t'], ['u']]],
  [TWO, 'c.user.id = 1', EVERY],
];

for (const [paths, where, keys] of ROWS) {
  test(`${paths.length}: ${where.slice(0, 80)}`, () => {
    assert.deepEqual(keysOf(`SELECT * FROM c WHERE ${where}`, paths), keys);
  });
}

test('only the container itself has a partition key', () => {
  assert.deepEqual(keysOf('SELECT * FROM c', ONE), EVERY);
  assert.deepEqual(keysOf('SELECT * FROM c AS d WHERE d.pk = 1', ONE), [[1]]);
  assert.deepEqual(keysOf('SELECT d FROM d JOIN x IN d.list WHERE d.pk = 1', ONE), [[1]]);
  assert.deepEqual(keysOf('SELECT d FROM d JOIN x IN d.list WHERE x.pk = 1', ONE), EVERY);
  assert.deepEqual(keysOf('SELECT * FROM c IN c.list WHERE c.pk = 1', ONE), EVERY);
  assert.deepEqual(keysOf('SELECT * FROM c.list AS c WHERE c.pk = 1', ONE), EVERY);
  assert.deepEqual(keysOf('SELECT 1', ONE), []);
});

function keysOf(text: string, paths: readonly Path[]): readonly PartitionKey[] {
  return pinnedKeys(parseSql(text), paths, PARAMETERS);
}
