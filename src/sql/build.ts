// Pieces of syntax trees for queries that nobody wrote. They have no place in any text.
import type { NumberLiteral, SqlExpression } from './ast.js';

const NOWHERE = { start: 0, end: 0 };

export function nameOf(name: string): SqlExpression {
  return { kind: 'identifier', span: NOWHERE, name };
}

export function numberOf(value: number): NumberLiteral {
  return { kind: 'number', span: NOWHERE, value };
}

export function memberOf(of: SqlExpression, name: string): SqlExpression {
  const key = { kind: 'string', span: NOWHERE, value: name } as const;
  return { kind: 'member', span: NOWHERE, of, key, dotted: true };
}

export function arrayOf(items: readonly SqlExpression[]): SqlExpression {
  return { kind: 'array', span: NOWHERE, items };
}

export function objectOf(entries: readonly (readonly [string, SqlExpression])[]): SqlExpression {
  return {
    kind: 'object',
    span: NOWHERE,
    entries: entries.map(([name, value]) => ({ name, value })),
  };
}

export function callOf(name: string, ...args: readonly SqlExpression[]): SqlExpression {
  return { kind: 'call', span: NOWHERE, name, udf: false, args };
}

export function bothOf(left: SqlExpression, right: SqlExpression): SqlExpression {
  return { kind: 'binary', span: NOWHERE, operator: 'AND', left, right };
}

export function stringOf(value: string): SqlExpression {
  return { kind: 'string', span: NOWHERE, value };
}

export function orElse(value: SqlExpression, otherwise: number): SqlExpression {
  return { kind: 'binary', span: NOWHERE, operator: '??', left: value, right: numberOf(otherwise) };
}
