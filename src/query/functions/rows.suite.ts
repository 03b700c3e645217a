// The test of a table of functions: rows of calls and their values, and rules that every function
// keeps. A new function needs one row, and is told if it has none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '../../time/instant.js';
import {
  type ArgumentKind,
  type CallContext,
  type FunctionTable,
  MANY,
  type QueryFunction,
} from '../function.js';
import { invoke } from './call.js';

export type Row = readonly [name: string, args: readonly unknown[], expected: unknown];

export function testRows(table: FunctionTable, rows: readonly Row[]): void {
  test('every row is about a function of the table', () => {
    for (const [name] of rows) assert.ok(Object.hasOwn(table, name), name);
  });
  for (const [name, definition] of Object.entries(table)) {
    const own = rows.filter((row) => row[0] === name);
    test(name, () => {
      for (const [, args, expected] of own) {
        assert.deepEqual(invoke(definition, args, context), expected, `${name}(${show(args)})`);
      }
      checkArity(definition, own);
      checkKinds(definition, own);
    });
  }
}

/** One call by name, for tests of what no row can say. */
export function callByName(table: FunctionTable, name: string, ...args: readonly unknown[]) {
  const definition = table[name];
  assert.ok(definition, name);
  return invoke(definition, args, context);
}

export const context: CallContext = { now: instant(1_700_000_000_000), random: () => 0.25 };

function show(args: readonly unknown[]): string {
  return args.map((value) => JSON.stringify(value)).join();
}

/** The shortest call and, if there is a limit, the longest are both among the rows. */
function checkArity({ arity: [least, most] }: QueryFunction, rows: readonly Row[]): void {
  const counts = rows.map(([, args]) => args.length);
  assert.equal(Math.min(...counts), least, 'the fewest arguments of a row');
  if (most < MANY) assert.equal(Math.max(...counts), most, 'the most arguments of a row');
}

/** In a call that works, an argument of another kind makes the value undefined. */
function checkKinds(definition: QueryFunction, rows: readonly Row[]): void {
  const working = rows.filter((row) => row[2] !== undefined);
  assert.ok(working.length > 0, 'there is a row whose value is not undefined');
  for (const [, args] of working) {
    for (const at of args.keys()) {
      const kind = definition.takes[Math.min(at, definition.takes.length - 1)];
      for (const wrong of kind === undefined ? [] : wrongFor(kind)) {
        const changed = args.with(at, wrong);
        assert.equal(invoke(definition, changed, context), undefined, show(changed));
      }
    }
  }
}

const SAMPLES = { number: 1, string: '1', boolean: true, array: [1], object: { a: 1 } } as const;

function wrongFor(kind: ArgumentKind): readonly unknown[] {
  if (kind === 'maybe') return [];
  if (kind === 'any') return [undefined];
  const others = Object.entries(SAMPLES).filter(([name]) => name !== kind);
  return [undefined, null, ...others.map(([, value]) => value)];
}
