// What a built-in function is. Functions of one family live in one file under functions/; each is
// one entry of that file's table, and the tables are put together in functions/all.ts.
import type { Instant } from '../time/instant.js';

/** JSON values, and undefined for what is not there. */
export type Value = unknown;

/** What a function may know besides its arguments. */
export interface CallContext {
  /** The instant of the request: every call of GETCURRENTDATETIME in a page answers the same. */
  readonly now: Instant;
  /** A number in [0, 1) for RAND. */
  random(): number;
  /** Where the time that functions take is added up, if somebody asked. */
  readonly spent?: { functionMs: number } | undefined;
  /** Where user-defined functions are called, if the query has any. */
  readonly functions?: { value(name: string, args: readonly Value[]): Value } | undefined;
}

export interface QueryFunction {
  readonly arity: readonly [min: number, max: number];
  /**
   * The kinds of arguments, by position; the last one stands for all that follow. A call with an
   * argument of another kind is undefined and `call` is not even asked. `any` takes everything but
   * undefined, `maybe` takes undefined too.
   */
  readonly takes: readonly ArgumentKind[];
  readonly call: (args: readonly never[], context: CallContext) => Value;
}
export type ArgumentKind = 'number' | 'string' | 'boolean' | 'array' | 'object' | 'any' | 'maybe';

/** Names are in upper case. */
export type FunctionTable = Readonly<Record<string, QueryFunction>>;

/** A row of a table, with the arguments typed by the caller's own signature. */
export function fn<A extends readonly Value[]>(
  takes: readonly ArgumentKind[],
  call: (args: A, context: CallContext) => Value,
  arity: readonly [number, number] = [takes.length, takes.length],
): QueryFunction {
  return { arity, takes, call: call as unknown as QueryFunction['call'] };
}

/** No limit on the number of arguments but the parser's own. */
export const MANY = 10_000;
