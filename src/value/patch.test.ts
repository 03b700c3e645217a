// What each operation of a patch does to the text of a document, and what it refuses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MayflyError } from './errors.js';
import { compactJson } from './json.js';
import { elementsOf, jsonSlice, kindOf, membersOf, textOf } from './json-slice.js';
import { applyPatch, type PatchOperation, type Place } from './patch.js';
import { isInside, parsePointer } from './pointer.js';
import { randomJson, seededRandom, seedFromEnvironment } from './random.suite.js';

const place = (text: string): Place => {
  const pointer = parsePointer(text);
  assert.ok(pointer, text);
  return { pointer, text };
};
const add = (path: string, value: string): PatchOperation => ({
  op: 'add',
  path: place(path),
  value,
});
const set = (path: string, value: string): PatchOperation => ({
  op: 'set',
  path: place(path),
  value,
});
const replace = (path: string, value: string): PatchOperation => ({
  op: 'replace',
  path: place(path),
  value,
});
const remove = (path: string): PatchOperation => ({ op: 'remove', path: place(path) });
const incr = (path: string, by: number): PatchOperation => ({ op: 'incr', path: place(path), by });
const move = (from: string, path: string): PatchOperation => ({
  op: 'move',
  from: place(from),
  path: place(path),
});

const DONE: readonly (readonly [string, readonly PatchOperation[], string])[] = [
  // Members of objects.
  ['{"a":1}', [add('/b', '2')], '{"a":1,"b":2}'],
  ['{"a":1,"b":2}', [add('/a', '3')], '{"a":3,"b":2}'],
  ['{"a":1,"b":2}', [set('/a', '3')], '{"a":3,"b":2}'],
  ['{"a":1}', [set('/b', 'null')], '{"a":1,"b":null}'],
  ['{"a":1,"b":2}', [replace('/a', '{"x":[]}')], '{"a":{"x":[]},"b":2}'],
  ['{"a":null}', [replace('/a', '1')], '{"a":1}'],
  ['{"a":1,"b":2}', [remove('/a')], '{"b":2}'],
  ['{"a":1}', [remove('/a')], '{}'],
  ['{"a":{"b":{"c":1}}}', [set('/a/b/d', '2')], '{"a":{"b":{"c":1,"d":2}}}'],
  ['{"a":{}}', [add('/a/b', '{}'), add('/a/b/c', '1')], '{"a":{"b":{"c":1}}}'],
  // Elements of arrays.
  ['{"a":[1,2]}', [add('/a/0', '9')], '{"a":[9,1,2]}'],
  ['{"a":[1,2]}', [add('/a/1', '9')], '{"a":[1,9,2]}'],
  ['{"a":[1,2]}', [add('/a/2', '9')], '{"a":[1,2,9]}'],
  ['{"a":[1,2]}', [add('/a/-', '9')], '{"a":[1,2,9]}'],
  ['{"a":[]}', [add('/a/-', '9'), add('/a/0', '8')], '{"a":[8,9]}'],
  ['{"a":[1,2]}', [set('/a/0', '9')], '{"a":[9,2]}'],
  ['{"a":[1,2]}', [set('/a/2', '9')], '{"a":[1,2,9]}'],
  ['{"a":[1,2]}', [set('/a/-', '9')], '{"a":[1,2,9]}'],
  ['{"a":[1,2]}', [replace('/a/1', '9')], '{"a":[1,9]}'],
  ['{"a":[1,2,3]}', [remove('/a/0')], '{"a":[2,3]}'],
  ['{"a":[1,2,3]}', [remove('/a/0'), remove('/a/0')], '{"a":[3]}'],
  ['{"a":[[1],{"b":[2]}]}', [add('/a/1/b/0', '9')], '{"a":[[1],{"b":[9,2]}]}'],
  // Increments.
  ['{"n":1}', [incr('/n', 2)], '{"n":3}'],
  ['{"n":1}', [incr('/n', -1.5)], '{"n":-0.5}'],
  ['{}', [incr('/n', 2)], '{"n":2}'],
  ['{"a":[1,2]}', [incr('/a/1', 5)], '{"a":[1,7]}'],
  ['{"n":0}', Array.from({ length: 10 }, () => incr('/n', 1)), '{"n":10}'],
  ['{"n":9007199254740990}', [incr('/n', 1)], '{"n":9007199254740991}'],
  // Moves.
  ['{"a":1,"b":2}', [move('/a', '/c')], '{"b":2,"c":1}'],
  ['{"a":1,"b":2}', [move('/a', '/b')], '{"b":1}'],
  ['{"a":{"b":1}}', [move('/a/b', '/a')], '{"a":1}'],
  ['{"a":[1,2,3]}', [move('/a/0', '/a/2')], '{"a":[2,3,1]}'],
  ['{"a":[1,2,3]}', [move('/a/2', '/a/0')], '{"a":[3,1,2]}'],
  ['{"a":[1],"b":2}', [move('/b', '/a/0')], '{"a":[2,1]}'],
  ['{"a":[1],"b":2}', [move('/b', '/a/-')], '{"a":[1,2]}'],
  ['{"a":1}', [move('/a', '/a')], '{"a":1}'],
  ['{"a":1,"ab":{}}', [move('/a', '/ab/x')], '{"ab":{"x":1}}'],
  // Names.
  ['{"a/b":1,"m~n":2,"":3}', [set('/a~1b', '4'), remove('/m~0n'), incr('/', 1)], '{"a/b":4,"":4}'],
  ['{"~1":1}', [remove('/~01')], '{}'],
  ['{"a":{"-":1,"0":2}}', [remove('/a/-'), incr('/a/0', 1)], '{"a":{"0":3}}'],
  ['{"a":{}}', [set('/a/__proto__', '{"x":1}')], '{"a":{"__proto__":{"x":1}}}'],
  ['{"é\\n":1}', [set('/é\n', '2')], '{"é\\n":2}'],
  // What is not on the way keeps its text.
  [
    '{"z":1.0,"10":12345678901234567890,"2":{"b":1E+2,"a":-0},"a":{"y":1.50,"x":[2.0]}}',
    [add('/a/x/-', '3.0'), set('/n', '4.00')],
    '{"z":1.0,"10":12345678901234567890,"2":{"b":1E+2,"a":-0},"a":{"y":1.50,"x":[2.0,3.0]},"n":4.00}',
  ],
];

