// Printing is the inverse of parsing: on a corpus, and on random trees of the whole grammar.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom, seedFromEnvironment } from '../value/random.suite.js';
import { corpus, withoutSpans } from './corpus.suite.js';
import { TREE_HEIGHT_MAX } from './limits.js';
import { parseSql } from './parser.js';
import { printExpression, printSql } from './print.js';
import { randomQuery } from './random-query.suite.js';

const TREES = 5_000;

test('a printed query reads back as the same tree', () => {
  for (const [text] of corpus) {
    const query = parseSql(text);
    const again = parseSql(printSql(query));
    assert.deepEqual(withoutSpans(again), withoutSpans(query), text);
    assert.equal(printSql(again), printSql(query));
  }
});

test('random trees survive printing and parsing', (context) => {
  const seed = seedFromEnvironment();
  context.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let tree = 0; tree < TREES; tree++) {
    const query = randomQuery(random);
    const text = printSql(query);
    assert.deepStrictEqual(
      withoutSpans(parseSql(text)),
      withoutSpans(query),
      `SEED=${seed} ${text}`,
    );
  }
});

test('whatever tree is accepted can be printed and read again, also at the limit of height', () => {
  const tall = TREE_HEIGHT_MAX - 2;
  const texts = [
    `SELECT 1${' + 1'.repeat(tall)}`,
    `SELECT ${'a + ('.repeat(tall)}a${')'.repeat(tall)}`,
    `SELECT ${'NOT '.repeat(tall)}a`,
    `SELECT ${'- '.repeat(tall)}a`,
    `SELECT a${'.b'.repeat(tall)}`,
    `SELECT ${'a['.repeat(tall)}0${']'.repeat(tall)}`,
    `SELECT ${'a ? b : '.repeat(tall)}c`,
    `SELECT ${'a IN ('.repeat(tall)}1${')'.repeat(tall)}`,
    `SELECT ${'a BETWEEN b AND ('.repeat(tall)}1${')'.repeat(tall)}`,
    `SELECT ${'[{a: '.repeat(tall / 2)}1${'}]'.repeat(tall / 2)}`,
    `SELECT ${'EXISTS(SELECT '.repeat(tall / 2)}1${')'.repeat(tall / 2)}`,
    `SELECT * FROM ${'(SELECT * FROM '.repeat(tall)}c${')'.repeat(tall)}`,
  ];
  for (const text of texts) {
    const query = parseSql(text);
    assert.deepEqual(withoutSpans(parseSql(printSql(query))), withoutSpans(query));
  }
});

test('names are written as they are, so that a plan can put its placeholders into a tree', () => {
  const span = { start: 0, end: 0 };
  const name = '({documentdb-formattableorderbyquery-filter})';
  const query = parseSql("SELECT * FROM c WHERE c.k = 'v'");
  const left = query.where;
  assert.ok(left !== undefined);
  const right = { kind: 'identifier', span, name } as const;
  const where = { kind: 'binary', span, operator: 'AND', left, right } as const;
  assert.equal(printSql({ ...query, where }), `SELECT * FROM c WHERE ((c.k = "v") AND ${name})`);
});

test('numbers in their shortest form', () => {
  const span = { start: 0, end: 0 };
  const rows: readonly (readonly [number, string])[] = [
    [0, '0'],
    [-0, '-0'],
    [0.5, '0.5'],
    [1e21, '1e+21'],
    [2 ** 53, '9007199254740992'],
    [-1.5e-7, '-1.5e-7'],
  ];
  for (const [value, text] of rows) {
    assert.equal(printExpression({ kind: 'number', span, value }), text);
  }
});
