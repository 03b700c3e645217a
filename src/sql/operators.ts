// How strongly the operators bind, from the conditional up to the signs.
import type { UnaryOperator } from './ast.js';
import type { TokenKind } from './tokens.js';

/** Operators of the same power group from left to right; only the conditional does not. */
export const Power = {
  conditional: 1,
  coalesce: 2,
  or: 3,
  and: 4,
  not: 5,
  test: 6,
  comparison: 7,
  bitOr: 8,
  bitXor: 9,
  bitAnd: 10,
  shift: 11,
  concatenation: 12,
  sum: 13,
  product: 14,
  sign: 15,
} as const;

/** NOT stands between its operands only in NOT BETWEEN, NOT IN and NOT LIKE. */
export const INFIX_POWERS: ReadonlyMap<TokenKind, number> = new Map<TokenKind, number>([
  ['?', Power.conditional],
  ['??', Power.coalesce],
  ['OR', Power.or],
  ['AND', Power.and],
  ['NOT', Power.test],
  ['BETWEEN', Power.test],
  ['IN', Power.test],
  ['LIKE', Power.test],
  ['=', Power.comparison],
  ['!=', Power.comparison],
  ['<', Power.comparison],
  ['>', Power.comparison],
  ['<=', Power.comparison],
  ['>=', Power.comparison],
  ['|', Power.bitOr],
  ['^', Power.bitXor],
  ['&', Power.bitAnd],
  ['<<', Power.shift],
  ['>>', Power.shift],
  ['>>>', Power.shift],
  ['||', Power.concatenation],
  ['+', Power.sum],
  ['-', Power.sum],
  ['*', Power.product],
  ['/', Power.product],
  ['%', Power.product],
]);

interface Prefix {
  readonly operator: UnaryOperator;
  /** How strongly an infix in the operand must bind at least. */
  readonly power: number;
}

export const PREFIX_POWERS: ReadonlyMap<TokenKind, Prefix> = new Map<TokenKind, Prefix>([
  ['-', { operator: '-', power: Power.sign }],
  ['+', { operator: '+', power: Power.sign }],
  ['~', { operator: '~', power: Power.sign }],
  ['NOT', { operator: 'NOT', power: Power.not }],
]);
