// Tokens, containment of phrases, and scores against sums worked out by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenize } from '../../value/tokenizer.js';
import { bm25, fullTextFunctions, reciprocalRankFusion, wordCount } from './full-text.js';
import { callByName, testRows } from './rows.suite.js';

const TEXT = 'The quick brown foxes were jumping over a lazy dog; the DOG’s collar is red.';
const POOL = 'swim swimming pool water';

test('texts become stems without stop words', () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    [TEXT, ['quick', 'brown', 'fox', 'jump', 'over', 'lazi', 'dog', 'dog', 'collar', 'red']],
    ['', []],
    [' -- the AND of!', []],
    ['Don’t re-read e-mail, 3.14', ['don', 're', 'read', 'e', 'mail', '3', '14']],
    ['Čeština i 漢字 Ελλάδα', ['čeština', '漢字', 'ελλάδα']],
    ['cafe\u0301 café', ['café', 'café']],
  ];
  for (const [text, expected] of rows) assert.deepEqual(tokenize(text), expected, text);
  assert.equal(wordCount(TEXT), 10);
});

test('scores are those of BM25', () => {
  // Three documents of 4, 2 and 6 words, 4 on average; "swim" twice in the one of 4, and in no
  // other: ln(1 + 2.5 / 1.5) * 2 * 2.2 / (2 + 1.2).
  const swim = Math.log(1 + 2.5 / 1.5) * ((2 * 2.2) / (2 + 1.2));
  // "pool" once in it and in one more: ln(1 + 1.5 / 2.5) * 2.2 / (1 + 1.2).
  const pool = Math.log(1 + 1.5 / 2.5) * (2.2 / (1 + 1.2));
  const text = POOL;
  const near = (actual: unknown, expected: number): void => {
    assert.ok(typeof actual === 'number' && Math.abs(actual - expected) < 1e-12, `${actual}`);
  };
  near(callByName(fullTextFunctions, '_FULLTEXTSCORE', text, ['swim'], 3, 12, [1]), swim);
  near(
    callByName(fullTextFunctions, '_FULLTEXTSCORE', text, ['swims', 'pool'], 3, 12, [1, 2]),
    swim + pool,
  );
  near(callByName(fullTextFunctions, '_FULLTEXTSCORE', text, ['pool water'], 3, 12, [2]), pool);
  // Half as long as the average: the damping is 1.2 * (0.25 + 0.75 / 2) = 0.75.
  near(
    callByName(fullTextFunctions, '_FULLTEXTSCORE', 'pool water', ['pool'], 3, 12, [2]),
    Math.log(1.6) * (2.2 / 1.75),
  );
  near(bm25([{ frequency: 1, documentsWithTerm: 1 }], 5, 1, 0), Math.log(1 + 0.5 / 1.5));
  // Counts that are too old do not make a score negative.
  assert.ok(bm25([{ frequency: 1, documentsWithTerm: 9 }], 4, 3, 12) > 0);
});

test('ranks are fused by their reciprocals', () => {
  assert.equal(reciprocalRankFusion([1, 2]), 1 / 61 + 1 / 62);
  assert.equal(reciprocalRankFusion([1, 2], [2, 0.5]), 2 / 61 + 0.5 / 62);
  assert.equal(reciprocalRankFusion([1, undefined, 3], [1, 9], 10), 1 / 11 + 1 / 13);
  assert.equal(reciprocalRankFusion([]), 0);
});

testRows(fullTextFunctions, [
  ['FULLTEXTCONTAINS', [TEXT, 'fox'], true],
  ['FULLTEXTCONTAINS', [TEXT, 'JUMPS'], true],
  ['FULLTEXTCONTAINS', [TEXT, 'quick brown fox'], true],
  ['FULLTEXTCONTAINS', [TEXT, 'jumped over the lazy dogs'], true],
  ['FULLTEXTCONTAINS', [TEXT, 'brown quick'], false],
  ['FULLTEXTCONTAINS', [TEXT, 'quick fox'], false],
  ['FULLTEXTCONTAINS', [TEXT, 'red herring'], false],
  ['FULLTEXTCONTAINS', [TEXT, 'ox'], false],
  ['FULLTEXTCONTAINS', [TEXT, 'the'], false],
  ['FULLTEXTCONTAINS', [TEXT, ''], false],
  ['FULLTEXTCONTAINS', ['', 'fox'], false],
  ['FULLTEXTCONTAINS', [7, 'fox'], undefined],
  ['FULLTEXTCONTAINS', [TEXT, null], undefined],
  ['FULLTEXTCONTAINS', [undefined, 'fox'], undefined],
  ['FULLTEXTCONTAINSALL', [TEXT, 'fox', 'lazy dog'], true],
  ['FULLTEXTCONTAINSALL', [TEXT, 'fox', 'cat'], false],
  ['FULLTEXTCONTAINSALL', [TEXT, 'fox', 1], undefined],
  ['FULLTEXTCONTAINSALL', [undefined, 'fox'], undefined],
  ['FULLTEXTCONTAINSANY', [TEXT, 'cat', 'red'], true],
  ['FULLTEXTCONTAINSANY', [TEXT, 'cat', 'mouse'], false],
  ['FULLTEXTCONTAINSANY', [TEXT, {}], undefined],
  ['_FULLTEXTWORDCOUNT', [TEXT], 10],
  ['_FULLTEXTWORDCOUNT', [''], 0],
  ['_FULLTEXTWORDCOUNT', [null], undefined],
  ['_FULLTEXTSCORE', [POOL, ['cat'], 3, 12, [0]], 0],
  ['_FULLTEXTSCORE', [POOL, [], 3, 12, []], 0],
  ['_FULLTEXTSCORE', ['', ['cat'], 0, 0, [0]], 0],
  ['_FULLTEXTSCORE', [POOL, ['swim'], 3, 12, [1, 2]], undefined],
  ['_FULLTEXTSCORE', [POOL, [1], 3, 12, [1]], undefined],
  ['_FULLTEXTSCORE', [POOL, ['swim'], 3, 12, ['1']], undefined],
  ['_FULLTEXTSCORE', [POOL, ['swim'], -3, 12, [1]], undefined],
  ['_FULLTEXTSCORE', [undefined, ['swim'], 3, 12, [1]], undefined],
]);
