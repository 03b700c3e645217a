// Walks the tokens of a query, and keeps the books on depth and height while the parser descends.
import type { Span } from './ast.js';
import { tokenize } from './lexer.js';
import { PARSER_DEPTH_MAX, TREE_HEIGHT_MAX } from './limits.js';
import { refusal, type SqlError, syntaxError } from './sql-error.js';
import { type Token, type TokenKind, WORDS } from './tokens.js';

export class TokenCursor {
  protected token: Token;
  /** Where the token before the current one ended. */
  protected previousEnd = 0;
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;
  /** Of the tallest tree finished since the last `descend`. */
  #height = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
    this.token = this.#tokens[0] ?? NO_TOKEN;
  }

  protected peekKind(distance: number): TokenKind {
    return this.#tokens[this.#index + distance]?.kind ?? 'end';
  }

  /** Steps over the current token and returns it. At the end the cursor stays where it is. */
  protected advance(): Token {
    const token = this.token;
    this.previousEnd = token.end;
    const next = this.#tokens[this.#index + 1];
    if (next !== undefined) {
      this.#index++;
      this.token = next;
    }
    return token;
  }

  protected skip(kind: TokenKind): boolean {
    if (this.token.kind !== kind) return false;
    this.advance();
    return true;
  }

  protected expect(kind: TokenKind): Token {
    if (this.token.kind !== kind) throw this.unexpected();
    return this.advance();
  }

  /** A name after a dot or as a key, where keywords are names like any other. */
  protected expectWord(): Token {
    if (!WORDS.has(this.token.kind)) throw this.unexpected();
    return this.advance();
  }

  /** The current token makes no sense here. At the end the last token is to blame. */
  protected unexpected(): SqlError {
    const last = this.#tokens[this.#index - 1] ?? this.token;
    return this.unexpectedAt(this.token.kind === 'end' ? last : this.token);
  }

  protected unexpectedAt(token: Token): SqlError {
    return syntaxError(this.#text, token);
  }

  protected spanFrom(start: number): Span {
    return { start, end: this.previousEnd };
  }

  /**
   * Begins a subtree; hand the answer to `ascend` when it is finished. In between, each composite
   * node calls `grow` after its children.
   */
  protected descend(): number {
    this.#depth++;
    if (this.#depth > PARSER_DEPTH_MAX) throw this.#tooDeep();
    const outer = this.#height;
    this.#height = 0;
    return outer;
  }

  protected grow(levels = 1): void {
    this.#height += levels;
    if (this.#height >= TREE_HEIGHT_MAX) throw this.#tooDeep();
  }

  protected ascend(outer: number): void {
    this.#depth--;
    if (outer > this.#height) this.#height = outer;
  }

  #tooDeep(): SqlError {
    return refusal(`The query is nested deeper than ${TREE_HEIGHT_MAX} levels.`, this.token);
  }
}

const NO_TOKEN: Token = { kind: 'end', text: '', number: 0, start: 0, end: 0 };
