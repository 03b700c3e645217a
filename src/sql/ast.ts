// The syntax tree of a Cosmos SQL query, as the parser makes it and the printer writes it back.

/** Half-open, in UTF-16 code units from the start of the text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface SelectQuery {
  readonly kind: 'query';
  readonly span: Span;
  readonly distinct: boolean;
  readonly top: Count | undefined;
  readonly select: Selection;
  /** Empty without FROM: the selection is then evaluated once. */
  readonly from: readonly FromSource[];
  readonly where: SqlExpression | undefined;
  readonly groupBy: readonly SqlExpression[];
  readonly orderBy: readonly OrderItem[];
  /** ORDER BY RANK: a score function, best first unless ASC is written. */
  readonly rank: OrderItem | undefined;
  readonly offset: Count | undefined;
  readonly limit: Count | undefined;
}

/** A whole number, or a parameter that must hold one. */
export type Count = NumberLiteral | Parameter;

export type Selection =
  | { readonly kind: 'star'; readonly span: Span }
  | { readonly kind: 'value'; readonly span: Span; readonly value: SqlExpression }
  | { readonly kind: 'list'; readonly span: Span; readonly items: readonly SelectItem[] };
export interface SelectItem {
  readonly value: SqlExpression;
  readonly alias: string | undefined;
}

/** `coll [AS alias]`, or `alias IN coll`, which iterates. The first source is the container. */
export interface FromSource {
  readonly span: Span;
  readonly iterate: boolean;
  readonly alias: string | undefined;
  readonly collection: Collection;
}
export type Collection =
  | {
      readonly kind: 'path';
      readonly span: Span;
      readonly root: string;
      readonly steps: readonly (string | number)[];
    }
  | { readonly kind: 'subquery'; readonly span: Span; readonly query: SelectQuery };

export interface OrderItem {
  readonly value: SqlExpression;
  readonly descending: boolean;
}

export type SqlExpression =
  | Literal
  | Parameter
  | { readonly kind: 'identifier'; readonly span: Span; readonly name: string }
  /** `of.name`; `of[index]` keeps any expression as its key. */
  | {
      readonly kind: 'member';
      readonly span: Span;
      readonly of: SqlExpression;
      readonly key: SqlExpression;
      readonly dotted: boolean;
    }
  | { readonly kind: 'array'; readonly span: Span; readonly items: readonly SqlExpression[] }
  | {
      readonly kind: 'object';
      readonly span: Span;
      readonly entries: readonly { readonly name: string; readonly value: SqlExpression }[];
    }
  | {
      readonly kind: 'unary';
      readonly span: Span;
      readonly operator: UnaryOperator;
      readonly operand: SqlExpression;
    }
  | {
      readonly kind: 'binary';
      readonly span: Span;
      readonly operator: BinaryOperator;
      readonly left: SqlExpression;
      readonly right: SqlExpression;
    }
  | {
      readonly kind: 'conditional';
      readonly span: Span;
      readonly condition: SqlExpression;
      readonly then: SqlExpression;
      readonly otherwise: SqlExpression;
    }
  | {
      readonly kind: 'between';
      readonly span: Span;
      readonly negated: boolean;
      readonly value: SqlExpression;
      readonly low: SqlExpression;
      readonly high: SqlExpression;
    }
  | {
      readonly kind: 'in';
      readonly span: Span;
      readonly negated: boolean;
      readonly value: SqlExpression;
      readonly list: readonly SqlExpression[];
    }
  | {
      readonly kind: 'like';
      readonly span: Span;
      readonly negated: boolean;
      readonly value: SqlExpression;
      readonly pattern: SqlExpression;
      readonly escape: string | undefined;
    }
  | {
      readonly kind: 'call';
      readonly span: Span;
      /** As written; functions are looked up without regard to case. */
      readonly name: string;
      readonly udf: boolean;
      readonly args: readonly SqlExpression[];
    }
  | {
      readonly kind: 'subquery';
      readonly span: Span;
      readonly mode: 'scalar' | 'exists' | 'array' | 'all' | 'first' | 'last';
      readonly query: SelectQuery;
    };

export type Literal =
  | NumberLiteral
  | { readonly kind: 'string'; readonly span: Span; readonly value: string }
  | { readonly kind: 'boolean'; readonly span: Span; readonly value: boolean }
  | { readonly kind: 'null'; readonly span: Span }
  | { readonly kind: 'undefined'; readonly span: Span };
export interface NumberLiteral {
  readonly kind: 'number';
  readonly span: Span;
  readonly value: number;
}
/** `name` includes the `@`. */
export interface Parameter {
  readonly kind: 'parameter';
  readonly span: Span;
  readonly name: string;
}

export type UnaryOperator = '-' | '+' | '~' | 'NOT';
// biome-ignore format: grouped by precedence
export type BinaryOperator =
  | '*' | '/' | '%'
  | '+' | '-'
  | '||'
  | '<<' | '>>' | '>>>'
  | '&'
  | '^'
  | '|'
  | '=' | '!=' | '<' | '>' | '<=' | '>='
  | 'AND'
  | 'OR'
  | '??';