for (const [before, operations, after] of DONE) {
  test(`${before} ${shown(operations)} -> ${after}`, () => {
    assert.equal(applyPatch(before, operations), after);
  });
}

const NOT_THERE = 'can only be performed on what exists';
const REFUSED: readonly (readonly [string, readonly PatchOperation[], string])[] = [
  ['{"a":1}', [replace('/b', '1')], NOT_THERE],
  ['{"a":1}', [remove('/b')], NOT_THERE],
  ['{"a":1}', [move('/b', '/c')], NOT_THERE],
  ['{"a":[1]}', [replace('/a/1', '1')], NOT_THERE],
  ['{"a":[1]}', [replace('/a/-', '1')], NOT_THERE],
  ['{"a":[1]}', [remove('/a/1')], NOT_THERE],
  ['{"a":[1]}', [remove('/a/-')], NOT_THERE],
  ['{"a":[1]}', [move('/a/1', '/b')], NOT_THERE],
  ['{"a":{"b":1}}', [remove('/a/toString')], NOT_THERE],
  ['{"a":[1]}', [add('/a/2', '1')], "beyond the array's 1 elements"],
  ['{"a":[1]}', [set('/a/2', '1')], "beyond the array's 1 elements"],
  ['{"a":[1]}', [incr('/a/2', 1)], "beyond the array's 1 elements"],
  ['{"a":[1,2]}', [move('/a/0', '/a/2')], "beyond the array's 1 elements"],
  ...['01', '-1', '1.0', '+1', '', 'length', 'x', ' 0'].map(
    (index) => ['{"a":[1,2]}', [set(`/a/${index}`, '1')], 'is no index'] as const,
  ),
  ['{}', [add('/a/b', '1')], "leads through 'a', which is not there"],
  ['{}', [set('/a/b', '1')], "leads through 'a', which is not there"],
  ['{}', [incr('/a/b', 1)], "leads through 'a', which is not there"],
  ['{}', [remove('/a/b')], "leads through 'a', which is not there"],
  ['{"a":[{}]}', [set('/a/-/b', '1')], "leads through '-', which is not there"],
  ['{"a":{"b":1},"c":2}', [move('/c', '/x/y')], "leads through 'x', which is not there"],
  ...['1', '"text"', 'null', 'true'].map(
    (scalar) => [`{"a":${scalar}}`, [set('/a/b', '1')], 'which is no object or array'] as const,
  ),
  ...['"1"', 'null', 'true', '{}', '[1]'].map(
    (other) => [`{"n":${other}}`, [incr('/n', 1)], 'on a number'] as const,
  ),
  ['{"n":{"m":1}}', [set('/n/m', '2'), incr('/n', 1)], 'on a number'],
  ['{"n":1e308}', [incr('/n', 1.7e308)], 'more than a number can hold'],
];

