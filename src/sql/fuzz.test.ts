// Hostile texts: whatever comes in, there is a tree or a SqlError with a place inside the text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzed, seededRandom, seedFromEnvironment } from '../value/random.suite.js';
import { TEXT_CHARACTERS_MAX } from './limits.js';
import { randomMutant, randomSoup } from './mutants.suite.js';
import { parseSql } from './parser.js';
import { printSql } from './print.js';
import { SqlError } from './sql-error.js';

const MUTATIONS = fuzzed(30_000);
const SOUPS = fuzzed(15_000);
/** Far above what is needed, to hold on a busy machine; yet anything quadratic fails it. */
const BOMB_MS_MAX = 30_000;

const REREAD_CHARACTERS_MAX = 10_000;

/** Whether the text was accepted. */
function check(text: string, label: string): boolean {
  try {
    const printed = printSql(parseSql(text));
    // The printed form of a large text may be too large.
    if (text.length < REREAD_CHARACTERS_MAX) assert.equal(printSql(parseSql(printed)), printed);
    return true;
  } catch (error) {
    if (!(error instanceof SqlError)) throw new Error(label, { cause: error });
    const { start, end } = error.span;
    assert.ok(start >= 0 && start <= end && end <= text.length, `${label}: ${start}-${end}`);
    return false;
  }
}

test('mutations of good queries', (context) => {
  const seed = seedFromEnvironment();
  context.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  let accepted = 0;
  for (let round = 0; round < MUTATIONS; round++) {
    const text = randomMutant(random);
    if (check(text, `SEED=${seed} ${JSON.stringify(text)}`)) accepted++;
  }
  assert.ok(accepted > 0 && accepted < MUTATIONS);
});

test('token soup', (context) => {
  const seed = seedFromEnvironment();
  context.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < SOUPS; round++) {
    const text = randomSoup(random);
    check(text, `SEED=${seed} ${JSON.stringify(text)}`);
  }
});

test('bombs end in an error, and soon', () => {
  for (const [name, text] of bombs()) {
    const start = performance.now();
    assert.equal(check(text, name), false, name);
    const ms = performance.now() - start;
    assert.ok(ms < BOMB_MS_MAX, `${name} took ${ms} ms`);
  }
});

test('large but flat queries are accepted', () => {
  const rows = [
    `SELECT ${'('.repeat(250)}1${')'.repeat(250)}`,
    `SELECT [${'1,'.repeat(90_000)}1]`,
    `SELECT f(${'c.a,'.repeat(40_000)}1)`,
    `SELECT VALUE '${'\\n'.repeat(250_000)}'`,
    `SELECT c.a${', c.a'.repeat(40_000)} FROM c`,
    `SELECT 1 FROM c${'.a'.repeat(90_000)}`,
    `SELECT a${' OR a = 1'.repeat(1_999)}`,
    `SELECT ${'-- x\n'.repeat(90_000)}1`,
  ];
  for (const text of rows) assert.equal(check(text, text.slice(0, 40)), true, text.slice(0, 40));
});

function bombs(): readonly (readonly [name: string, text: string])[] {
  const many = 100_000;
  const rows: (readonly [string, string])[] = [];
  // biome-ignore format: a table
  const openers = [
    '(', '[', '{a:', 'f(', 'NOT ', '- ', '+ ', '~ ', 'a ? ', 'a ? b : ', 'a[', 'a + (', '((a) + ',
    'EXISTS(SELECT ', '(SELECT ', 'a IN (', 'a BETWEEN ', 'a BETWEEN 1 AND ', 'a LIKE ', 'a AND (',
    'a ?? b OR c AND NOT d = e | f ^ g & h << i || j + k * -(', '1 * ', 'a AND ', 'a ?? ', 'udf.f(',
  ];
  for (const opener of openers) {
    const times = opener.length > 4 ? 5_000 : many;
    rows.push([opener, `SELECT ${opener.repeat(times)}`]);
  }
  for (const link of ['.b', '[0]', ' + 1', ' = 1', ' || 1', ' ?? 1', ' IN (1)', ' LIKE 1']) {
    rows.push([link, `SELECT a${link.repeat(10_000)}`]);
  }
  rows.push(
    ['closed parentheses', `SELECT ${'('.repeat(90_000)}1${')'.repeat(90_000)}`],
    ['sources', `SELECT * FROM ${'(SELECT * FROM '.repeat(30_000)}`],
    ['ANDs and ORs', `SELECT a${' AND a OR a'.repeat(20_000)}`],
    ['too long', ' '.repeat(TEXT_CHARACTERS_MAX + 1)],
    ['escapes without an end', `SELECT '${'\\n'.repeat(250_000)}`],
    ['quotes', `SELECT ${"'' ".repeat(many)}`],
    ['a comment without an end', `SELECT /*${'* '.repeat(many)}`],
    ['comments', '/**/'.repeat(many)],
    ['digits', '1'.repeat(many)],
    ['a long name', `${'é'.repeat(many)} 1`],
    ['a long parameter', `@${'a'.repeat(many)}`],
  );
  return rows;
}
