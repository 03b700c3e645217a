// Which documents a condition is spared, and that none of them would have met it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rawFilter } from '../query/raw-filter.js';
import { lowerSql } from './lower.js';
import { parseSql } from './parser.js';

const filterOf = (condition: string) => {
  const { where } = lowerSql(parseSql(`SELECT * FROM c WHERE ${condition}`), new Map());
  return where && rawFilter(where);
};

/** The condition, a text it may be met by, and one it cannot be met by. */
const told: readonly (readonly [string, string, string])[] = [
  ["c.a = 'fox'", '{"a":"fox"}', '{"a":"foxes"}'],
  ["'fox' = c.a", '{"b":"fox"}', '{"a":"a fox"}'],
  ["c.a = 'fox'", '{"a":"\\u0066ox"}', '{"a":"f\\"ox"}'],
  ["c.a = 'é'", '{"a":"é"}', '{"a":"e"}'],
  ["c.a IN ('x', 'y')", '{"a":"y"}', '{"a":"z"}'],
  ["c.a = 'x' OR c.b = 'y'", '{"b":"y"}', '{"b":"z"}'],
  ["c.a = 'x' AND c.n > 1", '{"a":"x"}', '{"n":2}'],
  ["CONTAINS(c.a, 'ox')", '{"a":"foxes"}', '{"a":"o x"}'],
  ["STARTSWITH(c.a, 'fo')", '{"a":"fox"}', '{"a":"a fox"}'],
  ["ENDSWITH(c.a, 'ox')", '{"a":"fox"}', '{"a":"foxes"}'],
  ["ARRAY_CONTAINS(c.tags, 'red')", '{"tags":["red"]}', '{"tags":["reddish"]}'],
];
for (const [condition, may, cannot] of told) {
  test(condition, () => {
    const filter = filterOf(condition);
    assert(filter);
    assert.equal(filter(Buffer.from(may)), true);
    assert.equal(filter(Buffer.from(cannot)), false);
  });
}

const untold = [
  "c.a != 'x'",
  "NOT (c.a = 'x')",
  'c.n = 1',
  "c.a = ''",
  "c.a = 'a/b'",
  `c.a = 'say "x"'`,
  "c.a = '\u{1F41D}'",
  "c.a > 'x'",
  "c.a = 'x' OR c.n = 1",
  "CONTAINS(c.a, 'x', true)",
  "CONCAT(c.a, 'y') = 'xy'",
  "CONTAINS(CONCAT(c.a, 'y'), 'xy')",
];
for (const condition of untold) {
  test(`nothing is told of ${condition}`, () => assert.equal(filterOf(condition), undefined));
}
