// Expressions: operators over operands, grouped by how strongly they bind.
import type { BinaryOperator, SqlExpression } from './ast.js';
import { CHAIN_OPERANDS_MAX, IN_ITEMS_MAX } from './limits.js';
import { OperandParser } from './operands.js';
import { INFIX_POWERS, Power, PREFIX_POWERS } from './operators.js';
import { refusal } from './sql-error.js';

export abstract class ExpressionParser extends OperandParser {
  /**
   *     expression = prefix { infix }     as long as the infix binds at least at `minimum`
   */
  protected parseExpression(minimum: number = Power.conditional): SqlExpression {
    const outer = this.descend();
    const start = this.token.start;
    let left = this.#parsePrefix();
    for (;;) {
      const power = INFIX_POWERS.get(this.token.kind);
      if (power === undefined || power < minimum) break;
      left = this.#parseInfix(start, left, power);
    }
    this.ascend(outer);
    return left;
  }

  /**
   *     prefix = ('-' | '+' | '~' | NOT) expression | postfix
   *
   * A sign in front of a number is part of it, so `c.a = -1` compares with a literal.
   */
  #parsePrefix(): SqlExpression {
    const prefix = PREFIX_POWERS.get(this.token.kind);
    if (prefix === undefined) return this.parsePostfix();
    const { operator, power } = prefix;
    const { start } = this.advance();
    const operand = this.parseExpression(power);
    const span = this.spanFrom(start);
    if (operand.kind === 'number' && (operator === '-' || operator === '+')) {
      return { kind: 'number', span, value: operator === '-' ? -operand.value : operand.value };
    }
    this.grow();
    return { kind: 'unary', span, operator, operand };
  }

  /**
   *     infix = '?' expression ':' expression
   *           | (AND | OR) expression
   *           | [NOT] (BETWEEN … | IN … | LIKE …)
   *           | operator expression
   */
  #parseInfix(start: number, left: SqlExpression, power: number): SqlExpression {
    switch (this.token.kind) {
      case '?':
        return this.#parseConditional(start, left);
      case 'AND':
      case 'OR':
        return this.#parseChain(start, left, this.token.kind, power);
      case 'NOT':
      case 'BETWEEN':
      case 'IN':
      case 'LIKE':
        return this.#parseTest(start, left);
      default: {
        const operator = this.advance().kind as BinaryOperator;
        const right = this.parseExpression(power + 1);
        this.grow();
        return { kind: 'binary', span: this.spanFrom(start), operator, left, right };
      }
    }
  }

  /**
   *     conditional = expression '?' expression ':' expression     from right to left
   */
  #parseConditional(start: number, condition: SqlExpression): SqlExpression {
    this.advance();
    const then = this.parseExpression();
    this.expect(':');
    const otherwise = this.parseExpression(Power.conditional);
    this.grow();
    const span = this.spanFrom(start);
    return { kind: 'conditional', span, condition, then, otherwise };
  }

  /**
   *     chain = expression operator expression { operator expression }
   *
   * Generated queries chain thousands of conditions. AND and OR are associative, also with
   * undefined, so the chain becomes a balanced tree: a walk over it stays shallow.
   */
  #parseChain(
    start: number,
    first: SqlExpression,
    operator: 'AND' | 'OR',
    power: number,
  ): SqlExpression {
    const operands: Operand[] = [{ value: first, start, end: this.previousEnd }];
    while (this.token.kind === operator) {
      if (operands.length === CHAIN_OPERANDS_MAX) {
        const message = `The query has more than ${CHAIN_OPERANDS_MAX} operands of one ${operator}.`;
        throw refusal(message, this.token);
      }
      this.advance();
      const from = this.token.start;
      const value = this.parseExpression(power + 1);
      operands.push({ value, start: from, end: this.previousEnd });
    }
    this.grow(Math.ceil(Math.log2(operands.length)));
    return balance(operands, operator).value;
  }

  /**
   *     test = expression [NOT] (between | in | like)
   */
  #parseTest(start: number, value: SqlExpression): SqlExpression {
    const negated = this.skip('NOT');
    if (this.skip('BETWEEN')) return this.#parseBetween(start, value, negated);
    if (this.skip('IN')) return this.#parseIn(start, value, negated);
    if (this.skip('LIKE')) return this.#parseLike(start, value, negated);
    throw this.unexpected();
  }

  /**
   *     between = BETWEEN expression AND expression
   */
  #parseBetween(start: number, value: SqlExpression, negated: boolean): SqlExpression {
    const low = this.parseExpression(Power.test + 1);
    this.expect('AND');
    const high = this.parseExpression(Power.test + 1);
    this.grow();
    return { kind: 'between', span: this.spanFrom(start), negated, value, low, high };
  }

  /**
   *     in = IN '(' expression { ',' expression } ')'
   */
  #parseIn(start: number, value: SqlExpression, negated: boolean): SqlExpression {
    this.expect('(');
    const list = [this.parseExpression()];
    while (this.skip(',')) {
      if (list.length === IN_ITEMS_MAX) {
        const message = `The query has more than ${IN_ITEMS_MAX} items in one IN.`;
        throw refusal(message, this.token);
      }
      list.push(this.parseExpression());
    }
    this.expect(')');
    this.grow();
    return { kind: 'in', span: this.spanFrom(start), negated, value, list };
  }

  /**
   *     like = LIKE expression [ESCAPE string]     the string being one character
   */
  #parseLike(start: number, value: SqlExpression, negated: boolean): SqlExpression {
    const pattern = this.parseExpression(Power.test + 1);
    const escaped = this.skip('ESCAPE');
    if (escaped && !ONE_CHARACTER.test(this.token.text)) throw this.unexpected();
    const character = escaped ? this.expect('string').text : undefined;
    this.grow();
    const span = this.spanFrom(start);
    return { kind: 'like', span, negated, value, pattern, escape: character };
  }
}

/** A part of a chain; its place may be wider than that of the value, by parentheses. */
interface Operand {
  readonly value: SqlExpression;
  readonly start: number;
  readonly end: number;
}

const ONE_CHARACTER = /^.$/su;

/** The left half is the larger one, so that three operands read `((a AND b) AND c)`. */
function balance(operands: readonly Operand[], operator: 'AND' | 'OR'): Operand {
  const [first, second] = operands;
  if (first === undefined) throw new Error('A chain has at least one operand.');
  if (second === undefined) return first;
  const middle = Math.ceil(operands.length / 2);
  const left = balance(operands.slice(0, middle), operator);
  const right = balance(operands.slice(middle), operator);
  const span = { start: left.start, end: right.end };
  const value = { kind: 'binary', span, operator, left: left.value, right: right.value } as const;
  return { value, ...span };
}
