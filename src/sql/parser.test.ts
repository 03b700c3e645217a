// What the parser accepts, as its printed form, and what it refuses, with code and place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SqlExpression } from './ast.js';
import { corpus } from './corpus.suite.js';
import {
  CHAIN_OPERANDS_MAX,
  IN_ITEMS_MAX,
  JOINS_MAX,
  TREE_HEIGHT_MAX,
  UDF_CALLS_MAX,
} from './limits.js';
import { parseSql } from './parser.js';
import { printSql } from './print.js';
import { SqlError } from './sql-error.js';

test('accepted queries', () => {
  for (const [text, printed] of corpus) assert.equal(printSql(parseSql(text)), printed, text);
});

test('refused queries, the place marked', () => {
  const rows: readonly string[] = [
    '',
    '  ',
    '«;»',
    '«SELECT»',
    '«FROM» c',
    'SELECT «FROM» c',
    'SELECT * «c»',
    'SELECT *«,» c.a FROM c',
    'SELECT c.a«,»',
    'SELECT c.a, «FROM» c',
    'SELECT c.a AS «FROM» c',
    'SELECT c«.»',
    'SELECT c«.» ',
    'SELECT c«.1» FROM c',
    'SELECT c.«"a"» FROM c',
    'SELECT c[«]»',
    'SELECT VALUE «FROM» c',
    'SELECT VALUE 1«,» 2',
    'SELECT COUNT(«*») FROM c',
    'SELECT {a «1»}',
    'SELECT {«1»: 1}',
    'SELECT {a: 1,«}»',
    'SELECT [1,«]»',
    'SELECT f(«,»)',
    'SELECT c.f«(»1)',
    'SELECT (1«,» 2)',
    'SELECT «)»',
    'SELECT 1 «2»',
    'SELECT 1;«;»',
    'SELECT a «IS» NULL FROM c',
    'SELECT * FROM «1»',
    'SELECT * FROM c.«[»0]',
    'SELECT * FROM c[«1.5»]',
    'SELECT * FROM c[«-»1]',
    'SELECT * FROM c[«@p»]',
    'SELECT * FROM c «INNER» JOIN d IN c.d',
    'SELECT * FROM c JOIN «WHERE»',
    'SELECT * FROM («c»)',
    'SELECT * FROM c«,» d',
    'SELECT * FROM c WHERE «ORDER» BY c.a',
    'SELECT * FROM c WHERE c.a «=»',
    'SELECT * FROM c WHERE c.a = «=» 1',
    'SELECT * FROM c WHERE c.a NOT «=» 1',
    'SELECT * FROM c WHERE c.a IN («)»',
    'SELECT * FROM c WHERE c.a IN («SELECT» 1)',
    'SELECT * FROM c WHERE c.a IN «c».b',
    'SELECT * FROM c WHERE c.a BETWEEN 1 «OR» 2',
    "SELECT * FROM c WHERE c.a LIKE 'x' ESCAPE «'ab'»",
    "SELECT * FROM c WHERE c.a LIKE 'x' ESCAPE «''»",
    "SELECT * FROM c WHERE c.a LIKE 'x' ESCAPE «x»",
    'SELECT c.a ? 1 «FROM» c',
    'SELECT EXISTS(«1»)',
    'SELECT ARRAY«[»1]',
    'SELECT «LEFT»',
    'SELECT udf«(»1)',
    'SELECT udf.f «FROM» c',
    'SELECT * FROM c GROUP «c».a',
    'SELECT * FROM c ORDER BY «OFFSET» 1 LIMIT 1',
    'SELECT * FROM c ORDER BY RANK «c».a',
    'SELECT * FROM c ORDER BY c.a «GROUP» BY c.b',
    'SELECT * FROM c «HAVING» 1',
    'SELECT TOP «-»1 * FROM c',
    'SELECT TOP «1.5» * FROM c',
    "SELECT TOP «'1'» * FROM c",
    'SELECT TOP «*» FROM c',
    'SELECT TOP 1 * FROM c «OFFSET» 0 LIMIT 1',
    'SELECT * FROM c OFFSET «-»1 LIMIT 1',
    'SELECT * FROM c OFFSET 1 LIMIT «-»1',
    'SELECT * FROM c OFFSET «1»',
    'SELECT * FROM c OFFSET 1 LIMIT «0.5»',
    'SELECT * FROM c «LIMIT» 1',
    'SELECT * FROM c WHERE (c.a = 1«;»',
    '«UPDATE» c SET c.a = 1',
    'SELECT 1 «SELECT» 2',
  ];
  for (const row of rows) {
    const text = row.replace(/[«»]/g, '');
    // Without a mark the error is at the end, where there is no last token to blame.
    const start = row.includes('«') ? row.indexOf('«') : text.length;
    const end = row.includes('»') ? row.indexOf('»') - 1 : text.length;
    assert.throws(
      () => parseSql(text),
      { name: 'SqlError', code: 'SC1001', span: { start, end } },
      row,
    );
  }
});

