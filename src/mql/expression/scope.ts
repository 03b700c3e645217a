// What expressions are: closures that are evaluated in a scope, a row with the values of variables.
import type { Value } from '../../value/bson/value.js';
import type { Language } from '../language.js';
import type { Row } from '../row.js';
import { startEffort } from './effort.js';

export interface Scope {
  readonly row: Row;
  /** Values of the variables of `$let`, `$map` and so on, each in a slot of its own. */
  readonly slots: (Value | undefined)[];
}
/** `undefined` is a value that is not there. */
export type Expression = (scope: Scope) => Value | undefined;

/** What an operator compiles its operand with. */
export interface Compiler {
  readonly language: Language;
  compile(value: Value): Expression;
  /** A compiler that knows more variables, and the slots to put their values into. */
  binding(names: readonly string[]): {
    readonly inner: Compiler;
    readonly slots: readonly number[];
  };
}

export type Operator = (operand: Value, compiler: Compiler, name: string) => Expression;
export type Operators = Readonly<Record<string, Operator>>;

export function scopeOf(row: Row): Scope {
  startEffort();
  return { row, slots: [] };
}

const constants = new WeakMap<Expression, { readonly value: Value | undefined }>();

/** An expression whose value is known, and known to be known. */
export function constant(value: Value | undefined): Expression {
  const expression: Expression = () => value;
  constants.set(expression, { value });
  return expression;
}

export function constantOf(
  expression: Expression,
): { readonly value: Value | undefined } | undefined {
  return constants.get(expression);
}
