// The names that are bound at a place of a query, and what an expression there may do.
import type { AggregateCall, Query, Slot } from '../query/logical.js';
import type { Span } from './ast.js';
import type { Hints } from './hints.js';
import { SqlError } from './sql-error.js';

/** Names include the `@`. */
export type Parameters = ReadonlyMap<string, unknown>;

/** Shared by a query and all its subqueries. */
export interface LowerState {
  readonly parameters: Parameters;
  readonly hints: Hints;
  nextSlot: Slot;
}

export interface Scope {
  readonly names: Map<string, Slot>;
  readonly parent: Scope | undefined;
  /** Whether the first source may name the container: at the top, and in FROM (SELECT …) there. */
  readonly container: boolean;
  /** Where aggregates are collected; undefined where none may stand. */
  aggregates: AggregateCall[] | undefined;
  insideAggregate: boolean;
  /** The query in FROM whose rows stand for the container's items. */
  derived: Query | undefined;
}

export function resolve(scope: Scope | undefined, name: string): Slot | undefined {
  for (let at = scope; at; at = at.parent) {
    const slot = at.names.get(name);
    if (slot !== undefined) return slot;
  }
  return undefined;
}

export function parameterValue(name: string, span: Span, state: LowerState): unknown {
  if (state.parameters.has(name)) return state.parameters.get(name);
  throw new SqlError('SC2013', `The parameter '${name}' is not given.`, span);
}

export function unresolved(name: string, span: Span): SqlError {
  return new SqlError('SC2001', `Identifier '${name}' could not be resolved.`, span);
}
