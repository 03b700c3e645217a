// The table of all functions, and how a call finds and checks one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fn } from '../function.js';
import { findFunction, functions } from './all.js';
import { invoke } from './call.js';
import { context } from './rows.suite.js';

test('functions are found in any case, and only those', () => {
  assert.ok(functions.ABS);
  assert.equal(findFunction('abs'), functions.ABS);
  assert.equal(findFunction('Abs'), functions.ABS);
  for (const name of ['', 'constructor', 'valueOf', '__proto__', 'hasOwnProperty', 'NOPE']) {
    assert.equal(findFunction(name), undefined, name);
  }
});

test('every definition is consistent', () => {
  for (const [name, { arity, takes }] of Object.entries(functions)) {
    const [least, most] = arity;
    assert.ok(least >= 0 && least <= most, name);
    assert.ok(takes.length <= most, name);
    assert.equal(takes.length === 0, most === 0, name);
  }
});

test('the last kind stands for all arguments that follow', () => {
  const joined = fn<readonly [number, ...string[]]>(['number', 'string'], (args) => args.join());
  assert.equal(invoke(joined, [1, 'a', 'b', 'c'], context), '1,a,b,c');
  assert.equal(invoke(joined, [1], context), '1');
  for (const args of [['a', 'b'], [1, 'a', 2], [1, 'a', undefined], [undefined]]) {
    assert.equal(invoke(joined, args, context), undefined);
  }
});