test('the wording of the service', () => {
  const wording = (text: string) => {
    try {
      parseSql(text);
    } catch (error) {
      if (error instanceof SqlError) return `${error.code} ${error.message}`;
      throw error;
    }
    return '';
  };
  assert.equal(wording('SELECT FROM c'), "SC1001 Syntax error, incorrect syntax near 'FROM'.");
  assert.equal(wording('SELECT c.a from'), "SC1001 Syntax error, incorrect syntax near 'from'.");
  assert.equal(wording(''), "SC1001 Syntax error, incorrect syntax near ''.");
  assert.equal(wording('SELECT #'), "SC1010 Syntax error, invalid token '#'.");
  assert.equal(
    wording('SELECT TOP 1 * FROM c OFFSET 0 LIMIT 1'),
    'SC1001 TOP and OFFSET cannot be used in the same query.',
  );
});

test('places in the tree', () => {
  const text =
    'SELECT (c.a + 1) * 2 AS x, (SELECT 1) FROM t IN c.b["d"] WHERE (a) AND (b) AND (c) ;';
  const query = parseSql(text);
  const shown = (node: { readonly span: { readonly start: number; readonly end: number } }) =>
    text.slice(node.span.start, node.span.end);
  assert.equal(shown(query), text.slice(0, -2));
  assert.equal(shown(query.select), '(c.a + 1) * 2 AS x, (SELECT 1)');
  assert.ok(query.select.kind === 'list');
  const [product, subquery] = query.select.items.map(({ value }) => value);
  assert.ok(product?.kind === 'binary' && product.left.kind === 'binary');
  assert.equal(shown(product), '(c.a + 1) * 2');
  assert.equal(shown(product.left), 'c.a + 1');
  assert.equal(shown(product.left.left), 'c.a');
  assert.ok(subquery?.kind === 'subquery');
  assert.equal(shown(subquery), '(SELECT 1)');
  assert.equal(shown(subquery.query), 'SELECT 1');
  assert.deepEqual(query.from.map(shown), ['t IN c.b["d"]']);
  assert.deepEqual(
    query.from.map(({ collection }) => shown(collection)),
    ['c.b["d"]'],
  );
  assert.ok(query.where?.kind === 'binary');
  assert.equal(shown(query.where), '(a) AND (b) AND (c)');
  assert.equal(shown(query.where.left), '(a) AND (b)');
});

test('limits on what a query may hold', () => {
  const joins = (count: number) => `SELECT 1 FROM c${' JOIN t IN c.t'.repeat(count)}`;
  const calls = (count: number) => `SELECT 1${', udf.f(1)'.repeat(count)}`;
  const items = (count: number) => `SELECT a IN (0${', 1'.repeat(count - 1)})`;
  const chain = (count: number) => `SELECT a OR b${' AND c.d = 1'.repeat(count - 1)}`;
  for (const [make, limit] of [
    [joins, JOINS_MAX],
    [calls, UDF_CALLS_MAX],
    [items, IN_ITEMS_MAX],
    [chain, CHAIN_OPERANDS_MAX],
  ] as const) {
    parseSql(make(limit));
    assert.throws(() => parseSql(make(limit + 1)), { code: 'SC1001', message: /more than/ });
  }
});

test('the limit on the height of a tree', () => {
  // The query and the innermost operand are a level each.
  const rows: readonly ((levels: number) => string)[] = [
    (levels) => `SELECT a${' + 1'.repeat(levels)}`,
    (levels) => `SELECT ${'NOT '.repeat(levels)}a`,
    (levels) => `SELECT a${'.b'.repeat(levels)}`,
    (levels) => `SELECT ${'['.repeat(levels)}1${']'.repeat(levels)}`,
    (levels) => `SELECT ${'a ? b : '.repeat(levels)}c`,
  ];
  for (const make of rows) {
    parseSql(make(TREE_HEIGHT_MAX - 2));
    const message = /nested deeper than 256 levels/;
    assert.throws(() => parseSql(make(TREE_HEIGHT_MAX - 1)), { code: 'SC1001', message });
  }
});

test('a chain of conditions becomes a shallow tree, in the order written', () => {
  const names = Array.from({ length: CHAIN_OPERANDS_MAX }, (_, index) => `n${index}`);
  const { where } = parseSql(`SELECT * FROM c WHERE ${names.join(' OR ')}`);
  const leaves: string[] = [];
  let tallest = 0;
  const walk = (node: SqlExpression | undefined, level: number): void => {
    tallest = Math.max(tallest, level);
    if (node?.kind === 'identifier') leaves.push(node.name);
    if (node?.kind !== 'binary') return;
    walk(node.left, level + 1);
    walk(node.right, level + 1);
  };
  walk(where, 1);
  assert.deepEqual(leaves, names);
  assert.equal(tallest, 12);
});
