// The kinds of tokens: a keyword or symbol is its own kind, everything else goes by a common name.

export interface Token {
  readonly kind: TokenKind;
  /** As written; of a string, the characters it stands for. */
  readonly text: string;
  /** The value of a number, otherwise 0. */
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

export type TokenKind =
  | 'identifier'
  | 'number'
  | 'string'
  | 'parameter'
  | 'end'
  | Keyword
  | LowerKeyword
  | SymbolKind;

// biome-ignore format: in alphabetical order
const KEYWORDS = [
  'AND', 'ARRAY', 'AS', 'ASC', 'BETWEEN', 'BY', 'CROSS', 'DESC', 'DISTINCT', 'ESCAPE', 'EXISTS',
  'FOR', 'FROM', 'GROUP', 'HAVING', 'IN', 'INNER', 'IS', 'JOIN', 'LEFT', 'LET', 'LIKE', 'LIMIT',
  'NOT', 'OFFSET', 'OR', 'ORDER', 'OVER', 'RANK', 'RIGHT', 'SELECT', 'SET', 'TOP', 'VALUE', 'WHERE',
] as const;
type Keyword = (typeof KEYWORDS)[number];

/** These are keywords in lower case only: `True` is an ordinary identifier. */
const LOWER_KEYWORDS = ['false', 'null', 'true', 'udf', 'undefined'] as const;
type LowerKeyword = (typeof LOWER_KEYWORDS)[number];

// biome-ignore format: by length
export const SYMBOLS = [
  '>>>',
  '!=', '<>', '<=', '>=', '<<', '>>', '||', '??',
  '(', ')', '[', ']', '{', '}', ',', '.', ':', ';', '?',
  '*', '/', '%', '+', '-', '~', '&', '^', '|', '=', '<', '>',
] as const;
type SymbolKind = (typeof SYMBOLS)[number];

/** Keywords that may name a projected value after AS, because nothing else can stand there. */
export const PROJECTION_NAMES: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'ARRAY',
  'ESCAPE',
  'FOR',
  'LEFT',
  'LET',
  'OVER',
  'RANK',
  'RIGHT',
  'SET',
  'TOP',
  'VALUE',
]);

/** All kinds that are written as words, and so may follow a dot. */
export const WORDS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'identifier',
  ...KEYWORDS,
  ...LOWER_KEYWORDS,
]);

/** The kind of a word. */
export function wordKind(word: string): TokenKind {
  if (word.length > KEYWORD_CHARACTERS_MAX) return 'identifier';
  return SPELLINGS.get(word) ?? UPPER_SPELLINGS.get(word.toUpperCase()) ?? 'identifier';
}

const KEYWORD_CHARACTERS_MAX = Math.max(
  ...[...KEYWORDS, ...LOWER_KEYWORDS].map((keyword) => keyword.length),
);

const UPPER_SPELLINGS: ReadonlyMap<string, TokenKind> = new Map(
  KEYWORDS.map((keyword) => [keyword, keyword]),
);

/** The usual spellings, so that most words need no change of case. */
const SPELLINGS: ReadonlyMap<string, TokenKind> = new Map<string, TokenKind>([
  ...UPPER_SPELLINGS,
  ...KEYWORDS.map((keyword) => [keyword.toLowerCase(), keyword] as const),
  ...LOWER_KEYWORDS.map((keyword) => [keyword, keyword] as const),
]);