for (const [before, operations, why] of REFUSED) {
  test(`${before} ${shown(operations)} is refused: ${why}`, () => {
    assert.throws(
      () => applyPatch(before, operations),
      (error) =>
        error instanceof MayflyError &&
        error.code === 'patchFailed' &&
        error.message.startsWith(`For Operation(${operations.length}):`) &&
        error.message.includes(why),
    );
  });
}

test('pointers follow RFC 6901, and none names the whole document', () => {
  assert.deepEqual(parsePointer('/a/b~1c/~0/'), ['a', 'b/c', '~', '']);
  for (const text of ['', 'a', 'a/b', '/~', '/a~2b', '/a~/b', '$.a']) {
    assert.equal(parsePointer(text), undefined, text);
  }
});

test('inside is below, not beside and not the place itself', () => {
  assert.ok(isInside(['a', 'b'], ['a']));
  assert.ok(!isInside(['a'], ['a']));
  assert.ok(!isInside(['a'], ['a', 'b']));
  assert.ok(!isInside(['ab', 'c'], ['a']));
});

test('arrays and objects are split into slices of their text', () => {
  const elements = (text: string) => elementsOf(jsonSlice(compactJson(text))).map(textOf);
  assert.deepEqual(elements(' [ ] '), []);
  assert.deepEqual(elements('[ 1.0 , "a,]\\"" ,\n[2 , 3],{"b" : [ ]} ]'), [
    '1.0',
    '"a,]\\""',
    '[2,3]',
    '{"b":[]}',
  ]);
  const members = membersOf(jsonSlice('{"a":1.0,"\\u0062":[2],"":{},"a":3}'));
  assert.deepEqual(
    members.map(([name, value]) => [name, textOf(value), kindOf(value)]),
    [
      ['a', '1.0', 'scalar'],
      ['b', '[2]', 'array'],
      ['', '{}', 'object'],
      ['a', '3', 'scalar'],
    ],
  );
});

test('a place far inside a large document is found', () => {
  const depth = 120;
  const numbers = `[${'1,'.repeat(500_000)}1]`;
  const text = `${'{"a":'.repeat(depth)}${numbers}${'}'.repeat(depth)}`;
  const patched = applyPatch(text, [add(`${'/a'.repeat(depth)}/-`, '2')]);
  assert.equal(patched, text.replace(']', ',2]'));
});

test('what is split and printed again is the same value', () => {
  const seed = seedFromEnvironment();
  const random = seededRandom(seed);
  for (let round = 0; round < 2000; round++) {
    const text = JSON.stringify({ a: randomJson(random), b: [randomJson(random)] });
    const patched = applyPatch(text, [add('/b/-', '1'), remove('/b/1'), set('/c', '1')]);
    assert.deepEqual(JSON.parse(patched), { ...JSON.parse(text), c: 1 }, `SEED=${seed} ${text}`);
    assert.equal(patched, `${text.slice(0, -1)},"c":1}`, `SEED=${seed}`);
  }
});

function shown(operations: readonly PatchOperation[]): string {
  return operations
    .map(({ op, path, ...rest }) => {
      const from = 'from' in rest ? `${rest.from.text} to ` : '';
      return `${op} ${from}${path.text}`;
    })
    .join(', ');
}
