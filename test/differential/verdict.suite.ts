// Whether the rows that came are the rows of the reference: in order where ORDER BY defines one,
// else as a bag, out of which OFFSET, LIMIT and TOP may choose.
import assert from 'node:assert/strict';
import type { SelectQuery } from '../../src/sql/ast.js';
import type { Answer, Row } from './reference.suite.js';
import { rankOf, textOf } from './values.suite.js';

export function checkRows(query: SelectQuery, found: readonly unknown[], answer: Answer): void {
  const canonical = collects(query) ? textUnordered : textOf;
  const texts = found.map(canonical);
  const wanted = answer.rows.map(({ value }) => canonical(value));
  assert.equal(texts.length, wanted.length, 'the number of rows');
  if (answer.ordered && !query.distinct) {
    assert.deepEqual(texts, wanted);
    return;
  }
  const isCut = answer.rows.length !== answer.all.length;
  if (!isCut) assert.deepEqual([...texts].sort(), [...wanted].sort());
  else
    assertChosen(
      texts,
      answer.all.map(({ value }) => canonical(value)),
    );
  if (answer.ordered) {
    // Different rows with one key may come in any order, but the keys must be those wanted.
    const keys = new Map(answer.all.map((row) => [canonical(row.value), placeOf(row)]));
    assert.deepEqual(
      texts.map((text) => keys.get(text)),
      answer.rows.map(placeOf),
    );
  }
}

/** Arrays are in one place, and so are objects. */
function placeOf({ keys }: Row): string {
  return textOf(keys.map((key) => (rankOf(key) > 5 ? rankOf(key) : [key])));
}

/** Each of the rows is one of all, and none is there more often. */
export function assertChosen(texts: readonly string[], all: readonly string[]): void {
  const left = new Map<string, number>();
  for (const text of all) left.set(text, (left.get(text) ?? 0) + 1);
  for (const text of texts) {
    const count = left.get(text) ?? 0;
    assert(count > 0, `a row too many: ${text}`);
    left.set(text, count - 1);
  }
}

/** MAKELIST and MAKESET collect rows in the order in which they come. */
function collects(query: SelectQuery): boolean {
  return /"name":"MAKE(LIST|SET)"/.test(JSON.stringify(query));
}

function textUnordered(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textUnordered).sort().join(',')}]`;
  if (typeof value !== 'object' || value === null) return textOf(value);
  const members = Object.entries(value).map(([name, member]) => `${name}:${textUnordered(member)}`);
  return `{${members.sort().join(',')}}`;
}
