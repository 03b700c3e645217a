// Paths into documents: their grammar, and what is found at the end of one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Path, parsePath, valueAt } from './path.js';
import { randomInteger, randomText, seededRandom, seedFromEnvironment } from './random.suite.js';

const RANDOM_PATHS = 5000;

test('paths that follow the grammar', () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['/a', ['a']],
    ['/a/b/c', ['a', 'b', 'c']],
    ['/"a"', ['a']],
    ['/"a b"/c', ['a b', 'c']],
    ['/"a/b"/"c"', ['a/b', 'c']],
    ['/"say \\"hi\\""', ['say "hi"']],
    ['/"back\\\\slash"', ['back\\slash']],
    ['/my-prop/x y', ['my-prop', 'x y']],
    ['/*', ['*']],
    ['/0/[]', ['0', '[]']],
    ['/é/😀', ['é', '😀']],
    ['/__proto__', ['__proto__']],
  ];
  for (const [text, segments] of rows) assert.deepEqual(parsePath(text), segments, text);
});

test('paths that do not', () => {
  const wrong = [
    '',
    '/',
    '//',
    'a',
    'a/b',
    '/a/',
    '/a//b',
    '//a',
    '/""',
    '/a/""',
    '/"a',
    '/"a\\"',
    '/"a\\',
    '/"',
    '/"a"b',
    '/a"b',
    '/a"',
  ];
  for (const text of wrong) assert.equal(parsePath(text), undefined, text);
});

test('any names, written in quotes, come back', (t) => {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < RANDOM_PATHS; round++) {
    const names = Array.from(
      { length: 1 + randomInteger(random, 4) },
      () => `${randomText(random)}\\"/`.slice(randomInteger(random, 3)) || '"',
    );
    const text = names.map((name) => `/"${name.replace(/["\\]/g, '\\$&')}"`).join('');
    assert.deepEqual(parsePath(text), names, `SEED=${seed} ${text}`);
  }
});

test('the value at a path: names lead into objects, numbers into arrays', () => {
  const document = {
    a: { b: [10, { c: null }] },
    d: 0,
    e: '',
    f: false,
    text: 'abc',
    n: { 0: 'named' },
  };
  const rows: readonly (readonly [Path, unknown])[] = [
    [[], document],
    [['a', 'b', 0], 10],
    [['a', 'b', '0'], undefined],
    [['a', 0], undefined],
    [['n', 0], undefined],
    [['n', '0'], 'named'],
    [['a', 'b', 1, 'c'], null],
    [['d'], 0],
    [['e'], ''],
    [['f'], false],
    [['a', 'x'], undefined],
    [['x', 'y', 'z'], undefined],
    [['a', 'b', 2], undefined],
    [['a', 'b', -1], undefined],
    [['a', 'b', 1, 'c', 'd'], undefined],
    [['text', 0], undefined],
    [['text', 'length'], undefined],
    [['d', 'toFixed'], undefined],
  ];
  for (const [path, value] of rows) assert.deepEqual(valueAt(document, path), value, String(path));
  for (const value of [undefined, null, 1, 'a', true]) {
    assert.equal(valueAt(value, ['a']), undefined);
    assert.equal(valueAt(value, []), value);
  }
});

test('nothing of a prototype is found, but properties of the same name are', () => {
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'map']) {
    assert.equal(valueAt({}, [name]), undefined);
    assert.equal(valueAt([], [name]), undefined);
    assert.equal(valueAt({ a: {} }, ['a', name, 'name']), undefined);
    assert.equal(valueAt(JSON.parse(`{"${name}":{"x":7}}`), [name, 'x']), 7);
  }
  assert.equal(valueAt([1, 2], ['length']), undefined);
});
