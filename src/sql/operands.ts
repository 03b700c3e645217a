// Operands: names, literals, constructors, calls, subqueries, and the members of all of them.
import type { SelectQuery, Span, SqlExpression } from './ast.js';
import { UDF_CALLS_MAX } from './limits.js';
import { refusal } from './sql-error.js';
import { TokenCursor } from './token-cursor.js';
import type { Token } from './tokens.js';

type SubqueryMode = Extract<SqlExpression, { readonly kind: 'subquery' }>['mode'];

export abstract class OperandParser extends TokenCursor {
  #udfCalls = 0;

  /** Brackets lead back to whole expressions, and subqueries to the clauses. */
  protected abstract parseExpression(minimum?: number): SqlExpression;
  protected abstract parseQuery(): SelectQuery;

  /**
   *     postfix = primary { '.' word | '[' expression ']' }
   */
  protected parsePostfix(): SqlExpression {
    const { start } = this.token;
    let of = this.#parsePrimary();
    for (;;) {
      let key: SqlExpression;
      const dotted = this.token.kind === '.';
      if (dotted) {
        this.advance();
        const word = this.expectWord();
        key = { kind: 'string', span: spanOf(word), value: word.text };
      } else if (this.token.kind === '[') {
        this.advance();
        key = this.parseExpression();
        this.expect(']');
      } else {
        return of;
      }
      this.grow();
      of = { kind: 'member', span: this.spanFrom(start), of, key, dotted };
    }
  }

  /**
   *     primary = identifier | parameter | literal | array | object | call
   *             | '(' expression ')' | subquery
   */
  #parsePrimary(): SqlExpression {
    const token = this.token;
    switch (token.kind) {
      case 'identifier':
        return this.#parseIdentifier(token);
      case 'parameter':
        this.advance();
        return { kind: 'parameter', span: spanOf(token), name: token.text };
      case '(':
        return this.#parseParenthesis(token);
      case '[':
        return this.#parseArray(token);
      case '{':
        return this.#parseObject(token);
      case 'EXISTS':
        return this.#parseSubquery(token, 'exists');
      case 'ARRAY':
        return this.#parseSubquery(token, 'array');
      case 'LEFT':
      case 'RIGHT':
        return this.#parseCall(token, this.advance(), false);
      case 'udf':
        return this.#parseUdf(token);
      default:
        return this.#parseLiteral(token);
    }
  }

  /**
   *     literal = number | string | true | false | null | undefined
   */
  #parseLiteral(token: Token): SqlExpression {
    const span = spanOf(token);
    switch (token.kind) {
      case 'number':
        this.advance();
        return { kind: 'number', span, value: token.number };
      case 'string':
        this.advance();
        return { kind: 'string', span, value: token.text };
      case 'true':
      case 'false':
        this.advance();
        return { kind: 'boolean', span, value: token.kind === 'true' };
      case 'null':
      case 'undefined':
        this.advance();
        return { kind: token.kind, span };
      default:
        throw this.unexpected();
    }
  }

  /**
   *     identifier | call | (ALL | FIRST | LAST) '(' query ')'
   *
   * The three words mean subqueries only with SELECT behind the parenthesis.
   */
  #parseIdentifier(token: Token): SqlExpression {
    if (this.peekKind(1) !== '(') {
      this.advance();
      return { kind: 'identifier', span: spanOf(token), name: token.text };
    }
    if (this.peekKind(2) === 'SELECT') {
      const mode = SUBQUERY_WORDS.get(token.text.toUpperCase());
      if (mode !== undefined) return this.#parseSubquery(token, mode);
    }
    return this.#parseCall(token, this.advance(), false);
  }

  /**
   *     call = [udf '.'] word '(' [expression { ',' expression }] ')'
   */
  #parseCall({ start }: Token, name: Token, udf: boolean): SqlExpression {
    this.expect('(');
    const args = this.#parseItems(')');
    this.grow();
    return { kind: 'call', span: this.spanFrom(start), name: name.text, udf, args };
  }

  #parseUdf(token: Token): SqlExpression {
    this.advance();
    this.expect('.');
    const name = this.expectWord();
    this.#udfCalls++;
    if (this.#udfCalls > UDF_CALLS_MAX) {
      const message = `The query calls more than ${UDF_CALLS_MAX} user-defined functions.`;
      throw refusal(message, name);
    }
    return this.#parseCall(token, name, true);
  }

  #parseParenthesis(token: Token): SqlExpression {
    if (this.peekKind(1) === 'SELECT') return this.#parseSubqueryBody(token, 'scalar');
    this.advance();
    const inner = this.parseExpression();
    this.expect(')');
    return inner;
  }

  /**
   *     subquery = [EXISTS | ARRAY | ALL | FIRST | LAST] '(' query ')'
   */
  #parseSubquery(token: Token, mode: SubqueryMode): SqlExpression {
    this.advance();
    return this.#parseSubqueryBody(token, mode);
  }

  #parseSubqueryBody({ start }: Token, mode: SubqueryMode): SqlExpression {
    this.expect('(');
    const query = this.parseQuery();
    this.expect(')');
    this.grow();
    return { kind: 'subquery', span: this.spanFrom(start), mode, query };
  }

  /**
   *     array = '[' [expression { ',' expression }] ']'
   */
  #parseArray({ start }: Token): SqlExpression {
    this.advance();
    const items = this.#parseItems(']');
    this.grow();
    return { kind: 'array', span: this.spanFrom(start), items };
  }

  #parseItems(close: ')' | ']'): readonly SqlExpression[] {
    if (this.skip(close)) return [];
    const items = [this.parseExpression()];
    while (this.skip(',')) items.push(this.parseExpression());
    this.expect(close);
    return items;
  }

  /**
   *     object = '{' [entry { ',' entry }] '}'
   *     entry  = (word | string) ':' expression
   */
  #parseObject({ start }: Token): SqlExpression {
    this.advance();
    const entries: { readonly name: string; readonly value: SqlExpression }[] = [];
    while (this.token.kind !== '}') {
      if (entries.length > 0) this.expect(',');
      const name = (this.token.kind === 'string' ? this.advance() : this.expectWord()).text;
      this.expect(':');
      entries.push({ name, value: this.parseExpression() });
    }
    this.advance();
    this.grow();
    return { kind: 'object', span: this.spanFrom(start), entries };
  }
}

const SUBQUERY_WORDS: ReadonlyMap<string, SubqueryMode> = new Map([
  ['ALL', 'all'],
  ['FIRST', 'first'],
  ['LAST', 'last'],
]);

function spanOf({ start, end }: Token): Span {
  return { start, end };
}
