// How a query is refused: a code of the service, its wording, and where in the text it happened.
import type { Span } from './ast.js';

export class SqlError extends Error {
  readonly code: string;
  readonly span: Span;

  /** The span may be a token or a node: only its bounds are kept. */
  constructor(code: string, message: string, { start, end }: Span) {
    super(message);
    this.name = 'SqlError';
    this.code = code;
    this.span = { start, end };
  }
}

/** A token in a place where the grammar has no use for it. */
export function syntaxError(text: string, span: Span): SqlError {
  const near = quote(text, span);
  return new SqlError('SC1001', `Syntax error, incorrect syntax near ${near}.`, span);
}

/** Characters that make no token: `what` is "string literal" or the like, or empty. */
export function tokenError(text: string, span: Span, what: string): SqlError {
  const kind = what === '' ? 'token' : `${what} token`;
  return new SqlError('SC1010', `Syntax error, invalid ${kind} ${quote(text, span)}.`, span);
}

/** A query that is well formed, yet not allowed; `message` is a whole sentence. */
export function refusal(message: string, span: Span): SqlError {
  return new SqlError('SC1001', message, span);
}

const QUOTED_CHARACTERS_MAX = 100;

function quote(text: string, { start, end }: Span): string {
  if (end - start <= QUOTED_CHARACTERS_MAX) return `'${text.slice(start, end)}'`;
  return `'${text.slice(start, start + QUOTED_CHARACTERS_MAX)}…'`;
}
