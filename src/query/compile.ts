// Expressions compiled to closures: what can be decided once is decided here, not for every row.
import { valueAt } from '../value/path.js';
import type { CallContext, Value } from './function.js';
import { invoke } from './functions/call.js';
import { likeMatcher } from './functions/regex.js';
import type { Expression, Query } from './logical.js';
import { and, calculate, compare, not, or } from './operators.js';

/** One row being worked on: what each slot is bound to, and the results of aggregates. */
export interface Frame {
  readonly slots: Value[];
  readonly context: CallContext;
  serial: number;
  /**
   * How many rows the document at hand has made so far, those that no condition passed included.
   */
  rows: number;
  aggregates: readonly Value[];
}
export type Compiled = (frame: Frame) => Value;

export type Compile = (expression: Expression) => Compiled;
export type SubqueryMode = Extract<Expression, { kind: 'subquery' }>['mode'];

/** Subqueries are rows again, which is evaluate.ts's business; it lends its hand here. */
export function compilerWith(subquery: (query: Query, mode: SubqueryMode) => Compiled): Compile {
  const compile: Compile = (expression) =>
    expression.kind === 'subquery'
      ? subquery(expression.query, expression.mode)
      : compileExpression(expression, compile);
  return compile;
}

function compileExpression(
  expression: Exclude<Expression, { kind: 'subquery' }>,
  compile: Compile,
): Compiled {
  switch (expression.kind) {
    case 'constant': {
      const { value } = expression;
      return () => value;
    }
    case 'path':
      return compilePath(expression.slot, expression.path);
    case 'member':
      return compileMember(compile(expression.of), compile(expression.key));
    case 'array':
      return compileArray(expression.items.map(compile));
    case 'object':
      return compileObject(
        expression.entries.map(({ name, value }) => [name, compile(value)] as const),
      );
    case 'and':
      return compileChain(expression.all.map(compile), and, false);
    case 'or':
      return compileChain(expression.all.map(compile), or, true);
    case 'not': {
      const of = compile(expression.of);
      return (frame) => not(of(frame));
    }
    case 'compare': {
      const [left, right] = [compile(expression.left), compile(expression.right)];
      const { operator } = expression;
      return (frame) => compare(operator, left(frame), right(frame));
    }
    case 'in':
      return compileIn(compile(expression.value), expression.list.map(compile));
    case 'like':
      return compileLike(compile(expression.value), compile(expression.pattern), expression.escape);
    case 'documentId':
      return (frame) => frame.serial;
    case 'aggregate': {
      const { index } = expression;
      return (frame) => frame.aggregates[index];
    }
    default:
      return compileOperation(expression, compile);
  }
}

type Operation = Extract<
  Expression,
  {
    kind:
      | 'number'
      | 'negate'
      | 'plus'
      | 'complement'
      | 'concatenate'
      | 'coalesce'
      | 'conditional'
      | 'call';
  }
>;

function compileOperation(expression: Operation, compile: Compile): Compiled {
  switch (expression.kind) {
    case 'number': {
      const [left, right] = [compile(expression.left), compile(expression.right)];
      const { operator } = expression;
      return (frame) => calculate(operator, left(frame), right(frame));
    }
    case 'negate':
    case 'plus':
    case 'complement':
      return compileUnary(expression.kind, compile(expression.of));
    case 'concatenate': {
      const [left, right] = [compile(expression.left), compile(expression.right)];
      return (frame) => {
        const [a, b] = [left(frame), right(frame)];
        return typeof a === 'string' && typeof b === 'string' ? a + b : undefined;
      };
    }
    case 'coalesce': {
      const [left, right] = [compile(expression.left), compile(expression.right)];
      return (frame) => {
        const value = left(frame);
        return value === undefined ? right(frame) : value;
      };
    }
    case 'conditional': {
      const condition = compile(expression.condition);
      const [then, otherwise] = [compile(expression.then), compile(expression.otherwise)];
      return (frame) => {
        const decided = condition(frame);
        if (decided === true) return then(frame);
        return decided === false ? otherwise(frame) : undefined;
      };
    }
    case 'call': {
      const args = expression.args.map(compile);
      const { fn } = expression;
      return (frame) =>
        invoke(
          fn,
          args.map((arg) => arg(frame)),
          frame.context,
        );
    }
    default:
      throw new Error(`unknown expression ${expression satisfies never}`);
  }
}

function compilePath(slot: number, path: readonly (string | number)[]): Compiled {
  if (path.length === 0) return (frame) => frame.slots[slot];
  return (frame) => valueAt(frame.slots[slot], path);
}

function compileMember(of: Compiled, key: Compiled): Compiled {
  return (frame) => {
    const name = key(frame);
    const isStep = typeof name === 'string' || typeof name === 'number';
    return isStep ? valueAt(of(frame), [name]) : undefined;
  };
}

/** Undefined elements vanish. */
function compileArray(items: readonly Compiled[]): Compiled {
  return (frame) => items.map((item) => item(frame)).filter((value) => value !== undefined);
}

function compileObject(entries: readonly (readonly [string, Compiled])[]): Compiled {
  return (frame) => {
    const object: Record<string, Value> = {};
    for (const [name, compiled] of entries) {
      const value = compiled(frame);
      if (value === undefined) continue;
      if (name === '__proto__') defineOwn(object, name, value);
      else object[name] = value;
    }
    return object;
  };
}

/** Assigning would change the prototype instead of adding a property. */
function defineOwn(object: object, name: string, value: Value): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

function compileChain(
  all: readonly Compiled[],
  join: (left: Value, right: Value) => boolean | undefined,
  decisive: boolean,
): Compiled {
  return (frame) => {
    let result: Value = !decisive;
    for (const part of all) {
      result = join(result, part(frame));
      if (result === decisive) return decisive;
    }
    return result;
  };
}

/** An OR of equalities: true wins, then undefined, then false. */
function compileIn(value: Compiled, items: readonly Compiled[]): Compiled {
  return (frame) => {
    const wanted = value(frame);
    let result: boolean | undefined = false;
    for (const item of items) {
      result = or(result, compare('=', wanted, item(frame)));
      if (result === true) return true;
    }
    return result;
  };
}

function compileLike(
  value: Compiled,
  pattern: Compiled,
  escapeCharacter: string | undefined,
): Compiled {
  return (frame) => {
    const [text, wanted] = [value(frame), pattern(frame)];
    if (typeof text !== 'string' || typeof wanted !== 'string') return undefined;
    return likeMatcher(wanted, escapeCharacter)(text);
  };
}

function compileUnary(kind: 'negate' | 'plus' | 'complement', of: Compiled): Compiled {
  return (frame) => {
    const value = of(frame);
    if (typeof value !== 'number') return undefined;
    if (kind === 'negate') return -value;
    return kind === 'plus' ? value : ~value;
  };
}
