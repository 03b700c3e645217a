// The logical form of a query, in no particular language: names are resolved to slots, parameters
// to constants, functions to their entries.
import type { Path } from '../value/path.js';
import type { QueryFunction, Value } from './function.js';

/** A place in the frame of a row: each source of the query and of its subqueries has its own. */
export type Slot = number;
/** The document itself; slots of other sources follow. */
export const ROOT: Slot = 0;

export interface Query {
  readonly sources: readonly Source[];
  readonly where: Expression | undefined;
  readonly groupBy: readonly Expression[];
  /** Folded over the rows of a group; without GROUP BY all rows are one group. */
  readonly aggregates: readonly AggregateCall[];
  readonly grouped: boolean;
  readonly project: Projection;
  readonly distinct: boolean;
  readonly order: readonly Order[];
  readonly rank: Rank | undefined;
  readonly offset: number;
  readonly limit: number | undefined;
  /** How many slots a frame needs, subqueries included. */
  readonly slots: number;
  /** FROM (SELECT …) whose rows are all needed first: each of them is then a document. */
  readonly derived?: Query | undefined;
}

/** Binds a slot for each row: to the document, to a value, or to each element of an array. */
export type Source =
  | { readonly kind: 'document'; readonly slot: Slot }
  | { readonly kind: 'value'; readonly slot: Slot; readonly value: Expression }
  | { readonly kind: 'elements'; readonly slot: Slot; readonly value: Expression }
  /** The rows of a subquery, or with `each` the elements of the arrays it yields. */
  | { readonly kind: 'rows'; readonly slot: Slot; readonly query: Query; readonly each: boolean };

/** `document` sends the stored bytes on; rows whose value is undefined are left out. */
export type Projection =
  | { readonly kind: 'document' }
  | { readonly kind: 'value'; readonly value: Expression };

export interface Order {
  readonly value: Expression;
  readonly descending: boolean;
}

/** ORDER BY RANK: one score, or several fused by their ranks. */
export interface Rank {
  readonly components: readonly RankComponent[];
  /** One for each component, or none at all. */
  readonly weights: readonly number[];
}
export type RankComponent =
  | { readonly kind: 'text'; readonly text: Expression; readonly terms: readonly string[] }
  | {
      readonly kind: 'distance';
      readonly distance: Expression;
      readonly nearestIsLeast: boolean;
    };

export type AggregateName =
  | 'COUNT'
  | 'COUNTIF'
  | 'SUM'
  | 'AVG'
  | 'MIN'
  | 'MAX'
  | 'MAKELIST'
  | 'MAKESET';
export interface AggregateCall {
  readonly name: AggregateName;
  readonly value: Expression;
}

export type CompareOperator = '=' | '!=' | '<' | '<=' | '>' | '>=';
export type NumberOperator = '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<<' | '>>' | '>>>';

export type Expression =
  | { readonly kind: 'constant'; readonly value: Value }
  /** A slot and constant steps into it: what indexes know about. */
  | { readonly kind: 'path'; readonly slot: Slot; readonly path: Path }
  | { readonly kind: 'member'; readonly of: Expression; readonly key: Expression }
  | { readonly kind: 'array'; readonly items: readonly Expression[] }
  | {
      readonly kind: 'object';
      readonly entries: readonly { readonly name: string; readonly value: Expression }[];
    }
  | { readonly kind: 'and' | 'or'; readonly all: readonly Expression[] }
  | { readonly kind: 'not'; readonly of: Expression }
  | {
      readonly kind: 'compare';
      readonly operator: CompareOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'in'; readonly value: Expression; readonly list: readonly Expression[] }
  | {
      readonly kind: 'like';
      readonly value: Expression;
      readonly pattern: Expression;
      readonly escape: string | undefined;
    }
  | {
      readonly kind: 'number';
      readonly operator: NumberOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'negate' | 'plus' | 'complement'; readonly of: Expression }
  | { readonly kind: 'concatenate'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'coalesce'; readonly left: Expression; readonly right: Expression }
  | {
      readonly kind: 'conditional';
      readonly condition: Expression;
      readonly then: Expression;
      readonly otherwise: Expression;
    }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly fn: QueryFunction;
      readonly args: readonly Expression[];
    }
  /** The serial of the document in the root slot. */
  | { readonly kind: 'documentId' }
  /** The result of the query's aggregate at this index. */
  | { readonly kind: 'aggregate'; readonly index: number }
  | {
      readonly kind: 'subquery';
      readonly mode: 'scalar' | 'exists' | 'array' | 'all' | 'first' | 'last';
      readonly query: Query;
    };

/** How many expressions a query and its subqueries are made of. */
export function countExpressions(part: unknown): number {
  if (typeof part !== 'object' || part === null) return 0;
  const isConstant = 'kind' in part && part.kind === 'constant';
  const own = 'kind' in part ? 1 : 0;
  if (isConstant) return own;
  return Object.values(part).reduce((sum: number, each) => sum + countExpressions(each), own);
}
