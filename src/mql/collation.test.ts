// Collations in filters, sorts and lists.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileCollation } from './collation.js';
import { compileFilter } from './filter/filter.js';
import { bytesOf, documentFrom, PLAIN_LANGUAGE, type Plain } from './language.suite.js';
import { compileSort } from './sort.js';

const languageWith = (collation: Plain) => ({
  ...PLAIN_LANGUAGE,
  collation: compileCollation(documentFrom(collation)),
});

const rows: readonly (readonly [collation: Plain, filter: Plain, document: Plain, boolean])[] = [
  [{ locale: 'en', strength: 2 }, { a: 'ABC' }, { a: 'abc' }, true],
  [{ locale: 'en', strength: 2 }, { a: 'é' }, { a: 'e' }, false],
  [{ locale: 'en', strength: 1 }, { a: 'É' }, { a: 'e' }, true],
  [{ locale: 'en', strength: 3 }, { a: 'ABC' }, { a: 'abc' }, false],
  [{ locale: 'simple' }, { a: 'ABC' }, { a: 'abc' }, false],
  [{ locale: 'en', strength: 2 }, { a: { $in: ['X', 'Y', 'Z', 'V', 'W'] } }, { a: 'z' }, true],
  [{ locale: 'en', strength: 2 }, { a: { $ne: 'X' } }, { a: 'x' }, false],
  [{ locale: 'en', numericOrdering: true }, { a: { $lt: 'a10' } }, { a: 'a9' }, true],
  [{ locale: 'en' }, { a: { $lt: 'a10' } }, { a: 'a9' }, false],
  [{ locale: 'en', strength: 2 }, { $expr: { $eq: ['$a', 'X'] } }, { a: 'x' }, true],
  [{ locale: 'en', strength: 2 }, { a: { b: 'X' } }, { a: { b: 'x' } }, true],
  [{ locale: 'de@collation=phonebook', strength: 1 }, { a: 'ä' }, { a: 'ae' }, true],
];
for (const [collation, filter, document, expected] of rows) {
  test(`${JSON.stringify(collation)}: ${JSON.stringify(filter)} on ${JSON.stringify(document)}`, () => {
    const { matches } = compileFilter(bytesOf(filter), languageWith(collation));
    assert.equal(matches(bytesOf(document)), expected);
  });
}

test('sorts go by the collation', () => {
  const sort = compileSort(documentFrom({ a: 1 }), languageWith({ locale: 'sv' }));
  const texts = ['ö', 'a', 'Z', 'z', 'B'].map((a) => sort.keys(bytesOf({ a })));
  assert.deepEqual(texts.sort(sort.compare).flat(), ['a', 'B', 'z', 'Z', 'ö']);
});

const refused: readonly (readonly [collation: Plain, message: RegExp])[] = [
  [{}, /"locale"/],
  [{ locale: 'nonsense locale' }, /'locale' is invalid/],
  [{ locale: 'en', strength: 5 }, /strength 5 is not supported/],
  [{ locale: 'en', strength: 9 }, /from 1 to 5/],
  [{ locale: 'fr', backwards: true }, /backwards: true is not supported/],
  [{ locale: 'en', alternate: 'x' }, /is not a valid value/],
  [{ locale: 'en', x: 1 }, /unknown field/],
];
for (const [collation, message] of refused) {
  test(`the collation ${JSON.stringify(collation)} is refused`, () => {
    assert.throws(() => compileCollation(documentFrom(collation)), { message });
  });
}
