// The clauses of a query, in the order in which they are written.
import type {
  Collection,
  Count,
  FromSource,
  OrderItem,
  SelectItem,
  Selection,
  SelectQuery,
  SqlExpression,
} from './ast.js';
import { ExpressionParser } from './expressions.js';
import { JOINS_MAX } from './limits.js';
import { refusal } from './sql-error.js';
import { PROJECTION_NAMES, type TokenKind } from './tokens.js';

export class QueryParser extends ExpressionParser {
  #joins = 0;

  /**
   *     text = query [';']
   */
  parseText(): SelectQuery {
    const query = this.parseQuery();
    this.skip(';');
    this.expect('end');
    return query;
  }

  /**
   *     query = SELECT [DISTINCT] [TOP count] selection [FROM from] [WHERE expression]
   *             [GROUP BY expression { ',' expression }] [ORDER BY order]
   *             [OFFSET count LIMIT count]
   */
  protected parseQuery(): SelectQuery {
    const outer = this.descend();
    const { start } = this.expect('SELECT');
    const distinct = this.skip('DISTINCT');
    const top = this.skip('TOP') ? this.#parseCount() : undefined;
    const select = this.#parseSelection();
    const from = this.skip('FROM') ? this.#parseFrom() : [];
    const where = this.skip('WHERE') ? this.parseExpression() : undefined;
    const groupBy = this.#skipBoth('GROUP', 'BY') ? this.#parseGroupBy() : [];
    const ordered = this.#skipBoth('ORDER', 'BY');
    const rank = ordered && this.token.kind === 'RANK' ? this.#parseRank() : undefined;
    const orderBy = ordered && rank === undefined ? this.#parseOrderBy() : [];
    if (top !== undefined && this.token.kind === 'OFFSET') {
      throw refusal('TOP and OFFSET cannot be used in the same query.', this.token);
    }
    const offset = this.skip('OFFSET') ? this.#parseCount() : undefined;
    const limit = offset === undefined ? undefined : this.#parseLimit();
    this.grow();
    this.ascend(outer);
    const span = this.spanFrom(start);
    // biome-ignore format: one line for each group of clauses
    return {
      kind: 'query', span,
      distinct, top, select,
      from, where, groupBy,
      orderBy, rank,
      offset, limit,
    };
  }

  #skipBoth(first: TokenKind, second: TokenKind): boolean {
    if (!this.skip(first)) return false;
    this.expect(second);
    return true;
  }

  /**
   *     count = number | parameter     the number being whole, and without a sign
   */
  #parseCount(): Count {
    const { kind, text, number, start, end } = this.token;
    const span = { start, end };
    if (kind === 'parameter') {
      this.advance();
      return { kind, span, name: text };
    }
    if (kind !== 'number' || !Number.isInteger(number)) throw this.unexpected();
    this.advance();
    return { kind, span, value: number };
  }

  /**
   *     selection = '*' | VALUE expression | item { ',' item }
   */
  #parseSelection(): Selection {
    const { start } = this.token;
    if (this.skip('*')) return { kind: 'star', span: this.spanFrom(start) };
    if (this.skip('VALUE')) {
      const value = this.parseExpression();
      return { kind: 'value', span: this.spanFrom(start), value };
    }
    const items = [this.#parseItem()];
    while (this.skip(',')) items.push(this.#parseItem());
    return { kind: 'list', span: this.spanFrom(start), items };
  }

  /**
   *     item = expression [[AS] identifier]
   */
  #parseItem(): SelectItem {
    const value = this.parseExpression();
    if (this.skip('AS')) {
      const named = PROJECTION_NAMES.has(this.token.kind);
      return { value, alias: (named ? this.advance() : this.expect('identifier')).text };
    }
    return { value, alias: this.#skipIdentifier() };
  }

  #skipIdentifier(): string | undefined {
    return this.token.kind === 'identifier' ? this.advance().text : undefined;
  }

  /**
   *     from = source { JOIN source }
   */
  #parseFrom(): readonly FromSource[] {
    const sources = [this.#parseSource()];
    while (this.token.kind === 'JOIN') {
      this.#joins++;
      if (this.#joins > JOINS_MAX) {
        throw refusal(`The query has more than ${JOINS_MAX} JOINs.`, this.token);
      }
      this.advance();
      sources.push(this.#parseSource());
    }
    return sources;
  }

  /**
   *     source = identifier IN collection | collection [[AS] identifier]
   */
  #parseSource(): FromSource {
    const { start } = this.token;
    if (this.token.kind === 'identifier' && this.peekKind(1) === 'IN') {
      const alias = this.advance().text;
      this.advance();
      const collection = this.#parseCollection();
      return { span: this.spanFrom(start), iterate: true, alias, collection };
    }
    const collection = this.#parseCollection();
    const alias = this.skip('AS') ? this.expect('identifier').text : this.#skipIdentifier();
    return { span: this.spanFrom(start), iterate: false, alias, collection };
  }

  /**
   *     collection = '(' query ')' | identifier { '.' word | '[' (number | string) ']' }
   */
  #parseCollection(): Collection {
    const { start } = this.token;
    if (this.skip('(')) {
      const query = this.parseQuery();
      this.expect(')');
      return { kind: 'subquery', span: this.spanFrom(start), query };
    }
    const root = this.expect('identifier').text;
    const steps: (string | number)[] = [];
    for (;;) {
      if (this.skip('.')) {
        steps.push(this.expectWord().text);
      } else if (this.skip('[')) {
        steps.push(this.#parseStep());
        this.expect(']');
      } else {
        return { kind: 'path', span: this.spanFrom(start), root, steps };
      }
    }
  }

  #parseStep(): string | number {
    const { kind, text, number } = this.token;
    if (kind !== 'string' && (kind !== 'number' || !Number.isInteger(number))) {
      throw this.unexpected();
    }
    this.advance();
    return kind === 'string' ? text : number;
  }

  #parseGroupBy(): readonly SqlExpression[] {
    const items = [this.parseExpression()];
    while (this.skip(',')) items.push(this.parseExpression());
    return items;
  }

  /**
   *     order = RANK call [ASC | DESC] | orderItem { ',' orderItem }
   */
  #parseRank(): OrderItem {
    this.advance();
    const first = this.token;
    const value = this.parseExpression();
    if (value.kind !== 'call') throw this.unexpectedAt(first);
    const ascending = this.skip('ASC');
    if (!ascending) this.skip('DESC');
    return { value, descending: !ascending };
  }

  #parseOrderBy(): readonly OrderItem[] {
    const items = [this.#parseOrderItem()];
    while (this.skip(',')) items.push(this.#parseOrderItem());
    return items;
  }

  /**
   *     orderItem = expression [ASC | DESC]
   */
  #parseOrderItem(): OrderItem {
    const value = this.parseExpression();
    const descending = this.skip('DESC');
    if (!descending) this.skip('ASC');
    return { value, descending };
  }

  /** One without the other is an error, so LIMIT alone is left to whoever expects the end. */
  #parseLimit(): Count {
    this.expect('LIMIT');
    return this.#parseCount();
  }
}
